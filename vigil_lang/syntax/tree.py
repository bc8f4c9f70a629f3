"""The syntax tree of a policy: typed, frozen, with the exact span of every node.

Spans do not take part in equality, so two trees are equal exactly when they say the same thing.
A parenthesised expression is its inner node with the span widened to the parentheses.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Any, ClassVar, Literal, TypeAlias, get_args

from msgspec import Struct

from vigil_lang.base.node import Node
from vigil_lang.diagnostics.diagnostic import NOWHERE, Source, Span


class Name(Node, frozen=True, eq=False):
    """A name as written: a declaration's, or a bare word whose meaning is resolved later."""

    text: str
    span: Span = NOWHERE


class String(Node, frozen=True, eq=False):
    """A string literal; `raw` is the text between the quotes, escapes unread."""

    raw: str
    span: Span = NOWHERE


class Number(Node, frozen=True, eq=False):
    """A number literal as written."""

    raw: str
    span: Span = NOWHERE


class Boolean(Node, frozen=True, eq=False):
    """`true` or `false`."""

    value: bool
    span: Span = NOWHERE


class Regex(Node, frozen=True, eq=False):
    """A regular expression; `raw` is the text between the slashes."""

    raw: str
    ignore_case: bool = False
    span: Span = NOWHERE


Literal_: TypeAlias = String | Number | Boolean
Term: TypeAlias = Name | Literal_


class SetLiteral(Node, frozen=True, eq=False):
    """`{a, "b", 3, /c/}`; a bare name in it is a declared value, or else its own text."""

    elements: tuple[Term | Regex, ...]
    span: Span = NOWHERE


class SetUnion(Node, frozen=True, eq=False):
    """`A | {b}`: one or more parts."""

    parts: tuple[SetLiteral | Name, ...]
    span: Span = NOWHERE


class Bound(Node, frozen=True, eq=False):
    """What stands in `[3]` or `[3 calls]`, `[2 steps]`, `[30s]`, `[1..3]`, with single spaces."""

    raw: str
    span: Span = NOWHERE


# --- expressions -------------------------------------------------------------------------------------------


class View(Node, frozen=True, eq=False):
    """`:host`, `:json("total")`, `:find(/…/)`: a function on a field's texts."""

    name: Name
    argument: String | Regex | None = None
    span: Span = NOWHERE


class Field(Node, frozen=True, eq=False):
    """What a test reads: an argument by name (quoted or not), or the event's `output`, through its views."""

    name: str
    kind: Literal["argument", "output"] = "argument"
    views: tuple[View, ...] = ()
    span: Span = NOWHERE

    @property
    def name_span(self) -> Span:
        """Where the name stands, without the views and the colon before them."""
        return Span(self.span.start, self.views[0].span.start - 1) if self.views else self.span


class ActionIn(Node, frozen=True, eq=False):
    """`action in S`."""

    names: SetUnion
    span: Span = NOWHERE


class ActionIs(Node, frozen=True, eq=False):
    """`action = NAME`."""

    name: Name | String
    span: Span = NOWHERE


class ActionMatches(Node, frozen=True, eq=False):
    """`action ~ "glob"`, `action ~ /regex/` or `action ~ SET`."""

    text: String | Name | Regex | SetUnion
    span: Span = NOWHERE


class StatusIs(Node, frozen=True, eq=False):
    """`status = ok` or `status = error`."""

    status: Literal["ok", "error"]
    span: Span = NOWHERE


Operator: TypeAlias = Literal["in", "not in", "=", "!=", "~", "!~", "<", "<=", ">", ">=", "contains"]


class Test(Node, frozen=True, eq=False):
    """`field operator operand`."""

    field: Field
    operator: Operator
    operand: SetUnion | Term | Regex
    """After `~` a name alone is a `Name`."""
    span: Span = NOWHERE


class Entry(Node, frozen=True, eq=False):
    """`field with (e)`: some text of the field is a JSON object of which `e` holds."""

    field: Field
    body: Expr
    span: Span = NOWHERE


class Has(Node, frozen=True, eq=False):
    """`has field`."""

    field: Field
    span: Span = NOWHERE


class Apply(Node, frozen=True, eq=False):
    """`name(…)` or a bare `name`: a declared pattern applied, or a call of that action; resolved later.

    `args` is None for a bare name.
    """

    name: Name | String
    args: tuple[Expr | Literal_, ...] | None
    span: Span = NOWHERE


class Not(Node, frozen=True, eq=False):
    """`not e`."""

    body: Expr
    span: Span = NOWHERE


class And(Node, frozen=True, eq=False):
    """Two or more conjuncts."""

    items: tuple[Expr, ...]
    span: Span = NOWHERE


class Or(Node, frozen=True, eq=False):
    """Two or more disjuncts."""

    items: tuple[Expr, ...]
    span: Span = NOWHERE


