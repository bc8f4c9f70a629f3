"""Events as columns, and columns as events again: nothing that a policy can test is lost on the way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from vigil_lang.trace import Run, Trace
from vigil_lang.trace.event import made_event

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

ARGS: Final = pl.List(pl.Struct({"key": pl.String, "value": pl.List(pl.String)}))
COLUMNS: Final[dict[str, Any]] = {
    "run": pl.Int64,
    "index": pl.Int32,
    "call": pl.Int32,
    "group": pl.Int32,
    "id": pl.String,
    "of": pl.String,
    "action": pl.String,
    "kinds": pl.List(pl.String),
    "status": pl.String,
    "time": pl.Int64,
    "output": pl.String,
    "args": ARGS,
}
"""The columns of events. `call` is the ordinal by which bounds measure, `group` the one by which counts tell calls
apart: a message is no call, and has a group of its own. `of` is the id of the call, null where it is the event's."""


def frame_of(runs: Iterable[tuple[int, Trace]]) -> pl.DataFrame:
    """The events of some runs, each run with its number, as columns.

    Raises:
        ValueError: a text has half a character in it, which no UTF-8 has.
    """
    columns: dict[str, list[Any]] = {name: [] for name in COLUMNS}
    run_, index, call, group, id_, of, action, kinds, status, time, output, args = columns.values()
    for number, trace in runs:
        groups: dict[str, int] = {}
        run_ += [number] * len(trace)
        index += range(len(trace))
        call += trace.call_index
        for event in trace.events:
            group.append(groups.setdefault(event.call, len(groups)))
            id_.append(event.id)
            of.append(None if event.call == event.id else event.call)
            action.append(event.action)
            kinds.append(event.kinds)
            status.append(event.status)
            time.append(event.time)
            output.append(event.output)
            args.append([{"key": name, "value": texts} for name, texts in event.args.items()])
    return pl.DataFrame(columns, schema=COLUMNS)


def traces_of(frame: pl.DataFrame, runs: Sequence[Run] | None = None) -> list[Trace]:
    """The runs that a frame holds, in its order; `runs` has what else is known of each."""
    found: list[Trace] = []
    for at, part in enumerate(frame.partition_by("run", maintain_order=True) if frame.height else ()):
        events = tuple(
            made_event(
                id_,
                action,
                id_ if of is None else of,
                {entry["key"]: tuple(entry["value"]) for entry in args},
                status,
                output,
                tuple(kinds),
                time,
                {},
            )
            for id_, of, action, kinds, status, time, output, args in part.select(
                "id", "of", "action", "kinds", "status", "time", "output", "args"
            ).iter_rows()
        )
        found.append(Trace(events, runs[at] if runs is not None else Run("<memory>")))
    return found
