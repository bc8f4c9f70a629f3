"""What documents say beside their clauses, for people: each sentence that is no clause, under the reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from vigil_lang.draft.reports.report import many
from vigil_lang.project.drafting import TAKEN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from vigil_lang.draft.clause_result import Other, Why

TITLES: Final[dict[Why, str]] = {
    "step": "instructions that nothing makes binding",
    "shown": "instructions that a table or the code below them shows",
    "language": "in another language than English, which the patterns do not know",
    "advice": "advice and permissions",
    "condition": "said of the items below",
    "part": "parts of what a clause demands, which has them beside its sentence",
    "question": "questions",
    "sample": "quotations that stand as examples",
    "situation": "situations",
    "reason": "what something is good for, or done about a fault",
    "word": "a word alone",
    "repeated": "said before, under the same headings",
    "lead": "leads of lists that hold clauses",
    "code": "code, which is not read for clauses",
    "comment": "comments, which readers do not see",
    "heading": "headings",
    "description": "sentences that only describe",
}
"""The reasons, in the order in which an obligation may hide behind them."""


def not_taken(others: Sequence[Other]) -> str:
    """`Not taken for obligations: 41 sentences, 3 blocks of code or comments`."""
    blocks = sum(other.why in ("code", "comment") for other in others)
    said = many(len(others) - blocks, "sentence")
    return f"Not taken for obligations: {said}" + (f", {many(blocks, 'block')} of code or comments" if blocks else "")


def by_reason(others: Iterable[Other]) -> Iterator[tuple[str, list[Other]]]:
    """What is no clause, by the reason: each with its words, and the option that makes clauses of it."""
    found: dict[Why, list[Other]] = {}
    for other in others:
        found.setdefault(other.why, []).append(other)
    titles = {why: f"{title} (--take {why})" if why in TAKEN else title for why, title in TITLES.items()}
    return ((title, found[why]) for why, title in titles.items() if why in found)
