"""Where the events of a trace stand in the recording that it was read from."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vigil_lang.base.files import waits
from vigil_lang.diagnostics import InputError
from vigil_lang.ingest.calls import Keys
from vigil_lang.ingest.lines import Lines
from vigil_lang.ingest.load import STDIN, is_packed, opened
from vigil_lang.ingest.stream import lines_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from vigil_lang.trace import Event, Run, Trace

# What may be a call's id in a line of a recording; shorter ones are found where they mean something else.
_ID = re.compile(rb'"([\w.:/+=-]{8,200})"')


def file_of(run: Run) -> str:
    """The path of the recording, without the name of the run in it."""
    return run.path if run.label is None else run.path.removesuffix(f"#{run.label}")


def event_lines(trace: Trace, wanted: Collection[int]) -> dict[int, int]:
    """The lines, from 1, of events by their index, for those that can be found.

    In Vigil's own format that is every one; in others the line that first names the call's id, where it has one.
    """
    path = file_of(trace.run)
    if not wanted or path == STDIN or waits(path) or is_packed(path):
        return {}
    events = {index: trace.events[index] for index in wanted}
    try:
        return dict(_own(trace, events) if trace.run.format == "vigil" else _foreign(path, events))
    except InputError:  # it was read a moment ago; what has become of it since is no finding
        return {}


def _own(trace: Trace, events: dict[int, Event]) -> Iterator[tuple[int, int]]:
    of_id = {event.id: index for index, event in events.items()}
    run = trace.run
    labels, number, count, label = Keys(), 0, 0, "1"
    with opened(file_of(run)) as (stream, path):
        lines = Lines(stream, path)
        for line in lines:
            if "vigil_trace" in line:
                number, count = number + 1, 0
                label = labels.new(str(line.get("run") or number))
                continue
            count += 1
            if run.label is None or run.label == label:
                index = of_id.get(str(line.get("event") or f"e{count}"))
                if index is not None:
                    yield index, lines.number


def _foreign(path: str, events: dict[int, Event]) -> Iterator[tuple[int, int]]:
    of_call: dict[bytes, list[int]] = {}
    for index, event in events.items():
        of_call.setdefault(event.call.encode("utf-8", "surrogatepass"), []).append(index)
    with opened(path) as (stream, _):
        for number, line in enumerate(lines_of(stream, path), 1):
            for found in _ID.finditer(line):
                for index in of_call.pop(found[1], ()):
                    yield index, number
            if not of_call:
                return
