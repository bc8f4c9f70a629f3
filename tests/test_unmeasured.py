"""Tests are left unmeasured as long as nothing is lost by it, the slowest first."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import HERE
from tests.unmeasured import HEAD, LIST, redundant

A, B, C = (1, 1, 2), (1, 2, 3), (2, 1, -1)


def test_the_slowest_of_those_that_reach_the_same_goes() -> None:
    assert list(redundant({"slow": 9, "quick": 1}, {"slow": [A, B], "quick": [A, B]})) == ["slow"]


def test_what_one_test_alone_reaches_keeps_it() -> None:
    assert list(redundant({"slow": 9, "quick": 1}, {"slow": [A, B, C], "quick": [A, B]})) == ["quick"]


def test_what_takes_no_time_is_worth_no_line() -> None:
    assert list(redundant({"slow": 0.2, "quick": 0.1}, {"slow": [A], "quick": [A]})) == []


def test_what_importing_reaches_is_nobodys() -> None:
    assert list(redundant({"slow": 9}, {"slow": [A], "": [A]})) == ["slow"]


PLACES = st.sets(st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(0, 3)))


@given(st.dictionaries(st.text(max_size=2), st.tuples(st.floats(0, 9), PLACES)))
def test_nothing_is_lost(tests: dict[str, tuple[float, set[tuple[int, int, int]]]]) -> None:
    reached = {test: places for test, (_, places) in tests.items()}
    left_out = set(redundant({test: seconds for test, (seconds, _) in tests.items()}, reached))
    kept = (places for test, places in reached.items() if test not in left_out)
    assert set().union(*kept) == set().union(*reached.values())


def test_what_is_named_is_there() -> None:
    for test in LIST.read_text().removeprefix(HEAD).splitlines():
        file = HERE.parent / test.partition("::")[0]
        assert file.is_file(), test
