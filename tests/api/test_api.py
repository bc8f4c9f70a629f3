"""The Python interface: five lines to a verdict."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import vigil_lang as vigil
from vigil_lang.diagnostics import Source
from vigil_lang.semantics.policy import read_policy

if TYPE_CHECKING:
    from collections.abc import Callable

POLICY = vigil.parse_policy("statement S: abs(pay())")
RUN = vigil.Trace.of([vigil.Event.of("a")])
NESTED: Any = 1
for _ in range(200):
    NESTED = [NESTED]
DASHCAM = Path(__file__).parents[2] / "examples/dashcam"


def test_five_lines_to_a_verdict() -> None:
    policy = vigil.load_policy(DASHCAM / "dashcam.vgl")
    verdict = vigil.verify([policy], vigil.load_trace(DASHCAM / "violating.jsonl"))
    found = [(statement.name, offence.event, offence.message) for statement, offence in verdict.offences()]
    assert found == [("R3", "e5", "`M` was consumed before anything validated it")]
    assert verdict.verdict == "unsafe"


def test_what_is_wrong_with_an_input_is_an_exception_with_its_findings(tmp_path: Path) -> None:
    (tmp_path / "p.vgl").write_text("statement S: abs(", encoding="utf-8")
    with pytest.raises(vigil.InputError) as caught:
        vigil.load_policy(tmp_path / "p.vgl")
    (finding,) = caught.value.diagnostics
    assert isinstance(finding, vigil.Diagnostic)
    assert finding.code == "VGL101"
    assert "p.vgl:1:18: VGL101 expected a condition" in str(caught.value)


def test_the_names_that_are_offered_exist() -> None:
    for name in vigil.__all__:
        assert getattr(vigil, name) is not None
    assert dir(vigil) == sorted(vigil.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = vigil.nothing


# --- values from programs ----------------------------------------------------------------------------------

PAYS = 'statement S: abs(pay(invoice = "12"))'


def test_a_text_is_one_value_and_not_its_characters() -> None:
    policy = vigil.parse_policy(PAYS)
    for invoice, safe in (("12", False), ("21", True), (12, False), (12.0, False), (["21", 12], False), ([], True)):
        trace = vigil.Trace.of([vigil.Event.of("pay", {"invoice": invoice})])
        assert vigil.verify(policy, trace).safe is safe


NO_EVENTS: list[dict[str, Any]] = [
    {"args": {"invoice": "21"}},
    {"args": {"invoice": ["21"]}},
    {"args": {"invoice": (21,)}},
    {"args": {1: ("21",)}},
    {"args": [("invoice", ("21",))]},
    {"args": None},
    {"kinds": "git.push"},
    {"kinds": (True,)},
    {"kinds": ["git.push"]},
    {"kinds": None},
    {"status": "done"},
    {"status": True},
    {"status": None},
    {"output": 1},
    {"output": b"x"},
    {"time": "2026-01-05T10:00:00Z"},
    {"time": 1.5},
    {"time": True},
    {"extra": None},
    {"id": 1},
    {"action": None},
    {"call": ("e1",)},
]


@pytest.mark.parametrize("given", NO_EVENTS, ids=str)
def test_a_field_of_another_form_is_refused_with_its_name(given: dict[str, Any]) -> None:
    (name,) = given
    with pytest.raises((TypeError, ValueError), match=f"`{name}"):
        vigil.Event(**{"id": "e1", "action": "pay", "call": "e1", **given})


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"args": "invoice=12"}, TypeError),
        ({"args": [1]}, TypeError),
        ({"args": {"x": {1, 2}}}, TypeError),
        ({"args": {"x": b"12"}}, TypeError),
        ({"args": {"x": [range(3)]}}, TypeError),
        ({"args": {1: "x"}}, TypeError),
        ({"args": {"x": {"y": {2: 1}}}}, TypeError),
        ({"args": {"x": float("inf")}}, ValueError),
        ({"args": {"x": Decimal("NaN")}}, ValueError),
        ({"args": {"x": NESTED}}, ValueError),
        ({"kinds": "git.push"}, TypeError),
        ({"kinds": (True,)}, TypeError),
        ({"kinds": {"git.push": 1}}, TypeError),
        ({"kinds": 7}, TypeError),
        ({"status": "done"}, ValueError),
        ({"status": True}, TypeError),
        ({"output": {"x": 1}}, TypeError),
        ({"time": "yesterday"}, ValueError),
        ({"time": True}, TypeError),
        ({"time": []}, TypeError),
        ({"id": ""}, ValueError),
        ({"id": 3}, TypeError),
        ({"call": ""}, ValueError),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_value_that_no_argument_takes_is_refused_with_its_name(given: dict[str, Any], error: type) -> None:
    (name,) = given
    with pytest.raises(error, match=f"`{name}") as caught:
        vigil.Event.of("pay", **given)
    assert len(str(caught.value)) < 400


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=8,
    )
)
def test_a_value_is_kept_as_a_recording_keeps_it(value: Any) -> None:
    event = vigil.Event.of("a", {"k": value}, id="e1")
    read = vigil.parse_trace(json.dumps({"action": "a", "args": {"k": value}}), format="vigil").events
    assert (event,) == read


def test_a_time_is_one_of_three() -> None:
    texts = ["2026-01-05T10:00:00Z", 1767607200, datetime(2026, 1, 5, 10, tzinfo=UTC), Decimal(1767607200)]
    assert {vigil.Event.of("a", time=time).time for time in texts} == {1767607200000000}  # type: ignore[arg-type]


def test_events_of_a_trace_have_ids_of_their_own() -> None:
    one, two = vigil.Event.of("a", id="x"), vigil.Event.of("b", id="x")
    for make in (vigil.Trace.of, lambda events: vigil.Trace(tuple(events))):
        with pytest.raises(ValueError, match="the id 'x' is that of event 1 and of event 2"):
            make([one, two])
    with pytest.raises(ValueError, match="event 1 has no id"):
        vigil.Trace((vigil.Event.of("a"),))
    step = vigil.Event.of("b", call="x")
    assert [(e.id, e.call) for e in vigil.Trace.of([one, step]).events] == [("x", "x"), ("e2", "x")]


@pytest.mark.parametrize("events", ["ab", {"a": 1}, None, 3, vigil.Event.of("a"), ["a"], [{"action": "a"}]], ids=str)
def test_a_trace_is_made_of_events(events: Any) -> None:
    with pytest.raises(TypeError, match="`events`"):
        vigil.Trace.of(events)
    with pytest.raises(TypeError, match="`events`"):
        vigil.Trace(events)


def test_an_event_that_was_changed_is_refused_when_it_is_judged() -> None:
    trace = vigil.Trace.of([vigil.Event.of("pay", {"invoice": "21"})])
    trace.events[0].args["invoice"] = "21"  # type: ignore[assignment]
    with pytest.raises(TypeError, match="`args"):
        vigil.verify(vigil.parse_policy(PAYS), trace)


# --- calls -------------------------------------------------------------------------------------------------


def test_calls_become_the_events_of_a_recording_of_them() -> None:
    calls = [
        vigil.Message("user", "clean up"),
        vigil.Call("Bash", {"command": "rm -rf build && ls"}, "ok", "a.txt"),
        vigil.Call("Bash", {"command": "rm -rf /"}, executed=False),
        vigil.Call("Bash", {"command": "sleep 9"}),
        vigil.Call("Bash", {"command": "false"}, "error", exit_code=1, time="2026-01-05T10:00:00Z"),
    ]
    trace = vigil.abstract(calls, name="today", cwd="/home/ann/shop")
    assert [(e.action, e.status) for e in trace.events if e.action in ("rm", "Bash", "false", "user.message")] == [
        ("user.message", "ok"),
        ("Bash", "ok"),
        ("rm", "ok"),
        ("Bash", "unknown"),
        ("Bash", "error"),
        ("false", "error"),
    ]
    assert next(e.args["path"] for e in trace.events if e.action == "rm") == ("/home/ann/shop/build",)
    assert (trace.run.path, trace.run.not_executed) == ("today", 1)


@pytest.mark.parametrize(
    "make",
    [
        lambda: vigil.Call(""),
        lambda: vigil.Call("Bash", "ls"),  # type: ignore[arg-type]
        lambda: vigil.Call("Bash", {"x": {1}}),
        lambda: vigil.Call("Bash", status="done"),  # type: ignore[arg-type]
        lambda: vigil.Call("Bash", output=1),  # type: ignore[arg-type]
        lambda: vigil.Call("Bash", executed=1),  # type: ignore[arg-type]
        lambda: vigil.Call("Bash", exit_code="1"),  # type: ignore[arg-type]
        lambda: vigil.Call("Bash", time="never"),
        lambda: vigil.Message("system", "x"),  # type: ignore[arg-type]
        lambda: vigil.Message("user", ""),
        lambda: vigil.abstract("ls"),  # type: ignore[arg-type]
        lambda: vigil.abstract(["ls"]),  # type: ignore[list-item]
        lambda: vigil.abstract([], cwd=1),  # type: ignore[arg-type]
        lambda: vigil.parse_trace(3),  # type: ignore[arg-type]
        lambda: vigil.parse_policy(3),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_call_is_refused(make: Callable[[], object]) -> None:
    with pytest.raises((TypeError, ValueError), match=r"`.*` takes"):
        make()


# --- one and several ---------------------------------------------------------------------------------------


def test_one_policy_or_several_judge_one_run_or_several() -> None:
    policy, trace = vigil.parse_policy(PAYS), vigil.Trace.of([vigil.Event.of("pay", {"invoice": "12"})])
    assert vigil.verify(policy, trace).verdict == "unsafe"
    assert vigil.verify(iter([policy, policy]), trace).verdict == "unsafe"
    assert [v.safe for v in vigil.verify(policy, (t for t in [trace, trace]))] == [False, False]
    runs = vigil.parse_traces('{"vigil_trace":1}\n{"action":"a"}\n{"vigil_trace":1}\n{"action":"pay"}\n')
    assert [v.safe for v in vigil.verify([policy], runs)] == [True, True]


@pytest.mark.parametrize(
    ("policies", "traces", "error"),
    [
        ("p.vgl", RUN, TypeError),
        (["p.vgl"], RUN, TypeError),
        (None, RUN, TypeError),
        ([], RUN, ValueError),
        (vigil.parse_policy("pattern p = a()"), RUN, ValueError),
        (POLICY, "r.jsonl", TypeError),
        (POLICY, ["r.jsonl"], TypeError),
        (POLICY, None, TypeError),
        (POLICY, [], ValueError),
        (RUN, POLICY, TypeError),
        (POLICY, vigil.Trace.of([]), vigil.InputError),
        (POLICY, [RUN, vigil.Trace.of([])], vigil.InputError),
    ],
    ids=lambda value: str(value)[:30],
)
def test_what_would_judge_nothing_is_refused(policies: Any, traces: Any, error: type) -> None:
    with pytest.raises(error):
        vigil.verify(policies, traces)


CALLS = [vigil.Call("Bash", {"command": "ls"})]
LIMITED = "param limit: number = 100\nstatement S: abs(pay(amount > limit))"


@pytest.mark.parametrize(
    ("make", "error", "said"),
    [
        (lambda: vigil.verify(POLICY, RUN, allow_empty="no"), TypeError, "`allow_empty` takes a boolean, not 'no'"),
        (lambda: vigil.Options(allow_empty=1), TypeError, "`allow_empty` takes a boolean, not 1"),
        (lambda: vigil.Options(inferred=None), TypeError, "`inferred` takes a boolean, not None"),
        (lambda: vigil.Options(kept="all"), TypeError, "`kept` takes an int, not 'all'"),
        (lambda: vigil.Options(kept=-1), ValueError, "`kept` takes an int that is not negative, not -1"),
        (lambda: vigil.abstract(CALLS, options={}), TypeError, "`options` takes `Options`, not a dict"),
        (lambda: vigil.load_trace(os.devnull, options=3), TypeError, "`options` takes `Options`, not 3"),
        (lambda: vigil.parse_trace("{}", format=3), TypeError, "`format` takes a text, not 3"),
        (lambda: vigil.load_policy(None), TypeError, "`path` takes a text or a `Path`, not None"),
        (lambda: vigil.load_policy("std.guard", [1]), TypeError, "`params` takes a mapping of names to values"),
        (lambda: vigil.parse_policy(LIMITED, {1: 2}), TypeError, "`params: a name` takes a text, not 1"),
        (lambda: vigil.parse_policy(LIMITED, {"limits": 2}), ValueError, "names 'limits', and the params .*: limit"),
        (lambda: vigil.load_policy("std.guard", {"x": 2}), ValueError, "names 'x', and the params of the policy are"),
        (lambda: vigil.parse_policy("pattern p = a()", {"x": 2}), ValueError, "the params of the policy are: none"),
        (lambda: vigil.Event.of("a", kinds=[""]), ValueError, "`kinds` takes a text that is not empty"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_would_be_passed_over_is_refused(make: Callable[[], object], error: type, said: str) -> None:
    with pytest.raises(error, match=said):
        make()


def test_a_policy_with_errors_judges_nothing() -> None:
    broken = read_policy(Source("p.vgl", f"{PAYS}\nstatement T: abs(nothing_like_it)"))
    assert len(broken.statements) == 1
    with pytest.raises(vigil.InputError, match="nothing_like_it"):
        vigil.verify(broken, RUN)


def test_a_policy_from_a_text_has_no_files_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "other.vgl").write_text("pattern p = a()", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(vigil.InputError, match="VGL207"):
        vigil.parse_policy("use .other: p\nstatement S: abs(p)")
    assert vigil.parse_policy('use std.files: reads\nstatement S: abs(reads("x"))', name="mine").path == "mine"


def test_a_verdict_is_no_truth() -> None:
    verdict = vigil.verify(POLICY, RUN)
    with pytest.raises(TypeError, match=r"verdict\.safe"):
        bool(verdict)
    assert (verdict.safe, verdict.vacuous, verdict.seen.calls, verdict.seen.unseen) == (True, False, 1, ())
