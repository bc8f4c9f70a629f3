"""The engines over columns held against the denotation: verdicts, events at fault, and whether a run was a test."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.differential.engines import Answer, by_denotation
from tests.strategies.runs import trace_of
from vigil_lang.corpus.batch import batch_of
from vigil_lang.corpus.scanning import scan
from vigil_lang.engines.columnar.engine import ColumnarEngine, compiled_rule
from vigil_lang.engines.interface import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tests.strategies.runs import Line
    from vigil_lang.corpus.batch import Batch, Needs
    from vigil_lang.corpus.scanning import Engine
    from vigil_lang.semantics.core import Requirement
    from vigil_lang.trace import Trace


class Cut:
    """Some runs as a source, cut into batches before each of some places."""

    def __init__(self, traces: Sequence[Trace], cuts: Sequence[int]) -> None:
        ends = [*sorted({cut for cut in cuts if 0 < cut < len(traces)}), len(traces)]
        starts = [0, *ends[:-1]]
        self._parts = [traces[start:end] for start, end in zip(starts, ends, strict=True)]

    def __len__(self) -> int:
        return len(self._parts)

    def batches(self, needs: Needs) -> Iterator[Batch]:  # noqa: ARG002 - the protocol's
        return map(batch_of, self._parts)

    def trace(self, run: Mapping[str, object]) -> Trace:
        raise AssertionError(run)


def by_columns(requirements: Sequence[Requirement], traces: Sequence[Trace]) -> list[list[Answer]]:
    """What the batch engine says, run by run, requirement by requirement."""
    rules = [Rule(f"S{at}", requirement) for at, requirement in enumerate(requirements)]
    found = list(ColumnarEngine().judge(rules, traces))
    assert [outcome.rule for outcome in found] == rules * len(traces)
    answers = [Answer(tuple((v.event, v.binding) for v in o.violations), o.exercised) for o in found]
    return [answers[at : at + len(rules)] for at in range(0, len(answers), len(rules))]


def by_scan(
    requirements: Sequence[Requirement], traces: Sequence[Trace], engine: Engine, cuts: Sequence[int] = ()
) -> list[list[tuple[list[int], bool]]]:
    """The events at fault and whether the run was a test, as a scan finds them in batches cut at these places."""
    rules = [Rule(f"S{at}", requirement) for at, requirement in enumerate(requirements)]
    found = scan(Cut(traces, cuts), rules, engine=engine, jobs=1, chunk_events=1)
    assert not found.unjudged
    assert found.runs["run"].to_list() == list(range(len(traces)))
    events: dict[tuple[int, int], list[int]] = {}
    for rule, run, index, event, time in found.offences.iter_rows():
        events.setdefault((run, rule), []).append(index)
        assert traces[run].events[index].id == event
        assert traces[run].events[index].time == time
    return [
        [(events.get((run, rule), []), run not in found.vacuous[rule]) for rule in range(len(rules))]
        for run in range(len(traces))
    ]


def check(
    requirements: Sequence[Requirement],
    runs: Sequence[Sequence[Line]],
    engines: Sequence[Engine],
    cuts: Sequence[int] | None = None,
) -> int:
    """Every engine on every run, Polars also on batches that are cut at these places, one at a time (by default at
    every place); returns how many requirements had a plan."""
    traces = [trace_of(list(lines)) for lines in runs]
    expected = [[by_denotation(requirement, trace) for requirement in requirements] for trace in traces]
    assert by_columns(requirements, traces) == expected
    told = [[(answer.events, answer.exercised) for answer in of] for of in expected]
    for engine in engines:
        assert by_scan(requirements, traces, engine) == told, engine
    for cut in range(1, len(traces)) if cuts is None else cuts:
        assert by_scan(requirements, traces, "polars", (cut,)) == told, cut
    return sum(compiled_rule(Rule("S", requirement)).plan is not None for requirement in requirements)
