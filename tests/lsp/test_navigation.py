"""Definition, references, outlines, folds, selections, links and the call hierarchy, without a server."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lsprotocol.types import FoldingRangeKind, SymbolKind
from written import Project, shared

from tests.strategies import trees
from vigil_lang.documents.library import Library
from vigil_lang.syntax.print import to_text
from vigil_lsp.features.call_hierarchy import callable_at, incoming, outgoing
from vigil_lsp.features.definition import definitions
from vigil_lsp.features.document_link import links
from vigil_lsp.features.document_symbol import Entry, outline
from vigil_lsp.features.folding import folds
from vigil_lsp.features.highlight import highlights
from vigil_lsp.features.references import references
from vigil_lsp.features.selection_range import selections
from vigil_lsp.features.workspace_symbol import matching
from vigil_lsp.quotations import passage, quotations, recording

if TYPE_CHECKING:
    from pathlib import Path

    from vigil_lang.syntax import tree

SHOP = """/// The shop.
@source("SKILL.md", "Nothing of this is there, not one word")
policy shop

use std.files: changes
use .lib: both

// One comment,
// and its second line.
let GOODS = {
    apple,
    pear,
}
param limit: number = 7
/// Buys.
pattern buys(x, y) = pay(order = x)
    and both(x, y)
