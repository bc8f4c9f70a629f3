"""Messages that no client should send: each request gets exactly one answer, and the session goes on."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from lsp_wire import error

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Wired
    from lsp_session import Session
    from lsp_wire import Wire

PARSE_ERROR, INVALID_REQUEST, NO_METHOD, INVALID_PARAMS, NOT_INITIALIZED = -32700, -32600, -32601, -32602, -32002
CANCELLED = -32800

HOVER = "textDocument/hover"
PLACE = {"textDocument": {"uri": "file:///nowhere/p.vgl"}, "position": {"line": 0, "character": 0}}


async def lives(wire: Wire) -> None:
    """Asserts that the server answers what is right."""
    answer = await wire.call("textDocument/definition", PLACE)
    assert answer == {"jsonrpc": "2.0", "id": answer["id"], "result": None}


async def test_requests_before_initialize(wired: Wired, tmp_path: Path) -> None:
    wire = await wired()
    wire.open("file:///p.vgl", "statement")  # dropped, as the protocol wants it
    for method in (HOVER, "shutdown", "workspace/symbol", "vigil/unknown", "textDocument/diagnostic"):
        assert error(await wire.call(method, {})) == NOT_INITIALIZED, method
    await wire.begin(tmp_path)
    await lives(wire)


async def test_requests_after_shutdown(wired: Wired, tmp_path: Path) -> None:
    wire = await wired()
    await wire.begin(tmp_path)
    await wire.call("shutdown")
    assert error(await wire.call(HOVER, PLACE)) == INVALID_REQUEST
    assert error(await wire.call("shutdown")) == INVALID_REQUEST
    wire.notify("exit")
    assert await wire.ended() == 0


async def test_a_second_initialize(wired: Wired, tmp_path: Path) -> None:
    wire = await wired()
    await wire.begin(tmp_path)
    assert error(await wire.call("initialize", {"processId": None, "rootUri": None, "capabilities": {}}))
    await lives(wire)


@pytest.mark.parametrize(
    ("body", "request_id", "code"),
    [
        (b"{", None, PARSE_ERROR),
        (b"\xff\xfe", None, PARSE_ERROR),
        (b'{"jsonrpc": "2.0", "id": 7, "method": "shutdown"', None, PARSE_ERROR),
        (b"[" * 100_000, None, PARSE_ERROR),
        (b"7", None, INVALID_REQUEST),
        (b"[]", None, INVALID_REQUEST),
        (b"null", None, INVALID_REQUEST),
        (b"{}", None, INVALID_REQUEST),
        (b'{"id": "a", "method": "shutdown"}', "a", INVALID_REQUEST),
        (b'{"jsonrpc": "1.0", "id": "a", "method": "shutdown"}', "a", INVALID_REQUEST),
        (b'{"jsonrpc": "2.0", "id": "a", "method": 3}', "a", INVALID_REQUEST),
        (b'{"jsonrpc": "2.0", "id": [1], "method": "shutdown"}', None, INVALID_REQUEST),
        (b'{"jsonrpc": "2.0", "id": null, "method": "shutdown"}', None, INVALID_REQUEST),
        (b'{"jsonrpc": "2.0", "id": "a", "method": "vigil/unknown"}', "a", NO_METHOD),
        (b'{"jsonrpc": "2.0", "id": "a", "method": "\\u0000"}', "a", NO_METHOD),
        (b'{"jsonrpc": "2.0", "id": "a", "method": "$/unknown"}', "a", NO_METHOD),
        (b'{"jsonrpc": "2.0", "id": "a", "method": "textDocument/hover"}', "a", INVALID_PARAMS),
        (b'{"jsonrpc": "2.0", "id": "a", "method": "textDocument/hover", "params": []}', "a", INVALID_PARAMS),
        (b'{"jsonrpc": "2.0", "id": "a", "method": "textDocument/hover", "params": "x"}', "a", INVALID_PARAMS),
        (
            b'{"jsonrpc": "2.0", "id": "a", "method": "textDocument/hover", "params": {"textDocument": {"uri": 3}, '
            b'"position": {"line": "x", "character": {}}}}',
            "a",
            INVALID_PARAMS,
        ),
    ],
    ids=lambda value: value[:60].decode("latin-1") if isinstance(value, bytes) else None,
)
async def test_malformed_messages(session_wire: Wire, body: bytes, request_id: str | None, code: int) -> None:
    session_wire.send(body)
    answer = await session_wire.response(request_id)
    assert (answer["id"], error(answer)) == (request_id, code)
    assert "Traceback" not in json.dumps(answer)
    await lives(session_wire)


@pytest.mark.parametrize(
    "message",
    [
        {"jsonrpc": "2.0", "method": "vigil/unknown"},
        {"jsonrpc": "2.0", "method": "$/setTrace", "params": {"value": "nonsense"}},
        {"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": 999_999}},
        {"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {}},
        {"jsonrpc": "2.0", "method": "$/progress", "params": {"token": 1, "value": None}},
        {"jsonrpc": "2.0", "method": "textDocument/didChange", "params": {"contentChanges": 3}},
        {
            "jsonrpc": "2.0",
            "method": "textDocument/didChange",
            "params": {
                "textDocument": {"uri": "file:///never/opened.vgl", "version": 2},
                "contentChanges": [{"text": "x"}],
            },
        },
        {"jsonrpc": "2.0", "method": "textDocument/didClose", "params": {"textDocument": {"uri": "file:///never.vgl"}}},
        {"jsonrpc": "2.0", "method": "textDocument/didSave", "params": {"textDocument": {"uri": "file:///never.vgl"}}},
        {"jsonrpc": "2.0", "method": "textDocument/didOpen"},
        {"jsonrpc": "2.0", "id": 999_999, "result": {"nobody": "asked"}},
        {"jsonrpc": "2.0", "id": 999_999, "error": {"code": 1, "message": "x"}},
        {"jsonrpc": "2.0", "id": 999_999, "error": "x"},
        {"jsonrpc": "2.0", "id": None, "error": {"code": 1, "message": "x"}},
    ],
    ids=lambda message: json.dumps(message)[18:80],
)
async def test_what_needs_no_answer_gets_none(session_wire: Wire, message: dict[str, Any]) -> None:
    before = len(session_wire.responses)
    session_wire.send(message)
    await lives(session_wire)
    assert len(session_wire.responses) == before + 1


@pytest.mark.parametrize(
    "headers",
    [
        b"Content-Length: %d\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n",
        b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: %d\r\n\r\n",
        b"content-length: %d\r\n\r\n",
        b"Content-Length:%d\r\n\r\n",
        b"X-Unknown: 1\r\nContent-Length: %d\r\n\r\n",
        b"nonsense\r\n\r\nContent-Length: %d\r\n\r\n",
        b"Content-Length: x\r\n\r\nContent-Length: %d\r\n\r\n",
        b"Content-Length: -5\r\n\r\nContent-Length: %d\r\n\r\n",
        b"Content-Length: 0\r\n\r\nContent-Length: %d\r\n\r\n",
        b"\r\n\r\nContent-Length: %d\r\n\r\n",
        b"\xff\x00\xfe\r\nContent-Length: %d\r\n\r\n",
    ],
    ids=str,
)
async def test_headers(session_wire: Wire, headers: bytes) -> None:
    """A header that says nothing is passed over; the next message is understood."""
    body = json.dumps({"jsonrpc": "2.0", "id": "h", "method": "textDocument/definition", "params": PLACE}).encode()
    session_wire.raw(headers % len(body) + body)
    assert (await session_wire.response("h"))["result"] is None


async def test_a_cancelled_request_is_answered_once(wired: Wired, tmp_path: Path) -> None:
    """Sent together with what cancels it, a request that has to wait is given up."""
    wire = await wired()
    await wire.begin(tmp_path)
    policy = "".join(f"statement S{n}: prec(Edit(path = x, n != {n}), Read(path = x))\n" for n in range(400))
    uri = (tmp_path / "p.vgl").as_uri()
    wire.open(uri, policy)
    asked = wire.ask("textDocument/diagnostic", {"textDocument": {"uri": uri}})
    wire.notify("$/cancelRequest", {"id": asked})
    answer = await wire.response(asked)
    assert error(answer) == CANCELLED
    again = await wire.call("textDocument/diagnostic", {"textDocument": {"uri": uri}})
    assert again["result"]["kind"] == "full"
    assert [found["id"] for found in wire.responses].count(asked) == 1


async def test_every_request_that_is_cancelled_is_answered_once(session_wire: Wire, tmp_path: Path) -> None:
    uri = (tmp_path / "c.vgl").as_uri()
    session_wire.open(uri, "statement S: abs(Send())\n")
    asked = []
    for method in (HOVER, "textDocument/diagnostic", "textDocument/documentSymbol", "textDocument/codeLens") * 5:
        asked.append(session_wire.ask(method, {**PLACE, "textDocument": {"uri": uri}}))
        session_wire.notify("$/cancelRequest", {"id": asked[-1]})
    await session_wire.response(asked[-1])
    while {found["id"] for found in session_wire.responses} < set(asked):
        await session_wire.receive()
    codes = {found["id"]: error(found) for found in session_wire.responses}
    assert {codes[number] for number in asked} <= {None, CANCELLED}
    assert all([found["id"] for found in session_wire.responses].count(number) == 1 for number in asked)
    session_wire.notify("textDocument/didClose", {"textDocument": {"uri": uri}})


# What a parameter may be instead of what it should be.
ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from([-1, 0, 1, 2**31, 2**63, 10**30, 0.5, 1e300]),
    # As a folder of the workspace, this one is small: the whole disk has what others wrote there, and lasts.
    st.sampled_from(["", "x", "file:///dev/", "file:///etc/passwd"]),
    st.sampled_from(["untitled:Untitled-1", "\ud800", "\0", "//host/share"]),
    st.lists(st.none() | st.integers(-1, 3), max_size=2),
    st.dictionaries(st.sampled_from(["uri", "line", "text", "range", "x"]), st.none() | st.integers(-1, 3), max_size=2),
)
POSITION = {"line": 0, "character": 3}
RANGE = {"start": {"line": 0, "character": 0}, "end": {"line": 1, "character": 0}}


def parameters(uri: str) -> dict[str, dict[str, Any]]:
    """For each request, parameters as they should be."""
    document = {"textDocument": {"uri": uri}}
    place = {**document, "position": POSITION}
    layout = {"tabSize": 4, "insertSpaces": True}
    item = {"name": "x", "kind": 12, "uri": uri, "range": RANGE, "selectionRange": RANGE}
    return {
        "textDocument/completion": {**place, "context": {"triggerKind": 2, "triggerCharacter": "("}},
        "completionItem/resolve": {"label": "prec", "data": {"uri": uri}},
        HOVER: place,
        "textDocument/signatureHelp": place,
        "textDocument/definition": place,
        "textDocument/references": {**place, "context": {"includeDeclaration": True}},
        "textDocument/prepareRename": place,
        "textDocument/rename": {**place, "newName": "y"},
        "textDocument/documentHighlight": place,
        "textDocument/documentSymbol": document,
        "workspace/symbol": {"query": "S"},
        "textDocument/foldingRange": document,
        "textDocument/selectionRange": {**document, "positions": [POSITION]},
        "textDocument/documentLink": document,
        "textDocument/prepareCallHierarchy": place,
        "callHierarchy/incomingCalls": {"item": item},
        "callHierarchy/outgoingCalls": {"item": item},
        "textDocument/codeAction": {**document, "range": RANGE, "context": {"diagnostics": []}},
        "codeAction/resolve": {"title": "x", "data": {"uri": uri}},
        "textDocument/codeLens": document,
        "codeLens/resolve": {"range": RANGE, "data": {"uri": uri}},
        "textDocument/inlayHint": {**document, "range": RANGE},
        "inlayHint/resolve": {"position": POSITION, "label": "x", "data": {"uri": uri}},
        "textDocument/formatting": {**document, "options": layout},
        "textDocument/rangeFormatting": {**document, "range": RANGE, "options": layout},
        "textDocument/rangesFormatting": {**document, "ranges": [RANGE], "options": layout},
        "textDocument/onTypeFormatting": {**place, "ch": "\n", "options": layout},
        "textDocument/semanticTokens/full": document,
        "textDocument/semanticTokens/full/delta": {**document, "previousResultId": "1"},
        "textDocument/semanticTokens/range": {**document, "range": RANGE},
        "textDocument/diagnostic": document,
        "workspace/diagnostic": {"previousResultIds": [{"uri": uri, "value": "1"}]},
        "workspace/executeCommand": {"command": "vigil.showRun", "arguments": [uri]},
        "workspace/textDocumentContent": {"uri": uri},
        "workspace/willRenameFiles": {"files": [{"oldUri": uri, "newUri": f"{uri}x"}]},
    }


METHODS = sorted(parameters(""))
NOTIFICATIONS: dict[str, dict[str, Any]] = {
    "textDocument/didOpen": {
        "textDocument": {"uri": "file:///a.vgl", "languageId": "vigil", "version": 1, "text": "x"}
    },
    "textDocument/didChange": {
        "textDocument": {"uri": "file:///a.vgl", "version": 2},
        "contentChanges": [{"range": RANGE, "text": "y"}],
    },
    "textDocument/didSave": {"textDocument": {"uri": "file:///a.vgl"}, "text": "x"},
    "textDocument/didClose": {"textDocument": {"uri": "file:///a.vgl"}},
    "workspace/didChangeWatchedFiles": {"changes": [{"uri": "file:///a.vgl", "type": 2}]},
    "workspace/didChangeConfiguration": {"settings": {"vigil": {}}},
    "workspace/didChangeWorkspaceFolders": {"event": {"added": [{"uri": "file:///a", "name": "a"}], "removed": []}},
}


@st.composite
def spoiled(draw: st.DrawFn, value: Any) -> Any:
    """A value with something in it replaced by what should not be there, or left out."""
    if isinstance(value, dict) and value and draw(st.integers(0, 5)):
        key = draw(st.sampled_from(sorted(value)))
        if draw(st.integers(0, 4)) == 0:
            return {name: kept for name, kept in value.items() if name != key}
        return {**value, key: draw(spoiled(value[key]))}
    if isinstance(value, list) and value and draw(st.booleans()):
        return [draw(spoiled(value[0])), *value[1:]]
    return draw(ODD)


@pytest.mark.parametrize("method", METHODS)
@settings(
    max_examples=25, deadline=None, phases=[Phase.generate], suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
async def test_wrong_types_anywhere(session_wire: Wire, method: str, data: st.DataObject) -> None:
    uri = "file:///fuzz/p.vgl"
    if not any(found["id"] == f"{method} open" for found in session_wire.responses):
        session_wire.open(uri, 'policy p\nstatement S: prec(Send(to = "𝔸"), Ask())\n')
        session_wire.send(
            {"jsonrpc": "2.0", "id": f"{method} open", "method": "textDocument/definition", "params": PLACE}
        )
        await session_wire.response(f"{method} open")
    params = data.draw(spoiled(parameters(uri)[method]))
    before = len(session_wire.responses)
    answer = await session_wire.call(method, params)
    assert error(answer) in (None, INVALID_PARAMS, NO_METHOD, -32803), answer
    assert "Traceback" not in json.dumps(answer)
    assert len(session_wire.responses) == before + 1


@pytest.mark.parametrize("method", sorted(NOTIFICATIONS))
@settings(
    max_examples=40, deadline=None, phases=[Phase.generate], suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
async def test_wrong_types_in_notifications(session_wire: Wire, method: str, data: st.DataObject) -> None:
    before = len(session_wire.responses)
    session_wire.notify(method, data.draw(spoiled(NOTIFICATIONS[method])))
    await lives(session_wire)
    assert len(session_wire.responses) == before + 1


STRANGE = (
    "untitled:Untitled-1",
    "untitled:p.vgl",
    "git:/p.vgl?ref",
    "vscode-notebook-cell:/a.ipynb#W1",
    "file:///outside/of/everything/p.vgl",
    "file:///",
    "file:///etc/passwd",
    "file:///proc/self/mem",
    "file:///dev/zero",
    "file:///tmp/%00.vgl",
    "file:///tmp/%FF%FE.vgl",
    "file:///tmp/" + "a" * 5_000 + ".vgl",
    "file://host/share/p.vgl",
    "file:///c%3A/p.vgl",
    "vigil:nonsense",
    "vigil://run/nonsense",
    "p.vgl",
    "%",
    "",
    ":",
)


@pytest.mark.parametrize("opened", [False, True], ids=["unopened", "opened"])
@pytest.mark.parametrize("uri", STRANGE, ids=lambda uri: uri[:30])
async def test_strange_documents(session_wire: Wire, uri: str, opened: bool) -> None:
    if opened:
        session_wire.open(uri, 'policy p\nuse .other\nstatement S: prec(Send(to = "𝔸"), Ask())\n')
    asked = {session_wire.ask(method, params): method for method, params in parameters(uri).items()}
    last = max(asked)
    await session_wire.response(last)
    while {found["id"] for found in session_wire.responses} < set(asked):
        await session_wire.receive()
    for found in session_wire.responses:
        if found["id"] in asked:
            assert error(found) in (None, INVALID_PARAMS, NO_METHOD, -32803), (asked[found["id"]], found)
    if opened:
        session_wire.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
    await lives(session_wire)


@pytest.mark.parametrize(
    "uri",
    ["\0", "a\0b", "file:///a%00b", "\ud800", "a" * 5_000, "/" + "a" * 300, "file:///proc/self/mem"],
    ids=lambda uri: ascii(uri[:20]),
)
async def test_folders_that_cannot_be(session_wire: Wire, tmp_path: Path, uri: str) -> None:
    """A folder of that name, and a document, are passed over; what is asked of others is answered."""
    (tmp_path / "p.vgl").write_text("statement S: abs(Send())\n")
    own = (tmp_path / "p.vgl").as_uri()
    folder = {"uri": uri, "name": "a"}
    session_wire.notify("workspace/didChangeWorkspaceFolders", {"event": {"added": [folder], "removed": []}})
    session_wire.open(uri, "use .other\nstatement S: abs(Send())\n")
    session_wire.open(own, "use .other\nstatement S: abs(Send())\n")
    for method, params in parameters(own).items():
        found = await session_wire.call(method, params)
        assert error(found) in (None, INVALID_PARAMS, NO_METHOD, -32803), (method, found)
    for closed in (uri, own):
        session_wire.notify("textDocument/didClose", {"textDocument": {"uri": closed}})
    session_wire.notify("workspace/didChangeWorkspaceFolders", {"event": {"added": [], "removed": [folder]}})
    await lives(session_wire)


async def test_an_untitled_policy_is_a_policy(session: Session) -> None:
    page = session.open_uri("untitled:Untitled-1", "statement S: prec(", "vigil")
    assert await page.findings(("VGL101", "(")) == [("VGL101", "(")]
    page.replace("prec(", "abs(Send())")
    assert await page.findings() == []


async def test_the_same_document_opened_twice(session: Session) -> None:
    """The later text counts, and one close is the end."""
    first = await session.open("statement S: prec(")
    assert await first.findings(("VGL101", "(")) == [("VGL101", "(")]
    second = await session.open("statement S: abs(Send())")
    assert await second.findings() == []
    second.replace("abs", "ab")
    assert await second.findings(("VGL101", "ab")) == [("VGL101", "ab")]
    second.close()
    third = await session.open("statement S: abs(Send())")
    assert await third.findings() == []


@pytest.mark.parametrize(
    "text",
    [
        "\ud800",
        "statement \udc00: abs(x())",
        "\0" * 100,
        "(" * 5_000,
        '"' * 5_000,
        "\u202e" * 50,
        "@" * 2_000,
        "/*" * 999,
    ],
    ids=lambda text: ascii(text[:12]),
)
async def test_hostile_texts(session_wire: Wire, tmp_path: Path, text: str) -> None:
    uri = (tmp_path / "h.vgl").as_uri()
    session_wire.open(uri, text)
    asked = [session_wire.ask(method, params) for method, params in parameters(uri).items()]
    while {found["id"] for found in session_wire.responses} < set(asked):
        await session_wire.receive()
    for found in session_wire.responses[-len(asked) :]:
        assert error(found) in (None, INVALID_PARAMS, NO_METHOD, -32803), found
    session_wire.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
    await lives(session_wire)
