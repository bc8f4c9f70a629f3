"""One piece of a corpus judged: by the policies of its groups, by these with a part taken away, and by other programs.

What is here runs in worker processes, and takes and gives plain data.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import cached_property
from io import BytesIO
from itertools import count, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from msgspec.structs import replace

from vigil_lang.abstraction.files import KnownFiles
from vigil_lang.abstraction.run import Options
from vigil_lang.diagnostics import Diagnostic, InputError, Source
from vigil_lang.engines.effort import Effort
from vigil_lang.engines.smt.engine import SmtEngine
from vigil_lang.engines.smt.solve import SolverDisagrees
from vigil_lang.engines.smt.verify import verify
from vigil_lang.evaluation.ablation import ablated_rules, ablated_trace
from vigil_lang.evaluation.baseline import Answer, ask
from vigil_lang.evaluation.labels import matcher
from vigil_lang.project.paths import TESTS, policy_paths
from vigil_lang.runs import load_traces, read_trace, usable
from vigil_lang.semantics.policy import Policy, load_policy
from vigil_lang.trace.unseen import calls_seen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from vigil_lang.abstraction.tools import Tool
    from vigil_lang.engines.interface import Rule
    from vigil_lang.evaluation.ablation import Part
    from vigil_lang.evaluation.corpus import Baseline, GroupOf, Reading
    from vigil_lang.evaluation.labels import Label
    from vigil_lang.evaluation.layouts import Piece
    from vigil_lang.trace import Trace
    from vigil_lang.verdict import StatementVerdict

Verdict: TypeAlias = Literal["safe", "unsafe"]


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be done with every piece: plain data, which can be sent to another process."""

    groups: tuple[GroupOf, ...]
    reading: Reading
    tools: Mapping[str, Tool] = field(default_factory=dict)
    params: Mapping[str, object] = field(default_factory=dict)
    without: tuple[frozenset[Part], ...] = ()
    baselines: tuple[Baseline, ...] = ()
    folder: str = "."
    only: tuple[str, ...] = ()
    """Judge by these statements alone."""
    vocabulary: bool = False


@dataclass(frozen=True, slots=True)
class Witness:
    """A statement that a run violates, with the first event at fault and how many there are."""

    policy: str
    statement: str
    event: str
    message: str
    events: int


@dataclass(frozen=True, slots=True)
class Judged:
    """What is said of one run for one group. Without a `verdict` `why` says what kept it from being judged.

    `without` and `answers` are in the order of the task; None where nothing was said. Times are in seconds.
    """

    group: str
    verdict: Verdict | None
    why: str = ""
    fault: bool = False
    """Whether it is this program's: the solver did not confirm a verdict."""
    witnesses: tuple[Witness, ...] = ()
    exercised: tuple[tuple[str, str], ...] = ()
    """The statements that the run puts to the test, each with its policy's path."""
    without: tuple[Verdict | None, ...] = ()
    answers: tuple[Answer, ...] = ()
    verified: float = 0.0


@dataclass(frozen=True, slots=True)
class Found:
    """One run of a recording, with what each of its groups says of it.

    `label` is what its layout says. `vocabulary` has for some numbers of its events how many characters a model is
    shown of the vocabulary so far, and how many names of actions, kinds and arguments that has.
    """

    run: str
    recording: str
    fields: Mapping[str, str]
    calls: int
    unseen: int
    abstracted: float
    judged: tuple[Judged, ...]
    label: Label | None = None
    vocabulary: tuple[tuple[int, int, int], ...] = ()


Outcome: TypeAlias = "Found | tuple[str, tuple[Diagnostic, ...]]"
"""A run, or what kept a recording, by its path, from being read."""


def load_group(group: GroupOf, task: Task) -> list[Policy]:
    """The policies of a group, with those of its statements that the task asks for; none where it has none of these.

    Raises:
        InputError: one of them cannot be used, a statement is in none of them, or a param.
    """
    policies = [load_policy(path, {**task.params, **group.params}) for path in policy_files(group)]
    declared = {name for policy in policies for name in policy.declared}
    known = {statement.name for policy in policies for statement in policy.statements}
    source = Source(group.policies[0], "")
    wrong = [
        f"the group `{group.name}` names the {what} `{name}`, which is in none of its policies"
        for what, names, there in (("param", group.params, declared), ("statement", group.statements, known))
        for name in names
        if name not in there
    ]
    if not known:
        wrong.append(f"the policies of the group `{group.name}` have no statement to judge by")
    if wrong:
        raise InputError([Diagnostic.of("VGL005", message, source) for message in wrong])
    chosen = known & set(group.statements or known) & set(task.only or known)
    policies = [replace(p, statements=tuple(s for s in p.statements if s.name in chosen)) for p in policies]
    return policies if chosen else []


def policy_files(group: GroupOf) -> tuple[str, ...]:
    """The policies of a group: files and standard modules, no tests.

    Raises:
        InputError: VGL001 for a path that stands for nothing.
    """
    return tuple(policy_paths(group.policies, lambda path: path.endswith(TESTS)))


