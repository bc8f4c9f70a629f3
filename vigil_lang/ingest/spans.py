"""Spans of a traced agent, whoever recorded them: the tools that ran, and what the model was told and said.

Every source is reduced to `Span`s. A run is a conversation where the spans name one, else a trace. Calls come from
the spans of tools, in the order in which they began, and from the messages of the model for tools without spans.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec.structs import replace

from vigil_lang.ingest.content import compact
from vigil_lang.ingest.message_parts import Conversation, History, Pairing
from vigil_lang.trace.record import Call, Result, Start

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from vigil_lang.ingest.lines import Lines
    from vigil_lang.trace import Run
    from vigil_lang.trace.event import Status
    from vigil_lang.trace.record import Record


@dataclass(slots=True)
class Tool:
    """A tool's execution; `ended` is False where the recording stops before its end."""

    name: str
    args: dict[str, Any]
    id: str | None
    status: Status
    output: str | None
    ended: bool = True
    executed: bool = True


@dataclass(slots=True)
class Span:
    """One span: a tool's, a model's, or one that only says what belongs together. Times in microseconds since 1970."""

    trace: str
    id: str
    parent: str | None
    start: int | None
    end: int | None
    order: str = ""
    """What orders the spans that began at one time."""
    conversation: str | None = None
    source: str | None = None
    tool: Tool | None = None
    told: list[Any] = field(default_factory=list)
    """The messages a model was given: the whole conversation so far."""
    said: list[Any] = field(default_factory=list)
    """The messages it answered with."""
    above: Span | None = None
    """The tool within which it stands."""
    spare: bool = False
    """Whether the tool it stands within shows the same call."""

    @property
    def began(self) -> tuple[int, str]:
        """What spans are ordered by."""
        return self.start or 0, self.order


def records_of(lines: Lines, run: Run, spans: Iterable[Span]) -> Iterator[Record]:
    """The records of all spans, run by run in the order in which they began. Reads all of them first."""
    traces: dict[str, list[Span]] = {}
    for span in spans:
        traces.setdefault(span.trace, []).append(span)
    runs: dict[str, list[Span]] = {}
    for trace, members in traces.items():
        members.sort(key=_began)
        _relate(members)
        name = next((span.conversation for span in members if span.conversation), trace)
        runs.setdefault(name, []).extend(members)
    empty = True
    for name, members in sorted(runs.items(), key=lambda item: min(map(_began, item[1]))):
        members.sort(key=_began)
        found = _records(lines, members)
        if found:
            empty = False
            source = next((span.source for span in members if span.source), None)
            yield Start(replace(run, name=name or None, source=source))
            yield from found
    if empty:
        yield Start(run)


def _began(span: Span) -> tuple[int, str]:
    return span.began


def _relate(spans: list[Span]) -> None:
    """Find for the spans of a trace the tools they stand within, and those that repeat what others say."""
    by_id = {span.id: span for span in spans}
    inner: dict[str | None, list[Span]] = {}
    for span in spans:
        inner.setdefault(span.parent if span.parent in by_id else None, []).append(span)
    left: list[tuple[Span, Span | None]] = [(span, None) for span in inner.get(None, ())]
    opened: set[str | None] = set()
    while left:
        span, above = left.pop()
        span.above = above
        if span.tool and above and above.tool and _is_same(above.tool, span.tool):
            span.spare = True
        elif span.tool:
            above = span
        if span.id not in opened:  # of spans that share an id, one has what is within
            opened.add(span.id)
            left += [(within, above) for within in inner.get(span.id, ())]
    for name in ("told", "said"):
        covered: set[str] = set()
        for span in spans:
            outer = by_id.get(span.parent or "") if getattr(span, name) else None
            while outer and not outer.tool and outer.id in opened and outer.id not in covered:
                covered.add(outer.id)
                setattr(outer, name, [])  # an agent's span repeats what those of its models have
                outer = by_id.get(outer.parent or "")


def _is_same(outer: Tool, inner: Tool) -> bool:
    """Whether the inner span shows the outer call once more, as a server's does; it may know what the other lacks."""
    if outer.name != inner.name or (outer.args and inner.args and outer.args != inner.args):
        return False
    outer.args = outer.args or inner.args
    outer.output = inner.output if outer.output is None else outer.output
    outer.executed = outer.executed and (inner.executed or outer.status != "error")
    return True


_Timed: TypeAlias = "tuple[tuple[int, int, int], Record]"


def _records(lines: Lines, spans: list[Span]) -> list[Record]:
    """The records of one run, in the order of their times."""
    tools = [(ordinal, span, span.tool) for ordinal, span in enumerate(spans) if span.tool and not span.spare]
    timed = _spoken(lines, spans, [tool for _, _, tool in tools])
    calls = Pairing()
    for _, record in timed:
        if isinstance(record, Call):
            calls.call(record.key)
    keys = {id(span): calls.call(tool.id or span.id) for _, span, tool in tools}
    for ordinal, span, tool in tools:
        key, parent, start = keys[id(span)], keys.get(id(span.above)), span.start or 0
        call = Call(key, tool.name, tool.args, span.start, session=parent or "", parent=parent)
        timed.append(((start, ordinal, 0), call))
        if tool.ended:
            result = Result(key, tool.status, tool.output, tool.executed)
            timed.append(((max(start, span.end or 0), ordinal, 1), result))
    timed.sort(key=itemgetter(0))
    return [record for _, record in timed]


def _spoken(lines: Lines, spans: list[Span], tools: list[Tool]) -> list[_Timed]:
    """What was said outside of tools, with the calls of tools that have no spans; for the others, what spans lack."""
    reading = Conversation(lines, (), once=True)
    history = History()
    by_id = {tool.id: tool for tool in tools if tool.id}
    names = {tool.name for tool in tools}
    shown = {compact(tool.args) for tool in tools if tool.args}
    timed: list[_Timed] = []
    traced: dict[str, Tool | None] = {}
    latest = 0
    for ordinal, span in enumerate(spans):
        if span.above:
            continue
        messages = [message for message in (*span.told, *span.said) if isinstance(message, dict)]
        answers = len(messages) - sum(isinstance(message, dict) for message in span.said)
        for index in history.fresh(messages):
            time = span.start if index < answers else span.end or span.start
            latest = max(latest, time or 0)
            for record in reading.read(messages[index], time):
                if isinstance(record, Call):
                    tool = by_id.get(record.key)
                    if tool or record.name in names or compact(record.args) in shown:
                        traced[record.key] = tool
                        if tool:
                            tool.args = tool.args or record.args
                        continue
                elif isinstance(record, Result) and record.key in traced:
                    tool = traced[record.key]
                    if tool and tool.output is None:
                        tool.output = record.output
                    continue
                timed.append(((latest, ordinal, len(timed)), record))
    return timed
