"""What a scan comes to: a line for each statement, the trend by group, and the violations run by run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from vigil_lang.trace.values import time_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from vigil_lang.corpus.scanning import Scan
    from vigil_lang.semantics.lower import Statement

NONE: Final = "none"
"""The group of runs that do not say."""
DAY: Final = "day"
OF_RUN: Final = ("format", "source", "name", "cwd")


class NoGroup(Exception):
    """No run has a field of that name; the message names those that there are."""


@dataclass(frozen=True)
class Row:
    """One statement: numbers of runs and events, when it was first and last violated (microseconds), and the numbers of
    runs that violate it by group. `known` are violated runs that a baseline has."""

    name: str
    policy: str
    form: str
    severity: str
    doc: str
    violated: int
    events: int
    vacuous: int
    unjudged: int
    first: int | None
    last: int | None
    groups: Mapping[str, int]
    known: int = 0

    @property
    def new(self) -> int:
        """The violated runs that no baseline has."""
        return self.violated - self.known


@dataclass(frozen=True)
class Figures:
    """A whole scan. `groups` are the numbers of runs by group, in order."""

    runs: int
    events: int
    unsafe: int
    rows: tuple[Row, ...]
    by: str
    groups: Mapping[str, int]
    unreadable: tuple[tuple[str, str], ...]
    unjudged: tuple[tuple[str, str, str], ...]
    """Run, statement, why."""
    interrupted: bool
    violations: pl.DataFrame = field(repr=False)
    """An event at fault a line: `run` (its path), `group`, `policy`, `name`, `index`, `event`, `time`, `known`."""

    def by_run(self) -> Iterator[dict[str, Any]]:
        """The violations run by run, each statement with its events in order."""
        keys = ["run", "policy", "name"]
        for row in self.violations.group_by(keys, maintain_order=True).agg("event").iter_rows(named=True):
            yield {"run": row["run"], "policy": row["policy"], "name": row["name"], "events": row["event"]}


def figures(
    found: Scan,
    statements: Sequence[tuple[str, Statement]],
    by: str = DAY,
    known: frozenset[tuple[str, str]] = frozenset(),
) -> Figures:
    """What a scan comes to. `statements` are those of its rules, with their policies' paths; `known` has the runs and
    statements of a baseline.

    Raises:
        NoGroup: no run has the field `by`.
    """
    runs = found.runs.with_columns(_group(found.runs, by))
    groups = dict(runs.group_by("group").len().sort("group").iter_rows())
    names = pl.DataFrame(
        {
            "rule": range(len(statements)),
            "policy": [policy for policy, _ in statements],
            "name": [statement.name for _, statement in statements],
        },
        schema={"rule": pl.Int32, "policy": pl.String, "name": pl.String},
    )
    in_baseline = pl.DataFrame(sorted(known), schema={"run": pl.String, "name": pl.String}, orient="row")
    violations = (
        found.offences.rename({"run": "number"})
        .join(
            runs.select(pl.col("run").alias("number"), pl.col("path").alias("run"), "group"),
            on="number",
            how="left",
            maintain_order="left",
        )
        .join(names, on="rule", how="left", maintain_order="left")
        .join(
            in_baseline.with_columns(pl.lit(True).alias("known")), on=["run", "name"], how="left", maintain_order="left"
        )
        .with_columns(pl.col("known").fill_null(False))
    )
    rows = []
    unjudged = [set[int]() for _ in statements]
    for rule, run, _ in found.unjudged:
        unjudged[rule].add(run)
    parts = {key[0]: part for key, part in violations.partition_by("rule", as_dict=True).items()}
    for at, (policy, statement) in enumerate(statements):
        part = parts.get(at, violations.clear())
        broken = part.select("number", "group", "known").unique()
        rows.append(
            Row(
                statement.name,
                policy,
                statement.form,
                statement.metadata.severity,
                " ".join((statement.metadata.doc or "").split()),
                broken.height,
                part.height,
                len(found.vacuous[at]),
                len(unjudged[at]),
                part["time"].min(),  # type: ignore[arg-type]
                part["time"].max(),  # type: ignore[arg-type]
                dict(broken.group_by("group").len().sort("group").iter_rows()),
                int(broken["known"].sum()),
            )
        )
    paths = dict(runs.select("run", "path").iter_rows())
    return Figures(
        runs.height,
        found.events,
        found.offences["run"].n_unique(),
        tuple(rows),
        by,
        groups,
        tuple((one.path, one.why) for one in found.bad),
        tuple((paths[run], statements[rule][1].name, why) for rule, run, why in found.unjudged),
        found.interrupted,
        violations.sort("number", "rule", "index").select(
            "run", "group", "policy", "name", "index", "event", "time", "known"
        ),
    )


def _group(runs: pl.DataFrame, by: str) -> pl.Series:
    """The group of each run."""
    if by == DAY:
        days = [NONE if time is None else day_text(time) for time in runs["time"]]
        return pl.Series("group", days, dtype=pl.String)
    if by in OF_RUN:
        return runs[by].fill_null(NONE).alias("group")
    found: set[str] = set()
    values: list[str] = []
    for about in runs["about"]:
        fields = {entry["key"]: entry["value"] for entry in ([] if about is None else about)}
        found |= fields.keys()
        values.append(fields.get(by, NONE))
    if runs.height and by not in found:
        raise NoGroup(f"no run has a field `{by}` in its header: there is {', '.join([DAY, *OF_RUN, *sorted(found)])}")
    return pl.Series("group", values, dtype=pl.String)


def day_text(time: int) -> str:
    """The day, in UTC, of a time in microseconds since 1970: `2026-01-05`."""
    return time_text(time)[:10]


def moment_text(time: int | None) -> str | None:
    """A time as ISO 8601; None where there is none."""
    return None if time is None else time_text(time)


def to_json(found: Figures) -> dict[str, Any]:
    """The object `vigil.scan/1`."""
    return {
        "schema": "vigil.scan/1",
        "runs": found.runs,
        "events": found.events,
        "unsafe_runs": found.unsafe,
        "interrupted": found.interrupted,
        "by": found.by,
        "groups": [{"group": group, "runs": runs} for group, runs in found.groups.items()],
        "statements": [
            {
                "policy": row.policy,
                "name": row.name,
                "form": row.form,
                "severity": row.severity,
                "violated_runs": row.violated,
                "known_runs": row.known,
                "offending_events": row.events,
                "vacuous_runs": row.vacuous,
                "unjudged_runs": row.unjudged,
                "first_seen": moment_text(row.first),
                "last_seen": moment_text(row.last),
                "groups": [{"group": group, "violated_runs": runs} for group, runs in row.groups.items()],
            }
            for row in found.rows
        ],
        "violations": list(found.by_run()),
        "unreadable": [{"path": path, "why": why} for path, why in found.unreadable],
        "unjudged": [{"run": run, "name": name, "why": why} for run, name, why in found.unjudged],
    }
