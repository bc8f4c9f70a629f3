"""The corpus, the colours and the other queries of the grammar for tree-sitter, checked without its command."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import tree_sitter_support as support
from tree_sitter import Query, QueryCursor

from tests import fuzz_parser
from vigil_lang.syntax.scan import tokens

if TYPE_CHECKING:
    from tree_sitter import Node

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", support.corpus())
def test_corpus(name: str) -> None:
    case = support.corpus()[name]
    assert support.s_expression(support.read(case.text).root_node) == case.expected


def test_the_corpus_has_every_kind_of_node() -> None:
    kinds = {
        node.type for case in support.corpus().values() for node in support.nodes(support.read(case.text).root_node)
    }
    language = support.language()
    named = {
        language.node_kind_for_id(at)
        for at in range(language.node_kind_count)
        if language.node_kind_is_named(at) and language.node_kind_is_visible(at)
    }
    assert named - kinds == {"skipped"}


def highlights(text: str) -> dict[tuple[int, int], str]:
    """The capture that colours each place where a token begins: of the smallest node, the last pattern's."""
    query = Query(support.language(), (support.GRAMMAR / "queries" / "highlights.scm").read_text(encoding="utf-8"))
    found: dict[tuple[int, int], tuple[int, int, str]] = {}
    for pattern, captures in QueryCursor(query).matches(support.read(text).root_node):
        for capture, captured in captures.items():
            for node in captured:
                for row, column in _places(node, text):
                    rank = (node.start_byte - node.end_byte, pattern)
                    best = found.get((row, column))
                    if best is None or rank >= best[:2]:
                        found[row, column] = (*rank, capture)
    return {place: capture for place, (_, _, capture) in found.items()}


def _places(node: Node, text: str) -> list[tuple[int, int]]:
    """Row and column, in code points, of each character of a node."""
    start, end = support.Offsets(text).span(node)
    row, column = text.count("\n", 0, start), start - text.rfind("\n", 0, start) - 1
    places = []
    for character in text[start:end]:
        places.append((row, column))
        row, column = (row + 1, 0) if character == "\n" else (row, column + 1)
    return places


@pytest.mark.parametrize("path", sorted((support.GRAMMAR / "test" / "highlight").glob("*.vgl")), ids=lambda p: p.name)
def test_highlights(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    expected = support.assertions(text)
    coloured = highlights(text)
    wrong = [(a, coloured.get((a.row, a.column))) for a in expected if coloured.get((a.row, a.column)) != a.expected]
    assert not wrong
    assert len(expected) > 70


def test_every_token_of_a_policy_is_coloured() -> None:
    text = fuzz_parser.SEEDS[1]
    coloured = highlights(text)
    starts = [(text.count("\n", 0, t.start), t.start - text.rfind("\n", 0, t.start) - 1, t.text) for t in tokens(text)]
    assert [t for row, column, t in starts if (row, column) not in coloured] == []


QUERIES = {
    "folds": {"fold"},
    "indents": {"indent", "indent.begin", "indent.branch", "indent.end", "indent.ignore", "outdent"},
    "injections": {"injection.content"},
    "locals": {"local.definition", "local.reference", "local.scope"},
    "tags": {
        *("name", "definition.class", "definition.constant", "definition.function", "definition.module"),
        *("reference.call", "reference.class"),
    },
    "textobjects": {
        f"{what}.{part}"
        for what in ("class", "comment", "entry", "function", "parameter", "test")
        for part in ("inner", "inside", "outer", "around")
    },
}


@pytest.mark.parametrize("name", QUERIES)
def test_queries_find_something(name: str) -> None:
    query = Query(support.language(), (support.GRAMMAR / "queries" / f"{name}.scm").read_text(encoding="utf-8"))
    text = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "examples" / "dashcam").glob("*.vgl"))
    text = text.replace("policy dashcam", "").replace("/// Behav", "policy dashcam\n/// Behav") + fuzz_parser.SEEDS[1]
    found = set(QueryCursor(query).captures(support.read(text).root_node))
    assert found - {"indent.auto"} == QUERIES[name]


def test_tags_name_what_is_declared() -> None:
    query = Query(support.language(), (support.GRAMMAR / "queries" / "tags.scm").read_text(encoding="utf-8"))
    text = "let A = {a}\npattern p(x) = action in A and q(x)\nstatement S: abs(p(y))\n"
    found = [
        (next(kind for kind in captures if kind != "name"), captures["name"][0].text)
        for _, captures in QueryCursor(query).matches(support.read(text).root_node)
    ]
    assert sorted(found) == [
        ("definition.class", b"S"),
        ("definition.constant", b"A"),
        ("definition.function", b"p"),
        ("reference.call", b"p"),
        ("reference.call", b"q"),
        ("reference.call", b"x"),
        ("reference.call", b"y"),
    ]


def test_the_files_are_not_too_large_for_the_repository() -> None:
    assert [p for p in support.GRAMMAR.rglob("*") if p.is_file() and p.stat().st_size > 500_000] == []
