"""What belongs together in Markdown: as CommonMark and GFM say, or as its author meant where a rule would be lost.

Expected results follow the specifications; tables are compared with markdown-it-py's.
"""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from vigil_lang.diagnostics import Source
from vigil_lang.documents.obligations import obligations
from vigil_lang.documents.read import read_document, sentences_of


def said(text: str) -> list[tuple[str, str, str]]:
    """Each sentence with its kind and the lead of its list or row."""
    return [(s.text, s.kind, s.lead) for s in read_document(Source("a.md", text)).sentences]


def obliging(text: str) -> list[str]:
    return [o.sentence.text for o in obligations(read_document(Source("a.md", text)))]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("- >300 files must be split\n- ok", (">300 files must be split", "ok")),
        ("- > 300 files must be split", ("> 300 files must be split",)),
        ("1. >=5 MB is too much", (">=5 MB is too much",)),
        ("- > $500 needs a signature", ("> $500 needs a signature",)),
        ("a\n\n>80% must be covered", ("a", ">80% must be covered")),
        ("Split what has\n>300 lines.", ("Split what has >300 lines.",)),
        ("Never send more than\n> 3 letters.", ("Never send more than > 3 letters.",)),
        ("> Quoted is what has\n>300 lines.", ("Quoted is what has 300 lines.",)),
        ("He said:\n> 3 letters were lost.", ("He said:", "3 letters were lost.")),
        ("> 3 letters were lost.", ("3 letters were lost.",)),
        ("- > Never push", ("Never push",)),
        ("- >1. Never push\n- > 2. Stop", ("Never push", "Stop")),
    ],
)
def test_a_mark_of_a_quote_before_a_number_means_more_than(text: str, sentences: tuple[str, ...]) -> None:
    assert sentences_of(text) == sentences


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("**Safety**\nNever delete\na file.", ("Safety", "Never delete a file.")),
        ("***Safety***\nNever stop.", ("Safety", "Never stop.")),
        ("_Safety_\nNever stop.", ("Safety", "Never stop.")),
        ("**Safety:**\nnever stop.", ("Safety:", "never stop.")),
        ("**Safety**:\nnever stop.", ("Safety:", "never stop.")),
        ("**Rules for `x` & what is in the folders beside it**\nNever stop.", 2),
        ("- **Safety**\n  Never stop.", ("Safety", "Never stop.")),
        ("Go on.\n**Safety**\nNever stop.", ("Go on.", "Safety", "Never stop.")),
        ("**Scope:** all files\n**Never:** a push", ("Scope: all files", "Never: a push")),
        ("Rule 1: Never push\nRule 2: Ask first", ("Rule 1: Never push", "Rule 2: Ask first")),
        ("❌ Never push\n✅ Ask first", ("❌ Never push", "✅ Ask first")),
        ("[ ] Never push\n[x] Ask first", ("Never push", "Ask first")),
        ("– Never push\n– Ask first", ("Never push", "Ask first")),
        ("● Never push\n● Ask first", ("Never push", "Ask first")),
        ("Push\n: Never do it.\n: Ask first.", ("Push", "Never do it.", "Ask first.")),
        # What is emphasised may be part of a sentence that was wrapped.
        ("**Never push**\nunless the owner agrees.", ("Never push unless the owner agrees.",)),
        ("You must\n**never delete a file**\nin production.", ("You must never delete a file in production.",)),
        ("**Never** push\nto main.", ("Never push to main.",)),
        ("**a** and **b**\nGo.", ("a and b Go.",)),
    ],
)
def test_a_title_on_a_line_of_its_own_is_no_part_of_a_sentence(text: str, sentences: tuple[str, ...] | int) -> None:
    found = sentences_of(text)
    assert (len(found) if isinstance(sentences, int) else found) == sentences


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Never push to main\nwithout a tag\n---\nGo.", ("Never push to main without a tag", "Go.")),
        ("Never push.\n---\nGo.", ("Never push.", "Go.")),
        ("- Never push.\n---\nGo.", ("Never push.", "Go.")),
    ],
)
def test_a_rule_below_a_text_makes_no_heading_of_it(text: str, sentences: tuple[str, ...]) -> None:
    assert sentences_of(text) == sentences
    assert "heading" not in {kind for _, kind, _ in said(text)}


