"""A second reader: a model says which of the sentences that the patterns pass over oblige the agent as well.

It only adds clauses. What it finds stands behind those of the patterns, which keep their numbers and are asked about as
before, so no sentence can take another one away; the worst that one can do is to have others passed over as they were,
or to have more of them asked about.
"""

from __future__ import annotations

import hashlib
from collections import deque
from dataclasses import dataclass, replace
from functools import cache as once
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from vigil_lang.base import cache
from vigil_lang.diagnostics import InputError
from vigil_lang.draft.api.budget import Budget, Exhausted
from vigil_lang.draft.api.client import Client, Message
from vigil_lang.draft.api.failures import Unanswered
from vigil_lang.draft.clauses import MAX_CLAUSES
from vigil_lang.draft.conversations import CUT, MAX_HEADING
from vigil_lang.draft.parallel_requests import Desk, ModelAsker
from vigil_lang.draft.prompting.listing import quoted, within

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from vigil_lang.draft.answer_sources import Terms
    from vigil_lang.draft.clause_result import Clause, Usage
    from vigil_lang.draft.clauses import Clauses
    from vigil_lang.draft.parallel_requests import Asker

MAX_SENTENCES: Final = 60
"""Sentences of one question."""

MAX_CHARACTERS: Final = 12_000
"""Characters of the sentences of one question, unless one alone has more."""

SHARE: Final = 0.25
"""Of a limit on the cost, what a second reading may take: the clauses of the patterns need the rest."""

MAX_NAMED: Final = 30
"""Places of found clauses that the report's note has."""

SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {"obligations": {"type": "array", "items": {"type": "integer"}}},
    "required": ["obligations"],
    "additionalProperties": False,
}
"""The form of a reply."""

_FOLDER: Final = "second-readings"


