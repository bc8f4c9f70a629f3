"""Documents that are made: their URIs, their texts, and how each kind of client is shown one."""

from __future__ import annotations

import base64
import json
import re
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.uris import to_fs_path

from vigil_lsp import virtual_documents
from vigil_lsp.features.documents import REQUEST_FAILED

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from lsp_session import Session

POLICY = 'statement S: abs(Send(to = "eve"))\n'
RUN = "".join(
    json.dumps(line) + "\n" for line in ({"vigil_trace": 1}, {"action": "Send", "args": {"to": "eve"}, "status": "ok"})
)


def packed(**about: str) -> str:
    """How a URI says what its document is about."""
    text = json.dumps(about, ensure_ascii=False, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    ("document", "uri"),
    [
        (virtual_documents.code_page("VGL301"), "vigil:/codes/VGL301.md"),
        (virtual_documents.witness("/a b/p.vgl", "S"), f"vigil:/witness/S.md?{packed(policy='/a b/p.vgl')}"),
        (
            virtual_documents.witness("/p.vgl", "S", "/r#1"),
            f"vigil:/witness/S.md?{packed(policy='/p.vgl', run='/r#1')}",
        ),
        (virtual_documents.run("/runs/a.jsonl#mon/day"), f"vigil:/run/day.md?{packed(run='/runs/a.jsonl#mon/day')}"),
        (
            virtual_documents.explanation("/p.vgl", "𝔸/?"),
            f"vigil:/explain/%F0%9D%94%B8%2F%3F.md?{packed(policy='/p.vgl')}",
        ),
        (
            virtual_documents.results("/p_test.vgl", "é"),
            f"vigil:/tests/p_test.md?{packed(path='/p_test.vgl', test='é')}",
        ),
    ],
)
def test_uris(document: virtual_documents.Virtual, uri: str) -> None:
    assert document.uri == uri
    assert re.fullmatch(r"[A-Za-z0-9_-]*", uri.partition("?")[2])
    assert virtual_documents.parsed(uri) == document


@pytest.mark.parametrize(
    "uri",
    [
        "file:///codes/VGL301.md", "vigil:/codes", "vigil:/codes/", "vigil:/none/x.md", "vigil:/run/a.md",
        f"vigil:/witness/S.md?{packed(run='a')}", "vigil:/run/a.md?run=1", "vigil:/run/a.md?W10",
        "vigil:/run/a.md?eyJydW4iOjN9",
        "vigil:/run/a.md?é", "vigil:/run/a.md?_w", "vigil://[/x", "", "vigil:",
    ],
)  # fmt: skip
def test_what_is_no_document(uri: str) -> None:
    assert virtual_documents.parsed(uri) is None


def test_a_code_without_suffix() -> None:
    assert virtual_documents.parsed("vigil:/codes/VGL301") == virtual_documents.code_page("VGL301")


async def content(session: Session, uri: str) -> str:
    found = await session.ask(types.WORKSPACE_TEXT_DOCUMENT_CONTENT, types.TextDocumentContentParams(uri))
    return str(found.text)


async def command(session: Session, name: str, *arguments: Any) -> Any:
    return await session.ask(types.WORKSPACE_EXECUTE_COMMAND, types.ExecuteCommandParams(name, list(arguments)))


@pytest.mark.parametrize(("code", "name"), [("VGL308", "vocabulary.md"), ("VGL003", "security.md")])
async def test_a_page_of_a_code_leads_to_the_other_pages(session: Session, code: str, name: str) -> None:
    text = await content(session, f"vigil:/codes/{code}.md")
    (link,) = re.findall(rf"\((file:[^)#]*/{name})", text)
    assert Path(to_fs_path(link) or "").is_file()
    assert "](../" not in text


