"""LangChain messages as programs dump them, and LangGraph's states, histories and checkpoints, which hold them.

`messages_to_dict`, `model_dump` and `dumpd` write one message in three ways. A graph's states are snapshots of one
thread: each repeats the messages before it, and the newest may come first. A message may be removed later, or replaced
under its id, as when a person edits a call before it is made. A stream of updates has what each node added, one of
tasks what each node was given and what it made, one of debugging both.

What `HumanInTheLoopMiddleware` did with a call is told by members that a tool's output cannot have. A call that was
rejected, or that a person answered, was not made, and neither is one that still waits; of one that was edited the state
has what was made.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from vigil_lang.ingest.content import moment, obj, objects, string
from vigil_lang.ingest.message_parts import Conversation, History
from vigil_lang.ingest.reader import Reader
from vigil_lang.trace.record import Call, Result, Start

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vigil_lang.ingest.lines import Lines
    from vigil_lang.trace import Run
    from vigil_lang.trace.record import Record

_KINDS = frozenset({"human", "ai", "system", "tool", "function", "developer", "remove", "chat"})
_OF_LANGCHAIN = frozenset({"additional_kwargs", "response_metadata"})
_OWN = frozenset({"human", "ai"})
"""Kinds that no other format has; dumps that leave out what is empty or unset tell LangChain's by them alone."""
_EDITED = "hitl_edited_tool_calls"
"""The member of a state that has, by id, the calls that a person edited, as they were made."""
_DECIDES = frozenset({"hitl_interrupt_decision", "vigil"})
"""Who, by a message's `lc_source`, answers in the place of a tool."""
_NOT_MADE = frozenset({"reject", "respond"})
_MODES = frozenset({"values", "updates", "checkpoints", "tasks", "debug", "messages", "custom"})
_DEBUGGED = frozenset({"checkpoint", "task", "task_result"})
_OF_A_TEXT = frozenset({"type", "content", "id", "name"})


def detect(head: Sequence[dict[str, Any]]) -> bool:
    """Whether the first object is a message of LangChain's, or one of the states or checkpoints that hold them."""
    if not head:
        return False
    if _part(head[0]) is not None:
        return any(is_message(message) for line in map(_part, head) if line is not None for message in _held(line))
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
    """The messages of a state, of a snapshot of one, or of a checkpoint; none where it is none of them."""
    values = obj(line.get("values")) or _values(line) or line
    if listed := _listed(values):
        return listed
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


def _part(line: dict[str, Any]) -> dict[str, Any] | None:
    """What a line of a stream of tasks or of debugging is about, or of one whose lines name their mode; None else."""
    kind = string(line, "type")
    if "data" in line and isinstance(line.get("ns"), list) and kind in _MODES:
        inner = obj(line["data"])
        return _part(inner) or inner
    if {"step", "payload"} <= line.keys() and kind in _DEBUGGED:
        return obj(line["payload"])
    return line if _is_task(line) else None


def _is_task(line: dict[str, Any]) -> bool:
    """Whether a line says that a node begins (`triggers`), or what it made."""
    begins, ends = {"id", "name", "input", "triggers"}, {"id", "name", "result", "interrupts"}
    return begins <= line.keys() or ends <= line.keys()


def _listed(state: dict[str, Any]) -> list[dict[str, Any]]:
    """The messages of a state or an update. What is no message stays in its place, so that it can be counted."""
    listed = state.get("messages")
    return [obj(each) for each in listed] if isinstance(listed, list) else []


def _held(part: dict[str, Any]) -> list[dict[str, Any]]:
    """The messages of a part of a stream."""
    if _is_task(part):
        return _listed(_made(part)) + _listed(obj(part.get("input")))
    return _state(part) if _is_state(part) else _added(part) or []


def _made(task: dict[str, Any]) -> dict[str, Any]:
    """What a node made, by the names of a state; older versions write pairs."""
    result = task.get("result")
    if isinstance(result, list):
        return {str(pair[0]): pair[1] for pair in result if isinstance(pair, list) and len(pair) == 2}
    return obj(result)


@dataclass(slots=True)
class _Snapshot:
    """A state of a thread. Time and number of messages put snapshots in order."""

    messages: list[dict[str, Any]]
    time: int = 0
    size: int = 0
    edits: dict[str, Any] = field(default_factory=dict)
    """The calls that a person edited, by id, as they were made."""
    waits: list[dict[str, Any]] = field(default_factory=list)
    """What the graph waits for somebody to say."""

    def also(self, edits: dict[str, Any], waits: list[dict[str, Any]]) -> None:
        """A later line of the same run says this."""
        self.edits |= edits
        self.waits = waits


def _waits(line: dict[str, Any]) -> list[dict[str, Any]]:
    """What a graph waits for, as a line says: for somebody to approve of calls, for instance."""
    found = objects(line.get("__interrupt__")) + objects(line.get("interrupts"))
    found += objects(obj(line.get("values")).get("__interrupt__"))
    found += [each for task in objects(line.get("tasks")) for each in objects(task.get("interrupts"))]
    return [obj(each.get("value")) for each in found]


