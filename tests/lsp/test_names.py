"""What names refer to, held against small projects."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from lsprotocol import types
from written import Project

from vigil_lsp.names import Names, everywhere
from vigil_lsp.project import Projects
from vigil_lsp.recordings import loading
from vigil_lsp.symbols import Symbol
from vigil_lsp.workspace import Workspace

if TYPE_CHECKING:
    from pathlib import Path

SHOP = """policy shop
use std.files: changes

let GOODS = {apple, GLOB, pear}
let GLOB = "M*"
param limit: number = 100
pattern buys(x, y) = pay(order = x, item in GOODS) and not free and changes(y)
pattern free = amount = 0 or coupon = voucher
pattern apple(x) = buys(x, "a") and x = x and limit = 3 and "x" = y

@message("{x} by {voucher} \\u{78} \\{x} {z}")
statement R0: prec(buys(x, z), amount < limit and name ~ GLOB)
statement R1: abs(action = apple and free and action in {buys, limit} and kind in GOODS | {x})
statement x: resp(free(), x(x = x))
"""
TILL = """policy till

use .shop: buys, limit
use .shop

statement R0: abs(buys(limit, w) and apple(free))
"""
TESTS = """use .shop
use .till

test "a" {
    set limit = 10
    run {
        first: pay(order = "A")
        pay(order = "B")
        { pay() second: pay() }
    }
    expect shop.R0, R1 violated at first, e2, "e3.1", second with x = "M"
    expect till.R0 violated at e9
}
test "b" {
    calls {
        first: Bash(command = "ls")
        user.message(text = "a")
        "pay"()
    }
    expect x violated at first.1, e2.1.1, m1 with x = "a"
}
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    texts = {"shop.vgl": SHOP, "till.vgl": TILL, "all_test.vgl": TESTS.replace('"pay"()', "pay()")}
    return Project(tmp_path_factory.mktemp("names"), texts)


def _named(project: Project, where: str) -> list[str]:
    """Every place that names what stands somewhere: file, line from 1, column from 1, and the role's first letter."""
    name, offset = project.offset(where)
    found = project.names.at(project.path(name), offset)
    assert found, where
    return _shown(project.names, found[0].symbol)


def _shown(names: Names, symbol: object) -> list[str]:
    shown = []
    for place in names.occurrences(symbol):  # type: ignore[arg-type]  # a symbol; tests pass what `at` gave
        line, column = place.source.position(place.span.start)
        file = place.source.path.rpartition("/")[2].removesuffix(".vgl")
        shown.append(f"{file}:{line}:{column}{place.role[0]}")
    return shown


def test_a_pattern_over_files(project: Project) -> None:
    expected = ["shop:7:9d", "shop:9:20r", "shop:12:20r", "till:3:12i", "till:6:19r"]
    for where in ("shop.vgl: pattern b|uys", "till.vgl: .shop: buys|,", "shop.vgl: prec(|buys", "till.vgl: abs(bu|ys"):
        assert _named(project, where) == expected


def test_a_let_is_named_in_sets_and_behind_operators(project: Project) -> None:
    assert _named(project, "shop.vgl: let GLO|B") == ["shop:4:21r", "shop:5:5d", "shop:12:58r"]
    assert _named(project, "shop.vgl: let |GOODS") == ["shop:4:5d", "shop:7:45r", "shop:13:83r"]


def test_a_param_is_named_by_tests_that_set_it(project: Project) -> None:
    expected = ["all_test:5:9r", "shop:6:7d", "shop:12:41r", "shop:13:64r", "till:3:18i", "till:6:24r"]
    assert _named(project, "shop.vgl: param |limit") == expected
    assert _named(project, "all_test.vgl: set |limit") == expected


def test_a_bare_word_is_text_where_a_pattern_is_called_so(project: Project) -> None:
    apple = ["shop:9:9d", "till:6:38r"]  # neither in the set of GOODS nor after `action =`
    assert _named(project, "shop.vgl: pattern appl|e") == apple
    for where in ("shop.vgl: {app|le", "shop.vgl: action = ap|ple", "shop.vgl: {bu|ys"):
        name, offset = project.offset(where)
        assert project.names.at(project.path(name), offset) == []


