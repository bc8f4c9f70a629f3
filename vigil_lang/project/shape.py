"""What may stand where in a configuration: the types of its settings, by the path of keys that leads to one."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, Union, get_args, get_origin

from msgspec.structs import fields

from vigil_lang.project.settings import Configuration, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

Kind: TypeAlias = Any
"""A type as a field of a table declares it."""


@cache
def tables(top: type[Table] = Configuration) -> dict[str, type[Table]]:
    """The tables of a file by name; the top, which has none, comes first."""
    inner = {f.encode_name: f.type for f in fields(top) if is_table(f.type)}
    return {"": top, **inner}


def kind_at(path: Sequence[str], top: type[Table] = Configuration) -> Kind | None:
    """The type of the value that a path of keys leads to, a list's where it leads to one; None where there is none."""
    found: Kind = top
    for key in path:
        inner = bare_type(found)
        if is_table(inner):
            found = next((one.type for one in fields(inner) if one.encode_name == key), None)
        elif origin_of(inner) is Mapping:
            found = get_args(inner)[1]
        else:
            return None
    return found


def is_table(kind: Kind) -> bool:
    """Whether a type is that of a table with settings of its own."""
    return isinstance(kind, type) and issubclass(kind, Table)


def origin_of(kind: Kind) -> Kind:
    """What a type is made of: `tuple`, `Mapping`, `Literal`; None for a plain one."""
    return get_origin(kind)


def bare_type(kind: Kind) -> Kind:
    """A type without what is noted about it, and without the None that stands for "not set"."""
    if origin_of(kind) is Annotated:
        kind = get_args(kind)[0]
    return bare_type(get_args(kind)[0]) if origin_of(kind) in (Union, UnionType) else kind


def note_of(kind: Kind, name: str) -> Any:
    """What the `Meta`s of a type say of it: an attribute of theirs, or a member of their `extra`."""
    if origin_of(kind) is Annotated:
        kind, *notes = get_args(kind)
        found = (getattr(note, name, (note.extra or {}).get(name)) for note in notes)
        if (value := next((one for one in found if one is not None), None)) is not None:
            return value
    return note_of(get_args(kind)[0], name) if origin_of(kind) in (Union, UnionType) else None
