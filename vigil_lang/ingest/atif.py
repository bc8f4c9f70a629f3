"""ATIF trajectories (Harbor, versions 1.0 to 1.8): one JSON document a run, its steps in order.

The format has no status of a call: it is known only where the agent that was recorded says so itself.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from vigil_lang.ingest import codex_outputs, gemini_outputs
from vigil_lang.ingest.arguments import decoded_arguments
from vigil_lang.ingest.calls import Calls
from vigil_lang.ingest.content import joined, moment, obj, objects, string
from vigil_lang.ingest.json_text import shown
from vigil_lang.ingest.reader import Reader
from vigil_lang.trace.record import Call, Message, Result, Start

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vigil_lang.ingest.lines import Lines
    from vigil_lang.trace import Run
    from vigil_lang.trace.record import Record

_MAX_DEPTH = 20
"""How deeply trajectories of sub-agents may be nested."""

_FAILED = re.compile(r"Exit code (\d{1,5})(?:\n|\Z)")
_FINISHED = re.compile(r"\[(?:The command completed|Command finished) with exit code (-?\d{1,10})\.?\][^\n]*\s*\Z")
_CLAUDE = frozenset({"Bash"})
_OPENHANDS = frozenset({"execute_bash", "terminal", "bash"})
_TAIL = 2000


def detect(head: Sequence[dict[str, Any]]) -> bool:
    """Whether the first objects are trajectories."""
    return bool(head) and all(_is_own(value) for value in head)


def _is_own(value: dict[str, Any]) -> bool:
    version = value.get("schema_version")
    named = isinstance(version, str) and version.upper().startswith("ATIF")
    return isinstance(value.get("steps"), list) and (named or (isinstance(value.get("agent"), dict) and bool(version)))


@dataclass(slots=True)
class _Trajectory:
    """What its steps share: the shell, and the trajectories of sub-agents that are still to be placed."""

    lines: Lines
    calls: Calls
    place: tuple[str | int, ...] = ()
    """Where it stands in the document."""
    session: str = ""
    parent: str | None = None
    depth: int = 0
    others: dict[str, tuple[dict[str, Any], tuple[str | int, ...]]] = field(default_factory=dict)

    def of(self, parent: str, place: tuple[str | int, ...]) -> _Trajectory:
        return _Trajectory(self.lines, self.calls, place, parent, parent, self.depth + 1, self.others)


def read(lines: Lines, run: Run) -> Iterator[Record]:
    """The calls, results and messages of every trajectory."""
    begun = False
    for value in lines:
        agent, extra = obj(value.get("agent")), obj(obj(value.get("agent")).get("extra"))
        source = " ".join(text for key in ("name", "version") if (text := string(agent, key)) and text != "unknown")
        places = extra.get("cwds")
        cwd = string(extra, "cwd") or (places[0] if isinstance(places, list) and len(places) == 1 else None)
        cwd = cwd if isinstance(cwd, str) else None
        name = string(value, "session_id", "trajectory_id")
        yield Start(replace(run, name=name, source=source or None, cwd=cwd))
        begun = True
        yield from _steps(_Trajectory(lines, Calls()), value)
    if not begun:
        yield Start(run)


READER = Reader("atif", "ATIF trajectory", detect, read, by_line=False)


def _steps(found: _Trajectory, value: dict[str, Any]) -> Iterator[Record]:
    if found.depth > _MAX_DEPTH:
        raise found.lines.fault(f"trajectories are nested more than {_MAX_DEPTH} deep", found.place)
    place = (*found.place, "subagent_trajectories")
    for n, other in enumerate(objects(value.get("subagent_trajectories"))):
        for key in ("trajectory_id", "session_id"):
            if isinstance(other.get(key), str):
                found.others.setdefault(other[key], (other, (*place, n)))
    steps = value.get("steps")
    if not isinstance(steps, list):
        raise found.lines.fault("`steps` must be a list", (*found.place, "steps"))
    for n, step in enumerate(steps):
        if not isinstance(step, dict):
            raise found.lines.fault(f"a step must be an object, not {shown(step)}", (*found.place, "steps", n))
        if step.get("is_copied_context") is not True:
            yield from _step(found, step, (*found.place, "steps", n))
    for other in objects(value.get("subagent_trajectories")):
        yield from _sub_agent(found, string(other, "trajectory_id", "session_id"), None)


def _step(found: _Trajectory, step: dict[str, Any], place: tuple[str | int, ...]) -> Iterator[Record]:
    time, extra = moment(step.get("timestamp")), obj(step.get("extra"))
    source, text = step.get("source"), joined(step.get("message"))
    if text and text.strip() and (source == "agent" or (source == "user" and found.parent is None)):
        yield Message("user" if source == "user" else "agent", text, time, found.session, found.parent)
    issued: dict[str, str] = {}
    for n, entry in enumerate(objects(step.get("tool_calls"))):
        name, given = string(entry, "function_name"), string(entry, "tool_call_id")
        if name is None:
            raise found.lines.fault("`function_name` of a tool call is missing", (*place, "tool_calls", n))
        args = decoded_arguments(found.lines, entry.get("arguments"), (*place, "tool_calls", n))
        own = given or f"step-{place[-1]}.{n}"
        issued[own] = name
        yield from found.calls.issue(own, Call("", name, args, time, string(extra, "cwd"), found.session, found.parent))
    for entry in objects(obj(step.get("observation")).get("results")):
        given = string(entry, "source_call_id")
        if given is None and len(issued) == 1:
            given = next(iter(issued))
        for reference in objects(entry.get("subagent_trajectory_ref")):
            yield from _sub_agent(found, string(reference, "trajectory_id", "session_id"), given)
        if given is not None:
            stated = obj(entry.get("extra")).get("tool_result_is_error")
            if stated is None and len(issued) == 1:
                stated = extra.get("tool_result_is_error")
            yield from found.calls.settle(given, _result(issued.get(given, ""), joined(entry.get("content")), stated))


def _sub_agent(found: _Trajectory, name: str | None, caller: str | None) -> Iterator[Record]:
    """The steps of a trajectory that stands in this document, once."""
    other, place = found.others.pop(name or "", (None, ()))
    if other is not None:
        for key in ("trajectory_id", "session_id"):
            found.others.pop(str(other.get(key)), None)
        parent = found.calls.key(caller) if caller else name or ""
        yield from _steps(found.of(parent, place), other)


def _result(name: str, text: str | None, error: Any) -> Result:
    """What a result says, in the words of the harness whose tool it is."""
    if name == gemini_outputs.SHELL:
        result = gemini_outputs.result_of("", name, text, "unknown")
    elif name in codex_outputs.SHELLS:
        result = codex_outputs.shown_result(name, text, None)
    else:
        result = Result("", "unknown", text)
        code = None
        if text and name in _OPENHANDS:
            code = _FINISHED.search(text[-_TAIL:])
        elif text and name in _CLAUDE and error is True:
            code = _FAILED.match(text)
        if code:
            result.exit_code = int(code[1])
            result.status = "error" if result.exit_code else "ok"
    if isinstance(error, bool):
        result.status = "error" if error else "ok"
    return result
