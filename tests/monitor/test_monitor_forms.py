"""Every form and operator along fixed runs: each prefix, each proposal and each end as the denotation has them."""

from __future__ import annotations

from decimal import Decimal
from random import Random

import pytest
from msgspec.structs import replace

from tests.differential.engines import by_denotation
from tests.differential.following import follow, follow_in_flight, follow_proposing, follow_together
from tests.strategies.policies import policy_of
from tests.strategies.runs import trace_of
from vigil_lang.engines.interface import Rule
from vigil_lang.engines.monitor import MonitorEngine
from vigil_lang.engines.monitor.rules import Sliced
from vigil_lang.semantics import core
from vigil_lang.trace import Event, Trace

SLICED = (
    "abs(a(f = x)) after d(f = x)",
    "abs(a(f contains x)) after d(f = x)",
    "abs(a(f = x) and not status = ok)",
    'abs(a(f = x)) where x ~ "M*"',
    "abs(a(f = x, g = y)) where x < y",
    "prec(a(f = x), b(f = x, status = ok))",
    "prec(a(f = x, g = y), b(f = x, g = y))",
    "prec(a(f = x, g = y), b(f = x))",
    "prec(a(f = x), b())",
    "prec(a(f = x), b(output = x))",
    "prec(a(f = x), b(output contains x))",
    "prec(a(f = x), b(not f = x))",
    "prec(a(f:lower = x), b(f:lower = x))",
    "prec(a(f = x) or c(g = x), b(f = x))",
    'prec(a(), action ~ "b*")',
    "resp(a(f = x), b(f = x))",
    "resp(a(f = x), b())",
    "resp(a(f = x), not a(f = x))",
    "rslv(a(f = x), b(f = x, status = ok))",
    "bresp[1](a(f = x), b(f = x))",
    "bresp[2 steps](a(f = x), b(f = x))",
    "bresp[1..2](a(f = x), b(f = x))",
    "bresp[30s](a(f = x), b(f = x))",
    "bresp[1](a(f = x), not c())",
    "until(a(f = x), b(f = x), c(f = x))",
    "until(a(f = x), b(), c(g = x))",
    "until(a(), b(f = x), c(f = x))",
    "until(a(f = x, g = y), b(f = x), c(g = y))",
    "until(a(f = x, g = y), b(), c(g = y))",
    "until(a(f = x, g = y), b(f = x), a(g = y))",
    "always a(f = x, g = y) implies not c(f = x) until b(g = y)",
    "always a(f = x, g = y) implies not c(f = x) since b(g = y)",
    "resp(a(f = x, g = y), b(g = y))",
    "always a() implies repeated[2](a(), distinct output)",
    'always a() implies repeated[2](a(output ~ "M*"))',
    "until(a(), b(), c(f = x))",
    "atmost[1](a(f = x))",
    "atmost[1](a(f = x, status = ok)) in 2 calls",
    "atmost[1](a()) in 30s",
    "atmost[2](a(f = x)) since b(f = x)",
    "atmost[1](a(f = x)) since b()",
    "atmost[1](a(f = x, g = y), distinct output)",
    "atmost[1](a(), distinct f) in 3 steps",
    "atleast[2](a())",
    "atleast[1](a(f = x)) after d(f = x)",
    "atleast[2](a(), distinct f)",
    "budget[8](a(), n)",
    "budget[8](a(f = x), n) in 2 calls",
    "budget[8](a(f = x), n) since b(f = x)",
    "budget[3](a(f = x), output)",
    "always a(f = x) implies earlier[1] b(f = x)",
    "always a(f = x) implies earlier[1..] b(f = x)",
    "always a(f = x) implies earlier[1..2] b(f = x)",
    "always a(f = x) implies earlier[1s..30s] b(f = x)",
    "always a(f = x) implies not c() since b(f = x)",
    "always a(f = x) implies not c(f = x) since[2] b(f = x)",
    "always a(f = x) implies not c(f = x) weak since b(f = x)",
    "always a(f = x) implies not c(f = x) weak since[2 steps] b(f = x)",
    "always a(f = x) implies not c(f = x) weak since[1..2] b()",
    "always a(f = x) implies not c() until b(f = x)",
    "always a(f = x) implies not c(f = x) until[2] b(f = x)",
    "always a(f = x) implies not c(f = x) weak until[2] b(f = x)",
    "always a(f = x) implies not c() weak until[30s] b(f = x)",
    "always a(f = x) implies not c() until[1..2 steps] b(f = x)",
    "always a(f = x) implies not later c(f = x)",
    "always a(f = x) implies not later[1] c(f = x)",
    "always a(f = x) implies not later[30s] c(f = x)",
    "always a() implies later[1] b() and later c()",
    "always a() implies later b() or later c()",
    "always a(f = x) implies earlier (b(f = x) and earlier d(f = x))",
    "always a(f = x) implies not earlier (b(f = x) or d())",
    "always not (a(f = x) and earlier b(f = x) and not earlier[1] d())",
    "always a(f in {})",
    "always earlier[1] a() implies not b()",
    "always a(f = x) implies not earlier (b(output contains x) and not earlier c(f = x))",
    "always a(f = x) implies not earlier ((b(f = x) or c(output contains x)) and not earlier d(f = x))",
    "always a(f = x) implies earlier[2] (not b(f contains x) and earlier[30s] (d(g contains x) or earlier c()))",
    "always a(f = x) implies (not c(f contains x) or earlier b()) since (b(g = x) and not earlier d(f contains x))",
    "always a(f = x) implies not c(f = x) weak since[3] (b(f contains x) and not earlier[1s..30s] d(g = x))",
    "always a(f = x) implies not repeated[2](b(f contains x) and earlier d(), distinct g)",
    "always a(f = x) implies not earlier (b(f contains x) and repeated[2](b(f contains x)))",
    "always a(f = x) implies later[2] (b(f = x) and not earlier (c(f contains x) and not earlier d(g = x)))",
    "always a(f contains x) implies not earlier (b(f = x) or b(output = x))",
    "always a(f contains x or g = x) implies not earlier (c(g = x) and earlier d(output contains x))",
    "atmost[1](a(f = x)) since b(g = y) after d(f = x, g = y)",
)
UNROLLED = (
    "always a(f contains x, g contains x) implies not earlier b(f = x)",
    "always a() implies repeated[2](a(), distinct output) or earlier (later d())",
    'until(a(), b(f = x), c(f = x)) where x ~ "M*"',
    "always a() implies later (b() and later c())",
    "always a(f = x) implies earlier (b(f = x) and later d(f = x))",
    "always a(f = x) implies not (not c() until b(f = x))",
    "always a() implies later[1] b() or later[2 steps] c() or later[30s] d()",
    "always a() implies earlier (not c() until[2] b()) or earlier (not c() weak until[30s] d())",
    "always a(f = x) implies earlier (later a(f = x) and not earlier[1] (not c() weak since b(f = x)))",
    "always later b() implies not (c() since later[1] d())",
)
ACTIONS = "aaabbccd"


