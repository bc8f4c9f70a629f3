"""Conversations about clauses: the model is asked about each until its answer passes or no rounds are left."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, Protocol

from vigil_lang.diagnostics import InputError
from vigil_lang.draft import document as documents
from vigil_lang.draft.api.budget import Exhausted
from vigil_lang.draft.api.client import Message
from vigil_lang.draft.api.failures import Unanswered
from vigil_lang.draft.checks.acceptance import Accepted, judged, unanswered
from vigil_lang.draft.prompting import prompt

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from vigil_lang.draft.api.client import Reply
    from vigil_lang.draft.checks.statement_check import Checks
    from vigil_lang.draft.clause_result import Answer, Cause, Clause, Entry
    from vigil_lang.draft.parallel_requests import Desk
    from vigil_lang.draft.prompting.vocabulary import Vocabulary

CUT: Final = frozenset({"max_tokens", "model_context_window_exceeded"})
"""Why a reply ended that is not whole."""

MAX_REMARKS: Final = 50
"""Remarks on replies as a whole that are kept."""

MAX_FAILURES: Final = 5
"""After so many failed requests in a row no more are made."""

MAX_HEADING: Final = 120
"""Characters of a heading that the model gets; a longer one is prose rather than a heading."""


class Progress(Protocol):
    """Is notified of progress. `received` may be called from any thread, the others from the one that drafts."""

    def round(self, number: int, clauses: int, /) -> None:
        """`clauses` clauses have been asked about in round `number`, counted from 1."""

    def waiting(self, clauses: int, /) -> None:
        """`clauses` clauses have no answer yet."""

    def received(self, characters: int, /) -> None:
        """All replies together have `characters` characters so far."""

    def checked(self, done: int, total: int, /) -> None:
        """`done` of `total` clauses are settled."""


def first_questions(clauses: Sequence[Clause], batch: int) -> Iterator[tuple[Clause, ...]]:
    """The clauses of each first conversation: those that seem to speak to the model come last, each alone."""
    harmless = [clause for clause in clauses if clause.hostile is None]
    size = max(1, batch)
    for start in range(0, len(harmless), size):
        yield tuple(harmless[start : start + size])
    yield from ((clause,) for clause in clauses if clause.hostile is not None)


def question(clauses: Sequence[Clause]) -> str:
    """The question about some clauses. It calls them `c1`, `c2`, …, so that it does not depend on other questions."""
    return prompt.asked(
        [
            replace(
                c, id=f"c{number}", path="", line=0, headings=tuple(h[:MAX_HEADING] for h in c.headings), hostile=None
            )
            for number, c in enumerate(clauses, 1)
        ]
    )


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation about some clauses; `round` counts how often findings went back."""

    clauses: tuple[Clause, ...]
    messages: tuple[Message, ...]
    round: int = 0

    @property
    def alone(self) -> bool:
        """Whether it is about one clause."""
        return len(self.clauses) == 1


