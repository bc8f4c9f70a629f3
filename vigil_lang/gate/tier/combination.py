"""What the signals of a run come to: a deterministic function of them, the settings and the time."""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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
    of: dict[str, list[Said]] = {name: [] for name in sorted(settings.sources)}
    for signal in signals:
        if signal.source in of:
            of[signal.source].append(signal)
    greatest = {name: _greatest(settings.sources[name], found, at) for name, found in of.items()}
    scores = {name: score for name, score in greatest.items() if score is not None}
    doubts = [
        doubt for name, found in of.items() for doubt in _doubts(name, settings, found, greatest[name] is not None, at)
    ]
    if settings.combine == "sum":
        level = _level(fsum(settings.sources[name].weight * score for name, score in scores.items()), settings)
        why = [f"`{name}`: {score:g} × {settings.sources[name].weight:g}" for name, score in scores.items() if score]
    else:
        levels = {name: _level(score, settings.sources[name]) for name, score in scores.items()}
        level = max(levels.values(), default=0)
        why = [f"`{name}`: {scores[name]:g}, tier {reached}" for name, reached in levels.items() if reached]
    return Combined(level, tuple(doubts), tuple(why))


def _greatest(source: Source, signals: Sequence[Said], at: int) -> float | None:
    counting = (each.score for each in signals if at < min(each.until, _end(each, source)))
    return max((score for score in counting if score is not None), default=None)


def _end(signal: Said, source: Source) -> int:
    """When the window of the source is over for a signal, in POSIX seconds."""
    return signal.at // 1_000_000 + source.window


def _level(score: float, settings: Source | TierSettings) -> int:
    """How many thresholds are reached; one that is no number always is."""
    return sum(not score < threshold for threshold in settings.thresholds)


def _doubts(name: str, settings: TierSettings, signals: Sequence[Said], counts: bool, at: int) -> list[str]:
    source = settings.sources[name]
    window_end = max((_end(each, source) for each in signals), default=None)
    answered = max((each.at for each in signals if each.score is not None), default=None)
    failed = max((each.at for each in signals if each.score is None and at < each.until), default=None)
    if failed is not None and (answered is None or answered <= failed):
        return [f"the source `{name}` failed"]
    if settings.stale == "ignore":
        return []
    if window_end is None:
        return [f"the source `{name}` has said nothing of this run"] if source.required else []
    if window_end <= at:
        return [f"the last signal of `{name}` is older than its window of {source.window} s"]
    return [f"no signal of `{name}` counts any more"] if source.required and not counts else []
