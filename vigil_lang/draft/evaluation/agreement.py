"""Whether two sets of statements agree: the same offending events on every run tried."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice, product
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from msgspec.structs import replace

from vigil_lang.analysis import canonical
from vigil_lang.draft.evaluation.generated_runs import RUNS, generated
from vigil_lang.draft.evaluation.plausible_events import Plausible
from vigil_lang.engines.index import RunIndex
from vigil_lang.semantics import core
from vigil_lang.testing.distinguishing_runs import Telling, offending, tell

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from vigil_lang.semantics.lower import Statement
    from vigil_lang.trace import Trace

Agreement: TypeAlias = Literal["agree", "too strict", "too weak", "both", "unclear"]
"""`too strict` blames an event that the gold does not, `too weak` lets one pass, `both` does either. `unclear`: no run
tells the sets apart, but none breaks the gold either, and they are not the same as written."""

_SEARCHED: Final = 4
"""Pairs of statements for which a run that tells them apart is looked for on purpose."""

_EVENTS: Final = 1_200
"""Events of the runs that such a search tries."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One run, and the indices of the events at fault by the gold and by the other set."""

    run: Trace
    gold: tuple[int, ...]
    other: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Compared:
    """How two sets of statements compare.

    Of `runs` tried, `breaking` break the gold, in `differing` other events are at fault, and `opposed` have opposite
    verdicts. `proved`: the statements are the same but for order and the names of variables. `witness` is a short run
    that tells them apart.
    """

    agreement: Agreement
    runs: int
    breaking: int
    differing: int
    opposed: int
    proved: bool
    witness: Judged | None = None


def compare(gold: Sequence[Statement], other: Sequence[Statement], runs: Iterable[Trace]) -> Compared:
    """Compare a set of statements with the gold on some runs."""
    return compared([judge(gold, other, RunIndex(run)) for run in runs], same_as_written(gold, other))


def judge(gold: Sequence[Statement], other: Sequence[Statement], index: RunIndex) -> Judged:
    """The events of a run at fault by each set."""
    return Judged(index.trace, _at_fault(gold, index), _at_fault(other, index))


def _at_fault(statements: Sequence[Statement], index: RunIndex) -> tuple[int, ...]:
    """The events of a run that are at fault by some of the statements."""
    return tuple(sorted({at for s in statements for at in offending(s.requirement, index)}))


def compared(judged: Sequence[Judged], proved: bool) -> Compared:
    """The comparison that the verdicts on some runs give."""
    differing = [each for each in judged if each.gold != each.other]
    strict = any(not set(each.other).issubset(each.gold) for each in differing)
    weak = any(not set(each.gold).issubset(each.other) for each in differing)
    breaking = sum(bool(each.gold) for each in judged)
    opposed = [each for each in differing if bool(each.gold) != bool(each.other)]
    agreement: Agreement
    if differing:
        agreement = "both" if strict and weak else "too strict" if strict else "too weak"
    else:
        agreement = "agree" if breaking or proved else "unclear"
    witness = min(opposed or differing, key=lambda each: len(each.run.events), default=None)
    return Compared(agreement, len(judged), breaking, len(differing), len(opposed), proved, witness)


def trials(
    gold: Sequence[Statement], other: Sequence[Statement], recorded: Sequence[Trace], seed: str, count: int = RUNS
) -> list[Trace]:
    """Made-up runs that may tell two sets of statements apart; those that were recorded lend their events.

    The same arguments give the same runs.
    """
    sides = [[statement.requirement for statement in side] for side in (gold, other)]
    found = list(generated(sides, recorded, seed, count))
    if not same_as_written(gold, other):
        conditions = [holds.condition for side in sides for each in side for holds in core.conditions(each.theta)]
        plausible = Plausible(conditions, recorded).event
        for one, two in islice(product(*sides), _SEARCHED):
            told = tell(one, two, _EVENTS)
            if isinstance(told, Telling):
                found.append(replace(told.trace, events=tuple(map(plausible, told.trace.events))))
    return found


def same_as_written(gold: Sequence[Statement], other: Sequence[Statement]) -> bool:
    """Whether the statements are the same up to order and the names of variables, which proves that they agree."""
    one, two = ({canonical.key(statement.requirement.theta) for statement in side} for side in (gold, other))
    return one == two