@dataclass
class Work:
    """The clauses to ask about, and what became of them so far."""

    clauses: Sequence[Clause]
    vocabulary: Vocabulary
    checks: Checks
    rounds: int
    batch: int
    desk: Desk[Talk]
    progress: Progress
    model: str | None = None
    settled: dict[str, Entry] = field(default_factory=dict)
    accepted: dict[str, Answer] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    _asked: Counter[str] = field(default_factory=Counter)
    _rounds: Counter[int] = field(default_factory=Counter)
    _findings: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _failures: int = 0
    _failed: InputError | None = None
    _over: bool = False

    def ask(self) -> None:
        """Ask about all clauses until each is settled.

        A request that fails leaves only its own clauses unanswered, since a sentence may be there to make it fail.

        Raises:
            InputError: no request at all was answered.
        """
        harmless = True
        for some in first_questions(self.clauses, self.batch):
            if harmless and some[0].hostile is not None:
                self._hear()  # what these cost is taken from no other
                harmless = False
            self._put(some)
        self._hear()
        if self._failed is not None and not self._asked:
            raise self._failed
        for clause in self.clauses:
            if clause.id not in self.settled:
                self._leave(clause, "missing", _message(self._failed))

    def _hear(self) -> None:
        while self.desk.busy and not self._over:
            self.progress.waiting(len(self.clauses) - len(self.settled))
            talk, reply = self.desk.next()
            self._heard(talk, reply)
            self.progress.checked(len(self.settled), len(self.clauses))

    def _put(self, clauses: tuple[Clause, ...]) -> None:
        """Begin a conversation about clauses."""
        first = Message("user", question(clauses), prompt.about(self.vocabulary))
        self._send(Talk(clauses, (first,)))

    def _send(self, talk: Talk) -> None:
        self._rounds[talk.round] += len(talk.clauses)
        self.progress.round(talk.round + 1, self._rounds[talk.round])
        self.desk.put(talk, talk.messages)

    def _heard(self, talk: Talk, reply: Reply | BaseException) -> None:
        if isinstance(reply, Exhausted):
            for clause in talk.clauses:
                self._leave(clause, "budget", str(reply))
            return
        if isinstance(reply, InputError):
            self._fail(talk, reply)
            return
        if isinstance(reply, BaseException):
            raise reply
        self._failures = 0
        self.model = reply.model or self.model
        self._asked.update(clause.id for clause in talk.clauses)
        if reply.stop in CUT:
            self._halve(talk, "cut", "")
        elif reply.stop == "refusal":
            self._halve(talk, "refused", reply.refused)
        elif talk.alone:
            self._take(talk, reply)
        else:
            self._take_in_company(talk, reply)

    def _fail(self, talk: Talk, error: InputError) -> None:
        """Handle a failed request. Answers to others are kept, even if no more are asked."""
        self._failed = self._failed or error
        self._failures += 1
        if not isinstance(error, Unanswered) or self._failures >= MAX_FAILURES:
            self._over = True
        elif talk.alone:
            self._leave(talk.clauses[0], "missing", _message(error))
        else:
            self._halve(talk, "missing", _message(error))

    def _halve(self, talk: Talk, cause: Cause, said: str) -> None:
        """Ask again about fewer clauses at a time; give up on a single one."""
        if talk.alone:
            self._leave(talk.clauses[0], cause, said)
            return
        middle = len(talk.clauses) // 2
        self._put(talk.clauses[:middle])
        self._put(talk.clauses[middle:])

    def _take(self, talk: Talk, reply: Reply) -> None:
        """Take the answer for a clause that has its own conversation."""
        clause = talk.clauses[0]
        answers, problems = self._read(talk, reply)
        cause: Cause = "missing"
        if (answer := answers.get("c1")) is not None:
            known = self._findings.get(clause.id, ()) if talk.round < self.rounds else None
            cause, judgement = "rejected", judged(answer, clause, self.checks, known)
            if isinstance(judgement, Accepted):
                self._keep(clause, judgement)
                return
            problems = {"c1": judgement}
        self._findings[clause.id] = problems.get("c1", ())
        if talk.round >= self.rounds:
            self._leave(clause, cause)
            return
        wrong = prompt.correction({"c1": problems.get("c1") or ("there is no answer for it",)})
        # The API takes no turn without a text.
        turns = (Message("assistant", reply.text), Message("user", wrong)) if reply.text.strip() else ()
        self._send(Talk(talk.clauses, (*talk.messages, *turns), talk.round + 1))

    def _take_in_company(self, talk: Talk, reply: Reply) -> None:
        """Take the answers for several clauses; the model may have read any of these as an instruction about others."""
        answers, _ = self._read(talk, reply)
        for number, clause in enumerate(talk.clauses, 1):
            answer = answers.get(f"c{number}")
            if answer is not None and answer.outcome == "statements":
                judgement = judged(answer, clause, self.checks, ())
                if isinstance(judgement, Accepted):
                    self._keep(clause, judgement)
                    continue
            self._put((clause,))

    def _read(self, talk: Talk, reply: Reply) -> tuple[dict[str, Answer], Mapping[str, tuple[str, ...]]]:
        """The answers of a reply by clause, and for each clause whose answer is malformed what is wrong with it."""
        known = {f"c{number}": clause for number, clause in enumerate(talk.clauses, 1)}
        first, last = _place(talk.clauses[0]), _place(talk.clauses[-1])
        about = first if talk.alone else f"{first} to {last}"
        try:
            decoded = documents.decode(reply.text)
        except documents.Malformed as error:
            self._remark(f"the reply about {about} could not be read: {error}")
            return {}, dict.fromkeys(known, (f"the reply could not be read: {error}",))
        found: dict[str, Answer] = {}
        for answer in decoded.answers:
            if answer.clause not in known:
                self._remark(f"the reply about {about} has an answer for `{answer.clause}`, which was not asked about")
            elif answer.clause in found:
                self._remark(f"the reply about {about} answers twice for {_place(known[answer.clause])}")
            else:
                found[answer.clause] = answer
        return found, {name: problems for name, problems in decoded.malformed.items() if name in known}

    def _keep(self, clause: Clause, judgement: Accepted) -> None:
        self.settled[clause.id] = judgement.entry(clause, self._asked[clause.id])
        self.accepted[clause.id] = judgement.answer

    def _leave(self, clause: Clause, cause: Cause, said: str = "") -> None:
        problems = self._findings.get(clause.id, ())
        self.settled[clause.id] = unanswered(clause, cause, self._asked[clause.id], problems, said)

    def _remark(self, text: str) -> None:
        if len(self.problems) < MAX_REMARKS:
            self.problems.append(text)


def _message(error: InputError | None) -> str:
    return "; ".join(found.message for found in error.diagnostics) if error is not None else ""


def _place(clause: Clause) -> str:
    """Where a clause stands, as reports name it; in a conversation it has another number."""
    return f"{clause.path}:{clause.line}"
