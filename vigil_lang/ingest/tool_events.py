"""Tool events: the plainest form of a run, for those who write their own recordings.

Either one run an object, ``{"id": …, "prompt": …, "events": [EVENT, …], "final_output": …}``, or one event a line,
where a line ``{"meta": {…}}`` begins a run. An event has

- ``tool`` (or ``name``): the tool's name; ``user_message`` and ``agent_message`` are messages, no calls;
- ``args`` (or ``arguments``, ``input``): an object; a text is the command of a terminal, else the argument `input`;
- ``status``: ``ok``, ``error``, ``unknown``, or ``denied`` for a call that never ran; without it the exit code says;
- ``output`` (or ``output_preview``, ``result``), ``error``, ``exit_code``, ``cwd``, ``time``, ``id``: optional.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from vigil_lang.ingest.arguments import decoded_arguments
from vigil_lang.ingest.content import error_text, integer, moment, output_text, present, quoted, string
from vigil_lang.ingest.message_parts import Pairing
from vigil_lang.ingest.reader import Reader
from vigil_lang.trace.record import Call, Message, Result, Start

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Literal

    from vigil_lang.ingest.lines import Lines
    from vigil_lang.trace import Run
    from vigil_lang.trace.event import Status
    from vigil_lang.trace.record import Record

_TERMINALS = frozenset({"terminal", "bash", "shell", "execute_bash", "run_shell_command"})
_MESSAGES: dict[str, Literal["user", "agent"]] = {"user_message": "user", "agent_message": "agent"}
_STATUSES: dict[str, Status] = {
    "ok": "ok",
    "success": "ok",
    "err": "error",
    "error": "error",
    "failed": "error",
    "failure": "error",
    "unknown": "unknown",
}
_NEVER_RAN = frozenset({"denied", "rejected", "cancelled", "not_executed"})
_PENDING = "pending"


def detect(head: Sequence[dict[str, Any]]) -> bool:
    """Whether the first object is a run, a run's `meta` or an event."""
    if not head:
        return False
    line = head[0]
    if isinstance(line.get("meta"), dict):
        return len(line) == 1
    events = line.get("events")
    if isinstance(events, list) and "messages" not in line:
        return all(isinstance(event, dict) and "tool" in event for event in events)
    return isinstance(line.get("tool"), str) and not {"args", "arguments", "input"}.isdisjoint(line)


def read(lines: Lines, run: Run) -> Iterator[Record]:
    """One run for each object with `events`, one for the events that stand alone after each `meta`."""
    alone: Pairing | None = None
    runs = 0
    for line in lines:
        if "events" in line:
            runs, alone = runs + 1, None
            yield from _whole(lines, line, _named(run, line, runs))
        elif isinstance(line.get("meta"), dict) and _tool(line) is None:
            runs, alone = runs + 1, Pairing()
            yield Start(_named(run, line["meta"], runs))
        else:
            if alone is None:
                runs, alone = runs + 1, Pairing()
                yield Start(_named(run, {}, runs))
            yield from _event(lines, line, alone, "tool")
    if not runs:
        yield Start(run)


READER = Reader("tool-events", "tool events", detect, read)


def _named(run: Run, members: dict[str, Any], ordinal: int) -> Run:
    """The run as its object or `meta` describes it; from the second on, without a name, its ordinal."""
    name = present(members, "id", "run", "name")
    text = str(name) if isinstance(name, str | int) and not isinstance(name, bool) else None
    source = " ".join(t for key in ("harness", "pipeline", "model") if (t := string(members, key)))
    name = text or (str(ordinal) if ordinal > 1 else None)
    return replace(run, name=name, source=source or None, cwd=string(members, "cwd"))


def _whole(lines: Lines, line: dict[str, Any], run: Run) -> Iterator[Record]:
    """A run in one object. Its prompt is what the user said only where the events hold no messages of the user."""
    events = line["events"]
    if not isinstance(events, list) or not all(isinstance(event, dict) for event in events):
        raise lines.fault("`events` must be a list of objects", "events")
    yield Start(run)
    spoken = {_MESSAGES.get(_tool(event) or "") for event in events}
    prompt, final = string(line, "prompt"), string(line, "final_output")
    if prompt and "user" not in spoken:
        yield Message("user", prompt)
    calls = Pairing()
    for event in events:
        yield from _event(lines, event, calls, "events")
    if final and "agent" not in spoken:
        yield Message("agent", final)


def _tool(event: dict[str, Any]) -> str | None:
    return string(event, "tool", "name")


def _event(lines: Lines, event: dict[str, Any], calls: Pairing, at: str) -> Iterator[Record]:
    name = _tool(event)
    if name is None:
        raise lines.fault(f"an event has no `tool`: {quoted(event)}", at)
    given = present(event, "args", "arguments", "input")
    args = decoded_arguments(lines, given, at, "command" if name in _TERMINALS else "input")
    time = moment(present(event, "time", "timestamp"))
    output = output_text(present(event, "output", "output_preview", "result"))
    if name in _MESSAGES:
        text = string(args, "text") or output
        if text:
            yield Message(_MESSAGES[name], text, time)
        return
    stated = event.get("status")
    if not (stated is None or (isinstance(stated, str) and stated in _STATUSES.keys() | _NEVER_RAN | {_PENDING})):
        raise lines.fault(f"`status` must be one of `ok`, `error`, `unknown`, `denied`, not {quoted(stated)}", at)
    key = calls.call(_id(event), name)
    yield Call(key, name, args, time, cwd=string(event, "cwd"))
    code = integer(event.get("exit_code"))
    error = event.get("error")
    if stated == _PENDING or (stated is None and code is None and output is None and error is None):
        return
    assumed: Status = "unknown" if code is None and not error else "error" if code or error else "ok"
    status = _STATUSES.get(stated, "unknown") if stated else assumed
    yield Result(key, status, output or error_text(error) or output, stated not in _NEVER_RAN, code)


def _id(event: dict[str, Any]) -> str | None:
    given = present(event, "id", "call_id", "i")
    return str(given) if isinstance(given, str | int) and not isinstance(given, bool) else None
