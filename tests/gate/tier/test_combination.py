"""What signals come to: monotone in the scores, whatever their order, and doubtful where a source is silent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vigil_lang.gate.settings import Source, TierSettings
from vigil_lang.gate.tier import combine
from vigil_lang.gate.tier.signals import Signal

if TYPE_CHECKING:
    import random

NOW = 1_800_000_000
NAMES = ("a", "b", "c")

scores = st.floats(0, 1) | st.sampled_from([0.0, 0.5, 0.75, 0.9, 1.0])


def said(source: str, score: float | None, ago: int = 0, lasts: int = 600) -> Signal:
    return Signal("r", source, score, (NOW - ago) * 1_000_000, NOW - ago + lasts)


@st.composite
def situations(draw: st.DrawFn) -> tuple[TierSettings, list[Signal]]:
    sources = {
        name: Source(
            thresholds=draw(st.tuples(scores, scores, scores)),
            weight=draw(st.floats(0, 5)),
            window=draw(st.integers(1, 900)),
            required=draw(st.booleans()),
        )
        for name in NAMES
    }
    settings = TierSettings(
        combine=draw(st.sampled_from(["maximum", "sum"])),
        thresholds=draw(st.tuples(st.floats(0, 9), st.floats(0, 9), st.floats(0, 9))),
        stale=draw(st.sampled_from(["hold", "ignore"])),
        sources=sources,
    )
    signal = st.builds(
        said, st.sampled_from([*NAMES, "unknown"]), st.none() | scores, st.integers(0, 1000), st.integers(1, 1000)
    )
    return settings, draw(st.lists(signal, max_size=12))


@given(situations(), st.randoms(use_true_random=False))
def test_the_order_of_the_signals_does_not_matter(
    situation: tuple[TierSettings, list[Signal]], order: random.Random
) -> None:
    settings, signals = situation
    found = combine(signals, settings, NOW)
    assert found == combine(signals, settings, NOW)
    order.shuffle(signals)
    assert found == combine(signals, settings, NOW)


@given(situations(), st.data())
def test_a_greater_score_never_gives_a_lower_tier_nor_another_doubt(
    situation: tuple[TierSettings, list[Signal]], data: st.DataObject
) -> None:
    settings, signals = situation
    raised = [
        each
        if each.score is None
        else Signal(each.run, each.source, data.draw(st.floats(each.score, 1)), each.at, each.until)
        for each in signals
    ]
    before, after = combine(signals, settings, NOW), combine(raised, settings, NOW)
    assert after.level >= before.level
    assert after.doubts == before.doubts


@given(situations(), st.sampled_from(NAMES), scores)
def test_another_signal_never_lowers_the_tier(
    situation: tuple[TierSettings, list[Signal]], source: str, score: float
) -> None:
    settings, signals = situation
    assert combine([*signals, said(source, score)], settings, NOW).level >= combine(signals, settings, NOW).level


@given(situations())
def test_what_is_not_registered_counts_for_nothing(situation: tuple[TierSettings, list[Signal]]) -> None:
    settings, signals = situation
    known = [each for each in signals if each.source in settings.sources]
    assert combine(known, settings, NOW) == combine(signals, settings, NOW)
    assert 0 <= combine(signals, settings, NOW).level <= 3


@pytest.mark.parametrize(("score", "level"), [(0, 0), (0.49, 0), (0.5, 1), (0.75, 2), (0.9, 3), (1, 3)])
def test_a_source_reaches_its_thresholds(score: float, level: int) -> None:
    assert combine([said("a", score)], TierSettings(sources={"a": Source()}), NOW).level == level


def test_the_greatest_of_the_sources_decides() -> None:
    settings = TierSettings(sources={"a": Source(), "b": Source(thresholds=(0.1, 0.2, 0.3))})
    found = combine([said("a", 0.6), said("b", 0.25)], settings, NOW)
    assert (found.level, found.why) == (2, ("`a`: 0.6, tier 1", "`b`: 0.25, tier 2"))


def test_the_weighted_sum_decides_where_the_settings_say_so() -> None:
    sources = {"a": Source(weight=2), "b": Source()}
    settings = TierSettings(combine="sum", thresholds=(0.5, 1, 2), sources=sources)
    found = combine([said("a", 0.4), said("b", 0.3)], settings, NOW)
    assert (found.level, found.why) == (2, ("`a`: 0.4 × 2", "`b`: 0.3 × 1"))


def test_an_alarm_is_not_washed_away_by_what_follows() -> None:
    settings = TierSettings(sources={"a": Source()})
    assert combine([said("a", 0.95, ago=60), *(said("a", 0, ago=n) for n in range(50))], settings, NOW).level == 3


def test_a_signal_counts_until_it_ends_and_no_longer_than_the_window() -> None:
    settings = TierSettings(sources={"a": Source(window=100)}, stale="ignore")
    assert combine([said("a", 1, ago=10, lasts=11)], settings, NOW).level == 3
    assert combine([said("a", 1, ago=10, lasts=10)], settings, NOW).level == 0
    assert combine([said("a", 1, ago=99, lasts=9999)], settings, NOW).level == 3
    assert combine([said("a", 1, ago=100, lasts=9999)], settings, NOW).level == 0


@pytest.mark.parametrize(
    ("required", "signals", "doubt"),
    [
        (False, [], None),
        (True, [], "the source `a` has said nothing of this run"),
        (False, [said("a", 0.1, ago=100)], "the last signal of `a` is older than its window of 100 s"),
        (True, [said("a", 0.1, ago=100)], "the last signal of `a` is older than its window of 100 s"),
        (False, [said("a", 0.1, ago=50, lasts=10)], None),
        (True, [said("a", 0.1, ago=50, lasts=10)], "no signal of `a` counts any more"),
        (True, [said("a", 0.1, ago=50)], None),
        (False, [said("a", 0.1, ago=5), said("a", None)], "the source `a` failed"),
        (False, [said("a", None, ago=5), said("a", 0.1)], None),
    ],
    ids=["silent", "missing", "stale", "stale and required", "ended", "ended and required", "fresh", "failed", "again"],
)
def test_a_stale_a_missing_and_a_failing_source_are_doubts(
    required: bool, signals: list[Signal], doubt: str | None
) -> None:
    settings = TierSettings(sources={"a": Source(window=100, required=required)})
    assert combine(signals, settings, NOW).doubts == ((doubt,) if doubt else ())


def test_silence_is_ignored_where_the_settings_say_so_and_a_failure_is_not() -> None:
    settings = TierSettings(sources={"a": Source(window=100, required=True)}, stale="ignore")
    assert combine([], settings, NOW).doubts == ()
    assert combine([said("a", 0, ago=100)], settings, NOW).doubts == ()
    assert combine([said("a", None)], settings, NOW).doubts == ("the source `a` failed",)


def test_a_threshold_that_is_no_number_is_always_reached() -> None:
    nan = float("nan")
    assert combine([said("a", 0)], TierSettings(sources={"a": Source(thresholds=(nan, nan, nan))}), NOW).level == 3
