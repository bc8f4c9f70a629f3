"""Every fenced block of spec.md is what it claims to be, and its tables say what the program has."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from spec_blocks import Block, blocks
from spec_runner import KINDS, run

from vigil_lang.diagnostics import Source
from vigil_lang.diagnostics.codes import CODES
from vigil_lang.engines.smt import symbolic
from vigil_lang.lint.registry import all_rules
from vigil_lang.semantics import conditions, terms, views
from vigil_lang.semantics.metadata import ANNOTATIONS
from vigil_lang.syntax import parse
from vigil_lang.syntax.parse import MAX_CHARACTERS, MAX_DEPTH, MAX_FINDINGS, MAX_TOKENS_IN_ITEM
from vigil_lang.syntax.print import UNICODE
from vigil_lang.trace import signature, values

SPEC = Path(__file__).parents[2] / "spec.md"
TEXT = SPEC.read_text(encoding="utf-8")
BLOCKS = blocks(SPEC)
HEADINGS = [
    (len(marks), title, re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-"))
    for marks, title in re.findall(r"^(##+) (.*)$", TEXT, re.MULTILINE)
]
"""Depth, title and anchor of each section."""


@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_block(block: Block, tmp_path: Path) -> None:
    assert block.kind in KINDS, f"spec.md:{block.line}: no block is called `{block.kind}`"
    run(block, tmp_path)


def test_no_fence_is_passed_over() -> None:
    """Each line of backticks opens or closes one of the blocks that are run, and every kind is in use."""
    assert 2 * len(BLOCKS) == len(re.findall(r"^```", TEXT, re.MULTILINE))
    counts = Counter(block.kind for block in BLOCKS)
    assert set(counts) == set(KINDS)
    assert counts["vgl"] >= 65
    assert counts["verdict"] >= 15
    assert counts["events"] >= 14


def test_every_code_is_listed_with_its_severity() -> None:
    listed = re.findall(r"^\| (VGL\d{3}) \| (\w+) \| \S", TEXT, re.MULTILINE)
    assert listed == [(code.id, code.severity) for code in CODES.values()]


def test_every_code_that_a_policy_can_have_by_itself_is_shown() -> None:
    """But those that take a huge policy, several layers, or a character that nobody sees, and what the linter adds."""
    shown = {code for block in BLOCKS if block.kind == "vgl" for code in block.args if code in CODES}
    added = {code for rule in all_rules() if not rule.basic for code in rule.codes}
    assert {code for code in CODES if code[3] in "123"} - shown - added == {"VGL104", "VGL109", "VGL213", "VGL354"}


def test_every_spelling_and_annotation_is_listed() -> None:
    for ascii_spelling, mark in UNICODE.items():
        assert f"| `{ascii_spelling}` | `{mark}`" in TEXT
    for name in ANNOTATIONS:
        assert re.search(rf"^\| `@{name}[(`]", TEXT, re.MULTILINE)


def test_the_limits_are_those_of_the_program() -> None:
    stated = {int(n.replace(",", "")) for n in re.findall(r"\b\d[\d,]*\d\b", TEXT)}
    assert stated >= {
        MAX_CHARACTERS,
        MAX_TOKENS_IN_ITEM,
        MAX_DEPTH,
        MAX_FINDINGS,
        conditions.MAX_CONDITIONS,
        conditions.MAX_TOTAL,
        conditions.MAX_NESTING,
        terms.MAX_CHAIN,
        views.MAX_TEXT,
        views.MAX_TEXTS,
        symbolic.MAX_LENGTH,
        signature.VALUES_KEPT,
        values.MAX_DEPTH,
        values.MAX_NAME,
    }


def test_the_refused_characters_are_those_listed() -> None:
    """In batches, because a file has at most so many findings; surrogates stand in no text that was decoded."""
    section = TEXT[TEXT.index("### 2.2") : TEXT.index("### 2.3")]
    listed: set[int] = set()
    for low, high in re.findall(r"\b(?:U\+)?([0-9A-F]{4,5})(?:–([0-9A-F]{4,5}))?\b", section):
        listed |= set(range(int(low, 16), int(high or low, 16) + 1))
    tried = [
        c for c in (*range(0x3400), *range(0xF000, 0x10000), *range(0xDFF00, 0xE1100)) if c not in map(ord, "\r\n")
    ]
    refused = set()
    for at in range(0, len(tried), MAX_FINDINGS):
        text = "//" + "".join(map(chr, tried[at : at + MAX_FINDINGS]))
        refused |= {ord(text[d.span.start]) for d in parse(Source("x", text)).diagnostics if d.code == "VGL109"}
    assert refused == listed & set(tried)


def test_links_lead_somewhere() -> None:
    assert set(re.findall(r"\]\(#([^)]*)\)", TEXT)) <= {anchor for _, _, anchor in HEADINGS}


def test_the_contents_list_has_every_section() -> None:
    contents = TEXT[: TEXT.index("\n## ")]
    listed = re.findall(r"^( *)- \[(.*)\]\(#(.*)\)$", contents, re.MULTILINE)
    assert listed == [(" " * (2 * depth - 4), title, anchor) for depth, title, anchor in HEADINGS]


def test_sections_and_annexes_are_numbered_without_gaps() -> None:
    expected: list[str] = []
    chapters = iter([*map(str, range(1, 11)), *"ABCDE"])
    for depth, _, _ in HEADINGS:
        if depth == 2:
            chapter, section = next(chapters), 0
            expected.append(chapter)
        else:
            section += 1
            expected.append(f"{chapter}.{section}")
    assert [title.partition(" ")[0] for _, title, _ in HEADINGS] == expected
    assert next(chapters, None) is None