async def test_texts(session: Session) -> None:
    session.write("r.jsonl", RUN)
    page = await session.open(f"// runs: r.jsonl\n{POLICY}")
    policy, run = (to_fs_path(session.uri(name)) or "" for name in ("p.vgl", "r.jsonl"))
    assert (await content(session, "vigil:/codes/VGL301.md")).startswith("# VGL301")
    explained = await content(session, virtual_documents.explanation(policy, "S").uri)
    assert '`Send(to = "eve")` must never happen.' in explained
    timeline = await content(session, virtual_documents.run(run).uri)
    assert "1 event, 1 at fault." in timeline
    assert "**violates** [`S`]" in timeline
    witness = await content(session, virtual_documents.witness(policy, "S", run).uri)
    assert witness.startswith("# `S`: violated in 1 run\n")
    page.replace('"eve"', '"bob"')
    assert (await content(session, virtual_documents.witness(policy, "S", run).uri)).startswith("# `S`: not violated\n")


async def test_what_has_no_text_is_refused(session: Session) -> None:
    for uri in (
        "vigil:/codes/VGL000.md",
        virtual_documents.witness("/nowhere.vgl", "S").uri,
        virtual_documents.run("/nowhere").uri,
    ):
        with pytest.raises(JsonRpcException) as caught:
            await content(session, uri)
        assert caught.value.code == REQUEST_FAILED
    with pytest.raises(JsonRpcException) as caught:
        await content(session, "vigil:/nothing")
    assert caught.value.code == -32602


async def test_commands_give_and_show_the_document(session: Session) -> None:
    session.write("r.jsonl", RUN)
    page = await session.open(f"// runs: r.jsonl\n{POLICY}")
    found = await command(session, "vigil.explainStatement", page.uri, "S")
    assert found["text"].startswith("# `S`")
    shown = Path(to_fs_path(found["uri"]) or "")
    assert shown.read_text() == found["text"]
    assert stat.S_IMODE(shown.stat().st_mode) == 0o400
    assert shown.name.startswith("explain-S-")
    again = await command(session, "vigil.explainStatement", page.uri, "S")
    assert again == found
    for name, arguments, start in (
        ("vigil.showStatement", [page.uri, "S"], "# `S`: violated in 1 run"),
        ("vigil.showStatement", [page.uri, "S", session.uri("r.jsonl")], "# `S`: violated in 1 run"),
        ("vigil.showRun", [session.uri("r.jsonl")], "# [`"),
        ("vigil.explainCode", ["vgl301"], "# VGL301"),
    ):
        assert (await command(session, name, *arguments))["text"].startswith(start)


async def test_commands_refuse_what_they_do_not_take(session: Session) -> None:
    for name, arguments in (
        ("vigil.showRun", []),
        ("vigil.showRun", [3]),
        ("vigil.showStatement", ["a"]),
        ("vigil.explainStatement", ["a", {"b": 1}]),
        ("vigil.explainCode", ["a", "b"]),
        ("vigil.runTests", [None]),
    ):
        with pytest.raises(JsonRpcException) as caught:
            await command(session, name, *arguments)
        assert caught.value.code == -32602
    assert await command(session, "vigil.explainCode", "VGL000") is None
    assert await command(session, "vigil.showStatement", "/nowhere.vgl", "S") is None
    assert await command(session, "vigil.runTests", "/nowhere.vgl") is None
    page = await session.open(POLICY)
    assert await command(session, "vigil.showStatement", page.uri, "S", session.uri("r.jsonl")) is None


