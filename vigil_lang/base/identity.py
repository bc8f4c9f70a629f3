"""What was found of an object, remembered by the object itself and not by what it equals."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Final, TypeVar

from vigil_lang.base.recent import Recent

if TYPE_CHECKING:
    from collections.abc import Callable

_Object = TypeVar("_Object")
_Found = TypeVar("_Found")

_LATEST: Final = 1_000
"""Objects of which is remembered at least what was found."""


def by_identity(find: Callable[[_Object], _Found]) -> Callable[[_Object], _Found]:
    """A function of one immutable object that looks at each once; threads may ask at the same time.

    The answer is that of this very object: of an equal one it may be another, where spans or shared parts count. The
    last objects stay in memory with all that they hold: whole files and policies are none to remember like this.
    """
    known = Recent[int, tuple[_Object, _Found]](_LATEST)

    @wraps(find)
    def recalled(of: _Object) -> _Found:
        found = known.get(id(of))
        if found is None:
            found = of, find(of)  # the object is kept, so that no other has its id
            known.put(id(of), found)
        return found[1]

    return recalled