def recorded(seed: int, size: int = 7) -> Trace:
    """A run of a few actions, values and ends."""
    random = Random(seed)
    events = []
    for number in range(size):
        call = f"c{number - (number % 3 == 2)}"
        args = {"f": random.choice(["M", "M", "N", ["M", "N"]]), "n": random.choice([1, 5, "5.5", "none", -2])}
        if random.random() < 0.7:
            args["g"] = random.choice(["M", "N", "7"])
        time = 1_700_000_000 + 20 * number if seed % 3 else None
        output = random.choice([None, "M", "MN", "7"])
        status = random.choice(["ok", "ok", "error"])
        events.append(
            Event.of(random.choice(ACTIONS), args, id=f"e{number}", call=call, status=status, output=output, time=time)
        )
    return Trace(tuple(events))


def rule_of(body: str) -> tuple[Rule, str]:
    (statement,) = policy_of(f"statement S: {body}").statements
    return Rule("S", statement.requirement), statement.form


# What there is to reach, two runs reach: the others are not measured, which takes three times as long.
@pytest.mark.parametrize("seeds", [(0, 2), pytest.param((2, 8), marks=pytest.mark.unmeasured)], ids=str)
@pytest.mark.parametrize("body", [*SLICED, *UNROLLED])
def test_a_statement_along_runs(body: str, seeds: tuple[int, int]) -> None:
    rule, form = rule_of(body)
    engine = MonitorEngine([rule])
    for seed in range(*seeds):
        trace = recorded(seed)
        follow(engine, trace, by_denotation(rule.requirement, trace), form, Random(seed))
        follow_in_flight(engine, trace, Random(seed))
        follow_proposing(engine, trace, Random(seed))


