"""The run around an event at fault: which calls are shown, what part each has in it, and what is said of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from vigil_lang.semantics import core

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vigil_lang.semantics.lower import Statement
    from vigil_lang.trace import Trace
    from vigil_lang.verdict.verdict import Offence

Part: TypeAlias = Literal["at fault", "also at fault", "noted", "around"]

_CONTEXT = 2


class Step(NamedTuple):
    """An event that is shown, by its place in the run, and what is to be said of it."""

    place: int
    part: Part
    note: str | None


def surroundings(offence: Offence, trace: Trace, others: Iterable[Offence] = ()) -> list[Step]:
    """The events around one at fault and those that come into its explanation, in order.

    `others` are those at fault for the same statement.
    """
    at = offence.index
    notes = offence.notes(trace)
    at_fault = {each.index for each in others} | {trace.index_of[event] for event in offence.forbidden}
    around = range(max(0, at - _CONTEXT), min(len(trace), at + _CONTEXT + 1))
    call = next(place for place, event in enumerate(trace.events) if event.call == offence.call)
    return [
        Step(
            place,
            "at fault" if place == at
            else "also at fault" if place in at_fault
            else "noted" if place in notes
            else "around",
            notes.get(place),
        )
        for place in sorted({call, *around, *notes})
    ]  # fmt: skip


def arguments_read(statement: Statement) -> frozenset[str]:
    """The arguments that the statement's conditions are about, and what it counts or adds up."""
    theta = statement.requirement.theta
    tests = [t for c in core.conditions(theta) for t in core.tests(c.condition)]
    read = [t.field for t in tests if not isinstance(t, core.ActionIn | core.ActionMatches | core.StatusIs)]
    read += [b.field for b in core.bodies(theta) if isinstance(b, core.Exceeds)]
    read += [b.distinct for b in core.bodies(theta) if isinstance(b, core.Repeated) and b.distinct is not None]
    return frozenset(field.name for field in read)
