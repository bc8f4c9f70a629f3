"""Semantic tokens: what each token is called, in any encoding, and changes that come to the same as all of them."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lsp_positions import part, position_of
from lsprotocol import types
from written import Project, shared

from tests.strategies import policies
from vigil_lsp.names import Names
from vigil_lsp.semantic_highlighting import LEXICAL, MODIFIERS, TYPES, ClassifiedToken, change, classified, encoded
from vigil_lsp.text import Text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from lsp_session import Page, Session

POLICY = """/// Doc.
policy demo

use std.files: changes

let ACTS = {warp, "b c"} // why
param rate: number = 6

pattern uses(x) = action in ACTS and "odd name" != x

@message("`{x}` is 𝔸")
statement R0: bresp[30s](uses(x) and changes("é"), check(target = x, path ~ /a/i) and status = ok)
"""


def named(text: str, claims: Sequence[ClassifiedToken]) -> list[str]:
    """Each token as `text type modifier…`."""
    bits = enumerate(MODIFIERS)
    names = list(bits)
    return [
        " ".join([text[c.start : c.end], TYPES[c.kind], *(name for bit, name in names if c.modifiers >> bit & 1)])
        for c in claims
    ]


def colours(folder: Path, text: str, name: str = "p.vgl", **others: str) -> list[str]:
    """The tokens of a policy in a folder of its own."""
    project = Project(folder, {name: text, **{f"{stem}.vgl": more for stem, more in others.items()}})
    reading = project[name]
    return named(text, classified(reading, project.names.mentions(reading.module)))


def test_every_kind_of_token(tmp_path: Path) -> None:
    assert colours(tmp_path, POLICY) == [
        "/// Doc. comment documentation",
        "policy keyword", "demo namespace declaration",
        "use keyword", "std.files namespace defaultLibrary", "changes function defaultLibrary",
        "let keyword", "ACTS variable declaration readonly", "= operator", "warp enumMember", '"b c" string',
        "// why comment",
        "param keyword", "rate variable declaration readonly", "number type", "= operator", "6 number",
        "pattern keyword", "uses function declaration", "x parameter declaration", "= operator", "action keyword",
        "in keyword", "ACTS variable readonly", "and keyword", '"odd name" property', "!= operator", "x parameter",
        "@ decorator", "message decorator", '"`{ string', "x variable", '}` is 𝔸" string',
        "statement keyword", "R0 method declaration", "bresp keyword", "30s number", "uses function", "x variable",
        "and keyword", "changes function defaultLibrary", '"é" string', "check class", "target property",
        "= operator", "x variable", "path property", "~ operator", "/a/i regexp", "and keyword", "status keyword",
        "= operator", "ok keyword",
    ]  # fmt: skip


def test_words_are_what_they_stand_for(tmp_path: Path) -> None:
    text = 'param text: text = "a"\nstatement S: □ ¬(file.read(text = text) ∧ ◇⁻ prec(in in {text, error}))\n'
    assert colours(tmp_path, text) == [
        "param keyword", "text variable declaration readonly", "text type", "= operator", '"a" string',
        "statement keyword", "S method declaration", "□ operator", "¬ operator", "file.read type", "text property",
        "= operator", "text variable readonly", "∧ operator", "◇⁻ operator", "prec class", "in property", "in keyword",
        "text variable readonly", "error enumMember",
    ]  # fmt: skip


def test_tests(tmp_path: Path) -> None:
    text = 'test "t" {\n    run {\n        a: send(to = 1): net.upload -> ok\n        ask()\n    }\n'
    text += '    expect demo.S violated at a, "a.1" with x = 1\n}\n'
    policy = "policy demo\nstatement S: prec(send(to = x), ask(of = x))\n"
    assert colours(tmp_path, text, "demo_test.vgl", demo=policy) == [
        "test keyword", '"t" string', "run keyword", "a event declaration", "send class", "to property", "= operator",
        "1 number", "net.upload type", "-> operator", "ok keyword", "ask class", "expect keyword", "demo namespace",
        "S method", "violated keyword", "at keyword", "a event", '"a.1" event', "with keyword", "x variable",
        "= operator", "1 number",
    ]  # fmt: skip


def test_what_did_not_parse_keeps_its_looks(tmp_path: Path) -> None:
    text = "pattern p(x) = f = x\nstatement S: prec(p(x) and send(to = y, ✗\n@severity(\nstatement T: abs(a())\n"
    assert colours(tmp_path, text)[7:] == [
        "statement keyword", "S method declaration", "prec keyword", "p function", "x variable",
        "and keyword", "send class", "to property", "= operator", "y variable",
        "@ decorator", "severity decorator", "statement keyword", "T method declaration", "abs keyword", "a class",
    ]  # fmt: skip


def decoded(text: str, data: Sequence[int], encoding: str) -> list[str]:
    """What the protocol's numbers say, as a client reads them."""
    found, line, character = [], 0, 0
    for at in range(0, len(data), 5):
        down, right, length, kind, modifiers = data[at : at + 5]
        line, character = line + down, right if down else character + right
        start, end = types.Position(line, character), types.Position(line, character + length)
        names = [name for bit, name in enumerate(MODIFIERS) if modifiers >> bit & 1]
        found.append(" ".join([part(text, types.Range(start, end), encoding), TYPES[kind], *names]))
    return found


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_numbers_in_every_encoding(tmp_path: Path, encoding: str) -> None:
    text = POLICY.replace("// why", "// 👩\u200d🔬 why").replace('"b c"', '"𝔸"')
    project = Project(tmp_path, {"p.vgl": text})
    claims = classified(project["p.vgl"], project.names.mentions(project["p.vgl"].module))
    data = encoded(Text(text, encoding), claims)
    assert decoded(text, data, encoding) == named(text, claims)
    assert all(type(number) is int for number in data)


