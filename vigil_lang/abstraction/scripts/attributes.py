"""The values of attributes."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from vigil_lang.abstraction.scripts import addresses, emit, pure
from vigil_lang.abstraction.scripts.computed import TEXT_FILE
from vigil_lang.abstraction.scripts.values import (
    UNKNOWN,
    Class,
    Function,
    Mapping,
    Object,
    Ref,
    Sequence,
    Thing,
    anything,
    items_of,
    join,
    let_go,
    member,
    opaque,
    part,
)

if TYPE_CHECKING:
    from vigil_lang.abstraction.scripts.state import Run
    from vigil_lang.abstraction.scripts.values import Scope, Value


def attribute(run: Run, owner: Value, name: str, scope: Scope) -> Value:
    """The value of `owner.name`."""
    if name.startswith("__") and name.endswith("__") and name not in _PLAIN and not isinstance(owner, Object):
        return anything(owner)  # a way to what the name of nobody tells
    match owner:
        case Ref():
            full = f"{owner.name}.{name}"
            constant = pure.constant(full)
            if constant is not None:
                return constant
            if run.language == "javascript" and is_environment(run, owner.name):
                return emit.environment_read(run, name, scope)
            return _special(run, full) or Ref(full)
        case Thing():
            if name not in _TELLS_OF_A_FILE:
                let_go(owner)
            if owner.name in ("pathlib.Path", "pathlib.PurePath"):
                return pure.path_attribute(owner, name)
            if owner.name in emit.DIRECTORY_ENTRIES and owner.text is not None and name in ("name", "path"):
                is_name = name == "name" or run.language == "javascript"
                return Thing(owner.origins, text=posixpath.basename(owner.text) if is_name else owner.text)
            if name == "name" and owner.name.startswith("io."):  # a path, and nothing that is open
                paths = owner.of.get("path", ()) if owner.name == TEXT_FILE else ()
                return Thing(owner.origins, text=paths[0] if len(paths) == 1 else None)
            if owner.name == addresses.URL:
                return addresses.url_attribute(owner, name)
            return part(owner, f".{name}")
        case Class() if name == "prototype" and run.language == "javascript":
            return owner
        case Object() | Class():
            found = member(owner, name)
            if isinstance(found, Function) and found.how == "property":
                return run.invoke(found, [])
            return found
        case Mapping() if name in owner.items:
            return owner.items[name]
        case Mapping() if owner.open or owner.others:
            return join(owner.others)
        case Sequence() | str() if name == "length":
            known = items_of(owner) if isinstance(owner, Sequence) else owner
            if known is None or (isinstance(known, str) and not known.isascii()):
                return UNKNOWN
            return len(known)
        case _:
            return opaque(owner)


def is_environment(run: Run, name: str) -> bool:
    """Whether something by this name is the environment."""
    return name.endswith(("env", "environ", "environb")) and run.library.canonical(name) in emit.ENVIRONMENTS


_PLAIN = frozenset(
    ["__name__", "__file__", "__doc__", "__version__", "__qualname__", "__module__", "__class__", "__len__"]
)
"""Attributes with underscores that lead nowhere."""


_TELLS_OF_A_FILE = frozenset({"name", "mode", "closed", "encoding"})
"""Attributes of an open file that nothing can be written with."""


def _special(run: Run, name: str) -> Value:
    """Values that depend on how the script is run; None for others."""
    if name in ("sys.argv", "process.argv"):
        return run.argv
    return None
