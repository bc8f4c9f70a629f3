"""What refusing calls can do: each claim held against gates that do it, on generated statements and runs."""

from __future__ import annotations

import subprocess
import sys
from itertools import groupby, product
from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, find, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.differential.cases import CASES
from tests.differential.engines import by_denotation
from tests.strategies.core import restricted_requirements
from tests.strategies.policies import policy_of
from tests.strategies.runs import ENTRIES, runs, trace_of
from vigil_lang.analysis.enforceability import Part, enforceability, in_words, kinds
from vigil_lang.engines.interface import Rule
from vigil_lang.engines.monitor import MonitorEngine
from vigil_lang.semantics import core
from vigil_lang.trace import Event, Trace
from vigil_lang.trace.event import MESSAGES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.strategies.runs import Line
    from vigil_lang.semantics.core import Requirement
    from vigil_lang.semantics.lower import Statement


def statement(text: str) -> Statement:
    (found,) = policy_of(f"statement S: {text}").statements
    return found


def requirement(text: str) -> Requirement:
    return statement(text).requirement


def is_violated(wanted: Requirement, events: Sequence[Event]) -> bool:
    return bool(by_denotation(wanted, Trace(tuple(events))).offences)


# --- gates -------------------------------------------------------------------------------------------------

OPEN = (None, "", "7", "M", "MN done", ENTRIES, "any other")


def would_violate(wanted: Requirement, events: Sequence[Event], call: Event) -> bool:
    """Whether a call violates for certain: it succeeds, and its output may be any (R7.11-4)."""
    return all(is_violated(wanted, [*events, replace(call, status="ok", output=output)]) for output in OPEN)


def let_through(wanted: Requirement, run: Sequence[Event], refuses: Callable[..., bool] = would_violate) -> list[Event]:
    """What is left of a run when the calls are refused that a gate refuses; messages are not refused."""
    kept: list[Event] = []
    for event in run:
        if event.action in MESSAGES or not refuses(wanted, kept, event):
            kept.append(event)
    return kept


@st.composite
def calls_and_messages(draw: st.DrawFn) -> tuple[Event, ...]:
    """A run in which each call is one event, and some events are messages."""
    lines: list[Line] = draw(runs(max_size=4))
    events = [replace(event, call=event.id) for event in trace_of(lines).events]
    said = draw(st.sets(st.integers(0, 9), max_size=2))
    speaker = draw(st.sampled_from(sorted(MESSAGES)))
    return tuple(
        replace(event, action=speaker, args={"text": ("M",)}, kinds=(), status="ok", output=None)
        if at in said
        else event
        for at, event in enumerate(events)
    )


