"""Gemini CLI chats: JSON Lines with a message a line, written anew when it grows, or one JSON document with all."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from vigil_lang.ingest.arguments import arguments_of
from vigil_lang.ingest.calls import Calls
from vigil_lang.ingest.content import moment, objects, string
from vigil_lang.ingest.gemini_outputs import response_text, result_of
from vigil_lang.ingest.reader import Reader
from vigil_lang.trace.record import Call, Message, Start

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vigil_lang.ingest.lines import Lines
    from vigil_lang.trace import Run, Status
    from vigil_lang.trace.record import Record

_HEADER = {"sessionId", "projectHash"}
_SPEAKERS = ("user", "gemini")
_STATUS: dict[Any, Status] = {"success": "ok", "error": "error"}
_OVER = frozenset({"success", "error", "cancelled"})
_SUB_AGENT = "subagent"
_HARNESS = re.compile(
    r"\s*(?:<session_context>|<state_snapshot>|This is the Gemini CLI\. We are setting up the context)"
)


def detect(head: Sequence[dict[str, Any]]) -> bool:
    """Whether some of the first lines is a chat's header or a message of the model."""
    return any(
        (line.keys() >= _HEADER and "type" not in line)
        or (line.get("type") == "gemini" and not {"content", "toolCalls"}.isdisjoint(line))
        for line in head
    )


def _knows(line: dict[str, Any]) -> bool:
    """Whether a line is a header, a message of whatever type, or a change of one of them."""
    return line.keys() >= _HEADER or "$set" in line or (isinstance(line.get("type"), str) and "timestamp" in line)


@dataclass(slots=True)
class _Chat:
    run: Run
    calls: Calls = field(default_factory=Calls)
    said: set[str] = field(default_factory=set)
    """Ids of the messages whose text was read."""
    done: dict[str, str] = field(default_factory=dict)
    """The status of each call read, by id."""
    parent: str | None = None


def read(lines: Lines, run: Run) -> Iterator[Record]:
    """The calls, results and messages of a chat. What was taken back by a rewind did happen, and stays."""
    yield Start(run)
    found = _Chat(run)
    for line in lines:
        if line.keys() >= _HEADER or "$set" in line:
            header = line["$set"] if isinstance(line.get("$set"), dict) else line
            before = found.run
            _learn(found, header)
            if found.run != before:
                yield Start(found.run, again=True)
            if not found.said and not found.done:
                for n, message in enumerate(objects(header.get("messages"))):
                    yield from _message(lines, found, message, ("messages", n))
        elif line.get("type") in _SPEAKERS:
            yield from _message(lines, found, line, ())


READER = Reader("gemini", "Gemini CLI chat", detect, read, _knows)


def _learn(found: _Chat, header: dict[str, Any]) -> None:
    name = string(header, "sessionId")
    if found.run.name is None and name:
        found.run = replace(found.run, name=name, source="Gemini CLI")
    if header.get("kind") == _SUB_AGENT:
        found.parent = _SUB_AGENT


def _message(lines: Lines, found: _Chat, message: dict[str, Any], place: tuple[str | int, ...]) -> Iterator[Record]:
    """What is new in a message: it is recorded again with every call that is added or ends."""
    given = string(message, "id")
    user = message.get("type") == "user"
    text = _text(message)
    if text and (given is None or given not in found.said) and not (user and found.parent):
        if given:
            found.said.add(given)
        if not user or not _HARNESS.match(text):
            yield Message("user" if user else "agent", text, moment(message.get("timestamp")), *_place(found))
    for n, call in enumerate(objects(message.get("toolCalls"))):
        yield from _call(lines, found, call, (*place, "toolCalls", n))


def _call(lines: Lines, found: _Chat, call: dict[str, Any], place: tuple[str | int, ...]) -> Iterator[Record]:
    given, name, status = string(call, "id"), string(call, "name") or "unknown", str(call.get("status"))
    if given is None or given not in found.done:
        args = arguments_of(lines, call.get("args"), place)
        yield from found.calls.issue(
            given or "", Call("", name, args, moment(call.get("timestamp")), None, *_place(found))
        )
    if given is None:
        return
    if found.done.get(given) != status and status in _OVER:
        text = response_text(call.get("result"))
        if text is None:
            text = string(call, "resultDisplay")
        result = result_of("", name, text, _STATUS.get(status, "unknown"), cancelled=status == "cancelled")
        yield from found.calls.settle(given, result)
    found.done[given] = status


def _text(message: dict[str, Any]) -> str:
    """What was said; of a user's message what was typed, without the files that were added to it."""
    content = message.get("displayContent") or message.get("content")
    if isinstance(content, str):
        return content
    return "".join(text for part in objects(content) if not part.get("thought") and (text := string(part, "text")))


def _place(found: _Chat) -> tuple[str, str | None]:
    return (found.parent or "", found.parent)
