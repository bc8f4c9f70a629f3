"""The colours of policies in documents: the lexer for Pygments, and the pages of `vigil explain` on a terminal."""

from __future__ import annotations

import random
import tomllib
from io import StringIO
from pathlib import Path

import lark
import pytest
from pygments.token import Error
from rich.console import Console

from tests import fuzz_parser
from vigil_lang.cli.markdown import Page
from vigil_lang.pygments import TERMINALS, VigilLexer
from vigil_lang.syntax.grammar import tables_of

ROOT = Path(__file__).parents[2]
SHIPPED = sorted(path for folder in ("stdlib", "examples") for path in (ROOT / folder).rglob("*.vgl"))


def coloured(text: str) -> list[tuple[str, str]]:
    """Kinds and texts, without white space."""
    found = VigilLexer().get_tokens_unprocessed(text)
    return [(str(kind).removeprefix("Token."), part) for _, kind, part in found if part.strip()]


def test_every_terminal_of_the_grammar_has_a_colour() -> None:
    text = (ROOT / "grammar" / "vigil.lark").read_text(encoding="utf-8")
    tables = tables_of(lark.Lark(text, parser="lalr", start=["header", "item"], maybe_placeholders=True))
    assert {name for name, _ in tables.terminals} == {*TERMINALS, "NAME"}


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.name)
def test_tokens_are_the_text_of_a_policy_and_none_is_an_error(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    found = list(VigilLexer(stripnl=False, ensurenl=False).get_tokens(text))
    assert "".join(part for _, part in found) == text
    assert not [part for kind, part in found if kind is Error]


def test_tokens_are_the_text_whatever_it_is() -> None:
    rng = random.Random(11)
    for _ in range(2_000):
        text = fuzz_parser.random_text(rng)
        found = list(VigilLexer().get_tokens_unprocessed(text))
        assert "".join(part for _, _, part in found) == text
        assert [at for at, _, _ in found] == [sum(len(p) for _, _, p in found[:i]) for i in range(len(found))]


def test_kinds() -> None:
    text = """\
/// Documentation.
@severity(error)
statement text: prec(error(run = "a\\n"), □ in {x} and ok contains /r/i) after status = ok // why
"""
    assert coloured(text) == [
        ("Comment.Special", "/// Documentation."),
        ("Name.Decorator", "@"),
        ("Name.Decorator", "severity"),
        ("Punctuation", "("),
        ("Name", "error"),
        ("Punctuation", ")"),
        ("Keyword.Declaration", "statement"),
        ("Name.Class", "text"),
        ("Punctuation", ":"),
        ("Keyword", "prec"),
        ("Punctuation", "("),
        ("Name.Function", "error"),
        ("Punctuation", "("),
        ("Name.Property", "run"),
        ("Operator", "="),
        ("Literal.String", '"a'),
        ("Literal.String.Escape", "\\n"),
        ("Literal.String", '"'),
        ("Punctuation", ")"),
        ("Punctuation", ","),
        # Here it stops to parse, and the scanner says what things are.
        ("Keyword", "□"),
        ("Operator.Word", "in"),
        ("Punctuation", "{"),
        ("Name", "x"),
        ("Punctuation", "}"),
        ("Operator.Word", "and"),
        ("Operator.Word", "ok"),
        ("Name", "contains"),
        ("Literal.String.Regex", "/r/i"),
        ("Punctuation", ")"),
        ("Name", "after"),
        ("Name", "status"),
        ("Operator", "="),
        ("Operator.Word", "ok"),
        ("Comment.Single", "// why"),
    ]


def test_words_of_tests() -> None:
    text = 'test "t" { set n = 3 run "r.jsonl" expect S violated at e5 with x = true }'
    assert coloured(text) == [
        ("Keyword.Declaration", "test"),
        ("Literal.String", '"t"'),
        ("Punctuation", "{"),
        ("Keyword", "set"),
        ("Name.Constant", "n"),
        ("Operator", "="),
        ("Literal.Number", "3"),
        ("Keyword", "run"),
        ("Literal.String", '"r.jsonl"'),
        ("Keyword", "expect"),
        ("Name", "S"),
        ("Keyword.Constant", "violated"),
        ("Keyword", "at"),
        ("Name", "e5"),
        ("Keyword", "with"),
        ("Name.Property", "x"),
        ("Operator", "="),
        ("Keyword.Constant", "true"),
        ("Punctuation", "}"),
    ]


def test_words_of_rules() -> None:
    text = "rule r: when a(b = then) or violates R3 and context.tier >= 2 then hold record b, c relaxes default.s"
    assert coloured(text) == [
        ("Keyword.Declaration", "rule"),
        ("Name.Class", "r"),
        ("Punctuation", ":"),
        ("Keyword", "when"),
        ("Name.Function", "a"),
        ("Punctuation", "("),
        ("Name.Property", "b"),
        ("Operator", "="),
        ("Name", "then"),
        ("Punctuation", ")"),
        ("Operator.Word", "or"),
        ("Operator.Word", "violates"),
        ("Name.Class", "R3"),
        ("Operator.Word", "and"),
        ("Name.Builtin.Pseudo", "context.tier"),
        ("Operator", ">="),
        ("Literal.Number", "2"),
        ("Keyword", "then"),
        ("Keyword.Constant", "hold"),
        ("Keyword", "record"),
        ("Name.Property", "b"),
        ("Punctuation", ","),
        ("Name.Property", "c"),
        ("Keyword", "relaxes"),
        ("Name.Class", "default.s"),
    ]


def test_what_is_not_closed_is_an_error() -> None:
    assert ("Error", '"M)') in coloured('statement S: abs(f = "M)\nlet C = {c}\n')


def test_pygments_finds_it_by_the_entry_point() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["entry-points"]["pygments.lexers"] == {"vigil": "vigil_lang.pygments:VigilLexer"}
    assert (VigilLexer.name, VigilLexer.aliases, VigilLexer.filenames) == ("Vigil", ["vigil"], ["*.vgl"])


def test_policies_have_their_colours_on_a_terminal() -> None:
    page = Page('# A page\n\n```vgl wrong\nlet A = "x" // why\n```\n\n```json\n{"a": 1}\n```\n')
    screen = Console(file=StringIO(), force_terminal=True, color_system="truecolor", width=40, record=True)
    screen.print(page)
    told = screen.export_text(styles=True)
    keyword, number = "\x1b[38;2;102;217;239", "\x1b[38;2;174;129;255"
    assert f"{keyword};48;2;39;40;34mlet\x1b[0m" in told
    assert f"{number};48;2;39;40;34m1\x1b[0m" in told
    assert "\x1b[38;2;149;144;119;48;2;39;40;34m// why\x1b[0m" in told
