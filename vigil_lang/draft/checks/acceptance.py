"""An answer judged: accepted as it is, or not at all. What becomes of one clause depends on nothing but its answer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from vigil_lang.draft.checks.statement_check import MAX_STATEMENTS, brief, with_help
from vigil_lang.draft.clause_result import Entry
from vigil_lang.english.words import words

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from vigil_lang.draft.checks.statement_check import Checks
    from vigil_lang.draft.clause_result import Answer, Cause, Clause, Drafted

Judgement: TypeAlias = "Accepted | tuple[str, ...]"
"""What was accepted, or what is wrong, in words for whoever answered."""

REASONS: dict[Cause, str] = {
    "rejected": "no statement that was drafted passed the checks",
    "missing": "there was no answer that could be used",
    "cut": "the answer was cut off",
    "refused": "the model refused to answer",
    "budget": "the budget did not suffice",
}
"""What is said of a clause without an acceptable answer."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """An answer that passed, and its statements."""

    answer: Answer
    statements: tuple[Drafted, ...] = ()

    def entry(self, clause: Clause, rounds: int) -> Entry:
        """What becomes of the clause."""
        if self.answer.outcome == "statements":
            return Entry(clause, "kept", self.statements, rounds=rounds)
        reason = " ".join(self.answer.reason.split())
        if self.answer.outcome == "not_normative":
            return Entry(clause, "not_normative", reason=reason, rounds=rounds)
        return Entry(clause, "unsupported", reason=reason, cause="model", rounds=rounds)


def judged(answer: Answer, clause: Clause, checks: Checks, known: Collection[str] | None = None) -> Judgement:
    """Judge the answer for a clause. All its statements pass, or it is not accepted.

    Doubts that whoever answered knows of are remarks on what was accepted; None for all of them.
    """
    if answer.sentence and not same_sentence(answer.sentence, clause):
        return (f"it repeats another sentence than that of the clause: `{answer.sentence[:120]}`",)
    if answer.outcome != "statements":
        return Accepted(answer)
    if not 1 <= len(answer.statements) <= MAX_STATEMENTS:
        return (f"a clause becomes one statement to {MAX_STATEMENTS}, not {len(answer.statements)}",)
    checked = checks.check(answer.statements, clause)
    doubts = tuple(map(with_help, checked.doubts))
    if checked.problems or (known is not None and not set(doubts).issubset(known)):
        return (*checked.problems, *doubts)
    first, *others = checked.drafted
    return Accepted(answer, (replace(first, notes=(*first.notes, *map(brief, checked.doubts))), *others))


def unanswered(clause: Clause, cause: Cause, rounds: int, problems: Sequence[str] = (), beside: str = "") -> Entry:
    """What becomes of a clause without an acceptable answer; `beside` is what was said of it."""
    reason = REASONS[cause] + (f": {' '.join(beside.split())}" if beside else "")
    return Entry(clause, "unsupported", reason=reason, cause=cause, problems=tuple(problems), rounds=rounds)


def same_sentence(text: str, clause: Clause) -> bool:
    """Whether a text has the words of a clause's sentence."""
    return words(text) == words(clause.text)