async def test_nothing_outside_of_the_workspace_is_shown(session: Session, tmp_path_factory: Any) -> None:
    outside: Path = tmp_path_factory.mktemp("outside")
    inside = Path(to_fs_path(session.uri("x")) or "").parent
    (outside / "secret.jsonl").write_text(RUN, encoding="utf-8")
    (outside / "p.vgl").write_text(POLICY, encoding="utf-8")
    (outside / "p_test.vgl").write_text('use .p\ntest "t" { run { Send(to = "eve") } expect S violated }\n')
    for name in ("secret.jsonl", "p.vgl", "p_test.vgl"):
        (inside / f"link_{name}").symlink_to(outside / name)
    (inside / "folder").symlink_to(outside)
    await session.open(POLICY)
    for place in (f"{inside}/link_", f"{inside}/folder/", f"{outside}/", f"{inside}/../../{outside.name}/"):
        for uri in (
            virtual_documents.run(f"{place}secret.jsonl").uri,
            virtual_documents.run(f"{place}secret.jsonl#0").uri,
            virtual_documents.explanation(f"{place}p.vgl", "S").uri,
            virtual_documents.witness(f"{place}p.vgl", "S").uri,
            virtual_documents.results(f"{place}p_test.vgl").uri,
        ):
            with pytest.raises(JsonRpcException, match="workspace folder"):
                await content(session, uri)
        assert await command(session, "vigil.showRun", f"{place}secret.jsonl") is None
        assert await command(session, "vigil.runTests", f"{place}p_test.vgl") is None
    # A run that the project names may lie elsewhere, and so may what somebody opens.
    elsewhere = session.open_uri((outside / "p.vgl").as_uri(), POLICY)
    assert (await command(session, "vigil.explainStatement", elsewhere.uri, "S"))["text"].startswith("# `S`")


async def test_tests_that_fail_are_findings(session: Session) -> None:
    session.write("p.vgl", POLICY)
    page = await session.open('use .p\ntest "𝔸" { run { Send(to = "eve") } expect S satisfied }\n', name="p_test.vgl")
    assert await page.findings() == []
    found = await command(session, "vigil.runTests", page.uri)
    assert found["text"].startswith("# Tests: 1 failed\n")
    assert await page.findings(("test", "S")) == [("test", "S")]
    page.replace("satisfied", "violated")
    assert await page.findings() == []
    page.save()
    assert (await command(session, "vigil.runTests", session.uri("p.vgl")))["text"].startswith("# Tests: 1 passed\n")
    assert (await command(session, "vigil.runTests", page.uri, "other"))["text"].startswith("# Tests: nothing to run\n")
    assert await page.findings() == []


async def test_the_process_can_be_started_again(session: Session) -> None:
    session.write("r.jsonl", RUN)
    page = await session.open(f"// runs: r.jsonl\n{POLICY}")
    await command(session, "vigil.restartRecordings")
    assert (await command(session, "vigil.showStatement", page.uri, "S"))["text"].startswith("# `S`: violated in 1 run")


class _Client:
    """The part of a client that showing needs."""

    def __init__(self, *abilities: str) -> None:
        self.abilities = abilities
        self.said: list[Any] = []

    def supports(self, capability: str) -> bool:
        return capability in self.abilities

    def show_message(self, message: str, _: types.MessageType = types.MessageType.Info) -> None:
        self.said.append(message)

    async def show_document(self, uri: str) -> None:
        self.said.append(uri)

    async def refresh_document(self, uri: str) -> None:
        self.said.append(("refresh", uri))


SHOWS, ASKS = "window.show_document.support", "workspace.text_document_content"


async def test_each_kind_of_client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIGIL_CACHE_DIR", str(tmp_path / "cache"))
    document = virtual_documents.code_page("VGL301")
    show: Callable[..., Awaitable[str]] = virtual_documents.show
    modern, older, oldest = _Client(SHOWS, ASKS), _Client(SHOWS), _Client(ASKS)
    assert await show(document, "text", modern) == document.uri
    assert modern.said == [("refresh", document.uri), document.uri]
    uri = await show(document, "text", older)
    assert older.said == [uri]
    path = Path(to_fs_path(uri) or "")
    assert path.parent == tmp_path / "cache/documents"
    assert await show(document, "other", oldest) == uri
    assert oldest.said == [f"VGL301: see {path}"]
    assert path.read_text() == "other"
    monkeypatch.setenv("VIGIL_CACHE_DIR", "")
    nowhere = _Client(SHOWS)
    assert await show(document, "text", nowhere) == document.uri
    assert nowhere.said == ["The document cannot be shown: there is no folder to keep it in"]
