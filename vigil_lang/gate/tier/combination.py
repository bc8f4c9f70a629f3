"""What the signals of a run come to: a deterministic function of them, the settings and the time."""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vigil_lang.gate.settings import Source, TierSettings


class Said(Protocol):
    """A signal of the run at hand: `score` None where the source failed, `at` in microseconds since 1970, `until` when
    it counts in POSIX seconds."""

    @property
    def source(self) -> str: ...
    @property
    def score(self) -> float | None: ...
    @property
    def at(self) -> int: ...
    @property
    def until(self) -> int: ...


class Combined(NamedTuple):
    """The tier, 0 to 3, what is not known of it, and what it comes from, in the order of the sources' names."""

    level: int
    doubts: tuple[str, ...] = ()
    why: tuple[str, ...] = ()


def combine(signals: Iterable[Said], settings: TierSettings, at: int) -> Combined:
    """The tier of one run at a time (POSIX seconds), from its signals in any order.

    Of each source the greatest score counts among its signals that have not ended and are not older than its window:
    what follows an alarm does not take it back. A greater score never gives a lower tier. Signals of sources that are
    not registered count for nothing. It is doubted what a source would say

    - that failed, and has not answered since;
    - whose last signal is older than its window;
    - that is required, and has no signal that counts.

    With `stale = "ignore"` only the first is doubted.
    """
    of: dict[str, list[Said]] = {}
    for signal in signals:
        of.setdefault(signal.source, []).append(signal)
    scores: dict[str, float] = {}
    doubts: list[str] = []
    for name in sorted(settings.sources):
        source = settings.sources[name]
        heard = _heard(of[name], source, at) if name in of else None
        doubt = _doubt(name, heard, source, at, ignored=settings.stale == "ignore")
        if doubt is not None:
            doubts.append(doubt)
        if heard is not None and heard.score is not None:
            scores[name] = heard.score
    if settings.combine == "sum":
        level = _level(fsum(settings.sources[name].weight * score for name, score in scores.items()), settings)
        why = [f"`{name}`: {score:g} × {settings.sources[name].weight:g}" for name, score in scores.items() if score]
    else:
        levels = {name: _level(score, settings.sources[name]) for name, score in scores.items()}
        level = max(levels.values(), default=0)
        why = [f"`{name}`: {scores[name]:g}, tier {reached}" for name, reached in levels.items() if reached]
    return Combined(level, tuple(doubts), tuple(why))


class _Heard(NamedTuple):
    """Of one source: the greatest score that counts, when the window after its last signal ends (POSIX seconds), and
    whether it failed and has not answered since."""

    score: float | None
    end: int
    failed: bool


def _heard(signals: Iterable[Said], source: Source, at: int) -> _Heard:
    score: float | None = None
    end = answered = failed = -1
    for signal in signals:
        window_end = signal.at // 1_000_000 + source.window
        end = max(end, window_end)
        counts = at < signal.until and at < window_end
        if signal.score is None:
            failed = max(failed, signal.at) if counts else failed
        else:
            answered = max(answered, signal.at)
            score = signal.score if counts and (score is None or signal.score > score) else score
    return _Heard(score, end, failed >= answered and failed >= 0)


def _level(score: float, settings: Source | TierSettings) -> int:
    """How many thresholds are reached; one that is no number always is."""
    one, two, three = settings.thresholds
    return (not score < one) + (not score < two) + (not score < three)


def _doubt(name: str, heard: _Heard | None, source: Source, at: int, *, ignored: bool) -> str | None:
    if heard is not None and heard.failed:
        return f"the source `{name}` failed"
    if ignored:
        return None
    if heard is None:
        return f"the source `{name}` has said nothing of this run" if source.required else None
    if heard.end <= at:
        return f"the last signal of `{name}` is older than its window of {source.window} s"
    return f"no signal of `{name}` counts any more" if source.required and heard.score is None else None
