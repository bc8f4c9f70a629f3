"""A requirement as a plan over columns: which events, with which values of the variables, break it.

A *relation* is a set of rows, each an event and a value for every variable of the relation. A *term* is true or false
of a row, a *place* is another event of the row's run, or none. Every condition that reads texts is a leaf, worked out
elsewhere; what is left compares truth values, numbers and equal texts, which mean the same in any database.

A body of which a variable's value has to be in some field gives a relation by itself: at any other event, or under any
other value, it is false. A temporal operator asks for the nearest such row of the same run and values. What a body
without variables says is a property of the run's events alone, so it is worked out once, and never for each value.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from vigil_lang.semantics import core

if TYPE_CHECKING:
    from collections.abc import Iterator
    from decimal import Decimal


Unit: TypeAlias = Literal["steps", "calls", "times"]
Order: TypeAlias = Literal["calls", "times", "groups"]
"""What has to be in order along a run: the ordinals of its calls, its times, the events of each call together."""


@dataclass(frozen=True)
class Node:
    """A relation, a place or a term."""

    @cached_property
    def parts(self) -> tuple[Node, ...]:
        """What it is made of."""
        values = [getattr(self, field.name) for field in fields(self)]
        several = [value if isinstance(value, tuple) else (value,) for value in values]
        return tuple(part for of in several for part in of if isinstance(part, Node))

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The variables that its rows have values of, or that it asks rows for, in order of name."""
        return tuple(sorted({x for part in self.parts for x in part.variables}))


# --- relations -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Events(Node):
    """Every event; no variable."""


@dataclass(frozen=True)
class Carried(Node):
    """The events at which a term is true, with each of the texts that a field has there as the variable's value."""

    field: core.Reads
    variable: str
    at: Term

    @cached_property
    def variables(self) -> tuple[str, ...]:
        return (self.variable,)


@dataclass(frozen=True)
class Selected(Node):
    """The rows of a relation of which a term is true."""

    of: Relation
    where: Term


@dataclass(frozen=True)
class Joined(Node):
    """The pairs of rows of two relations that have the same event, and the same value of every common variable."""

    left: Relation
    right: Relation


@dataclass(frozen=True)
class United(Node):
    """The rows of several relations with the same variables, each once."""

    items: tuple[Relation, ...]


@dataclass(frozen=True)
class Extended(Node):
    """The rows of a relation with the values that another has in the same run, for variables that the first lacks.

    Where both have a variable, its values are the same.
    """

    of: Relation
    by: Relation


@dataclass(frozen=True)
class Spread(Node):
    """The events at which a term is true, each with every combination of values of some variables that a relation has
    in the same run: for what holds wherever a value is missing."""

    at: Term
    of: Relation
    names: tuple[str, ...]

    @cached_property
    def variables(self) -> tuple[str, ...]:
        return self.names


Relation: TypeAlias = Events | Carried | Selected | Joined | United | Extended | Spread


# --- places and terms ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Nearest(Node):
    """The nearest event strictly before (or `ahead`), in a relation under the row's values.

    With `least` it is the nearest that is at least so far away in the unit.
    """

    relation: Relation
    ahead: bool
    unit: Unit = "steps"
    least: int = 0


@dataclass(frozen=True)
class Ranked(Node):
    """Of the calls with an event in a relation under the row's values, here or earlier, the `count`-th from the last:
    the last event of it."""

    relation: Relation
    count: int
    unit: Unit = "steps"


Place: TypeAlias = Nearest | Ranked


@dataclass(frozen=True)
class Met(Node):
    """A condition without variables holds at the row's event."""

    condition: core.Condition


@dataclass(frozen=True)
class ValueMet(Node):
    """A condition of `where` holds of the values of the variables that it names."""

    condition: core.Condition

    @cached_property
    def variables(self) -> tuple[str, ...]:
        return core.named_in_where(self.condition)


@dataclass(frozen=True)
class Paired(Node):
    """A text that the row's event carries in a field and the values together pass a test of that field."""

    test: core.Contains | core.ComparesWith | core.Entry

    @cached_property
    def variables(self) -> tuple[str, ...]:
        return core.variables_of(self.test)


@dataclass(frozen=True)
class Timed(Node):
    """The row's event has a time."""


@dataclass(frozen=True)
class AtEnd(Node):
    """The row's event is the last of its run."""


@dataclass(frozen=True)
class Among(Node):
    """The row, as far as its variables go, is in a relation."""

    relation: Relation


@dataclass(frozen=True)
class Some(Node):
    """Some event strictly before (or `ahead`) is in a relation under the row's values."""

    relation: Relation
    ahead: bool


@dataclass(frozen=True)
class Near(Node):
    """There is a place, and it is at most so far away in its unit."""

    place: Place
    most: int


@dataclass(frozen=True)
class Before(Node):
    """There are two places, and the first comes before the second in the run."""

    first: Place
    second: Place


@dataclass(frozen=True)
class Total(Node):
    """The positive numbers of a field at the events of a relation, here or earlier, total more than `limit`.

    Only events at most so far away in the unit count, and only those after the last event before the row's in `resets`.
    """

    relation: Relation
    field: core.Reads
    limit: Decimal
    unit: Unit
    most: int
    resets: tuple[Relation, ...]


@dataclass(frozen=True)
class Different(Node):
    """The events of a relation, here or earlier, have at least `count` different texts in a field."""

    relation: Relation
    field: core.Reads
    count: int


@dataclass(frozen=True)
class Neg(Node):
    """A term is false."""

    item: Term


@dataclass(frozen=True)
class Every(Node):
    """All of some terms are true."""

    items: tuple[Term, ...]


@dataclass(frozen=True)
class Either(Node):
    """One of some terms is true."""

    items: tuple[Term, ...]


Term: TypeAlias = (
    Met | ValueMet | Paired | Timed | AtEnd | Among | Some | Near | Before | Total | Different | Neg | Every | Either
)

TRUE: Final = Every(())


@dataclass(frozen=True)
class Plan:
    """What breaks a requirement, as a relation over all its variables, and what puts it to the test.

    `exercised` is None where every run does, be it empty. `ordered` is what has to be in order along a run for the plan
    to be right about it.
    """

    violated: Relation
    exercised: Relation | None
    ordered: frozenset[Order]


def nodes(node: Node) -> Iterator[Node]:
    """A node and all that it is made of."""
    yield node
    for part in node.parts:
        yield from nodes(part)
