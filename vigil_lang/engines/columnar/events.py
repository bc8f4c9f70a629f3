"""Events as columns, and columns as events again: nothing that a policy can test is lost on the way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl
import pyarrow as pa

from vigil_lang.trace import Run, Trace
from vigil_lang.trace.event import MESSAGES, Event

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
    columns: dict[str, list[Any]] = {name: [] for name in COLUMNS if name not in ("kinds", "args")}
    run_, index, call, group, id_, of, action, status, time, output = columns.values()
    kinds, args = _Nested(), _Nested()
    texts = _Nested()
    keys: list[str] = []
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
            kinds.add(event.kinds)
            status.append(event.status)
            time.append(event.time)
            output.append(event.output)
            for name, values in event.args.items():
                keys.append(name)
                texts.add(values)
            args.end(len(keys))
    entries = pa.StructArray.from_arrays([pa.array(keys, pa.large_string()), texts.array()], ["key", "value"])
    nested = {
        "kinds": pl.Series(kinds.array(), dtype=COLUMNS["kinds"]),
        "args": pl.Series(args.array(entries), dtype=ARGS),
    }
    flat = pl.DataFrame(columns, schema={name: COLUMNS[name] for name in columns})
    return flat.with_columns(**nested).select(list(COLUMNS))


class _Nested:
    """A column of lists, made of all that is in them and of where each ends: faster than list by list."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._ends = [0]

    def add(self, texts: Sequence[str]) -> None:
        self._texts += texts
        self._ends.append(len(self._texts))

    def end(self, at: int) -> None:
        self._ends.append(at)

    def array(self, values: Any = None) -> Any:
        inner = pa.array(self._texts, pa.large_string()) if values is None else values
        return pa.LargeListArray.from_arrays(pa.array(self._ends, pa.int64()), inner)


def traces_of(frame: pl.DataFrame, runs: Sequence[Run] | None = None) -> list[Trace]:
    """The runs that a frame holds, in its order; `runs` has what else is known of each."""
    found: list[Trace] = []
    for at, part in enumerate(frame.partition_by("run", maintain_order=True) if frame.height else ()):
        events = tuple(
            Event(
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


def ordinals(runs: pl.Series, call: pl.Series, action: pl.Series, *, alone: bool) -> tuple[pl.Series, pl.Series]:
    """The ordinals of calls as bounds count them, and as counts do: `call` and `group` of `COLUMNS`.

    `alone` says that each event is a call of its own.
    """
    frame = pl.DataFrame({"run": runs, "call": call, "said": action.is_in(list(MESSAGES))}).with_row_index("row")
    own = pl.lit(True) if alone else pl.col("row") == pl.col("row").min().over("run", "call")

    def numbered(rows: pl.DataFrame) -> pl.DataFrame:
        """The ordinal of each of some rows' calls, by which comes first."""
        firsts = rows.filter(own).with_columns((pl.int_range(pl.len(), dtype=pl.Int32).over("run")).alias("ordinal"))
        if alone:
            return firsts.select("row", "ordinal")
        found = rows.join(
            firsts.select("run", "call", "ordinal"), on=["run", "call"], how="left", maintain_order="left"
        )
        return found.select("row", "ordinal")

    calls = frame.join(numbered(frame.filter(~pl.col("said"))), on="row", how="left", maintain_order="left")
    # A message has the ordinal of the last call that began before it.
    begun = pl.col("ordinal").cum_max().forward_fill().over("run").fill_null(-1)
    bounded = calls.select(pl.when("said").then(begun).otherwise("ordinal").cast(pl.Int32).alias("call"))["call"]
    return bounded, numbered(frame)["ordinal"]
