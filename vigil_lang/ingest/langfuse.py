"""Langfuse traces: an object with `observations`, or the observations alone, in either spelling of their members.

An observation of type TOOL is a call. Where a trace has none, as before that type existed, a SPAN with nothing
inside it is taken for one. What was said stands in the observations of type GENERATION.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vigil_lang.ingest.arguments import decoded_arguments
from vigil_lang.ingest.content import moment, obj, objects, output_text, parsed, present, string
from vigil_lang.ingest.reader import Reader
from vigil_lang.ingest.spans import Span, Tool, records_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vigil_lang.ingest.lines import Lines
    from vigil_lang.trace import Run
    from vigil_lang.trace.record import Record

_TYPES = frozenset(
    {"TOOL", "SPAN", "GENERATION", "EVENT", "AGENT", "CHAIN", "RETRIEVER", "EMBEDDING", "EVALUATOR", "GUARDRAIL"}
)


def detect(head: Sequence[dict[str, Any]]) -> bool:
    """Whether the first object is a trace with observations, or an observation."""
    if not head:
        return False
    observations = head[0].get("observations")
    if isinstance(observations, list):
        return "id" in head[0] and all(
            isinstance(item, dict) and string(item, "type") in _TYPES for item in observations
        )
    return string(head[0], "type") in _TYPES and not {"traceId", "trace_id"}.isdisjoint(head[0])


def read(lines: Lines, run: Run) -> Iterator[Record]:
    """One run a trace, or a session where traces name one."""
    return records_of(lines, run, _spans(lines))


READER = Reader("langfuse", "Langfuse traces", detect, read, by_line=False)


def _spans(lines: Lines) -> Iterator[Span]:
    alone: dict[str, list[dict[str, Any]]] = {}
    for line in lines:
        observations = line.get("observations")
        if isinstance(observations, list):
            name = string(line, "id") or f"{lines.number}"
            session = string(line, "sessionId", "session_id")
            yield from _trace(lines, objects(observations), name, session, string(line, "name"))
        elif of := string(line, "traceId", "trace_id"):
            alone.setdefault(of, []).append(line)
        else:
            raise lines.fault("neither a trace with `observations` nor an observation of a trace")
    for trace, members in alone.items():
        session = next((s for item in members if (s := string(item, "sessionId", "session_id"))), None)
        yield from _trace(lines, members, trace, session, None)


def _trace(
    lines: Lines, observations: list[dict[str, Any]], trace: str, session: str | None, source: str | None
) -> Iterator[Span]:
    outer = {_parent(item) for item in observations}
    typed = any(item.get("type") == "TOOL" for item in observations)
    for ordinal, item in enumerate(observations):
        start, end = (moment(present(item, f"{name}Time", f"{name}_time")) for name in ("start", "end"))
        id = string(item, "id") or f"{trace}/{ordinal}"  # noqa: A001
        span = Span(trace, id, _parent(item), start, end, f"{ordinal:08}", session, source)
        leaf = item.get("type") == "SPAN" and span.parent is not None and id not in outer
        if item.get("type") == "TOOL" or (leaf and not typed):
            span.tool = _tool(lines, item, ended=end is not None)
        elif item.get("type") == "GENERATION":
            span.told, span.said = _messages(item.get("input"), "user"), _messages(item.get("output"), "assistant")
        yield span


def _parent(item: dict[str, Any]) -> str | None:
    return string(item, "parentObservationId", "parent_observation_id")


def _tool(lines: Lines, item: dict[str, Any], *, ended: bool) -> Tool:
    name = string(item, "name")
    if not name:
        raise lines.fault("an observation of a tool has no name", "name")
    failed = item.get("level") == "ERROR"
    output = output_text(item.get("output"))
    about = obj(obj(item.get("metadata")).get("attributes")) or obj(item.get("metadata"))
    return Tool(
        name,
        decoded_arguments(lines, item.get("input"), "input", "input"),
        string(about, "gen_ai.tool.call.id", "tool_call_id"),
        "error" if failed else "ok",
        string(item, "statusMessage", "status_message") if failed and output is None else output,
        ended=ended or failed or output is not None,
    )


def _messages(value: Any, role: str) -> list[dict[str, Any]]:
    """The messages a generation holds as JSON or its text; a text alone was said by `role`."""
    if isinstance(value, str):
        value = parsed(value) if value.startswith(("[", "{")) else value
    if isinstance(value, str):
        return [{"role": role, "content": value}]
    listed = value if isinstance(value, list) else obj(value).get("messages", [value])
    return [message if "role" in message else message | {"role": role} for message in objects(listed)]
