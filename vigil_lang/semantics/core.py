"""The core language: every statement is □Θ with its value variables quantified outermost (paper, Figure 4, Table VI).

Conditions speak of one event; temporal bodies relate events. Nothing after lowering knows the surface forms.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from vigil_lang.base.node import Plain
from vigil_lang.diagnostics.diagnostic import Span
from vigil_lang.semantics.text_patterns import AnyOf, Expression, Matcher

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


ViewName: TypeAlias = Literal[
    "lower", "host", "base", "dir", "ext", "length", "count", "json", "member", "find", "without"
]

# --- conditions on one event -------------------------------------------------------------------------------


class View(Plain, frozen=True):
    """A total function on a field's texts, applied before a test (spec 7.12).

    `path` is what `json` selects, `expression` what `find` and `without` look for. `member`, which no policy writes, is
    `json` with the path as one dotted name.
    """

    name: ViewName
    path: str = ""
    expression: Expression | None = None


class Reads(Plain, frozen=True):
    """What a condition reads: one argument, or the event's output, through its views from left to right.

    In a `where` condition the name is that of a variable.
    """

    name: str
    output: bool = False
    views: tuple[View, ...] = ()


class ActionIn(Plain, frozen=True):
    """The action's name or one of its kinds is in a set."""

    names: frozenset[str]


class ActionMatches(Plain, frozen=True):
    """The action's name or one of its kinds matches a text pattern."""

    matcher: Matcher


class StatusIs(Plain, frozen=True):
    """The event's status; neither value holds of `unknown`."""

    status: Literal["ok", "error"]


class Has(Plain, frozen=True):
    """The event carries the argument (or has an output)."""

    field: Reads


class In(Plain, frozen=True):
    """Some value of the field is in a set of texts; with `negated`, some value is outside it."""

    field: Reads
    values: frozenset[str]
    negated: bool = False


class Matches(Plain, frozen=True):
    """Some value of the field matches; with `negated`, some value does not."""

    field: Reads
    matcher: Matcher
    negated: bool = False


class Compares(Plain, frozen=True):
    """Some value of the field reads as a decimal number in the given relation to `number`."""

    field: Reads
    operator: Literal["<", "<=", ">", ">="]
    number: Decimal


class ComparesWith(Plain, frozen=True):
    """Some value of the field and the variable's value read as decimal numbers in the given relation."""

    field: Reads
    operator: Literal["<", "<=", ">", ">="]
    variable: str


class Equals(Plain, frozen=True):
    """Some value of the field is the variable's value."""

    field: Reads
    variable: str


class Contains(Plain, frozen=True):
    """Some value of the field has the variable's value, never the empty text, as a substring."""

    field: Reads
    variable: str


class ContainsText(Plain, frozen=True):
    """Some value of the field has a given text, never the empty text, as a substring."""

    field: Reads
    text: str


class Entry(Plain, frozen=True):
    """Some text of the field is a JSON object that meets a condition: the condition's arguments are its members."""

    field: Reads
    body: Condition


class NotC(Plain, frozen=True):
    """Negation of a condition."""

    body: Condition


class AndC(Plain, frozen=True):
    """Conjunction of conditions; empty is true."""

    items: tuple[Condition, ...]


class OrC(Plain, frozen=True):
    """Disjunction of conditions; empty is false."""

    items: tuple[Condition, ...]


Test: TypeAlias = (
    ActionIn
    | ActionMatches
    | StatusIs
    | Has
    | In
    | Matches
    | Compares
    | ComparesWith
    | Equals
    | Contains
    | ContainsText
)
Condition: TypeAlias = Test | Entry | NotC | AndC | OrC
OF_VARIABLES = (Equals, Contains, ComparesWith)
"""The tests that compare a field with a variable."""


# --- temporal bodies ---------------------------------------------------------------------------------------


class Calls(Plain, frozen=True):
    """A bound in calls: at least `least` and at most `count` calls away."""

    count: int
    least: int = 0


class Steps(Plain, frozen=True):
    """A bound in events, likewise."""

    count: int
    least: int = 0


class Within(Plain, frozen=True):
    """A bound in time, likewise in microseconds; no event without a time meets it."""

    microseconds: int
    least: int = 0


FAR: Final = 10**18
"""The most of a bound that has none: further than any run reaches."""

Bound: TypeAlias = Calls | Steps | Within | None


class _Leaf(Plain, frozen=True):
    """A condition in a body. `span` says where the policy wrote it, and takes no part in equality."""

    condition: Condition
    role: str = "condition"
    span: Span | None = None

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, _Leaf)
            and type(self) is type(other)
            and self.role == other.role
            and self.condition == other.condition
        )

    def __ne__(self, other: object) -> bool:  # Struct has one of its own
        return not self == other

    def __hash__(self) -> int:
        return hash((type(self), self.condition, self.role))


