"""Confusion counts, what they come to, and how sure that is (paper, sections 7.1 and 7.2).

Intervals are percentiles of a bootstrap that is stratified by group and label: of each group as many violating and as
many benign runs are drawn, with replacement, as it has. An interval is widened to its estimate where the percentiles
leave that out. What a draw leaves undefined is left out of it.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate
from math import ceil, exp, floor, fsum, lgamma, log, sqrt
from random import Random
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vigil_lang.evaluation.corpus import Bootstrap

Metric: TypeAlias = Literal["precision", "recall", "f1", "fpr", "fnr", "bee"]
METRICS: tuple[Metric, ...] = ("precision", "recall", "f1", "fpr", "fnr", "bee")


class Counts(NamedTuple):
    """Labelled runs by what was said of them. A violating run that is called unsafe is a true positive.

    `unjudged` are labelled runs of which nothing was said: they are in no other count and in no figure.
    """

    tp: int = 0
    fp: int = 0
    fn: int = 0
    tn: int = 0
    unjudged: int = 0

    def with_one(self, *, violating: bool, unsafe: bool | None) -> Counts:
        """The same with one more run; None where nothing was said of it."""
        if unsafe is None:
            return self._replace(unjudged=self.unjudged + 1)
        name = ("tp" if violating else "fp") if unsafe else ("fn" if violating else "tn")
        return self._replace(**{name: getattr(self, name) + 1})

    @property
    def labelled(self) -> int:
        """How many runs have a label."""
        return sum(self)

    def value(self, metric: Metric) -> float | None:
        """A figure from 0 to 1; None where it would divide by nothing. BEE = (FNR + FPR) / 2."""
        tp, fp, fn, tn, _ = self
        match metric:
            case "precision":
                return _share(tp, fp)
            case "recall":
                return _share(tp, fn)
            case "f1":
                return _share(2 * tp, fp + fn)
            case "fpr":
                return _share(fp, tn)
            case "fnr":
                return _share(fn, tp)
            case "bee":
                fnr, fpr = _share(fn, tp), _share(fp, tn)
                return None if fnr is None or fpr is None else (fnr + fpr) / 2


def total(counts: Sequence[Counts]) -> Counts:
    """All of them as one."""
    return Counts(*map(sum, zip(*counts, strict=True))) if counts else Counts()


def macro(counts: Sequence[Counts], metric: Metric) -> tuple[float | None, int]:
    """The mean of a figure over the groups that have it, each counting the same, and how many these are."""
    values = [value for each in counts if (value := each.value(metric)) is not None]
    return (fsum(values) / len(values) if values else None), len(values)


class Estimate(NamedTuple):
    """A figure with its interval; both None where there is none. `groups` is how many a mean is over."""

    value: float | None
    low: float | None = None
    high: float | None = None
    groups: int = 1


class Row(NamedTuple):
    """The counts of a group, or of several, with their figures."""

    counts: Counts
    figures: dict[Metric, Estimate]


class Table(NamedTuple):
    """What one system comes to: a row a group, and over all groups."""

    groups: dict[str, Row]
    micro: Row
    macro: dict[Metric, Estimate]


def table(counts: Mapping[str, Counts], bootstrap: Bootstrap) -> Table:
    """The figures of some groups by name: of each, of all runs together (micro), and the mean of the groups (macro).

    A group's draws depend on the seed and its own name alone, so that the order of groups changes nothing.
    """
    every = list(counts.values())
    drawn = [_draws(each, Random(f"{bootstrap.seed}/{name}"), bootstrap.resamples) for name, each in counts.items()]
    rows = {
        name: _row(each, draws, bootstrap.confidence) for (name, each), draws in zip(counts.items(), drawn, strict=True)
    }
    together = [list(one) for one in zip(*drawn, strict=True)]
    means: dict[Metric, Estimate] = {}
    for metric in METRICS:
        value, groups = macro(every, metric)
        means[metric] = _estimate(value, [macro(one, metric)[0] for one in together], bootstrap.confidence, groups)
    return Table(rows, _row(total(every), [total(one) for one in together], bootstrap.confidence), means)


def _row(counts: Counts, draws: Sequence[Counts], confidence: float) -> Row:
    return Row(
        counts,
        {m: _estimate(counts.value(m), [draw.value(m) for draw in draws], confidence) for m in METRICS},
    )


def _estimate(value: float | None, drawn: Sequence[float | None], confidence: float, groups: int = 1) -> Estimate:
    found = sorted(each for each in drawn if each is not None)
    if value is None or not found:
        return Estimate(value, groups=groups)
    outside = (1 - confidence) / 2 * len(found)
    low, high = found[floor(outside)], found[max(ceil(len(found) - outside) - 1, 0)]
    return Estimate(value, min(low, value), max(high, value), groups)


def _draws(counts: Counts, random: Random, number: int) -> list[Counts]:
    violating = _Binomial(counts.tp + counts.fn, counts.tp)
    benign = _Binomial(counts.fp + counts.tn, counts.fp)
    found = []
    for _ in range(number):
        tp, fp = violating.draw(random), benign.draw(random)
        found.append(Counts(tp, fp, violating.number - tp, benign.number - fp))
    return found


class _Binomial:
    """How many of `number` draws with replacement hit, where `hits` of as many do: one draw takes one random number."""

    def __init__(self, number: int, hits: int) -> None:
        self.number = number
        self._low = hits
        self._cumulative = [1.0]
        if 0 < hits < number:
            p = hits / number
            far = ceil(10 * sqrt(number * p * (1 - p))) + 10  # what lies further out is less likely than 1 in 10²⁰
            self._low, high = max(0, hits - far), min(number, hits + far)
            whole = lgamma(number + 1)
            weights = (
                exp(whole - lgamma(k + 1) - lgamma(number - k + 1) + k * log(p) + (number - k) * log(1 - p))
                for k in range(self._low, high + 1)
            )
            self._cumulative = list(accumulate(weights))

    def draw(self, random: Random) -> int:
        """One draw of all of them."""
        return self._low + bisect_left(self._cumulative, random.random() * self._cumulative[-1])


def _share(part: int, rest: int) -> float | None:
    return part / (part + rest) if part + rest else None
