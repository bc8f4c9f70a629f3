"""The layout, as pairs of files: tests/fixtures/fmt/*.vgl and what becomes of them.

After a wanted change, write the results anew with ``VIGIL_UPDATE=1 pytest tests/syntax`` and read the difference.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import pytest
from syntax_support import source

from vigil_lang.diagnostics import InputError
from vigil_lang.syntax.format import FormatError, check_format, format_text
from vigil_lang.syntax.leaves import Spelling

if TYPE_CHECKING:
    from collections.abc import Callable

FIXTURES = Path(__file__).parents[1] / "fixtures" / "fmt"


def _compare(path: Path, text: str) -> None:
    if os.environ.get("VIGIL_UPDATE"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["items", "spaces", "long", "comments", "suffixes", "rules", "tests"])
def test_layout(name: str) -> None:
    text = (FIXTURES / f"{name}.vgl").read_text(encoding="utf-8")
    _compare(FIXTURES / f"{name}.formatted", format_text(source(text)))


@pytest.mark.parametrize("spelling", get_args(Spelling))
def test_spelling(spelling: Spelling) -> None:
    text = (FIXTURES / "unicode.vgl").read_text(encoding="utf-8")
    _compare(FIXTURES / f"unicode.{spelling}", format_text(source(text), spelling=spelling))


SMALL = [
    ("", ""),
    (" \n\t\n", ""),
    ("// only a comment", "// only a comment\n"),
    ("\n\n// one\n\n\n\n// two\n\n", "// one\n\n// two\n"),
    ("\ufeffpolicy p", "policy p\n"),
    ("let A = {a}\r\n\r\n\r\nlet B = {b}\r\n", "let A = {a}\n\nlet B = {b}\n"),
    ("let A = {a}   \n// c \t \n", "let A = {a}\n// c\n"),
    ("let\u00a0A =\u3000{a}", "let A = {a}\n"),
    ("/// The file's.\n\n\n/// The item's.\n\nlet A = {a}", "/// The file's.\n\n/// The item's.\n\nlet A = {a}\n"),
    ("/// The item's.\nlet A = {a}", "/// The item's.\nlet A = {a}\n"),
    ("let A = {a,}", "let A = {\n    a,\n}\n"),
    ("let A = {\n\n// only this\n\n}", "let A = {\n    // only this\n}\n"),
    ("pattern p = f(\n\n\na,// b\n\n\nc)", "pattern p = f(\n    a,  // b\n\n    c\n)\n"),
]


@pytest.mark.parametrize(("text", "expected"), SMALL)
def test_small(text: str, expected: str) -> None:
    assert format_text(source(text)) == expected


def test_long_strings_and_comments_are_never_broken() -> None:
    text = f'// {"x" * 200}\nlet A = "{"y" * 200}"  // {"z" * 200}\n'
    assert format_text(source(text)) == text


UNEQUAL = [
    ("let A = {a}", "let A = {a", "the formatted text does not parse"),
    ("let A = {a}", "let A = {b}\n", "the formatted text has another tree"),
    ("let A = {a} // c", "let A = {a}\n", "the formatted text has another tree"),
    ("// c\nlet A = {a}", "let A = {a}  // c\n", "the formatted text has other tokens or comments"),
    ("pattern p = (a)", "pattern p = a\n", "the formatted text has other tokens or comments"),
    ("let A = {a}", "let A = {a,}\n", "the formatted text has other tokens or comments"),
    ("let A = {a}", "let A={a}\n", "formatting the formatted text changes it again"),
]


@pytest.mark.parametrize(("before", "after", "reason"), UNEQUAL, ids=[reason for _, _, reason in UNEQUAL])
def test_the_proof_finds_every_kind_of_damage(before: str, after: str, reason: str) -> None:
    with pytest.raises(FormatError, match=reason):
        check_format(source(before), source(after))


def test_a_proof_needs_a_policy_that_parses() -> None:
    with pytest.raises(InputError):
        check_format(source("let A ="), source("let A =\n"))


@pytest.mark.parametrize("damage", [str.upper, lambda text: f"{text}// more", lambda text: text.replace("}", ",}")])
def test_what_cannot_be_proved_is_not_returned(damage: Callable[[str], str], monkeypatch: pytest.MonkeyPatch) -> None:
    from vigil_lang.syntax import format as formatter

    laid_out = formatter._laid_out
    monkeypatch.setattr(formatter, "_laid_out", lambda lexed, spelling: damage(laid_out(lexed, spelling)))
    with pytest.raises(FormatError):
        format_text(source("let A = {a}\n"))
