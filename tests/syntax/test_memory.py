"""Parsing with a memory of the text before gives what parsing from nothing gives, spans and all."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import astuple
from syntax_support import source

from tests.fuzz_parser import SEEDS, WORDS
from tests.strategies import trees
from vigil_lang.syntax import parse as parse_text
from vigil_lang.syntax import tree
from vigil_lang.syntax.memory import Memory
from vigil_lang.syntax.parse import MAX_CHARACTERS, MAX_FINDINGS, Lexed, parse_with_tokens
from vigil_lang.syntax.print import to_text
from vigil_lang.syntax.scan import Token, TokenList

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.diagnostics import Source

ROOT = Path(__file__).parents[2]
SHIPPED = [
    path.read_text(encoding="utf-8")
    for folder in ("stdlib", "examples")
    for path in sorted((ROOT / folder).rglob("*.vgl"))
]
FEW_TOKENS = 5_000
STEPS = int(os.environ.get("VIGIL_CASES", "100"))

PIECES = (
    *WORDS,
    "\n",
    " ",
    "x",
    '"',
    "/",
    "// ",
    "///",
    "/// d\n",
    "\n\n",
    "@",
    "@note\n",
    "statement ",
    "rule ",
    "\nthen ",
    "\nrecord ",
    "pattern p = a\n",
    "\nlet ",
    "test ",
    'test "t" {\n',
    "policy p\n",
    "\nprose\n",
    "use",
    ")",
    "(",
    "\r",
    "\ufeff",
    "\U0001f600",
    "-",
    "1e",
    "+",
    ".",
)


def everything(lexed: Lexed, of: Source) -> object:
    """All that a parse found, spans included, with the text that findings are found in."""
    file, found = lexed.parsed.file, lexed.parsed.diagnostics
    assert file.source is of
    assert all(finding.source is of for finding in found)
    return (
        [spelled_out(item) for item in file.items],
        spelled_out((file.name, file.annotations, file.comments)),
        file.doc,
        file.broken,
        found,
        list(lexed.tokens),
    )


def spelled_out(part: object) -> object:
    """A tree with its spans, which take no part in comparing nodes."""
    if isinstance(part, tuple):
        return [type(part).__name__, *map(spelled_out, part)]
    if isinstance(part, msgspec.Struct):
        return [type(part).__name__, *(spelled_out(getattr(part, name)) for name in part.__struct_fields__)]
    return part


def assert_same(text: str, memory: Memory) -> Lexed:
    of = source(text)
    remembered = parse_with_tokens(of, memory)
    assert everything(remembered, of) == everything(parse_with_tokens(of), of)
    return remembered


def edited(text: str, chosen: Random, others: list[str]) -> str:
    """A text after one edit: a key, a word, a deletion, lines moved or copied, another text in its place, an undo."""
    start = chosen.randrange(len(text) + 1)
    kind = chosen.randrange(12)
    if kind < 4:
        return text[:start] + chosen.choice(PIECES) + text[start:]
    if kind < 7:
        return text[:start] + text[start + chosen.choice((1, 1, 1, 2, 5, 30, 200)) :]
    if kind == 7:
        return text[:start] + chosen.choice(PIECES) + text[start + chosen.randrange(12) :]
    if kind == 8:
        return chosen.choice(others)
    lines = text.splitlines(keepends=True)
    low, high = sorted((chosen.randrange(len(lines) + 1), chosen.randrange(len(lines) + 1)))
    high = min(high, low + 12)
    match kind:
        case 9:
            return "".join(lines[:low] + lines[high:])
        case 10:
            at = chosen.randrange(len(lines) + 1)
            return "".join(lines[:at] + lines[low:high] + lines[at:])
        case _:
            return "".join(lines[:low] + chosen.choice(others).splitlines(keepends=True)[low:high] + lines[high:])


def edits(text: str, seed: int, steps: int) -> Iterator[str]:
    chosen = Random(seed)
    whole, before = text, [text]
    for _ in range(steps):
        text = edited(text, chosen, before)
        before = [whole, *before[-3:], text]
        yield text


@settings(max_examples=STEPS, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(trees.files(), st.integers(0, 2**32))
def test_generated_policies_after_any_edits(file: tree.File, seed: int) -> None:
    memory = Memory()
    text = to_text(file)
    assert_same(text, memory)
    for after in edits(text, seed, 25):
        assert_same(after, memory)


@pytest.mark.unmeasured  # thousands of edits
@pytest.mark.parametrize("text", [*SEEDS, *SHIPPED], ids=lambda text: text[:20])
def test_written_policies_after_any_edits(text: str) -> None:
    memory = Memory()
    assert_same(text, memory)
    for after in edits(text, len(text), STEPS // 5):
        assert_same(after, memory)


@pytest.mark.unmeasured
@pytest.mark.parametrize("text", SEEDS)
def test_a_policy_as_it_is_typed(text: str) -> None:
    memory = Memory()
    for end in range(len(text) + 1):
        assert_same(text[:end], memory)


@settings(max_examples=STEPS, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(trees.files(), st.integers(0, 2**32))
def test_nobody_has_to_look_at_each_text(file: tree.File, seed: int) -> None:
    """What moves when somebody looks at it has by then moved many times, and been looked at in part."""
    memory, chosen = Memory(), Random(seed)
    text = to_text(file)
    for after in edits(text, seed, 25):
        of = source(after)
        remembered = parse_with_tokens(of, memory)
        if chosen.random() < 0.2:
            assert everything(remembered, of) == everything(parse_with_tokens(of), of)
        elif remembered.parsed.file.items and len(remembered.tokens):
            spelled_out(chosen.choice(remembered.parsed.file.items))
            chosen.choice(remembered.tokens)


def test_what_moved_is_the_same_for_all_who_look_at_it() -> None:
    memory = Memory()
    assert_same(THREE, memory)
    item = parse_with_tokens(source(f"// moved\n{THREE}"), memory).parsed.file.items[1]
    assert isinstance(item, tree.Statement)
    assert item.form is item.form
    further = parse_with_tokens(source(f"// moved on\n{THREE}"), memory).parsed.file.items[1]
    assert isinstance(further, tree.Statement)
    assert further.form.span.start == item.form.span.start + 3


def test_tokens_that_nobody_looks_at_are_not_moved() -> None:
    """Nor are the parts of items: an edit at the top of a long text costs what it changes."""
    memory = Memory()
    text = "".join(f"let A{number} = {{a, b, c}}\n" for number in range(1000))
    assert_same(text, memory)
    lexed = parse_with_tokens(source(f"// x\n{text}"), memory)
    moved = [item for item in lexed.parsed.file.items if astuple(item)[1].__class__ is tree.Moved]
    assert len(moved) == 1000
    assert sum(1 for block in lexed.tokens._blocks if not block.at[1]) <= 2


@settings(max_examples=STEPS, deadline=None, database=None)
@given(st.data())
def test_tokens_in_blocks_are_those_of_a_list(data: st.DataObject) -> None:
    def some(start: int) -> list[Token]:
        count = data.draw(st.integers(0, 600))
        return [
            Token("comment" if at % 7 == 3 else "word", "x", start + 2 * at, start + 2 * at + 1) for at in range(count)
        ]

    plain = some(0)
    found = TokenList.of(plain)
    for _ in range(data.draw(st.integers(1, 6))):
        first = data.draw(st.integers(0, len(plain)))
        last = data.draw(st.integers(first, len(plain)))
        new = some(plain[first - 1].end + 1 if first else 0)
        end = new[-1].end + 1 if new else plain[first - 1].end + 1 if first else 0
        by = end - (plain[last].start if last < len(plain) else 0)
        found = found.edited(first, last, new, by)
        rest = [token._replace(start=token.start + by, end=token.end + by) for token in plain[last:]]
        plain = plain[:first] + new + rest
        assert len(found) == len(plain)
        if not plain:
            continue
        at = data.draw(st.integers(0, len(plain) - 1))
        offset = data.draw(st.integers(0, plain[-1].end + 1))
        assert found.first_from(offset) == sum(token.start < offset for token in plain)
        assert (found.text(at), found.span(at)) == (plain[at].text, plain[at].span)
        assert found.span(at, len(plain)) == (plain[at].start, plain[-1].end)
        assert found[at] == plain[at]
        assert found[at - len(plain)] == plain[at]
        assert found[at : at + 300] == plain[at : at + 300]
        assert [*found.comments()] == [(token.text, token.span) for token in plain if token.kind == "comment"]
    assert list(found) == plain
    assert found[::-1] == plain[::-1]
    with pytest.raises(IndexError):
        found[len(plain)]


THREE = 'policy p\n\n/// One.\nlet A = {a}\n\n@note("b")\nstatement B: abs(A)\n\nlet C = {c}\n'


def test_what_stands_where_it_stood_is_the_same_object() -> None:
    memory = Memory()
    before = assert_same(THREE, memory).parsed.file.items
    after = assert_same(THREE.replace("{c}", "{c, d}"), memory).parsed.file.items
    assert after[:2] == before[:2]
    assert all(one is other for one, other in zip(after[:2], before[:2], strict=True))
    assert after[2] != before[2]


def test_only_what_changed_is_parsed() -> None:
    memory = Memory()
    assert len(assert_same(THREE, memory).bodies) == 4
    assert [b.tokens[-2].text for b in assert_same(THREE.replace("abs(A)", "abs(C)"), memory).bodies] == ["C"]
    assert not assert_same(f"// moved\n{THREE.replace('abs(A)', 'abs(C)')}", memory).bodies


def test_no_more_than_the_last_text_is_remembered() -> None:
    memory = Memory()
    assert_same(THREE, memory)
    assert_same("let D = {d}\n", memory)
    assert len(assert_same(THREE, memory).bodies) == 4


def test_findings_move_with_their_fixes() -> None:
    memory = Memory()
    broken = "let A = {a}\nstatement S: abs(a && b)\nstatment T: abs(c)\n"
    assert_same(broken, memory)
    lexed = assert_same("// above\n" + broken, memory)
    assert not lexed.bodies
    assert [d.fix.edits[0].span for d in lexed.parsed.diagnostics if d.fix] == [(40, 42), (46, 54)]


def test_the_documentation_of_a_file_is_found_again() -> None:
    memory = Memory()
    documented = "/// The file.\n\n/// A.\nlet A = {a}\n/// B.\nlet B = {b}\n"
    assert assert_same(documented, memory).parsed.file.doc == "The file."
    assert assert_same(f"let Z = {{}}\n{documented}", memory).parsed.file.doc is None
    assert assert_same(documented, memory).parsed.file.doc == "The file."
    assert assert_same(f"policy p\n{documented}", memory).parsed.file.doc is None


@pytest.mark.unmeasured
@pytest.mark.parametrize(
    "large",
    ["a " * (FEW_TOKENS + 1), "x" * (MAX_CHARACTERS + 1), "let A = (\n" * (MAX_FINDINGS + 5), "\x00" * 150],
    ids=["tokens", "characters", "findings", "hidden"],
)
def test_limits_are_the_same(large: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[parse_with_tokens.__module__], "MAX_TOKENS", FEW_TOKENS)
    memory = Memory()
    for text in (THREE, THREE + large, f"{large}\n{THREE}", THREE):
        assert_same(text, memory)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("let A = (\nlet in\n= {b}\nlet C = {c}\n", "let A = (\nlet in\n{b}\nlet C = {c}\n"),
        ("let A = (\nlet\nB = {b}\nlet C = {c}\n", "let A = (\nlet\n= {b}\nlet C = {c}\n"),
        ('let A = {a}\ntest\n// why\n"t" {}\n', "let A = {a}\ntest\n// why\nt {}\n"),
        ("let A = {a}\n@n\nlet B = {b}\n", "let A = {a}\n@n\n"),
        ("let A = {a}\nprose\nlet B = {b}\n@n\n", "let A = {a\nprose\nlet B = {b}\n@n\n"),
    ],
)
def test_a_later_line_tells_whether_an_item_begins(before: str, after: str) -> None:
    for one, other in ((before, after), (after, before)):
        memory = Memory()
        for text in (one, other, one):
            assert_same(text, memory)


def test_parse_takes_a_memory_too() -> None:
    memory = Memory()
    one = source(THREE)
    assert parse_text(one, memory) == parse_text(one, memory) == parse_text(one)
