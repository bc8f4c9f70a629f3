"""Bursts and loops of calls: the same call again and again, or very many at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.trace.event import MESSAGES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vigil_lang.gate.tier.source import Seen
    from vigil_lang.trace import Event

_LOOKED_AT = 2000
"""So many of the last events are looked at."""

_PERIODS = range(1, 5)
_REPEATED = ((12, 0.9), (8, 0.75), (5, 0.5))
"""From so many rounds of a loop on, in which nothing but its calls happens, the score."""

_BURST_SECONDS = 10
_BURST = ((200, 0.9), (100, 0.75), (50, 0.5))
"""From so many calls in `_BURST_SECONDS` on, the score; only where events have times."""


class Repetition:
    """.5, .75 or .9 for 5, 8 or 12 rounds of one call, or of up to four calls in turn, without any other between them,
    and for 50, 100 or 200 calls in 10 s."""

    name = "repetition"

    def score(self, seen: Seen) -> float | None:
        """The greater of the two; None where no call is pending."""
        if not seen.pending:
            return None
        calls = _calls([*seen.events[-_LOOKED_AT:], *seen.pending])
        rounds = max(_rounds(calls, period) for period in _PERIODS)
        return max(
            _reached(rounds, _REPEATED), _reached(_in_burst([*seen.events[-_LOOKED_AT:], *seen.pending]), _BURST)
        )


def _calls(events: Sequence[Event]) -> list[object]:
    """What each call is, in order: the actions and arguments of its events. A message counts as a call."""
    of: dict[str, list[object]] = {}
    for event in events:
        of.setdefault(event.call, []).append((event.action, tuple(sorted(event.args.items()))))
    return [tuple(each) for each in of.values()]


def _rounds(calls: Sequence[object], period: int) -> int:
    """How often the last `period` calls have come one round after the other."""
    same = 0
    for at in range(len(calls) - 1, period - 1, -1):
        if calls[at] != calls[at - period]:
            break
        same += 1
    return same // period + 1


def _in_burst(events: Sequence[Event]) -> int:
    """How many calls were made in the last seconds before the newest event that has a time."""
    times = [event.time for event in events if event.time is not None]
    if not times:
        return 0
    first = max(times) - _BURST_SECONDS * 1_000_000
    return len({e.call for e in events if e.time is not None and e.time > first and e.action not in MESSAGES})


def _reached(count: int, steps: Sequence[tuple[int, float]]) -> float:
    return next((score for least, score in steps if count >= least), 0.0)