class _Found(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A reply, or what is stored of all: the numbers of those that oblige."""

    obligations: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SecondReading:
    """The clauses with those that were `found` behind them.

    `usage` is what that took, None if nobody was asked; `problems` say what was not read again, and why.
    """

    clauses: Clauses
    found: int = 0
    usage: Usage | None = None
    problems: tuple[str, ...] = ()

    @property
    def note(self) -> str | None:
        """That clauses were found, and where; None if none was."""
        added = self.clauses.clauses[len(self.clauses.clauses) - self.found :]
        if not added:
            return None
        lines: dict[str, list[str]] = {}
        for clause in added[:MAX_NAMED]:
            lines.setdefault(clause.path, []).append(str(clause.line))
        places = "; ".join(f"{path}:{', '.join(dict.fromkeys(at))}" for path, at in lines.items())
        more = f" and {len(added) - MAX_NAMED} more" if len(added) > MAX_NAMED else ""
        many = "1 clause" if len(added) == 1 else f"{len(added)} clauses"
        return f"the second reader found {many} among what no pattern finds: {places}{more}"


def questions(clauses: Clauses) -> list[str]:
    """What the second reader is asked, as `second_reading` sends it."""
    passed = passed_over(clauses)
    return [question([passed[at] for at in some]) for some in portions(passed)]


@once
def system() -> str:
    """The system prompt."""
    return (Path(__file__).parent / "prompting" / "second_reader.md").read_text(encoding="utf-8")


def known(clauses: Clauses, terms: Terms) -> SecondReading | None:
    """A second reading for which nobody has to be asked: there is nothing to ask, it is stored, or nobody may be."""
    passed = passed_over(clauses)
    if not passed:
        return SecondReading(clauses)
    if terms.stored and not terms.refresh and (numbers := _load(_key(passed, terms))) is not None:
        return with_added(clauses, passed, numbers)
    return SecondReading(clauses) if terms.offline else None


def second_reading(
    clauses: Clauses,
    terms: Terms,
    parallel: int = 1,
    received: Callable[[int], None] = lambda _: None,
    delayed: Callable[[str, float], None] = lambda *_: None,
) -> SecondReading:
    """Ask which of the sentences that were passed over oblige. It is stored if all of it was answered.

    It takes a share of the limit on the cost at most.

    Sentences that seem to speak to the model are not asked about, as others are read beside them.

    Raises:
        InputError: VGL612, the model cannot be asked; VGL613, there is a limit, and prices are not known.
    """
    passed = passed_over(clauses)
    limit = None if terms.limit is None else SHARE * terms.limit
    with Client(terms.settings, Budget.of(limit, terms.settings), delayed=delayed) as client:
        numbers, problems = _ask(
            passed, ModelAsker(client, terms.settings.max_tokens, system(), SCHEMA), parallel, received
        )
        usage = client.usage
    if terms.stored and not problems:
        _save(_key(passed, terms), numbers)
    return replace(with_added(clauses, passed, numbers), usage=usage, problems=tuple(problems))


def passed_over(clauses: Clauses) -> list[Clause]:
    """The sentences to ask about, in order, each as the clause that it would be."""
    found: dict[tuple[object, ...], Clause] = {}
    for other in clauses.others:
        clause = other.clause
        if clause is not None and clause.hostile is None:
            found.setdefault((clause.path, clause.text, clause.headings, clause.lead), clause)
    return list(found.values())


def portions(passed: Sequence[Clause]) -> Iterator[range]:
    """The places of the sentences of each question: those of one document, as many as it may have."""
    start = size = 0
    for at, clause in enumerate(passed):
        length = len(_listed(0, clause))
        other = passed[start].path != clause.path
        if at > start and (other or at - start >= MAX_SENTENCES or size + length > MAX_CHARACTERS):
            yield range(start, at)
            start, size = at, 0
        size += length
    if passed:
        yield range(start, len(passed))


def question(some: Sequence[Clause]) -> str:
    """A question about some sentences, which it numbers from 1."""
    listed = ",\n".join(_listed(number, clause) for number, clause in enumerate(some, 1))
    return within("sentences", f"[\n{listed}\n]")


def _listed(number: int, clause: Clause) -> str:
    headings = [heading[:MAX_HEADING] for heading in clause.headings]
    return quoted({"n": number, "sentence": clause.text, "headings": headings, "lead": clause.lead})


def _ask(
    passed: Sequence[Clause], asker: Asker, parallel: int, received: Callable[[int], None]
) -> tuple[list[int], list[str]]:
    """The places of those that oblige, and what went wrong. A question that is not answered is asked in halves."""
    found: list[int] = []
    problems: list[str] = []
    with Desk[range](asker, max(1, parallel), received) as desk:
        waiting = deque(portions(passed))
        while waiting or desk.busy:
            while waiting:
                some = waiting.popleft()
                desk.put(some, [Message("user", question([passed[at] for at in some]))])
            some, reply = desk.next()
            if isinstance(reply, BaseException):
                if not isinstance(reply, Exhausted | Unanswered):
                    raise reply
                problems.append(_not_read(passed, some, _said(reply)))
            elif reply.stop in CUT or reply.stop == "refusal":
                if len(some) == 1:
                    problems.append(_not_read(passed, some, "the reply was cut off or refused"))
                else:
                    middle = some.start + len(some) // 2
                    waiting.extend((range(some.start, middle), range(middle, some.stop)))
            elif (numbers := _read(reply.text)) is None:
                problems.append(_not_read(passed, some, "the reply has not the form it was asked for"))
            else:
                found += [some[number - 1] for number in numbers if 1 <= number <= len(some)]
    return sorted(set(found)), problems


def _read(text: str) -> tuple[int, ...] | None:
    try:
        return msgspec.json.decode(text, type=_Found).obligations
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return None


def _said(error: Exhausted | Unanswered) -> str:
    return "; ".join(d.message for d in error.diagnostics) if isinstance(error, InputError) else str(error)


def _not_read(passed: Sequence[Clause], some: range, why: str) -> str:
    first, last = passed[some[0]], passed[some[-1]]
    where = f"{first.path}:{first.line}" + (f" to {last.line}" if last.line != first.line else "")
    return f"what no pattern finds in {where} was not read a second time: {why}"


def with_added(clauses: Clauses, passed: Sequence[Clause], places: Iterable[int]) -> SecondReading:
    """The clauses, and behind them the sentences at these places, which are no longer among the others."""
    free = max(0, MAX_CLAUSES - len(clauses.clauses))
    chosen = [passed[at] for at in islice((at for at in places if 0 <= at < len(passed)), free)]
    added = tuple(replace(clause, id=f"c{number}") for number, clause in enumerate(chosen, len(clauses.clauses) + 1))
    taken = set(map(id, chosen))
    others = tuple(other for other in clauses.others if id(other.clause) not in taken)
    return SecondReading(replace(clauses, clauses=(*clauses.clauses, *added), others=others), len(added))


# --- what is stored ------------------------------------------------------------------------------------------------


def _key(passed: Sequence[Clause], terms: Terms) -> str:
    asked = [system(), terms.settings.model, terms.settings.effort, [_listed(0, clause) for clause in passed]]
    return hashlib.sha256(msgspec.json.encode(asked)).hexdigest()[:32]


def _load(key: str) -> tuple[int, ...] | None:
    text = cache.read(f"{_FOLDER}/{key}.json")
    return None if text is None else _read(text)


def _save(key: str, places: Sequence[int]) -> None:
    if cache.folder(_FOLDER) is not None:
        cache.write(f"{_FOLDER}/{key}.json", msgspec.json.encode(_Found(tuple(places))).decode())
