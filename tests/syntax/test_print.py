"""What parts of trees look like as text: in messages, one line each."""

from __future__ import annotations

import pytest
from syntax_support import source

from vigil_lang.syntax import parse, tree
from vigil_lang.syntax.print import Node, to_text

CONDITIONS = [
    ("(a)", "a", "a"),
    ("((a and (b)))", "a and b", "a ∧ b"),
    ("(a and b) and c", "(a and b) and c", "(a ∧ b) ∧ c"),
    ("(a or b) and c", "(a or b) and c", "(a ∨ b) ∧ c"),
    ("a or (b and c)", "a or b and c", "a ∨ b ∧ c"),
    ("not (not a)", "not not a", "¬¬a"),
    ("not (a or b)", "not (a or b)", "¬(a ∨ b)"),
    ("(not a) and b", "not a and b", "¬a ∧ b"),
    ("(a implies b) implies c", "(a implies b) implies c", "(a ⇒ b) ⇒ c"),
    ("a implies (b implies c)", "a implies b implies c", "a ⇒ b ⇒ c"),
    ("a or (b implies c)", "a or (b implies c)", "a ∨ (b ⇒ c)"),
    ("earlier[3] (a)", "earlier[3] a", "◇⁻[3] a"),
    ("not earlier (a and later b)", "not earlier (a and later b)", "¬◇⁻ (a ∧ ◇⁺ b)"),
    ("f((a and b), (x = 1), \"s\", true)", 'f(a and b, x = 1, "s", true)', 'f(a ∧ b, x = 1, "s", true)'),
    ('"odd name"()', '"odd name"()', '"odd name"()'),
    ('"plain" = 3 and "status" = 3', 'plain = 3 and "status" = 3', 'plain = 3 ∧ "status" = 3'),
    ('has "not" and has output', 'has "not" and has output', 'has "not" ∧ has output'),
    ("a not in {b} | C", "a not in {b} | C", "a ∉ {b} | C"),
    ("a ~ /x/i and b !~ \"*\"", 'a ~ /x/i and b !~ "*"', 'a ∼ /x/i ∧ b ≁ "*"'),
    ("a <= 1 and b >= 2 and c < 3", "a <= 1 and b >= 2 and c < 3", "a ≤ 1 ∧ b ≥ 2 ∧ c < 3"),
    ("status = ok or status = error", "status = ok or status = error", "status = ⊤ ∨ status = ⊥"),
    ("action = a and action ~ \"b\"", 'action = a and action ~ "b"', 'action = a ∧ action ∼ "b"'),
]  # fmt: skip


@pytest.mark.parametrize(("text", "ascii_text", "unicode_text"), CONDITIONS, ids=[text for text, _, _ in CONDITIONS])
def test_condition(text: str, ascii_text: str, unicode_text: str) -> None:
    (item,) = parse(source(f"pattern p = {text}")).file.items
    assert isinstance(item, tree.Pattern)
    assert to_text(item.body) == ascii_text
    assert to_text(item.body, unicode=True) == unicode_text


PARTS: list[tuple[Node, str]] = [
    (tree.Name("a.b"), "a.b"),
    (tree.Bound("30s"), "[30s]"),
    (tree.Field("output", "output"), "output"),
    (tree.Field("output"), '"output"'),
    (tree.Field("a b"), '"a b"'),
    (tree.SetLiteral(()), "{}"),
    (tree.Regex("a\\/b"), "/a\\/b/"),
    (tree.Annotation(tree.Name("hold"), ()), "@hold"),
    (tree.Annotation(tree.Name("note"), (tree.String("x"), tree.Number("3"))), '@note("x", 3)'),
    (tree.Form("bresp", (tree.Apply(tree.Name("a"), None),) * 2, tree.Bound("3")), "bresp[3](a, a)"),
    (tree.Use(tree.Name("std.files"), (tree.Name("a"), tree.Name("b"))), "use std.files: a, b"),
    (tree.Param(tree.Name("p"), "set", None, doc="One\n\ntwo"), "/// One\n///\n/// two\nparam p: set"),
]


@pytest.mark.parametrize(("node", "text"), PARTS, ids=[text for _, text in PARTS])
def test_part(node: Node, text: str) -> None:
    assert to_text(node) == text


def test_a_file_has_a_line_for_each_item() -> None:
    text = '/// About.\n\n\nlet   A={a}\n/// P.\n@note("x")\npattern p=(a)\nstatement S:abs(p)after(a)\n'
    expected = '/// About.\n\nlet A = {a}\n/// P.\n@note("x")\npattern p = a\nstatement S: abs(p) after a\n'
    assert to_text(parse(source(text)).file) == expected