@source(
    "SKILL.md",
    "Every order is paid first."
)
@message("{z}")
statement R0: prec(buys(z, w), status = ok and (changes(z) or amount < limit))
statement R3: bresp[3](buys(z, "a"), a(b = "d e"))
pattern half(
"""
LIB = "pattern one(x) = f = x\npattern both(x, y) = one(x) and one(y) and g in {x}\n"
TESTS = """use .shop

test "pays 𝔸" {
    run "runs/a.jsonl#monday"
    expect R0, R3 satisfied
    expect shop.R0 violated at e1 with z = "M"
}
test "events" {
    run {
        {
            pay(order = "A")
        }
        first: pay(
            order = "B"
        )
    }
    expect R3 vacuous
}
"""
SKILL = "# Shop\n\nHello there. *Every* order is\npaid first. Bye.\n"
TEXTS = {
    "policies/shop.vgl": SHOP,
    "policies/lib.vgl": LIB,
    "policies/shop_test.vgl": TESTS,
    "policies/SKILL.md": SKILL,
    "policies/runs/a.jsonl": "{}\n",
    "vigil.toml": "",
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return Project(tmp_path_factory.mktemp("navigation"), TEXTS)


def _defined(project: Project, where: str) -> list[tuple[str, str, str, str]]:
    """Of each definition: the text that leads there, the file, the text that is chosen and the first line shown."""
    name, offset = project.offset(f"policies/{where}")
    reading = project[name]
    found = []
    for one in definitions(project.names, reading, offset, Library()):
        file = one.source.path.rpartition("/")[2]
        text = one.source.text
        shown = text[slice(*one.span)].partition("\n")[0]
        found.append((reading.source.text[slice(*one.origin)], file, text[slice(*one.name)], shown))
    return found


def test_definitions_of_names(project: Project) -> None:
    assert _defined(project, "shop.vgl: prec(bu|ys") == [
        ("buys", "shop.vgl", "buys", "pattern buys(x, y) = pay(order = x)")
    ]
    assert _defined(project, "shop.vgl: and bo|th") == [("both", "lib.vgl", "both", LIB.splitlines()[1])]
    assert _defined(project, "shop.vgl: lib: bot|h") == [("both", "lib.vgl", "both", LIB.splitlines()[1])]
    assert _defined(project, "shop.vgl: < |limit") == [("limit", "shop.vgl", "limit", "param limit: number = 7")]
    assert _defined(project, "shop.vgl: order = |x") == [("x", "shop.vgl", "x", "x")]
    ((origin, file, chosen, _),) = _defined(project, "shop.vgl: (cha|nges(z)")
    assert (origin, file, chosen) == ("changes", "files.vgl", "changes")
    ((_, file, chosen, shown),) = _defined(project, "shop_test.vgl: shop.R|0")
    assert (file, chosen, shown) == ("shop.vgl", "R0", "@source(")


def test_definitions_of_modules_variables_and_events(project: Project) -> None:
    assert _defined(project, "shop.vgl: use |std.files") == [("std.files", "files.vgl", "std.files", "std.files")]
    assert _defined(project, "shop.vgl: .l|ib") == [(".lib", "lib.vgl", "", "")]
    assert _defined(project, "shop_test.vgl: |.shop") == [(".shop", "shop.vgl", "shop", "shop")]
    name, offset = project.offset("policies/shop.vgl: {|z}")
    (found,) = definitions(project.names, project[name], offset, Library())
    assert found.source.path == project.path(name)
    assert found.name.start == SHOP.index("z, w")
    assert _defined(project, "shop_test.vgl: |z = ")[0][1:3] == ("shop.vgl", "z")
    assert _defined(project, "shop_test.vgl: first|: ") == [("first", "shop_test.vgl", "first", "first")]


def test_definitions_of_quotations_and_recordings(project: Project) -> None:
    quoted = "Every* order is\npaid first."
    for where in ('shop.vgl: |"Every', "shop.vgl: paid| first"):
        ((origin, file, chosen, _),) = _defined(project, where)
        assert (origin, file, chosen) == ('"Every order is paid first."', "SKILL.md", quoted)
    assert _defined(project, "shop_test.vgl: a.|jsonl") == [('"runs/a.jsonl#monday"', "a.jsonl", "", "")]
    for where in ("shop.vgl: |status = ok", "shop.vgl: |let", "shop.vgl: // One| comment", 'shop.vgl: "d |e"'):
        assert _defined(project, where) == []


def test_references_with_and_without_the_declaration(project: Project) -> None:
    name, offset = project.offset("policies/shop.vgl: prec(|buys")
    found = references(project.names, project[name], offset, declarations=True)
    assert [place.span.start for place in found] == [
        SHOP.index("buys(x"), SHOP.index("buys(z, w"), SHOP.index('buys(z, "a"')
    ]  # fmt: skip
    assert references(project.names, project[name], offset, declarations=False) == found[1:]
    name, offset = project.offset("policies/lib.vgl: both|(")
    files = [
        p.source.path.rpartition("/")[2] for p in references(project.names, project[name], offset, declarations=True)
    ]
    assert files == ["lib.vgl", "shop.vgl", "shop.vgl"]


def test_highlights_stay_in_the_document(project: Project) -> None:
    def lit(where: str) -> list[tuple[int, str]]:
        name, offset = project.offset(f"policies/{where}")
        return [(span.start, role) for span, role in highlights(project.names, project[name], offset)]

    assert lit("shop.vgl: para|m limit") == []
    assert lit("shop.vgl: param |limit") == [
        (SHOP.index("limit:"), "declaration"),
        (SHOP.index("limit))"), "reference"),
    ]
    z = [SHOP.index("{z}") + 1, SHOP.index("z, w"), SHOP.index("z) or")]
    assert lit("shop.vgl: {|z}") == [(at, "reference") for at in z]
    assert lit("shop.vgl: lib: |both")[0] == (SHOP.index("both\n"), "import")


def _lines(entries: list[Entry]) -> list[tuple[str, SymbolKind, str]]:
    return [(entry.name, entry.kind, entry.detail) for entry in entries]


def test_outline(project: Project) -> None:
    entries = outline(project["policies/shop.vgl"])
    assert _lines(entries) == [
        ("std.files", SymbolKind.Module, "changes"),
        (".lib", SymbolKind.Module, "both"),
        ("GOODS", SymbolKind.Constant, "{apple, pear}"),
        ("limit", SymbolKind.Property, "number = 7"),
        ("buys", SymbolKind.Function, "(x, y)"),
        ("R0", SymbolKind.Event, "prec"),
        ("R3", SymbolKind.Event, "bresp[3]"),
        ("half", SymbolKind.Function, "does not parse"),
    ]
    assert _lines(list(entries[4].children)) == [("x", SymbolKind.Variable, ""), ("y", SymbolKind.Variable, "")]
    assert SHOP[slice(*entries[4].span)].startswith("/// Buys.\npattern")
    assert SHOP[slice(*entries[5].span)].startswith("@source(")
    assert SHOP[slice(*entries[7].span)] == "pattern half("
    assert _lines(outline(project["policies/shop_test.vgl"])) == [
        (".shop", SymbolKind.Module, ""),
        ("pays 𝔸", SymbolKind.Method, "R0, R3 satisfied; shop.R0 violated"),
        ("events", SymbolKind.Method, "R3 vacuous"),
    ]


def test_outline_of_hostile_names(tmp_path: Path) -> None:
    text = 'test "" { run { } }\ntest "a\\nb\\u{202e}" { }\ntest "' + "x" * 200 + '" { }\nuse\ntest "open\n'
    found = outline(Project(tmp_path, {"a_test.vgl": text})["a_test.vgl"])
    assert [entry.name for entry in found] == ['""', "a\\nb\\u{202e}", "x" * 79 + "…"]


def test_workspace_symbols(project: Project) -> None:
    readings = [project["policies/shop.vgl"], project["policies/lib.vgl"]]
    readings += [r for name in ("policies/shop.vgl",) for r in [project[name]] if r not in readings]

    def found(query: str) -> list[str]:
        return [one.entry.name for one in matching(query, readings)]

    assert found("b") == ["both", "buys"]
    assert found("BUYS") == ["buys"]
    assert found("o") == ["one", "GOODS", "both"]
    assert found("bt") == ["both"]
    assert found("gos") == ["GOODS"]
    assert found("lib") == []
    assert found("nothing") == []
    assert found("") == ["GOODS", "R0", "R3", "both", "buys", "half", "limit", "one"]


def test_folds(project: Project) -> None:
    def shown(name: str) -> list[tuple[str, str, FoldingRangeKind | None]]:
        text = project[name].text
        return [(text.line(f.start).strip(), text.line(f.end).strip(), f.kind) for f in folds(project[name])]

    assert shown("policies/shop.vgl") == [
        ("use std.files: changes", "use .lib: both", FoldingRangeKind.Imports),
        ("// One comment,", "// and its second line.", FoldingRangeKind.Comment),
        ("let GOODS = {", "pear,", None),
        ("pattern buys(x, y) = pay(order = x)", "and both(x, y)", None),
        ("@source(", '"Every order is paid first."', None),
    ]
    assert shown("policies/shop_test.vgl") == [
        ('test "pays 𝔸" {', 'expect shop.R0 violated at e1 with z = "M"', None),
        ('test "events" {', "expect R3 vacuous", None),
        ("run {", ")", None),
        ("{", 'pay(order = "A")', None),
        ("first: pay(", 'order = "B"', None),
    ]


def _selected(project: Project, where: str) -> list[str]:
    name, offset = project.offset(f"policies/{where}")
    return [project.texts[name][slice(*span)] for span in selections(project[name], offset)]


def test_selections(project: Project) -> None:
    body = SHOP[SHOP.index("pay(order") : SHOP.index("@source(\n") - 1]
    item = f"pattern buys(x, y) = {body}"
    assert _selected(project, "shop.vgl: order = |x") == [
        "x",
        "order = x",
        "pay(order = x)",
        body,
        item,
        "/// Buys.\n" + item,
        SHOP,
    ]
    statement = 'statement R3: bresp[3](buys(z, "a"), a(b = "d e"))'
    call = 'a(b = "d e")'
    assert _selected(project, 'shop.vgl: "d| e"') == [
        "d e", '"d e"', 'b = "d e"', call, f'bresp[3](buys(z, "a"), {call})', statement, SHOP
    ]  # fmt: skip
    assert _selected(project, "shop.vgl: half|(") == ["half", "pattern half(", SHOP]
    assert _selected(project, "shop.vgl: // One| comment") == [
        "// One comment,",
        SHOP[SHOP.index("use .lib") : SHOP.index("\nlet")],
        SHOP,
    ]


def test_links(project: Project) -> None:
    def linked(name: str) -> list[tuple[str, str, int | None]]:
        text = project.texts[name]
        found = links(project[name], Library())
        return [(text[slice(*link.span)], link.path.rpartition("/")[2], link.line) for link in found]

    assert linked("policies/shop.vgl") == [
        ("std.files", "files.vgl", None),
        (".lib", "lib.vgl", None),
        ("SKILL.md", "SKILL.md", 1),
        ("SKILL.md", "SKILL.md", 3),
    ]
    assert linked("policies/shop_test.vgl") == [(".shop", "shop.vgl", None), ("runs/a.jsonl#monday", "a.jsonl", None)]


def test_what_is_quoted_from_nowhere(tmp_path: Path) -> None:
    text = """@source("gone.md", "a")
@source("https://example.org", "a")
@source("../../etc/passwd", "a")
@source("\\q", "a")
@source("SKILL.md")
@source(3)
@source
statement S: abs(a())
"""
    project = Project(tmp_path, {"p/a.vgl": text, "p/SKILL.md": "One. Two.\n", "vigil.toml": ""})
    reading = project["p/a.vgl"]
    found = {q.file: passage(Library(), reading.source.path, q) for q in quotations(reading.file)}
    assert {name: place and place[1] for name, place in found.items()} == {
        "gone.md": None, "https://example.org": None, "../../etc/passwd": None, "SKILL.md": (0, 0)
    }  # fmt: skip
    for name in ("", ".", "a\0b", "../../../etc/passwd", "gone.jsonl", "#" * 100, "SKILL.md#a"):
        assert (recording(reading.source.path, name) is not None) == (name == "SKILL.md#a")


def test_call_hierarchy(project: Project) -> None:
    def calls(where: str) -> tuple[dict[str, int], dict[str, int]]:
        name, offset = project.offset(f"policies/{where}")
        symbol = callable_at(project.names, project[name], offset)
        assert symbol is not None
        into, out = incoming(project.names, symbol), outgoing(project.names, symbol)
        return {s.name: len(p) for s, p in into.items()}, {s.name: len(p) for s, p in out.items()}

    assert calls("lib.vgl: pattern bo|th") == ({"buys": 1}, {"one": 2})
    assert calls("shop.vgl: prec(|buys") == ({"R0": 1, "R3": 1}, {"both": 1})
    assert calls("shop.vgl: statement |R0") == ({}, {"buys": 1, "changes": 1})
    name, offset = project.offset("policies/shop.vgl: let |GOODS")
    assert callable_at(project.names, project[name], offset) is None


@settings(deadline=None, max_examples=60)
@given(trees.files(), st.data())
def test_any_file_can_be_walked(tmp_path_factory: pytest.TempPathFactory, file: tree.File, data: st.DataObject) -> None:
    text = to_text(file)
    cut = data.draw(st.integers(0, len(text)))
    text = data.draw(st.sampled_from([text, text[:cut], text[cut:]]))
    project = Project(shared(tmp_path_factory), {"tree_test.vgl": text})
    reading = project["tree_test.vgl"]
    for entry in outline(reading):
        assert entry.name
        assert entry.span.start <= entry.chosen.start <= entry.chosen.end <= entry.span.end
        assert all(entry.span.start <= child.span.start <= child.span.end <= entry.span.end for child in entry.children)
    assert all(fold.start < fold.end < reading.text.lines for fold in folds(reading))
    offset = data.draw(st.integers(0, len(text)))
    spans = selections(reading, offset)
    assert spans[-1] == (0, len(text))
    assert all(inner != outer for inner, outer in pairwise(spans))
    names = project.names
    definitions(names, reading, offset, Library())
    references(names, reading, offset, declarations=True)
    assert all(text[slice(*span)] for span, _ in highlights(names, reading, offset))
