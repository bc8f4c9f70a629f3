"""What `gemini --output-format stream-json` prints: one event a line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from vigil_lang.ingest.arguments import arguments_of
from vigil_lang.ingest.calls import Calls
from vigil_lang.ingest.content import error_text, moment, output_text, string
from vigil_lang.ingest.gemini_outputs import result_of
from vigil_lang.ingest.reader import Reader
from vigil_lang.trace.record import Call, Message, Start

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vigil_lang.ingest.lines import Lines
    from vigil_lang.trace import Run, Status
    from vigil_lang.trace.record import Record

_STATUS: dict[Any, Status] = {"success": "ok", "error": "error"}


def detect(head: Sequence[dict[str, Any]]) -> bool:
    """Whether some of the first lines is the start or a tool's event of such a stream."""
    return any(_is_own(line) for line in head)


def _knows(line: dict[str, Any]) -> bool:
    """Whether a line is one of the stream: pieces of an answer tell nothing until it ends."""
    if line.get("type") == "message":
        return isinstance(line.get("content"), str)
    return _is_own(line) or (line.get("type") in ("result", "error") and "timestamp" in line)


def _is_own(line: dict[str, Any]) -> bool:
    match line.get("type"):
        case "init":
            return "session_id" in line and "model" in line
        case "tool_use":
            return "tool_name" in line and "tool_id" in line
        case "tool_result":
            return "tool_id" in line
    return False


def read(lines: Lines, run: Run) -> Iterator[Record]:
    """The calls, results and messages of a stream; an answer that came in pieces is one message once it ended."""
    yield Start(run)
    calls, names = Calls(), dict[str, str]()
    pieces: list[str] = []
    begun: int | None = None
    for line in lines:
        kind, time = line.get("type"), moment(line.get("timestamp"))
        if kind == "message" and line.get("delta") is True and line.get("role") == "assistant":
            begun = begun if pieces else time
            pieces.append(string(line, "content") or "")
            continue
        yield from _said(pieces, begun)
        pieces = []
        if kind == "init" and run.name is None:
            run = replace(run, name=string(line, "session_id"), source="Gemini CLI")
            yield Start(run, again=True)
        elif kind == "message" and line.get("role") in ("user", "assistant") and string(line, "content"):
            yield Message("user" if line["role"] == "user" else "agent", line["content"], time)
        elif kind == "tool_use":
            given, name = string(line, "tool_id"), string(line, "tool_name") or "unknown"
            args = arguments_of(lines, line.get("parameters"), "parameters")
            if given:
                names[given] = name
            yield from calls.issue(given, Call("", name, args, time))
        elif kind == "tool_result" and (given := string(line, "tool_id")):
            failed = line.get("error")
            text = output_text(line.get("output")) if failed is None else error_text(failed)
            status = _STATUS.get(string(line, "status"), "unknown")
            yield from calls.settle(given, result_of("", names.get(given, ""), text, status))


READER = Reader("gemini-stream", "gemini --output-format stream-json", detect, read, _knows)


def _said(pieces: list[str], time: int | None) -> Iterator[Message]:
    if "".join(pieces).strip():
        yield Message("agent", "".join(pieces), time)
