"""What runs say of one text of a policy, worked out in small steps between which other work can be taken up."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Diagnostic, Source, Span
from vigil_lang.lint.judging import Judged as Verdict
from vigil_lang.lint.rules import benign, idle_bound, unexercised
from vigil_lang.lint.subject import Subject
from vigil_lang.lint.suppress import suppressed
from vigil_lang.semantics.modules import is_shipped
from vigil_lang.semantics.policy import read_policy
from vigil_lang.syntax import tree
from vigil_lsp.recordings.conditions import Meanings
from vigil_lsp.recordings.meeting import CONDITIONS
from vigil_lsp.recordings.recorded import number_of
from vigil_lsp.recordings.results import Broken, ItemResult, Judged, Matches, StatementResult

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vigil_lang.semantics import core
    from vigil_lang.semantics.lower import Statement
    from vigil_lang.semantics.modules import Access, Module
    from vigil_lang.semantics.policy import Policy
    from vigil_lang.trace import Trace
    from vigil_lsp.recordings.named import Asked
    from vigil_lsp.recordings.recorded import Recorded
    from vigil_lsp.recordings.world import Runs

MAX_EVENTS = 200
"""Events at fault, of one statement in one run, that are sent."""

RULES = (idle_bound, benign, unexercised)
"""Rules that ask how statements fare on runs: VGL321, VGL331, VGL332."""


@dataclass(slots=True)
class Judging:
    """One text of a policy against the runs; `steps` does the work, `result` is what has come of it so far.

    `unread` holds why the policy cannot be read at all.
    """

    asked: Asked
    source: Source
    runs: Runs
    policy: Policy | None = None
    complete: bool = False
    _items: list[ItemResult] = field(default_factory=list)
    _statements: dict[str, StatementResult] = field(default_factory=dict)
    _findings: list[Diagnostic] = field(default_factory=list)

    def result(self) -> Judged:
        """What the runs say."""
        assert self.runs.world is not None
        return Judged(
            self.asked.path,
            self.source.text,
            self.runs.world.number,
            tuple(self._items),
            tuple(self._statements.values()),
            tuple(self._findings),
            tuple(_needs(self.policy)) if self.policy is not None else (),
        )

    def steps(self, access: Access) -> Iterator[None]:
        """Do the work. Between two steps it can be left, or given up."""
        self.policy = policy = read_policy(self.source, self.asked.params, access=access)
        yield
        meanings = Meanings(policy)
        for item in policy.module.file.items:
            if isinstance(item, tree.Pattern | tree.Statement):
                yield from self._count(item, meanings)
        for statement in policy.statements:
            yield from self._judge(statement)
        self._findings = list(self._found(policy))
        self.complete = True

    def _count(self, item: tree.Pattern | tree.Statement, meanings: Meanings) -> Iterator[None]:
        start, end = item.span
        counts: dict[Span, Matches] = {}
        for span, condition in meanings.of(item):
            found = matches(condition, self.runs.recorded)
            if found is not None:
                counts[Span(span.start - start, span.end - start)] = found
            yield
        self._items.append(ItemResult(self.source.text[start:end], start, counts))

    def _judge(self, statement: Statement) -> Iterator[None]:
        broken: list[Broken] = []
        exercised, number = 0, number_of(statement)
        for run in self.runs.recorded:
            known = run.knows(number)
            answer = run.answer(statement, number)
            if answer.offending:
                broken.append(Broken(run.path, answer.offending[:MAX_EVENTS]))
            exercised += bool(answer.exercised or answer.offending)
            if answer.given_up:
                return
            if not known:
                yield
        for run in self.runs.benign:
            if not run.knows(number):
                run.answer(statement, number)
                yield
        runs = len(self.runs.recorded)
        self._statements[statement.name] = StatementResult(statement.name, runs, tuple(broken), exercised)

    # --- findings ---

    def _found(self, policy: Policy) -> Iterator[Diagnostic]:
        """What rules find that ask how statements fare on runs, and comments that name none."""
        subject = Subject(
            policy,
            self.runs.signature,
            [run.trace for run in self.runs.recorded],
            [run.trace for run in self.runs.benign],
            self.asked.benign_threshold,
            judge=self._verdicts,
        )
        found = [finding for rule in RULES for finding in rule.find(subject)]
        if self.asked.inline_ignores:
            kept, _ = suppressed(policy.module.file, found, lambda _: False)
            found = [finding for finding in kept if finding in found]
        yield from self.asked.selection.applied(found, self.asked.path)
        yield from self._missing()

    def _missing(self) -> Iterator[Diagnostic]:
        for at, message in self.runs.world.missing if self.runs.world is not None else ():
            if at < len(self.asked.comments):
                yield Diagnostic.of("VGL001", message, self.source, self.asked.comments[at], severity="warning")

    def _verdicts(self, statements: Sequence[Statement], runs: Sequence[Trace]) -> list[list[Verdict]]:
        recorded = {id(run.trace): run for run in (*self.runs.recorded, *self.runs.benign)}
        found = []
        for statement in statements:
            number = number_of(statement)
            answers = [(run, recorded[id(run)].answer(statement, number)) for run in runs]
            found.append([Verdict(run, a.offending[0][1] if a.offending else None, a.exercised) for run, a in answers])
        return found


def matches(condition: core.Condition, runs: Sequence[Recorded]) -> Matches | None:
    """How many events meet a condition for some value of its variables; None where that is not known."""
    events = hit = 0
    number = CONDITIONS.of(condition)
    for run in runs:
        found = run.meeting.events(condition, number)
        if found is None:
            return None
        events += len(found)
        hit += bool(found)
    return Matches(events, hit)


def modules_of(policy: Policy) -> list[Module]:
    """A policy's own module and those it reaches, each once."""
    found = [policy.module]
    for module in found:
        found += [used for _, used in module.uses if all(used is not other for other in found)]
    return found


def _needs(policy: Policy) -> Iterator[str]:
    """The modules that are not shipped."""
    yield from (m.source.path for m in modules_of(policy)[1:] if not is_shipped(m.source.path))
