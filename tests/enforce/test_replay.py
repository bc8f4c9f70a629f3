"""What docs/replay.md promises of a replay, held against the verdict on the whole run, on generated runs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.strategies.policies import policies, policy_of
from tests.strategies.runs import SCALARS, Line, runs, values
from vigil_lang.abstraction.run import Options, Survey
from vigil_lang.analysis.enforceability import enforceability, kinds
from vigil_lang.api import parse_policy
from vigil_lang.cli.replay_certificates import SolverCertifier
from vigil_lang.diagnostics import InputError
from vigil_lang.enforce.replay import replay
from vigil_lang.enforce.run import PolicyMonitor
from vigil_lang.engines.index import RunIndex
from vigil_lang.engines.indexed import Judgement
from vigil_lang.ingest.load import read_records
from vigil_lang.runs import read_trace
from vigil_lang.trace import Event, Run
from vigil_lang.trace.record import Call, Message, Result, Start

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vigil_lang.enforce.replayed import Replayed
    from vigil_lang.semantics.policy import Policy
    from vigil_lang.trace import Trace
    from vigil_lang.trace.record import Record


def replayed(policy: Policy, records: Sequence[Record], *, as_if_blocked: bool = False) -> Replayed:
    survey = Survey(Run("run.jsonl"))
    for record in records:
        survey.add(record)
    return replay(PolicyMonitor([policy]), survey, records, Options(), as_if_blocked=as_if_blocked)


def events_of(lines: list[Line]) -> list[Record]:
    """The records of a recording in Vigil's own format."""
    return list(read_records([json.dumps(line).encode() + b"\n" for line in lines], "run.jsonl", "vigil"))


def trace_of(records: Sequence[Record]) -> Trace:
    from vigil_lang.abstraction.run import Abstraction
    from vigil_lang.trace import Trace

    abstraction = Abstraction()
    for record in records:
        abstraction.add(record)
    return Trace(tuple(abstraction.rest()), abstraction.finished_run)


def violated(policy: Policy, trace: Trace) -> list[str]:
    index = RunIndex(trace)
    return [s.name for s in policy.statements if any(Judgement(s.requirement, index).violations())]


def told(found: Replayed) -> list[tuple[object, ...]]:
    """The decisions, however long they took."""
    return [
        (d.call, d.events, d.decided, tuple((r.statement, r.event, r.message) for r in d.reasons), d.owed, d.told)
        for d in found.decisions
    ]


@st.composite
def recordings(draw: st.DrawFn) -> list[Record]:
    """A run as a harness records it: calls one after the other or several at once, refused, failed, without an end."""
    records: list[Record] = [Start(Run("run.jsonl", "anthropic-messages"))]
    waiting: list[str] = []
    texts = draw(st.lists(st.sampled_from(SCALARS), min_size=1, max_size=4).map(tuple))
    time = 0
    for number in range(draw(st.integers(0, 7))):
        time += draw(st.sampled_from((0, 500_000, 30_000_000)))
        if draw(st.integers(0, 5)) == 0:
            records.append(Message(draw(st.sampled_from(("user", "agent"))), "M", time))
        args = {name: draw(values(texts)) for name in ("f", "g") if draw(st.integers(0, 3))}
        records.append(Call(f"c{number}", draw(st.sampled_from(("a", "a", "b", "c"))), args, time))
        waiting.append(f"c{number}")
        while waiting and draw(st.integers(0, 2)):
            key = waiting.pop(draw(st.integers(0, len(waiting) - 1)))
            status = draw(st.sampled_from(("ok", "ok", "error", "unknown")))
            output = draw(st.sampled_from(("M", "MN done", None)))
            records.append(Result(key, status, output, executed=draw(st.integers(0, 4)) > 0))
    return records


recorded = runs().map(events_of) | recordings()


@given(policies(), recorded)
def test_the_end_of_a_replay_is_the_verdict_on_the_run(text: str, records: list[Record]) -> None:
    policy = policy_of(text)
    found = replayed(policy, records)
    trace = trace_of(records)
    assert [policy.statements[reason.statement].name for reason in found.violated] == violated(policy, trace)
    assert replace(found.run, path="") == replace(trace.run, path="")


@given(policies(), recordings(), st.data())
def test_a_decision_depends_on_what_was_recorded_before_it(
    text: str, records: list[Record], data: st.DataObject
) -> None:
    policy = policy_of(text)
    calls = [place for place, record in enumerate(records) if isinstance(record, Call)]
    if not calls:
        return
    whole = told(replayed(policy, records))
    number = data.draw(st.integers(0, len(calls) - 1))
    assert told(replayed(policy, records[: calls[number] + 1])) == whole[: number + 1]


