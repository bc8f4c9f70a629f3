"""Long outputs are cut in the middle."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from vigil_lang.abstraction.bounded_output import SMALLEST, bounded


def test_a_short_output_is_kept() -> None:
    assert bounded("x" * 300, 300) == ("x" * 300, 0)


def test_head_and_tail_are_kept_and_the_rest_is_counted() -> None:
    text, cut = bounded("a" * 1000 + "b" * 1000, 400)
    mark = "\n[… 2000 characters, cut …]\n"
    kept = 400 - len(mark)
    assert text == "a" * (kept - kept // 2) + mark + "b" * (kept // 2)
    assert cut == 2000 - kept


@given(st.text(min_size=0, max_size=3000), st.integers(SMALLEST, 1000))
def test_cutting_again_changes_nothing(output: str, kept: int) -> None:
    text, cut = bounded(output, kept)
    assert len(text) <= kept
    assert bounded(text, kept) == (text, 0)
    assert (cut > 0) == (len(output) > kept)