class Judge:
    """A task with its policies read, ready for any number of pieces."""

    def __init__(self, task: Task) -> None:
        """Read the policies.

        Raises:
            InputError: as `load_group`.
        """
        self._task = task
        self._groups = {group.name: _Group(group, load_group(group, task), task) for group in task.groups}
        reading = task.reading
        shipped = None if reading.skills is None else Path(reading.skills)
        self._options = Options(
            kept=reading.keep_output,
            inferred=reading.inferred,
            files=lambda: KnownFiles(shipped),
            tools=dict(task.tools),
            allow_empty=reading.allow_empty,
        )

    def outcomes(self, piece: Piece, groups: Sequence[str]) -> Iterator[Outcome]:
        """The runs of a piece, each judged by those of the groups whose `where` it matches."""
        begun, effort = time.perf_counter(), Effort()
        try:
            for trace in self._traces(piece):
                taken = time.perf_counter() - begun
                yield self._found(piece, trace, [self._groups[name] for name in groups], effort, taken)
                begun = time.perf_counter()
        except InputError as error:
            yield _called(piece, None), error.diagnostics

    def _traces(self, piece: Piece) -> Iterable[Trace]:
        format_ = self._task.reading.format
        if piece.data is None:
            return load_traces(piece.path, format=format_, options=self._options)
        trace = read_trace(BytesIO(piece.data), piece.path, format_, self._options)
        called = _called(piece, trace.run.name)
        label = called.removeprefix(f"{piece.path}#") if piece.number > 0 else None
        run = replace(trace.run, path=called, label=label)
        return usable([replace(trace, run=run)], self._options)

    def _found(self, piece: Piece, trace: Trace, groups: Sequence[_Group], effort: Effort, taken: float) -> Found:
        run = trace.run
        own = {"path": run.path, "name": run.name, "source": run.source, "format": run.format}
        fields = {key: value for key, value in own.items() if value is not None} | dict(piece.fields)
        seen = calls_seen(trace)
        return Found(
            run.path,
            piece.path,
            fields,
            seen.calls,
            len(seen.unseen),
            taken,
            tuple(group.judge(trace, effort) for group in groups if group.matches(fields)),
            piece.label,
            tuple(_vocabulary(trace)) if self._task.vocabulary else (),
        )


class _Group:
    """A group with its policies."""

    def __init__(self, group: GroupOf, policies: list[Policy], task: Task) -> None:
        self._name = group.name
        self._policies = policies
        self._task = task
        self.matches: Callable[[Mapping[str, str]], bool] = matcher(group.where)

    @cached_property
    def _ablated(self) -> list[tuple[frozenset[Part], list[Rule]]]:
        return [(without, ablated_rules(self._policies, without)) for without in self._task.without]

    def judge(self, trace: Trace, effort: Effort) -> Judged:
        """What is said of a run."""
        without = tuple(self._without(trace, parts, rules) for parts, rules in self._ablated)
        answers = tuple(ask(baseline, trace, self._task.folder) for baseline in self._task.baselines)
        begun = time.perf_counter()
        try:
            verdict = verify(self._policies, trace, effort)
        except InputError as error:
            return Judged(self._name, None, error.diagnostics[0].message, without=without, answers=answers)
        except SolverDisagrees as error:
            why = f"the solver did not confirm the verdict: {error}"
            return Judged(self._name, None, why, fault=True, without=without, answers=answers)
        return Judged(
            self._name,
            verdict.verdict,
            witnesses=tuple(_witness(found) for found in verdict.statements if found.offending),
            exercised=tuple((found.policy, found.name) for found in verdict.statements if not found.vacuous),
            without=without,
            answers=answers,
            verified=time.perf_counter() - begun,
        )

    def _without(self, trace: Trace, parts: frozenset[Part], rules: list[Rule]) -> Verdict | None:
        try:
            outcomes = list(SmtEngine().judge(rules, [ablated_trace(trace, parts)]))
        except (InputError, SolverDisagrees):
            return None
        return "unsafe" if any(outcome.violations for outcome in outcomes) else "safe"


def _called(piece: Piece, name: str | None) -> str:
    return f"{piece.path}#{name or piece.number}" if piece.number else piece.path


def _witness(found: StatementVerdict) -> Witness:
    first = found.offending[0]
    return Witness(found.policy, found.name, first.event, first.message, len(found.offending))


def _vocabulary(trace: Trace) -> Iterator[tuple[int, int, int]]:
    """The vocabulary after 1, 2, 4, … events and at the end (paper, Figure 8)."""
    from vigil_lang.draft.prompting.vocabulary import describe
    from vigil_lang.trace import Trace, observe

    powers = takewhile(lambda size: size < len(trace), (1 << n for n in count()))
    for size in [*powers, *([len(trace)] if trace.events else [])]:
        part = Trace(trace.events[:size], trace.run)
        signature = observe([part])
        names = len(signature.names()) + len({name for action in signature.actions.values() for name in action.args})
        yield size, len(describe(signature, [part]).text), names


# --- in a process of its own ---------------------------------------------------------------------------------------

_prepared: list[Judge] = []


def prepare(task: Task) -> None:
    """Begin a worker process."""
    from vigil_lang.base import cache

    cache.say_nothing()
    _prepared.append(Judge(task))


def judge_all(pieces: Sequence[tuple[Piece, tuple[str, ...]]]) -> list[Outcome]:
    """The outcomes of some pieces, in a worker process."""
    return [outcome for piece, groups in pieces for outcome in _prepared[0].outcomes(piece, groups)]