def test_a_pattern_without_parameters_is_also_named_as_an_argument_and_a_value(project: Project) -> None:
    expected = ["shop:7:60r", "shop:8:9d", "shop:13:38r", "shop:14:19r", "till:6:44r"]
    assert _named(project, "shop.vgl: pattern fre|e") == expected


def test_parameters_end_with_their_pattern(project: Project) -> None:
    assert _named(project, "shop.vgl: pattern buys(|x") == ["shop:7:14d", "shop:7:34r"]
    assert _named(project, "shop.vgl: pattern apple(|x") == ["shop:9:15d", "shop:9:25r", "shop:9:41r"]


def test_a_variable_is_named_in_the_message_and_by_tests(project: Project) -> None:
    assert _named(project, "shop.vgl: prec(buys(|x") == ["all_test:11:67r", "shop:11:12r", "shop:12:25r"]
    assert _named(project, "shop.vgl: prec(buys(x, |z") == ["shop:11:41r", "shop:12:28r"]
    assert _named(project, "shop.vgl: x(x = |x)") == ["all_test:20:51r", "shop:14:33r"]


def test_a_variable_that_a_pattern_leaves_free_is_that_of_its_statements(project: Project) -> None:
    expected = ["shop:8:39r", "shop:11:19r"]
    assert _named(project, "shop.vgl: coupon = v|oucher") == expected
    assert _named(project, "shop.vgl: {v|oucher}") == expected


def test_statements_by_short_and_long_names(project: Project) -> None:
    assert _named(project, "shop.vgl: statement R|0") == ["all_test:11:17r", "shop:12:11d"]
    assert _named(project, "all_test.vgl: till.R|0") == ["all_test:12:17r", "till:6:11d"]
    assert _named(project, "all_test.vgl: expect |x") == ["all_test:20:12r", "shop:14:11d"]


def test_a_module_is_named_by_its_line_by_uses_and_before_statements(project: Project) -> None:
    expected = ["all_test:1:5i", "all_test:11:12r", "shop:1:8d", "till:3:5i", "till:4:5i"]
    assert _named(project, "shop.vgl: policy sh|op") == expected
    assert _named(project, "all_test.vgl: expect sh|op") == expected


def test_events_and_their_steps(project: Project) -> None:
    assert _named(project, "all_test.vgl: |first: pay") == ["all_test:7:9d", "all_test:11:36r"]
    assert _named(project, "all_test.vgl: first, |e2") == ["all_test:8:9d", "all_test:11:43r"]
    assert _named(project, 'all_test.vgl: "e3|.1"') == ["all_test:9:11d", "all_test:11:48r"]
    assert _named(project, "all_test.vgl: second| with") == ["all_test:9:17d", "all_test:11:55r"]
    assert _named(project, "all_test.vgl: |first: Bash") == ["all_test:16:9d", "all_test:20:26r"]
    assert _named(project, "all_test.vgl: |m1") == ["all_test:17:9d", "all_test:20:43r"]
    assert _named(project, "all_test.vgl: e2|.1.1") == ["all_test:18:9d", "all_test:20:35r"]
    name, offset = project.offset('all_test.vgl: |pay(order = "B")')
    assert project.names.at(project.path(name), offset) == []  # the name of an action
    name, offset = project.offset("all_test.vgl: |e9")
    assert project.names.at(project.path(name), offset) == []


def test_std_modules_take_part(project: Project) -> None:
    name, offset = project.offset("shop.vgl: std.files: chan|ges")
    names = Names([project[name]])
    symbol = names.at(project.path(name), offset)[0].symbol
    places = [p for p in names.occurrences(symbol) if p.source.path == project.path(name)]
    assert [(p.source.position(p.span.start), p.role) for p in places] == [((2, 16), "import"), ((7, 69), "reference")]
    (declared,) = names.declarations(symbol)
    assert declared.source.path.endswith("std/files.vgl")
    assert declared.source.text[: declared.span.start].endswith("pattern ")


