"""The core language: every statement is □Θ with its value variables quantified outermost (paper, Figure 4, Table VI).

Conditions speak of one event; temporal bodies relate events. Nothing after lowering knows the surface forms.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from vigil_lang.base.node import Plain
from vigil_lang.diagnostics.diagnostic import Span
from vigil_lang.semantics.text import Matcher

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


# --- conditions on one event -------------------------------------------------------------------------------


class Reads(Plain, frozen=True, eq=False):
    """What a condition reads: one argument, or the event's output."""

    name: str
    output: bool = False


class ActionIn(Plain, frozen=True, eq=False):
    """The action's name or one of its kinds is in a set."""

    names: frozenset[str]


class ActionMatches(Plain, frozen=True, eq=False):
    """The action's name or one of its kinds matches a text pattern."""

    matcher: Matcher


class StatusIs(Plain, frozen=True, eq=False):
    """The event's status; neither value holds of `unknown`."""

    status: Literal["ok", "error"]


class Has(Plain, frozen=True, eq=False):
    """The event carries the argument (or has an output)."""

    field: Reads


class In(Plain, frozen=True, eq=False):
    """Some value of the field is in a set of texts; with `negated`, some value is outside it."""

    field: Reads
    values: frozenset[str]
    negated: bool = False


class Matches(Plain, frozen=True, eq=False):
    """Some value of the field matches; with `negated`, some value does not."""

    field: Reads
    matcher: Matcher
    negated: bool = False


class Compares(Plain, frozen=True, eq=False):
    """Some value of the field reads as a decimal number in the given relation to `number`."""

    field: Reads
    operator: Literal["<", "<=", ">", ">="]
    number: Decimal


class Equals(Plain, frozen=True, eq=False):
    """Some value of the field is the variable's value."""

    field: Reads
    variable: str


class Contains(Plain, frozen=True, eq=False):
    """Some value of the field has the variable's value, never the empty text, as a substring."""

    field: Reads
    variable: str


class ContainsText(Plain, frozen=True, eq=False):
    """Some value of the field has a given text, never the empty text, as a substring."""

    field: Reads
    text: str


class NotC(Plain, frozen=True, eq=False):
    """Negation of a condition."""

    body: Condition


class AndC(Plain, frozen=True, eq=False):
    """Conjunction of conditions; empty is true."""

    items: tuple[Condition, ...]


class OrC(Plain, frozen=True, eq=False):
    """Disjunction of conditions; empty is false."""

    items: tuple[Condition, ...]


Test: TypeAlias = ActionIn | ActionMatches | StatusIs | Has | In | Matches | Compares | Equals | Contains | ContainsText
Condition: TypeAlias = Test | NotC | AndC | OrC


# --- temporal bodies ---------------------------------------------------------------------------------------


class Calls(Plain, frozen=True, eq=False):
    """A bound in calls: at most `count` calls away."""

    count: int


class Within(Plain, frozen=True, eq=False):
    """A bound in time: at most `microseconds` away; no event without a time meets it."""

    microseconds: int


Bound: TypeAlias = Calls | Within | None


class Holds(Plain, frozen=True, eq=False):
    """A condition on the event at hand. `role` names it in messages and symbols (`trigger`, `guard`, …).

    `span` says where the policy wrote it, and takes no part in equality.
    """

    condition: Condition
    role: str = "condition"
    span: Span | None = None


class Not(Plain, frozen=True, eq=False):
    """¬Θ."""

    body: Theta


class And(Plain, frozen=True, eq=False):
    """Θ ∧ Θ′ …"""

    items: tuple[Theta, ...]


class Or(Plain, frozen=True, eq=False):
    """Θ ∨ Θ′ …; empty is false."""

    items: tuple[Theta, ...]


class Implies(Plain, frozen=True, eq=False):
    """Θ ⇒ Θ′."""

    left: Theta
    right: Theta


class Earlier(Plain, frozen=True, eq=False):
    """◇⁻Θ: at some strictly earlier event, within the bound."""

    body: Theta
    bound: Bound = None


class Later(Plain, frozen=True, eq=False):
    """◇⁺Θ: at some strictly later event, within the bound."""

    body: Theta
    bound: Bound = None


class Clear(Plain, frozen=True, eq=False):
    """The interval condition of `until`: every later `forbidden` event has a `resolver` strictly in between."""

    resolver: Theta
    forbidden: Theta


class Repeated(Plain, frozen=True, eq=False):
    """At least `count` other calls have a strictly earlier event at which the body holds (`atmost`)."""

    count: int
    body: Theta


Theta: TypeAlias = Holds | Not | And | Or | Implies | Earlier | Later | Clear | Repeated

FALSE = Or(())


class Requirement(Plain, frozen=True, eq=False):
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
        case Holds():
            return ()
        case And(items) | Or(items):
            return items
        case Implies(left, right) | Clear(left, right):
            return left, right
        case Not(body) | Earlier(body) | Later(body) | Repeated(_, body):
            return (body,)


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
    else:
        found.append(condition)


def mapped(theta: Theta, change: Callable[[Holds], Holds]) -> Theta:
    """A body with each of its conditions changed."""
    match theta:
        case Holds():
            return change(theta)
        case And(items) | Or(items):
            return replace(theta, items=tuple([mapped(item, change) for item in items]))
        case Implies(left, right):
            return Implies(mapped(left, change), mapped(right, change))
        case Clear(resolver, forbidden):
            return Clear(mapped(resolver, change), mapped(forbidden, change))
        case Not(body) | Earlier(body) | Later(body) | Repeated(_, body):
            return replace(theta, body=mapped(body, change))


def mapped_tests(condition: Condition, change: Callable[[Test], Condition]) -> Condition:
    """A condition with each of its tests changed."""
    match condition:
        case AndC(items) | OrC(items):
            return replace(condition, items=tuple([mapped_tests(item, change) for item in items]))
        case NotC(body):
            return NotC(mapped_tests(body, change))
        case _:
            return change(condition)


def variables_of(theta: Theta | Condition) -> tuple[str, ...]:
    """The value variables, in order of first appearance."""
    if isinstance(theta, (Holds, Not, And, Or, Implies, Earlier, Later, Clear, Repeated)):
        found = [t for c in conditions(theta) for t in tests(c.condition)]
    else:
        found = tests(theta)
    return tuple(dict.fromkeys(t.variable for t in found if isinstance(t, (Equals, Contains))))


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
