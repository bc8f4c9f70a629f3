"""OpenInference spans, as Phoenix and others export them: one flat object a span.

A span of kind TOOL is a call; the messages of LLM spans are the conversation. `interpreted` understands the same
attributes in spans of any other origin.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vigil_lang.ingest.arguments import decoded_arguments
from vigil_lang.ingest.content import obj, objects, output_text
from vigil_lang.ingest.reader import Reader
from vigil_lang.ingest.span_attributes import Recorded, flat_span
from vigil_lang.ingest.spans import Span, Tool, records_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vigil_lang.ingest.lines import Lines
    from vigil_lang.trace import Run
    from vigil_lang.trace.record import Record

_KIND = "openinference.span.kind"
_KINDS = frozenset({"TOOL", "LLM", "AGENT", "CHAIN", "RETRIEVER", "EMBEDDING", "RERANKER", "GUARDRAIL", "EVALUATOR"})


def detect(head: Sequence[dict[str, Any]]) -> bool:
    """Whether one of the first objects is a flat span with a kind of this convention."""
    return any((span := flat_span(line)) is not None and _kind(span) in _KINDS for line in head)


def _kind(span: Recorded) -> str | None:
    return (span.text(_KIND) or span.kind or "").upper() or None


def read(lines: Lines, run: Run) -> Iterator[Record]:
    """One run a trace, or a session where spans name one."""
    return records_of(lines, run, _spans(lines))


READER = Reader("openinference", "OpenInference spans", detect, read, by_line=False)


def _spans(lines: Lines) -> Iterator[Span]:
    for line in lines:
        recorded = flat_span(line)
        if recorded is None:
            raise lines.fault("the object is no span: it has no trace and span id, or no attributes")
        yield interpreted(lines, recorded)


def bare(recorded: Recorded) -> Span:
    """The span without its meaning."""
    conversation = recorded.text("gen_ai.conversation.id", "session.id", "traceloop.association.properties.session_id")
    span = Span(recorded.trace, recorded.id, recorded.parent, recorded.start, recorded.end, conversation=conversation)
    span.source = recorded.service
    return span


def interpreted(lines: Lines, recorded: Recorded) -> Span:
    """The span with what this convention's attributes say."""
    span = bare(recorded)
    match _kind(recorded):
        case "TOOL":
            span.tool = _tool(lines, recorded)
        case "LLM":
            span.told = [_message(item) for item in recorded.listed("llm.input_messages")]
            span.said = [_message(item) for item in recorded.listed("llm.output_messages")]
    return span


def _tool(lines: Lines, recorded: Recorded) -> Tool:
    given = recorded.get("input.value", "tool.parameters", "tool_call.function.arguments")
    output = output_text(recorded.get("output.value"))
    if output is None and recorded.failed:
        output = recorded.message
    return Tool(
        recorded.text("tool.name", "tool_call.function.name") or recorded.name or "tool",
        decoded_arguments(lines, given, (), "input"),
        recorded.text("tool_call.id", "tool.id"),
        "error" if recorded.failed else "ok",
        output,
        ended=recorded.end is not None,
    )


def _message(item: Any) -> dict[str, Any]:
    """A message without the names that the convention wraps everything in."""
    message = obj(obj(item).get("message")) or obj(item)
    parts = [obj(part.get("message_content")) or part for part in objects(message.get("contents"))]
    calls = [obj(call.get("tool_call")) or call for call in objects(message.get("tool_calls"))]
    plain = {key: message[key] for key in ("role", "tool_call_id", "name") if key in message}
    return plain | {"content": parts or message.get("content"), "tool_calls": calls or None}