class Implies(Node, frozen=True, eq=False):
    """`a implies b`; only in the body of `always`."""

    left: Expr
    right: Expr
    span: Span = NOWHERE


class Diamond(Node, frozen=True, eq=False):
    """`earlier[ℓ] e` or `later[ℓ] e`; only in the body of `always`."""

    direction: Literal["earlier", "later"]
    bound: Bound | None
    body: Expr
    span: Span = NOWHERE


class Interval(Node, frozen=True, eq=False):
    """`a since[ℓ] b` or `a until[ℓ] b`, possibly `weak`; only in the body of `always`."""

    direction: Literal["since", "until"]
    weak: bool
    bound: Bound | None
    left: Expr
    right: Expr
    span: Span = NOWHERE


class Repeated(Node, frozen=True, eq=False):
    """`repeated[n](e)`, possibly of `distinct` values; only in the body of `always`."""

    bound: Bound
    body: Expr
    distinct: Field | None = None
    span: Span = NOWHERE


class Violates(Node, frozen=True, eq=False):
    """`violates NAME`: the call would violate that statement; only in rules."""

    name: Name
    span: Span = NOWHERE


Atom: TypeAlias = ActionIn | ActionIs | ActionMatches | StatusIs | Test | Entry | Has | Apply | Violates
Expr: TypeAlias = Atom | Not | And | Or | Implies | Diamond | Interval | Repeated


# --- items -------------------------------------------------------------------------------------------------


class Moved(Struct, gc=False):
    """A part of an item that stands further on than it says: `move` moves it when somebody looks at it.

    Most parts of most items of a text that is typed in are moved many times before anybody does.
    """

    move: Callable[[Any, int], Any]
    at: tuple[Any, int]
    """The part, and how many code points further on it stands: both in one, so that no thread sees only one change."""

    @property
    def result(self) -> Any:
        """The part where it is now, the same for all who ask."""
        if self.at[1]:
            with _MOVING:
                part, by = self.at
                if by:
                    self.at = self.move(part, by), 0
        return self.at[0]

    def further(self, by: int) -> Moved:
        """The same part still further on."""
        part, before = self.at
        return Moved(self.move, (part, before + by))


_MOVING = Lock()


class MovedField:
    """A field of an item, or of its meaning, of which a value that has `Moved` is read where it is now."""

    __slots__ = ("_stored",)

    def __init__(self, stored: Any) -> None:
        self._stored = stored

    def __get__(self, item: Any, kind: type | None = None) -> Any:
        if item is None:
            return self
        value = self._stored.__get__(item, kind)
        return value.result if value.__class__ is Moved else value


class Annotation(Node, frozen=True, eq=False):
    """`@name("text", word, 3)`."""

    name: Name
    args: tuple[Term, ...]
    span: Span = NOWHERE


class Use(Node, frozen=True, eq=False):
    """`use std.files: writes`; `names` is empty when everything is imported.

    A relative module starts with a dot.
    """

    module: Name
    names: tuple[Name, ...] = ()
    annotations: tuple[Annotation, ...] = ()
    doc: str | None = None
    span: Span = NOWHERE


class Let(Node, frozen=True, eq=False):
    """`let NAME = value`."""

    name: Name
    value: SetUnion | Literal_ | Regex
    annotations: tuple[Annotation, ...] = ()
    doc: str | None = None
    span: Span = NOWHERE


ParamType: TypeAlias = Literal["number", "text", "bool", "set"]


class Param(Node, frozen=True, eq=False):
    """`param NAME: type = default`."""

    name: Name
    type: ParamType
    default: SetUnion | Literal_ | None
    annotations: tuple[Annotation, ...] = ()
    doc: str | None = None
    span: Span = NOWHERE


class Pattern(Node, frozen=True, eq=False):
    """`pattern NAME(x, y) = condition`."""

    name: Name
    params: tuple[Name, ...]
    body: Expr
    annotations: tuple[Annotation, ...] = ()
    doc: str | None = None
    span: Span = NOWHERE


FormName: TypeAlias = Literal["abs", "prec", "resp", "bresp", "rslv", "until", "atmost", "atleast", "budget", "always"]


class Form(Node, frozen=True, eq=False):
    """A temporal form applied to its conditions; `always` has one temporal body.

    A count may be of the `distinct` values of a field; `budget` has a `limit` for the total of a field. Both may be
    counted in a window (`in 10m`) and `since` the last event of a condition.
    """

    name: FormName
    args: tuple[Expr, ...]
    bound: Bound | None = None
    limit: Number | Name | None = None
    field: Field | None = None
    window: Bound | None = None
    since: Expr | None = None
    span: Span = NOWHERE


class Statement(Node, frozen=True, eq=False):
    """`statement NAME: form after condition where test`."""

    name: Name
    form: Form
    after: Expr | None = None
    where: Expr | None = None
    annotations: tuple[Annotation, ...] = ()
    doc: str | None = None
    span: Span = NOWHERE