def test_a_line_that_is_underlined_is_a_heading() -> None:
    assert [kind for _, kind, _ in said("Safety\n---\n\nOther rules\n===\n\nLong.\n===\n")] == ["heading"] * 3


@pytest.mark.parametrize(
    ("row", "cells"),
    [
        ("| ``` | Never push | b |", ["Never push", "b"]),
        ("| ```` | Never push | `b` |", ["Never push", "`b`"]),
        ("| `` ` `` | Never push | b |", ["Never push", "b"]),
        ("| use `x | Never push | b |", ["use `x", "Never push", "b"]),
        (r"| `a \| b` | Never push | b |", ["`a | b`", "Never push", "b"]),
        ("| `a | b` | Never push | b |", ["`a | b`", "Never push", "b"]),  # more cells than columns
        ("| a | b | c | Never push |", ["a", "b", "c", "Never push"]),
        ("```` | Never push | b", ["Never push", "b"]),
    ],
)
def test_cells_of_a_table(row: str, cells: list[str]) -> None:
    table = f"| A | B | C |\n|---|---|---|\n{row}\n\nThen ask.\n"
    assert [text for text, kind, _ in said(table) if kind == "cell"] == cells
    assert obliging(table)[0] == "Never push"
    assert said(table)[-1] == ("Then ask.", "prose", "")


CELLS = st.lists(st.sampled_from(("a", "b", " ", "`", "``", "```", "|", "\\|", "\\", "|")), max_size=14).map("".join)


@settings(max_examples=300, deadline=None)
@given(st.lists(CELLS.map(lambda row: f"| {row} |"), min_size=1, max_size=3))
def test_rows_are_those_of_gfm_as_far_as_they_fit(rows: list[str]) -> None:
    table = "| A | B | C |\n|---|---|---|\n" + "\n".join(rows)
    tokens = MarkdownIt("commonmark").enable("table").parse(table)
    wanted: list[list[str]] = []
    for before, token in pairwise(tokens):
        if before.type == "tr_open":
            wanted.append([])
        if before.type == "td_open":
            wanted[-1].append(token.content)
    # markdown-it-py drops what is beyond the last column; here it is read, and code with bars kept whole.
    for row, cells in zip(rows, wanted[1:], strict=True):
        document = read_document(Source("a.md", f"| A | B | C |\n|---|---|---|\n{row}"))
        found = {s.headings: s.text for s in document.sentences if s.kind == "cell"}
        if row.replace("\\|", "").count("|") <= 4 and "\\\\" not in row:
            shown = {(column,): cell for column, cell in zip("ABC", cells, strict=True) if any(map(str.isalnum, cell))}
            assert found.keys() == shown.keys()
        letters = [letter for letter in row if letter.isalnum()]
        assert [letter for s in document.sentences[3:] for letter in s.text if letter.isalnum()] == letters


