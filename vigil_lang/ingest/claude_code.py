"""Claude Code transcripts: what `claude -p --output-format stream-json` prints, and the session files.

Both hold one JSON object a line, with the calls in `assistant` lines and their results in `user` lines; lines
of other types are skipped. Sub-agents' calls stand where they were issued, between those of their parent.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from vigil_lang.ingest.arguments import arguments_of
from vigil_lang.ingest.calls import MAX_EARLY, Keys
from vigil_lang.ingest.claude_code_messages import agent_text, gist, queued_text, user_text
from vigil_lang.ingest.claude_code_results import SHELL, result_of, whole_file
from vigil_lang.ingest.json_text import shown
from vigil_lang.ingest.reader import Reader
from vigil_lang.trace.record import Call, Message, Result, Start
from vigil_lang.trace.values import parse_time

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vigil_lang.ingest.lines import Lines
    from vigil_lang.trace import Run
    from vigil_lang.trace.record import Record

_SPEAKERS = ("assistant", "user")
_SESSION_FILE = {"sessionId", "parentUuid", "leafUuid"}
_IDENTIFIED = _SESSION_FILE | {"session_id", "uuid", "messageId"}
_SIDECHAIN = "sidechain"


def detect(head: Sequence[dict[str, Any]]) -> bool:
    """Whether some of the first lines is a message or session record of Claude Code."""
    return any(_is_own(line) for line in head)


def _knows(line: dict[str, Any]) -> bool:
    """Whether a line is one of a session, of a type that tells of no call or not."""
    return isinstance(line.get("type"), str) and not _IDENTIFIED.isdisjoint(line)


def _is_own(line: dict[str, Any]) -> bool:
    kind = line.get("type")
    if kind in _SPEAKERS:
        return isinstance(line.get("message"), dict)
    if kind in ("system", "result"):
        return "subtype" in line and not {"session_id", "sessionId"}.isdisjoint(line)
    return isinstance(kind, str) and not _SESSION_FILE.isdisjoint(line)


@dataclass(slots=True)
class _Issued:
    """A call as far as its result has to know it."""

    key: str
    shell: bool
    reads: str | None
    """The file that it reads from its first line to its last."""
    refused: bool = False
    """The run's end lists it as denied or deferred."""
    settled: bool = False
    """It ran and succeeded, or is reported as one that did not run."""


@dataclass(slots=True)
class _Recording:
    """What has been read so far. A call is named by its session and id: an id alone may occur in two sessions."""

    run: Run
    first: str = ""
    """The session of the run; a later one in the same file has a shell of its own."""
    session: str = ""
    made: Keys = field(default_factory=Keys)
    homes: dict[str, str] = field(default_factory=dict)
    """The directory that each session started in."""
    starts: dict[str, str] = field(default_factory=dict)
    """The directories that later sessions start in, until the first call of each."""
    keys: dict[tuple[str, str], str] = field(default_factory=dict)
    """The key of the latest call of that id."""
    written: set[tuple[str | bytes | None, ...]] = field(default_factory=set)
    """What was read, by the line and by the message it stands in: files may repeat both, under a new session or
    line id."""
    calls: dict[tuple[str, str], list[_Issued]] = field(default_factory=dict)
    waiting: dict[str, dict[str, list[_Issued]]] = field(default_factory=dict)
    """Calls without a result, by id and session: more than one where an id was used again."""
    early: dict[str, dict[str, tuple[dict[str, Any], dict[str, Any]]]] = field(default_factory=dict)
    """Lines and blocks of results that came before their call, by id and session."""
    refused: set[tuple[str, str]] = field(default_factory=set)
    """Calls that a `result` line lists as denied or deferred."""

    def is_new(self, *identities: tuple[str | bytes | None, ...]) -> bool:
        """Whether none of these was read before; they are from now on."""
        fresh = self.written.isdisjoint(identities)
        self.written.update(identities)
        return fresh

    def issue(self, call_id: str, call: Call) -> Iterator[Record]:
        """A call, and its result where that came first."""
        refused = (self.session, call_id) in self.refused
        issued = _Issued(call.key, call.name == SHELL, whole_file(call.name, call.args), refused)
        self.calls.setdefault((self.session, call_id), []).append(issued)
        yield call
        early = self.early.get(call_id)
        if early:
            yield self.result(issued, *(early.pop(self.session, None) or early.popitem()[1]))
        else:
            self.waiting.setdefault(call_id, {}).setdefault(self.session, []).append(issued)

    def answer(self, call_id: str, line: dict[str, Any], block: dict[str, Any]) -> Iterator[Result]:
        """The latest waiting call takes a result; where none is waiting any more, it is a repeated line.

        A result of a session that never issued the call belongs to one under that id elsewhere: it resumed.
        """
        waiting = self.waiting.get(call_id, {})
        session = self.session
        if (session, call_id) not in self.calls:
            session = next(reversed(waiting), session)
        if waiting.get(session):
            yield self.result(waiting[session].pop(), line, block)
            if not waiting[session]:
                del waiting[session]
        elif (session, call_id) not in self.calls:
            self.early.setdefault(call_id, {}).setdefault(session, (line, block))
            if len(self.early) > MAX_EARLY:
                del self.early[next(iter(self.early))]

    def result(self, issued: _Issued, line: dict[str, Any], block: dict[str, Any]) -> Result:
        home = self.homes.get(self.session, self.run.cwd)
        result = result_of(issued.key, line, block, shell=issued.shell, reads=issued.reads, home=home)
        if issued.refused and result.status == "error":
            result.executed = False
        issued.settled = result.status != "error" or not result.executed
        return result

    def refuse(self, call_id: str) -> Iterator[Result]:
        """A call that the run's end lists as denied did not run, unless it succeeded."""
        name = self.session, call_id
        self.refused.add(name)
        for issued in self.calls.get(name, ()):
            issued.refused = True
            if not issued.settled:
                issued.settled = True
                yield Result(issued.key, executed=False)