class Holds(_Leaf, frozen=True):
    """A condition on the event at hand. `role` names it in messages and symbols (`trigger`, `guard`, …)."""


class Not(Plain, frozen=True):
    """¬Θ."""

    body: Theta


class And(Plain, frozen=True):
    """Θ ∧ Θ′ …"""

    items: tuple[Theta, ...]


class Or(Plain, frozen=True):
    """Θ ∨ Θ′ …; empty is false."""

    items: tuple[Theta, ...]


class Implies(Plain, frozen=True):
    """Θ ⇒ Θ′."""

    left: Theta
    right: Theta


class Earlier(Plain, frozen=True):
    """◇⁻Θ: at some strictly earlier event, within the bound."""

    body: Theta
    bound: Bound = None


class Later(Plain, frozen=True):
    """◇⁺Θ: at some strictly later event, within the bound."""

    body: Theta
    bound: Bound = None


class Clear(Plain, frozen=True):
    """The interval condition of `until`: every later `forbidden` event has a `resolver` strictly in between."""

    resolver: Theta
    forbidden: Theta


class Since(Plain, frozen=True):
    """Θ S Θ′: at some strictly earlier event, within the bound, `right` holds, and at all strictly in between `left`.

    With `weak` it is enough that `left` holds at every strictly earlier event within the bound.
    """

    left: Theta
    right: Theta
    bound: Bound = None
    weak: bool = False


class Until(Plain, frozen=True):
    """Θ U Θ′: likewise of the strictly later events."""

    left: Theta
    right: Theta
    bound: Bound = None
    weak: bool = False


class Repeated(Plain, frozen=True):
    """At least `count` calls have an event, here or earlier, at which the body holds.

    With `distinct` it counts the values of that field at these events instead. Only events within the bound count,
    and only those after the last strictly earlier event at which `reset` holds.
    """

    count: int
    body: Theta
    bound: Bound = None
    reset: Theta | None = None
    distinct: Reads | None = None


class Exceeds(Plain, frozen=True):
    """The positive numbers of a field at the events, here or earlier, at which the body holds total more than `limit`.

    It also holds where the event at hand carries no number: what cannot be added is not known to stay below. Bound and
    `reset` choose the events as in `Repeated`.
    """

    limit: Decimal
    field: Reads
    body: Theta
    bound: Bound = None
    reset: Theta | None = None


class Where(_Leaf, frozen=True):
    """A condition on the values of the variables alone: its arguments are the variables."""

    role: str = "where"


class Last(Plain, frozen=True):
    """No event is later."""


Theta: TypeAlias = (
    Holds | Not | And | Or | Implies | Earlier | Later | Clear | Since | Until | Repeated | Exceeds | Where | Last
)

FALSE = Or(())
_THETA = (Holds, Not, And, Or, Implies, Earlier, Later, Clear, Since, Until, Repeated, Exceeds, Where, Last)


class Requirement(Plain, frozen=True):
    """□Θ of one statement, with its variables in order of appearance.

    `trigger` is the body whose occurrence puts the statement to the test (None for `abs` and for an `always`
    that is no implication): without one in a run the statement holds vacuously.
    """

    theta: Theta
    variables: tuple[str, ...]
    trigger: Theta | None


def children(theta: Theta) -> tuple[Theta, ...]:
    """The bodies a body is made of, left to right; none for a condition."""
    match theta:
        case Holds() | Where() | Last():
            return ()
        case And(items) | Or(items):
            return items
        case Implies(left, right) | Clear(left, right) | Since(left, right) | Until(left, right):
            return left, right
        case Not(body) | Earlier(body) | Later(body):
            return (body,)
        case Repeated(body=body, reset=reset) | Exceeds(body=body, reset=reset):
            return (body,) if reset is None else (body, reset)


def bodies(theta: Theta) -> Iterator[Theta]:
    """A body and all that it is made of, each before its parts, left to right."""
    waiting = [theta]
    while waiting:
        found = waiting.pop()
        yield found
        waiting += reversed(children(found))


def size(theta: Theta) -> int:
    """How many operators and conditions a body has."""
    return sum(1 for _ in bodies(theta))


def conditions(theta: Theta) -> list[Holds]:
    """The conditions of a body, left to right."""
    return [body for body in bodies(theta) if isinstance(body, Holds)]


def tests(condition: Condition) -> list[Test]:
    """The atomic tests of a condition, left to right."""
    found: list[Test] = []
    _collect_tests(condition, found)
    return found


def _collect_tests(condition: Condition, found: list[Test]) -> None:
    if isinstance(condition, (AndC, OrC)):
        for item in condition.items:
            _collect_tests(item, found)
    elif isinstance(condition, NotC):
        _collect_tests(condition.body, found)
    elif isinstance(condition, Entry):
        found += [_of_member(test, condition.field) for test in tests(condition.body)]
    else:
        found.append(condition)


