"""Strategies that are made once: to make and to check one at each draw takes longer than the draw."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TypeVar

from hypothesis import strategies as st

T = TypeVar("T")


@lru_cache(maxsize=1024, typed=True)
def pick(*choices: T) -> st.SearchStrategy[T]:
    """One of some values, which differ in value or in type (`7` and `7.0`)."""
    return st.sampled_from(choices)


@cache
def up_to(most: int) -> st.SearchStrategy[int]:
    """A number from 0 to `most`."""
    return st.integers(0, most)


booleans = st.booleans()
