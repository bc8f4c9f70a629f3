"""A corpus evaluated: every run judged, every label used, and nothing left out without a word."""

from __future__ import annotations

import time
from collections import Counter, deque
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from statistics import fmean
from typing import TYPE_CHECKING, Literal, TypeAlias

from vigil_lang.base.processes import can_spawn, processors, spawned
from vigil_lang.diagnostics import Diagnostic, InputError, Source
from vigil_lang.evaluation import figures
from vigil_lang.evaluation.ablation import name_of
from vigil_lang.evaluation.corpus import VIGIL
from vigil_lang.evaluation.figures import Counts, Table
from vigil_lang.evaluation.judging import (
    Found,
    Judge,
    Judged,
    Task,
    Verdict,
    judge_all,
    load_group,
    policy_files,
    prepare,
)
from vigil_lang.evaluation.labels import Label, LabelRow, Labels, Said, matcher, read_rows
from vigil_lang.evaluation.layouts import Piece, files_of, pieces_of
from vigil_lang.project.paths import data_paths

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from concurrent.futures import Executor, Future

    from vigil_lang.abstraction.tools import Tool
    from vigil_lang.evaluation.ablation import Part
    from vigil_lang.evaluation.corpus import Corpus, GroupOf, Layout
    from vigil_lang.evaluation.judging import Outcome, Witness

WORTH_A_PROCESS = 64
"""So many pieces are worth other processes."""

_TOGETHER = 8
"""Pieces that a process takes at once."""

_AHEAD = 4
"""Parcels that each process may have waiting."""

ForGroups: TypeAlias = tuple[Piece, tuple[str, ...]]
"""What is to be judged, with the names of the groups that it may be of."""

Reason: TypeAlias = Literal[
    "unreadable", "unlabelled", "excluded", "left out", "without group", "unjudged", "unused label"
]


@dataclass(frozen=True, slots=True)
class Case:
    """One run in one group. Without a `label` it counts for no figure, and neither without a `verdict`.

    `vacuous`: it puts no statement to the test. `unseen` is how many of its calls are not wholly seen.
    """

    group: str
    run: str
    label: Label | None
    verdict: Verdict | None
    vacuous: bool
    unseen: int


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A run whose verdict is not its label: what was violated, or what held although it was put to the test."""

    group: str
    run: str
    recording: str
    name: str
    """What the run is called in its recording; empty where that holds no other."""
    label: Literal["violating", "benign"]
    verdict: Verdict
    by: GroupOf
    witnesses: tuple[Witness, ...]
    exercised: tuple[tuple[str, str], ...]
    calls: int
    unseen: int


@dataclass(frozen=True, slots=True)
class Omission:
    """A run, a recording or a label that counts for no figure, and why. `group` is empty where it is of none."""

    reason: Reason
    what: str
    why: str = ""
    group: str = ""


@dataclass(slots=True)
class StatementCounts:
    """Labelled runs of a group that put a statement to the test, that violate it, and of these the violating ones."""

    group: str
    policy: str
    name: str
    exercised: int = 0
    violated: int = 0
    rightly: int = 0


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds that stages took: of each run `abstract` and `verify`, of each group `compile` (Table IV).

    `baselines` has by name how long each took for each run.
    """

    abstract: tuple[float, ...]
    compile: tuple[float, ...]
    verify: tuple[float, ...]
    baselines: Mapping[str, tuple[float, ...]]


