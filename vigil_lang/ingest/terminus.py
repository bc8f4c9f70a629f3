"""Chats of terminus agents: an answer is JSON with keystrokes for a terminal, the next prompt is its screen.

The screen is one for all commands of a turn, so it is the last one's output; no status is known.
"""

from __future__ import annotations

import json
import re
from decimal import Decimal
from itertools import islice
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from vigil_lang.ingest.arguments import arguments_of
from vigil_lang.ingest.calls import Calls
from vigil_lang.ingest.content import joined, objects, string
from vigil_lang.ingest.reader import Reader
from vigil_lang.trace.record import Call, Message, Result, Start

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vigil_lang.ingest.lines import Lines
    from vigil_lang.trace import Run
    from vigil_lang.trace.record import Record

TERMINAL = "terminal"
SKILL = "load_skill"

_MAX_ANSWERS = 20
"""Answers among which one is looked for that tells the format."""

_MAX_STARTS = 20
"""Braces of an answer at which its JSON is looked for."""
_ENDINGS = ("", "}", "]}", "}]}", '"}]}')
"""What an answer cut short may lack."""
_SCREEN = re.compile(r"\A(?:New Terminal Output|Current Terminal Screen|Current terminal state):\n")
_MEMBERS = {"analysis", "plan", "task_complete"}
_REFUSED = "Previous response had parsing errors:"
_LOADED = "Loaded skill:"
_TASK = re.compile(r"(?:\A|\n)Task Description:\n(.*?)(?:\nCurrent terminal state:|\Z)", re.DOTALL)


def detect(head: Sequence[dict[str, Any]]) -> bool:
    """Whether the first objects are episodes, or the first one's first answer holds keystrokes."""
    if not head:
        return False
    if all("response" in value and "prompt" in value and "episode" in value for value in head):
        return True
    answers = (m for m in objects(head[0].get("messages")) if m.get("role") == "assistant")
    return any(_decoded(joined(answer.get("content")) or "") is not None for answer in islice(answers, _MAX_ANSWERS))


def read(lines: Lines, run: Run) -> Iterator[Record]:
    """The keystrokes, screens and messages of every chat; episodes are one."""
    chat: _Chat | None = None
    for value in lines:
        if chat is None or "messages" in value:
            chat = _Chat(lines)
            source = string(value, "harness") or "terminus"
            yield Start(replace(run, source=source))
        if "messages" in value:
            for n, message in enumerate(objects(value["messages"])):
                text = joined(message.get("content")) or ""
                if message.get("role") == "assistant":
                    yield from chat.answer(text, ("messages", n))
                elif message.get("role") == "user":
                    yield from chat.prompt(text)
        else:
            yield from chat.prompt(string(value, "prompt") or "")
            yield from chat.answer(string(value, "response") or "", ("response",))
    if chat is None:
        yield Start(run)


READER = Reader("terminus", "terminus chat", detect, read, by_line=False)


class _Chat:
    """One conversation: prompts and answers in turn."""

    def __init__(self, lines: Lines) -> None:
        self.lines = lines
        self.calls = Calls()
        self.asked = False
        self.waiting: list[Call] = []

    def prompt(self, text: str) -> Iterator[Record]:
        """The task, or what came of the calls of the last answer."""
        if not self.asked:
            self.asked = True
            task = _TASK.search(text)
            text = (task[1] if task else text).strip()
            if text:
                yield Message("user", text)
            return
        ran = not text.startswith(_REFUSED)
        for call in self.waiting[:-1]:
            yield Result(call.key, executed=ran)
        for last in self.waiting[-1:]:
            loaded = last.name == SKILL and text.startswith(_LOADED)
            yield Result(last.key, "ok" if loaded else "unknown", _SCREEN.sub("", text, count=1), ran)
        self.waiting = []

    def answer(self, text: str, place: tuple[str | int, ...]) -> Iterator[Record]:
        """What the agent said, and its calls. Only the first JSON object of an answer counts."""
        value = _decoded(text)
        said = text if value is None else "\n".join(t for key in ("analysis", "plan") if (t := string(value, key)))
        if said.strip():
            yield Message("agent", said)
        self.waiting = []
        if value is None:
            return
        if isinstance(value.get(SKILL), str):
            calls = [Call("", SKILL, {"skill": value[SKILL]})]
        else:
            calls = [
                Call("", TERMINAL, arguments_of(self.lines, command, place))
                for command in objects(value.get("commands"))
                if isinstance(command.get("keystrokes"), str)
            ]
        for call in calls:
            self.waiting.append(call)
            yield from self.calls.issue(None, call)


def _decoded(text: str) -> dict[str, Any] | None:
    """The first JSON object of an answer that is one of an agent, though it may be fenced or lack its end."""
    at = -1
    for _ in range(_MAX_STARTS):
        at = text.find("{", at + 1)
        if at < 0:
            return None
        for ending in _ENDINGS:
            try:
                value, _end = _DECODER.raw_decode(text[at:].rstrip() + ending if ending else text, 0 if ending else at)
            except (ValueError, ArithmeticError, RecursionError):  # an exponent of twenty digits among them
                continue
            if isinstance(value, dict) and _is_answer(value):
                return value
            break
    return None


def _is_answer(value: dict[str, Any]) -> bool:
    commands = value.get("commands")
    if not isinstance(commands, list):
        return isinstance(value.get(SKILL), str)
    typed = any(isinstance(command, dict) and "keystrokes" in command for command in commands)
    return typed or (not commands and not _MEMBERS.isdisjoint(value))


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON")


# Models write line breaks into strings, which JSON forbids.
_DECODER = json.JSONDecoder(strict=False, parse_float=Decimal, parse_constant=_refuse)
