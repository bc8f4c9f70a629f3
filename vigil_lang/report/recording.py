"""Where the events of a trace stand in the recording that it was read from."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from vigil_lang.base.files import waits
from vigil_lang.diagnostics import InputError
from vigil_lang.ingest.calls import Keys
from vigil_lang.ingest.lines import Lines
from vigil_lang.ingest.load import STDIN, is_packed, opened
from vigil_lang.ingest.stream import lines_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from vigil_lang.trace import Run, Trace

_Key = TypeVar("_Key")

# What may be a call's id in a line of a recording; shorter ones are found where they mean something else.
_ID = re.compile(rb'"([\w.:/+=-]{8,200})"')


class Sought(NamedTuple):
    """An event whose line is looked for: its id, and that of its call."""

    event: str
    call: str


def file_of(run: Run) -> str:
    """The path of the recording, without the name of the run in it."""
    return run.path if run.label is None else run.path.removesuffix(f"#{run.label}")


def event_lines(trace: Trace, wanted: Collection[int]) -> dict[int, int]:
    """The lines of events of a trace, by their index: as `lines_of_events`."""
    events = trace.events
    return lines_of_events(trace.run, {index: Sought(events[index].id, events[index].call) for index in wanted})


def lines_of_events(run: Run, wanted: Mapping[_Key, Sought]) -> dict[_Key, int]:
    """The lines, from 1, of those events that can be found in the recording of a run.

    In Vigil's own format that is every one; in others the line that first names the call's id, where it has one.
    """
    path = file_of(run)
    if not wanted or path == STDIN or waits(path) or is_packed(path):
        return {}
    try:
        return dict(_own(run, wanted) if run.format == "vigil" else _foreign(path, wanted))
    except InputError:  # it was read a moment ago; what has become of it since is no finding
        return {}


def _own(run: Run, wanted: Mapping[_Key, Sought]) -> Iterator[tuple[_Key, int]]:
    of_id = {sought.event: key for key, sought in wanted.items()}
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
                key = of_id.get(str(line.get("event") or f"e{count}"))
                if key is not None:
                    yield key, lines.number


def _foreign(path: str, wanted: Mapping[_Key, Sought]) -> Iterator[tuple[_Key, int]]:
    of_call: dict[bytes, list[_Key]] = {}
    for key, sought in wanted.items():
        of_call.setdefault(sought.call.encode("utf-8", "surrogatepass"), []).append(key)
    with opened(path) as (stream, _):
        for number, line in enumerate(lines_of(stream, path), 1):
            for found in _ID.finditer(line):
                for key in of_call.pop(found[1], ()):
                    yield key, number
            if not of_call:
                return