def test_a_cell_stands_below_its_column_and_beside_its_row() -> None:
    rows = "| Crates | | lift them |\n| | count them | |\n| x | y | z | No fire aboard. |\n"
    table = f"| | Do | Don't |\n|---|---|---|\n{rows}"
    document = read_document(Source("a.md", table))
    found = {s.text: (s.headings, s.lead) for s in document.sentences if s.kind == "cell"}
    assert found == {
        "Crates": (("",), ""),
        "lift them": (("Don't",), "Crates"),
        "count them": (("Do",), "Crates"),
        "x": (("",), ""),
        "y": (("Do",), "x"),
        "z": (("Don't",), "x"),
        "No fire aboard.": (("",), "x"),
    }
    assert obliging(table)[:2] == ["lift them", "count them"]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Never push<br>Ask first", ("Never push", "Ask first")),
        ("Never push<br/>- Ask first<br />* **Stop**", ("Never push", "Ask first", "Stop")),
        ("Never push<br>to main", ("Never push to main",)),
        ("Never:<br>- Push<br>- Pull", ("Never: - Push - Pull",)),
        ("<ul><li>ask first</li><li>never push</li></ul>", ("ask first", "never push")),
        ("<details><summary>Rules</summary>Never push.</details>", ("Rules", "Never push.")),
        ("<rules>\n1. Never push\n2. Ask first\n</rules>", ("<rules>", "Never push", "Ask first", "</rules>")),
        ("# <center>Safety</center>", ("Safety",)),
    ],
)
def test_tags_part_what_stands_apart(text: str, sentences: tuple[str, ...]) -> None:
    assert sentences_of(text) == sentences
    if "\n" not in text and "#" not in text:
        assert tuple(text for text, kind, _ in said(f"| A |\n|---|\n| {text} |") if kind == "cell") == sentences


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("> [!WARNING]\n> Never push.", ("Never push.",)),
        ("> [!WARNING] Never push.", ("Never push.",)),
        ("> [!note]- Safety\n> Never push.", ("Safety", "Never push.")),
        ("!!! warning\n    Never push.", ("Never push.",)),
        (
            '!!! danger "Never push"\n\n    Ask first.\n\n    Stop.\n\nGo.',
            ('"Never push"', "Ask first.", "Stop.", "Go."),
        ),
        ("??? note\n\n    - Never push\n\n      Ask.", ("Never push", "Ask.")),
        ("::: danger Safety\nNever push.\n:::", ("Safety", "Never push.")),
        (":::warning[Never push]\nAsk first.\n:::", ("[Never push]", "Ask first.")),
        ("::: {.callout-note}\nAsk first.\n:::", ("Ask first.",)),
        ("!!! never push", ("!!! never push",)),
        ("[^1]: Never push.\n\n    Ask first.\n\nGo.\n\n    code", ("Never push.", "Ask first.", "Go.")),
    ],
)
def test_callouts_and_footnotes(text: str, sentences: tuple[str, ...]) -> None:
    assert sentences_of(text) == sentences


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Begin with <!-- and go on.\n\nNever push.", ("Begin with <!-- and go on.", "Never push.")),
        ("a\n<!-- b\n\nNever push.", ("a",)),
        ("<!--> Never push.", ("Never push.",)),
        ("- a\n\n<!-- b -->\n\n    Never push.\n- c", ("a", "Never push.", "c")),
        ("[//]: # (hidden)\nNever push.", ("Never push.",)),
        ("[Never]: push", ("[Never]: push",)),
        ("[a]: b.md\n[c]: <d>\n[e]: /f 'g'", ()),
        ("---\n\nNever push.\n\n---\n", ("Never push.",)),
        ("---\n\nname: a\n---\nNever push.", ("Never push.",)),
    ],
)
def test_what_is_hidden_and_what_only_looks_so(text: str, sentences: tuple[str, ...]) -> None:
    assert sentences_of(text) == sentences
    assert sentences_of(text.replace("\n", "\r\n")) == sentences


def test_what_is_hidden_is_listed_with_either_end_of_lines() -> None:
    for text in ("[//]: # (hidden)\na\n", "```\nx\n```\n<!-- hidden -->\n", "a\n<!-- hidden"):
        for written in (text, text.replace("\n", "\r\n")):
            document = read_document(Source("a.md", written))
            assert ["hidden" in written[span.start : span.end] for span in document.comments] == [True]


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("Never:\n- a\n  > Note b\n- c", ["a", "c"]),
        ("Never:\n- > a\n- > b", ["a", "b"]),
        ("> Never:\n> - a\n> - b", ["a", "b"]),
        ("> > Never:\n> >   - a\n> >   - b", ["a", "b"]),
        ("**Safety**\nNever:\n- a\n- b", ["a", "b"]),
        ("First  \nNever:\n- a", ["a"]),
        ("Never:\n<list>\n- a\n</list>", ["a"]),
        ("- Rules\\\n  Never:\n  - a", ["a"]),
    ],
)
def test_a_list_keeps_its_lead(text: str, items: list[str]) -> None:
    assert [text for text, _, lead in said(text) if lead == "Never:"] == items


def test_a_bar_behind_a_backslash_is_a_bar_in_the_code_of_a_cell() -> None:
    text = "| `x\\|y` | Do |\n|---|---|\n| a | Run `p \\|\\| q` now |\n\nRun `p \\| q`.\n"
    sentences = read_document(Source("SKILL.md", text)).sentences
    assert [s.text for s in sentences] == ["`x|y`", "Do", "a", "Run `p || q` now", "Run `p \\| q`."]
    assert sentences[2].headings == ("`x|y`",)
    assert [text[s.span.start : s.span.end] for s in sentences][3] == "Run `p \\|\\| q` now"