def test_a_carriage_return_is_no_part_of_a_token(tmp_path: Path) -> None:
    text = "// one\r\nlet A = 1 // two\rthree\r\n"
    project = Project(tmp_path, {"p.vgl": text})
    data = encoded(Text(text), classified(project["p.vgl"], project.names.mentions(project["p.vgl"].module)))
    assert [one for one in decoded(text, data, "utf-16") if "comment" in one] == [
        "// one comment", "// two comment", "three comment",
    ]  # fmt: skip


@settings(deadline=None, max_examples=60)
@given(text=policies.policies(), cut=st.floats(0, 1), noise=st.sampled_from(("", "(", '"', "}", "\r", "𝔸 ", "@")))
def test_tokens_are_in_order_and_within_lines(
    tmp_path_factory: pytest.TempPathFactory, text: str, cut: float, noise: str
) -> None:
    at = int(cut * len(text))
    text = text[:at] + noise + text[at:]
    project = Project(shared(tmp_path_factory), {"p.vgl": text})
    reading = project["p.vgl"]
    claims = classified(reading, Names([reading]).mentions(reading.module))
    assert all(one.end <= other.start for one, other in pairwise(claims))
    assert all(one.start < one.end and "\n" not in text[one.start : one.end] for one in claims)
    shown = decoded(text, encoded(Text(text, "utf-8"), claims), "utf-8")
    assert [re.sub(r"\r.*", "", one) for one in named(text, claims) if "\r" not in one] == [
        one for one in shown if one in named(text, claims)
    ] or "\r" in text


@given(st.lists(st.integers(0, 3), max_size=12), st.lists(st.integers(0, 3), max_size=12))
def test_a_change_makes_the_old_numbers_the_new_ones(old: list[int], new: list[int]) -> None:
    found = change(old, new)
    if found is None:
        assert old == new
        return
    start, deleted, data = found
    assert old[:start] + data + old[start + deleted :] == new
    assert deleted >= 0
    assert not data or not deleted or (data[0] != old[start] and data[-1] != old[start + deleted - 1])


# --- with a server ---


def augments(session: Session) -> bool:
    documents = session.profile.params(session.root).capabilities.text_document
    tokens = documents.semantic_tokens if documents is not None else None
    return tokens is not None and bool(tokens.augments_syntax_tokens)


def shown(page: Page, data: Sequence[int]) -> list[str]:
    return decoded(page.text, data, page.session.encoding)


async def test_full_range_and_changes(session: Session) -> None:
    page = await session.open(POLICY + "statement R1: abs(«chec»k(𝔸))\n")
    assert session.capabilities.semantic_tokens_provider is not None
    found = await page.ask(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL)
    full = shown(page, found.data)
    lexical = {TYPES[kind] for kind in LEXICAL}
    assert any(one.split()[-1] in lexical for one in full) is not augments(session)
    assert [one for one in full if one.startswith(("check", "R0", "x p"))] == [
        "x parameter declaration", "x parameter", "R0 method declaration", "check class", "check class",
    ]  # fmt: skip
    some = await page.ask(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE, range=page.span())
    assert shown(page, some.data) == ["check class"]
    before = found
    for old, new in (("rate", "𝔸 // x\nlet pace"), ("R1", "S1"), ("demo", "demos")):
        page.replace(old, new)
        found = await page.ask(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL_DELTA, previous_result_id=before.result_id)
        whole = await page.ask(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL)
        data = list(before.data)
        for edit in found.edits:
            data[edit.start : edit.start + edit.delete_count] = edit.data or ()
        assert data == list(whole.data)
        before = whole
    again = await page.ask(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL_DELTA, previous_result_id=before.result_id)
    assert list(again.edits) == []
    lost = await page.ask(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL_DELTA, previous_result_id="no such")
    assert list(lost.data) == list(before.data)


async def test_of_what_is_no_policy(session: Session) -> None:
    page = await session.open("{}", "a.jsonl", "jsonl")
    found = await page.ask(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL)
    assert list(found.data) == []
    line = types.Range(types.Position(0, 0), position_of("{}", 2, session.encoding))
    assert list((await page.ask(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE, range=line)).data) == []