@dataclass(frozen=True, slots=True)
class Growth:
    """The vocabulary after so many events, over the runs that have as many: means (Figure 8)."""

    events: int
    runs: int
    characters: float
    names: float


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What an evaluation comes to. `systems` has the figures of each system by its name, `vigil` first."""

    corpus: Corpus
    systems: Mapping[str, Table]
    baselines: tuple[str, ...]
    cases: tuple[Case, ...]
    disagreements: tuple[Disagreement, ...]
    omissions: tuple[Omission, ...]
    unanswered: Mapping[str, tuple[Omission, ...]]
    """By baseline, the labelled runs of which it said nothing."""
    runs: int
    """Runs that were read, each once."""
    times: Times
    growth: tuple[Growth, ...]
    statements: tuple[StatementCounts, ...]
    broken: tuple[Diagnostic, ...] = ()
    """What kept recordings and labels from being read."""
    fault: bool = False
    """Whether some verdict was not confirmed by the solver."""

    def of(self, reason: Reason) -> list[Omission]:
        """What was left out for one reason."""
        return [each for each in self.omissions if each.reason == reason]

    @property
    def at_fault(self) -> bool:
        """Whether the corpus is at fault: something cannot be read or judged, labels contradict or name nothing."""
        return any(each.reason in ("unreadable", "unjudged", "unused label") for each in self.omissions) or any(
            each.why and each.reason == "unlabelled" for each in self.omissions
        )


@dataclass(slots=True)
class _Tally:
    """What is known so far."""

    corpus: Corpus
    labels: Mapping[str, Labels]
    systems: dict[str, dict[str, Counts]]
    without: Sequence[str]
    baselines: Sequence[str]
    statements: dict[tuple[str, str, str], StatementCounts]
    cases: list[Case] = field(default_factory=list)
    disagreements: list[Disagreement] = field(default_factory=list)
    omissions: list[Omission] = field(default_factory=list)
    unanswered: dict[str, list[Omission]] = field(default_factory=dict)
    broken: list[Diagnostic] = field(default_factory=list)
    abstract: list[float] = field(default_factory=list)
    verify: list[float] = field(default_factory=list)
    asked: dict[str, list[float]] = field(default_factory=dict)
    sizes: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    runs: int = 0
    fault: bool = False
    paths: Counter[str] = field(default_factory=Counter)
    """How many runs of a path there were: a recording may give several one name."""

    def add(self, outcome: Outcome) -> None:
        """Take in a run, or what could not be read."""
        if not isinstance(outcome, Found):
            path, findings = outcome
            self.broken += findings
            self.omissions.append(Omission("unreadable", path, findings[0].message))
            return
        self.runs += 1
        self.paths[outcome.run] += 1
        again = self.paths[outcome.run]
        called = f"{outcome.run}#{again}" if again > 1 else outcome.run
        self.abstract.append(outcome.abstracted)
        for events, characters, names in outcome.vocabulary:
            self.sizes.setdefault(events, []).append((characters, names))
        if not outcome.judged:
            why = "no group's `where` matches its fields"
            self.omissions.append(Omission("without group", called, why))
        for judged in outcome.judged:
            self._judged(outcome, judged, called)

    def _judged(self, found: Found, judged: Judged, called: str) -> None:
        said = self._label(judged.group, found)
        vacuous = judged.verdict is not None and not judged.exercised
        self.cases.append(Case(judged.group, called, said.label, judged.verdict, vacuous, found.unseen))
        self.fault |= judged.fault
        if judged.verdict is None:
            self.omissions.append(Omission("unjudged", called, judged.why, judged.group))
        else:
            self.verify.append(judged.verified)
        if said.label is None or said.label == "excluded":
            reason: Reason = "unlabelled" if said.label is None else "excluded"
            self.omissions.append(Omission(reason, called, said.why, judged.group))
            return
        self._count(VIGIL, judged.group, said.label, judged.verdict)
        for policy, name in judged.exercised:
            self.statements[judged.group, policy, name].exercised += 1
        for witness in judged.witnesses:
            counts = self.statements[judged.group, witness.policy, witness.statement]
            counts.violated += 1
            counts.rightly += said.label == "violating"
        for name, verdict in zip(self.without, judged.without, strict=True):
            self._count(name, judged.group, said.label, verdict)
        for name, answer in zip(self.baselines, judged.answers, strict=True):
            self.asked.setdefault(name, []).append(answer.seconds)
            self._count(name, judged.group, said.label, answer.verdict)
            if answer.verdict is None:
                lost = Omission("unjudged", called, answer.why, judged.group)
                self.unanswered.setdefault(name, []).append(lost)
        if judged.verdict is not None and (said.label == "violating") != (judged.verdict == "unsafe"):
            by = next(group for group in self.corpus.groups if group.name == judged.group)
            self.disagreements.append(
                Disagreement(
                    judged.group,
                    called,
                    found.recording,
                    called[len(found.recording) + 1 :],
                    said.label,
                    judged.verdict,
                    by,
                    witnesses=judged.witnesses,
                    exercised=judged.exercised,
                    calls=found.calls,
                    unseen=found.unseen,
                )
            )

    def _label(self, group: str, found: Found) -> Said:
        """What is true of a run: what the group's files say, or without any its layout."""
        if group in self.labels:
            return self.labels[group].say(found.run) or Said(None)
        return Said(found.label)

    def _count(self, system: str, group: str, label: Label, verdict: Verdict | None) -> None:
        counts = self.systems[system]
        unsafe = None if verdict is None else verdict == "unsafe"
        counts[group] = counts[group].with_one(violating=label == "violating", unsafe=unsafe)


