"""The syntax tree of a policy: typed, frozen, with the exact span of every node.

Spans do not take part in equality, so two trees are equal exactly when they say the same thing.
A parenthesised expression is its inner node with the span widened to the parentheses.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

from vigil_lang.diagnostics.model import NOWHERE, Span

if TYPE_CHECKING:
    from vigil_lang.diagnostics.model import Source


_T = TypeVar("_T")


def _span() -> Span:
    return field(default=NOWHERE, compare=False, repr=False)


def changed(node: _T, **changes: Any) -> _T:
    """A copy of a node with some fields changed: `dataclasses.replace` without its look at every field."""
    fields = {name: getattr(node, name) for name in node.__slots__}  # type: ignore[attr-defined]
    return type(node)(**(fields | changes))


@dataclass(frozen=True, slots=True)
class Name:
    """A name as written: a declaration's, or a bare word whose meaning is resolved later."""

    text: str
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class String:
    """A string literal; `raw` is the text between the quotes, escapes unread."""

    raw: str
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Number:
    """A number literal as written."""

    raw: str
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Boolean:
    """`true` or `false`."""

    value: bool
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Regex:
    """A regular expression; `raw` is the text between the slashes."""

    raw: str
    ignore_case: bool = False
    span: Span = _span()


Literal_: TypeAlias = String | Number | Boolean
Term: TypeAlias = Name | Literal_


@dataclass(frozen=True, slots=True)
class SetLiteral:
    """`{a, "b", 3}`; a bare name in it is a declared value, or else its own text."""

    elements: tuple[Term, ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class SetUnion:
    """`A | {b}`: one or more parts."""

    parts: tuple[SetLiteral | Name, ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Bound:
    """`[3]` (calls) or `[30s]` (a duration), as written."""

    raw: str
    span: Span = _span()


# --- expressions -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Field:
    """What a test reads: an argument by name (quoted or not), or the event's `output`."""

    name: str
    kind: Literal["argument", "output"] = "argument"
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class ActionIn:
    """`action in S`."""

    names: SetUnion
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class ActionIs:
    """`action = NAME`."""

    name: Name | String
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class ActionMatches:
    """`action ~ "glob"` or `action ~ /regex/`."""

    text: String | Name | Regex
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class StatusIs:
    """`status = ok` or `status = error`."""

    status: Literal["ok", "error"]
    span: Span = _span()


Operator: TypeAlias = Literal["in", "not in", "=", "!=", "~", "!~", "<", "<=", ">", ">=", "contains"]


@dataclass(frozen=True, slots=True)
class Test:
    """`field operator operand`."""

    field: Field
    operator: Operator
    operand: SetUnion | Term | Regex
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Has:
    """`has field`."""

    field: Field
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Apply:
    """`name(…)` or a bare `name`: a declared pattern applied, or a call of that action; resolved later.

    `args` is None for a bare name.
    """

    name: Name | String
    args: tuple[Expr | Literal_, ...] | None
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Not:
    """`not e`."""

    body: Expr
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class And:
    """Two or more conjuncts."""

    items: tuple[Expr, ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Or:
    """Two or more disjuncts."""

    items: tuple[Expr, ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Implies:
    """`a implies b`; only in the body of `always`."""

    left: Expr
    right: Expr
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Diamond:
    """`earlier[ℓ] e` or `later[ℓ] e`; only in the body of `always`."""

    direction: Literal["earlier", "later"]
    bound: Bound | None
    body: Expr
    span: Span = _span()


Atom: TypeAlias = ActionIn | ActionIs | ActionMatches | StatusIs | Test | Has | Apply
Expr: TypeAlias = Atom | Not | And | Or | Implies | Diamond


# --- items -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Annotation:
    """`@name("text", word, 3)`."""

    name: Name
    args: tuple[Term, ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Use:
    """`use std.files: writes`; `names` is empty when everything is imported.

    A relative module starts with a dot.
    """

    module: Name
    names: tuple[Name, ...] = ()
    annotations: tuple[Annotation, ...] = ()
    doc: str | None = None
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Let:
    """`let NAME = value`."""

    name: Name
    value: SetUnion | Literal_
    annotations: tuple[Annotation, ...] = ()
    doc: str | None = None
    span: Span = _span()


ParamType: TypeAlias = Literal["number", "text", "bool", "set"]


@dataclass(frozen=True, slots=True)
class Param:
    """`param NAME: type = default`."""

    name: Name
    type: ParamType
    default: SetUnion | Literal_ | None
    annotations: tuple[Annotation, ...] = ()
    doc: str | None = None
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Pattern:
    """`pattern NAME(x, y) = condition`."""

    name: Name
    params: tuple[Name, ...]
    body: Expr
    annotations: tuple[Annotation, ...] = ()
    doc: str | None = None
    span: Span = _span()


FormName: TypeAlias = Literal["abs", "prec", "resp", "bresp", "rslv", "until", "atmost", "always"]


@dataclass(frozen=True, slots=True)
class Form:
    """A temporal form applied to its conditions; `always` has one temporal body."""

    name: FormName
    args: tuple[Expr, ...]
    bound: Bound | None = None
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Statement:
    """`statement NAME: form after condition`."""

    name: Name
    form: Form
    after: Expr | None = None
    annotations: tuple[Annotation, ...] = ()
    doc: str | None = None
    span: Span = _span()


Item: TypeAlias = Use | Let | Param | Pattern | Statement


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment as written, from its slashes to the end of the line."""

    text: str
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class File:
    """A policy file: what parsed of it, in order, and every comment (documentation comments too)."""

    source: Source = field(compare=False, repr=False)
    name: Name | None = None
    annotations: tuple[Annotation, ...] = ()
    doc: str | None = None
    items: tuple[Item, ...] = ()
    comments: tuple[Comment, ...] = ()
    broken: tuple[Span, ...] = field(default=(), compare=False)
    """Where items did not parse."""
