"""The monitor is held to the denotation: every prefix of a run, every order in which calls end, every restart."""

from __future__ import annotations

import subprocess
import sys
from contextlib import ExitStack
from random import Random
from typing import TYPE_CHECKING
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.differential.cases import CASES
from tests.differential.engines import by_denotation, by_solver
from tests.differential.following import (
    check_close,
    follow,
    follow_in_flight,
    follow_proposing,
    follow_together,
    propose_beside_calls_in_flight,
    restored,
)
from tests.differential.prefix_verdicts import all_of_one, explore, in_every_order
from tests.differential.shapes import requirement_of
from tests.strategies.core import restricted_requirements
from tests.strategies.monitored import in_order, plain_policies, plain_runs
from tests.strategies.policies import policies, policy_of
from tests.strategies.runs import runs, trace_of
from vigil_lang.engines.interface import Breach, Outcome, Rule, Unjudged
from vigil_lang.engines.monitor import MonitorEngine, leaves, memory, obligations, rules, tables, unrolled
from vigil_lang.trace import Event, Trace

if TYPE_CHECKING:
    from tests.strategies.runs import Line
    from vigil_lang.engines.interface import Progress
    from vigil_lang.semantics.core import Requirement

few = settings(max_examples=max(CASES // 4, 1), deadline=None)
seeds = st.integers(0, 1 << 16).map(Random)


def engine_of(text: str) -> tuple[MonitorEngine, str]:
    """The engine of a policy with one statement, and the statement's form."""
    (statement,) = policy_of(text).statements
    return MonitorEngine([Rule(statement.name, statement.requirement)]), statement.form


@few
@given(policies(), runs(), seeds)
def test_every_prefix_of_a_run_has_its_verdict(text: str, lines: list[Line], random: Random) -> None:
    # spec R7.11-2, R7.11-3
    engine, form = engine_of(text)
    trace = trace_of(lines)
    follow(engine, trace, by_denotation(engine.rules[0].requirement, trace), form, random)


@few
@given(restricted_requirements(), runs(), seeds)
def test_every_prefix_has_its_verdict_under_any_requirement(
    requirement: Requirement, lines: list[Line], random: Random
) -> None:
    trace = trace_of(lines)
    follow(MonitorEngine([Rule("S", requirement)]), trace, by_denotation(requirement, trace), None, random)


@few
@given(st.one_of(policies(), plain_policies()), runs(), st.integers(0, 3), seeds)
def test_beyond_its_limits_a_rule_is_not_judged_or_judged_rightly(
    text: str, lines: list[Line], most: int, random: Random
) -> None:
    # What cannot be judged is said to be so: with next to no memory nothing wrong is said either.
    limits = [
        (tables, "MOST_KEYS"), (tables, "MOST_EVENTS"), (tables, "MOST_CHARACTERS"), (tables, "MOST_ASKED"),
        (memory, "MOST_ENTRIES"), (obligations, "MOST_OPEN"), (obligations, "MOST_UNDECIDED"),
        (leaves, "MOST_COMBINATIONS"), (rules, "MOST_VIOLATIONS"), (unrolled, "MOST_EVENTS"), (unrolled, "MOST_STEPS"),
        (unrolled, "MOST_KEPT"),
    ]  # fmt: skip
    engine, _ = engine_of(text)
    (rule,) = engine.rules
    trace = trace_of(lines)
    with ExitStack() as stack:
        for module, name in limits:
            stack.enter_context(patch.object(module, name, most))
        follow(engine, trace, by_denotation(rule.requirement, trace), None, random)


@few
@given(plain_policies(), plain_runs())
def test_what_can_be_known_for_certain_is_known(text: str, events: tuple[Event, ...]) -> None:
    # spec R7.11-3, both ways: the conditions are such that each can be met at any time
    engine, _ = engine_of(text)
    (rule,) = engine.rules
    monitor = engine.run()
    for end in range(len(events) + 1):
        prefix = events[:end]
        if end:
            assert not monitor.step([events[end - 1]]).unjudged
        tried = (t for some in (all_of_one, in_every_order) for t in some(rule.requirement, prefix))
        (found,), explored = monitor.verdicts(), explore(rule.requirement, prefix, tried)
        assert found is not None
        if "distinct" in text:  # what is tried has too few values to tell that a count can be exceeded
            assert not explored.refutes(found)
        else:
            assert found == explored.verdict


@few
@given(st.lists(policies(), min_size=1, max_size=3), runs(), seeds)
def test_calls_may_end_late_and_in_any_order(texts: list[str], lines: list[Line], random: Random) -> None:
    rules = [rule for text in texts for rule in engine_of(text)[0].rules]
    follow_in_flight(MonitorEngine(rules), trace_of(lines), random)


@few
@given(restricted_requirements(), runs(), seeds)
def test_calls_may_end_late_under_any_requirement(requirement: Requirement, lines: list[Line], random: Random) -> None:
    follow_in_flight(MonitorEngine([Rule("S", requirement)]), trace_of(lines), random)


@few
@given(st.lists(policies(), min_size=1, max_size=3), runs(), seeds)
def test_what_is_said_ahead_is_said_afterwards(texts: list[str], lines: list[Line], random: Random) -> None:
    # spec R7.11-4
    rules = [rule for text in texts for rule in engine_of(text)[0].rules]
    follow_proposing(MonitorEngine(rules), trace_of(lines), random)


@few
@given(restricted_requirements(), runs(), seeds)
def test_what_is_said_ahead_is_said_afterwards_under_any_requirement(
    requirement: Requirement, lines: list[Line], random: Random
) -> None:
    follow_proposing(MonitorEngine([Rule("S", requirement)]), trace_of(lines), random)


@few
@given(st.lists(restricted_requirements(), min_size=2, max_size=4), runs())
def test_rules_followed_together_say_what_each_says_alone(requirements: list[Requirement], lines: list[Line]) -> None:
    follow_together([Rule(f"S{at}", one) for at, one in enumerate(requirements)], trace_of(lines))


@few
@given(st.lists(restricted_requirements(), min_size=1, max_size=3), runs())
def test_a_state_is_written_and_read_at_every_event(requirements: list[Requirement], lines: list[Line]) -> None:
    engine = MonitorEngine([Rule(f"S{at}", one) for at, one in enumerate(requirements)])
    monitor = silent = engine.run()
    silent = engine.run()
    for event in trace_of(lines).events:
        monitor = restored(engine, monitor)
        assert monitor.step([event]) == silent.step([event])
        assert monitor.snapshot() == silent.snapshot()
    assert restored(engine, monitor).close() == silent.close()


@settings(max_examples=max(CASES // 10, 1), deadline=None)
@given(policies(), runs())
def test_the_solver_confirms_what_the_monitor_says_at_the_end(text: str, lines: list[Line]) -> None:
    engine, _ = engine_of(text)
    (rule,) = engine.rules
    trace, monitor = trace_of(lines), engine.run()
    monitor.step(trace.events)
    (ended,) = monitor.close()
    if isinstance(ended, Outcome):
        check_close(rule, ended, by_solver(rule.requirement, trace))


# --- proposals while calls are in flight ----------------------------------------------------------------------


@few
@given(plain_policies(timed=False), in_order(plain_runs(timed=False)), st.data())
def test_calls_in_flight_count_against_what_is_proposed(
    text: str, events: tuple[Event, ...], data: st.DataObject
) -> None:
    """However calls in flight end, and if they never come to be: a call is refused if it breaks a rule in all of these
    cases, and only if it does in some."""
    engine, _ = engine_of(text)
    propose_beside_calls_in_flight(engine, events, data.draw(st.integers(0, 2)))


def _event(name: str, action: str, call: str = "", status: str = "ok", **args: str) -> Event:
    return Event(name, action, call or name, {key: (text,) for key, text in args.items()}, status)  # type: ignore[arg-type]


def _step(monitor: object, *events: Event, ended: bool = True) -> Progress:
    return monitor.step(list(events), ended=ended)  # type: ignore[attr-defined, no-any-return]


def test_a_guard_in_flight_is_no_guard() -> None:
    monitor = MonitorEngine([Rule("S", requirement_of("prec(use(f = x), check(f = x, status = ok))"))]).run()
    check, use = _event("e1", "check", f="M"), _event("e2", "use", f="M")
    _step(monitor, replace(check, status="unknown"), ended=False)
    assert monitor.propose([use]).breaches == (Breach(0, 1, "e2", ("M",)),)
    _step(monitor, check)
    assert not monitor.propose([use]).breaches


def test_a_call_in_flight_counts() -> None:
    monitor = MonitorEngine([Rule("S", requirement_of("atmost[1](use())"))]).run()
    _step(monitor, replace(_event("e1", "use"), status="unknown"), ended=False)
    assert [b.id for b in monitor.propose([_event("e2", "use")]).breaches] == ["e2"]


def test_a_call_that_is_wrong_however_others_end_is_named_once() -> None:
    monitor = MonitorEngine([Rule("S", requirement_of("abs(use())"))]).run()
    _step(monitor, replace(_event("e1", "check"), status="unknown"), ended=False)
    assert monitor.propose([_event("e2", "use")]).breaches == (Breach(0, 1, "e2", ()),)


def test_a_failed_guard_is_no_guard() -> None:
    monitor = MonitorEngine([Rule("S", requirement_of("prec(use(f = x), check(f = x, status = ok))"))]).run()
    check, use = _event("e1", "check", f="M"), _event("e2", "use", f="M")
    _step(monitor, replace(check, status="unknown"), ended=False)
    _step(monitor, replace(check, status="error"))
    assert [b.id for b in _step(monitor, use).breaches] == ["e2"]


def test_what_comes_before_a_call_in_flight_is_judged_and_what_comes_after_waits() -> None:
    monitor = MonitorEngine([Rule("S", requirement_of("prec(use(), check(status = ok))"))]).run()
    assert [b.id for b in _step(monitor, _event("e1", "use")).breaches] == ["e1"]
    _step(monitor, replace(_event("e2", "check"), status="unknown"), ended=False)
    assert not _step(monitor, _event("e3", "use")).breaches
    assert not _step(monitor, _event("e2", "check")).breaches


def test_an_output_that_is_not_there_is_open() -> None:
    # spec R7.11-4
    monitor = MonitorEngine([Rule("S", requirement_of('abs(read(output contains "secret"))'))]).run()
    read = _event("e1", "read")
    assert not monitor.propose([read]).breaches
    assert [b.id for b in _step(monitor, replace(read, output="a secret")).breaches] == ["e1"]


def test_what_an_earlier_step_of_the_call_would_print_guards_nothing() -> None:
    monitor = MonitorEngine([Rule("S", requirement_of('prec(send(), check(output contains "fine"))'))]).run()
    check, send = _event("e1", "check", "c"), _event("e2", "send", "c")
    assert [b.id for b in monitor.propose([check, send]).breaches] == ["e2"]
    assert not _step(monitor, replace(check, output="fine"), send).breaches


def test_an_amount_that_is_not_there_yet_is_open() -> None:
    monitor = MonitorEngine([Rule("S", requirement_of("budget[7](pay(to = x), output)"))]).run()
    pay = _event("e1", "pay", to="M")
    assert not monitor.propose([pay]).breaches
    assert [b.id for b in _step(monitor, replace(pay, output="8")).breaches] == ["e1"]


def test_the_binding_named_ahead_is_the_one_named_afterwards() -> None:
    """The values of the events proposed take their places in V (spec R7.9)."""
    monitor = MonitorEngine([Rule("S", requirement_of("prec(use(f = x), check(f = x))"))]).run()
    first = _event("e1", "other", "c", g="N")
    use = Event("e2", "use", "c", {"f": ("M", "N")}, "ok")
    assert monitor.propose([first, use]).breaches == (Breach(0, 1, "e2", ("N",)),)
    assert _step(monitor, first, use).breaches == (Breach(0, 1, "e2", ("N",)),)


def test_a_proposal_leaves_no_trace_in_what_a_reset_began_anew() -> None:
    monitor = MonitorEngine([Rule("S", requirement_of("budget[13](pay(to = x), n) since ask()"))]).run()
    _step(monitor, _event("e1", "pay", to="M", n="1"), _event("e2", "ask"))
    before = monitor.snapshot()
    monitor.propose([_event("e3", "pay", to="M", n="1")])
    assert monitor.snapshot() == before


def test_to_ask_while_a_call_is_in_flight_changes_nothing() -> None:
    text = "always output = y implies earlier[500ms] (later[1h] check(f = y))"
    for ask in (lambda monitor: monitor.verdicts(), lambda monitor: monitor.pending()):
        monitor = MonitorEngine([Rule("S", requirement_of(text))]).run()
        use = replace(_event("e1", "use"), output="7")
        _step(monitor, replace(use, id="e0", call="e0"))
        _step(monitor, replace(use, status="unknown", output=None), ended=False)
        ask(monitor)
        assert [b.id for b in _step(monitor, use).breaches] == ["e1"]


def test_ids_that_have_ended_are_not_taken_again() -> None:
    monitor = MonitorEngine([Rule("S", requirement_of("abs(use())"))]).run()
    _step(monitor, _event("e1", "check"))
    with pytest.raises(ValueError, match="e1"):
        _step(monitor, _event("e1", "check"))


@pytest.mark.parametrize("state", [b"", b"{}", b"[]", b"null", b"\xff", b'{"version":999}'])
def test_what_is_no_snapshot_is_refused(state: bytes) -> None:
    engine = MonitorEngine([Rule("S", requirement_of("abs(use())"))])
    with pytest.raises(ValueError):  # noqa: PT011 - the message is the engine's
        engine.restore(state)


def test_a_snapshot_of_other_rules_is_refused() -> None:
    one, other = (MonitorEngine([Rule("S", requirement_of(text))]) for text in ("abs(use())", "abs(check())"))
    monitor = one.run()
    _step(monitor, _event("e1", "use"))
    with pytest.raises(ValueError):  # noqa: PT011 - the message is the engine's
        other.restore(monitor.snapshot())


def test_a_call_that_leaves_no_time_to_answer_is_known_ahead() -> None:
    """A call is proposed as a whole: once it is over, the next event is one of another call."""
    # spec R7.11-3: the last chance
    monitor = MonitorEngine([Rule("S", requirement_of("bresp[2](use(f = x), check(f = x))"))]).run()
    _step(monitor, _event("e1", "use", f="M"))
    assert not monitor.propose([_event("e2", "other")]).breaches
    _step(monitor, _event("e2", "other"))
    assert [b.id for b in monitor.propose([_event("e3", "other")]).breaches] == ["e1"]
    assert not monitor.propose([_event("e3", "check", f="M")]).breaches
    assert not _step(monitor, _event("e3", "other")).breaches
    assert monitor.verdicts() == ("pending",)
    assert [b.id for b in _step(monitor, _event("e4", "other")).breaches] == ["e1"]
    assert monitor.verdicts() == ("violated",)


def test_what_cannot_be_answered_in_time_is_violated_at_once() -> None:
    """An event without a time meets no bound in time (spec R7.6-3)."""
    monitor = MonitorEngine([Rule("S", requirement_of("bresp[30s](use(), check())"))]).run()
    progress = _step(monitor, _event("e1", "use"))
    assert progress.unjudged or ([b.id for b in progress.breaches] == ["e1"] and monitor.verdicts() == ("violated",))


def test_times_that_run_backwards_are_refused_or_judged_rightly() -> None:
    monitor = MonitorEngine([Rule("S", requirement_of("bresp[30s](use(), check())"))]).run()
    times = (("use", 100), ("other", 0), ("other", 200), ("check", 110))
    unjudged: list[Unjudged] = []
    for at, (action, second) in enumerate(times):
        progress = _step(monitor, replace(_event(f"e{at}", action), time=second * 1_000_000))
        unjudged += progress.unjudged
    (ended,) = monitor.close()
    assert isinstance(ended, Unjudged) or not ended.violations
    assert bool(unjudged) <= isinstance(ended, Unjudged)


def test_a_long_run_of_every_form_ends_as_the_batch_engine_says() -> None:
    from tests.differential.shapes import FORMS, long_run, preset
    from vigil_lang.engines.indexed import IndexedEngine

    rules = [
        Rule(f"{form} {binding} {scoped}", preset(form, binding, scoped=scoped))
        for form in FORMS
        for binding in ("ground", "bound")
        for scoped in (False, True)
    ]
    for values in ("distinct", "equal"):
        for kinds in ("in turn", "everything at once"):
            trace = long_run(200, values, kinds)
            monitor = MonitorEngine(rules).run()
            for event in trace.events:
                monitor.step([event])
            for ended, expected in zip(monitor.close(), IndexedEngine().judge(rules, [trace]), strict=True):
                assert ended == expected


def test_an_empty_run_is_judged() -> None:
    rules = [Rule("S", requirement_of("atleast[1](use())")), Rule("T", requirement_of("abs(use())"))]
    monitor = MonitorEngine(rules).run()
    assert monitor.verdicts() == ("holding", "holding")
    assert [o.violations for o in monitor.close() if isinstance(o, Outcome)] == [(), ()]
    assert Trace(()).events == ()


def test_it_needs_no_solver() -> None:
    program = "import sys, vigil_lang.engines.monitor; sys.exit(any(m in sys.modules for m in ('z3', 'pysmt')))"
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