def _edits(*states: dict[str, Any]) -> dict[str, Any]:
    return {key: value for state in states for key, value in obj(state.get(_EDITED)).items()}


class _Tasks:
    """A stream of tasks: what nodes are given, and what they made of it, in order."""

    def __init__(self) -> None:
        self.parts: list[_Snapshot] = []
        self._made: list[dict[str, Any]] = []
        """Messages that a node made and that no later state has so far."""
        self._calls: dict[str, str] = {}
        """The one call that a task is to make, by the task's id."""
        self._last = _Snapshot([])

    def take(self, task: dict[str, Any]) -> None:
        """Read one line."""
        given, made, name = task.get("input"), _made(task), str(task.get("id"))
        if "input" in task:
            messages = _listed(obj(given))
            self.seen(messages)
            if messages:
                self._flush()
                self.parts.append(_Snapshot(messages))
            asked = given if isinstance(given, list) else [obj(given).get("tool_call")]
            ids = [string(each, "id") for each in objects(asked)]
            if len(ids) == 1 and ids[0] is not None:
                self._calls[name] = ids[0]
        self._made += _listed(made)
        error = task.get("error")
        if error and (call := self._calls.get(name)):
            self._made.append({"type": "tool", "tool_call_id": call, "status": "error", "content": str(error)})
        self._last.also(_edits(made, obj(given)), _waits(task))

    def seen(self, messages: list[dict[str, Any]]) -> None:
        """A state has these messages."""
        known = {_name(each) for each in messages}
        self._made = [each for each in self._made if _name(each) not in known]

    def rest(self) -> _Snapshot | None:
        """What was made after the last state, and what is to be known of calls; None where there is nothing."""
        if not (self._made or self.parts or self._last.edits or self._last.waits):
            return None
        return _Snapshot(self._made, edits=self._last.edits, waits=self._last.waits)

    def _flush(self) -> None:
        if self._made:
            self.parts.append(_Snapshot(self._made))
            self._made = []


def _name(message: dict[str, Any]) -> tuple[str, ...]:
    """What a message is known by: what it says, for a node's own message gets its id only in the state."""
    whole = message_of(message)
    return tuple(str(whole.get(name)) for name in ("type", "content", "tool_calls", "tool_call_id"))


class _Graphs:
    """What a recording has of the threads of graphs."""

    def __init__(self) -> None:
        self.tagged = False
        """Whether lines say which stream they are of: then all of them are of one run."""
        self.threads: dict[str, list[_Snapshot]] = {}
        self._without: list[_Snapshot] = []
        self._updates = _Snapshot([])
        self._tasks = _Tasks()
        self._last: list[_Snapshot] | None = None
        """The snapshots of the thread that the last state was of."""

    def take(self, line: dict[str, Any], *, others: bool) -> bool:
        """Read one line; whether it is of a graph. `others` says whether there are messages outside of one."""
        part = _part(line)
        inner = line if part is None else part
        self.tagged |= part is not None and "ns" in line
        if _is_task(inner):
            self._tasks.take(inner)
        elif _is_state(inner):
            self._state(inner)
        else:
            added = _added(inner)
            if not (added or part is not None or (added is not None and not (others or self.threads or self._without))):
                return False  # in a stream of updates some nodes add nothing
            self._updates.messages += added or ()
            self._updates.also(_edits(*(obj(each) for each in inner.values())), _waits(inner))
        return True

    def _state(self, line: dict[str, Any]) -> None:
        messages = _state(line)
        about = obj(line.get("checkpoint")) or line
        time = moment(about.get("ts") or line.get("created_at")) or 0
        edits, waits = _edits(line, obj(line.get("values")), _values(line)), _waits(line)
        snapshot = _Snapshot(messages, time, len(messages), edits, waits)
        self._tasks.seen(messages)
        thread = string(obj(obj(line.get("config")).get("configurable")), "thread_id")
        if thread is not None:
            self._last = self.threads.setdefault(thread, [])
            self._last.append(snapshot)
            return
        if not self._without or not _continues(messages, self._without[-1].messages):
            self._without.append(snapshot)
        self._without[-1].messages = messages
        self._without[-1].also(edits, waits)

    def all(self) -> dict[str, list[_Snapshot]]:
        """The snapshots of each thread by its name; of those without one there may be several."""
        found, runs = dict(self.threads), [[each] for each in self._without]
        rest = self._tasks.rest()
        if rest is not None and (found or runs):  # tasks tell what states tell, but for what came after the last one
            last = self._last if self._last is not None else runs[-1]
            rest.time = max(each.time for each in last) + 1
            last.append(rest)
        elif rest is not None:
            for at, each in enumerate((*self._tasks.parts, rest)):
                each.time = at
            runs = [[*self._tasks.parts, rest]]
        if self._updates.messages and not (self.tagged and (found or runs)):
            runs.insert(0, [self._updates])
        for number, snapshots in enumerate(runs, 1):
            found.setdefault("" if number == 1 else str(number), []).extend(snapshots)
        return found


