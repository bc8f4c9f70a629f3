"""JSON Schema as arguments: which dotted names a tool's input may carry, and which values each may have.

This reads what a signature can say, not everything a schema can: what it does not understand leaves names and
values open, so that no finding rests on it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from vigil_lang.trace import Action, Argument
from vigil_lang.trace.values import MAX_NAME, canonical

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vigil_lang.trace.signature import ValueType

MAX_DEPTH = 64
MAX_SUBSCHEMAS = 50_000
"""Subschemas visited in one tool: references can make a small definition arbitrarily large."""

_ALL: frozenset[ValueType] = frozenset({"text", "number", "bool"})
_SCALARS: dict[str, ValueType] = {"string": "text", "number": "number", "integer": "number", "boolean": "bool"}
_CONDITIONAL = ("then", "else", "dependentSchemas", "dependencies", "patternProperties", "unevaluatedProperties")


class SchemaError(ValueError):
    """A schema is not valid; the message says where, as a JSON pointer into it."""


class SchemaTooLarge(SchemaError):  # noqa: N818 - what it says, not that it is an error
    """A schema is deeper or, with its references followed, larger than the limits."""


@dataclass(frozen=True, slots=True)
class _Shape:
    """What a schema says of the value in one place.

    `types` are those of the scalars that may stand there, by themselves or, with `many`, in a list; None where it
    does not say, empty for an object alone. `below` are the properties of the object that may stand there.
    """

    types: frozenset[ValueType] | None = None
    values: frozenset[str] | None = None
    many: bool = False
    below: dict[str, _Shape] = field(default_factory=dict)
    open: bool = False


_NO_SCALAR: frozenset[ValueType] = frozenset()
_OPEN_OBJECT = _Shape(types=_NO_SCALAR, open=True)


def action_of(schema: Any) -> Action:
    """The arguments of a tool whose input the schema describes.

    Raises:
        SchemaError: the schema is not valid or too large.
    """
    shape = _Reader(schema).read(schema, "", ())
    args: dict[str, Argument] = {}
    is_open = _spread(shape, "", False, args)
    return Action(args, open=is_open)


def _spread(shape: _Shape, name: str, many: bool, args: dict[str, Argument]) -> bool:
    """Enter the arguments of a shape under their dotted names; whether there may be others."""
    is_open = shape.open
    many = many or shape.many
    if name and (shape.types is None or shape.types or (shape.many and not shape.below)):
        # Where nothing is said, a list may stand as well.
        types = _ALL if shape.types is None else shape.types
        args[name] = Argument(types, many or shape.types is None, shape.values)
    for key, inner in shape.below.items():
        dotted = f"{name}.{key}" if name else key
        if len(dotted) > MAX_NAME:
            raise SchemaTooLarge(f"an argument's name is longer than {MAX_NAME} characters")
        is_open = _spread(inner, dotted, many, args) or is_open
    return is_open


class _Reader:
    """Reads the subschemas of one document, which local references point into."""

    def __init__(self, document: Any) -> None:
        self._document = document
        self._visited = 0

    def read(self, schema: Any, place: str, refs: tuple[str, ...]) -> _Shape:
        """The shape of a subschema; `refs` are the references that lead to it, so that a cycle is noticed."""
        self._visited += 1
        if self._visited > MAX_SUBSCHEMAS or len(refs) + place.count("/") > MAX_DEPTH:
            raise SchemaTooLarge(f"the schema is too deep or too large at `{place[:80] or '/'}`")
        if schema is True:
            return _Shape()
        if schema is False:
            return _Shape(types=_NO_SCALAR)
        if not isinstance(schema, dict):
            raise SchemaError(f"`{place or '/'}` must be a schema")
        parts = [self._plain(schema, place, refs)]
        if "$ref" in schema:
            parts.append(self._referred(schema["$ref"], f"{place}/$ref", refs))
        parts += self._each(schema, "allOf", place, refs)
        for keyword in ("anyOf", "oneOf"):
            branches = self._each(schema, keyword, place, refs)
            if branches:
                parts.append(_any_of(branches))
        return _all_of(parts)

    def _each(self, schema: dict[str, Any], keyword: str, place: str, refs: tuple[str, ...]) -> list[_Shape]:
        schemas = schema.get(keyword, [])
        if not isinstance(schemas, list):
            raise SchemaError(f"`{place}/{keyword}` must be a list of schemas")
        return [self.read(inner, f"{place}/{keyword}/{n}", refs) for n, inner in enumerate(schemas)]

    def _referred(self, reference: Any, place: str, refs: tuple[str, ...]) -> _Shape:
        if not isinstance(reference, str):
            raise SchemaError(f"`{place}` must be a string")
        if not reference.startswith("#") or reference in refs:
            return _OPEN_OBJECT if reference in refs else _Shape(open=True)
        target = self._document
        for step in unquote(reference[1:]).split("/")[1:]:
            step = step.replace("~1", "/").replace("~0", "~")
            if isinstance(target, list) and step.isdecimal() and int(step[:9]) < len(target):
                target = target[int(step[:9])]
            elif isinstance(target, dict) and step in target:
                target = target[step]
            else:
                raise SchemaError(f"`{place}` refers to `{reference}`, which does not exist")
        return self.read(target, place, (*refs, reference))

    def _plain(self, schema: dict[str, Any], place: str, refs: tuple[str, ...]) -> _Shape:
        """What the schema says without the schemas it combines."""
        types = self._types(schema, place)
        shapes = [_Shape(types & _ALL)] if types is not None and types & _ALL else []
        if types is None or "object" in types:
            shapes += self._object(schema, place, refs, certain=types is not None)
        if types is None or "array" in types:
            shapes += self._array(schema, place, refs, certain=types is not None)
        shape = _any_of(shapes) if shapes else _Shape() if types is None else _Shape(types=_NO_SCALAR)
        if "enum" in schema or "const" in schema:
            allowed = [schema["const"]] if "const" in schema else schema["enum"]
            if not isinstance(allowed, list):
                raise SchemaError(f"`{place}/enum` must be a list")
            shape = _all_of([shape, _enumerated(allowed)])
        return shape
