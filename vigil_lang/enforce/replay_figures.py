"""Sums over replays: by statement, by label, confirmations a day, and the time that decisions took."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from vigil_lang.enforce.labels import Label
    from vigil_lang.enforce.replayed import Replayed

_DAY = 86_400_000_000


@dataclass(slots=True)
class StatementFigures:
    """What one statement would have done: the calls it blocked, held and warned about, the obligations it left open,
    and in how many runs it disturbed a call and was violated at the end."""

    calls: Counter[str] = field(default_factory=Counter)
    owed: int = 0
    disturbed: int = 0
    violated: int = 0


class Confirmations(NamedTuple):
    """How often a person would have been asked: on how many days with calls, and on the day with the most.

    `untimed` counts those in runs without times, `untimed_runs` these runs.
    """

    timed: int
    days: int
    most: int
    busiest: date | None
    untimed: int
    untimed_runs: int


@dataclass(slots=True)
class Figures:
    """The sums over all runs so far."""

    runs: int = 0
    calls: int = 0
    disturbed: int = 0
    violated: int = 0
    statements: dict[tuple[str, str], StatementFigures] = field(default_factory=dict)
    """By the path of the policy and the statement's name, in the policies' order."""
    labelled: Counter[Label] = field(default_factory=Counter)
    caught: Counter[Label] = field(default_factory=Counter)
    """How many runs of each label have a call that is blocked or held."""
    touched: Counter[Label] = field(default_factory=Counter)
    """How many runs of each label have a call that is blocked, held or warned about."""
    microseconds: list[int] = field(default_factory=list)
    _held: Counter[int] = field(default_factory=Counter)
    _days: set[int] = field(default_factory=set)
    _untimed: int = 0
    _untimed_runs: int = 0

    def add(self, found: Replayed, label: Label | None = None) -> None:
        """Count a run."""
        disturbed = found.disturbed
        self.runs += 1
        self.calls += len(found.decisions)
        self.disturbed += bool(disturbed)
        self.violated += bool(found.violated)
        self.microseconds += (decision.microseconds for decision in found.decisions)
        if label is not None:
            self.labelled[label] += 1
            self.touched[label] += bool(disturbed)
            self.caught[label] += any(decision.decided in ("block", "hold") for decision in disturbed)
        self._count_statements(found)
        self._count_days(found)

    def _count_statements(self, found: Replayed) -> None:
        rows = [self.statements.setdefault((s.policy, s.name), StatementFigures()) for s in found.statements]
        met: set[int] = set()
        for decision in found.disturbed:
            for reason in decision.reasons:
                met.add(reason.statement)
                reaction = "block" if reason.unjudged else found.statements[reason.statement].reaction
                rows[reason.statement].calls[reaction] += 1
        for at in met:
            rows[at].disturbed += 1
        for reason in found.violated:
            rows[reason.statement].violated += 1
        for owing in found.owed:
            rows[owing.statement].owed += 1

    def _count_days(self, found: Replayed) -> None:
        times = [decision.time for decision in found.decisions if decision.time is not None]
        held = [decision for decision in found.decisions if decision.decided == "hold"]
        if not times:
            self._untimed += len(held)
            self._untimed_runs += 1
            return
        self._days.update(time // _DAY for time in times)
        day = times[0] // _DAY
        for decision in found.decisions:
            day = day if decision.time is None else decision.time // _DAY
            if decision.decided == "hold":
                self._held[day] += 1

    @property
    def confirmations(self) -> Confirmations:
        """How often a person would have been asked."""
        timed = sum(self._held.values())
        most = max(self._held.values(), default=0)
        busiest = min((day for day, number in self._held.items() if number == most), default=None)
        return Confirmations(timed, len(self._days), most, _date(busiest), self._untimed, self._untimed_runs)

    def microseconds_at(self, share: float) -> int:
        """The microseconds within which this share of the decisions was made."""
        ordered = sorted(self.microseconds)
        return ordered[min(int(len(ordered) * share), len(ordered) - 1)] if ordered else 0


def _date(day: int | None) -> date | None:
    if day is None:
        return None
    try:
        return datetime.fromtimestamp(day * 86_400, UTC).date()
    except (OverflowError, ValueError, OSError):
        return None
