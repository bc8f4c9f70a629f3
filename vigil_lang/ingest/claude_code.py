"""Claude Code transcripts: what `claude -p --output-format stream-json` prints, and the session files.

Both hold one JSON object a line, with the calls in `assistant` lines and their results in `user` lines; lines
of other types are skipped. A call becomes an event where it was issued, sub-agents' calls included.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from vigil_lang.ingest.claude_code_results import Result, result_of
from vigil_lang.ingest.lines import Lines, shown
from vigil_lang.ingest.reader import Reader
from vigil_lang.trace import Event, Run, Trace
from vigil_lang.trace.values import flatten, parse_time

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_SPEAKERS = ("assistant", "user")
_SESSION_FILE = {"sessionId", "parentUuid", "leafUuid"}


def detect(head: Sequence[dict[str, Any]]) -> bool:
    """Whether some of the first lines is a message or session record of Claude Code."""
    return any(_is_own(line) for line in head)


def _is_own(line: dict[str, Any]) -> bool:
    kind = line.get("type")
    if kind in _SPEAKERS:
        return isinstance(line.get("message"), dict)
    if kind == "system":
        return "subtype" in line and not {"session_id", "sessionId"}.isdisjoint(line)
    return isinstance(kind, str) and not _SESSION_FILE.isdisjoint(line)


@dataclass(slots=True)
class _Call:
    """A tool use as it was issued."""

    session: str
    id: str
    name: str
    args: dict[str, tuple[str, ...]]
    time: int | None
    parent: str | None
    nested: bool
    result: Result | None = None

    @property
    def key(self) -> tuple[str, str]:
        """What a result names its call by: an id alone may occur in two sessions of one file."""
        return self.session, self.id


@dataclass(slots=True)
class _Recording:
    """What has been read so far."""

    run: Run
    session: str = ""
    calls: list[_Call] = field(default_factory=list)
    written: set[tuple[str | None, ...]] = field(default_factory=set)
    """Calls by the line and by the message they stand in: files may repeat both, under a new session or line id."""
    waiting: dict[tuple[str, str], list[_Call]] = field(default_factory=dict)
    """Calls without a result, by key: more than one where an id was used again."""
    early: dict[tuple[str, str], Result] = field(default_factory=dict)
    """Results that came before their call."""
    refused: set[tuple[str, str]] = field(default_factory=set)
    """Keys of calls that a `result` line lists as denied or deferred."""

    def add_call(self, call: _Call, line: str | None, message: str | None) -> None:
        identities = {(*call.key, message), (call.id, line)} if line else {(*call.key, message)}
        if self.written.isdisjoint(identities):
            self.calls.append(call)
            call.result = self.early.pop(call.key, None)
            waiting = self.waiting.setdefault(call.key, [])
            if call.result is None:
                waiting.append(call)
        self.written |= identities

    def add_result(self, session: str, call_id: str, result: Result) -> None:
        """The latest waiting call takes it; where none is waiting any more, it is a repeated line."""
        waiting = self.waiting.get((session, call_id))
        if waiting:
            waiting.pop().result = result
        elif waiting is None:
            self.early.setdefault((session, call_id), result)

    def settle(self) -> None:
        """A result of a session that never issued its call belongs to one under that id elsewhere: it resumed."""
        by_id: dict[str, list[_Call]] = {}
        for waiting in self.waiting.values():
            for call in waiting:
                by_id.setdefault(call.id, []).append(call)
        for (_, call_id), result in self.early.items():
            if by_id.get(call_id):
                by_id[call_id].pop().result = result

    def executed(self, call: _Call) -> bool:
        if call.key in self.refused and (call.result is None or call.result.error):
            return False
        return call.result is None or call.result.executed


def read(lines: Lines, run: Run) -> Trace:
    """The trace of a transcript; calls that never ran are left out and counted."""
    found = _Recording(run)
    for line in lines:
        session = line.get("session_id") or line.get("sessionId") or found.session
        found.session = session if isinstance(session, str) else found.session
        match line.get("type"):
            case "assistant":
                for block in _blocks(lines, line, "tool_use"):
                    call = _call(lines, line, block, found.session)
                    found.add_call(call, _optional(line, "uuid"), _optional(line["message"], "id"))
            case "user":
                for block in _blocks(lines, line, "tool_result"):
                    call_id = _string(lines, block, "tool_use_id")
                    found.add_result(found.session, call_id, result_of(line, block))
            case "result":
                found.refused.update((found.session, call_id) for call_id in _refused(line))
        _learn(found, line)
    found.settle()
    kept = [call for call in found.calls if found.executed(call)]
    return Trace(tuple(_events(kept)), replace(found.run, not_executed=len(found.calls) - len(kept)))


READER = Reader("claude-code", "Claude Code transcript", detect, read)


def _learn(found: _Recording, line: dict[str, Any]) -> None:
    """The first session id, version and working directory a line mentions describe the run."""
    run = found.run
    if run.name is None and found.session:
        found.run = run = replace(run, name=found.session)
    version = line.get("claude_code_version") or line.get("version")
    if run.source is None and isinstance(version, str):
        found.run = run = replace(run, source=f"Claude Code {version}")
    cwd = line.get("cwd")
    if run.cwd is None and isinstance(cwd, str):
        found.run = replace(run, cwd=cwd)


def _blocks(lines: Lines, line: dict[str, Any], kind: str) -> Iterator[dict[str, Any]]:
    message = line.get("message")
    if not isinstance(message, dict):
        raise lines.fault("`message` must be an object", "message")
    content = message.get("content")
    if isinstance(content, list):
        yield from (block for block in content if isinstance(block, dict) and block.get("type") == kind)


def _call(lines: Lines, line: dict[str, Any], block: dict[str, Any], session: str) -> _Call:
    given = block.get("input")
    # Arguments that are no object, as of a call cut short, are kept under the name they have in the file.
    args = given if isinstance(given, dict) else {"input": given}
    try:
        flat = flatten(args)
    except ValueError as error:
        raise lines.fault(str(error), "message") from error
    parent = _optional(line, "parent_tool_use_id")
    return _Call(
        session,
        _string(lines, block, "id"),
        _string(lines, block, "name"),
        flat,
        parse_time(line.get("timestamp")),
        parent or _optional(line, "agentId"),
        parent is not None or line.get("isSidechain") is True,
    )


def _string(lines: Lines, block: dict[str, Any], key: str) -> str:
    value = block.get(key)
    if isinstance(value, str):
        return value
    wrong = "is missing" if value is None else f"must be a string, not {shown(value)}"
    raise lines.fault(f"`{key}` of a `{block['type']}` block {wrong}", "message")


def _optional(members: dict[str, Any], key: str) -> str | None:
    value = members.get(key)
    return value if isinstance(value, str) else None


def _refused(line: dict[str, Any]) -> Iterator[str]:
    denials = line.get("permission_denials")
    for refused in [*(denials if isinstance(denials, list) else ()), line.get("deferred_tool_use")]:
        if isinstance(refused, dict):
            call_id = refused.get("tool_use_id") or refused.get("id")
            if isinstance(call_id, str):
                yield call_id


def _events(calls: list[_Call]) -> Iterator[Event]:
    """Events e1, e2, …; a call id that is used again gets a number, also as a sub-agent's `parent`."""
    used: Counter[str] = Counter()
    names: dict[tuple[str, str], str] = {}
    for ordinal, call in enumerate(calls, 1):
        used[call.id] += 1
        name = call.id if used[call.id] == 1 else f"{call.id}#{used[call.id]}"
        names[call.key] = name
        parent = names.get((call.session, call.parent), call.parent) if call.parent else None
        result = call.result
        yield Event(
            f"e{ordinal}",
            call.name,
            name,
            call.args,
            "unknown" if result is None else "error" if result.error else "ok",
            None if result is None else result.output,
            time=call.time,
            extra={"parent": parent} if call.nested else {},
        )
