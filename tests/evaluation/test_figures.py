"""Counts, figures and intervals: those of the paper come out, and what docs/eval.md states of them holds."""

from __future__ import annotations

from fractions import Fraction
from math import comb
from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vigil_lang.evaluation.corpus import Bootstrap
from vigil_lang.evaluation.figures import METRICS, Counts, Metric, _Binomial, macro, table, total

if TYPE_CHECKING:
    from collections.abc import Mapping

PAPER = {
    "Vigil": [(69, 8, 72, 80), (298, 35, 300, 329), (234, 4, 248, 298)],
    "AgentSpec": [(34, 12, 72, 80), (290, 41, 300, 329), (231, 2, 248, 298)],
    "LLM-as-judge": [(48, 5, 72, 80), (297, 34, 300, 329), (222, 41, 248, 298)],
}
"""Table I: true and false positives of so many violating and benign runs, in three benchmark sets."""

counts = st.builds(Counts, *[st.integers(0, 30)] * 4, st.integers(0, 3))
groups = st.dictionaries(st.sampled_from(["a", "b", "c", "d"]), counts, min_size=1)
FEW = Bootstrap(seed=5, resamples=40)


def of_paper(system: str) -> list[Counts]:
    return [Counts(tp, fp, violating - tp, benign - fp) for tp, fp, violating, benign in PAPER[system]]


@pytest.mark.parametrize(("system", "bee"), [("Vigil", 5.4), ("AgentSpec", 15.2), ("LLM-as-judge", 12.5)])
def test_the_papers_figure_6_comes_out(system: str, bee: float) -> None:
    value, over = macro(of_paper(system), "bee")
    assert value is not None
    assert (round(100 * value, 1), over) == (bee, 3)


def test_the_papers_first_row_comes_out() -> None:
    row = of_paper("Vigil")[0]
    figures: dict[Metric, float] = {"precision": 89.6, "recall": 95.8, "f1": 92.6, "fpr": 10.0}
    assert {metric: round(100 * (row.value(metric) or 0), 1) for metric in figures} == figures


def test_nothing_is_divided_by_nothing() -> None:
    assert [Counts().value(metric) for metric in METRICS] == [None] * 6
    assert [Counts(tn=2).value(metric) for metric in METRICS] == [None, None, None, 0, None, None]
    assert [Counts(fn=2, tn=1).value(metric) for metric in METRICS] == [None, 0, 0, 0, 1, 0.5]
    assert macro([Counts(), Counts(tp=1, fp=1)], "precision") == (0.5, 1)
    assert macro([Counts()], "bee") == (None, 0)


@given(st.lists(st.tuples(st.booleans(), st.sampled_from((True, False, None)))))
def test_the_counts_add_up_to_the_labelled_runs(said: list[tuple[bool, bool | None]]) -> None:
    found = Counts()
    for violating, unsafe in said:
        found = found.with_one(violating=violating, unsafe=unsafe)
    assert found.labelled == len(said) == sum(found)
    assert found.tp + found.fn == sum(v and u is not None for v, u in said)
    assert found.unjudged == sum(u is None for _, u in said)


@settings(max_examples=30)
@given(groups, st.randoms(use_true_random=False))
def test_the_order_of_groups_changes_nothing(given_: Mapping[str, Counts], random: Random) -> None:
    names = list(given_)
    random.shuffle(names)
    found, again = table(given_, FEW), table({name: given_[name] for name in names}, FEW)
    assert (found.groups, found.micro, found.macro) == (again.groups, again.micro, again.macro)


@settings(max_examples=30)
@given(groups)
def test_an_interval_contains_its_estimate_and_lies_between_0_and_1(given_: Mapping[str, Counts]) -> None:
    found = table(given_, FEW)
    rows = [*found.groups.values(), found.micro]
    for estimate in [e for row in rows for e in row.figures.values()] + [*found.macro.values()]:
        value, low, high, _ = estimate
        assert (value is None) <= (low is None) == (high is None)
        if value is not None and low is not None and high is not None:
            assert 0 <= low <= value <= high <= 1
    assert found.micro.counts == total(list(given_.values()))


def test_one_seed_gives_one_result_and_another_another() -> None:
    one = {"a": Counts(20, 5, 10, 30)}
    assert table(one, FEW) == table(one, FEW) != table(one, Bootstrap(seed=6, resamples=40))
    assert table(one, Bootstrap(resamples=0)).groups["a"].figures["bee"][1:3] == (None, None)


def test_an_interval_holds_what_the_binomial_says() -> None:
    """Recall of 30 of 40 by 4,000 draws: the percentiles are those of Binomial(40, 3/4), to within a run."""
    estimate = table({"a": Counts(30, 0, 10, 5)}, Bootstrap(seed=1, resamples=4000)).groups["a"].figures["recall"]
    p, below, quantiles = Fraction(3, 4), Fraction(0), []
    for hits in range(41):
        below += comb(40, hits) * p**hits * (1 - p) ** (40 - hits)
        quantiles += [hits] * (int(below > Fraction(25, 1000)) + int(below > Fraction(975, 1000)))
    low, high = quantiles[0], next(h for h in quantiles if quantiles.count(h) == 2)
    assert estimate.low is not None
    assert estimate.high is not None
    assert abs(estimate.low * 40 - low) <= 1
    assert abs(estimate.high * 40 - high) <= 1


@pytest.mark.parametrize(("number", "hits"), [(0, 0), (7, 0), (7, 7)])
def test_what_is_certain_is_drawn_so(number: int, hits: int) -> None:
    assert {_Binomial(number, hits).draw(Random(1)) for _ in range(5)} == {hits}


def test_a_million_runs_are_drawn_at_once() -> None:
    million = _Binomial(1_000_000, 400_000)
    random = Random(3)
    drawn = [million.draw(random) for _ in range(2_000)]
    assert abs(sum(drawn) / 2_000 - 400_000) < 60  # five standard errors
    assert 450 < (sum((d - 400_000) ** 2 for d in drawn) / 2_000) ** 0.5 < 530
