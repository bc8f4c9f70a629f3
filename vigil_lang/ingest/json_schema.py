"""JSON Schema as arguments: which dotted names a tool's input may carry, and which values each may have.

This reads what a signature can say, not everything a schema can: what it does not follow leaves names and
values open, so that no finding rests on it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from vigil_lang.trace import Action, Argument
from vigil_lang.trace.values import MAX_NAME, canonical

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from vigil_lang.trace.signature import ValueType

MAX_STEPS = 128
"""Steps from the root to a subschema, each keyword and each name counted, references followed."""

MAX_SUBSCHEMAS = 50_000
"""Subschemas visited in one tool: references can make a small definition arbitrarily large."""

_ALL: frozenset[ValueType] = frozenset({"text", "number", "bool"})
_NONE: frozenset[ValueType] = frozenset()
_SCALARS: dict[str, ValueType] = {
    "string": "text",
    "number": "number",
    "integer": "number",
    "boolean": "bool",
}
_COMBINING = frozenset({"$ref", "allOf", "anyOf", "oneOf"})
_CONDITIONAL = frozenset({"then", "else", "dependentSchemas", "dependencies", "patternProperties"})


class SchemaError(ValueError):
    """A schema is not valid; the message says where, as a JSON pointer into it."""


class SchemaSizeError(SchemaError):
    """A schema is deeper or, with its references followed, larger than the limits."""


@dataclass(frozen=True, slots=True)
class _Shape:
    """What a schema says of the value in one place.

    `types` are those of the scalars that may stand there, by themselves or, with `many`, in a list: None
    where it does not say, empty where only objects may stand. `below` are those objects' properties, `open`
    tells that they may have others.
    """

    types: frozenset[ValueType] | None = None
    values: frozenset[str] | None = None
    many: bool = False
    below: dict[str, _Shape] = field(default_factory=dict)
    open: bool = False


def action_of(schema: Any) -> Action:
    """The arguments of a tool whose input the schema describes.

    Raises:
        SchemaError: the schema is not valid, or too large.
    """
    shape = _Reader(schema).read(schema, "", ())
    args = dict(_arguments(shape, "", many=False))
    return Action(args, open=_is_open(shape))


def _arguments(shape: _Shape, name: str, *, many: bool) -> Iterator[tuple[str, Argument]]:
    many = many or shape.many
    if name and shape.types is None:  # nothing is said, so a list may stand there as well
        yield name, Argument(_ALL, True, shape.values)
    elif name and shape.types:
        yield name, Argument(shape.types, many, shape.values)
    for key, inner in shape.below.items():
        dotted = f"{name}.{key}" if name else key
        if len(dotted) > MAX_NAME:
            raise SchemaSizeError(f"an argument's name is longer than {MAX_NAME} characters")
        yield from _arguments(inner, dotted, many=many)


def _is_open(shape: _Shape) -> bool:
    return shape.open or any(_is_open(inner) for inner in shape.below.values())


class _Reader:
    """Reads the subschemas of one document, into which local references point."""

    def __init__(self, document: Any) -> None:
        self._document = document
        self._visited = 0

    def read(self, schema: Any, place: str, refs: tuple[str, ...]) -> _Shape:
        """The shape of a subschema; `refs` are the references that lead to it, so that a cycle is noticed."""
        self._visited += 1
        if self._visited > MAX_SUBSCHEMAS or place.count("/") > MAX_STEPS:
            raise SchemaSizeError(f"the schema is too large at `{place[:80]}…`")
        if isinstance(schema, bool):
            return _Shape() if schema else _Shape(types=_NONE)
        if not isinstance(schema, dict):
            raise SchemaError(f"`{place or '/'}` must be a schema")
        parts = [self._own(schema, place, refs), *self._each(schema, "allOf", place, refs)]
        parts += [_any_of(self._each(schema, word, place, refs)) for word in ("anyOf", "oneOf") if word in schema]
        if "$ref" in schema:
            parts.append(self._referred(schema["$ref"], f"{place}/$ref", refs))
        return _all_of(parts)

    def _each(self, schema: dict[str, Any], word: str, place: str, refs: tuple[str, ...]) -> list[_Shape]:
        schemas = schema.get(word, [])
        if not isinstance(schemas, list):
            raise SchemaError(f"`{place}/{word}` must be a list of schemas")
        return [self.read(inner, f"{place}/{word}/{n}", refs) for n, inner in enumerate(schemas)]

    def _referred(self, reference: Any, place: str, refs: tuple[str, ...]) -> _Shape:
        if not isinstance(reference, str):
            raise SchemaError(f"`{place}` must be a string")
        if reference in refs:  # a recursive type: names below it never end
            return _Shape(types=_NONE, open=True)
        if not reference.startswith("#"):
            return _Shape(open=True)
        target = self._document
        for step in unquote(reference[1:]).split("/")[1:]:
            key = step.replace("~1", "/").replace("~0", "~")
            if isinstance(target, dict) and key in target:
                target = target[key]
            elif isinstance(target, list) and key.isascii() and key.isdigit() and int(key[:9]) < len(target):
                target = target[int(key[:9])]
            else:
                raise SchemaError(f"`{place}` refers to `{reference[:80]}`, which does not exist")
        return self.read(target, place, (*refs, reference))

    def _own(self, schema: dict[str, Any], place: str, refs: tuple[str, ...]) -> _Shape:
        """What the schema says without the schemas it combines."""
        shapes: list[_Shape] = []
        for name in _types(schema, place):
            if name in _SCALARS:
                shapes.append(_Shape(types=frozenset({_SCALARS[name]})))
            elif name == "object":
                shapes.append(self._object(schema, place, refs))
            elif name == "array":
                shapes.append(self._array(schema, place, refs))
            elif name == "null":
                shapes.append(_Shape(types=_NONE))
            else:
                raise SchemaError(f"`{place}/type` is `{name[:80]}`, which is no type of JSON Schema")
        shape = _any_of(shapes)
        if "const" in schema:
            return _all_of([shape, _enumerated([schema["const"]])])
        if "enum" not in schema:
            return shape
        if not isinstance(schema["enum"], list):
            raise SchemaError(f"`{place}/enum` must be a list")
        return _all_of([shape, _enumerated(schema["enum"])])

    def _object(self, schema: dict[str, Any], place: str, refs: tuple[str, ...]) -> _Shape:
        """Closed where it lists properties and does not say otherwise, so that a misspelt name is found."""
        properties = schema.get("properties", {})
        if not isinstance(properties, dict):
            raise SchemaError(f"`{place}/properties` must be an object")
        below: dict[str, _Shape] = {}
        for name, inner in properties.items():
            if len(name) > MAX_NAME:
                raise SchemaSizeError(f"an argument's name is longer than {MAX_NAME} characters")
            if inner is not False:
                below[name] = self.read(inner, f"{place}/properties/{_escape(name)}", refs)
        unlisted = bool(place) and "properties" not in schema and _COMBINING.isdisjoint(schema)
        others = schema.get("additionalProperties", unlisted)
        if not isinstance(others, bool | dict):
            raise SchemaError(f"`{place}/additionalProperties` must be a schema")
        is_open = others is not False or not _CONDITIONAL.isdisjoint(schema)
        return _Shape(types=_NONE, below=below, open=is_open)

    def _array(self, schema: dict[str, Any], place: str, refs: tuple[str, ...]) -> _Shape:
        items = schema.get("items", True)
        word = "items" if isinstance(items, list) else "prefixItems"
        elements = self._each(schema, word, place, refs)
        if word == "prefixItems" and ("items" in schema or not elements):
            elements.append(self.read(items, f"{place}/items", refs))
        return replace(_any_of(elements), many=True)


def _types(schema: dict[str, Any], place: str) -> Sequence[str]:
    """The type names a schema gives, or those its other keywords are about; none where it says nothing."""
    types = schema.get("type")
    if types is None:
        if not {"properties", "additionalProperties", "patternProperties"}.isdisjoint(schema):
            return ("object",)
        return () if {"items", "prefixItems"}.isdisjoint(schema) else ("array",)
    names = types if isinstance(types, list) else [types]
    if not all(isinstance(name, str) for name in names):
        raise SchemaError(f"`{place}/type` must be a type name or a list of them")
    return names


def _escape(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def _enumerated(allowed: list[Any]) -> _Shape:
    """Closed values, unless an object or a list is among them."""
    if any(isinstance(value, dict | list) for value in allowed):
        return _Shape()
    scalars = [value for value in allowed if value is not None]
    types: set[ValueType] = set()
    for value in scalars:
        types.add("text" if isinstance(value, str) else "bool" if isinstance(value, bool) else "number")
    return _Shape(types=frozenset(types), values=frozenset(map(canonical, scalars)))


def _any_of(shapes: list[_Shape]) -> _Shape:
    """One of the shapes: types add up, and values are closed where each that has scalars closes them."""
    if not shapes:
        return _Shape()
    types: frozenset[ValueType] | None = _NONE
    values: frozenset[str] | None = frozenset()
    for shape in shapes:
        types = None if types is None or shape.types is None else types | shape.types
        if shape.types is None or shape.types:
            values = None if values is None or shape.values is None else values | shape.values
    return _joined(shapes, types, values if types is None or types else None, _any_of)


def _all_of(shapes: list[_Shape]) -> _Shape:
    """All of the shapes: types and values are what they have in common; a conflict drops no name."""
    types: frozenset[ValueType] | None = None
    values: frozenset[str] | None = None
    for shape in shapes:
        if shape.types is not None:
            types = shape.types if types is None else (types & shape.types) or (types | shape.types)
        if shape.values is not None:
            values = shape.values if values is None else values & shape.values
    return _joined(shapes, types, values, _all_of)


def _joined(
    shapes: list[_Shape],
    types: frozenset[ValueType] | None,
    values: frozenset[str] | None,
    join: Callable[[list[_Shape]], _Shape],
) -> _Shape:
    """A shape with those types and values and the properties of all shapes, joined under each name."""
    if len(shapes) == 1:
        return shapes[0]
    below: dict[str, list[_Shape]] = {}
    for shape in shapes:
        for name, inner in shape.below.items():
            below.setdefault(name, []).append(inner)
    return _Shape(
        types,
        values,
        any(shape.many for shape in shapes),
        {name: join(inner) for name, inner in below.items()},
        any(shape.open for shape in shapes),
    )