def evaluate(
    corpus: Corpus,
    *,
    without: Sequence[frozenset[Part]] = (),
    baselines: bool = False,
    vocabulary: bool = False,
    only: Sequence[str] = (),
    jobs: int | None = None,
    tools: Mapping[str, Tool] | None = None,
    params: Mapping[str, object] | None = None,
    watched: Callable[[list[str]], Iterable[str]] = iter,
) -> Evaluation:
    """Judge the runs of a corpus and count.

    `watched` is handed the files, and gives them back one by one as they are come to: whoever shows progress.

    Raises:
        InputError: a policy, a group's paths or its labels cannot be used; nothing was judged.
    """
    asked = corpus.baselines if baselines else ()
    task = Task(
        corpus.groups,
        corpus.reading,
        tools=tools or {},
        params=params or {},
        without=tuple(without),
        baselines=asked,
        folder=corpus.folder,
        only=tuple(only),
        vocabulary=vocabulary,
    )
    compiled, statements = _compiled(task)
    if unknown := set(only) - {name for _, _, name in statements}:
        message = f"no policy has a statement `{min(unknown)}`"
        raise InputError([Diagnostic.of("VGL005", message, Source(corpus.path, ""))])
    idle = [group.name for group in corpus.groups if group.name not in compiled]
    corpus = replace(corpus, groups=tuple(group for group, _ in compiled.values()))
    task = replace(task, groups=corpus.groups)
    labels, rows = _labels(corpus.groups)
    names = [name_of(parts) for parts in without]
    programs = [baseline.name for baseline in asked]
    empty = dict.fromkeys([group.name for group in corpus.groups], Counts())
    systems = {name: dict(empty) for name in (VIGIL, *names, *programs)}
    tally = _Tally(corpus, labels, systems, names, programs, statements)
    why = "the group has none of the statements that were asked for"
    tally.omissions += [Omission("left out", name, why) for name in idle]
    for outcome in _outcomes(task, _pieces(corpus.groups, tally, watched), jobs):
        tally.add(outcome)
    tally.omissions += _unused(rows, labels.values(), all_groups=not idle)
    tables = {name: figures.table(counts, corpus.bootstrap) for name, counts in tally.systems.items()}
    return Evaluation(
        corpus,
        tables,
        tuple(programs),
        cases=tuple(tally.cases),
        disagreements=tuple(tally.disagreements),
        omissions=tuple(tally.omissions),
        unanswered={name: tuple(lost) for name, lost in tally.unanswered.items()},
        runs=tally.runs,
        times=Times(
            tuple(tally.abstract),
            tuple(taken for _, taken in compiled.values()),
            tuple(tally.verify),
            {name: tuple(taken) for name, taken in tally.asked.items()},
        ),
        growth=tuple(_growth(tally.sizes)),
        statements=tuple(statements.values()),
        broken=tuple(tally.broken),
        fault=tally.fault,
    )


def _compiled(
    task: Task,
) -> tuple[dict[str, tuple[GroupOf, float]], dict[tuple[str, str, str], StatementCounts]]:
    """Each group by its name, with the files of its policies and the seconds that reading these took; and statements.

    A group that has no statement that was asked for is not among them.

    Raises:
        InputError: the policies of a group cannot be used.
    """
    groups: dict[str, tuple[GroupOf, float]] = {}
    statements: dict[tuple[str, str, str], StatementCounts] = {}
    for group in task.groups:
        begun = time.perf_counter()
        policies = load_group(group, task)
        if policies:
            taken = time.perf_counter() - begun
            groups[group.name] = replace(group, policies=policy_files(group)), taken
        for policy in policies:
            for statement in policy.statements:
                key = (group.name, policy.path, statement.name)
                statements[key] = StatementCounts(*key)
    return groups, statements


