"""The grammar for tree-sitter reads what Vigil's own parser reads, and finds the same texts broken.

Where the two differ on purpose:

- limits (VGL003, VGL104, the hundredth broken item), characters that hide or reorder text (VGL109) and misplaced
  documentation (VGL105) are not a grammar's to find;
- the white space that VGL109 refuses (U+001C to U+001F, U+0085, U+2028, U+2029) is an error here;
- of an item that is whole before something that cannot follow, the whole part stays an item; the rest is the error.
"""

from __future__ import annotations

import os
import random
import re
from itertools import pairwise, takewhile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import spec_blocks
import tree_sitter_support as support
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tree_sitter import Parser

from tests import fuzz_parser
from tests.strategies import policies, trees
from tests.strategies.broken import BROKEN, NOT_ITEMS
from vigil_lang.diagnostics import Source
from vigil_lang.syntax import parse, tree
from vigil_lang.syntax.print import to_text
from vigil_lang.syntax.scan import COMMENTS, tokens

if TYPE_CHECKING:
    from tree_sitter import Node

ROOT = Path(__file__).parents[2]
SHIPPED = sorted(path for folder in ("stdlib", "examples", "tests") for path in (ROOT / folder).rglob("*.vgl"))
PAGES = [ROOT / "spec.md", ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCES = {
    f"{page.stem}:{block.line}": block.text
    for page in PAGES
    if page.stem not in ("VGL003", "VGL104")
    for block in spec_blocks.blocks(page)
    if block.kind == "vgl"
}
KINDS = {
    tree.Use: "use_declaration",
    tree.Let: "let_declaration",
    tree.Param: "param_declaration",
    tree.Pattern: "pattern_declaration",
    tree.Statement: "statement_declaration",
    tree.Rule: "rule_declaration",
    tree.TestCase: "test_declaration",
    tree.Annotation: "annotation",
    tree.And: "conjunction",
    tree.Or: "disjunction",
    tree.Not: "negation",
    tree.Implies: "implication",
    tree.Test: "field_test",
    tree.Entry: "entry_test",
    tree.Interval: "interval",
    tree.Repeated: "repeated",
    tree.Has: "has_test",
    tree.Violates: "violates_test",
    tree.ActionIn: "action_test",
    tree.ActionIs: "action_test",
    tree.ActionMatches: "action_test",
    tree.StatusIs: "status_test",
    tree.Field: "field",
    tree.SetUnion: "set",
    tree.SetLiteral: "set_literal",
    tree.String: "string",
    tree.Number: "number",
    tree.Boolean: "boolean",
    tree.Regex: "regex",
    tree.Event: "event",
    tree.EventGroup: "call",
    tree.RunFile: "run_file",
    tree.RunEvents: "run",
    tree.RunCalls: "calls",
    tree.Setting: "setting",
    tree.Expectation: "expectation",
    tree.Binding: "binding",
    tree.Argument: "argument",
    tree.Composite: "composite",
}
UNITS = ("string", "regex")
several = settings(
    max_examples=int(os.environ.get("VIGIL_CASES", "100")),
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def is_broken(text: str) -> bool:
    return bool(parse(Source("p.vgl", text)).file.broken)


def kept(text: str) -> list[str]:
    return [support.item_name(node) for node in support.items(support.read(text))]


# --- what is whole -----------------------------------------------------------------------------------------


def of_vigil(node: object, found: list[tuple[str, int, int]]) -> list[tuple[str, int, int]]:
    """Kinds and spans of the nodes of a tree that have their like in the other grammar."""
    if isinstance(node, tuple):
        for part in node:
            of_vigil(part, found)
    elif isinstance(node, tree.Node):
        kind = KINDS.get(type(node))
        match node:
            case tree.Diamond():
                kind = node.direction
            case tree.Form():
                kind = "always_form" if node.name == "always" else "form"
            case tree.Apply():
                kind = "reference" if node.args is None else "application"
        if kind is not None:
            found.append((kind, node.span.start, node.span.end))
        # A field, a name and a quoted name are one token in the tree.
        for name in () if isinstance(node, tree.Field) else node.__struct_fields__:
            of_vigil(getattr(node, name), found)
    return found


def of_tree_sitter(root: Node, text: str) -> list[tuple[str, int, int]]:
    """The same of a tree of tree-sitter's; there brackets are nodes, here they widen what they hold."""
    offsets = support.Offsets(text)
    wanted = {*KINDS.values(), "earlier", "later", "form", "always_form", "reference", "application"}
    found: list[tuple[str, int, int]] = []

    def walk(node: Node, outer: Node | None) -> None:
        if node.type == "parenthesized":
            return walk(node.named_children[0] if not node.named_children[0].is_extra else node, outer or node)
        if node.type in wanted:
            found.append((node.type, *offsets.span(outer or node)))
        for child in () if node.type in ("field", "bound", "window") else node.named_children:
            if not child.is_extra:
                walk(child, None)
        return None

    walk(root, None)
    return found


def leaves(root: Node, text: str) -> list[tuple[int, int]]:
    """Where the tokens stand, comments left out."""
    offsets = support.Offsets(text)
    found: list[tuple[int, int]] = []

    def walk(node: Node) -> None:
        if node.is_extra or node.start_byte == node.end_byte:
            return
        if node.child_count == 0 or node.type in UNITS:
            found.append(offsets.span(node))
        else:
            for child in node.children:
                walk(child)

    walk(root)
    return found


def check_agreement(text: str) -> None:
    """Two parsers, one reading: no error, the same tokens, the same items with the same names, the same conditions."""
    source = Source("p.vgl", text)
    file = parse(source).file
    assert not file.broken
    root = support.read(text).root_node
    assert not root.has_error, text
    assert leaves(root, text) == [(t.start, t.end) for t in tokens(text) if t.kind not in COMMENTS]
    named = [item.module.text if isinstance(item, tree.Use) else text[slice(*item.name.span)] for item in file.items]
    assert [support.item_name(node) for node in root.children if node.type.endswith("_declaration")] == named
    assert sorted(of_tree_sitter(root, text)) == sorted(of_vigil((file.annotations, file.items), []))


@pytest.mark.parametrize("path", SHIPPED, ids=name_of)
def test_shipped_policies_read_the_same(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    if is_broken(text):
        assert support.read(text).root_node.has_error
    else:
        check_agreement(text)


@pytest.mark.parametrize("name", FENCES)
def test_policies_of_the_documents_read_the_same(name: str) -> None:
    if is_broken(FENCES[name]):
        assert support.read(FENCES[name]).root_node.has_error
    else:
        check_agreement(FENCES[name])


def test_there_are_policies_to_read() -> None:
    assert len(SHIPPED) > 40
    assert len(FENCES) > 40


@pytest.mark.parametrize("text", NOT_ITEMS)
def test_words_that_begin_items_are_names_elsewhere(text: str) -> None:
    check_agreement(f"{text}\nlet C = {{c}}\n")


@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["lf", "crlf"])
@pytest.mark.parametrize("seed", fuzz_parser.SEEDS)
def test_all_of_the_language(seed: str, end: str) -> None:
    check_agreement(seed.replace("\n", end))


def test_a_byte_order_mark_may_open_a_file() -> None:
    assert kept("\ufefflet A = {a}\n") == ["A"]


@several
@given(trees.files(), st.booleans())
def test_any_policy_reads_the_same(file: tree.File, unicode: bool) -> None:
    check_agreement(to_text(file, unicode=unicode))


@several
@given(policies.policies())
def test_policies_that_resolve_read_the_same(text: str) -> None:
    check_agreement(text)


@several
@given(policies.policies(), policies.policies(), st.data())
def test_an_edit_leads_to_the_tree_of_the_new_text(before: str, after: str, data: st.DataObject) -> None:
    """The tree is told of an edit as editors do, and only what changed is read again."""
    parser = Parser(support.language())
    start = shared(before, after)
    tail = shared(before[start:][::-1], after[start:][::-1])
    middle = after[start : len(after) - tail]
    halfway = data.draw(st.integers(0, len(middle)))
    texts = [before, before[:start] + middle[:halfway] + before[len(before) - tail :], after]
    found = parser.parse(texts[0].encode())
    for old, new in pairwise(texts):
        old_end, new_end = (text[: len(text) - tail] for text in (old, new))
        found.edit(
            len(new[:start].encode()),
            len(old_end.encode()),
            len(new_end.encode()),
            point(new[:start]),
            point(old_end),
            point(new_end),
        )
        found = parser.parse(new.encode(), found)
    assert support.s_expression(found.root_node) == support.s_expression(support.read(after).root_node)


def shared(a: str, b: str) -> int:
    """How long the common beginning of two texts is."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=False)))


def point(text: str) -> tuple[int, int]:
    """The row and column, in bytes, of a text's end."""
    return text.count("\n"), len(text[text.rfind("\n") + 1 :].encode())


# --- what is broken ----------------------------------------------------------------------------------------

ALSO_KEPT = {
    "use std.files:": "std.files",
    "let X = {a}}": "X",
    "let X = {a};": "X",
    "statement S: abs(a) after": "S",
    "statement S: abs(a()) then hold": "S",
    "rule r: when a() then hold\nrecord": "r",
    "rule r: when a() then hold\nrecord b,": "r",
    "rule r: when a() then hold\nrelaxes b\nrecord c": "r",
}
"""Items that are whole before what cannot follow."""
LOST = {"policy again": ["B", "C"], 'tests "t" { }': ["B", "C"]}
"""Where the item before is not kept: its head was taken for the file's, or what follows for a part of it."""


@pytest.mark.parametrize("broken", BROKEN)
def test_one_broken_item_leaves_the_others(broken: str) -> None:
    text = f"policy p\n\nlet A = {{a}}\n{broken}\n\n@note\nstatement B: abs(A)\nlet C = {{c}}\n"
    assert support.read(text).root_node.has_error
    expected = LOST.get(broken, ["A", "B", "C"])
    assert kept(text) == ["A", ALSO_KEPT[broken], "B", "C"] if broken in ALSO_KEPT else kept(text) == expected


def test_what_vigil_finds_broken_is_broken_here() -> None:
    rng = random.Random(5)
    found = 0
    for _ in range(5_000):
        text = fuzz_parser.random_text(rng)
        if re.search(r"[\x1c-\x1f\x85\u2028\u2029\ud800-\udfff]", text):
            continue
        assert support.read(text).root_node.has_error == is_broken(text), text
        found += is_broken(text)
    assert 1_000 < found < 4_900


HALF_WRITTEN = ("examples/dashcam/dashcam.vgl", "stdlib/std/secrets.vgl", "examples/dashcam/dashcam_test.vgl")


@pytest.mark.parametrize("name", HALF_WRITTEN)
def test_a_half_written_item_leaves_the_others(name: str) -> None:
    """Each item is cut after each of its tokens. What Vigil still reads of the file is read here too, with one
    exception: what is written of an item up to its name, annotations first, may be taken for a part of the next.
    """
    text = (ROOT / name).read_text(encoding="utf-8")
    tried = 0
    for item in parse(Source(name, text)).file.items:
        code = [token for token in tokens(text[slice(*item.span)]) if token.kind not in COMMENTS]
        notes = item.annotations[-1].span.end - item.span.start if item.annotations else 0
        head = [token for token in code if token.start >= notes][:2]
        for token in code[:-1]:
            cut = item.span.start + token.end
            half = text[:cut] + text[item.span.end :]
            offsets = support.Offsets(half)
            whole = [(other.span.start, other.span.end) for other in parse(Source(name, half)).file.items]
            found = [offsets.span(node) for node in support.items(support.read(half))]
            missed = [span for span in whole if span not in found]
            following = [span for span in whole if span[0] >= cut]
            assert missed == [] or (notes and token.end <= head[-1].end and missed == following[:1]), half
            tried += 1
    assert tried > 100


def test_hostile_texts_end_in_errors() -> None:
    for text in (
        "(" * 50_000,
        "let X = {a, \n" * 5_000,
        "statement S: abs((((a\n" * 2_000,
        "a " * 50_000,
        '"' * 50_000,
    ):
        assert support.read(text).root_node.has_error
