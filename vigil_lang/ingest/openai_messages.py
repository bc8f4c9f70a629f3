"""OpenAI Chat Completions: conversations, fine-tuning files, and the completions the API gave.

JSON Lines or a list of messages is one run; each object with `messages` is one of its own. The format states no
status: it is unknown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from vigil_lang.ingest import openai_responses
from vigil_lang.ingest.content import moment, objects, present, string
from vigil_lang.ingest.message_parts import Conversation, anthropic
from vigil_lang.ingest.reader import Reader
from vigil_lang.trace.record import Start

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vigil_lang.ingest.lines import Lines
    from vigil_lang.trace import Run
    from vigil_lang.trace.record import Record

_LISTS = ("messages", "traj", "conversation")
_ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
_OTHERS = frozenset({"suite_name", "trajectory_format", "epoch", "harness"})
_NAMES = ("id", "run_id", "conversation_id", "custom_id", "task_id")


def detect(head: Sequence[dict[str, Any]]) -> bool:
    """Whether the first object is a message, a completion or a conversation that is no other API's."""
    if not head or not is_chat(head[0]) or openai_responses.detect(head):
        return False
    return not any(anthropic(message) for line in head for message in messages_of(line) or ())


def is_chat(line: dict[str, Any]) -> bool:
    """Whether an object is a message or a conversation, and not one in the log of a benchmark or harness."""
    found = messages_of(line) if _OTHERS.isdisjoint(line) else None
    return bool(found) and all(string(message, "role") in _ROLES for message in found or ())


def messages_of(line: dict[str, Any]) -> list[dict[str, Any]] | None:
    """The messages of a whole conversation, a response or a lone message; None where it is none of them."""
    key = list_key(line)
    if key:
        return objects(line[key])
    if isinstance(line.get("choices"), list):
        return [choice["message"] for choice in objects(line["choices"])[:1] if isinstance(choice.get("message"), dict)]
    return [line] if isinstance(line.get("role"), str) else None


def list_key(line: dict[str, Any]) -> str | None:
    """The member that holds a whole conversation."""
    return next((key for key in _LISTS if isinstance(line.get(key), list)), None)


def read(lines: Lines, run: Run) -> Iterator[Record]:
    """One run for all messages that stand alone, one for each object that holds a conversation."""
    loose: Conversation | None = None
    runs = 0
    for line in lines:
        key = list_key(line)
        if key is None:
            messages = messages_of(line)
            if messages is None:
                raise lines.fault("neither a message nor an object with `messages`")
            if loose is None:
                runs += 1
                loose = Conversation(lines, ())
                yield Start(named(run, {"model": line.get("model")}, runs))
            time = moment(present(line, "created", "created_at", "timestamp"))
            for message in messages:
                yield from loose.read(message, time)
            continue
        runs += 1
        loose = None
        yield Start(named(run, line, runs))
        yield from conversation(Conversation(lines, key), line[key])
    if not runs:
        yield Start(run)


def conversation(reading: Conversation, messages: list[Any]) -> Iterator[Record]:
    """The records of a list of messages."""
    for message in messages:
        if not isinstance(message, dict):
            raise reading.lines.fault("a message must be an object", reading.at)
        time = moment(present(message, "timestamp", "created_at"))
        yield from reading.read(message, time)


def named(run: Run, line: dict[str, Any], ordinal: int) -> Run:
    """The run with the name its object has; from the second on, without one, its ordinal."""
    name = present(line, *_NAMES)
    text = str(name) if isinstance(name, str | int) and not isinstance(name, bool) else None
    return replace(run, name=text or (str(ordinal) if ordinal > 1 else None), source=string(line, "model"))


READER = Reader("openai-messages", "OpenAI messages", detect, read)
