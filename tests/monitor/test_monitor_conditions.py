"""What a monitor draws from a condition before it knows the values: each claim held against the condition itself."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from tests.strategies.core import conditions
from tests.strategies.runs import runs, trace_of
from vigil_lang.engines.monitor.clauses import _shortened, _witness, possibly
from vigil_lang.engines.monitor.leaves import names_of
from vigil_lang.semantics import core
from vigil_lang.semantics.denotation import meets

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.strategies.runs import Line
    from vigil_lang.semantics.denotation import Binding
    from vigil_lang.trace import Event, Trace

VARIABLES = ("x", "y")
made = st.one_of(conditions(()), conditions(VARIABLES), conditions(("x",)))


def held(condition: core.Condition) -> core.Holds:
    return core.Holds(condition, "condition")


def everything(trace: Trace) -> Iterator[tuple[Event, Binding]]:
    """Each event under each binding."""
    values = (None, *trace.values)
    for event, chosen in product(trace.events, product(values, repeat=len(VARIABLES))):
        yield event, dict(zip(VARIABLES, chosen, strict=True))


@given(made, runs())
def test_what_an_event_can_meet_is_possible(condition: core.Condition, lines: list[Line]) -> None:
    true, false = (possibly(held(condition), truth) for truth in (True, False))
    assert not core.variables_of(true)
    assert not core.variables_of(false)
    for event, binding in everything(trace_of(lines)):
        assert meets(true if meets(condition, event, binding) else false, event, {})


@given(made, made, runs())
def test_what_is_left_out_of_an_event_is_not_looked_at(
    one: core.Condition, other: core.Condition, lines: list[Line]
) -> None:
    shortened = _shortened(core.Since(held(one), held(other)))
    for event, binding in everything(trace_of(lines)):
        for condition in (one, other):
            assert meets(condition, shortened(event), binding) == meets(condition, event, binding)


@given(made, runs())
def test_an_event_has_one_of_the_names(condition: core.Condition, lines: list[Line]) -> None:
    names = names_of(condition)
    for event, binding in everything(trace_of(lines)):
        if names is not None and meets(condition, event, binding):
            assert not names.isdisjoint(event.names())


@given(made, runs())
def test_what_some_value_meets_the_event_tells_by_itself(condition: core.Condition, lines: list[Line]) -> None:
    witness, trace = _witness(condition), trace_of(lines)
    if witness is None:
        return
    met = {event.id for event, binding in everything(trace) if meets(condition, event, binding)}
    assert met == {event.id for event in trace.events if meets(witness, event, {})}