def _of_member(test: Test, entries: Reads) -> Test:
    if isinstance(test, (ActionIn, ActionMatches, StatusIs)):
        return test
    return replace(test, field=member_of(entries, test.field))


def member_of(entries: Reads, member: Reads) -> Reads:
    """What a test of an entry's member reads, of all entries together."""
    return replace(entries, views=(*entries.views, View("member", member.name), *member.views))


def negated(theta: Theta) -> Theta:
    """A body that holds wherever another does not, without two negations in a row."""
    match theta:
        case Not(body):
            return body
        case Holds(NotC(body)):
            return replace(theta, condition=body)
        case Holds(condition):
            return replace(theta, condition=NotC(condition))
        case _:
            return Not(theta)


def mapped(body: Theta, change: Callable[[Holds], Holds], of_where: Callable[[Where], Where] | None = None) -> Theta:
    """A body with each of its conditions changed; those on variables alone stay, or have a change of their own."""
    match body:
        case Holds():
            return change(body)
        case Where():
            return body if of_where is None else of_where(body)
        case Last():
            return body
        case And(items) | Or(items):
            return replace(body, items=tuple([mapped(item, change, of_where) for item in items]))
        case Implies(left, right) | Since(left, right) | Until(left, right):
            return replace(body, left=mapped(left, change, of_where), right=mapped(right, change, of_where))
        case Clear(resolver, forbidden):
            return Clear(mapped(resolver, change, of_where), mapped(forbidden, change, of_where))
        case Not(inner) | Earlier(inner) | Later(inner):
            return replace(body, body=mapped(inner, change, of_where))
        case Repeated(body=inner, reset=reset) | Exceeds(body=inner, reset=reset):
            since = None if reset is None else mapped(reset, change, of_where)
            return replace(body, body=mapped(inner, change, of_where), reset=since)


def mapped_tests(condition: Condition, change: Callable[[Test], Condition]) -> Condition:
    """A condition with each of its tests changed; those of members of an entry as tests of its arguments."""
    match condition:
        case AndC(items) | OrC(items):
            return replace(condition, items=tuple([mapped_tests(item, change) for item in items]))
        case NotC(body) | Entry(_, body):
            return replace(condition, body=mapped_tests(body, change))
        case _:
            return change(condition)


def with_opaque_tests(condition: Condition) -> Condition:
    """A condition as those see it who reason about plain texts: each test of a view, an entry or a variable's number
    becomes an argument of its own that is there or not, and a set of patterns their alternatives.

    What cannot hold then cannot hold at all; what implies another condition then, implies it.
    """
    match condition:
        case AndC(items) | OrC(items):
            return replace(condition, items=tuple([with_opaque_tests(item) for item in items]))
        case NotC(body):
            return NotC(with_opaque_tests(body))
        case Matches(field, AnyOf(matchers), False) if not field.views:
            return OrC(tuple([Matches(field, matcher) for matcher in matchers]))
        case ActionMatches(AnyOf(matchers)):
            return OrC(tuple([ActionMatches(matcher) for matcher in matchers]))
        case ActionIn() | ActionMatches() | StatusIs():
            return condition
        case Entry() | ComparesWith() | Matches(_, AnyOf()):
            return Has(Reads(f"\N{SYMBOL FOR NULL}{condition!r}"))
        case _:
            return Has(Reads(f"\N{SYMBOL FOR NULL}{condition!r}")) if condition.field.views else condition


def variables_of(theta: Theta | Condition) -> tuple[str, ...]:
    """The value variables, in order of first appearance, those of `where` last."""
    if not isinstance(theta, _THETA):
        return _variables(tests(theta))
    leaves = [body for body in bodies(theta) if isinstance(body, (Holds, Where))]
    found = dict.fromkeys(x for leaf in leaves if isinstance(leaf, Holds) for x in _variables(tests(leaf.condition)))
    for leaf in leaves:
        if isinstance(leaf, Where):
            found.update(dict.fromkeys(named_in_where(leaf.condition)))
    return tuple(found)


def named_in_where(condition: Condition) -> tuple[str, ...]:
    """The variables of a `where` condition, in order of first appearance."""
    found: dict[str, None] = {}
    for test in tests(condition):
        if not isinstance(test, (ActionIn, ActionMatches, StatusIs)):
            found[test.field.name] = None
        found.update(dict.fromkeys(_variables([test])))
    return tuple(found)


def _variables(found: list[Test]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([t.variable for t in found if isinstance(t, OF_VARIABLES)]))


# --- JSON --------------------------------------------------------------------------------------------------


def to_json(requirement: Requirement) -> bytes:
    """A requirement as JSON (spec E): equal ones with equal spans give equal bytes."""
    return msgspec.json.encode(requirement, order="deterministic")


def from_json(text: bytes | str) -> Requirement:
    """The requirement that `to_json` wrote.

    Raises:
        ValueError: the text is not JSON, or no requirement.
    """
    return msgspec.json.decode(text, type=Requirement)