@given(policies(), runs(), st.integers(1, 5))
def test_the_end_of_a_recorded_event_takes_no_part_in_its_decision(text: str, lines: list[Line], number: int) -> None:
    policy = policy_of(text)
    before = replayed(policy, events_of(lines[:number]))
    # Another end of the last call, which is the last group of events.
    last = lines[:number][-1:]
    changed = [{**line, "status": "error", "output": "another end"} for line in last]
    after = replayed(policy, events_of([*lines[: number - 1][: len(lines[:number]) - len(last)], *changed]))
    assert [d.decided for d in before.decisions] == [d.decided for d in after.decisions]


@given(policies(), recorded)
def test_a_run_without_disturbance_debt_or_surprise_is_safe(text: str, records: list[Record]) -> None:
    policy = policy_of(text)
    found = replayed(policy, records)
    if not (found.disturbed or found.owed or found.unforeseen):
        assert violated(policy, trace_of(records)) == []


def _is_preventable(text: str) -> bool:
    """Whether no part of it can only be asked for, or told by how a call ends."""
    return all(kinds(enforceability(s.requirement)) == ("preventable",) for s in policy_of(text).statements)


@settings(max_examples=200)
@given(policies().filter(_is_preventable), recorded)
def test_without_the_calls_that_are_blocked_nothing_preventable_is_violated(text: str, records: list[Record]) -> None:
    assert replayed(policy_of(text), records, as_if_blocked=True).violated == ()


@given(policies().filter(_is_preventable), recorded)
def test_what_is_preventable_is_never_a_surprise(text: str, records: list[Record]) -> None:
    assert replayed(policy_of(text), records).unforeseen == []


def _confirmed(text: str, records: list[Record]) -> Replayed:
    policy, survey = policy_of(text), Survey(Run("run.jsonl"))
    for record in records:
        survey.add(record)
    certifier = SolverCertifier([policy], whole=True)
    return replay(PolicyMonitor([policy]), survey, records, Options(), certifier=certifier)


@given(policies(), recorded)
def test_the_solver_confirms_what_is_decided(text: str, records: list[Record]) -> None:
    found = _confirmed(text, records)
    violated_at_the_end = {reason.statement for reason in found.violated}
    assert [answer.result == "unsat" for answer in found.solver] == [
        at in violated_at_the_end for at in range(len(found.statements))
    ]
    one_by_one = all(isinstance(record, Event | Start) for record in records)
    for decision in found.decisions:
        for reason in decision.reasons:
            assert (reason.solver is None) if reason.unjudged else (reason.solver is not None or not one_by_one)
            assert reason.solver is None or reason.solver.result == "unsat"


def test_the_solver_confirms_a_bound_in_time_on_a_run_of_one_event_without_a_time() -> None:
    found = _confirmed("statement S: always earlier[500ms] (earlier (a(f in {})))", events_of([{"action": "a"}]))
    assert found.decisions[0].reasons[0].solver is not None


# --- single cases -------------------------------------------------------------------------------------------

ONCE = "statement S: atmost[1](a())"


def test_an_obligation_met_is_owed_no_more() -> None:
    policy = parse_policy("statement S: resp(a(f = x), b(f = x))")
    found = replayed(
        policy, events_of([{"action": "a", "args": {"f": n}} for n in "MN"] + [{"action": "b", "args": {"f": "M"}}])
    )
    assert [[owing.bindings for owing in d.owed] for d in found.decisions] == [[], [{"x": "M"}], [{"x": "N"}]]
    assert [owing.bindings for owing in found.owed] == [{"x": "N"}]


def test_a_call_that_is_left_out_takes_its_number_along() -> None:
    policy = parse_policy(ONCE)
    records = [Start(Run("r"))]
    for n in range(3):
        records += [Call(f"c{n}", "a", {}), Result(f"c{n}", "ok")]
    found = replayed(policy, records, as_if_blocked=True)
    assert [(d.events, d.decided) for d in found.decisions] == [
        (("e1",), "pass"),
        (("e2",), "block"),
        (("e3",), "block"),
    ]
    assert found.violated == ()
    assert found.events == 3


