"""The data of drafting: clauses of documents, answers in the intermediate form, and the outcome of each clause."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

import msgspec

if TYPE_CHECKING:
    from vigil_lang.syntax import tree


@dataclass(frozen=True, slots=True)
class Clause:
    """A sentence of a document that states an obligation or a step, or is taken for a clause without doing so.

    `id` is `c1`, `c2`, … in the order of the documents, those that a second reader adds last; `path` is the document as
    `@source` cites it, and `line` counts from 1. `word` is what makes it an obligation, empty if nothing does.
    `hostile` says why it seems to speak to the model that drafts rather than to the agent. `parts` is what it names in
    a list below it, and demands of what is made: `The page must include:`.
    """

    id: str
    path: str
    line: int
    text: str
    word: str
    headings: tuple[str, ...] = ()
    lead: str = ""
    hostile: str | None = None
    parts: tuple[str, ...] = ()

    @property
    def context(self) -> str:
        """What completes the sentence: the lead of its list, or the heading that makes it an obligation."""
        if self.lead:
            return "" if self.text.startswith(self.lead) else self.lead
        word = self.word.lower()
        if word in self.text.lower():
            return ""
        heading = next((heading for heading in reversed(self.headings) if word in heading.lower()), "")
        return f"{heading.rstrip(':. ')}:" if heading else ""


Why: TypeAlias = Literal[
    "step", "shown", "language", "advice", "condition", "part", "question", "sample", "situation", "reason", "word",
    "repeated", "lead", "code", "comment", "heading", "description",
]  # fmt: skip
"""Why something is no clause; `reports.not_taken` has the words for it."""


@dataclass(frozen=True, slots=True)
class Other:
    """What a document says beside its clauses: a sentence, or a block of code or comment by its first words.

    `clause` is the clause that a sentence would be if it were one; None where another one has what it says.
    """

    path: str
    line: int
    text: str
    why: Why
    clause: Clause | None = field(default=None, compare=False, repr=False)


# --- the intermediate form (the paper's PolicyDocument, appendix C) ------------------------------------------------


Subject: TypeAlias = Literal["action", "argument", "output", "status", "variable"]
ViewName: TypeAlias = Literal["lower", "host", "base", "dir", "ext", "length", "count", "json", "find", "without"]
TestName: TypeAlias = Literal[
    "is", "other_than", "glob", "unlike_glob", "regex", "unlike_regex", "contains",
    "<", "<=", ">", ">=", "present", "same", "mentions",
]  # fmt: skip


class View(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is made of an argument's values before they are tested: `argument` is a path for `json`, a regular
    expression for `find` and `without`, and empty for the others."""

    view: ViewName
    argument: str = ""


class Test(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One test of an event, or in `where` of a variable.

    `argument` names what is read where `of` is `argument` or `variable`, else it is empty; `views` are applied to it in
    their order. `values` are alternatives; of `same` and `mentions` they are one variable, which stands for the same
    object throughout a statement, and is the value or a part of it; of `present` none. In `where` an order test may
    have a variable for its number. A test holds of an argument if it holds of one of its values; `negated` holds where
    it does not, also of an event without the argument. `other_than`, `unlike_glob` and `unlike_regex` ask for a value
    that is none of those.
    """

    of: Subject
    test: TestName
    argument: str = ""
    values: tuple[str, ...] = ()
    negated: bool = False
    views: tuple[View, ...] = ()


class Case(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Tests that hold together."""

    all: tuple[Test, ...]


class Condition(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Cases, one of which holds."""

    any: tuple[Case, ...]


FormName: TypeAlias = Literal["abs", "prec", "resp", "bresp", "rslv", "until", "atmost", "atleast", "budget"]


class Counting(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a form counts: in a `window` of `20` calls or `1h`, and only `since` the last such event.

    `field` is the argument that `budget` adds up; of the other counts it is the one whose distinct values are counted.
    """

    window: str | None = None
    since: Condition | None = None
    field: str | None = None


class Requirement(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One statement: a form of the language with its parts.

    `trigger` is the first condition of every form. `guard` is the second of prec (what must come before), resp and
    bresp (the response), rslv (the resolution) and until (what must come between); `forbidden` the third of until.
    `bound` is `3` (calls, or the count of atmost and atleast), `30s`, or the limit of budget. `where` tests variables.
    """

    name: str
    says: str
    form: FormName
    trigger: Condition
    guard: Condition | None = None
    forbidden: Condition | None = None
    after: Condition | None = None
    bound: str | None = None
    counting: Counting | None = None
    where: Condition | None = None


AnswerOutcome: TypeAlias = Literal["statements", "unsupported", "not_normative"]


class Answer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is said of one clause. `sentence` may repeat the clause, to be held against the document."""

    clause: str
    outcome: AnswerOutcome
    reason: str = ""
    statements: tuple[Requirement, ...] = ()
    sentence: str = ""


class PolicyDocument(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Answers for the clauses of some documents."""

    answers: tuple[Answer, ...]


# --- what became of it ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RunCounts:
    """How many runs there were, how many of them test a statement, and how many break it."""

    runs: int = 0
    exercised: int = 0
    violated: int = 0


@dataclass(frozen=True, slots=True)
class Drafted:
    """A statement that passed all checks."""

    requirement: Requirement
    statement: tree.Statement
    run_counts: RunCounts = RunCounts()
    notes: tuple[str, ...] = ()


Cause: TypeAlias = Literal["model", "rejected", "missing", "cut", "refused", "budget"]
"""Why a clause has no statement: the model said so; its statements failed the checks; no answer, one that was cut off,
a refusal; the budget was used up."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What became of a clause.

    `kept` entries have statements; others a `reason`, and unsupported ones a `cause`. `problems` are the findings on
    the last answer that failed, `rounds` how often the clause was asked about.
    """

    clause: Clause
    outcome: Literal["kept", "unsupported", "not_normative"]
    statements: tuple[Drafted, ...] = ()
    reason: str = ""
    cause: Cause | None = None
    problems: tuple[str, ...] = ()
    rounds: int = 0


@dataclass(frozen=True, slots=True)
class Usage:
    """What requests took: tokens, `seconds` of waiting, and `cost` in USD, None if prices are unknown.

    With `estimated` the API did not say all counts (an attempt broke off), and they are upper bounds.
    """

    requests: int = 0
    retries: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cost: float | None = None
    seconds: float = 0.0
    estimated: bool = False

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            requests=self.requests + other.requests,
            retries=self.retries + other.retries,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cache_read_tokens=self.cache_read_tokens + other.cache_read_tokens,
            cache_write_tokens=self.cache_write_tokens + other.cache_write_tokens,
            cost=None if self.cost is None or other.cost is None else self.cost + other.cost,
            seconds=self.seconds + other.seconds,
            estimated=self.estimated or other.estimated,
        )


@dataclass(frozen=True, slots=True)
class Draft:
    """The outcome of drafting: an entry for each clause, in order.

    `others` is all that is no clause, in the order of the documents; `answers` are the accepted ones, for the cache;
    `problems` what was wrong with replies as a whole, such as answers for clauses that do not exist; `notes` remarks on
    the statements together.
    """

    entries: tuple[Entry, ...]
    documents: tuple[str, ...]
    others: tuple[Other, ...] = ()
    model: str | None = None
    usage: Usage = field(default_factory=Usage)
    answers: PolicyDocument = field(default_factory=lambda: PolicyDocument(()))
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether every clause is answered for: kept, not normative, or unsupported by a judgement with its reason."""
        return all(entry.cause in (None, "model") for entry in self.entries)
