"""Text patterns as regular languages: in the theory of strings they match what RE2 and globs match."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vigil_lang.engines.smt.solve import evaluate
from vigil_lang.engines.smt.strings import Unsupported, literal, regular
from vigil_lang.semantics.regex import sample
from vigil_lang.semantics.regex_reader import read
from vigil_lang.semantics.text_patterns import Expression, Glob, Matcher, predicate

TEXTS = [
    "", "a", "b", "A", "ab", "ba", "aab", "abc", "a b", "a-b", "-", "_", "a_b", "1", "a1", "\n", "a\nb", "\nb\n", " a",
    "é", "éa", "ſ", "K", "k", "\u212a", "s", "rm -rf /", "arm", "x.env", "a/.env", ".env", "\t", "\x00", "]", "[",
    "{2}",
    "a{2}", "aaaa", "\\", '"', "z", "0x41", "\U0001f600", "a\U0001f600",
]  # fmt: skip


def in_strings(matcher: Matcher, texts: list[str]) -> list[str]:
    """The texts that the theory of strings says a pattern matches."""
    language = regular(matcher)
    answers = evaluate([f"(simplify (str.in_re {literal(text)} {language}))" for text in texts]).split()
    return [text for text, answer in zip(texts, answers, strict=True) if answer == "true"]


EXPRESSIONS = [
    "", "a", "^", "$", "^$", "^a", "a$", "^ab$", "a|b", "^a|b$", "^(a|b)$", "(^|/)[.]env$", "(^a|b)b", "a.b", "(?s)a.b",
    "(?m)^b$", "(?m)^b|a$", "a*", "a+b", "a?b", "^a{2}$", "^a{2,}$", "^a{1,2}$", "^a{0}$", "a{2", "a{,2}",
    "[ab]", "[^ab]", "[a-c]", "[^a-z]", "[]a]", "[^]a]", "[a-]", "[-a]", r"[\]]", r"[a\-c]", r"[\d_]", r"[^\w]",
    "[[:alpha:]]", "[[:^alpha:]]", "[^[:space:]]", "[[:word:]-]", r"\d", r"\D", r"\w", r"\W", r"\s", r"\S", r"\n",
    r"\t", r"\x41", r"\x{e9}", r"\101", r"\0", r"\.", r"\\", r"\-", r"\A.\z", r"\ba", r"a\b", r"\brm\b", r"\b-rf\b",
    r"\Ba", r"a\B", r"\B", r"\b", r"\b\b", r"^\b", r"\b$", r"^\B$", r"^\s*\ba", r"x?\b-", r"a\b.\bb", r"(\ba|^b)\b",
    r"(\ba)?b", "(?i)a", "(?i)ab", "(?i)k", "(?i)s", "(?i)[a-c]", "(?i)[^a-z]", r"(?i)\w", r"(?i)\W", r"(?i)[^\W]",
    "(?i)[[:upper:]]", "(?i:a)b", "(?i)a(?-i)b", "a(?i)b|A", "(a(?i)b|A)b", "(?:ab)+", "(?P<n>a)b", "(?<n>a)b", "()",
    "a||b", "|a", "(a|)", "(?U)a*b", "a*?b", "a+?b", "é", "[é-ü]", "(?i)1", "(?i)-",
    r"[^\x00-\x{10FFFF}]", r"[\x{1f600}]", r"[^\x{1f600}]", ".\U0001f600", "a^b", "a$b", r"\Aa|b\z",
]  # fmt: skip


@pytest.mark.parametrize("pattern", EXPRESSIONS)
def test_an_expression(pattern: str) -> None:
    matcher = Expression(pattern)
    assert in_strings(matcher, TEXTS) == list(filter(predicate(matcher), TEXTS))


@pytest.mark.parametrize("pattern", ["ab", "[a-c]", "k", "S", "a|B", r"\d"])
def test_an_expression_that_ignores_case(pattern: str) -> None:
    matcher = Expression(pattern, ignore_case=True)
    assert in_strings(matcher, TEXTS) == list(filter(predicate(matcher), TEXTS))


@pytest.mark.parametrize(
    "pattern", ["", "*", "?", "a*", "*a", "a?b", "**", "*.env", "a\\*", "\\?", "?\\\\", "a", "\U0001f600"]
)
def test_a_glob(pattern: str) -> None:
    matcher = Glob(pattern)
    texts = [*TEXTS, "a*", "?", "x\\"]
    assert in_strings(matcher, texts) == list(filter(predicate(matcher), texts))


UNSUPPORTED = [
    r"\pL", r"\p{Greek}", r"[\pL]", r"\Qa\E", r"\C", "(^a)*", r"(\b)+", "(?i)é", "(?i)[à-ü]", "(?i)ſ", "(?i)[^ß]",
    "a{500}", r"\x{30000}", r"[\x{2fff0}-\x{10ff00}]", "(" * 60 + "a" + ")" * 60, r"(\b|a)(\b|b)" * 6,
    r"(\b.?)" + r"\b.?" * 9,
]  # fmt: skip


@pytest.mark.parametrize("pattern", UNSUPPORTED)
def test_what_has_no_counterpart_is_refused(pattern: str) -> None:
    predicate(Expression(pattern))  # RE2 takes it
    with pytest.raises(Unsupported):
        regular(Expression(pattern))


def test_a_literal() -> None:
    assert literal('a"b\\c\n\x7fé\U0001f600') == '"a\\u{22}b\\u{5c}c\\u{a}\\u{7f}\\u{e9}\\u{1f600}"'
    with pytest.raises(Unsupported):
        literal("\U00030000")


@pytest.mark.parametrize("text", [t for t in TEXTS if t])
def test_a_literal_is_its_text(text: str) -> None:
    assert evaluate([f"(simplify (str.len {literal(text)}))"]) == str(len(text))
    assert in_strings(Glob(text.replace("\\", "\\\\")), TEXTS) == [text]


_pieces = st.sampled_from(
    [
        "a",
        "b",
        "-",
        " ",
        "\\n",
        ".",
        "[ab]",
        "[^a]",
        "\\w",
        "\\W",
        "\\s",
        "\\d",
        "\\b",
        "\\B",
        "^",
        "$",
        "(?:a|b-)",
        "(?i:K)",
    ]
)
_tails = st.sampled_from(["", "", "", "?", "*", "+", "{2}", "{1,2}"])


@st.composite
def expressions(draw: st.DrawFn, depth: int = 2) -> str:
    """An expression over few letters with all kinds of places in it."""
    parts = []
    for _ in range(draw(st.integers(0, 4))):
        grouped = depth and draw(st.integers(0, 4)) == 0
        piece = f"({draw(expressions(depth - 1))})" if grouped else draw(_pieces)
        parts.append(piece + draw(_tails))
    text = "".join(parts)
    return f"{text}|{draw(expressions(depth - 1))}" if depth and draw(st.integers(0, 4)) == 0 else text


@settings(max_examples=150, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(expressions(), st.lists(st.text("ab- \nkK_", max_size=5), min_size=4, max_size=8))
def test_any_expression(pattern: str, texts: list[str]) -> None:
    matcher = Expression(pattern)
    try:
        matches, found = predicate(matcher), in_strings(matcher, texts)
    except ValueError:  # RE2 refuses it, or it has no counterpart
        return
    assert found == list(filter(matches, texts))


@settings(max_examples=300, deadline=None, database=None)
@given(st.text(max_size=12))
def test_reading_refuses_or_reads_whatever_re2_takes(pattern: str) -> None:
    try:
        predicate(Expression(pattern))
    except ValueError:
        return
    try:
        assert isinstance(sample(read(pattern)), str)
    except Unsupported:
        return
