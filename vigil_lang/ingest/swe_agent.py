"""SWE-agent trajectories: the commands of a run with what the terminal showed, one JSON document a run.

Where the history shows which tools the model called, those are the calls; else the actions are calls of `bash`. No
exit status is kept. The successor, mini-SWE-agent, writes messages: a command is fenced in one of the agent's, and
the message after it states the return code.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from vigil_lang.ingest.content import integer, joined, obj, objects, parsed, quoted, string
from vigil_lang.ingest.message_parts import Conversation
from vigil_lang.ingest.reader import Reader
from vigil_lang.trace.record import Call, Message, Result, Start

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vigil_lang.ingest.lines import Lines
    from vigil_lang.trace import Run
    from vigil_lang.trace.record import Record

_SHELL = "bash"
_FENCES = frozenset({"bash", "sh", "mswea_bash_command"})
_CODE = re.compile(r"\s*<returncode>(-?[0-9]{1,9})</returncode>")


def detect(head: Sequence[dict[str, Any]]) -> bool:
    """Whether the first object is a trajectory."""
    if not head:
        return False
    steps = head[0].get("trajectory")
    if isinstance(steps, list):
        return all("action" in obj(step) for step in steps)
    history = objects(head[0].get("history"))
    if history:
        return all("role" in message and "agent" in message for message in history)
    return "trajectory_format" in head[0] and isinstance(head[0].get("messages"), list)


def read(lines: Lines, run: Run) -> Iterator[Record]:
    """One run an object."""
    runs = 0
    for line in lines:
        runs += 1
        info = obj(line.get("info"))
        name = string(line, "instance_id", "environment") or string(info, "instance_id")
        yield Start(replace(run, name=name, source=string(info, "swe_agent_version", "mini_version")))
        history = objects(line.get("history"))
        if any(message.get("tool_calls") and not message.get("is_demo") for message in history):
            yield from _history(lines, history, objects(line.get("trajectory")))
        elif isinstance(line.get("trajectory"), list):
            yield from _steps(lines, line["trajectory"], history)
        elif isinstance(line.get("messages"), list):
            yield from _messages(lines, objects(line["messages"]))
        elif history:
            yield from _steps(lines, _recovered(history), history)
        else:
            raise lines.fault("`trajectory` must be a list", "trajectory")
    if not runs:
        yield Start(run)


READER = Reader("swe-agent", "SWE-agent trajectory", detect, read, by_line=False)


def _history(lines: Lines, history: list[dict[str, Any]], steps: list[dict[str, Any]]) -> Iterator[Record]:
    """The conversation with the model, without demonstrations and what the harness says in the user's name later."""
    reading = Conversation(lines, "history")
    answers = [message for message in history if message.get("role") == "tool" and not message.get("is_demo")]
    # Only where each step has its answer is it known after which answer the shell was where.
    after = iter([_directory(step.get("state")) for step in steps] if len(steps) == len(answers) else [])
    begun = False
    for message in history:
        role = message.get("role")
        if message.get("is_demo") or (role == "user" and begun):
            continue
        begun = begun or role == "assistant"
        ids = message.get("tool_call_ids")
        answered = {"tool_call_id": ids[0]} if isinstance(ids, list) and ids else {}
        cwd = next(after, None) if role == "tool" else None
        for record in reading.read(message | answered):
            yield replace(record, cwd=cwd) if isinstance(record, Result) else record


def _steps(lines: Lines, steps: list[Any], history: list[dict[str, Any]]) -> Iterator[Record]:
    """The task, then of each step what the agent thought aloud, its command and the observation."""
    for message in history:
        if message.get("role") == "assistant" and not message.get("is_demo"):
            break
        if message.get("role") == "user" and not message.get("is_demo") and (text := joined(message.get("content"))):
            yield Message("user", text)
    for ordinal, step in enumerate(steps, 1):
        if not isinstance(step, dict):
            raise lines.fault(f"a step must be an object, not {quoted(step)}", "trajectory")
        if text := string(step, "thought"):
            yield Message("agent", text)
        action = string(step, "action")
        if action and action.strip():
            yield Call(f"step{ordinal}", _SHELL, {"command": action.rstrip("\n")})
            yield Result(
                f"step{ordinal}", "unknown", joined(step.get("observation")), cwd=_directory(step.get("state"))
            )


def _recovered(history: list[dict[str, Any]]) -> list[Any]:
    """The steps of a history that has no trajectory beside it: an observation is the message after the action's."""
    after = [*history[1:], {}]
    return [
        message | {"observation": answer.get("content")}
        for message, answer in zip(history, after, strict=True)
        if message.get("role") == "assistant" and not message.get("is_demo")
    ]


def _directory(state: Any) -> str | None:
    """Where the shell is after a step: the state is an object or the JSON text of one."""
    return string(obj(parsed(state) if isinstance(state, str) else state), "working_dir")


def _messages(lines: Lines, messages: list[dict[str, Any]]) -> Iterator[Record]:
    """A run of mini-SWE-agent."""
    reading = Conversation(lines)
    begun = False
    waiting: list[str] = []
    for message in messages:
        role, extra = message.get("role"), obj(message.get("extra"))
        text = joined(message.get("content")) or ""
        if role == "assistant":
            begun, waiting = True, []
            for record in _turn(reading, message, text, objects(extra.get("actions"))):
                waiting += [record.key] if isinstance(record, Call) else []
                yield record
        elif not begun:
            yield from reading.read(message)
        elif waiting and (result := _observation(message, text, extra, waiting)):
            yield result


def _turn(
    reading: Conversation, message: dict[str, Any], text: str, actions: list[dict[str, Any]]
) -> Iterator[Message | Call]:
    if text:
        yield Message("agent", text)
    blocks = [block.split("\n", 1) for block in text.split("```")[1::2]]
    fenced = [block[1] for block in blocks if len(block) == 2 and block[0].strip() in _FENCES]
    if called := objects(message.get("tool_calls")):
        for entry in called:
            yield reading.call(entry)
    elif commands := [command for action in actions if (command := string(action, "command"))]:
        for command in commands:
            yield reading.call({"name": _SHELL, "arguments": {"command": command}})
    elif len(fenced) == 1:  # more or fewer than one are refused by the agent
        yield reading.call({"name": _SHELL, "arguments": {"command": fenced[0].rstrip("\n")}})


def _observation(message: dict[str, Any], text: str, extra: dict[str, Any], waiting: list[str]) -> Result | None:
    """The result of the call it names, or of the first one waiting; None for the agent's other messages."""
    stated = _CODE.match(text)
    code = int(stated[1]) if stated else integer(extra.get("returncode"))
    named = string(message, "tool_call_id")
    if (code is None and named is None) or (named is not None and named not in waiting):
        return None
    key = named or waiting[0]
    waiting.remove(key)
    shown_text = text[stated.end() :] if stated else text
    begin, end = shown_text.find("<output>"), shown_text.rfind("</output>")
    output = shown_text[begin + len("<output>") : end].lstrip("\n") if 0 <= begin < end else shown_text.strip()
    return Result(key, "unknown" if code is None else "error" if code else "ok", output, exit_code=code)
