"""Drafting: clauses are asked about, answers are checked, what failed goes back with the findings.

An injected sentence can change what becomes of its own clause alone, because no other is ever asked about where it
can be read: each clause has a conversation of its own. Where clauses are asked about in company (`DraftPlan.batch`),
those that seem to speak to the model are not among them, and only statements that pass the checks count: whatever
else is said of a clause in company is asked again in a conversation of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from vigil_lang.draft.checks.acceptance import Accepted, judged, same_sentence, unanswered
from vigil_lang.draft.checks.across_clauses import named, remarks
from vigil_lang.draft.checks.statement_check import Checks
from vigil_lang.draft.clause_result import Answer, Draft, PolicyDocument
from vigil_lang.draft.conversations import MAX_REMARKS, Progress, Talk, Work, first_questions, question
from vigil_lang.draft.parallel_requests import Desk

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from vigil_lang.draft.clause_result import Clause, Entry
    from vigil_lang.draft.clauses import Clauses
    from vigil_lang.draft.parallel_requests import Asker
    from vigil_lang.draft.prompting.vocabulary import Vocabulary
    from vigil_lang.trace import Signature, Trace


class _Silent:
    def checked(self, *_: int) -> None:
        """Nothing."""

    round = waiting = received = checked


SILENT = _Silent()
"""Notifies nobody."""


@dataclass(frozen=True, slots=True)
class DraftPlan:
    """How to draft.

    `path` is where the policy will be; `rounds` how often findings go back at most; `batch` how many clauses one
    question is about; `parallel` how many questions are asked at a time.
    """

    path: str = "policy.vgl"
    rounds: int = 2
    batch: int = 1
    parallel: int = 4


def draft(
    clauses: Clauses,
    vocabulary: Vocabulary,
    signature: Signature | None,
    runs: Sequence[Trace],
    asked: Asker,
    plan: DraftPlan = DraftPlan(),
    progress: Progress = SILENT,
) -> Draft:
    """Ask for an answer for each clause and keep what passes the checks (section 4.1, Compile).

    Clauses that seem to speak to the model come last, so that they take nothing from a budget the others need.

    Raises:
        InputError: the model cannot be asked.
    """
    checks = Checks(signature, runs, plan.path)
    with Desk[Talk](asked, max(1, plan.parallel), progress.received) as desk:
        work = Work(clauses.clauses, vocabulary, checks, plan.rounds, plan.batch, desk, progress)
        work.ask()
    found = _together(clauses, work.settled, work.accepted, checks)
    return replace(found, model=work.model, usage=asked.usage, problems=tuple(work.problems))


def questions(clauses: Clauses, plan: DraftPlan = DraftPlan()) -> list[str]:
    """The first question of each conversation, without the vocabulary before it, as `draft` sends it."""
    return [question(some) for some in first_questions(clauses.clauses, plan.batch)]


def from_document(
    document: PolicyDocument,
    clauses: Clauses,
    signature: Signature | None,
    runs: Sequence[Trace],
    plan: DraftPlan = DraftPlan(),
    progress: Progress = SILENT,
) -> Draft:
    """Check answers of any origin as `draft` does. An answer that repeats its clause's sentence is matched by it.

    So answers still fit after an edit of the document has renumbered its clauses.
    """
    checks = Checks(signature, runs, plan.path)
    answers, problems = _assigned(document.answers, clauses.clauses)
    settled: dict[str, Entry] = {}
    accepted: dict[str, Answer] = {}
    for done, clause in enumerate(clauses.clauses, 1):
        answer = answers.get(clause.id)
        judgement = judged(answer, clause, checks) if answer is not None else ()
        if isinstance(judgement, Accepted):
            settled[clause.id] = judgement.entry(clause, 0)
            accepted[clause.id] = judgement.answer
        else:
            settled[clause.id] = unanswered(clause, "rejected" if judgement else "missing", 0, judgement)
        progress.checked(done, len(clauses.clauses))
    return replace(_together(clauses, settled, accepted, checks), problems=tuple(problems[:MAX_REMARKS]))


def _assigned(answers: Iterable[Answer], clauses: Sequence[Clause]) -> tuple[dict[str, Answer], list[str]]:
    """The answers by clause, and what is wrong with those that fit none."""
    by_id = {clause.id: clause for clause in clauses}
    found: dict[str, Answer] = {}
    problems: list[str] = []
    for answer in answers:
        clause = by_id.get(answer.clause)
        if answer.sentence and (clause is None or not same_sentence(answer.sentence, clause)):
            fitting = [c for c in clauses if same_sentence(answer.sentence, c)]
            clause = fitting[0] if len(fitting) == 1 else clause
        if clause is None:
            problems.append(f"there is an answer for `{answer.clause[:60]}`, and no such clause")
        elif clause.id in found:
            problems.append(f"`{clause.id}` is answered twice; the first answer counts")
        else:
            found[clause.id] = answer
    return found, problems


def _together(clauses: Clauses, settled: Mapping[str, Entry], accepted: Mapping[str, Answer], checks: Checks) -> Draft:
    entries = named([settled[clause.id] for clause in clauses.clauses])
    answers = tuple(
        Answer(clause.id, answer.outcome, answer.reason, answer.statements, clause.text)
        for clause in clauses.clauses
        if (answer := accepted.get(clause.id)) is not None
    )
    return Draft(
        entries,
        clauses.documents,
        clauses.others,
        answers=PolicyDocument(answers),
        notes=remarks(entries, checks.path),
    )