def read(lines: Lines, run: Run) -> Iterator[Record]:
    """One run for messages that stand alone, one for each state, and one for all snapshots of a thread."""
    loose: Conversation | None = None
    graphs: dict[str, _Graphs] = {}
    for line in lines:
        if is_message(line) or _untold(line):
            if loose is None:
                yield Start(run)
                loose = Conversation(lines, (), once=True)
            yield from _read(loose, message_of(line))
            continue
        space = "/".join(map(str, line["ns"])) if _part(line) is not None and isinstance(line.get("ns"), list) else ""
        graph = graphs.setdefault(space, _Graphs())
        if graph.take(line, others=loose is not None):
            lines.open()
    threads = {
        f"{space}{'/' if space and name else ''}{name}": snapshots
        for space, graph in graphs.items()
        for name, snapshots in graph.all().items()
    }
    for thread, snapshots in threads.items():
        yield Start(replace(run, name=thread or None, source="LangGraph"))
        yield from _thread(lines, snapshots)
    if loose is None and not threads:
        yield Start(run)


def _read(conversation: Conversation, message: dict[str, Any]) -> Iterator[Record]:
    """The records of one message. What was said in the place of a tool is no result of it."""
    told = obj(message.get("additional_kwargs"))
    decision = string(obj(told.get("lc_data")), "decision") if string(told, "lc_source") in _DECIDES else None
    for record in conversation.read(message, _time(message)):
        if isinstance(record, Result) and decision in _NOT_MADE:
            record.executed = False
        yield record


def _continues(messages: list[dict[str, Any]], before: list[dict[str, Any]]) -> bool:
    """Whether a state is a later one of the same graph: it begins with the same messages, each with the id it got."""
    same = messages[: len(before)] == before
    return same and all(isinstance(message_of(each).get("id"), str) for each in before)


def _thread(lines: Lines, snapshots: list[_Snapshot]) -> Iterator[Record]:
    """The records of a thread; what is no message, or no longer the one that was read, is counted."""
    history, reading = History(), Conversation(lines, "messages", once=True)
    taken: list[tuple[dict[str, Any], bool]] = []
    by_id: dict[str, int] = {}
    ordered = sorted(snapshots, key=lambda each: (each.time, each.size))
    edits = {key: value for each in ordered for key, value in each.edits.items()}
    for snapshot in ordered:
        whole = [_edited(message_of(message), edits) for message in snapshot.messages]
        for index in history.fresh(whole):
            message, known = whole[index], is_message(snapshot.messages[index]) or "role" in whole[index]
            name = string(message, "id")
            at = len(taken) if name is None else by_id.setdefault(name, len(taken))
            if at == len(taken):
                taken.append((message, known))
            elif at == len(taken) - 1 and message.get("type") == "ai":  # nothing came of it before it was replaced
                taken[at] = message, known
            elif not _has_calls_of(taken[at][0], message):
                lines.count(understood=False)
    without_result: dict[str, Call] = {}
    for message, known in taken:
        records = list(_read(reading, message))
        lines.count(understood=known or bool(records))
        for record in records:
            if isinstance(record, Call):
                without_result[record.key] = record
            elif isinstance(record, Result):
                without_result.pop(record.key, None)
        yield from records
    for waits in ordered[-1].waits if ordered else ():
        yield from (Result(key, executed=False) for key, call in without_result.items() if _is_asked_about(call, waits))


def _edited(message: dict[str, Any], edits: dict[str, Any]) -> dict[str, Any]:
    """A message with the calls that a person edited as they were made."""
    calls = message.get("tool_calls")
    if not edits or not isinstance(calls, list):
        return message
    made = [
        each | {key: value for key, value in obj(edits.get(str(each.get("id")))).items() if key in ("name", "args")}
        if isinstance(each, dict)
        else each
        for each in calls
    ]
    return message | {"tool_calls": made}


def _is_asked_about(call: Call, waits: dict[str, Any]) -> bool:
    """Whether a person is yet to approve of a call."""
    if waits.get("type") == "tool_approval":
        return waits.get("tool_call_id") == call.key
    asked = objects(waits.get("action_requests"))
    return any(each.get("name") == call.name and each.get("args") == call.args for each in asked)


def _has_calls_of(message: dict[str, Any], other: dict[str, Any]) -> bool:
    calls = objects(message.get("tool_calls"))
    return all(call in calls for call in objects(other.get("tool_calls")))


def _time(message: dict[str, Any]) -> int | None:
    return moment(message.get("timestamp") or message.get("created_at"))


def _is_state(line: dict[str, Any]) -> bool:
    return not {"values", "checkpoint", "channel_values", "messages"}.isdisjoint(line)


def _knows(line: dict[str, Any]) -> bool:
    return is_message(line) or _is_state(line) or _part(line) is not None


READER = Reader("langchain", "LangChain messages, LangGraph states", detect, read, _knows, by_line=False)
