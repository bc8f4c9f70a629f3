"""Documents of other schemes: the older side of a comparison (`git:`) is explained, and nothing is found in it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from lsprotocol import types

from vigil_lsp.files import Files, scheme_of

if TYPE_CHECKING:
    from lsp_session import Page, Session

OLD = """use .base
/// Said soon.
@source("SKILL.md", "Ask first.")
statement S: prec(sent(x), Ask(to = y))
"""


@pytest.fixture(params=["git", "vscode-vfs"])
def old(request: pytest.FixtureRequest, session: Session) -> Page:
    """The older text of a policy that is open, too, with a module and a document beside it."""
    session.write("base.vgl", "pattern sent(x) = Send(to = x)\n")
    session.write("SKILL.md", "Ask first.\n")
    uri = f"{request.param}:{session.folder}/p.vgl?%7B%22ref%22%3A%22HEAD%22%7D"
    return session.open_uri(uri, OLD)


async def test_an_old_text_is_explained(old: Page) -> None:
    at = old.find("prec").start
    said = await old.session.ask(types.TEXT_DOCUMENT_HOVER, types.HoverParams(old.id, at))
    assert "□" in said.contents.value
    assert (await old.ask(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL)).data
    assert await old.ask(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)


async def test_nothing_is_found_in_an_old_text(session: Session, old: Page) -> None:
    """No module is found: of a text that somebody writes that would be said, and here what is said of the newer one."""
    new = await session.open(OLD)
    assert [one.code for one in await new.diagnostics(bool)] == ["VGL320"]
    if session.pulls:
        params = types.DocumentDiagnosticParams(old.id)
        assert (await session.ask(types.TEXT_DOCUMENT_DIAGNOSTIC, params)).items == ()
    old.replace("soon", "later")
    assert [one.code for one in await new.diagnostics(bool)] == ["VGL320"]
    assert old.uri not in session.published
    everything = await session.ask(types.WORKSPACE_DIAGNOSTIC, types.WorkspaceDiagnosticParams([]))
    assert old.uri not in [report.uri for report in everything.items]


async def test_nothing_beside_an_old_text_is_read(session: Session, old: Page) -> None:
    assert not await old.ask(types.TEXT_DOCUMENT_DOCUMENT_LINK)
    for text in ("sent", "SKILL", "Ask first"):
        params = types.DefinitionParams(old.id, old.find(text).start)
        assert not await session.ask(types.TEXT_DOCUMENT_DEFINITION, params)


async def test_an_old_text_is_not_changed(session: Session, old: Page) -> None:
    """Neither by what is asked of it nor by what is asked of the policy as it is now."""
    assert not await old.ask(types.TEXT_DOCUMENT_CODE_LENS)
    at = old.find("prec")
    asked = types.CodeActionParams(old.id, at, types.CodeActionContext([]))
    assert await session.ask(types.TEXT_DOCUMENT_CODE_ACTION, asked) is None
    assert await session.ask(types.TEXT_DOCUMENT_PREPARE_RENAME, types.PrepareRenameParams(old.id, at.start)) is None
    assert await session.ask(types.TEXT_DOCUMENT_RENAME, types.RenameParams(old.id, old.find("S:").start, "T")) is None
    old.send(
        [types.TextDocumentContentChangeWholeDocument("statement S:  abs(Send())\n")], "statement S:  abs(Send())\n"
    )
    whole = types.Range(types.Position(0, 0), old.position(len(old.text)))
    hints = await old.ask(types.TEXT_DOCUMENT_INLAY_HINT, range=whole)
    assert [hint.label for hint in hints if "severity" in hint.label], "what counts is said"
    assert not any(hint.text_edits for hint in hints)
    assert await old.ask(types.TEXT_DOCUMENT_FORMATTING) is None
    assert await old.ask(types.TEXT_DOCUMENT_RANGE_FORMATTING, range=whole) is None
    line_end = types.Position(1, 0)
    assert await old.ask(types.TEXT_DOCUMENT_ON_TYPE_FORMATTING, line_end, ch="\n") is None
    new = await session.open(OLD)
    params = types.RenameParams(new.id, new.find("S:").start, "T")
    assert list(session.after(await session.ask(types.TEXT_DOCUMENT_RENAME, params))) == ["p.vgl"]
    found = await session.ask(types.WORKSPACE_SYMBOL, types.WorkspaceSymbolParams("S"))
    assert [one.location.uri for one in found or () if one.name == "S"] == [new.uri]


async def test_a_text_that_is_not_saved_yet_is_judged(session: Session) -> None:
    page = session.open_uri("untitled:Untitled-2", "statement S: abs(Send(to = x))\n")
    assert await page.findings(("VGL301", "x")) == [("VGL301", "x")]
    assert not await page.ask(types.TEXT_DOCUMENT_CODE_LENS)


@pytest.mark.parametrize(
    ("uri", "folders", "written"),
    [
        ("file:///a/p.vgl", (), True),
        ("/a/p.vgl", (), True),
        ("untitled:Untitled-1", (), True),
        ("GIT:/a/p.vgl", (), False),
        ("vscode-vfs://github/a/p.vgl", (), False),
        ("vscode-vfs://github/a/p.vgl", ("vscode-vfs://github/a",), True),
        ("git:/a/p.vgl?ref", ("vscode-vfs://github/a",), False),
    ],
)
def test_what_is_written_here(uri: str, folders: tuple[str, ...], written: bool) -> None:
    """Of a folder that an editor keeps elsewhere the documents are the user's all the same."""
    files = Files()
    files.schemes = frozenset(map(scheme_of, folders))
    files.open(types.TextDocumentItem(uri, "vigil", 1, ""))
    (document,) = files.documents
    assert document.is_judged is written


async def test_a_name_that_is_no_text(session: Session) -> None:
    """Its bytes are kept: what the server says of it is what the editor opens."""
    path = session.folder / os.fsdecode(b"a\xff.vgl")
    path.write_text("statement Unheard: abs(Send())\n")
    session.write("vigil.toml", "")
    session.changed("vigil.toml")
    found = await session.ask(types.WORKSPACE_SYMBOL, types.WorkspaceSymbolParams("Unheard"))
    assert [one.location.uri for one in found] == [path.as_uri()]
    files = Files()
    assert [files.path(one.location.uri) for one in found] == [str(path)]
    path.unlink()
