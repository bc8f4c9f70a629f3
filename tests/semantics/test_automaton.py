"""Expressions followed side by side: what is found together is what RE2 finds together in some text."""

from __future__ import annotations

from itertools import product

import pytest
from test_strings import EXPRESSIONS, TEXTS

from vigil_lang.semantics.automaton import TooMuch, found_together, texts_together
from vigil_lang.semantics.regex import Node, Unsupported
from vigil_lang.semantics.regex_reader import read
from vigil_lang.semantics.text_patterns import Expression, predicate

SHORT = ["".join(text) for length in range(5) for text in product("ab \n", repeat=length)]
PAIRS = [
    ("a", "b"), ("^a$", "a"), ("^a+$", "^a*$"), ("a.b", "(?s)a.b"), (r"\ba", "a"), (r"\ba\b", "^a$"), ("a$", "(?m)a$"),
    ("(?m)^b", "^b"), ("ab|ba", "^[ab]{0,3}$"), (r"(a\b|b)+ ", "a"), ("(a*)*b", "b"), (r"\Ba", r"\ba"), ("", "$"),
    ("(?i)A", "a|A"), ("a{2,3}b", "aab"), ("(a|ab)(b|)", "ab"), (r"a\s+b", "a b"), ("[^a]", "a"), ("a{0}", "b?"),
]  # fmt: skip


def node(pattern: str) -> Node:
    predicate(Expression(pattern))
    return read(pattern)


@pytest.mark.parametrize("pattern", EXPRESSIONS)
def test_an_expression_is_found_where_re2_finds_it(pattern: str) -> None:
    test = predicate(Expression(pattern))
    for text in TEXTS:
        whole = r"\A" + "".join(rf"\x{{{ord(c):x}}}" for c in text) + r"\z"
        together = found_together([node(pattern), node(whole)], 100_000)
        assert {found for found, is_text in together if is_text} == {test(text)}, text


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_two_are_found_together_where_some_text_has_both(one: str, other: str) -> None:
    tests = [predicate(Expression(pattern)) for pattern in (one, other)]
    found = {tuple(test(text) for test in tests) for text in SHORT}
    assert found_together([node(one), node(other)], 100_000) == found


@pytest.mark.parametrize("pattern", ["(a|b)*a(a|b){20}", ".{0,400}a.{0,400}b"])
def test_what_takes_too_long_is_given_up(pattern: str) -> None:
    with pytest.raises(TooMuch):
        found_together([node(pattern)], 50_000)


@pytest.mark.parametrize("pattern", ["(a{1000}){1000}", "((()){1000}){1000}", "(a{0,1000}){0,1000}"])
def test_a_large_expression_is_refused(pattern: str) -> None:
    with pytest.raises(Unsupported):
        found_together([read(pattern)], 50_000)


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_each_outcome_has_a_text(one: str, other: str) -> None:
    tests = [predicate(Expression(pattern)) for pattern in (one, other)]
    texts = texts_together([node(one), node(other)], 100_000)
    assert {outcome: tuple(test(text) for test in tests) for outcome, text in texts.items()} == {o: o for o in texts}
    assert texts.keys() == found_together([node(one), node(other)], 100_000)
    assert all(len(text) <= 6 for text in texts.values())
