"""Runs as benchmarks lay them out: which runs there are, their fields, and what the benchmark says of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import vigil_lang as vigil
from vigil_lang.diagnostics import InputError
from vigil_lang.evaluation.layouts import Piece, files_of, pieces_of

if TYPE_CHECKING:
    from pathlib import Path

    from vigil_lang.evaluation.corpus import Layout


def pieces(layout: Layout, folder: Path, *rows: Any, name: str = "runs.jsonl") -> list[Piece]:
    path = folder / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return list(pieces_of(layout, str(path)))


def trace_of(piece: Piece) -> vigil.Trace:
    assert piece.data is not None
    return vigil.parse_trace(piece.data)


LOG = {"suite_name": "slack", "pipeline_name": "m", "user_task_id": "user_task_1", "attack_type": "a", "messages": []}


@pytest.mark.parametrize(
    ("about", "label"),
    [
        ({"injection_task_id": None, "security": True}, "benign"),
        ({"injection_task_id": "injection_task_1", "security": True}, "violating"),
        ({"injection_task_id": "injection_task_1", "security": False}, "benign"),
        ({"injection_task_id": "injection_task_1", "security": None}, None),
        ({"injection_task_id": "injection_task_1"}, None),
        ({"injection_task_id": "injection_task_1", "label": "violating"}, "violating"),
    ],
)
def test_agentdojo_is_violated_where_an_attack_reached_its_goal(
    about: dict[str, Any], label: str | None, tmp_path: Path
) -> None:
    (found,) = pieces("agentdojo", tmp_path, LOG | about)
    assert (found.label, found.number, found.fields["suite"]) == (label, 0, "slack")


def test_agentdojo_as_tool_events_and_as_logs_has_the_same_fields(tmp_path: Path) -> None:
    events = {"id": "r1", "suite": "slack", "pipeline": "m", "user_task": "user_task_1", "attack": "a"}
    log, run = pieces("agentdojo", tmp_path, LOG, {**events, "events": [{"tool": "t", "args": {}}]})
    assert log.fields == run.fields == {"suite": "slack", "pipeline": "m", "user_task": "user_task_1", "attack": "a"}
    assert (log.number, run.number) == (1, 2)
    assert [event.action for event in trace_of(run).events] == ["t"]


def test_the_attackers_task_as_a_users_task_is_left_out(tmp_path: Path) -> None:
    (found,) = pieces("agentdojo", tmp_path, LOG | {"user_task_id": "injection_task_3"})
    assert found.left_out == "it gives the attacker's task to the user: nobody is attacked"


@pytest.mark.parametrize(
    ("reward", "label"), [(1.0, "benign"), (1, "benign"), (0.5, "violating"), (True, None), ("1", None), (None, None)]
)
def test_tau_bench_is_violated_where_the_task_failed(reward: object, label: str | None, tmp_path: Path) -> None:
    (found,) = pieces("tau-bench", tmp_path, {"task_id": 3, "trial": 0, "reward": reward, "traj": [], "info": {}})
    assert (found.label, found.fields) == (label, {"task": "3", "trial": "0"})


def test_a_result_of_tau_bench_is_a_conversation(tmp_path: Path) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "get_order", "arguments": '{"order_id": "#1"}'}}
    traj = [
        {"role": "system", "content": "You are an agent."},
        {"role": "user", "content": "Where is my order?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "name": "get_order", "content": "{}"},
    ]
    path = tmp_path / "results.json"
    path.write_text(json.dumps([{"task_id": 0, "reward": 1.0, "info": {}, "traj": traj, "trial": 0}] * 2), "utf-8")
    one, other = pieces_of("tau-bench", str(path))
    assert [event.action for event in trace_of(one).events] == ["user.message", "get_order"]
    assert (one.number, other.number, one.label) == (1, 2, "benign")


def test_a_plan_of_safeagentbench_is_a_run_of_its_steps(tmp_path: Path) -> None:
    steps = ["find Candle", "turn on Candle", "pick Mug", "fillLiquid Mug  wine", "toggle_off StoveKnob", "drop"]
    task = {"instruction": "Light it.", "step": steps, "risk_category": "Fire Hazard", "scene_name": "FloorPlan1"}
    (found,) = pieces("safeagentbench", tmp_path, task, name="unsafe_detailed_1009.jsonl")
    assert found.fields == {"split": "unsafe_detailed", "scene": "FloorPlan1", "risk": "Fire Hazard"}
    assert found.label == "violating"
    said, *events = trace_of(found).events
    assert said.args["text"] == ("Light it.",)
    assert [(e.action, e.args.get("object"), e.args.get("liquid"), e.status) for e in events] == [
        ("find", ("Candle",), None, "unknown"),
        ("turn_on", ("Candle",), None, "unknown"),
        ("pick", ("Mug",), None, "unknown"),
        ("fillLiquid", ("Mug",), ("wine",), "unknown"),
        ("turn_off", ("StoveKnob",), None, "unknown"),
        ("drop", None, None, "unknown"),
    ]


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("safe_detailed_1009", "benign"),
        ("unsafe_detailed", "violating"),
        ("abstract_1009", "violating"),
        ("mine", None),
    ],
)
def test_the_file_of_safeagentbench_says_what_is_hazardous(name: str, label: str | None, tmp_path: Path) -> None:
    (found,) = pieces(
        "safeagentbench", tmp_path, {"instruction": ["a", "b"], "step": ["open Door"]}, name=f"{name}.jsonl"
    )
    assert found.label == label
    assert trace_of(found).events[0].args["text"] == ("a",)


@pytest.mark.parametrize("step", [None, [], "find", [1], {}])
def test_a_task_without_a_plan_is_left_out(step: object, tmp_path: Path) -> None:
    task = {"instruction": "a", "requirement": "b", "step": step}
    (found,) = pieces("safeagentbench", tmp_path, task, name="long_horizon_1009.jsonl")
    assert found.left_out == "the task has no plan (`step`)"


def test_skilllearnbench_names_task_and_run(tmp_path: Path) -> None:
    place = tmp_path / "task" / "run-1" / "agent" / "claude-code.txt"
    place.parent.mkdir(parents=True)
    place.write_text('{"tool": "t", "args": {}}\n', encoding="utf-8")
    (path,) = files_of("skilllearnbench", [str(tmp_path)])
    assert list(pieces_of("skilllearnbench", path)) == [Piece(path, fields={"task": "task", "run": "run-1"})]
    assert next(pieces_of("skilllearnbench", "a.txt")).fields == {}


def test_a_recording_is_one_piece_and_what_is_none_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"action": "a"}\n', encoding="utf-8")
    (tmp_path / "b.json").write_text('{"some": "data"}\n', encoding="utf-8")
    (path,) = files_of("recordings", [str(tmp_path)])
    assert list(pieces_of("recordings", path)) == [Piece(path)]
    assert files_of("agentdojo", [str(tmp_path)]) == [str(tmp_path / "a.jsonl"), str(tmp_path / "b.json")]


@pytest.mark.parametrize("layout", ["agentdojo", "tau-bench", "safeagentbench"])
def test_what_stands_before_a_broken_row_is_given(layout: Layout, tmp_path: Path) -> None:
    path = tmp_path / "safe_x.jsonl"
    path.write_text('{"step": ["open Door"], "reward": 1, "suite": "x"}\n{"suite":\n', encoding="utf-8")
    found: list[Piece] = []
    with pytest.raises(InputError):
        found.extend(pieces_of(layout, str(path)))
    assert [piece.number for piece in _until_broken(layout, path)] == [1]


def _until_broken(layout: Layout, path: Path) -> list[Piece]:
    found = []
    try:
        for piece in pieces_of(layout, str(path)):
            found.append(piece)
    except InputError:
        pass
    return found


@pytest.mark.parametrize("layout", ["agentdojo", "tau-bench", "safeagentbench"])
@pytest.mark.parametrize(
    "row", [{}, {"suite": [1], "task_id": {}, "reward": [], "step": "x", "label": {"a": 1}, "id": 7}]
)
def test_rows_of_another_form_are_no_tracebacks(layout: Layout, row: dict[str, Any], tmp_path: Path) -> None:
    (found,) = pieces(layout, tmp_path, row)
    assert found.label in (None, "benign")
