"""What a name in a condition can stand for, and where it stands for that."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING, Literal, TypeAlias

from msgspec import Struct, field

from vigil_lang.base.structs import Frozen
from vigil_lang.diagnostics import Source, Span
from vigil_lang.semantics.text_patterns import Expression
from vigil_lang.trace.values import canonical, number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vigil_lang.semantics.modules import Module
    from vigil_lang.syntax import tree

LiteralType: TypeAlias = Literal["text", "number", "bool"]


class Text(Struct, frozen=True):
    """One value: its canonical text, the type it was written with, and the glob it is after `~`."""

    text: str
    type: LiteralType
    glob: str


class TextSet(Struct, frozen=True):
    """A set of values; `globs` are its texts as they are after `~`, `expressions` its regular expressions."""

    texts: frozenset[str]
    globs: frozenset[str] = frozenset()
    expressions: frozenset[Expression] = frozenset()


class Pattern(Struct, frozen=True):
    """A regular expression with a name."""

    expression: Expression


class Variable(Struct, frozen=True):
    """A value variable of the statement."""

    name: str


class Hole(Struct, frozen=True):
    """A pattern's parameter while the pattern is checked by itself: it may stand for any single value."""


Meaning: TypeAlias = Text | TextSet | Pattern | Variable | Hole
Declared: TypeAlias = Text | TextSet | Pattern


def described(meaning: Meaning) -> str:
    """What something is, for a message that says it is the wrong thing."""
    match meaning:
        case Text(_, "bool"):
            return "a truth value"
        case Text(_, kind):
            return f"a {kind}" if kind == "number" else "text"
        case TextSet():
            return "a set"
        case Pattern():
            return "a regular expression"
        case Variable() | Hole():
            return "a variable"


class Place(Struct, frozen=True):
    """A range of one source."""

    source: Source
    span: Span


class Argument(Struct, frozen=True):
    """What a pattern's parameter stands for in one application; `place` and `text` are the term as it was written.

    A parameter handed on to another pattern keeps the place it came from.
    """

    meaning: Meaning
    place: Place
    text: str


class Scope(Frozen, frozen=True):
    """Where a condition stands: its module, what pattern parameters mean, and which patterns are being expanded.

    `entry` is the outermost application that led here, None outside patterns.
    """

    module: Module
    arguments: dict[str, Argument] = field(default_factory=dict)
    expanding: tuple[tuple[Module, str], ...] = ()
    entry: Place | None = None

    def binds_elsewhere(self, name: tree.Name) -> bool:
        """Whether the item that a name stands in compares something with it by `=` or `contains`, too."""
        items = self.module.file.items
        item = next((i for i in items if i.span.holds(name.span)), None)
        if item is None:
            return False
        text = self.module.source.text[item.span.start : item.span.end]
        return re.search(rf"(?:(?<![!<>])=|\bcontains\b)\s*{re.escape(name.text)}(?![\w.-])", text) is not None

    def place(self, span: Span) -> Place:
        """A range of this scope's own source."""
        return Place(self.module.source, span)


class Values:
    """Values given from outside for `param` declarations: texts (`--set`) or typed (a TOML file)."""

    def __init__(self, given: Mapping[str, object]) -> None:
        self.given = given

    def meaning(self, param: tree.Param) -> Text | TextSet | str | None:
        """The outside value, None when there is none, or a sentence that says why it does not fit."""
        if param.name.text not in self.given:
            return None
        return _outside_value(self.given[param.name.text], param)


def _outside_value(value: object, param: tree.Param) -> Text | TextSet | str:
    name, wanted = param.name.text, param.type
    given = _from_command_line(value, wanted) if isinstance(value, str) and wanted != "text" else value
    match wanted, given:
        case "set", list() | tuple() | set() | frozenset() if all(map(_is_scalar, given)):
            texts = frozenset(map(canonical, given))
            return TextSet(texts, texts)
        case "text", str():
            return Text(canonical(given), "text", given)
        case "bool", bool():
            return Text(canonical(given), "bool", canonical(given))
        case "number", int() | float() | Decimal() if _is_scalar(given) and not isinstance(given, bool):
            return Text(canonical(given), "number", canonical(given))
    hint = ": write `a, b`, without brackets" if wanted == "set" and isinstance(value, str) else ""
    return f"param `{name}` is a {wanted}, and `{value}` is not{hint}"


def _is_scalar(value: object) -> bool:
    """Whether a value has a canonical text; TOML knows `inf`, and dates."""
    if isinstance(value, float | Decimal):
        return Decimal(value).is_finite()
    return isinstance(value, str | int)


def _from_command_line(text: str, wanted: str) -> object:
    """A `--set` value is text; read it as the type the param declares."""
    if wanted == "set":
        if text.strip()[:1] + text.strip()[-1:] in ("{}", "[]"):  # a set as a policy or TOML writes it
            return text
        return [part.strip() for part in text.split(",")] if text.strip() else []
    if wanted == "bool":
        return {"true": True, "false": False}.get(text, text)
    found = number(text)
    return text if found is None else found