Mode: TypeAlias = Literal["pass", "hold", "block"]


class Rule(Node, frozen=True, eq=False):
    """`rule NAME: when condition then hold record field, … relaxes name, …`."""

    name: Name
    when: Expr
    then: Mode
    record: tuple[Name | String, ...] = ()
    relaxes: tuple[Name, ...] = ()
    annotations: tuple[Annotation, ...] = ()
    doc: str | None = None
    span: Span = NOWHERE


# --- tests -------------------------------------------------------------------------------------------------


class Argument(Node, frozen=True, eq=False):
    """`name = value` of an event, or of an object among its values."""

    name: Name | String
    value: Value
    span: Span = NOWHERE


class Composite(Node, frozen=True, eq=False):
    """`{1, 2}`, a list, or `{a = 1, b = 2}`, an object."""

    elements: tuple[Value | Argument, ...]
    span: Span = NOWHERE


Value: TypeAlias = Literal_ | Composite


class Ending(Node, frozen=True, eq=False):
    """`-> ok "output"`: how a call ended, where that is said, and what it showed."""

    status: Literal["ok", "error"] | None
    output: String | None = None
    span: Span = NOWHERE


class Event(Node, frozen=True, eq=False):
    """`id: action(name = value): kind at 30s -> ok "output"`; `time` is since the run's start, as written."""

    id: Name | None
    action: Name | String
    args: tuple[Argument, ...]
    kinds: tuple[Name | String, ...] = ()
    time: Bound | None = None
    ending: Ending | None = None
    span: Span = NOWHERE


class EventGroup(Node, frozen=True, eq=False):
    """`{ … }` among the events of a run: the steps of one call."""

    events: tuple[Event, ...]
    span: Span = NOWHERE


class RunFile(Node, frozen=True, eq=False):
    """`run "violating.jsonl"`: a recording."""

    path: String
    span: Span = NOWHERE


class RunEvents(Node, frozen=True, eq=False):
    """`run { … }`: events as they are written."""

    events: tuple[Event | EventGroup, ...]
    span: Span = NOWHERE


class RunCalls(Node, frozen=True, eq=False):
    """`calls in "/home/ann" { … }`: calls as a harness records them, to be abstracted."""

    cwd: String | None
    events: tuple[Event, ...]
    span: Span = NOWHERE


class Setting(Node, frozen=True, eq=False):
    """`set NAME = value`: a value for a `param`."""

    name: Name
    value: SetUnion | Literal_
    span: Span = NOWHERE


class Binding(Node, frozen=True, eq=False):
    """`x = "M"`: the value of a variable under which an event offends."""

    name: Name
    value: Literal_
    span: Span = NOWHERE


Expected: TypeAlias = Literal["satisfied", "violated", "vacuous", "holds", "blocks", "passes"]
"""What a test expects of a statement, or, with the last three, of a rule."""


class Expectation(Node, frozen=True, eq=False):
    """`expect R3 violated at e5 with x = "M"`; without events it is violated at some event, whichever.

    `statements` are names of statements, or of rules where the verdict is one of a rule.
    """

    statements: tuple[Name, ...]
    verdict: Expected
    events: tuple[Name | String, ...] = ()
    bindings: tuple[Binding, ...] = ()
    span: Span = NOWHERE


Clause: TypeAlias = RunFile | RunEvents | RunCalls | Setting | Expectation


class TestCase(Node, frozen=True, eq=False):
    """`test "name" { … }`: a run, and what it is expected to show."""

    name: String
    clauses: tuple[Clause, ...]
    annotations: tuple[Annotation, ...] = ()
    doc: str | None = None
    span: Span = NOWHERE


Item: TypeAlias = Use | Let | Param | Pattern | Statement | Rule | TestCase
ITEMS = frozenset(get_args(Item))

for _kind in ITEMS:
    for _field in _kind.__struct_fields__[1:]:  # who reads a file asks for all the names: these never wait
        if _field not in ("doc", "span"):
            setattr(_kind, _field, MovedField(_kind.__dict__[_field]))


class Comment(Node, frozen=True, eq=False):
    """A comment as written, from its slashes to the end of the line."""

    text: str
    span: Span = NOWHERE


class File(Node, frozen=True, eq=False):
    """A policy file: what parsed of it, in order, and every comment (documentation comments too)."""

    _ASIDE: ClassVar[frozenset[str]] = frozenset({"source", "broken"})

    source: Source
    name: Name | None = None
    annotations: tuple[Annotation, ...] = ()
    doc: str | None = None
    items: tuple[Item, ...] = ()
    comments: tuple[Comment, ...] = ()
    broken: tuple[Span, ...] = ()
    """Where items did not parse."""
