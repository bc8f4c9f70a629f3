"""What holds of the abstraction of any run."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from abstraction_support import abstracted
from hypothesis import given, settings
from hypothesis import strategies as st

from vigil_lang.runs import read_trace, stream_events
from vigil_lang.trace import Event, Run
from vigil_lang.trace.record import Call, Message, Result

if TYPE_CHECKING:
    from pathlib import Path

    from vigil_lang.trace.record import Record

COMMANDS = (
    "cd src", "cd /tmp && ls", "cat a.txt", "cp a b && rm a", "python3 fix.py",
    "cat > fix.py <<'EOF'\nopen('x', 'w')\nEOF",
    "make | tail -2", "for i in 1 2; do touch f$i; done", "X=1", "echo $X > $Y", "bash -c 'cd /; rm z'", "(", "",
    "git add . && git commit -m x && git push", "sed -i s/x/y/ fix.py", "cat fix.py",
)  # fmt: skip

calls = st.one_of(
    st.sampled_from(COMMANDS).map(lambda line: ("Bash", {"command": line})),
    st.sampled_from(COMMANDS).map(lambda line: ("bash", {"command": line})),
    st.sampled_from(COMMANDS).map(lambda line: ("exec_command", {"cmd": line, "workdir": "w"})),
    st.just(("Write", {"file_path": "/repo/fix.py", "content": "import os\nos.remove('q')\n"})),
    st.just(("Edit", {"file_path": "fix.py", "old_string": "q", "new_string": "r"})),
    st.just(("Read", {"file_path": "fix.py"})),
    st.just(("mcp__fs__move_file", {"source": "a", "destination": "b"})),
    st.just(("frobnicate", {"x": [1, {"y": None}]})),
)
outcomes = st.sampled_from(
    [
        ("ok", "import os\nos.remove('shown')\n"), ("ok", ""), ("error", "sh: python3: command not found"),
        ("error", "Traceback (most recent call last):"), ("unknown", None), ("denied", None), None,
    ]
)  # fmt: skip


@st.composite
def recordings(draw: st.DrawFn) -> list[Record]:
    """Calls, results in any order after their calls, and messages."""
    records: list[Record] = []
    waiting: list[str] = []
    for number in range(draw(st.integers(1, 8))):
        name, args = draw(calls)
        key = f"t{number}"
        records.append(Call(key, name, args, session=draw(st.sampled_from(["", "", "t0"]))))
        waiting.append(key)
        while waiting and draw(st.booleans()):
            key = waiting.pop(draw(st.integers(0, len(waiting) - 1)))
            outcome = draw(outcomes)
            if outcome == ("denied", None):
                records.append(Result(key, executed=False))
            elif outcome is not None:
                records.append(Result(key, outcome[0], outcome[1]))
        if draw(st.booleans()):
            records.append(Message("user", "go on"))
    return records


def lasting(event: Event) -> tuple[Any, ...]:
    """What of an event no later record may change."""
    extra = {name: value for name, value in event.extra.items() if name != "truncated"}
    return event.id, event.action, event.call, event.args, event.kinds, event.time, extra


@settings(deadline=None)
@given(recordings(), st.data())
def test_events_depend_only_on_what_came_before_their_call(records: list[Record], data: st.DataObject) -> None:
    # spec R5.4-1
    """Appending records changes earlier events in their status and output alone, or takes out those never executed."""
    cut = data.draw(st.integers(0, len(records)))
    before = {event.id: event for event in abstracted(records[:cut])}
    after = {event.id: event for event in abstracted(records)}
    denied = {r.key for r in records[cut:] if isinstance(r, Result) and not r.executed}
    assert {i for i, e in before.items() if e.call not in denied} <= after.keys()
    for event in before.values():
        if event.id in after:
            assert lasting(event) == lasting(after[event.id])
    answered = {r.key for r in records[cut:] if isinstance(r, Result)}
    for event in before.values():
        if event.call not in answered:
            assert event == after[event.id]


@settings(deadline=None)
@given(recordings())
def test_ids_are_unique_and_steps_follow_their_call(records: list[Record]) -> None:
    events = abstracted(records)
    assert len({event.id for event in events}) == len(events)
    for first, second in pairwise(events):
        if "." in second.id:
            assert first.call == second.call
            assert first.id.partition(".")[0] == second.id.partition(".")[0]


def lines(records: list[Record]) -> list[dict[str, Any]]:
    """The records as a Claude Code transcript."""
    found: list[dict[str, Any]] = [{"type": "system", "subtype": "init", "cwd": "/repo", "session_id": "s"}]
    for record in records:
        common = {"session_id": "s", "parent_tool_use_id": getattr(record, "session", "") or None}
        match record:
            case Call(key, name, args):
                content: Any = [{"type": "tool_use", "id": key, "name": name, "input": args}]
                found.append({"type": "assistant", **common, "message": {"id": f"m{key}", "content": content}})
            case Result(key, status, output, executed) if status != "unknown" or not executed:
                text = output if executed else "The user doesn't want to proceed with this tool use"
                error = status == "error" or not executed
                content = [{"type": "tool_result", "tool_use_id": key, "content": text, "is_error": error}]
                found.append({"type": "user", **common, "message": {"role": "user", "content": content}})
    return found


@settings(deadline=None)
@given(recordings())
def test_streaming_gives_the_events_of_the_trace(tmp_path_factory: Any, records: list[Record]) -> None:
    data = b"".join(json.dumps(line).encode() + b"\n" for line in lines(records))
    trace = read_trace(data.splitlines(keepends=True), "run.jsonl")
    path: Path = tmp_path_factory.mktemp("run") / "run.jsonl"
    path.write_bytes(data)
    header, *events = stream_events(str(path), name="run.jsonl")
    assert isinstance(header, Run)
    assert header == trace.run
    assert tuple(events) == trace.events
