"""LangChain messages as programs dump them, and LangGraph's states, histories and checkpoints, which hold them.

`messages_to_dict`, `model_dump` and `dumpd` write one message in three ways. A graph's states are snapshots of one
thread: each repeats the messages before it, and the newest may come first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from vigil_lang.ingest.content import moment, obj, objects, string
from vigil_lang.ingest.message_parts import Conversation, History
from vigil_lang.ingest.reader import Reader
from vigil_lang.trace.record import Start

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vigil_lang.ingest.lines import Lines
    from vigil_lang.trace import Run
    from vigil_lang.trace.record import Record

_KINDS = frozenset({"human", "ai", "system", "tool", "function", "developer", "remove", "chat"})
_OF_LANGCHAIN = frozenset({"additional_kwargs", "response_metadata"})
_OWN = frozenset({"human", "ai"})
"""Kinds that no other format has; dumps that leave out what is empty or unset tell LangChain's by them alone."""
_OF_A_TEXT = frozenset({"type", "content", "id", "name"})


def detect(head: Sequence[dict[str, Any]]) -> bool:
    """Whether the first object is a message of LangChain's, or one of the states or checkpoints that hold them."""
    if not head:
        return False
    if _is_state(head[0]):
        return any(map(_state, head))
    return is_message(head[0]) or (_untold(head[0]) and any(map(_kind_by_members, head)))


def is_message(value: Any) -> bool:
    """Whether this is a message as LangChain writes one, in any of its three ways."""
    members = obj(value)
    kind = string(members, "type") or ""
    if members.get("lc") == 1 and kind == "constructor":
        return "content" in obj(members.get("kwargs"))
    if isinstance(members.get("data"), dict):
        return _kind(kind) in _KINDS and "content" in members["data"]
    if "content" not in members or _kind(kind) not in _KINDS:
        return _kind_by_members(members) is not None
    if _kind(kind) in _OWN or not _OF_LANGCHAIN.isdisjoint(members):
        return True
    return "tool_call_id" in members if kind == "tool" else kind == "system" and _OF_A_TEXT.issuperset(members)


def _untold(message: dict[str, Any]) -> bool:
    """Whether this may be a message dumped with `exclude_unset` or `exclude_defaults`, which leave its kind out."""
    return "content" in message and {"type", "role"}.isdisjoint(message)


def _kind_by_members(message: dict[str, Any]) -> str | None:
    """The kind of a message that does not tell it, where only one kind has such members; a text may be anybody's."""
    if not _untold(message):
        return None
    if "usage_metadata" in message or any("args" in call for call in objects(message.get("tool_calls"))):
        return "ai"
    return "tool" if isinstance(message.get("tool_call_id"), str) else None


def message_of(item: dict[str, Any]) -> dict[str, Any]:
    """A message out of what wraps it, with the kind of message as its `type`; one that was serialised is named for
    its class."""
    members = obj(item.get("kwargs")) or obj(item.get("data")) or item
    names = item.get("id")
    if members is not item and "type" not in members and isinstance(names, list) and names:
        return members | {"type": _kind(str(names[-1]))}
    kind = string(members, "type") or string(item, "type") or _kind_by_members(members)
    return members if kind is None and "role" in members else members | {"type": kind and _kind(kind)}


def _kind(name: str) -> str:
    """`AIMessageChunk` is an `ai`."""
    return name.removesuffix("Chunk").removesuffix("Message").lower() if name.endswith(("Message", "Chunk")) else name


def _state(line: dict[str, Any]) -> list[dict[str, Any]]:
    """The messages of a state, of a snapshot of one, or of a checkpoint; none where it is none of them."""
    values = obj(line.get("values")) or _values(line) or line
    for channel in (values, obj(values.get("__start__"))):
        found = [each for each in objects(channel.get("messages")) if is_message(each)]
        if found:
            return found
    return []


def _values(line: dict[str, Any]) -> dict[str, Any]:
    return obj((obj(line.get("checkpoint")) or line).get("channel_values"))


def read(lines: Lines, run: Run) -> Iterator[Record]:
    """One run for messages that stand alone, one for each state, and one for all snapshots of a thread."""
    loose: Conversation | None = None
    threads: dict[str, list[tuple[int, int, list[dict[str, Any]]]]] = {}
    states = 0
    for line in lines:
        if is_message(line) or _untold(line):
            if loose is None:
                yield Start(run)
                loose = Conversation(lines, (), once=True)
            yield from loose.read(message_of(line), _time(line))
            continue
        config = obj(obj(line.get("config")).get("configurable"))
        about = obj(line.get("checkpoint")) or line
        states += not config
        thread = string(config, "thread_id") or ("" if states == 1 else str(states))
        time = moment(about.get("ts") or line.get("created_at")) or 0
        lines.told = _is_state(line)
        threads.setdefault(thread, []).append((time, len(_state(line)), _state(line)))
    for thread, snapshots in threads.items():
        yield Start(replace(run, name=thread or None, source="LangGraph"))
        reading, history = Conversation(lines, "messages", once=True), History()
        for _, _, messages in sorted(snapshots, key=lambda each: each[:2]):
            whole = [message_of(message) for message in messages]
            for index in history.fresh(whole):
                yield from reading.read(whole[index], _time(whole[index]))
    if loose is None and not threads:
        yield Start(run)


def _time(message: dict[str, Any]) -> int | None:
    return moment(message.get("timestamp") or message.get("created_at"))


def _is_state(line: dict[str, Any]) -> bool:
    return not {"values", "checkpoint", "channel_values", "messages"}.isdisjoint(line)


def _knows(line: dict[str, Any]) -> bool:
    return is_message(line) or _is_state(line)


READER = Reader("langchain", "LangChain messages, LangGraph states", detect, read, _knows, by_line=False)
