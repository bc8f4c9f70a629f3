"""Every node knows the exact text it was read from."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from syntax_support import source

from tests.strategies import trees
from vigil_lang.base.node import Node
from vigil_lang.syntax import parse, tree
from vigil_lang.syntax.print import to_text

TEXT = """\
/// About the file.
policy dash.cam  // a remark

use std.files: reads, writes
let A = {a, "b c", -2.5} | B
param limit: number = 6
/// Doc of p.
@note("x", 3, w)
@plain
pattern p(x) = not (action in A and (status = ok or has "odd")) and output contains x
statement S: bresp[30s](f(k != 6, true), "g h"(k ~ /r/i)) after earlier[3] q
"""


def texts(node: Any) -> list[tuple[str, str]]:
    """(kind of node, its text) of a node and of all below it, in the order of the fields."""
    found: list[tuple[str, str]] = []
    if isinstance(node, tuple):
        return [pair for item in node for pair in texts(item)]
    if isinstance(node, Node):
        if hasattr(node, "span"):
            found.append((type(node).__name__, TEXT[node.span.start : node.span.end]))
        for name in node.__struct_fields__:
            if name != "source":
                found += texts(getattr(node, name))
    return found


def test_the_span_of_each_node() -> None:
    assert texts(parse(source(TEXT)).file) == [
        ("Name", "dash.cam"),
        ("Use", "use std.files: reads, writes"),
        ("Name", "std.files"),
        ("Name", "reads"),
        ("Name", "writes"),
        ("Let", 'let A = {a, "b c", -2.5} | B'),
        ("Name", "A"),
        ("SetUnion", '{a, "b c", -2.5} | B'),
        ("SetLiteral", '{a, "b c", -2.5}'),
        ("Name", "a"),
        ("String", '"b c"'),
        ("Number", "-2.5"),
        ("Name", "B"),
        ("Param", "param limit: number = 6"),
        ("Name", "limit"),
        ("Number", "6"),
        ("Pattern", TEXT[TEXT.index("@note") : TEXT.index("\nstatement")]),
        ("Name", "p"),
        ("Name", "x"),
        ("And", 'not (action in A and (status = ok or has "odd")) and output contains x'),
        ("Not", 'not (action in A and (status = ok or has "odd"))'),
        ("And", '(action in A and (status = ok or has "odd"))'),
        ("ActionIn", "action in A"),
        ("SetUnion", "A"),
        ("Name", "A"),
        ("Or", '(status = ok or has "odd")'),
        ("StatusIs", "status = ok"),
        ("Has", 'has "odd"'),
        ("Field", '"odd"'),
        ("Test", "output contains x"),
        ("Field", "output"),
        ("Name", "x"),
        ("Annotation", '@note("x", 3, w)'),
        ("Name", "note"),
        ("String", '"x"'),
        ("Number", "3"),
        ("Name", "w"),
        ("Annotation", "@plain"),
        ("Name", "plain"),
        ("Statement", TEXT[TEXT.index("statement") :].strip()),
        ("Name", "S"),
        ("Form", 'bresp[30s](f(k != 6, true), "g h"(k ~ /r/i))'),
        ("Apply", "f(k != 6, true)"),
        ("Name", "f"),
        ("Test", "k != 6"),
        ("Field", "k"),
        ("Number", "6"),
        ("Boolean", "true"),
        ("Apply", '"g h"(k ~ /r/i)'),
        ("String", '"g h"'),
        ("Test", "k ~ /r/i"),
        ("Field", "k"),
        ("Regex", "/r/i"),
        ("Bound", "30s"),
        ("Diamond", "earlier[3] q"),
        ("Bound", "3"),
        ("Apply", "q"),
        ("Name", "q"),
        ("Comment", "/// About the file."),
        ("Comment", "// a remark"),
        ("Comment", "/// Doc of p."),
    ]


def test_documentation_and_comments() -> None:
    # spec R2.3-2
    file = parse(source(TEXT)).file
    assert file.doc == "About the file."
    assert [item.doc for item in file.items] == [None, None, None, "Doc of p.", None]


def test_without_a_policy_line_documentation_set_off_by_an_empty_line_is_the_files() -> None:
    file = parse(source("/// One\n/// two\n\n/// Three\nlet A = {a}\n")).file
    assert (file.doc, file.items[0].doc) == ("One\ntwo", "Three")
    file = parse(source("/// One\nlet A = {a}\n")).file
    assert (file.doc, file.items[0].doc) == (None, "One")
    assert parse(source("/// Only\n")).file.doc == "Only"


def test_a_byte_order_mark_and_windows_line_ends_change_nothing() -> None:
    # spec R2.1-1
    plain = parse(source(TEXT))
    windows = parse(source("\ufeff" + TEXT.replace("\n", "\r\n")))
    assert not windows.diagnostics
    assert windows.file == plain.file


@settings(max_examples=100, deadline=None, database=None)
@given(trees.expressions)
def test_the_text_of_a_condition_parses_to_it(expr: tree.Expr) -> None:
    text = f"pattern p = ({to_text(expr)})"
    (item,) = parse(source(text)).file.items
    assert isinstance(item, tree.Pattern)
    for part in _conditions(item.body):
        again = parse(source(f"pattern p = {text[part.span.start : part.span.end]}")).file.items[0]
        assert isinstance(again, tree.Pattern)
        assert again.body == part


def _conditions(expr: tree.Expr) -> list[Any]:
    match expr:
        case tree.Not(body) | tree.Diamond(_, _, body):
            return [expr, *_conditions(body)]
        case tree.And(items) | tree.Or(items):
            return [expr, *(found for item in items for found in _conditions(item))]
        case tree.Implies(left, right):
            return [expr, *_conditions(left), *_conditions(right)]
    return [expr]
