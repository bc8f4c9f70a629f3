"""A short run of tests/fuzz_parser.py."""

from __future__ import annotations

from tests import fuzz_parser


def test_random_texts_end_in_findings_or_in_formatted_policies() -> None:
    assert fuzz_parser.run(1_500, seed=1) > 100


def test_the_seeds_are_policies() -> None:
    assert all(fuzz_parser.check(seed) for seed in fuzz_parser.SEEDS)
