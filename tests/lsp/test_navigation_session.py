"""Navigation through a real server, as editors ask for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

if TYPE_CHECKING:
    from lsp_session import Page, Session

SHOP = """// 𝔸 é
use .lib: both
let GOODS = {"𝔸", pear}
pattern buys(x) = pay(order = x, note = "𝔸𝔸") and both(x, x)
/// The rule.
@source("SKILL.md", "Every order is paid first.")
@message("𝔸 {z}")
statement R0: prec(buys(z), check(a = "𝔸", item in GOODS, o = z))
"""
LIB = "pattern both(x, y) = f = x and g = y\n"
TESTS = 'test "𝔸" {\n    run "a.jsonl"\n    expect R0 violated at e1 with z = "M"\n}\n'


async def _open(session: Session) -> Page:
    session.write("vigil.toml", "")
    session.write("lib.vgl", LIB)
    session.write("a.jsonl", "{}\n")
    session.write("SKILL.md", "# 𝔸\n\n𝔸. Every order is *paid* first.\n")
    session.write("shop_test.vgl", TESTS)
    session.changed("vigil.toml", "lib.vgl", "a.jsonl", "SKILL.md", "shop_test.vgl", how=types.FileChangeType.Created)
    return await session.open(SHOP, "shop.vgl")


def _parts(page: Page, found: list[types.Location]) -> list[tuple[str, str]]:
    """File and text of each location."""
    session = page.session
    pages = {name: type(page)(session, session.uri(name), session.text(session.uri(name)), []) for name in FILES}
    return [(session.name(one.uri), pages[session.name(one.uri)].part(one.range)) for one in found]


FILES = ("shop.vgl", "lib.vgl", "shop_test.vgl", "SKILL.md", "a.jsonl")


async def _definition(page: Page, text: str, number: int = 0) -> list[tuple[str, str]]:
    found = await page.ask(types.TEXT_DOCUMENT_DEFINITION, page.find(text, number).start)
    plain = [
        types.Location(one.target_uri, one.target_selection_range) if isinstance(one, types.LocationLink) else one
        for one in found
    ]
    return _parts(page, plain)


async def test_definition(session: Session) -> None:
    page = await _open(session)
    assert await _definition(page, "buys(z") == [("shop.vgl", "buys")]
    assert await _definition(page, "both(x, x") == [("lib.vgl", "both")]
    assert await _definition(page, ".lib") == [("lib.vgl", "")]
    assert await _definition(page, "z)", 1) == [("shop.vgl", "z")]
    assert await _definition(page, "SKILL.md") == [("SKILL.md", "Every order is *paid* first.")]
    assert await _definition(page, "check") == []
    tests = await session.open(TESTS, "shop_test.vgl")
    assert await _definition(tests, "R0") == [("shop.vgl", "R0")]
    assert await _definition(tests, "a.jsonl") == [("a.jsonl", "")]


async def test_definition_follows_what_is_typed_in_another_file(session: Session) -> None:
    page = await _open(session)
    lib = await session.open(LIB, "lib.vgl")
    lib.change(0, 0, "// 𝔸\nlet 𝔸 =\n")
    assert await _definition(page, "both(x, x") == [("lib.vgl", "both")]


async def test_references(session: Session) -> None:
    page = await _open(session)
    lib = await session.open(LIB, "lib.vgl")
    context = types.ReferenceContext
    found = await lib.ask(types.TEXT_DOCUMENT_REFERENCES, lib.find("both").start, context=context(True))
    assert _parts(lib, found) == [("lib.vgl", "both"), ("shop.vgl", "both"), ("shop.vgl", "both")]
    found = await page.ask(types.TEXT_DOCUMENT_REFERENCES, page.find("R0").start, context=context(False))
    assert _parts(page, found) == [("shop_test.vgl", "R0")]


async def test_highlight(session: Session) -> None:
    page = await _open(session)
    found = await page.ask(types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT, page.find("buys(z").start)
    kinds = types.DocumentHighlightKind
    assert [(page.part(one.range), one.range.start.line, one.kind) for one in found] == [
        ("buys", 3, kinds.Write),
        ("buys", 7, kinds.Read),
    ]
    found = await page.ask(types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT, page.find("{z").end)
    assert [(page.part(one.range), one.range.start.line) for one in found] == [("z", 6), ("z", 7), ("z", 7)]


async def test_rename_across_files(session: Session) -> None:
    page = await _open(session)
    at = page.find("both(x, x").start
    prepared = await page.ask(types.TEXT_DOCUMENT_PREPARE_RENAME, at)
    assert (page.part(prepared.range), prepared.placeholder) == ("both", "both")
    edit = await page.ask(types.TEXT_DOCUMENT_RENAME, at, new_name="each")
    assert session.after(edit) == {"lib.vgl": LIB.replace("both", "each"), "shop.vgl": SHOP.replace("both", "each")}
    if edit.document_changes is not None:
        versions = {session.name(one.text_document.uri): one.text_document.version for one in edit.document_changes}
        assert versions == {"lib.vgl": None, "shop.vgl": 1}
    edit = await page.ask(types.TEXT_DOCUMENT_RENAME, page.find("{z").end, new_name="order_id")
    assert session.after(edit) == {
        "shop.vgl": SHOP.replace("{z}", "{order_id}").replace("z)", "order_id)"),
        "shop_test.vgl": TESTS.replace("with z", "with order_id"),
    }


async def _refused(page: Page, text: str, new: str | None = None) -> Any:
    at = page.find(text).start
    method = types.TEXT_DOCUMENT_PREPARE_RENAME if new is None else types.TEXT_DOCUMENT_RENAME
    with pytest.raises(JsonRpcException) as caught:
        await page.ask(method, at, **({} if new is None else {"new_name": new}))
    assert caught.value.code == types.LSPErrorCodes.RequestFailed
    return caught.value.message


async def test_rename_is_refused_with_a_reason(session: Session) -> None:
    page = await _open(session)
    assert await _refused(page, "order =") == "`order` is an argument of recorded calls: it is called as they call it"
    assert await _refused(page, "GOODS", "pear") == "`pear` in shop.vgl, line 3 would mean something else"
    assert await _refused(page, "GOODS", "not") == "`not` is a word of the language"
    assert await _refused(page, "GOODS", "𝔸") == (
        "A name is letters, digits and `_`, with single `.` or `-` inside, and does not begin with a digit"
    )


async def test_document_symbols(session: Session) -> None:
    page = await _open(session)
    found = await page.ask(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    assert [one.name for one in found] == [".lib", "GOODS", "buys", "R0"]
    for one in found:
        whole = one.range if isinstance(one, types.DocumentSymbol) else one.location.range
        assert page.part(whole).endswith(SHOP.splitlines()[whole.end.line])
        if isinstance(one, types.DocumentSymbol):
            assert page.part(one.selection_range) == one.name
    if isinstance(found[2], types.DocumentSymbol):
        assert [child.name for child in found[2].children] == ["x"]
        assert (found[3].detail, page.part(found[3].range).partition("\n")[0]) == ("prec", "/// The rule.")


async def test_workspace_symbols(session: Session) -> None:
    await _open(session)
    found = await session.ask(types.WORKSPACE_SYMBOL, types.WorkspaceSymbolParams("both"))
    ours = [one for one in found if one.location.uri == session.uri("lib.vgl")]
    assert [(one.name, one.kind, one.container_name) for one in ours] == [("both", types.SymbolKind.Function, "lib")]
    found = await session.ask(types.WORKSPACE_SYMBOL, types.WorkspaceSymbolParams("usrcnfrms"))
    assert [(one.name, one.container_name) for one in found] == [
        ("user_confirms", "std.confirmation (standard library)"),
        ("user_confirms_about", "std.confirmation (standard library)"),
    ]


async def test_folding(session: Session) -> None:
    page = await session.open("// 𝔸\n// b\n\nlet A = {\n    a,\n}\nstatement S: abs(a(f in A))\n")
    found = await page.ask(types.TEXT_DOCUMENT_FOLDING_RANGE)
    assert [(one.start_line, one.end_line, one.kind) for one in found] == [(0, 1, "comment"), (3, 4, None)]


async def test_selection_ranges(session: Session) -> None:
    page = await _open(session)
    (found,) = await page.ask(types.TEXT_DOCUMENT_SELECTION_RANGE, positions=[page.find("𝔸𝔸").start])
    texts = []
    while found is not None:
        texts.append(page.part(found.range))
        found = found.parent
    body = 'pay(order = x, note = "𝔸𝔸") and both(x, x)'
    call = 'pay(order = x, note = "𝔸𝔸")'
    assert texts == ["𝔸𝔸", '"𝔸𝔸"', 'note = "𝔸𝔸"', call, body, f"pattern buys(x) = {body}", SHOP]


async def test_document_links(session: Session) -> None:
    page = await _open(session)
    found = await page.ask(types.TEXT_DOCUMENT_DOCUMENT_LINK)
    assert [(page.part(one.range), one.target) for one in found] == [
        (".lib", session.uri("lib.vgl")),
        ("SKILL.md", f"{session.uri('SKILL.md')}#L3"),
    ]
    tests = await session.open(TESTS, "shop_test.vgl")
    (link,) = await tests.ask(types.TEXT_DOCUMENT_DOCUMENT_LINK)
    assert (tests.part(link.range), link.target) == ("a.jsonl", session.uri("a.jsonl"))


async def test_call_hierarchy(session: Session) -> None:
    page = await _open(session)
    (item,) = await page.ask(types.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY, page.find("both(x, x").start)
    assert (item.name, item.kind, item.uri) == ("both", types.SymbolKind.Function, session.uri("lib.vgl"))
    (call,) = await session.ask(types.CALL_HIERARCHY_INCOMING_CALLS, types.CallHierarchyIncomingCallsParams(item))
    assert (call.from_.name, call.from_.detail) == ("buys", "shop")
    assert [page.part(one) for one in call.from_ranges] == ["both"]
    (call,) = await session.ask(types.CALL_HIERARCHY_INCOMING_CALLS, types.CallHierarchyIncomingCallsParams(call.from_))
    assert (call.from_.name, call.from_.kind) == ("R0", types.SymbolKind.Event)
    (call,) = await session.ask(types.CALL_HIERARCHY_OUTGOING_CALLS, types.CallHierarchyOutgoingCallsParams(call.from_))
    assert (call.to.name, [page.part(one) for one in call.from_ranges]) == ("buys", ["buys"])


async def test_items_that_the_server_did_not_make(session: Session) -> None:
    page = await _open(session)
    at = page.find("buys")
    for data in (None, 3, {"kind": "pattern"}, {"kind": "pattern", "name": "a", "path": "\0", "from": "x:\0"}):
        item = types.CallHierarchyItem("a", types.SymbolKind.Function, page.uri, at, at, data=data)
        params = types.CallHierarchyOutgoingCallsParams(item)
        assert not await session.ask(types.CALL_HIERARCHY_OUTGOING_CALLS, params)
