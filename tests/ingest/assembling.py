"""Records put together one to one, so that a reader's work is seen without the abstraction's."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from msgspec.structs import replace

from vigil_lang.ingest import opened, read_records
from vigil_lang.trace import Event, Run, Trace
from vigil_lang.trace.record import Call, Message, Result, Start
from vigil_lang.trace.values import flatten

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from vigil_lang.trace.record import Record


def load_trace(path: str | Path, *, format: str | None = None) -> Trace:  # noqa: A002 - as the option is called
    """The one run of a recording on disk."""
    with opened(path) as (stream, name):
        return read_trace(stream, name, format)


def read_trace(stream: Iterable[bytes], path: str, format: str | None = None) -> Trace:  # noqa: A002 - as the option is called
    """The one run of a recording."""
    return assembled(read_records(stream, path, format), Run(path))


def assembled(records: Iterable[Record], run: Run) -> Trace:
    """One event a call that ran and one a message, in order."""
    found: list[Call | Message | Event] = []
    results: dict[str, Result] = {}
    for record in records:
        match record:
            case Start():
                run = record.run
            case Result():
                results[record.key] = record
            case _:
                found.append(record)
    events: list[Event] = []
    counts = Counter[str]()
    skipped = 0
    for item in found:
        if isinstance(item, Event):
            events.append(item)
            continue
        extra = {"parent": item.parent} if item.parent else {}
        if isinstance(item, Message):
            counts["m"] += 1
            name = f"m{counts['m']}"
            events.append(
                Event(name, f"{item.role}.message", name, {"text": (item.text,)}, "ok", None, (), item.time, extra)
            )
            continue
        result = results.get(item.key) or Result(item.key)
        if not result.executed:
            skipped += 1
            continue
        counts["e"] += 1
        args = flatten(item.args)
        events.append(
            Event(f"e{counts['e']}", item.name, item.key, args, result.status, result.output, (), item.time, extra)
        )
    return Trace(tuple(events), replace(run, not_executed=run.not_executed + skipped))
