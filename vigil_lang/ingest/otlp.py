"""OpenTelemetry spans in OTLP's JSON, or one flat object a span as SDKs print them.

Understands the conventions for generative AI and MCP, OpenLLMetry's, OpenInference's, and the attributes of some
frameworks that came before the conventions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vigil_lang.ingest import openinference
from vigil_lang.ingest.arguments import decoded_arguments
from vigil_lang.ingest.content import obj, output_text, parsed
from vigil_lang.ingest.reader import Reader
from vigil_lang.ingest.span_attributes import Recorded, flat_span, otlp_spans
from vigil_lang.ingest.spans import Span, Tool, records_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vigil_lang.ingest.lines import Lines
    from vigil_lang.trace import Run
    from vigil_lang.trace.record import Record

_NAMES = ("gen_ai.tool.name", "mcp.tool.name", "ai.toolCall.name", "traceloop.entity.name")
_IDS = ("gen_ai.tool.call.id", "ai.toolCall.id")
_ARGUMENTS = (
    "gen_ai.tool.call.arguments",
    "tool_arguments",
    "gcp.vertex.agent.tool_call_args",
    "ai.toolCall.args",
    "traceloop.entity.input",
)
_RESULTS = (
    "gen_ai.tool.call.result",
    "mcp.tool.result.content",
    "tool_response",
    "gcp.vertex.agent.tool_response",
    "ai.toolCall.result",
    "traceloop.entity.output",
)
_REJECTED = ("-32700", "-32600", "-32601", "-32602")
"""JSON-RPC errors for a request that is not valid or names no tool."""


def detect(head: Sequence[dict[str, Any]]) -> bool:
    """Whether the first object holds spans of OTLP, or is a span that is not OpenInference's."""
    if not head:
        return False
    if isinstance(head[0].get("resourceSpans", head[0].get("resource_spans")), list):
        return True
    return flat_span(head[0]) is not None and not openinference.detect(head)


def read(lines: Lines, run: Run) -> Iterator[Record]:
    """One run a trace, or a conversation where spans name one."""
    return records_of(lines, run, _spans(lines))


READER = Reader("otlp", "OpenTelemetry spans", detect, read, by_line=False)


def _spans(lines: Lines) -> Iterator[Span]:
    for line in lines:
        flat = flat_span(line)
        for recorded in [flat] if flat else otlp_spans(lines, line):
            yield _interpreted(lines, recorded)


def _interpreted(lines: Lines, recorded: Recorded) -> Span:
    if recorded.get("openinference.span.kind") is not None:
        return openinference.interpreted(lines, recorded)
    span = openinference.bare(recorded)
    span.source = recorded.text("gen_ai.agent.name") or recorded.service
    if _is_tool(recorded):
        span.tool = _tool(lines, recorded)
    else:
        span.told = _messages(recorded, "gen_ai.input.messages", "gen_ai.prompt")
        span.said = _messages(recorded, "gen_ai.output.messages", "gen_ai.completion")
    return span


def _is_tool(recorded: Recorded) -> bool:
    method, operation = recorded.get("mcp.method.name"), recorded.get("gen_ai.operation.name")
    if method is not None or operation is not None:
        return bool(method == "tools/call" or operation == "execute_tool")
    return recorded.text("traceloop.span.kind") == "tool" or recorded.get(*_NAMES[:3]) is not None


def _tool(lines: Lines, recorded: Recorded) -> Tool:
    kind = recorded.get("error.type")
    failed = recorded.failed or kind is not None
    output = output_text(recorded.get(*_RESULTS))
    request = recorded.get("jsonrpc.request.id")
    given = recorded.text(*_IDS) or (str(request) if isinstance(request, str | int) else None)
    arguments = recorded.get(*_ARGUMENTS) or recorded.under("mcp.request.argument.")
    rejected = str(recorded.get("rpc.response.status_code", "rpc.jsonrpc.error_code") or kind) in _REJECTED
    return Tool(
        recorded.text(*_NAMES) or recorded.name.removeprefix("execute_tool ").removeprefix("tools/call ") or "tool",
        decoded_arguments(lines, arguments, (), "arguments"),
        given,
        "error" if failed else "ok",
        recorded.message if output is None and failed else output,
        ended=recorded.end is not None,
        executed=not (failed and rejected),
    )


def _messages(recorded: Recorded, name: str, older: str) -> list[Any]:
    """The messages as one attribute, or spread over many by their index."""
    return recorded.listed(name) or [_plain(message) for message in recorded.listed(older)]


def _plain(message: Any) -> Any:
    """A message whose content may be the JSON text of its parts."""
    content = obj(message).get("content")
    parts = parsed(content) if isinstance(content, str) and content.startswith('[{"') else None
    return message | {"content": parts} if isinstance(parts, list) else message
