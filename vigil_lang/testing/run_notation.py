"""A run in the notation of a `*_test.vgl`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vigil_lang.semantics.text_patterns import quote

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from vigil_lang.trace import Event, Trace

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:[.-][A-Za-z0-9_]+)*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]*[1-9])?")
_INDENT = "    "


def written_test(
    name: str, trace: Trace, expectations: Iterable[str], values: Mapping[str, object] | None = None
) -> list[str]:
    """The lines of a whole test: the values it sets, its run and what it expects (`R3 violated at e2`)."""
    return [
        f"test {quote(name)} {{",
        *(f"{_INDENT}set {param} = {_value(value)}" for param, value in (values or {}).items()),
        f"{_INDENT}run {{",
        *(f"{_INDENT * 2}{line}" for line in run_lines(trace)),
        f"{_INDENT}}}",
        *(f"{_INDENT}expect {text}" for text in expectations),
        "}",
    ]


def run_lines(trace: Trace) -> Iterator[str]:
    """The events, one a line; ids are those that events have by themselves where they are `e1`, `e2`, …"""
    first = next((e.time for e in trace.events if e.time is not None), 0)
    for number, event in enumerate(trace.events, start=1):
        # An action whose name is no NAME stands after an id.
        plain = event.id == f"e{number}" and _NAME.fullmatch(event.action)
        yield event_text(event, first) if plain else f"{event.id}: {event_text(event, first)}"


def event_text(event: Event, first: int = 0) -> str:
    """One event without its id; its time counts from `first`, in microseconds."""
    head = _name(event.action)
    args = ", ".join(f"{_name(name)} = {_values(texts)}" for name, texts in event.args.items())
    kinds = f": {', '.join(map(_name, event.kinds))}" if event.kinds else ""
    moment = "" if event.time is None else f" at {_duration(event.time - first)}"
    status = "" if event.status == "unknown" else f" {event.status}"
    output = "" if event.output is None else f" {quote(event.output)}"
    ending = f" ->{status}{output}" if status or output else ""
    return f"{head}({args}){kinds}{moment}{ending}"


def _duration(microseconds: int) -> str:
    milliseconds = microseconds // 1_000
    return f"{milliseconds}ms" if milliseconds % 1_000 else f"{milliseconds // 1_000}s"


def _name(text: str) -> str:
    return text if _NAME.fullmatch(text) else quote(text)


def _values(texts: tuple[str, ...]) -> str:
    return _text(texts[0]) if len(texts) == 1 else f"{{{', '.join(map(_text, texts))}}}"


def _text(text: str) -> str:
    return text if text in ("true", "false") or _NUMBER.fullmatch(text) else quote(text)


def _value(value: object) -> str:
    """A value given to a param."""
    if isinstance(value, list | tuple | set | frozenset):
        return f"{{{', '.join(sorted(map(_value, value)))}}}"
    if isinstance(value, bool):
        return "true" if value else "false"
    return quote(value) if isinstance(value, str) else str(value)
