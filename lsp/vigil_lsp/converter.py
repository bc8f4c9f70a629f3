"""From JSON to the protocol's types: strict about positions, patient with what a newer client says it can do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.protocol import default_converter

if TYPE_CHECKING:
    from cattrs import Converter

_LARGEST = 2**31 - 1


def converter() -> Converter:
    """What makes messages of JSON: whole numbers are whole numbers, where cattrs would read `"1"` and 1.5 as such."""
    made: Converter = default_converter()  # type: ignore[no-untyped-call]  # pygls has no types here
    made.register_structure_hook(types.Position, lambda value, _: _position(value))
    return made


def _position(value: Any) -> types.Position:
    line, character = value["line"], value["character"]
    if not (_counts(line) and _counts(character)):
        raise ValueError("a position is two whole numbers")
    return types.Position(line, min(character, _LARGEST))


def _counts(number: Any) -> bool:
    return type(number) is int and 0 <= number <= 2**32


def readable_part(params: Any, converter: Converter) -> Any:
    """What a client says of itself, without the parts that cannot be read.

    A client that is newer than we are names abilities and values that we have not heard of.
    """
    if not isinstance(params, dict):
        return params
    found = {name: _pruned((name,), part, converter) for name, part in params.items()}
    return _REQUIRED | {name: part for name, part in found.items() if part is not _NOTHING}


def _pruned(path: tuple[str, ...], part: Any, converter: Converter) -> Any:
    """The readable part of a value; `_NOTHING` where nothing can be read."""
    if _fits(path, part, converter):
        return part
    left: Any = _NOTHING
    if isinstance(part, dict):
        found = {name: _pruned((*path, name), inner, converter) for name, inner in part.items()}
        left = {name: inner for name, inner in found.items() if inner is not _NOTHING}
    elif isinstance(part, list):
        left = [element for element in part if _fits(path, [element], converter)]
    return left if left is not _NOTHING and _fits(path, left, converter) else _NOTHING


def _fits(path: tuple[str, ...], part: Any, converter: Converter) -> bool:
    for name in reversed(path):
        part = {name: part}
    try:
        converter.structure(_REQUIRED | part, types.InitializeParams)
    except Exception:  # cattrs, and the hooks of lsprotocol, raise whatever comes up
        return False
    return True


_REQUIRED: dict[str, Any] = {"processId": None, "rootUri": None, "capabilities": {}}
_NOTHING = object()