def _labels(groups: Sequence[GroupOf]) -> tuple[dict[str, Labels], list[LabelRow]]:
    """The labels of each group that has files of them, and all rows of these files.

    Raises:
        InputError: a file cannot be read, or is none of labels.
    """
    read: dict[str, list[LabelRow]] = {}
    found: dict[str, Labels] = {}
    for group in groups:
        if not group.labels:
            continue
        own, matches = [], matcher(group.where_labels)
        for path in data_paths(group.labels):
            if path not in read:
                read[path] = list(read_rows(path))
            own += [row for row in read[path] if matches(row.members)]
        found[group.name] = Labels.of(own)
    return found, [row for rows in read.values() for row in rows]


def _unused(rows: Iterable[LabelRow], groups: Iterable[Labels], *, all_groups: bool) -> Iterator[Omission]:
    """The rows that say nothing of any run. Where not `all_groups` are judged, their runs may be of another one."""
    labels = list(groups)
    used = {place for of in labels for place in of.used}
    taken = {row.place for of in labels for each in of.rows.values() for row in each}
    unused = taken - used
    for row in rows:
        if row.place in unused:
            yield Omission("unused label" if all_groups else "left out", row.run, f"{row.place}: it names no run")
        elif row.place not in taken:
            yield Omission("left out", row.run, f"{row.place}: no group's `where-labels` matches it")


def _pieces(
    groups: Sequence[GroupOf], tally: _Tally, watched: Callable[[list[str]], Iterable[str]]
) -> Iterator[ForGroups]:
    """What is to be judged, each once, with the groups that it may be of."""
    sources: dict[tuple[Layout, str], list[str]] = {}
    for group in groups:
        for path in files_of(group.layout, group.runs):
            sources.setdefault((group.layout, path), []).append(group.name)
    of: dict[str, list[tuple[Layout, tuple[str, ...]]]] = {}
    for (layout, path), found in sources.items():
        of.setdefault(path, []).append((layout, tuple(found)))
    for path in watched(list(of)):
        for layout, names in of[path]:
            try:
                for piece in pieces_of(layout, path):
                    if piece.left_out:
                        called = f"{path}#{piece.number}" if piece.number else path
                        tally.omissions.append(Omission("left out", called, piece.left_out))
                    else:
                        yield piece, names
            except InputError as error:
                tally.add((path, error.diagnostics))


def _outcomes(task: Task, pieces: Iterator[ForGroups], jobs: int | None) -> Iterator[Outcome]:
    """What judging the pieces comes to, in their order: in this process where they are few, else in several."""
    jobs = jobs or processors()
    first = list(islice(pieces, WORTH_A_PROCESS))
    every = chain(first, pieces)
    if jobs == 1 or len(first) < WORTH_A_PROCESS or not can_spawn():
        judge = Judge(task)
        for piece, groups in every:
            yield from judge.outcomes(piece, groups)
        return
    with spawned(jobs, prepare, task) as pool:
        yield from _spread(pool, every, jobs * _AHEAD)


def _spread(pool: Executor, pieces: Iterator[ForGroups], ahead: int) -> Iterator[Outcome]:
    """Parcels of pieces given to processes, no more at once than `ahead`: a corpus may be larger than memory."""
    waiting: deque[Future[list[Outcome]]] = deque()
    try:
        while True:
            while len(waiting) < ahead and (parcel := list(islice(pieces, _TOGETHER))):
                waiting.append(pool.submit(judge_all, parcel))
            if not waiting:
                return
            yield from waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()


def _growth(sizes: Mapping[int, list[tuple[int, int]]]) -> Iterator[Growth]:
    """The points of the curve that several runs share: powers of two, and beyond them what the longest run has."""
    shared = sorted(events for events in sizes if events & (events - 1) == 0)
    longest = max(sizes, default=0)
    for events in dict.fromkeys([*shared, *([longest] if longest else [])]):
        found = sizes[events]
        yield Growth(events, len(found), fmean(c for c, _ in found), fmean(n for _, n in found))
