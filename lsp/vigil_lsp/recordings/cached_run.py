"""One run with all that was found out about it: which conditions its events meet, which statements it breaks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from vigil_lang.diagnostics import TooCostly
from vigil_lang.engines.columns import ColumnIndex, Columns, Numbers
from vigil_lsp.recordings.time_limit import TooLong

if TYPE_CHECKING:
    from collections.abc import Set

    from vigil_lang.semantics.lower import Statement
    from vigil_lang.trace import Trace

Binding: TypeAlias = "dict[str, str | None]"

_STATEMENTS = Numbers(2_000)


def number_of(statement: Statement) -> int:
    """A number that two statements share only if every run gives them the same answer in the same words."""
    return _STATEMENTS.of((statement.requirement, statement.form, statement.metadata.message, statement.body))


@dataclass(frozen=True, slots=True)
class Answer:
    """What a run makes of a statement: (index, id, what is wrong there) of the events at fault, in run order.

    `exercised`: something in the run is what the statement is about, as VGL332 has it. `given_up`: this took too
    long to find out.
    """

    offending: tuple[tuple[int, str, str], ...]
    exercised: bool
    given_up: bool = False


class CachedRun:
    """A run, and what is known of it. Answers are kept by what was asked, not by where it stands in a text."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self._index = ColumnIndex(trace)
        self._answers: dict[int, Answer] = {}

    @property
    def path(self) -> str:
        """The run's path, with its name where it is one of many."""
        return self.trace.run.path

    @property
    def columns(self) -> Columns:
        """The conditions that the run's events meet."""
        return self._index.columns

    def answer(self, statement: Statement, number: int | None = None) -> Answer:
        """What the run makes of a statement: decided by the facts, as `testing.judge.answer` does.

        `number` is what `number_of` gives for the statement, where that is known.
        """
        number = number_of(statement) if number is None else number
        found = self._answers.get(number)
        if found is None:
            try:
                found = self._judged(statement)
            except (TooLong, TooCostly):
                found = Answer((), False, given_up=True)
        else:
            del self._answers[number]
        self._answers[number] = found  # what was asked for last stays longest
        return found

    def forget(self, room: int, needed: Set[int] = frozenset()) -> None:
        """Keep only the answers used last, at most `room` of them, and those that are needed."""
        if (beyond := len(self._answers) - room) > 0:
            for number in [each for each in self._answers if each not in needed][:beyond]:
                del self._answers[number]

    def knows(self, number: int) -> bool:
        """Whether the answer for the statement of this number needs no work."""
        return number in self._answers

    def _judged(self, statement: Statement) -> Answer:
        from vigil_lang.engines.explanation import Explainer
        from vigil_lang.engines.indexed import Judgement
        from vigil_lang.lint.judging import concerns

        judgement = Judgement(statement.requirement, self._index)
        explainer = Explainer(statement, judgement)
        found = [(at, self.trace.events[at].id, explainer.message(at, b)) for at, b in judgement.violations()]
        return Answer(tuple(found), concerns(judgement))