def test_tests_without_a_use_speak_of_their_namesake(tmp_path: Path) -> None:
    texts = {
        "a.vgl": "statement S: abs(f(g = x))\n",
        "a_test.vgl": 'test "t" { run { f() } expect a.S violated with x = 1 }\n',
    }
    project = Project(tmp_path, texts)
    assert _named(project, "a.vgl: statement |S") == ["a:1:11d", "a_test:1:33r"]
    assert _named(project, "a.vgl: g = |x") == ["a:1:24r", "a_test:1:49r"]
    assert _named(project, "a_test.vgl: expect |a.S") == ["a_test:1:31r"]
    name, offset = project.offset("a_test.vgl: a.|S")
    assert Names([project[name]]).at(project.path(name), offset) == []
    symbol = Names([project[name], project["a.vgl"]]).at(project.path(name), offset)[0].symbol
    assert (symbol.kind, symbol.path) == ("statement", project.path("a.vgl"))


def test_what_does_not_parse_hides_nothing_else(tmp_path: Path) -> None:
    text = (
        "pattern p(x) = f = x\nstatement A: abs(p(\nstatement B: abs(p(y))\nuse .gone: p\nstatement C: abs(q(y, r))\n"
    )
    project = Project(tmp_path, {"a.vgl": text})
    assert _named(project, "a.vgl: pattern |p") == ["a:1:9d", "a:2:18r", "a:3:18r"]
    assert _named(project, "a.vgl: q(|y") == ["a:5:20r"]


def test_first_places(project: Project) -> None:
    def first(where: str) -> list[tuple[int, int]]:
        name, offset = project.offset(where)
        (mention, *_) = project.names.at(project.path(name), offset)
        found = project.names.declarations(mention.symbol)
        return [place.source.position(place.span.start) for place in found]

    assert first('all_test.vgl: with |x = "M"') == [(12, 25)]
    assert first("shop.vgl: {v|oucher}") == [(8, 39)]
    assert first("shop.vgl: {|z}") == [(12, 28)]
    assert first("till.vgl: use |.shop:") == [(1, 8)]
    assert first("till.vgl: w|)") == [(6, 31)]


def test_items_that_do_not_parse_name_what_is_declared(tmp_path: Path) -> None:
    text = """pattern p(x) = f = x
pattern q = f = 1
let A = {a}
statement S1: abs(p(
statement S2: prec(q and A = 3 and has A and {q, A} and f in A and
statement p: abs(p(x) action = q
pattern r(p, A) = p(f) and q and f in A (
let A = A |
use .x: A,
test "p" { expect p }
"""
    project = Project(tmp_path, {"a.vgl": text})
    assert _named(project, "a.vgl: pattern |p(") == ["a:1:9d", "a:4:19r", "a:6:18r"]
    assert _named(project, "a.vgl: pattern |q") == ["a:2:9d", "a:5:20r", "a:7:28r"]
    assert _named(project, "a.vgl: let |A = {") == ["a:3:5d", "a:5:50r", "a:5:62r", "a:8:9r"]


def test_a_byte_order_mark_of_a_file_that_is_not_open_has_no_place(tmp_path: Path) -> None:
    shop = Project(tmp_path, {"lib.vgl": "pattern p = a()\n", "a.vgl": "\ufeffuse .lib: p\nstatement S: abs(p)\n"})
    reading = shop["a.vgl"]
    found = [
        reading.text.range(one.span) for one in shop.names.occurrences(Symbol("pattern", "p", shop.path("lib.vgl")))
    ]
    assert [(one.start.line, one.start.character, one.end.character) for one in found[:2]] == [(0, 10, 11), (1, 17, 18)]
    for line, character, offset in ((0, 0, 1), (0, 10, 11), (1, 0, 13)):
        assert reading.text.offset(types.Position(line, character)) == offset
    assert reading.text.position(0) == types.Position(0, 0)
    assert reading.text.line(0) == "use .lib: p"


