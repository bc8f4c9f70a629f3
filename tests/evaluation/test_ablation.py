"""What an ablation takes away, and that one that takes nothing away changes nothing."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

import vigil_lang as vigil
from tests.strategies.core import restricted_requirements
from tests.strategies.monitored import in_order, plain_policies, plain_runs
from tests.strategies.runs import runs, trace_of
from vigil_lang.engines.indexed import IndexedEngine
from vigil_lang.engines.interface import Rule
from vigil_lang.evaluation.ablation import PARTS, ablated_rules, ablated_trace, name_of, parts_of, single_event
from vigil_lang.semantics import core, denotation
from vigil_lang.semantics.range_restriction import unbound
from vigil_lang.trace import Event, Trace


def rules(text: str, *without: str) -> list[Rule]:
    return ablated_rules([vigil.parse_policy(text)], frozenset(without))  # type: ignore[arg-type]


def unsafe(found: list[Rule], *events: Event) -> bool:
    outcomes = IndexedEngine().judge(found, [Trace.of(events)])
    return any(outcome.violations for outcome in outcomes)


@pytest.mark.parametrize(
    ("statement", "single"),
    [
        ("abs(a(f = x))", "abs(a(f = x))"),
        ("abs(a(f = x)) after b()", "abs(a(f = x))"),
        ("prec(a(f = x), b(f = x))", "abs(a(f = x))"),
        ("resp(a(), b())", "abs(a())"),
        ("bresp[3](a(), b())", "abs(a())"),
        ('rslv(a(f = x), b(f = x)) where x != "k"', 'abs(a(f = x)) where x != "k"'),
        ("until(a(f = x), b(f = x), c(f = x))", "abs(a(f = x))"),
        ("atmost[2](a())", "abs(a())"),
        ("always a() implies f = 1", "always a() implies f = 1"),
        ("always a() and earlier b() implies f = 1", "abs(a())"),
        ("always a(f contains x, g = 1) and earlier b(h = x) implies earlier c()", "abs(a(g = 1))"),
        ("always (a(f contains x) or d(f contains x)) and earlier b(h = x) implies earlier c()", None),
        ("atleast[1](a())", None),
        ("always earlier a()", None),
        ('prec(a(f = x), b(g = y)) after c(g = y) where y != "k"', "abs(a(f = x))"),
    ],
)
def test_without_structure_a_statement_is_about_single_events(statement: str, single: str | None) -> None:
    found = rules(f"statement S: {statement}", "structure")
    wanted = [] if single is None else rules(f"statement S: {single}")
    assert [_bare(rule.requirement) for rule in found] == [_bare(rule.requirement) for rule in wanted]


def _bare(requirement: core.Requirement) -> tuple[core.Theta, tuple[str, ...], bool]:
    """A requirement without the roles and places of its conditions."""
    theta = core.mapped(
        requirement.theta, lambda held: core.Holds(held.condition, ""), lambda where: core.Where(where.condition)
    )
    return theta, requirement.variables, requirement.trigger is None


def test_without_steps_a_call_is_what_was_recorded() -> None:
    recorded = vigil.abstract([vigil.Call("Bash", {"command": "rm a.txt && ls"}, "ok"), vigil.Message("user", "hi")])
    assert len(recorded) > 2
    left = ablated_trace(recorded, frozenset({"steps"}))
    assert [event.action for event in left.events] == ["Bash", "user.message"]
    assert left.events[0].args["command"] == ("rm a.txt && ls",)


def test_without_arguments_only_what_was_said_has_values() -> None:
    recorded = vigil.abstract([vigil.Call("Bash", {"command": "rm a.txt"}, "ok", "x"), vigil.Message("user", "hi")])
    left = ablated_trace(recorded, frozenset({"arguments"}))
    assert [event.args for event in left.events[:-1]] == [{}] * (len(recorded) - 1)
    assert left.events[-1] == recorded.events[-1]
    assert [(e.action, e.status, e.output, e.kinds) for e in left.events] == [
        (e.action, e.status, e.output, e.kinds) for e in recorded.events
    ]


@settings(max_examples=40)
@given(in_order(plain_runs()))
def test_what_has_no_steps_and_no_arguments_loses_none(events: tuple[Event, ...]) -> None:
    run = Trace(events)
    assert ablated_trace(run, frozenset({"steps"})) is run
    bare = ablated_trace(run, frozenset({"arguments"}))
    assert ablated_trace(bare, frozenset({"arguments", "steps"})) is bare
    assert ablated_trace(run, frozenset()) is run


@settings(max_examples=150)
@given(restricted_requirements(), runs(4).map(trace_of))
def test_what_is_about_single_events_stays(requirement: core.Requirement, run: Trace) -> None:
    """And what is left is range-restricted, so that engines agree on it."""
    found = single_event(requirement)
    if found is not None:
        assert single_event(found) == found
        assert not unbound(found)
        (outcome,) = IndexedEngine().judge([Rule("S", found)], [run])
        assert [each.event for each in outcome.violations] == [at for at, _ in denotation.violations(found, run)]
    single = (core.Holds, core.Where, core.Not, core.And, core.Or, core.Implies)
    if all(isinstance(body, single) for body in core.bodies(requirement.theta)):
        assert found == requirement


@settings(max_examples=150)
@given(plain_policies(), plain_runs())
def test_without_structure_nothing_that_a_trigger_begins_is_missed(text: str, events: tuple[Event, ...]) -> None:
    """A violation of a statement with a trigger is one without structure; and engines agree on what is left."""
    (whole,) = rules(text)
    run = Trace(events)
    for left in rules(text, "structure"):
        (outcome,) = IndexedEngine().judge([left], [run])
        offending = [violation.event for violation in outcome.violations]
        assert offending == [at for at, _ in denotation.violations(left.requirement, run)]
        if denotation.violations(whole.requirement, run):
            assert offending


def test_parts_are_named_once_in_one_order() -> None:
    found = parts_of(["steps", "structure, arguments", "arguments,structure", "steps"])
    assert [name_of(parts) for parts in found] == ["without steps", "without arguments, structure"]
    with pytest.raises(ValueError, match="there is no part 'step': there are arguments, structure, steps"):
        parts_of(["arguments,step"])
    assert set(PARTS) == {"arguments", "structure", "steps"}


def test_together_they_leave_a_filter_on_names() -> None:
    text = 'statement S: prec(a(f = x), b(f = x))\nstatement T: abs(c(f = "1"))'
    events = [Event.of("b", {"f": "1"}), Event.of("a", {"f": "1"}), Event.of("c", {"f": "1"})]
    assert unsafe(rules(text), *events)
    assert unsafe(rules(text, "structure"), *events[:2])
    bare = ablated_trace(Trace.of(events), frozenset({"arguments"})).events
    assert not unsafe(rules(text, "structure"), *bare)


def test_a_part_of_a_trigger_stays_where_another_one_loses_its_value() -> None:
    """Of conditions that stand side by side, only the one whose value came from another event goes."""
    field = core.Reads("f")
    named = core.Holds(core.ActionIn(frozenset({"a"})), "trigger")
    compared = core.Holds(core.Contains(field, "x"), "trigger")
    given_by = core.Earlier(core.Holds(core.Equals(field, "x"), "scope"))
    trigger = core.And((named, compared, given_by))
    requirement = core.Requirement(core.Implies(trigger, core.Earlier(named)), ("x",), trigger)
    assert single_event(requirement) == core.Requirement(core.Not(named), (), None)
