"""What is printed parses back; what is formatted says the same, keeps its comments and stays as it is."""

from __future__ import annotations

import os
import re
from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.strategies import trees
from vigil_lang.diagnostics import Source
from vigil_lang.syntax import parse, tree
from vigil_lang.syntax.format import check_format, format_text
from vigil_lang.syntax.layout import WIDTH
from vigil_lang.syntax.parse import parse_with_tokens
from vigil_lang.syntax.print import to_text
from vigil_lang.syntax.scan import Token, tokens

if TYPE_CHECKING:
    from collections.abc import Iterator

several = settings(
    max_examples=int(os.environ.get("VIGIL_CASES", "100")),
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def source(text: str) -> Source:
    return Source("test.vgl", text)


@several
@given(trees.files(), st.booleans())
def test_a_printed_tree_parses_back(file: tree.File, unicode: bool) -> None:
    parsed = parse(source(to_text(file, unicode=unicode)))
    assert not parsed.diagnostics
    assert parsed.file == file


@several
@given(trees.expressions, st.booleans())
def test_a_printed_condition_parses_back_on_one_line(expr: tree.Expr, unicode: bool) -> None:
    text = to_text(expr, unicode=unicode)
    assert "\n" not in text
    (item,) = parse(source(f"pattern p = {text}")).file.items
    assert isinstance(item, tree.Pattern)
    assert item.body == expr


@several
@given(trees.expressions)
def test_every_parenthesis_printed_is_needed(expr: tree.Expr) -> None:
    text = f"pattern p = {to_text(expr)}"
    whole = parse(source(text)).file
    for opening, closing in _parentheses(tokens(text)):
        without = f"{text[: opening.start]} {text[opening.end : closing.start]} {text[closing.end :]}"
        assert parse(source(without)).file != whole


def _parentheses(found: list[Token]) -> Iterator[tuple[Token, Token]]:
    open_ones: list[Token] = []
    for token in found:
        if token.text == "(":
            open_ones.append(token)
        elif token.text == ")":
            yield open_ones.pop(), token


@several
@given(trees.files(), st.sampled_from(("keep", "ascii", "unicode")))
def test_formatting_is_proved_and_fits(file: tree.File, spelling: str) -> None:
    before = source(to_text(file))
    after = format_text(before, spelling=spelling)
    check_format(before, source(after), spelling=spelling)
    for line in after.splitlines():
        assert line == line.rstrip()
        # What is longer than a line has nothing left to break at.
        assert len(line) <= WIDTH or not re.search(r" (and|or|implies|∧|∨|⇒) |[({]\S.*, ", line) or '"' in line


@several
@given(trees.files())
def test_spellings_convert_into_each_other(file: tree.File) -> None:
    ascii_text = format_text(source(to_text(file)), spelling="ascii")
    unicode_text = format_text(source(to_text(file)), spelling="unicode")
    # An item that only fits on its line in one spelling may gain an empty line above it in the other.
    assert _lines(format_text(source(unicode_text), spelling="ascii")) == _lines(ascii_text)
    assert _lines(format_text(source(ascii_text), spelling="unicode")) == _lines(unicode_text)
    assert parse(source(unicode_text)).file == parse(source(ascii_text)).file


def _lines(text: str) -> list[str]:
    return [line for line in text.split("\n") if line]


GAPS = (
    " ",
    " ",
    " ",
    "  ",
    "\n",
    "\n\n\n",
    "\r\n\t",
    " // {0}\n",
    "\n// {0}\n",
    "\n\n  // {0}\n\n// {0}b\n",
    " /// {0}\n",
)


@several
@given(trees.files(), st.integers(0, 2**32))
def test_comments_between_any_two_tokens_stay_there(file: tree.File, seed: int) -> None:
    text = _scattered([t for t in tokens(to_text(file)) if t.kind != "doc"], Random(seed))
    parsed = parse_with_tokens(source(text))
    assert not [d for d in parsed.parsed.diagnostics if d.severity == "error"]
    for spelling in ("keep", "ascii", "unicode"):
        after = format_text(source(text), spelling=spelling)
        assert _comment_places(after) == _comment_places(text)
        assert format_text(source(after), spelling=spelling) == after


def _scattered(found: list[Token], chosen: Random) -> str:
    return "".join(token.text + chosen.choice(GAPS).format(at) for at, token in enumerate(found))


def _comment_places(text: str) -> list[tuple[str, int]]:
    """Every comment with how many other tokens stand before it; `not in` and its mark count as two."""
    places: list[tuple[str, int]] = []
    before = 0
    for token in tokens(text):
        if token.kind in ("doc", "comment"):
            places.append((token.text.rstrip(), before))
        else:
            before += 2 if token.text == "∉" else 1
    return places


@pytest.mark.parametrize("test", ["violates contains\na", "violates in\n{b}", "violates not in\n{b}", "violates =\na"])
def test_an_argument_may_be_called_violates(test: str) -> None:
    for item in (f"statement S: abs(b()) after {test}\n", f"pattern P = {test}\nstatement S: abs(P)\n"):
        parsed = parse(source(item))
        assert not parsed.diagnostics
        assert len(parsed.file.items) == item.count(": ") + item.count("pattern")


@pytest.mark.parametrize("word", ["policy", "let", "use", "param", "statement", "pattern"])
def test_a_value_in_a_test_may_be_called_like_an_item(word: str) -> None:
    text = f'test "t" {{\n    run {{ }}\n    set a =\n{word}\nexpect R0 satisfied\n}}\n\nstatement S: abs(a())\n'
    parsed = parse_with_tokens(source(text)).parsed
    assert not parsed.diagnostics
    assert len(parsed.file.items) == 2


@pytest.mark.parametrize(
    "text",
    [
        "pattern p = a in {}\nweak\nsince b",
        "pattern p = a in\nuse weak since b",
        "statement S: always a // why\nweak until[3] b",
        "statement S: atmost[3](a) in 10\ncalls\nsince b",
        "statement S: atmost[3](a)\nin\n20\nsteps",
    ],
)
def test_an_item_goes_on_where_a_line_begins(text: str) -> None:
    parsed = parse_with_tokens(source(text)).parsed
    assert not parsed.diagnostics
    assert len(parsed.file.items) == 1


@pytest.mark.parametrize(
    "text",
    [
        "rule a: when b() then pass record when relaxes\na\n",
        "rule a: when b() then pass record f, when\nrelaxes a\n",
        "rule when: when b() then pass\nrecord when\n",
        "rule a:\nwhen b()\nthen pass\nrecord\nwhen\nrelaxes\nwhen\n",
    ],
)
def test_what_a_rule_names_may_be_called_when(text: str) -> None:
    assert not parse_with_tokens(source(text)).parsed.diagnostics