# --- which files are looked at ---

SHARED = {
    "sub/lib.vgl": "pattern reads(x) = Read(path = x)\npattern open = file = shared\n",
    "top.vgl": "use .sub.lib: reads\nstatement S: prec(Edit(path = x), reads(x))\n",
    "whole.vgl": "use .sub.lib\nstatement S: abs(sees(x))\n",
    "joins.vgl": "use .sub.lib: open\nstatement S: abs(open and name = shared)\n",
    "top_test.vgl": 'test "t" {\n    run { Edit(path = "a") -> ok }\n    expect S violated with x = "a"\n}\n',
    "other.vgl": "statement T: abs(Edit(path = x))\n",
}


@pytest.mark.parametrize(
    ("where", "words", "seen"),
    [
        ("sub/lib.vgl: re|ads(x)", (), {"sub/lib.vgl", "top.vgl", "whole.vgl", "joins.vgl"}),
        ("top.vgl: re|ads(x))", (), {"sub/lib.vgl", "top.vgl", "whole.vgl", "joins.vgl"}),
        ("top.vgl: path = |x", (), {"top.vgl", "top_test.vgl", "whole.vgl", "joins.vgl"}),  # they have an `S`, too
        ("other.vgl: T|:", (), {"other.vgl"}),
        ("other.vgl: T|:", ("sees",), {"other.vgl", "whole.vgl"}),
        ("sub/lib.vgl: path = |x", (), {"sub/lib.vgl"}),
        ("joins.vgl: shar|ed", (), set(SHARED)),
    ],
)
def test_only_what_could_name_it_is_read(tmp_path: Path, where: str, words: tuple[str, ...], seen: set[str]) -> None:
    shop = Project(tmp_path, SHARED)
    made = Workspace()
    made.projects.folders = [shop.folder]
    name, offset = shop.offset(where)
    position = made.files.text(made.files.source(shop.path(name))).position(offset)
    found = everywhere(made, shop.uri(name), position, *words)
    assert found is not None
    assert {one.source.path for one in found[1].readings} == {shop.path(one) for one in seen}


def test_users_of_a_module_are_found_where_there_is_too_much_to_look_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vigil_lsp.project.MAX_SECONDS", -1)
    shop = Project(tmp_path, {f".skills/{name}": text for name, text in SHARED.items()})
    found = Projects()
    found.folders = [shop.folder]
    assert found.paths() == []
    assert set(found.around(shop.path(".skills/sub/lib.vgl"))) == {shop.path(f".skills/{one}") for one in SHARED}


def test_links_out_of_the_workspace_are_no_policies(tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    (tmp_path / "secret.vgl").write_text("statement A: abs(a())\n")
    (tmp_path / "inside" / "own.vgl").write_text("statement B: abs(b())\n")
    (tmp_path / "inside" / "again.vgl").symlink_to("own.vgl")
    (tmp_path / "inside" / "link.vgl").symlink_to("../secret.vgl")
    found = Projects()
    found.folders = [tmp_path / "inside"]
    own = str(tmp_path / "inside" / "own.vgl")
    for paths in (found.paths(), found.around(own)):
        assert {path.rpartition("/")[2] for path in paths} == {"own.vgl", "again.vgl"}


def test_links_out_of_a_project_are_no_runs(tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    for path in ("secret.jsonl", "inside/own.jsonl"):
        (tmp_path / path).write_text('{"action":"a"}\n')
    (tmp_path / "inside" / "link.jsonl").symlink_to("../secret.jsonl")
    found = loading.find([str(tmp_path / "inside" / "*.jsonl")], str(tmp_path / "inside"))
    assert found.files == [str(tmp_path / "inside" / "own.jsonl")]
    assert [at for at, _ in found.missing] == [0]
