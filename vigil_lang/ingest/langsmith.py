"""LangSmith runs: exported traces, flat or as trees of `child_runs`. A run of type `tool` is a call.

Each trace is a run of its own, or each thread where the metadata name one. What was said, and the calls of tools
that have no runs, stand in the runs of type `llm`.
"""

from __future__ import annotations

import ast
import math
import warnings
from typing import TYPE_CHECKING, Any

from vigil_lang.ingest.arguments import decoded_arguments
from vigil_lang.ingest.content import error_text, moment, obj, objects, output_text, string
from vigil_lang.ingest.langchain import message_of
from vigil_lang.ingest.message_parts import status_of
from vigil_lang.ingest.reader import Reader
from vigil_lang.ingest.spans import Span, Tool, records_of
from vigil_lang.trace.values import MAX_DEPTH

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vigil_lang.ingest.lines import Lines
    from vigil_lang.trace import Run
    from vigil_lang.trace.record import Record

_OWN = {"trace_id", "dotted_order", "parent_run_id", "child_runs", "session_id", "session_name"}
_THREADS = ("thread_id", "session_id", "conversation_id")
_MAX_LITERAL = 100_000
"""Characters of a text that is read as a Python literal."""


def detect(head: Sequence[dict[str, Any]]) -> bool:
    """Whether the first object is a run, or holds a list of them."""
    return bool(head) and any(_is_run(run) for run in _listed(head[0]))


def _is_run(line: dict[str, Any]) -> bool:
    return isinstance(line.get("run_type"), str) and not _OWN.isdisjoint(line)


def _listed(line: dict[str, Any]) -> list[dict[str, Any]]:
    return objects(line["runs"]) if isinstance(line.get("runs"), list) else [line]


def read(lines: Lines, run: Run) -> Iterator[Record]:
    """One run a trace or thread."""
    return records_of(lines, run, _spans(lines))


READER = Reader("langsmith", "LangSmith runs", detect, read, by_line=False)


def _spans(lines: Lines) -> Iterator[Span]:
    for line in lines:
        left: list[tuple[dict[str, Any], Span | None]] = [(run, None) for run in reversed(_listed(line))]
        while left:
            run, outer = left.pop()
            span = _span(lines, run, outer)
            yield span
            left += [(child, span) for child in reversed(objects(run.get("child_runs")))]


def _span(lines: Lines, run: dict[str, Any], outer: Span | None) -> Span:
    if not isinstance(run.get("run_type"), str):
        raise lines.fault("a run has no `run_type`", "run_type")
    about = obj(obj(run.get("extra")).get("metadata"))
    id = string(run, "id", "run_id") or f"{lines.number}"  # noqa: A001
    span = Span(
        string(run, "trace_id") or (outer.trace if outer else id),
        id,
        string(run, "parent_run_id") or (outer.id if outer else None),
        moment(run.get("start_time")),
        moment(run.get("end_time")),
        string(run, "dotted_order") or "",
        string(about, *_THREADS),
        string(run, "session_name"),
    )
    if run["run_type"] == "tool":
        span.tool = _tool(lines, run, span)
    elif run["run_type"] == "llm":
        span.told = _messages(obj(run.get("inputs")))
        span.said = _messages(obj(run.get("outputs")))[:1]
    return span


def _tool(lines: Lines, run: dict[str, Any], span: Span) -> Tool:
    name = string(run, "name")
    if not name:
        raise lines.fault("a run of a tool has no name", "name")
    inputs, outputs = run.get("inputs"), run.get("outputs")
    if isinstance(inputs, dict) and inputs.keys() == {"input"}:
        inputs = _literal(inputs["input"]) or inputs
    result = obj(outputs).get("output", outputs)
    message = _message(result) if isinstance(result, dict) and ("kwargs" in result or "tool_call_id" in result) else {}
    error = run.get("error")
    failed = bool(error) or run.get("status") == "error" or status_of(message, "unknown") == "error"
    output = output_text(message.get("content") if message else result)
    ended = span.end is not None or bool(error) or run.get("status") in ("success", "error") or outputs is not None
    return Tool(
        name,
        decoded_arguments(lines, inputs, "inputs", "input"),
        string(message, "tool_call_id") or string(obj(run.get("extra")), "tool_call_id"),
        "error" if failed else "ok",
        output or error_text(error) or output,
        ended=ended,
    )


def _literal(given: Any) -> dict[str, Any] | None:
    """LangChain writes a tool's arguments as Python does: None where the text is no such object of JSON's types."""
    if not isinstance(given, str) or len(given) > _MAX_LITERAL or not given.startswith("{"):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes that are none
            value = ast.literal_eval(given)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
    return value if isinstance(value, dict) and _is_json(value, MAX_DEPTH) else None


def _is_json(value: Any, depth: int) -> bool:
    if depth < 0:
        return False
    match value:
        case dict():
            return all(isinstance(key, str) and _is_json(item, depth - 1) for key, item in value.items())
        case list():
            return all(_is_json(item, depth - 1) for item in value)
        case float():
            return math.isfinite(value)
    return value is None or isinstance(value, str | int)


def _messages(members: dict[str, Any]) -> list[dict[str, Any]]:
    """The messages that a model's inputs or outputs hold, in LangChain's form or the provider's."""
    for key in ("messages", "generations", "choices", "output"):
        listed = members.get(key)
        while isinstance(listed, list) and listed and isinstance(listed[0], list):
            listed = listed[0]
        found = [_message(item) for item in objects([listed] if isinstance(listed, dict) else listed)]
        if found:
            return found
    return [members] if "role" in members else []


def _message(item: dict[str, Any]) -> dict[str, Any]:
    return message_of(obj(item.get("message")) or item)
