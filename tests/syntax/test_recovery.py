"""A broken item hides nothing: the items around it parse, and their findings are reported."""

from __future__ import annotations

import pytest
from syntax_support import findings, item_names, source

from vigil_lang.syntax import parse
from vigil_lang.syntax.parse import MAX_FINDINGS

BROKEN = [
    "let X = {a, b",
    "let X = {a, b(",
    "let X = ",
    "let X",
    "let",
    "let X = {a}}",
    "let X = {a};",
    'let X = "a',
    "let X = @ {a}",
    "let X = {a} b {c}",
    "use .",
    "use std.files:",
    "param p number",
    "pattern p(x = a",
    "pattern p = a ~ /b",
    "statement S: abs(a",
    "statement S: abs((((a",
    "statement S: abs(a) after",
    "statement S: bresp[3(a, b)",
    "statement : abs(a)",
    "statement",
    "statement S: always",
    "statement S: always not",
    "statment S: abs(a)",
    "policy again",
    'test "t"',
    "test t { }",
    'test "t" { run { a( }',
    'test "t" { run { a() => ok } }',
    'test "t" { run { "odd name"() } }',
    'test "t" { runs "x" }',
    'test "t" { expect A }',
    'test "t { }',
    'tests "t" { }',
    "hello world, this is prose",
    "@severity(error\nstatement S: abs(a)",
    "@severity error\nstatement S: abs(a)",
    "@severity(error))\nlet X = {a}",
    "/// documented\nlet X = (",
]


@pytest.mark.parametrize("broken", BROKEN)
def test_one_broken_item_leaves_the_others(broken: str) -> None:
    text = f"policy p\n\nlet A = {{a}}\n{broken}\n\n@note\nstatement B: abs(A)\nlet C = {{c}}\n"
    assert item_names(text) == ["A", "B", "C"]
    assert len(findings(text)) == 1


@pytest.mark.parametrize("broken", BROKEN)
def test_every_broken_item_has_its_own_finding(broken: str) -> None:
    alone = [finding.split(" ", 2)[2] for finding in findings(f"let A = {{a}}\n{broken}\n")]
    text = f"let A = {{a}}\n{broken}\nlet B = {{b}}\n{broken}\nlet C = {{c}}\n"
    assert item_names(text) == ["A", "B", "C"]
    assert [finding.split(" ", 2)[2] for finding in findings(text)] == alone * 2


@pytest.mark.parametrize("broken", BROKEN)
def test_the_broken_text_is_marked(broken: str) -> None:
    text = f"let A = {{a}}\n{broken}\nlet B = {{b}}\n"
    (span,) = parse(source(text)).file.broken
    assert text[span.start : span.end] == broken.strip()


NOT_ITEMS = [
    "pattern p = use",
    "pattern p = pattern contains x and let = 3",
    "pattern p =\n    use",
    "pattern p = earlier[3] use",
    "statement S: always not use",
    "pattern p = not in contains use and x not in use",
    "pattern p = a(\n    let,\n    use = 3,\n    pattern in {b},\n    statement(x),\n    policy\n)",
    "let X = in",
    "let X = {\n    use,\n    let\n}",
    "let let = let",
    "use pattern",
    "use .let: use, let",
    "@use\n@let(pattern)\nlet X = {a}",
    "param use: number",
    "statement policy: abs(action = policy)",
]


@pytest.mark.parametrize("text", NOT_ITEMS)
def test_words_that_begin_items_are_names_elsewhere(text: str) -> None:
    parsed = parse(source(f"{text}\nlet C = {{c}}\n"))
    assert not parsed.diagnostics
    assert len(parsed.file.items) == 2


def test_items_may_share_a_line() -> None:
    assert item_names("let A = {a} let B = A @note pattern p = b statement S: abs(p)") == ["A", "B", "p", "S"]


def test_findings_come_in_the_order_of_the_text() -> None:
    text = 'let A = (\nlet B = "\u200b"\nlet C = )\n'
    assert [finding.split()[1] for finding in findings(text)] == ["1:9-10", "2:10-11", "3:9-10"]


def test_after_a_hundred_broken_items_the_rest_is_not_tried() -> None:
    parsed = parse(source("let X\n" * 150 + "let A = {a}\n"))
    assert len(parsed.diagnostics) == MAX_FINDINGS
    assert len(parsed.file.broken) == 151
    assert not parsed.file.items


def test_many_warnings_do_not_crowd_out_an_error() -> None:
    parsed = parse(source("let A = {a} /// no\n" * 150 + "let B\n"))
    assert len(parsed.diagnostics) == MAX_FINDINGS
    assert [found.code for found in parsed.diagnostics if found.severity == "error"] == ["VGL101"]
