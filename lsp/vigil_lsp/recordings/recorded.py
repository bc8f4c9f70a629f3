"""One run with all that was found out about it: which conditions its events meet, which statements it breaks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from vigil_lang.semantics import core
from vigil_lang.smt.effort import TooCostly
from vigil_lang.smt.leaves import Matching
from vigil_lsp.recordings.limits import TooLong
from vigil_lsp.recordings.meeting import Meeting, Numbers, places, plan

if TYPE_CHECKING:
    from vigil_lang.semantics.lower import Statement
    from vigil_lang.smt.encode import Encoding
    from vigil_lang.trace import Trace

Binding: TypeAlias = "dict[str, str | None]"

_STATEMENTS = Numbers(2_000)


def number_of(statement: Statement) -> int:
    """A number that only statements share of which every run says the same in the same words."""
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


class _Matching(Matching):
    """The events that meet conditions, as they are known from counting."""

    def __init__(self, trace: Trace, known: Meeting) -> None:
        super().__init__(trace)
        self._known = known

    def meeting(self, conjuncts: list[core.Condition]) -> list[int]:
        found = self._known.all
        for conjunct in conjuncts:
            met = self._known.meeting(plan(conjunct))
            assert met is not None  # there is no variable to try values of
            found &= met
        return places(found)


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
        """What statements on this run share."""
        return _Matching(self.trace, self.meeting)

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

    def forget(self, room: int) -> None:
        """Forget all answers but so many: those that were asked for last."""
        for number in list(self._answers)[: max(0, len(self._answers) - room)]:
            del self._answers[number]

    def knows(self, number: int) -> bool:
        """Whether the answer for the statement of this number needs no work."""
        return number in self._answers

    def _judged(self, statement: Statement) -> Answer:
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
        return Answer(tuple(offending), self._exercised(encoding))

    def _exercised(self, encoding: Encoding) -> bool:
        """As `lint.judging.exercised`."""
        from vigil_lang.lint.judging import about

        if encoding.requirement.trigger is not None:
            return encoding.exercised()
        conditions = core.conditions(encoding.requirement.theta)
        return any(self.meeting.meeting(plan(about(holds.condition))) for holds in conditions)

    @cached_property
    def _rank(self) -> dict[str, int]:
        return {value: at for at, value in enumerate(self.trace.values)}

    def _order(self, key: tuple[str | None, ...]) -> list[int]:
        """Of several bindings under which an event offends, a verdict reports the one whose values come first."""
        return [-1 if value is None else self._rank[value] for value in key]
