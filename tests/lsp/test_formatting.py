"""Formatting: what `vigil fmt` does, in few edits, in part, and while typing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lsprotocol import types
from written import Project, shared

from tests.strategies import policies
from vigil_lang.diagnostics import Edit, Source, Span, apply_edits
from vigil_lang.syntax.format import format_text
from vigil_lang.syntax.parse import parse
from vigil_lsp import layout
from vigil_lsp.edits import line_edits, to_protocol, with_line_ends
from vigil_lsp.text import Text

if TYPE_CHECKING:
    from pathlib import Path

    from lsp_session import Session

    from vigil_lsp.reading import Reading

MESSY = """/// Doc of the file.

policy   x
let A={a,b}
/// D
statement   S:abs( a( f=1 ) )   // beside
statement B: abs(
let   C={a}
statement   T:abs( a( f=2 ) )
"""


def read(folder: Path, text: str) -> Reading:
    return Project(folder, {"p.vgl": text})["p.vgl"]


def part(reading: Reading, text: str, mark: str) -> str:
    start = text.index(mark)
    return apply_edits(text, layout.part(reading, Span(start, start + len(mark)), "keep"))


# --- edits ---

lines = st.lists(st.sampled_from(("a\n", "b\n", "\n", "c\r\n")), max_size=8).map("".join)


@given(lines, lines, st.booleans())
def test_line_edits_make_one_text_the_other(old: str, new: str, ends: bool) -> None:
    old = old if ends else old.rstrip("\n")
    edits = line_edits(old, new)
    assert apply_edits(old, edits) == new
    assert bool(edits) == (old != new)


def test_lines_that_stay_are_not_touched() -> None:
    assert [edit.span for edit in line_edits("a\nb\nc\nd\n", "a\nB\nc\nD\n")] == [Span(2, 4), Span(6, 8)]
    many = "".join(f"{n}\n" for n in range(5000))
    assert [edit.span for edit in line_edits(f"x\n{many}y\n", f"x\n{many.upper()}z\n")] == [
        Span(len(many) + 2, len(many) + 4)
    ]


def test_line_ends_are_the_editors() -> None:
    assert with_line_ends("a\nb\n", "x\r\ny") == "a\r\nb\r\n"
    assert with_line_ends("a\nb\n", "x\ny") == "a\nb\n"
    for content, new in (("x\r\ny", "a\r\nb"), ("x\ny", "a\nb"), ("x", "a\nb")):
        assert [edit.new_text for edit in to_protocol([Edit(Span(0, 1), "a\nb")], Text(content))] == [new]


# --- documents ---


@settings(deadline=None, max_examples=40)
@given(policies.policies(), st.sampled_from(("keep", "ascii", "unicode")))
def test_a_document_becomes_what_fmt_writes(text: str, spelling: str) -> None:
    source = Source("p.vgl", text.replace(" ", "  ").replace("  after", " after"))
    assert apply_edits(source.text, layout.whole(source, spelling)) == format_text(source, spelling=spelling)


def test_line_breaks_of_windows_stay() -> None:
    source = Source("p.vgl", "let A={a}\r\nlet B = {b}\r\n\r\n\r\nlet C={c}\r\n")
    edits = layout.whole(source, "keep")
    assert apply_edits(source.text, edits) == "let A = {a}\r\nlet B = {b}\r\n\r\nlet C = {c}\r\n"
    assert layout.whole(Source("p.vgl", apply_edits(source.text, edits)), "keep") == []


def test_syntax_errors_leave_a_document_as_it_is() -> None:
    assert layout.whole(Source("p.vgl", MESSY), "keep") == []


# --- parts ---


def test_the_items_that_a_range_touches(tmp_path: Path) -> None:
    reading = read(tmp_path, MESSY)
    assert part(reading, MESSY, "f=1") == MESSY.replace(
        "statement   S:abs( a( f=1 ) )   // b", "statement S: abs(a(f = 1))  // b"
    )
    assert part(reading, MESSY, "x\n") == MESSY.replace("policy   x", "policy x")
    assert part(reading, MESSY, "C={a}\nstatement   T") == MESSY.replace(
        "let   C={a}\nstatement   T:abs( a( f=2 ) )", "let C = {a}\nstatement T: abs(a(f = 2))"
    )
    assert part(reading, MESSY, "statement B: abs(") == MESSY


def test_what_did_not_parse_splits_a_range(tmp_path: Path) -> None:
    reading = read(tmp_path, MESSY)
    assert part(reading, MESSY, MESSY) == (
        "/// Doc of the file.\n\npolicy x\n\nlet A = {a, b}\n\n/// D\nstatement S: abs(a(f = 1))  // beside\n"
        "statement B: abs(\nlet C = {a}\nstatement T: abs(a(f = 2))\n"
    )


@settings(deadline=None, max_examples=40)
@given(st.lists(policies.statements(), min_size=2, max_size=4), st.data())
def test_the_rest_is_byte_for_byte_the_same(
    tmp_path_factory: pytest.TempPathFactory, written: list[str], data: st.DataObject
) -> None:
    # Spaces are doubled outside of strings only where there is none.
    items = [one.replace("(", "( ") if '"' not in one and "/" not in one else one for one in written]
    text = "\n".join(f"{one} // {at}" for at, one in enumerate(items)) + "\n"
    at = data.draw(st.integers(0, len(items) - 1))
    reading = read(shared(tmp_path_factory), text)
    start = sum(len(f"{one} // {n}\n") for n, one in enumerate(items[:at]))
    end = start + len(items[at])
    after = apply_edits(text, layout.part(reading, Span(start + 3, start + 3), "keep"))
    assert after.startswith(text[:start])
    assert after.endswith(text[end:].partition("\n")[2])
    assert parse(Source("p.vgl", after)).file == parse(Source("p.vgl", text)).file


# --- while typing ---


@pytest.mark.parametrize(
    ("text", "typed", "expected"),
    [
        ("statement S: prec(\n", "\n", "statement S: prec(\n    "),
        ("statement S: prec(\n    a(),\n  ", "\n", "statement S: prec(\n    a(),\n    "),
        ("statement S: prec(\n    a(),\n        )", ")", "statement S: prec(\n    a(),\n)"),
        ("statement S: prec(a(\n", "\n", "statement S: prec(a(\n    "),
        ("let A =\n", "\n", "let A =\n    "),
        ("statement S: abs(a()) after\n", "\n", "statement S: abs(a()) after\n    "),
        ('test "x" {\n    run {\n', "\n", 'test "x" {\n    run {\n        '),
        ('test "x" {\n    run {\n        a()\n        }', "}", 'test "x" {\n    run {\n        a()\n    }'),
        ("\tstatement S: prec(\n\tEdit(),\n", "\n", "\tstatement S: prec(\n\tEdit(),\n\t\t"),
        ("\tstatement S: prec(\n\t\tEdit()\n\t\t)", ")", "\tstatement S: prec(\n\t\tEdit()\n\t)"),
        # What is whole may be followed by anything, and what is not first on its line stays where it is.
        ("statement S: abs(a())\n", "\n", None),
        ("statement S: abs(a())\n  ", "\n", None),
        ("statement S: prec(\n    a(), b())", ")", None),
        ("let A = {a}\n    )", ")", None),
        ("\n", "\n", None),
        ('let A = "(\n', "\n", None),
    ],
)
def test_indentation(tmp_path: Path, text: str, typed: str, expected: str | None) -> None:
    edits = layout.indented(read(tmp_path, text), len(text), typed)
    assert (apply_edits(text, edits) if edits else None) == expected


def test_a_line_break_before_a_closing_bracket(tmp_path: Path) -> None:
    text = "statement S: prec(\n)"
    assert layout.indented(read(tmp_path, text), len(text) - 1, "\n") == []


# --- with a server ---


async def test_document_range_and_typing(session: Session) -> None:
    page = await session.open('// 𝔸\nlet   A={"é"} // 𝔸\n\n\n\nstatement «S:abs» (a(f = "𝔸",\n')
    assert await page.ask(types.TEXT_DOCUMENT_FORMATTING) is None
    page.replace(",\n", "))\n")
    edits = await page.ask(types.TEXT_DOCUMENT_FORMATTING)
    assert page.edited(edits) == '// 𝔸\nlet A = {"é"}  // 𝔸\n\nstatement S: abs(a(f = "𝔸"))\n'
    edits = await page.ask(types.TEXT_DOCUMENT_RANGE_FORMATTING, range=page.span())
    assert page.edited(edits) == page.text.replace("S:abs (", "S: abs(")
    page.replace("(a(f", "(\na(f")
    place = page.find("a(f").start
    edits = await page.ask(types.TEXT_DOCUMENT_ON_TYPE_FORMATTING, at=place, ch="\n")
    assert page.edited(edits) == page.text.replace("\na(f", "\n    a(f")


async def test_spelling_of_the_configuration(session: Session) -> None:
    session.write("vigil.toml", '[fmt]\nspelling = "unicode"\n')
    page = await session.open("statement S: always not (a() and earlier b())\n")
    edits = await page.ask(types.TEXT_DOCUMENT_FORMATTING)
    assert page.edited(edits) == "statement S: □ ¬(a() ∧ ◇⁻ b())\n"
    assert len(edits) == 1
