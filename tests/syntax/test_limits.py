"""Hostile input: hidden characters, nesting, size. All of it ends in findings, and soon."""

from __future__ import annotations

import time

import pytest
from syntax_support import findings, only, source

from vigil_lang.base.collector import collector_paused
from vigil_lang.diagnostics import InputError
from vigil_lang.semantics.text_patterns import quote, unescape
from vigil_lang.syntax import parse
from vigil_lang.syntax.format import format_text
from vigil_lang.syntax.parse import MAX_CHARACTERS, MAX_DEPTH, MAX_FINDINGS, MAX_TOKENS, MAX_TOKENS_IN_ITEM
from vigil_lang.syntax.print import to_text

HIDDEN = ["\x00", "\x07", "\x1b", "\x7f", "\x85", "\xad", "\u061c", "\u200b", "\u200e", "\u2028", "\u202e", "\u2066"]
HIDDEN += ["\ufeff", "\ufff9", "\U000e0041", "\ud800", "\r"]


@pytest.mark.parametrize("char", HIDDEN, ids=[f"U+{ord(char):04X}" for char in HIDDEN])
def test_characters_that_hide_text_are_errors_wherever_they_stand(char: str) -> None:
    # spec R2.2-1
    message = f"the character U+{ord(char):04X} can hide or reorder text"
    assert findings(f'let A = "{char}"') == [f"VGL109 1:10-11 {message}"]
    assert findings(f"// a {char} b\nlet A = {{a}}") == [f"VGL109 1:6-7 {message}"]


def test_what_is_visible_or_usual_is_not_hidden() -> None:
    assert not findings('// a\ttab, an umlaut ä, an emoji ⚠️\r\nlet A = "ä\t☃\u00a0"\r\n')


def test_every_text_can_be_quoted() -> None:
    """No character is refused once `quote` wrote it (half surrogate pairs are in no UTF-8 text)."""
    numbers = (*range(0xD800), *range(0xE000, 0x10000), *range(0x1F600, 0x1F650), *range(0xE0000, 0xE1000), 0x10FFFF)
    text = "".join(map(chr, numbers))
    parsed = parse(source(f"let A = {quote(text)}"))
    assert parsed.diagnostics == ()
    (item,) = parsed.file.items
    assert unescape(item.value.raw) == text


DEEP = [
    ("(", ")"),
    ("not ", ""),
    ("¬", ""),
    ("earlier ", ""),
    ("◇⁺[3] ", ""),
    ("a(", ")"),
    ("a implies ", ""),
    ("a and b ⇒ ", ""),
    ("a or not (", ")"),
]


@pytest.mark.parametrize(("before", "after"), DEEP, ids=[before for before, _ in DEEP])
def test_nesting_has_a_limit_below_that_of_the_interpreter(before: str, after: str) -> None:
    levels = before.count("(") + before.count("not ") + (before not in ("(", "not ", "a(", "a or not ("))
    deepest = (MAX_DEPTH - 1) // levels
    deep = source(f"statement S: always {before * deepest}a{after * deepest}")
    parsed = parse(deep)
    assert not parsed.diagnostics
    assert parse(source(to_text(parsed.file))).file == parsed.file
    assert format_text(deep)
    for times in (deepest + 2, 500):
        (found,) = parse(source(f"statement S: always {before * times}a{after * times}")).diagnostics
        assert (found.code, found.message) == ("VGL104", f"conditions are nested more than {MAX_DEPTH} deep")


def test_what_only_stands_side_by_side_is_not_nested() -> None:
    wide = " and ".join(["not (a)", "not not b", "(not c or d)", "f(not g, (h))"] * 100)
    assert not findings(f"statement S: always {wide} implies {wide}")


def test_an_item_has_a_largest_size() -> None:
    fits = MAX_TOKENS_IN_ITEM // 2 - 10
    assert not findings(f"let A = {{{', '.join(['a'] * fits)}}}")
    found = only(f"let A = {{{', '.join(['a'] * (fits + 20))}}}")
    assert (found.code, found.message) == ("VGL003", "this item has more than 20,000 tokens")


def test_a_file_has_a_largest_size() -> None:
    # spec R2.1-2
    assert not findings("// " + "x" * (MAX_CHARACTERS - 3))
    found = only("x" * (MAX_CHARACTERS + 1))
    assert (found.code, found.message) == ("VGL003", "the file has more than 2,000,000 characters")
    found = only("{" * (MAX_TOKENS + 1))
    assert (found.code, found.message) == ("VGL003", "the file has more than 500,000 tokens")


MEGABYTES = ["(", "{", "not ", "/", '"', "@", "statement ", "\n", "// c\n", "◇⁻"]
LONG = [
    "/// d\n",
    ".",
    "a",
    "-",
    "1",
    "\\",
    "\x00",
    '"\\',
    "/\\",
    "a.",
    "a ",
    "a\n",
    "let a\n",
    "{\n",
    "x, ",
    "1e",
    "&",
]
LONG += ["use .\n", "@a let b\n", "/// d\n@", "\r", "@a\n", "let a = {b}\n", "a b\n"]
SIZES = [(unit, 1_000_000) for unit in MEGABYTES] + [(unit, 100_000) for unit in LONG]


@pytest.mark.parametrize(("unit", "size"), SIZES, ids=[unit for unit, _ in SIZES])
def test_a_long_text_of_anything_is_done_soon(unit: str, size: int) -> None:
    text = unit * (size // len(unit))
    began = time.process_time()
    parsed = parse(source(text))
    assert time.process_time() - began < max(5, size / 100_000)
    assert len(parsed.diagnostics) <= MAX_FINDINGS


@pytest.mark.parametrize("unit", ["let a = {b}\n", "// c\n", "let a = {b} // c\n\n\n", "use a: b // c\n, c // d\n"])
def test_time_grows_with_size_alone(unit: str) -> None:
    def seconds(count: int) -> float:
        with collector_paused():  # which would look through what all other tests have left
            began = time.process_time()
            format_text(source(unit * count))
            return time.process_time() - began

    seconds(10)
    few, many = (min(seconds(count) for _ in range(3)) for count in (200, 1_600))
    assert many < 24 * max(few, 0.01)  # quadratic would be 64 times


def test_one_long_item_is_formatted_soon() -> None:
    began = time.process_time()
    text = " and ".join(f"argument{i} = {i} or not (a{i}(x = {i}))" for i in range(1_400))
    assert format_text(source(f"pattern p = {text}")).count("\n") > 1_400
    assert time.process_time() - began < 10


def test_a_policy_that_does_not_parse_is_not_formatted() -> None:
    with pytest.raises(InputError) as caught:
        format_text(source("let A = {a}\nlet B = "))
    assert [found.code for found in caught.value.diagnostics] == ["VGL101"]
