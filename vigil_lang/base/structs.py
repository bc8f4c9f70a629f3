"""Structures: classes of named fields that are cheap to define.

A hook without a daemon imports anew for each call whatever it decides by. `msgspec.Struct` defines a class in C, a
tenth of the time that generating the methods of a dataclass takes. What that way imports is written with these.
"""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct


class Frozen(Struct, frozen=True):
    """An immutable structure: equal, and hashed, by its type and fields. What is `_UNSHOWN` is not in its `repr`."""

    _UNSHOWN: ClassVar[frozenset[str]] = frozenset()

    def __repr__(self) -> str:
        shown = [f"{name}={getattr(self, name)!r}" for name in self.__struct_fields__ if name not in self._UNSHOWN]
        return f"{type(self).__name__}({', '.join(shown)})"


class Mutable(Struct):
    """A structure whose fields change; it is not hashed."""
