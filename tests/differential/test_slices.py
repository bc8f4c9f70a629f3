"""The slice of a run that decides about an event: on it the event has the verdict that it has on the run."""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.differential.cases import many
from tests.strategies.core import presets, requirements
from tests.strategies.runs import runs, trace_of
from vigil_lang.diagnostics import Source
from vigil_lang.engines.index import RunIndex
from vigil_lang.engines.indexed import Judgement
from vigil_lang.engines.interface import Violation
from vigil_lang.engines.slicing import deciding, subrun
from vigil_lang.engines.smt.breach import Breaches, confirmed_breach
from vigil_lang.engines.smt.solve import SolverDisagrees
from vigil_lang.engines.smt.verify import verify
from vigil_lang.runs import read_trace
from vigil_lang.semantics import core, denotation
from vigil_lang.semantics.policy import read_policy
from vigil_lang.trace import Event, Trace

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.strategies.runs import Line
    from vigil_lang.semantics.core import Requirement
    from vigil_lang.semantics.policy import Policy


@many
@given(requirements() | presets(("x",)), runs(max_size=9), st.data())
def test_on_a_slice_an_event_has_the_verdict_that_it_has_on_the_run(
    requirement: Requirement, lines: list[Line], data: st.DataObject
) -> None:
    trace = trace_of(lines)
    judgement = Judgement(requirement, RunIndex(trace))
    every = list(denotation.bindings(requirement, trace))
    for at in range(len(trace)):
        binding = data.draw(st.sampled_from(every))
        key = judgement.standing_for(tuple(binding[x] for x in requirement.variables))
        also = data.draw(st.lists(st.integers(0, len(trace) - 1), max_size=2))
        places = deciding(judgement, at, key, also)
        assert places == sorted({*places, at, *also})
        asked = dict(zip(requirement.variables, key, strict=True))
        on_run = denotation.holds(requirement.theta, trace, at, asked)
        small = subrun(trace, places)
        assert denotation.holds(requirement.theta, small, places.index(at), asked) == on_run
        found = Violation(places.index(at), key)
        if not on_run:
            certificate = confirmed_breach(Judgement(requirement, RunIndex(small)), found, "S")
            assert (certificate.result, len(certificate.core)) == ("unsat", 1)
        else:
            with pytest.raises(SolverDisagrees):
                confirmed_breach(Judgement(requirement, RunIndex(small)), found, "S")


A, B, C = (core.Holds(core.ActionIn(frozenset(name))) for name in "abc")
B_WITHOUT_C = core.And((B, core.Not(core.Earlier(core.Or((C, core.Not(A))), core.Calls(1)))))


