"""The result of an evaluation against gold policies."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from vigil_lang.draft.clause_result import Usage

if TYPE_CHECKING:
    from vigil_lang.draft.clause_result import Clause
    from vigil_lang.draft.evaluation.agreement import Agreement, Compared

Outcome: TypeAlias = "Agreement | Literal['missing', 'extra']"
"""How the statements drafted for a clause compare with the gold ones; `missing` where none was drafted, `extra` where
the gold has none."""

OUTCOMES: tuple[Outcome, ...] = ("agree", "too strict", "too weak", "both", "unclear", "missing", "extra")


@dataclass(frozen=True, slots=True)
class Tally:
    """Pairs of a run and a clause: violated by both, by the draft only, by the gold only."""

    both: int = 0
    draft: int = 0
    gold: int = 0

    @property
    def precision(self) -> float | None:
        """The share of the draft's violations that are the gold's, too; None where the draft has none."""
        return _share(self.both, self.both + self.draft)

    @property
    def recall(self) -> float | None:
        """The share of the gold's violations that the draft sees; None where the gold has none."""
        return _share(self.both, self.both + self.gold)

    def __add__(self, other: Tally) -> Tally:
        return Tally(self.both + other.both, self.draft + other.draft, self.gold + other.gold)


@dataclass(frozen=True, slots=True)
class Unit:
    """A clause, or several that the gold's statements cite together, with what the gold and the draft make of it.

    `sentences` are those the gold quotes. There are no `clauses` where the reader of documents found none in them, and
    no `gold` statements where the gold leaves the clause alone. `reason` says why nothing was drafted.
    """

    outcome: Outcome
    clauses: tuple[Clause, ...]
    sentences: tuple[str, ...]
    gold: tuple[str, ...]
    drafted: tuple[str, ...]
    tally: Tally
    compared: Compared | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Evaluated:
    """One gold policy compared with the draft of its documents.

    `runs` were tried for the violations that are counted: the same ones whatever is drafted. `agreed_on_none` counts
    the clauses that neither the gold nor the draft has a statement for.
    """

    path: str
    units: tuple[Unit, ...]
    runs: int
    agreed_on_none: int
    model: str | None
    usage: Usage


@dataclass(frozen=True, slots=True)
class Evaluation:
    """All gold policies of a folder; those `left_out` each with the reason."""

    policies: tuple[Evaluated, ...]
    left_out: tuple[tuple[str, str], ...] = field(default=())

    @property
    def units(self) -> tuple[Unit, ...]:
        """The clauses of all policies, in order."""
        return tuple(unit for each in self.policies for unit in each.units)

    @property
    def tally(self) -> Tally:
        """The violations of all policies together."""
        return sum((unit.tally for unit in self.units), Tally())

    @property
    def usage(self) -> Usage:
        """What all drafts took; the cost is None if that of some is unknown."""
        return sum((each.usage for each in self.policies if each.usage.requests), Usage(cost=0.0))

    @property
    def counts(self) -> dict[Outcome, int]:
        """How many clauses have each outcome."""
        counted = Counter(unit.outcome for unit in self.units)
        return {outcome: counted[outcome] for outcome in OUTCOMES}

    @property
    def precision(self) -> float | None:
        """Of the clauses with drafted statements, the share that agree; None where there are none."""
        return _share(self.counts["agree"], sum(bool(unit.drafted) for unit in self.units))

    @property
    def recall(self) -> float | None:
        """Of the clauses with gold statements, the share that agree; None where there are none."""
        return _share(self.counts["agree"], sum(bool(unit.gold) for unit in self.units))


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