many = settings(max_examples=CASES // 2, deadline=None)


# What is asked of a statement is asked before a run is drawn for it: most are not of the kind.


def is_preventable(wanted: Requirement) -> bool:
    return set(kinds(enforceability(wanted))) <= {"preventable"}


def is_preventable_and_told_at_once(wanted: Requirement) -> bool:
    ahead = (core.Later, core.Until, core.Last, core.Clear)
    return not any(isinstance(body, ahead) for body in core.bodies(wanted.theta)) and is_preventable(wanted)


def is_reportable_and_owes_nothing(wanted: Requirement) -> bool:
    found = set(kinds(enforceability(wanted)))
    return "reportable" in found and not {"owed", "last-chance"} & found


@many
@given(restricted_requirements().filter(is_preventable), calls_and_messages())
def test_refusing_what_would_violate_keeps_what_is_preventable(wanted: Requirement, run: tuple[Event, ...]) -> None:
    # spec R7.11-6
    parts = enforceability(wanted)
    kept: list[Event] = []
    for event in run:
        if event.action not in MESSAGES and would_violate(wanted, kept, event):
            continue
        kept.append(event)
        assert not is_violated(wanted, kept), parts
    if not parts:
        assert tuple(kept) == run


@many
@given(restricted_requirements(), runs(max_size=5))
def test_it_is_so_of_calls_with_several_steps(wanted: Requirement, lines: list[Line]) -> None:
    """All steps of a call are refused or none; no step is judged by how an earlier one ends, for none is at all."""
    # spec R7.11-6
    parts = enforceability(wanted)
    tests = [test for holds in core.conditions(wanted.theta) for test in core.tests(holds.condition)]
    assume(not any(isinstance(t, core.StatusIs) or (hasattr(t, "field") and t.field.output) for t in tests))
    fields = [b.distinct if isinstance(b, core.Repeated) else b.field for b in counted(wanted)]
    assume(set(kinds(parts)) <= {"preventable"} and not any(field is not None and field.output for field in fields))
    kept: list[Event] = []
    for _, steps in groupby(trace_of(lines).events, lambda event: event.call):
        if not is_violated(wanted, ahead := [*kept, *steps]):
            kept = ahead
    assert not is_violated(wanted, kept)


def counted(wanted: Requirement) -> list[core.Repeated | core.Exceeds]:
    return [body for body in core.bodies(wanted.theta) if isinstance(body, (core.Repeated, core.Exceeds))]


@many
@given(restricted_requirements().filter(is_preventable_and_told_at_once), calls_and_messages())
def test_what_a_monitor_reports_ahead_is_enough(wanted: Requirement, run: tuple[Event, ...]) -> None:
    # spec R7.11-6
    monitor = MonitorEngine([Rule("S", wanted)]).run()
    kept: list[Event] = []
    for event in run:
        if event.action in MESSAGES or not monitor.propose([event]).breaches:
            assert not monitor.step([event]).breaches
            kept.append(event)
    assert not is_violated(wanted, kept)


@many
@given(restricted_requirements().filter(is_reportable_and_owes_nothing), calls_and_messages())
def test_what_a_gate_lets_happen_is_said_to_be_reportable(wanted: Requirement, run: tuple[Event, ...]) -> None:
    """Where nothing is owed: a call that was let through violates by its outcome, a message by being one."""
    # spec R7.11-7
    parts = enforceability(wanted)
    kept: list[Event] = []
    for event in run:
        message = event.action in MESSAGES
        if not message and would_violate(wanted, kept, event):
            continue
        kept.append(event)
        if is_violated(wanted, kept):
            assert any(part.kind == "reportable" and part.message == message for part in parts)
            return


# --- what no refusal helps against -------------------------------------------------------------------------

LETTERS = [
    Event("", action, "", {"f": ("1",)}, status, output)
    for action in ("a", "b", "c")
    for status, output in (("ok", None), ("ok", "M"), ("error", None))
]


def numbered(run: Sequence[Event]) -> list[Event]:
    return [replace(event, id=f"e{at}", call=f"c{at}", time=1_000_000 * at) for at, event in enumerate(run)]


def words(most: int) -> list[list[Event]]:
    return [numbered(run) for size in range(most + 1) for run in product(LETTERS, repeat=size)]


def cannot_be_met(wanted: Requirement, events: Sequence[Event], call: Event) -> bool:
    """Whether no way that the run may go on satisfies a statement once a call has been made and succeeded."""
    succeeded = replace(call, status="ok", output=None)
    return all(is_violated(wanted, numbered([*events, succeeded, *more])) for more in words(1))


SMALL = st.lists(st.sampled_from(LETTERS), max_size=5).map(numbered)

OBLIGATIONS = [
    "resp(a(), b())",
    "resp(a(f = x), b(f = x))",
    "resp(a(), b(status = ok))",
    "rslv(a(), b())",
    "atleast[2](b())",
    "atleast[1](b(f = x)) after a(f = x)",
    "always a() implies not c() until b()",
    "always a() implies earlier c() or later b()",
    "always not (a() and not later b())",
    "bresp[30s](a(), b())",
    "bresp[1..](a(), b())",
    "always a() implies not later c() or later b()",
]


@pytest.mark.parametrize("text", OBLIGATIONS)
def test_no_refusal_meets_an_obligation(text: str) -> None:
    """Some run breaks it although no call of the run made that certain: all of them are let through."""
    # spec R7.11-5
    wanted = requirement(text)
    assert "owed" in kinds(enforceability(wanted))
    run = find(SMALL, lambda run: is_violated(wanted, run) and let_through(wanted, run, cannot_be_met) == run)
    assert run


REPORTABLE = [
    'abs(a(output contains "M"))',
    "abs(a(status = error))",
    "abs(a() and not status = ok)",
    "until(a(), c(), b(status = error))",
    "always a() implies status = ok",
    "atmost[1](a(status = error))",
    "abs(a(output = x)) after b(f = x)",
    "always a() implies earlier b() and not has output",
]


@pytest.mark.parametrize("text", REPORTABLE)
def test_no_refusal_tells_how_a_call_ends(text: str) -> None:
    # spec R7.11-7
    wanted = requirement(text)
    assert "reportable" in kinds(enforceability(wanted))
    outputs = "1" if "output = x" in text else "M"

    def breaks(run: list[Event]) -> bool:
        run = [replace(event, output=event.output and outputs) for event in run]
        return is_violated(wanted, run) and let_through(wanted, run) == run

    assert find(SMALL, breaks)


@pytest.mark.parametrize("text", ["bresp[2](a(), b())", "bresp[1](a(f = x), b(f = x))", "bresp[2..3](a(), b())"])
@settings(max_examples=60, deadline=None)
@given(SMALL)
def test_the_last_chance_can_be_kept(text: str, run: list[Event]) -> None:
    """Where calls are refused after which nothing meets it, something still can whenever the run stops."""
    # spec R7.11-5
    wanted = requirement(text)
    assert kinds(enforceability(wanted)) == ("last-chance",)
    kept = numbered(let_through(wanted, run, cannot_be_met))
    assert any(not is_violated(wanted, numbered([*kept, *more])) for more in words(2))


def test_the_last_chance_may_fail() -> None:
    # spec R7.11-7
    wanted = requirement("bresp[1](a(), b(status = ok))")
    assert kinds(enforceability(wanted)) == ("last-chance", "reportable")
    ok, failed = LETTERS[0], next(e for e in LETTERS if e.action == "b" and e.status == "error")
    run = numbered([ok, failed])
    assert let_through(wanted, run, cannot_be_met) == run
    assert all(is_violated(wanted, numbered([*run, *more])) for more in words(2))


# --- what is said ------------------------------------------------------------------------------------------

PREVENT = "can be prevented: refuse the call that meets {} and would violate it"
ANY = "can be prevented: refuse the call that would violate it"
OUTCOME = "can be reported, not prevented: only the outcome of {} tells"
OWED = "can be asked for, not prevented: nothing can make the agent do {} before the run ends"
IN_TIME = "can be asked for, not prevented: nothing can make the agent do {} in time"
LAST = (
    "can be prevented only at its last chance: refuse every call but {0} once the bound has room for one; "
    "nothing can make the agent do {0}"
)
MESSAGE = "can be reported, not prevented: a message that meets {} can violate it, and only calls can be refused"
ANY_MESSAGE = "can be reported, not prevented: a message can violate it, and only calls can be refused"

SAID = {
    "abs(push(force = true))": [PREVENT.format("`push(force = true)`")],
    "abs(run(status = ok))": [PREVENT.format("`run(status = ok)`")],
    "abs(send(text contains x)) after read(output = x)": [PREVENT.format("`send(text contains x)`")],
    "prec(use(file = x), check(file = x, status = ok))": [PREVENT.format("`use(file = x)`")],
    "until(lock(file = x), unlock(file = x), edit(file = x))": [PREVENT.format("`edit(file = x)`")],
    'abs(send(to = x)) where x != "ada"': [PREVENT.format("`send(to = x)`")],
    "always save() implies not (test() since edit())": [PREVENT.format("`save()`")],
    "always save() implies not (test() weak since edit())": [PREVENT.format("`save()`")],
    "always a() implies b() or not later c()": [PREVENT.format("`c()`")],
    "until(read(output = x), ask(), send(text = x))": [PREVENT.format("`send(text = x)`")],
    "atmost[2](submit(job = x)) in 1h": [PREVENT.format("`submit(job = x)`")],
    "atmost[2](submit(job = x)) since ask()": [PREVENT.format("`submit(job = x)`")],
    "budget[100](pay(), amount)": [PREVENT.format("`pay()`")],
    "always deploy() implies earlier test() and not earlier[1] edit()": [PREVENT.format("`deploy()`")],
    "always save() implies not edit() since check()": [PREVENT.format("`save()`")],
    "always save() implies ok() weak since check()": [PREVENT.format("`save()`")],
    "always not later read()": [PREVENT.format("`read()`")],
    "always lock() implies not edit() weak until unlock()": [ANY],
    "always lock() implies not edit() weak until[2..3] unlock()": [ANY],
    "always deploy() implies action = deploy or user()": [ANY],
    'abs(list(rows with (secret = "x")))': [PREVENT.format('`list(rows with (secret = "x"))`')],
    'always list() implies not rows with (secret = "x")': [ANY],
    'abs(read(output contains "SECRET"))': [OUTCOME.format('`read(output contains "SECRET")`')],
    'abs(list(output with (secret = "x")))': [OUTCOME.format('`list(output with (secret = "x"))`')],
    "abs(run(status = error))": [OUTCOME.format("`run(status = error)`")],
    "always run() implies status = ok": [OUTCOME.format("`status = ok`")],
    "always run() implies not earlier later read(status = error)": [
        PREVENT.format("`run()`"),
        OUTCOME.format("`read(status = error)`"),
    ],
    "abs(run(status = error) or push())": [
        PREVENT.format("`run(status = error) or push()`"),
        OUTCOME.format("`run(status = error) or push()`"),
    ],
    "atmost[2](fetch(), distinct output)": [
        PREVENT.format("`fetch()`"),
        "can be reported, not prevented: only the outcome of a call tells",
    ],
    "resp(open(file = x), close(file = x, status = ok))": [OWED.format("`close(file = x, status = ok)`")],
    "rslv(save(file = x), check(file = x))": [OWED.format("`check(file = x)`")],
    "atleast[2](submit())": [OWED.format("`submit()`")],
    "atleast[1](close(file = f)) after open(file = f)": [OWED.format("`close(file = f)`")],
    "bresp[30s](deploy(), test())": [IN_TIME.format("`test()`")],
    "bresp[2 steps](deploy(), test())": [IN_TIME.format("`test()`")],
    "bresp[1..](deploy(), test())": [OWED.format("`test()`")],
    "bresp[3](deploy(), test())": [LAST.format("`test()`")],
    "bresp[3](deploy(), test(status = ok))": [
        LAST.format("`test(status = ok)`"),
        OUTCOME.format("`test(status = ok)`"),
    ],
    "always deploy() implies earlier test() and later smoke()": [
        PREVENT.format("`deploy()`"),
        OWED.format("`smoke()`"),
    ],
    "always a() implies later[3] b() and later c()": [LAST.format("`b()`"), OWED.format("`c()`")],
    "always lock() implies not edit() until unlock()": [ANY, OWED.format("`unlock()`")],
    "always not (lock() and not edit() weak until unlock())": [
        PREVENT.format("`unlock()`"),
        "can be asked for, not prevented: nothing can make the agent do what it asks for before the run ends",
    ],
    "always a() implies later[2] earlier[1..] b()": [
        LAST.replace("{0}", "what it asks for", 1).replace("{0}", "what it asks for"),
    ],
    'abs(agent.message(text contains "x"))': [MESSAGE.format('`agent.message(text contains "x")`')],
    'abs(action ~ "*")': [PREVENT.format('`action ~ "*"`'), MESSAGE.format('`action ~ "*"`')],
    "always status = ok": [OUTCOME.format("`status = ok`")],
    "always status = error": [ANY, ANY_MESSAGE],
    'always run() or text contains "x"': [ANY, ANY_MESSAGE],
    "abs(mode = fast)": [PREVENT.format("`mode = fast`")],
    "abs(mode:count = 0)": [PREVENT.format("`mode:count = 0`"), MESSAGE.format("`mode:count = 0`")],
    "abs(text with (a = b))": [PREVENT.format("`text with (a = b)`"), MESSAGE.format("`text with (a = b)`")],
    "resp(deploy(), agent.message())": [OWED.format("`agent.message()`")],
    "abs(action in {})": [],
}


@pytest.mark.parametrize("text", SAID)
def test_what_is_said(text: str) -> None:
    # spec R7.11-5
    found = statement(text)
    assert [in_words(found, part) for part in enforceability(found.requirement)] == SAID[text]


def test_a_body_that_is_only_built_by_hand() -> None:
    a, b = (core.Holds(core.ActionIn(frozenset({name}))) for name in "ab")

    def parts(theta: core.Theta) -> tuple[Part, ...]:
        return enforceability(core.Requirement(theta, (), None))

    assert kinds(parts(core.Not(core.Clear(a, b)))) == ("preventable", "owed")
    assert kinds(parts(core.Implies(a, core.Last()))) == ("owed",)
    assert parts(core.Implies(a, core.Last()))[0].bounded
    assert kinds(parts(core.Or((core.And(()), a)))) == ()
    assert kinds(parts(core.Not(core.Until(a, b, core.Calls(2))))) == ("preventable",)
    assert kinds(parts(core.Until(a, b, core.Calls(core.FAR, 2), weak=True))) == ("preventable", "reportable")


def test_a_body_of_many_parts_is_read_in_no_time() -> None:
    theta: core.Theta = core.Holds(core.ActionIn(frozenset({"a"})))
    for _ in range(60):
        theta = core.Not(core.Later(core.Or((core.Earlier(theta), theta))))
    assert kinds(enforceability(core.Requirement(theta, (), None)))
    wide = core.Or(tuple([core.Holds(core.ActionIn(frozenset({str(at)}))) for at in range(20_000)]))
    assert kinds(enforceability(core.Requirement(core.Not(wide), (), None))) == ("preventable",)


def test_it_needs_no_solver() -> None:
    program = "import sys, vigil_lang.analysis.enforceability; sys.exit(any(m in sys.modules for m in ('z3', 'pysmt')))"
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