@pytest.mark.parametrize("bound", [None, core.Calls(2), core.Steps(3), core.Steps(4, 2), core.Within(3)], ids=repr)
@pytest.mark.parametrize(
    "make",
    [
        lambda bound: core.Earlier(B_WITHOUT_C, bound),
        lambda bound: core.Later(core.And((B, core.Later(C, bound))), bound),
        lambda bound: core.Earlier(core.And((B, core.Earlier(C, core.Steps(2)))), bound),
        lambda bound: core.Earlier(core.Not(core.Or((A, B))), bound),
        lambda bound: core.Since(core.Not(C), B, bound),
        lambda bound: core.Until(core.Or((A, B)), C, bound, True),
        lambda bound: core.Repeated(2, B, bound, C),
        lambda bound: core.Repeated(2, core.And((B, core.Later(C, bound))), bound, core.And((C, core.Last()))),
        lambda bound: core.Later(core.Clear(B, C), bound),
    ],
)
def test_distances_on_a_slice_are_those_on_the_run(make: Callable[[core.Bound], core.Theta], bound: core.Bound) -> None:
    random = Random(7)
    requirement = core.Requirement(core.Implies(A, make(bound)), (), A)
    for _ in range(60):
        actions = random.choices(["a", "b", "c", "x", "y", "user.message"], k=14)
        calls = [random.randint(max(0, at - 4), at) for at in range(14)]
        trace = Trace(
            tuple(
                Event(f"e{at}", action, f"c{call}", time=at // 2)
                for at, (action, call) in enumerate(zip(actions, calls, strict=True))
            )
        )
        judgement = Judgement(requirement, RunIndex(trace))
        for at, action in enumerate(actions):
            if action == "a":
                places = deciding(judgement, at, (), random.choices(range(14), k=random.randint(0, 1)))
                small, there = subrun(trace, places), places.index(at)
                expected = denotation.holds(requirement.theta, trace, at, {})
                assert denotation.holds(requirement.theta, small, there, {}) == expected


def policy_of(form: str) -> Policy:
    policy = read_policy(Source("p.vgl", f"statement S: {form}"))
    assert not policy.errors
    return policy


def run_of(*events: dict[str, object]) -> Trace:
    return read_trace([json.dumps(event).encode() + b"\n" for event in events], "run.jsonl", "vigil")


NOISE: list[dict[str, object]] = [{"action": "look", "time": 0}] * 50


@pytest.mark.parametrize(
    ("form", "events", "kept"),
    [
        ("abs(rm())", [*NOISE, {"action": "rm"}, *NOISE], ["e51"]),
        ("abs(rm()) after read()", [*[{"action": "read"}] * 9, *NOISE, {"action": "rm"}], ["e9", "e60"]),
        ("prec(use(f = x), check(f = x))", [{"action": "check", "args": {"f": "N"}}, *NOISE,
                                           {"action": "use", "args": {"f": "M"}}], ["e52"]),
        ("resp(use(), check())", [{"action": "check"}, *NOISE, {"action": "use"}, *NOISE], ["e1", "e52"]),
        ("until(use(), check(), rm())", [{"action": "use"}, *NOISE, {"action": "rm"}, {"action": "rm"},
                                        {"action": "check"}], ["e1", "e52", "e54"]),
        ("atmost[1](use()) in 1m", [{"action": "use", "time": 0}, *NOISE, {"action": "use", "time": 99},
                                    {"action": "use", "time": 100}], ["e52", "e53"]),
        ("always use() implies earlier[3 steps] check()", [*[{"action": "check"}] * 2, *NOISE[:4], {"action": "use"}],
         ["e1", "e2", "e3", "e4", "e5", "e6", "e7"]),
        ("always use() implies earlier[2] check()", [*NOISE, {"action": "check", "call": "c1"},
          {"action": "look", "call": "c1"}, *NOISE[:2], {"action": "use"}], ["e51", "e53", "e54", "e55"]),
        ("atleast[2](use())", [{"action": "use"}, *NOISE], ["e1", "e51"]),
    ],
)  # fmt: skip
def test_a_slice_holds_what_matters_and_near_misses(
    form: str, events: list[dict[str, object]], kept: list[str]
) -> None:
    trace = run_of(*events)
    (statement,) = policy_of(form).statements
    judgement = Judgement(statement.requirement, RunIndex(trace))
    found = list(judgement.violations())[-1]
    explained = verify([policy_of(form)], trace).statements[0].offending[-1]
    named = [trace.index_of[miss.event] for miss in explained.near_misses]
    places = deciding(judgement, found.event, found.binding, named)
    assert [trace.events[place].id for place in places] == kept


def test_a_breach_is_told_as_offline() -> None:
    policy = policy_of("prec(use(f = x), check(f = x))")
    trace = run_of({"action": "check", "args": {"f": "N"}}, *NOISE, {"action": "use", "args": {"f": "M"}})
    whole = verify([policy], trace).statements[0]
    found = Breaches(trace).certified(policy, policy.statements[0], Violation(51, ("M",)))
    assert found.offending == whole.offending
    assert (found.solver.result, found.solver.core) == (whole.solver.result, whole.solver.core) == ("unsat", ("S@e52",))
