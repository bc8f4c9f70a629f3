"""One run with all that was found out about it: which conditions its events meet, which statements it breaks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from vigil_lsp.recordings.meeting import Meeting, Numbers

if TYPE_CHECKING:
    from vigil_lang.semantics.lower import Statement
    from vigil_lang.smt.leaves import Matching
    from vigil_lang.trace import Trace

Binding: TypeAlias = "dict[str, str | None]"

REMEMBERED = 20_000
"""Answers kept of one run; where there are more all are worked out again."""


_STATEMENTS = Numbers()


def number_of(statement: Statement) -> int:
    """A number that only statements share of which every run says the same in the same words."""
    return _STATEMENTS.of((statement.requirement, statement.form, statement.metadata.message, statement.body))


class TooLong(Exception):
    """A step took longer than it may."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a run makes of a statement: (index, id, what is wrong there) of the events at fault, in run order.

    `exercised`: something in the run is what the statement is about, as VGL332 has it. `given_up`: this took too
    long to find out.
    """

    offending: tuple[tuple[int, str, str], ...]
    exercised: bool
    given_up: bool = False


class Recorded:
    """A run, and what is known of it. Answers are kept by what was asked, not by where it stands in a text."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.meeting = Meeting(trace)
        self._answers: dict[int, Answer] = {}

    @property
    def path(self) -> str:
        """The run's path, with its name where it is one of many."""
        return self.trace.run.path

    @cached_property
    def matching(self) -> Matching:
        """What statements on this run share (imported late: the first statement that is judged needs it)."""
        from vigil_lang.smt.leaves import Matching

        return Matching(self.trace)

    def answer(self, statement: Statement, number: int | None = None) -> Answer:
        """What the run makes of a statement: decided by the facts, as `testing.judge.answer` does.

        `number` is what `number_of` gives for the statement, where that is known.
        """
        number = number_of(statement) if number is None else number
        found = self._answers.get(number)
        if found is None:
            if len(self._answers) > REMEMBERED:
                self._answers.clear()
            if self.meeting.size > REMEMBERED:
                self.meeting.forget()
            try:
                found = self._judged(statement)
            except TooLong:
                found = Answer((), False, given_up=True)
            self._answers[number] = found
        return found

    def knows(self, number: int) -> bool:
        """Whether the answer for the statement of this number needs no work."""
        return number in self._answers

    def _judged(self, statement: Statement) -> Answer:
        from vigil_lang.lint.judging import exercised
        from vigil_lang.smt.encode import Encoding
        from vigil_lang.smt.explain import Explainer

        encoding = Encoding(statement.requirement, self.trace, self.matching, name=statement.name)
        explainer = Explainer(statement, encoding)
        offending = []
        for condition in encoding.conditions:
            failing = [key for key, formula in condition.cases if not encoding.query.value(formula)]
            if failing:
                at, first = condition.event, min(failing, key=self._order)
                offending.append((at, self.trace.events[at].id, explainer.message(at, first)))
        offending.sort()
        return Answer(tuple(offending), exercised(encoding))

    @cached_property
    def _rank(self) -> dict[str, int]:
        return {value: at for at, value in enumerate(self.trace.values)}

    def _order(self, key: tuple[str | None, ...]) -> list[int]:
        """Of several bindings under which an event offends, a verdict reports the one whose values come first."""
        return [-1 if value is None else self._rank[value] for value in key]