@pytest.mark.parametrize("body", SLICED)
def test_what_policies_say_is_sliced(body: str) -> None:
    rule, _ = rule_of(body)
    assert isinstance(MonitorEngine([rule]).run()._judged[0], Sliced)


def test_many_statements_together() -> None:
    rules = [rule_of(body)[0] for body in SLICED]
    named = [Rule(f"S{at}", rule.requirement) for at, rule in enumerate(rules)]
    for seed in range(3):
        follow_together(named, recorded(seed))


def test_a_long_run_forgets_what_is_over() -> None:
    rule, _ = rule_of("atmost[1](a(f = x)) in 3 calls")
    engine = MonitorEngine([rule])
    run, sizes = engine.run(), []
    for number in range(3_000):
        run.step([Event.of("a", {"f": f"v{number}"}, id=f"e{number}", call=f"c{number}")])
        if number % 1_000 == 999:
            sizes.append(len(run.snapshot()))
            run = engine.restore(run.snapshot())
    ranked = sum(len(f"v{number}") + 3 for number in range(3_000))
    assert sizes[-1] < ranked + 200_000


def test_a_sum_of_an_output_to_come_may_reach_what_is_asked_for() -> None:
    exceeds = core.Exceeds(Decimal(0), core.Reads("output", True), core.And(()))
    run = MonitorEngine([Rule("S", core.Requirement(exceeds, (), None))]).run()
    event = Event.of("a", id="e1", call="e1")
    assert not run.propose([event]).breaches
    assert not run.step([replace(event, status="ok", output="7")]).breaches


def test_an_output_to_come_may_have_no_number() -> None:
    exceeds = core.Exceeds(Decimal(0), core.Reads("output", True), core.Last())
    run = MonitorEngine([Rule("S", core.Requirement(exceeds, (), None))]).run()
    events = [Event.of("a", id=f"e{number}", call=f"e{number}", status="ok") for number in (1, 2)]
    assert not run.propose(events).breaches
    assert not run.step(events).breaches


def test_the_order_of_what_is_said_ahead_does_not_depend_on_the_status() -> None:
    rule, _ = rule_of("until(b(g:count = x), a(f = x), a())")
    lines = [{"action": "b"}, {"action": "b", "args": {"f": [], "g": "M"}}, {"action": "a"}]
    follow_proposing(MonitorEngine([rule]), trace_of(lines), Random(0))


def test_an_unrolled_rule_is_not_judged_out_of_order() -> None:
    within = core.Within(30_000_000)
    requirement = core.Requirement(core.Earlier(core.Later(core.Last(), within), within), (), None)
    trace = trace_of([{"action": "a", "time": f"2026-01-05T10:00:{second:02}Z"} for second in (0, 1, 59, 0)])
    assert not follow(
        MonitorEngine([Rule("S", requirement)]), trace, by_denotation(requirement, trace), None, Random(4)
    )


def test_equal_states_are_equal_bytes_whatever_was_forgotten_in_between() -> None:
    output, told = core.Reads("output", True), core.Holds(core.Equals(core.Reads("f"), "x"))
    said = core.Holds(core.AndC((core.ActionIn(frozenset({"b"})), core.Equals(output, "x"))))
    trigger = core.Holds(core.Equals(output, "x"))
    theta = core.Implies(trigger, core.Earlier(core.Implies(told, said), core.Calls(1)))
    engine = MonitorEngine([Rule("S", core.Requirement(theta, ("x",), trigger))])
    kept, restored = engine.run(), engine.run()
    for number, values in enumerate([["M"], ["MN"], ["M", "MN"]], 1):
        event = Event.of("a", {"f": values}, id=f"e{number}")
        restored = engine.restore(restored.snapshot())
        assert kept.step([event]) == restored.step([event])
        assert kept.snapshot() == restored.snapshot()
