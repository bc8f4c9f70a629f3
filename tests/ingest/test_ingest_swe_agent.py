"""SWE-agent: histories with tool calls, bare steps, and the messages of mini-SWE-agent."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from tests.ingest.samples import ANSWER, ASKED, DENIED, DRY, NOTE, RUN, SWE_AGENT, WEATHER, read_document
from vigil_lang.diagnostics import InputError
from vigil_lang.ingest.swe_agent import READER, detect
from vigil_lang.trace.record import Call, Message, Record, Result, Start


def records(document: dict[str, Any]) -> list[Record]:
    assert detect([document])
    return read_document(READER, document)


def test_tool_calls_of_the_history() -> None:
    assert records(SWE_AGENT) == [
        Start(replace(RUN, name="repo__1", source="1.1.0")),
        Message("user", ASKED),
        Call("t1", "weather", WEATHER),
        Call("t2", "save", NOTE),
        Result("t1", "unknown", DRY),
        Result("t2", "unknown", DENIED),
        Message("agent", ANSWER),
    ]


def test_a_demonstration_is_not_part_of_the_run() -> None:
    demo = [message | {"is_demo": True} for message in SWE_AGENT["history"]]
    document = SWE_AGENT | {"history": [*demo, *SWE_AGENT["history"]]}
    assert records(document) == records(SWE_AGENT)


def test_the_first_observation_is_the_task_and_later_ones_are_the_harness() -> None:
    system, task, *rest = ({"agent": "main", **message} for message in SWE_AGENT["history"])
    told = {"role": "user", "content": "Your output was not formatted.", "agent": "main"}
    history = [system, task | {"message_type": "observation"}, *rest, told]
    assert records({"history": history}) == [Start(RUN), *records(SWE_AGENT)[1:]]


def test_steps_say_where_the_shell_was_after_each_answer() -> None:
    steps = [{"action": "a", "state": {"working_dir": "/repo"}}, {"action": "b", "state": {"working_dir": "/tmp"}}]
    for trajectory, known in ((steps, ["/repo", "/tmp"]), (steps[:1], [None, None])):
        results = [record for record in records(SWE_AGENT | {"trajectory": trajectory}) if isinstance(record, Result)]
        assert [result.cwd for result in results] == known


STEPS: dict[str, Any] = {
    "environment": "main",
    "info": {},
    "history": [
        {"role": "system", "content": "Setting."},
        {"role": "user", "content": "Demo.", "is_demo": True},
        {"role": "assistant", "content": "Demo.", "is_demo": True},
        {"role": "user", "content": "Mend it."},
        {"role": "assistant", "content": "Looking.", "action": "ls\n"},
        {"role": "user", "content": "a.py"},
    ],
    "trajectory": [
        {
            "thought": "Looking.",
            "action": "ls\n",
            "observation": "a.py\n",
            "state": '{"open_file": "n/a", "working_dir": "/repo"}',
        },
        {"thought": "", "action": "cd src", "observation": "", "state": {"working_dir": "/repo/src"}},
        {"thought": "Nothing to run.", "action": "", "observation": "?"},
        {"action": "submit", "observation": None, "state": "no json"},
    ],
}


def test_steps_are_commands_of_a_shell() -> None:
    assert records(STEPS) == [
        Start(replace(RUN, name="main")),
        Message("user", "Mend it."),
        Message("agent", "Looking."),
        Call("step1", "bash", {"command": "ls"}),
        Result("step1", "unknown", "a.py\n", cwd="/repo"),
        Call("step2", "bash", {"command": "cd src"}),
        Result("step2", "unknown", "", cwd="/repo/src"),
        Message("agent", "Nothing to run."),
        Call("step4", "bash", {"command": "submit"}),
        Result("step4", "unknown", None),
    ]


def test_a_history_alone_shows_the_steps_too() -> None:
    history = [message | {"agent": "main"} for message in STEPS["history"]]
    assert records({"history": history, "info": {}}) == [
        Start(RUN),
        Message("user", "Mend it."),
        Call("step1", "bash", {"command": "ls"}),
        Result("step1", "unknown", "a.py"),
    ]


def mini(*messages: dict[str, Any]) -> dict[str, Any]:
    task = [{"role": "system", "content": "Setting."}, {"role": "user", "content": "Mend it."}]
    return {"trajectory_format": "mini-swe-agent-1", "info": {"mini_version": "1.9"}, "messages": [*task, *messages]}


START = [Start(replace(RUN, source="1.9")), Message("user", "Mend it.")]


def test_a_fenced_command_with_its_return_code() -> None:
    said = "THOUGHT: look\n\n```bash\ngrep -n x a.py\n```"
    document = mini(
        {"role": "assistant", "content": said},
        {"role": "user", "content": "<returncode>1</returncode>\n<output>\n</output>"},
        {"role": "assistant", "content": "```bash\nls\n```\n```bash\npwd\n```"},
        {"role": "user", "content": "Please give one command."},
        {"role": "assistant", "content": "```mswea_bash_command\nls\n```"},
        {"role": "user", "content": "<returncode>0</returncode>\na.py\n"},
        {"role": "assistant", "content": "```sh\nsubmit\n```"},
        {"role": "user", "content": "Submitted."},
    )
    assert records(document) == [
        *START,
        Message("agent", said),
        Call("bash", "bash", {"command": "grep -n x a.py"}),
        Result("bash", "error", "", exit_code=1),
        Message("agent", "```bash\nls\n```\n```bash\npwd\n```"),
        Message("agent", "```mswea_bash_command\nls\n```"),
        Call("bash#2", "bash", {"command": "ls"}),
        Result("bash#2", "ok", "a.py", exit_code=0),
        Message("agent", "```sh\nsubmit\n```"),
        Call("bash#3", "bash", {"command": "submit"}),
    ]


def test_commands_beside_the_text_or_as_tool_calls() -> None:
    calls = [{"id": i, "function": {"name": "bash", "arguments": '{"command": "ls"}'}} for i in ("a", "b")]
    document = mini(
        {"role": "assistant", "content": None, "extra": {"actions": [{"command": "ls"}, {"command": "pwd"}]}},
        {"role": "user", "content": "a.py", "extra": {"returncode": 0}},
        {"role": "user", "content": "/repo", "extra": {"returncode": 0}},
        {"role": "assistant", "content": "", "tool_calls": calls},
        {"role": "tool", "tool_call_id": "b", "content": "<output>\nx</output>", "extra": {"returncode": 2}},
        {"role": "tool", "tool_call_id": "?", "content": "y"},
        {"role": "tool", "tool_call_id": "a", "content": "y"},
    )
    assert records(document) == [
        *START,
        Call("bash", "bash", {"command": "ls"}),
        Call("bash#2", "bash", {"command": "pwd"}),
        Result("bash", "ok", "a.py", exit_code=0),
        Result("bash#2", "ok", "/repo", exit_code=0),
        Call("a", "bash", {"command": "ls"}),
        Call("b", "bash", {"command": "ls"}),
        Result("b", "error", "x", exit_code=2),
        Result("a", "unknown", "y"),
    ]


@pytest.mark.parametrize(
    ("document", "wrong"),
    [
        ({"trajectory": "none"}, "`trajectory` must be a list"),
        ({"trajectory": [5]}, "a step must be an object"),
    ],
)
def test_what_cannot_be_read_is_a_fault(document: dict[str, Any], wrong: str) -> None:
    with pytest.raises(InputError, match=wrong):
        read_document(READER, document)


def test_other_formats_are_left_to_others() -> None:
    assert not detect([{"trajectory": [{"role": "user"}]}])
    assert not detect([{"messages": []}])
    assert not detect([{"history": [{"role": "user"}]}])
