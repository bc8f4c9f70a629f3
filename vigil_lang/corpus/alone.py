"""Runs judged one by one, in worker processes: what no plan can say, and runs that are out of order for theirs."""

from __future__ import annotations

from collections import deque
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import polars as pl

from vigil_lang.base.processes import can_spawn, processors, spawned
from vigil_lang.corpus.recordings import begin_worker, packed, unpacked
from vigil_lang.diagnostics import TooCostly
from vigil_lang.engines.columnar.events import traces_of
from vigil_lang.engines.effort import Effort
from vigil_lang.engines.index import RunIndex
from vigil_lang.engines.indexed import Judgement

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from concurrent.futures import Future, ProcessPoolExecutor

    from vigil_lang.engines.interface import Rule
    from vigil_lang.trace import Trace

TASK_EVENTS: Final = 20_000
WORTH_A_PROCESS: Final = 40_000
"""Events, for each rule that judges them, for which other processes pay."""


class Found(NamedTuple):
    """What one rule, by its place, says of one run: the events at fault by their indices.

    `why` says why the run was not judged.
    """

    run: int
    rule: int
    events: tuple[int, ...]
    exercised: bool
    why: str = ""


def judged(rules: Sequence[Rule], number: int, trace: Trace) -> Iterator[Found]:
    """What rules say of a run; one whose cost its size does not warrant is not judged by that rule."""
    effort = Effort()
    effort.begin(trace)
    index = RunIndex(trace, effort)
    for at, rule in enumerate(rules):
        try:
            judgement = Judgement(rule.requirement, index, name=rule.name)
            events = tuple(violation.event for violation in judgement.violations())
            yield Found(number, at, events, bool(events) or judgement.exercised())
        except TooCostly as error:
            yield Found(number, at, (), False, error.diagnostics[0].message)


class Alone:
    """Judges runs of frames, in this process while they are few."""

    def __init__(self, rules: Sequence[Rule], jobs: int | None = None) -> None:
        self._rules = list(rules)
        self._jobs = processors() if jobs is None else jobs
        self._stack = ExitStack()
        self._pool: ProcessPoolExecutor | None = None

    def close(self) -> None:
        """End the worker processes, done or not."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
        self._stack.close()

    def judge(self, frame: pl.DataFrame, wanted: Mapping[int, frozenset[int] | None]) -> Iterator[Found]:
        """What rules, by their places, say of the runs with these numbers (None: of all) in a frame that has arguments
        of its own."""
        groups: dict[frozenset[int] | None, list[int]] = {}
        for rule, runs in wanted.items():
            groups.setdefault(runs, []).append(rule)
        under_way: deque[Future[list[Found]]] = deque()
        for runs, rules in groups.items():
            part = frame if runs is None else frame.filter(pl.col("run").is_in(list(runs)))
            chosen = [self._rules[rule] for rule in rules]
            for task in _tasks(part):
                if part.height * len(rules) < WORTH_A_PROCESS or self._jobs < 2 or not can_spawn():
                    found = _judge(chosen, task)
                else:
                    under_way.append(self._workers().submit(_judge_packed, chosen, packed(task)))
                    found = under_way.popleft().result() if len(under_way) > 2 * self._jobs else []
                yield from (one._replace(rule=rules[one.rule]) for one in found)
            while under_way:
                yield from (one._replace(rule=rules[one.rule]) for one in under_way.popleft().result())

    def _workers(self) -> ProcessPoolExecutor:
        if self._pool is None:
            self._pool = self._stack.enter_context(spawned(self._jobs, begin_worker))
        return self._pool


def _tasks(frame: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Whole runs, some at a time."""
    if not frame.height:
        return
    starts = frame["run"].ne_missing(frame["run"].shift(1)).arg_true().to_list()
    begin = 0
    for start in [*starts[1:], frame.height]:
        if start - begin >= TASK_EVENTS or start == frame.height:
            yield frame.slice(begin, start - begin)
            begin = start


def _judge(rules: Sequence[Rule], frame: pl.DataFrame) -> list[Found]:
    numbers = frame["run"].unique(maintain_order=True)
    runs: Any = zip(numbers, traces_of(frame), strict=True)
    return [found for number, trace in runs for found in judged(rules, number, trace)]


def _judge_packed(rules: Sequence[Rule], frame: bytes) -> list[Found]:
    return _judge(rules, unpacked(frame))
