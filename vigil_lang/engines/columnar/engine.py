"""The batch engine over columns: what compiles is worked out for many runs at once, what does not run by run."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import polars as pl

from vigil_lang.diagnostics import TooCostly
from vigil_lang.engines.columnar.compiler import NotCompiled, compiled_plan
from vigil_lang.engines.columnar.events import frame_of
from vigil_lang.engines.columnar.facts import ROW, Chunk, Inexact
from vigil_lang.engines.columnar.frames import Frames, TooMany
from vigil_lang.engines.indexed import IndexedEngine
from vigil_lang.engines.interface import Outcome, Rule, Violation
from vigil_lang.semantics import denotation

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from vigil_lang.engines.columnar.plan import Plan
    from vigil_lang.trace import Trace

_EVENTS = 100_000
"""Events that are worked out together, at least; whole runs are."""


@dataclass(frozen=True)
class Compiled:
    """A rule with its plan, or with why it has none."""

    rule: Rule
    plan: Plan | None
    why: str = ""


def compiled_rule(rule: Rule) -> Compiled:
    """A rule, compiled if it can be."""
    try:
        return Compiled(rule, compiled_plan(rule.requirement))
    except NotCompiled as error:
        return Compiled(rule, None, str(error))


def disordered(chunk: Chunk) -> dict[str, pl.Series]:
    """By what is out of order in it, the rows of the first events of runs: what bounds and counts cannot be worked out
    for by columns."""
    same = chunk.row != chunk.first
    found = {}
    for name, column in (("calls", "call"), ("groups", "group"), ("times", "time")):
        values = chunk.frame[column]
        if name == "times":  # times that are missing are passed over
            values = values.fill_null(strategy="forward")
        # Ordinals are given in order of appearance: a step back returns to a call that another interrupted.
        wrong = values < values.shift(1)
        found[name] = chunk.first.filter((wrong & same).fill_null(False)).unique()
    return found


class ColumnarEngine:
    """The batch engine for many runs, on Polars."""

    def judge(self, rules: Sequence[Rule], runs: Iterable[Trace]) -> Iterator[Outcome]:
        """The outcome of every rule on every run, run by run."""
        compiled = [compiled_rule(rule) for rule in rules]
        waiting = iter(runs)
        while batch := list(_taken(waiting)):
            yield from _judged(compiled, batch)


def _taken(runs: Iterator[Trace]) -> Iterator[Trace]:
    events = 0
    for run in islice(runs, _EVENTS):
        yield run
        events += len(run)
        if events >= _EVENTS:
            return


def _judged(compiled: Sequence[Compiled], runs: Sequence[Trace]) -> Iterator[Outcome]:
    frames = Frames(Chunk(frame_of(enumerate(runs))))
    starts: list[int] = []
    at = 0
    for run in runs:
        starts.append(at)
        at += len(run)
    wrong = {order: set(rows) for order, rows in disordered(frames.chunk).items()}
    answers = [_answered(one, frames, runs, starts) for one in compiled]
    alone = IndexedEngine()
    for number, run in enumerate(runs):
        for one, answer in zip(compiled, answers, strict=True):
            unfit = one.plan is not None and any(starts[number] in wrong[order] for order in one.plan.ordered)
            if answer is None or (unfit and len(run)):
                yield from alone.judge([one.rule], [run])
            else:
                yield answer[number]


def _answered(one: Compiled, frames: Frames, runs: Sequence[Trace], starts: list[int]) -> list[Outcome] | None:
    """The outcomes of a rule on some runs; None where it has no plan, or a view refuses a text of theirs."""
    if one.plan is None:
        return None
    try:
        rows = frames.rows(one.plan.violated)
        exercised = None if one.plan.exercised is None else frames.rows(one.plan.exercised)
    except (TooCostly, TooMany, Inexact):
        return None
    variables = one.rule.requirement.variables
    found: list[dict[int, list[tuple[str | None, ...]]]] = [{} for _ in runs]
    place = pl.Series(starts, dtype=pl.Int64).search_sorted(rows[ROW].cast(pl.Int64), side="right") - 1
    for number, row, *binding in rows.select(place.alias("number"), ROW, *variables).iter_rows():
        found[number].setdefault(row - starts[number], []).append(tuple(binding))
    tested = set(frames.chunk.first.gather(exercised[ROW].unique())) if exercised is not None else set()
    outcomes = []
    for number, run in enumerate(runs):
        violations = tuple(_violations(one.rule, run, found[number]))
        met = exercised is None or (len(run) > 0 and starts[number] in tested)
        outcomes.append(Outcome(one.rule, violations, bool(violations) or met))
    return outcomes


def _violations(rule: Rule, run: Trace, found: dict[int, list[tuple[str | None, ...]]]) -> Iterator[Violation]:
    """The events at fault in order, each with the first of its failing bindings (spec 7.9)."""
    rank: dict[str | None, int] | None = None
    for event in sorted(found):
        bindings = found[event]
        if len(bindings) > 1 and rank is None:
            rank = {value: at for at, value in enumerate(denotation.values(rule.requirement.theta, run))}
        known = rank or {}
        yield Violation(event, min(bindings, key=lambda b: [known[v] for v in b]) if len(bindings) > 1 else bindings[0])
