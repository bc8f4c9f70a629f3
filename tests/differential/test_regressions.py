"""What the differential tests once found, each as the smallest example of its kind."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tests.differential.engines import by_denotation, by_index, by_solver
from tests.differential.shapes import requirement_of
from tests.strategies.policies import policy_of
from tests.strategies.runs import trace_of
from vigil_lang.diagnostics import Source
from vigil_lang.semantics import core
from vigil_lang.semantics.range_restriction import unbound
from vigil_lang.syntax import parse
from vigil_lang.trace import Event, Trace


def test_event_ids_that_are_shown_alike_name_different_conditions() -> None:
    """`e|1` is shown as `e<7c>1`; the number that tells the second from the first may be in a third id already."""
    trace = trace_of([{"action": "a", "event": name} for name in ("e|1", "e<7c>1", "e<7c>1#2")])
    assert by_solver(requirement_of("abs(a())"), trace).events == [0, 1, 2]


@pytest.mark.parametrize("name", ["trigger", "guard", "guard2", "trigger2"])
def test_a_statement_may_be_called_like_the_part_of_a_form(name: str) -> None:
    (statement,) = policy_of(f"statement {name}: prec(a(), b())").statements
    trace = trace_of([{"action": action} for action in "aba"])
    assert by_solver(statement.requirement, trace, name).events == [0]


def test_a_call_is_not_its_own_repetition_wherever_the_event_stands() -> None:
    """`Repeated` counts other calls, also at a step of the first call at which its body does not hold."""
    body = core.Holds(core.ActionIn(frozenset({"a"})), "trigger")
    theta = core.Implies(core.Holds(core.ActionIn(frozenset({"b"})), "guard"), core.Not(core.Repeated(2, body)))
    trace = trace_of([{"action": action, "call": call} for action, call in (("a", "1"), ("a", "2"), ("b", "1"))])
    requirement = core.Requirement(theta, (), theta.left)
    assert by_solver(requirement, trace) == by_denotation(requirement, trace)


def test_a_call_that_goes_on_after_the_limit_was_reached_is_named_again() -> None:
    """At most one call does `a`: the first call's second step comes when another call has done it too."""
    trace = trace_of([{"action": "a", "call": call} for call in ("1", "2", "1")])
    requirement = requirement_of("atmost[1](a())")
    assert by_denotation(requirement, trace).events == by_solver(requirement, trace).events == [1, 2]


def test_a_count_owed_at_the_end_has_no_window() -> None:
    """`atleast` once read `in` and `since` and passed them over."""
    for text in ("atleast[1](a()) in 1 call", "atleast[1](a()) since b()"):
        assert parse(Source("policy.vgl", f"statement S: {text}")).diagnostics


def test_a_sum_that_is_too_large_binds_nothing() -> None:
    """It is too large at any event without a number, whether or not anything was paid to `x`."""
    paid = core.Holds(core.Equals(core.Reads("to"), "x"), "trigger")
    exceeds = core.Exceeds(Decimal(1), core.Reads("amount"), paid)
    theta = core.Not(exceeds)
    assert unbound(core.Requirement(theta, ("x",), None)) == ("x",)
    assert by_denotation(core.Requirement(theta, ("x",), None), trace_of([{"action": "a"}])).offences == ((0, (None,)),)


def test_a_sum_of_thousands_of_digits_is_solved() -> None:
    """A number that the agent writes itself: Python refuses to spell whole numbers of so many digits."""
    trace = trace_of([{"action": "pay", "args": {"amount": amount}} for amount in ("1", "1e-9000", "1e9000")])
    requirement = requirement_of("budget[1](pay(), amount)")
    assert by_solver(requirement, trace) == by_denotation(requirement, trace)
    assert by_solver(requirement, trace).events == [1, 2]


def test_the_first_failing_binding_stays_the_first_as_the_run_goes_on() -> None:
    """V has what views make of an event before the values of the next one (R7.12-5)."""
    (statement,) = policy_of("statement S: prec(a(f:lower = x), b(f = x))").statements
    lines = [{"action": "a", "args": {"f": ["M", "N"]}}, {"action": "c", "args": {"f": "n"}}]
    first, both = (by_denotation(statement.requirement, trace_of(lines[:end])) for end in (1, 2))
    assert first.offences == both.offences == ((0, ("m",)),)


def test_values_that_where_tells_apart_are_all_tried() -> None:
    """Lists of many values: where no test told them apart, one stood for all, though `where` did."""
    less = core.Where(core.ComparesWith(core.Reads("x"), "<", "y"))
    field = core.Reads("k")
    earlier = core.Earlier(core.Holds(core.AndC((core.ActionIn(frozenset({"b"})), core.Equals(field, "y")))))
    trigger = core.Holds(core.AndC((core.ActionIn(frozenset({"a"})), core.Equals(field, "x"))))
    requirement = core.Requirement(core.Not(core.And((trigger, earlier, less))), ("x", "y"), None)
    values = tuple(map(str, range(100)))
    run = Trace(tuple(Event(f"e{at}", action, f"c{at}", {"k": values}) for at, action in enumerate("ba")))
    assert by_index(requirement, run).events == by_solver(requirement, run).events == [1]
