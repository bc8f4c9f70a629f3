"""What is said of all texts that an expression matches, against RE2 on every short text."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vigil_lang.semantics.regex_places import impasse, matches_everything, matches_nothing
from vigil_lang.semantics.regex_reader import read
from vigil_lang.semantics.text_patterns import Expression, predicate

TEXTS = ["".join(letters) for length in range(5) for letters in product("a- \n", repeat=length)]


@pytest.mark.parametrize(
    "pattern",
    [
        "$a",
        "a^",
        "a\\bb",
        "-\\b-",
        "a\\B-",
        "[^\\s\\S]",
        "(?m)a^b",
        "(a^)+",
        "a{3}^",
        "x(\\Ay|$z)",
        "\\s\\b-",
        "\\A\\b\\z",
    ],
)
def test_nothing_is_matched(pattern: str) -> None:
    assert matches_nothing(read(pattern))


@pytest.mark.parametrize(
    "pattern",
    ["^$", "a$", "(?m)$\\n^", "a\\b-", "(a^)*", "(a^|b)", "\\B", "a\\Bb", "^^a", "(a$)?b", "[\\s\\S]", "a{2,5}$"],
)
def test_something_is_matched(pattern: str) -> None:
    assert not matches_nothing(read(pattern))


@pytest.mark.parametrize(
    ("pattern", "breadth"),
    [
        ("", "text"), (".*", "text"), ("^", "text"), ("$", "text"), ("a*", "text"), ("(a|)", "text"), ("^.*", "text"),
        ("(?s)^.*$", "text"), ("\\b|\\B", "text"), ("^.*$", "line"), (".", None), (".+", None), ("^a*$", None),
        ("\\b", None), ("^$", None),
    ],
)  # fmt: skip
def test_how_much_is_matched(pattern: str, breadth: str | None) -> None:
    assert matches_everything(read(pattern)) == breadth


@pytest.mark.parametrize(
    ("pattern", "at"), [("ab$c", 2), ("a^", 1), ("x\\by", 1), ("a(b$)c", None), ("[^\\S\\s]", None)]
)
def test_the_place_that_is_to_blame(pattern: str, at: int | None) -> None:
    place = impasse(read(pattern))
    assert (place and place.at) == at


_PIECES = st.sampled_from(["a", "-", " ", ".", "\\n", "^", "$", "\\b", "\\B", "\\A", "\\z", "[^a]", "\\w", "\\s"])
_PATTERNS = st.recursive(
    _PIECES,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=4).map("".join),
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: f"({'|'.join(parts)})"),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{0,2}"])).map(lambda pair: f"({pair[0]}){pair[1]}"),
    ),
    max_leaves=8,
)


@settings(max_examples=400, deadline=None)
@given(pattern=_PATTERNS, many_lines=st.booleans())
def test_short_texts_agree(pattern: str, *, many_lines: bool) -> None:
    written = f"(?m){pattern}" if many_lines else pattern
    node, matches = read(written), predicate(Expression(written))
    found = [text for text in TEXTS if matches(text)]
    if matches_nothing(node):
        assert found == []
    elif not found:
        assert len(pattern) > 4  # a longer text than any tried
    breadth = matches_everything(node)
    if breadth == "text":
        assert found == TEXTS
    elif breadth == "line":
        assert [text for text in TEXTS if "\n" not in text and not matches(text)] == []