def test_what_a_sub_agent_does_goes_with_the_call_that_started_it() -> None:
    policy = parse_policy("statement S: abs(task())")
    records: list[Record] = [
        Start(Run("r")),
        Call("t", "task", {}),
        Call("u", "b", {}, parent="t"),
        Call("v", "b", {}, parent="u"),
        Message("agent", "done", parent="t"),
        Result("v", "ok"),
        Result("u", "ok"),
        Result("t", "ok"),
        Call("w", "b", {}),
    ]
    found = replayed(policy, records, as_if_blocked=True)
    assert [d.call for d in found.decisions] == ["t", "w"]
    assert [d.call for d in replayed(policy, records).decisions] == ["t", "u", "v", "w"]


def test_of_several_results_the_last_one_counts() -> None:
    policy = parse_policy("statement S: prec(b(), a(status = ok))")
    results = [Result("c", "ok"), Result("c", "error")]
    records: list[Record] = [Start(Run("r")), Call("c", "a", {}), *results, Call("d", "b", {}), Result("d", "ok")]
    found = replayed(policy, records)
    assert [d.decided for d in found.decisions] == ["pass", "block"]
    assert [policy.statements[reason.statement].name for reason in found.violated] == violated(
        policy, trace_of(records)
    )


def test_results_of_calls_that_nobody_made_are_passed_over() -> None:
    found = replayed(parse_policy(ONCE), [Start(Run("r")), Result("x", "ok"), Call("c", "a", {}), Result("x", "error")])
    assert [d.decided for d in found.decisions] == ["pass"]


def test_a_call_may_have_the_key_of_a_message() -> None:
    records: list[Record] = [Start(Run("r")), Message("user", "go on"), Call("m1", "a", {}), Result("m1", "ok")]
    records += [Call("m2", "a", {}), Result("m2", "ok"), Message("user", "and on")]
    found = replayed(parse_policy(ONCE), records)
    assert [d.decided for d in found.decisions] == ["pass", "block"]
    assert len(found.violated) == 1


def test_a_call_is_judged_although_it_shares_its_name_with_a_message() -> None:
    lines: list[Line] = [{"action": "user.message", "call": "c"}, {"action": "a", "call": "c"}]
    lines += [{"action": "agent.message", "call": "c"}]
    found = replayed(parse_policy("statement S: abs(a())"), events_of(lines))
    assert [(d.events, d.decided) for d in found.decisions] == [(("e2",), "block")]


def test_whatever_a_line_says_of_its_parent_is_carried_along() -> None:
    found = replayed(parse_policy(ONCE), events_of([{"action": "a", "parent": ["b"]}, {"action": "b", "parent": {}}]))
    assert [d.decided for d in found.decisions] == ["pass", "pass"]


def test_a_rule_that_cannot_be_judged_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    from vigil_lang.engines.interface import Ahead, Unjudged
    from vigil_lang.engines.monitor import RunMonitor

    monkeypatch.setattr(RunMonitor, "propose", lambda *_: Ahead((), (Unjudged(0, "it is too large"),)))
    found = replayed(parse_policy(ONCE), events_of([{"action": "a"}]))
    (decision,) = found.decisions
    assert (decision.decided, decision.told) == (
        "block", "This call was blocked and not made. S cannot be judged: it is too large.",
    )  # fmt: skip
    assert found.decision_to_json(decision)["statements"][0]["unjudged"] is True


def test_work_beside_the_calls_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vigil_lang.enforce.replay.MOST_WORK", 10)
    monkeypatch.setattr("vigil_lang.enforce.replay.WORK_PER_RECORD", 1)
    policy = parse_policy("statement S: resp(a(), b())")
    with pytest.raises(InputError, match="VGL003"):
        replayed(policy, events_of([{"action": "a"}] * 20))


def test_arguments_that_cannot_be_named_are_a_fault_of_the_recording() -> None:
    deep: object = "x"
    for _ in range(2_000):
        deep = [{"a": deep}]
    with pytest.raises(InputError) as fault:
        replayed(parse_policy(ONCE), [Start(Run("r")), Call("c", "a", {"f": deep})])
    assert fault.value.diagnostics[0].code == "VGL601"


def test_long_outputs_are_cut_as_in_a_verdict() -> None:
    policy = parse_policy('statement S: abs(a(output ~ "*END"))')
    line = {"action": "a", "status": "ok", "output": "x" * 200_000 + "END"}
    found = replayed(policy, events_of([line]))
    trace = read_trace([json.dumps(line).encode() + b"\n"], "r", "vigil")
    assert bool(found.violated) == bool(violated(policy, trace))
