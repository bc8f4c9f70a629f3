"""LangChain messages as programs dump them, and LangGraph's states, histories and checkpoints, which hold them.

`messages_to_dict`, `model_dump` and `dumpd` write one message in three ways. A graph's states are snapshots of one
thread: each repeats the messages before it, and the newest may come first. A message may be removed later, or replaced
under its id, as when a person edits a call before it is made. A stream of updates has what each node added.
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
_Snapshot = tuple[int, int, list[dict[str, Any]]]
"""When it was taken, how many messages it has, and the messages: the first two put snapshots in order."""
_OF_A_TEXT = frozenset({"type", "content", "id", "name"})


def detect(head: Sequence[dict[str, Any]]) -> bool:
    """Whether the first object is a message of LangChain's, or one of the states or checkpoints that hold them."""
    if not head:
        return False
    if _is_state(head[0]):
        return any(is_message(message) for line in head for message in _state(line))
    if _added(head[0]) is not None:
        return any(is_message(message) for line in head for message in _added(line) or ())
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
    return isinstance(message.get("content"), str | list) and {"type", "role"}.isdisjoint(message)


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
    """The messages of a state, of a snapshot of one, or of a checkpoint; none where it is none of them.

    What is no message stays in its place among them, so that it can be counted.
    """
    values = obj(line.get("values")) or _values(line) or line
    listed = values.get("messages")
    if isinstance(listed, list) and listed:
        return [obj(each) for each in listed]
    return [each for each in objects(obj(values.get("__start__")).get("messages")) if is_message(each)]


def _added(line: dict[str, Any]) -> list[dict[str, Any]] | None:
    """The messages that nodes of a graph added, by a line of its stream of updates; None where it is no such line."""
    found: list[dict[str, Any]] = []
    for name, added in line.items():
        if not name.startswith("__"):
            if added is not None and not isinstance(added, dict):
                return None
            found += objects(obj(added).get("messages"))
    return found


def _values(line: dict[str, Any]) -> dict[str, Any]:
    return obj((obj(line.get("checkpoint")) or line).get("channel_values"))


def read(lines: Lines, run: Run) -> Iterator[Record]:
    """One run for messages that stand alone, one for each state, and one for all snapshots of a thread."""
    loose: Conversation | None = None
    threads: dict[str, list[_Snapshot]] = {}
    without: list[list[dict[str, Any]]] = []
    updates: list[dict[str, Any]] = []
    for line in lines:
        if is_message(line) or _untold(line):
            if loose is None:
                yield Start(run)
                loose = Conversation(lines, (), once=True)
            yield from loose.read(message_of(line), _time(line))
            continue
        if not _is_state(line):
            added, others = _added(line), loose is not None or threads or without
            if added or (added is not None and not others):  # in a stream of updates some nodes add nothing
                lines.open()
                updates += added
            continue
        lines.open()
        messages = _state(line)
        about = obj(line.get("checkpoint")) or line
        time = moment(about.get("ts") or line.get("created_at")) or 0
        thread = string(obj(obj(line.get("config")).get("configurable")), "thread_id")
        if thread is None:
            if not without or not _continues(messages, without[-1]):
                without.append(messages)
            without[-1] = messages
        else:
            threads.setdefault(thread, []).append((time, len(messages), messages))
    for number, messages in enumerate(filter(None, (updates, *without)), 1):
        threads.setdefault("" if number == 1 else str(number), []).append((0, 0, messages))
    for thread, snapshots in threads.items():
        yield Start(replace(run, name=thread or None, source="LangGraph"))
        yield from _thread(lines, snapshots)
    if loose is None and not threads:
        yield Start(run)


def _continues(messages: list[dict[str, Any]], before: list[dict[str, Any]]) -> bool:
    """Whether a state is a later one of the same graph: it begins with the same messages, each with the id it got."""
    same = messages[: len(before)] == before
    return same and all(isinstance(message_of(each).get("id"), str) for each in before)


def _thread(lines: Lines, snapshots: list[_Snapshot]) -> Iterator[Record]:
    """The records of a thread; what is no message, or no longer the one that was read, is counted."""
    history, reading = History(), Conversation(lines, "messages", once=True)
    taken: list[tuple[dict[str, Any], bool]] = []
    by_id: dict[str, int] = {}
    for _, _, messages in sorted(snapshots, key=lambda each: each[:2]):
        whole = [message_of(message) for message in messages]
        for index in history.fresh(whole):
            message, known = whole[index], is_message(messages[index]) or "role" in whole[index]
            name = string(message, "id")
            at = len(taken) if name is None else by_id.setdefault(name, len(taken))
            if at == len(taken):
                taken.append((message, known))
            elif at == len(taken) - 1 and message.get("type") == "ai":  # nothing came of it before it was replaced
                taken[at] = message, known
            elif not _has_calls_of(taken[at][0], message):
                lines.count(understood=False)
    for message, known in taken:
        records = list(reading.read(message, _time(message)))
        lines.count(understood=known or bool(records))
        yield from records


def _has_calls_of(message: dict[str, Any], other: dict[str, Any]) -> bool:
    calls = objects(message.get("tool_calls"))
    return all(call in calls for call in objects(other.get("tool_calls")))


def _time(message: dict[str, Any]) -> int | None:
    return moment(message.get("timestamp") or message.get("created_at"))


def _is_state(line: dict[str, Any]) -> bool:
    return not {"values", "checkpoint", "channel_values", "messages"}.isdisjoint(line)


def _knows(line: dict[str, Any]) -> bool:
    return is_message(line) or _is_state(line)


READER = Reader("langchain", "LangChain messages, LangGraph states", detect, read, _knows, by_line=False)
