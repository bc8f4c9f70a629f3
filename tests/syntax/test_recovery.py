"""A broken item hides nothing: the items around it parse, and their findings are reported."""

from __future__ import annotations

import pytest
from syntax_support import findings, item_names, source

from tests.strategies.broken import BROKEN, NOT_ITEMS
from vigil_lang.syntax import parse
from vigil_lang.syntax.parse import MAX_FINDINGS


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


@pytest.mark.parametrize(
    "item",
    [
        "rule a: when when then\npass",
        "rule a: when not when\nthen pass record when",
        "rule a: when when and when then\npass",
        "statement a: abs(p) where has violates and\nk in {}",
        "statement a: atleast[1](p) where k = violates rule b: when p then pass",
        "pattern a = has violates and\nhas k statement b: abs(k = has)",
    ],
)
def test_names_like_words_of_the_language_end_no_item(item: str) -> None:
    text = f"policy q\npattern p = Read()\n{item}\n"
    assert findings(text) == []