def read(lines: Lines, run: Run) -> Iterator[Record]:
    """The calls, results and messages of a transcript."""
    yield Start(run)
    found = _Recording(run)
    for line in lines:
        if _learn(found, line):
            yield Start(found.run, again=True)
        match line.get("type"):
            case "assistant":
                yield from _said(lines, found, line)
            case "user":
                yield from _answered(lines, found, line)
            case "result":
                for call_id in _refused(line):
                    yield from found.refuse(call_id)
            case "attachment":
                text = queued_text(line)
                if text is not None and found.is_new(("line", _optional(line, "uuid"), "")):
                    yield Message("user", text, parse_time(line.get("timestamp")), *_place(found, line))


READER = Reader("claude-code", "Claude Code transcript", detect, read, _knows)


def _learn(found: _Recording, line: dict[str, Any]) -> bool:
    """The first session id, version and working directory a line mentions describe the run; whether this one does."""
    session = line.get("session_id") or line.get("sessionId")
    if isinstance(session, str):
        found.session = session
        found.first = found.first or session
    before = run = found.run
    if run.name is None and found.session:
        run = replace(run, name=found.session)
    if run.source is None:
        version = line.get("claude_code_version") or line.get("version")
        if isinstance(version, str):
            run = replace(run, source=f"Claude Code {version}")
    cwd = line.get("cwd")
    if isinstance(cwd, str):
        found.homes.setdefault(found.session, cwd)
        if run.cwd is None:
            run = replace(run, cwd=cwd)
        elif line.get("type") == "system" and found.session != found.first:
            found.starts.setdefault(found.session, cwd)
    found.run = run
    return run is not before


def _said(lines: Lines, found: _Recording, line: dict[str, Any]) -> Iterator[Record]:
    """What the agent said and the calls it issued, in the order of their blocks."""
    session, parent = _place(found, line)
    uuid, message = _optional(line, "uuid"), _optional(_message(lines, line), "id")
    identities: list[tuple[str | bytes | None, ...]]
    for n, block in enumerate(_blocks(line)):
        kind = block.get("type")
        if kind == "tool_use":
            call_id = _string(lines, block, "id", n)
            name = _string(lines, block, "name", n)
            identities = [(found.session, call_id, message)] + ([(call_id, uuid)] if uuid else [])
            if not found.is_new(*identities):
                continue
            key = found.made.new(call_id)
            found.keys[found.session, call_id] = key
            args = arguments_of(lines, block.get("input"), ("message", "content", n, "input"))
            cwd = _optional(line, "cwd") or (None if parent else found.starts.pop(found.session, None))
            call = Call(key, name, args, parse_time(line.get("timestamp")), cwd, session, parent)
            yield from found.issue(call_id, call)
        elif kind == "text":
            text = agent_text(block)
            identities = [("line", uuid, str(n))] if uuid else []
            identities += [("text", message, gist(text or ""))] if message else []
            if text is not None and found.is_new(*identities):
                yield Message("agent", text, parse_time(line.get("timestamp")), session, parent)


def _answered(lines: Lines, found: _Recording, line: dict[str, Any]) -> Iterator[Record]:
    """The results a line holds, or what the user wrote."""
    _message(lines, line)
    for n, block in enumerate(_blocks(line)):
        if block.get("type") == "tool_result":
            yield from found.answer(_string(lines, block, "tool_use_id", n), line, block)
    session, parent = _place(found, line)
    text = user_text(line) if parent is None else None
    if text is not None:
        uuid = _optional(line, "uuid")
        if uuid is None or found.is_new(("line", uuid, "")):
            yield Message("user", text, parse_time(line.get("timestamp")), session)


def _place(found: _Recording, line: dict[str, Any]) -> tuple[str, str | None]:
    """The shell and the parent of what a line says: a sub-agent has its own, and so has a later session."""
    parent = _optional(line, "parent_tool_use_id")
    if parent is not None:
        parent = found.keys.get((found.session, parent), parent)
    elif line.get("isSidechain") is True:
        parent = _optional(line, "agentId") or _SIDECHAIN
    if parent is not None:
        return parent, parent
    return found.session if found.session != found.first else "", None


def _message(lines: Lines, line: dict[str, Any]) -> dict[str, Any]:
    message = line.get("message")
    if isinstance(message, dict):
        return message
    raise lines.fault("`message` must be an object", "message")


def _blocks(line: dict[str, Any]) -> Iterator[dict[str, Any]]:
    content = line["message"].get("content")
    if isinstance(content, list):
        # What is no object keeps its place: messages about a block name its ordinal.
        yield from (block if isinstance(block, dict) else {} for block in content)


def _string(lines: Lines, block: dict[str, Any], key: str, n: int) -> str:
    value = block.get(key)
    if isinstance(value, str):
        return value
    wrong = "is missing" if value is None else f"must be a string, not {shown(value)}"
    raise lines.fault(f"`{key}` of a `{block['type']}` block {wrong}", ("message", "content", n, key))


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
