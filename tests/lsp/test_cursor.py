"""What stands at an offset, in whole files and in broken ones."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.strategies import trees
from vigil_lang.diagnostics import Source
from vigil_lang.syntax import tree
from vigil_lang.syntax.parse import parse_with_tokens
from vigil_lang.syntax.print import to_text
from vigil_lang.syntax.scan import TokenList
from vigil_lsp import cursor

TEXT = """/// Of warps.
@source("a.md", "b")
policy warps

use std.files: changes

/// What consumes.
// not documentation
@source("a.md", "c")
pattern consumes(x) = action in {warp, "b"} and (transform = x or status = ok)

let broken = {

/// Documented.
statement R0: prec(consumes(x), check(target = x)) after not has f // beside
"""
LEXED = parse_with_tokens(Source("warps.vgl", TEXT))
FILE = LEXED.parsed.file


def _path(before: str, at: int = 0) -> list[str]:
    return [type(node).__name__ for node in cursor.path_at(FILE, TEXT.index(before) + at)]


def test_path_goes_from_the_item_to_the_name() -> None:
    assert _path("transform = x", 12) == ["Pattern", "And", "Or", "Test", "Name"]
    assert _path('"b"} and', 3) == ["Pattern", "And", "ActionIn", "SetUnion", "SetLiteral", "String"]
    assert _path("changes", 3) == ["Use", "Name"]
    assert _path("consumes(x), ") == ["Statement", "Form", "Apply", "Name"]
    assert _path('"c"', 1) == ["Pattern", "Annotation", "String"]
    assert _path("after not") == ["Statement"]


def test_path_of_the_policy_line_and_outside() -> None:
    assert _path("warps\n", 5) == ["Name"]
    assert _path('"b"') == ["Annotation", "String"]
    assert _path("let broken") == []
    assert _path("// beside", 3) == []
    assert cursor.path_at(FILE, 0) == []


def test_item_holds_its_annotations() -> None:
    item = cursor.item_at(FILE, TEXT.index('"c"'))
    assert isinstance(item, tree.Pattern)
    assert item.name.text == "consumes"
    assert cursor.item_at(FILE, TEXT.index("broken")) is None


def test_token_is_the_one_under_the_cursor_or_just_before() -> None:
    def token(offset: int) -> str | None:
        found = cursor.token_at(LEXED.tokens, offset)
        return found and found.text

    at = TEXT.index("prec(")
    assert [token(at + i) for i in (-1, 0, 2, 4, 5)] == [":", "prec", "prec", "prec", "consumes"]
    assert token(TEXT.index("{\n\n") + 2) is None
    assert token(len(TEXT)) is None
    assert token(len(TEXT) - 1) == "// beside"
    assert cursor.token_at(TokenList.of([]), 0) is None


def test_stretch_of_a_broken_item_and_of_whole_ones() -> None:
    def stretch(offset: int) -> tuple[str, str | None]:
        found = cursor.stretch_at(FILE, LEXED.tokens, offset)
        assert found is not None
        name = getattr(found.item, "name", None) or getattr(found.item, "module", None)
        return TEXT[found.span.start : found.span.end], name and name.text

    assert stretch(TEXT.index("{\n\n") + 2) == ("let broken = {\n\n", None)
    assert stretch(len(TEXT)) == (TEXT[TEXT.index("/// Documented") :], "R0")
    assert stretch(TEXT.index("Documented")) == (TEXT[TEXT.index("/// Documented") :], "R0")
    assert stretch(TEXT.index("use") + 1) == ("use std.files: changes\n\n", "std.files")
    assert stretch(TEXT.index("consumes.")) == (
        TEXT[TEXT.index("/// What") : TEXT.index("let broken")],
        "consumes",
    )
    assert stretch(TEXT.index("policy")) == ('@source("a.md", "b")\npolicy warps\n\n', None)
    assert cursor.stretch_at(FILE, LEXED.tokens, 3) is None


def test_stretch_knows_what_was_typed_before() -> None:
    found = cursor.stretch_at(FILE, LEXED.tokens, TEXT.index("check(tar") + 9)
    assert found is not None
    before = [token.text for token in found.before(TEXT.index("check(tar") + 9)]
    assert before == ["statement", "R0", ":", "prec", "(", "consumes", "(", "x", ")", ",", "check", "(", "target"]


def test_header_begins_with_its_word() -> None:
    text = "/// A file.\npolicy /* */ p\n".replace("/* */ ", "// c\n ")
    lexed = parse_with_tokens(Source("p.vgl", text))
    span = cursor.header(lexed.parsed.file, lexed.tokens)
    assert text[span.start : span.end] == "policy // c\n p"


@settings(deadline=None, max_examples=60)
@given(trees.files(), st.data())
def test_children_are_in_order_and_inside(file: tree.File, data: st.DataObject) -> None:
    text = to_text(file)
    lexed = parse_with_tokens(Source("x.vgl", text))
    for node in cursor.walk(lexed.parsed.file):
        spans = [child.span for child in cursor.children(node)]
        assert all(a.end <= b.start for a, b in pairwise(spans))
        if not isinstance(node, tree.File):
            assert all(node.span.start <= span.start <= span.end <= node.span.end for span in spans)
    offset = data.draw(st.integers(0, len(text)))
    path = cursor.path_at(lexed.parsed.file, offset)
    assert all(node.span.start <= offset <= node.span.end for node in path)
    assert not path or not any(c.span.start < offset < c.span.end for c in cursor.children(path[-1]))


@settings(deadline=None, max_examples=60)
@given(st.text(alphabet='ab {}()=:"/\n,|~@', max_size=60), st.data())
def test_no_text_makes_it_raise(text: str, data: st.DataObject) -> None:
    text = f"policy p\n{text}\nstatement S: abs(a())\n{text}"
    lexed = parse_with_tokens(Source("x.vgl", text))
    offset = data.draw(st.integers(-1, len(text) + 1))
    cursor.path_at(lexed.parsed.file, offset)
    token = cursor.token_at(lexed.tokens, offset)
    assert token is None or token.start <= offset <= token.end
    found = cursor.stretch_at(lexed.parsed.file, lexed.tokens, offset)
    assert found is None or found.span.start <= offset
