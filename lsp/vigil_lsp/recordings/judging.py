"""Judging one text of a policy on its runs, in small steps so that other work can come between."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from msgspec.structs import replace

from vigil_lang.diagnostics import Diagnostic, Source
from vigil_lang.engines.columns import plan
from vigil_lang.lint.judging import Judged as Verdict
from vigil_lang.lint.rules import broken_by_benign_runs, unexercised, unreached_bound
from vigil_lang.lint.subject import Subject
from vigil_lang.lint.suppress import suppressed
from vigil_lang.semantics.memory import Memory
from vigil_lang.semantics.modules import is_shipped
from vigil_lang.semantics.policy import load_module, lowered
from vigil_lang.syntax import tree
from vigil_lsp.recordings.cached_run import number_of
from vigil_lsp.recordings.conditions import Meanings
from vigil_lsp.recordings.results import ItemResult, Judged, Matches, StatementResult
from vigil_lsp.recordings.time_limit import TooLong

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vigil_lang.diagnostics import Span
    from vigil_lang.semantics import core
    from vigil_lang.semantics.lower import Statement
    from vigil_lang.semantics.modules import Access, Module
    from vigil_lang.semantics.policy import Policy
    from vigil_lang.trace import Trace
    from vigil_lsp.recordings.cached_run import Answer, CachedRun
    from vigil_lsp.recordings.loading import Runs
    from vigil_lsp.recordings.results import Counts
    from vigil_lsp.recordings.run_sources import TrackedPolicy

_Verdicts: TypeAlias = "tuple[tuple[str | None, ...], tuple[bool, ...]]"
"""What `Verdict` says of each run, without the runs: those go when others are read."""

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:[.-][A-Za-z0-9_]+)*")

RULES = (unreached_bound, broken_by_benign_runs, unexercised)
"""Rules that ask how statements fare on runs: VGL321, VGL331, VGL332."""


class _Fared(NamedTuple):
    """How a statement fares on runs: the paths of those that violate it, how many exercise it, and each in turn."""

    violated: tuple[str, ...]
    exercised: int
    recorded: _Verdicts
    benign: _Verdicts
    given_up: bool


@dataclass(frozen=True, slots=True)
class Counted:
    """What was counted in items, by their texts and those of the declarations they reach; of statements `number_of`.

    `around` is what it rests on besides: modules that are used, params, the runs. `meanings` are those of the text.
    """

    around: object
    meanings: Memory
    items: dict[tuple[str, ...], Counts] = field(default_factory=dict)
    numbers: dict[tuple[str, ...], int] = field(default_factory=dict)
    fared: dict[int, _Fared] = field(default_factory=dict)
    """By those numbers, how statements fare on the runs, where none of them took too long."""


@dataclass(slots=True)
class Judging:
    """One text of a policy on its runs: `steps` does the work, `result` is the result so far.

    `before` is what was counted for an older text of the policy, `counted` for this one.
    """

    tracked: TrackedPolicy
    source: Source
    runs: Runs
    before: Counted | None = None
    counted: Counted | None = None
    policy: Policy | None = None
    complete: bool = False
    _recorded: tuple[CachedRun, ...] = ()
    _benign: tuple[CachedRun, ...] = ()
    _keys: dict[int, tuple[str, ...]] = field(default_factory=dict)
    _items: list[ItemResult] = field(default_factory=list)
    _statements: dict[str, StatementResult] = field(default_factory=dict)
    _findings: list[Diagnostic] = field(default_factory=list)
    _module_states: dict[str, None] = field(default_factory=dict)

    def result(self) -> Judged:
        """What the runs say."""
        assert self.runs.summary is not None
        return Judged(
            self.tracked.path,
            self.source.text,
            self.runs.summary.number,
            tuple(self._items),
            tuple(self._statements.values()),
            tuple(self._findings),
            tuple(self._module_states),
            self.complete,
        )

    def steps(self, access: Access) -> Iterator[None]:
        """Do the work. Between two steps it can be left, or given up."""
        meant = Memory() if self.before is None else self.before.meanings
        loaded = load_module(self.source, access=self._noting(access))
        self.policy = policy = lowered(loaded, self.tracked.params, meant)
        yield
        self._recorded, self._benign = self.runs.recorded, self.runs.benign
        self.counted = Counted(self._around(policy), meant)
        if self.before is not None and self.before.around != self.counted.around:
            self.before = None
        meanings, declared = Meanings(policy), self._declared(policy)
        for item in policy.module.file.items:
            if isinstance(item, tree.Pattern | tree.Statement):
                yield from self._count(item, meanings, declared, self.counted)
        for statement in policy.statements:
            yield from self._judge(statement)
        with suppress(TooLong):
            self._findings = list(self._found(policy))
        self.complete = True

    def _noting(self, access: Access) -> Access:
        """A way to modules that notes which files are looked for, there or not."""

        def is_file(path: Path) -> bool:
            self._module_states.setdefault(str(path))
            return access.is_file(path)

        return replace(access, is_file=is_file)

    def _around(self, policy: Policy) -> object:
        """What the conditions of an item rest on besides the declarations of its own file."""
        uses = [item for item in policy.module.file.items if isinstance(item, tree.Use)]
        used = [(m.source.path, m.source.text) for m in modules_of(policy)[1:] if not is_shipped(m.source.path)]
        summary = self.runs.summary.number if self.runs.summary is not None else 0
        return summary, uses, used, policy.params

    def _declared(self, policy: Policy) -> dict[str, str]:
        """The texts of the declarations of a file, by name."""
        return {name: self.source.text[item.span.start : item.span.end] for name, item in policy.module.own.items()}

    def _count(
        self, item: tree.Pattern | tree.Statement, meanings: Meanings, declared: dict[str, str], counted: Counted
    ) -> Iterator[None]:
        start, end = item.span
        text = self.source.text[start:end]
        key = self._keys[id(item)] = (text, *_reached(text, declared))
        counts = self.before.items.get(key) if self.before is not None else None
        if counts is None:
            found: dict[Span, Matches] = {}
            for span, condition in meanings.of(item):
                with suppress(TooLong):
                    if (one := matches(condition, self._recorded)) is not None:
                        found[span] = one
                yield
            counts = tuple([(first - start, last - start, *one) for (first, last), one in found.items()])
        counted.items[key] = counts
        self._items.append(ItemResult(text, start, counts))

    def _judge(self, statement: Statement) -> Iterator[None]:
        assert self.counted is not None
        number = self._number(statement)
        fared = self.before.fared.get(number) if self.before is not None else None
        if fared is None:
            answers: list[Answer] = []
            for run in (*self._recorded, *self._benign):
                known = run.knows(number)
                answers.append(run.answer(statement, number))
                if answers[-1].given_up and len(answers) <= len(self._recorded):
                    return
                if not known:
                    yield
            fared = self._fared(answers)
        if not fared.given_up:
            self.counted.fared[number] = fared
        self._statements[statement.name] = StatementResult(
            statement.name, len(self._recorded), fared.violated, fared.exercised
        )

    def _fared(self, answers: Sequence[Answer]) -> _Fared:
        """How a statement fares, by the answers of all recorded and benign runs."""
        runs = len(self._recorded)
        offending = tuple([answer.offending[0][1] if answer.offending else None for answer in answers])
        exercised = tuple([answer.exercised for answer in answers])
        own = list(zip(self._recorded, answers, strict=False))
        return _Fared(
            tuple([run.path for run, answer in own if answer.offending]),
            sum(bool(answer.exercised or answer.offending) for _, answer in own),
            (offending[:runs], exercised[:runs]),
            (offending[runs:], exercised[runs:]),
            any(answer.given_up for answer in answers),
        )

    def _number(self, statement: Statement) -> int:
        """`number_of`, worked out once for a statement and those written the same in other texts."""
        assert self.counted is not None
        key, numbers = self._keys[id(statement.syntax)], self.counted.numbers
        known = numbers.get(key)
        if known is None:
            known = self.before.numbers.get(key) if self.before is not None else None
            numbers[key] = known = number_of(statement) if known is None else known
        return known

    # --- findings ---

    def _found(self, policy: Policy) -> Iterator[Diagnostic]:
        """What rules find that ask how statements fare on runs, and comments that name none."""
        benign = [run.trace for run in self._benign]
        subject = Subject(
            policy,
            self.runs.signature,
            [run.trace for run in self._recorded],
            benign,
            self.tracked.benign_threshold,
            judge=lambda statements, runs: [self._verdicts(s, runs, benign=runs is benign) for s in statements],
            occurring=self.runs.occurring,
        )
        found = [finding for rule in RULES for finding in rule.find(subject)]
        if self.tracked.inline_ignores:
            kept, _ = suppressed(policy.module.file, found, lambda _: False)
            found = [finding for finding in kept if finding in found]
        yield from self.tracked.selection.applied(found, self.tracked.path)
        yield from self._missing()

    def _missing(self) -> Iterator[Diagnostic]:
        folder = f"{Path(self.tracked.path).parent}{os.sep}"
        for setting, at, message in self.runs.summary.unread if self.runs.summary is not None else ():
            if setting == "runs" and at < len(self.tracked.comments):
                message = message.replace(folder, "")
                yield Diagnostic.of("VGL001", message, self.source, self.tracked.comments[at], severity="warning")

    def _verdicts(self, statement: Statement, runs: Sequence[Trace], *, benign: bool) -> list[Verdict]:
        assert self.counted is not None
        number = self._number(statement)
        fared = self.counted.fared.get(number)
        if fared is None:  # what took too long is not kept
            fared = self._fared([run.answer(statement, number) for run in (*self._recorded, *self._benign)])
        return list(map(Verdict, runs, *(fared.benign if benign else fared.recorded)))


def matches(condition: core.Condition, runs: Sequence[CachedRun]) -> Matches | None:
    """How many events meet a condition for some value of its variables; None where that is not known."""
    events = hit = 0
    how = plan(condition)
    for run in runs:
        found = run.columns.meeting(how)
        if found is None:
            return None
        events += found.bit_count()
        hit += bool(found)
    return Matches(events, hit)


@lru_cache(maxsize=2_000)
def _words(text: str) -> frozenset[str]:
    """All words of a text."""
    return frozenset(_WORD.findall(text))


def _reached(text: str, declared: dict[str, str]) -> list[str]:
    """The texts of the declarations that a text may refer to, directly or not: those whose names stand in it."""
    found: dict[str, None] = {}
    pending = [text]
    while pending:
        names = declared.keys() & _words(pending.pop())
        pending += (declared[name] for name in names if name not in found)
        found.update(dict.fromkeys(names))
    return [declared[name] for name in sorted(found)]


def modules_of(policy: Policy) -> list[Module]:
    """A policy's own module and those it reaches, each once."""
    found = [policy.module]
    for module in found:
        found += [used for _, used in module.uses if all(used is not other for other in found)]
    return found
