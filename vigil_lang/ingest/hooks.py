"""Logs of what harnesses tell their hooks, one payload a line: Claude Code, Codex, Gemini CLI, Copilot CLI, Cursor."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from vigil_lang.ingest import hook_payloads
from vigil_lang.ingest.arguments import decoded_arguments
from vigil_lang.ingest.calls import Calls
from vigil_lang.ingest.content import string
from vigil_lang.ingest.hook_payloads import AFTER, BEFORE, event_of
from vigil_lang.ingest.json_text import encode
from vigil_lang.ingest.reader import Reader
from vigil_lang.trace.record import Start

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vigil_lang.ingest.lines import Lines
    from vigil_lang.trace import Run
    from vigil_lang.trace.record import Record


def detect(head: Sequence[dict[str, Any]]) -> bool:
    """Whether every one of the first objects is a payload."""
    return bool(head) and all(event_of(payload) for payload in head)


@dataclass(slots=True)
class _Log:
    run: Run
    calls: Calls = field(default_factory=Calls)
    waiting: dict[bytes, deque[str]] = field(default_factory=dict)
    """Made-up ids of calls that have none, by session, tool and arguments."""
    made: int = 0


def read(lines: Lines, run: Run) -> Iterator[Record]:
    """The calls, results and messages that a log tells of. A call without a result may have been refused."""
    yield Start(run)
    found = _Log(run)
    for payload in lines:
        event = event_of(payload)
        if found.run.name is None or found.run.cwd is None:
            before = found.run
            name, cwd = hook_payloads.run_of(payload), hook_payloads.directory_of(payload)
            found.run = replace(before, name=before.name or name, cwd=before.cwd or cwd)
            if found.run != before:
                yield Start(found.run, again=True)
        if event in BEFORE:
            yield from _call(lines, found, payload)
        elif event in AFTER:
            yield from _ended(lines, found, payload)
        elif event == "PermissionDenied":
            given = _given(found, payload, ends=True)
            if given and found.calls.knows(given):
                yield from found.calls.settle(given, hook_payloads.refusal_of(payload))
        elif event == "PostToolBatch":
            for call, result in hook_payloads.batch_of(payload):
                if found.calls.knows(call.key) and found.calls.so_far(call.key) is None:
                    yield from found.calls.settle(call.key, result)
        elif message := hook_payloads.message_of(payload):
            yield message


READER = Reader("hooks", "log of hook payloads", detect, read)


def _call(lines: Lines, found: _Log, payload: dict[str, Any], given: str | None = None) -> Iterator[Record]:
    given = given or _given(found, payload)
    if found.calls.knows(given):
        return
    call = hook_payloads.call_of(payload)
    call.args = decoded_arguments(lines, call.args, "tool_input")
    yield from found.calls.issue(given, call)


def _ended(lines: Lines, found: _Log, payload: dict[str, Any]) -> Iterator[Record]:
    given = _given(found, payload, ends=True)
    if not found.calls.knows(given):
        # Only what came after calls was logged.
        yield from _call(lines, found, payload, given)
    yield from found.calls.settle(given, hook_payloads.result_of(payload, found.run.cwd))


def _given(found: _Log, payload: dict[str, Any], *, ends: bool = False) -> str:
    """The id of a call; where a harness gives none, calls of the same tool with the same arguments end in order."""
    given = string(payload, "tool_use_id")
    if given:
        return given
    call = hook_payloads.call_of(payload)
    gist = [hook_payloads.run_of(payload), call.name.lower(), call.args]
    waiting = found.waiting.setdefault(encode(gist), deque())
    if ends and waiting:
        return waiting.popleft()
    found.made += 1
    made = f"call-{found.made}"
    if not ends:
        waiting.append(made)
    return made
