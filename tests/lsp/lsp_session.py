"""A client that drives the real server, and documents as a test wants to speak of them.

async def test_hover(session: Session) -> None:
    page = await session.open("statement S: pr«»ec(Send(), Ask())")
    found = await page.ask(types.TEXT_DOCUMENT_HOVER)
    assert page.part(found.range) == "prec"
"""

from __future__ import annotations

import asyncio
import json
import os
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsp_positions import edited, marked, part, position_of, range_of
from lsprotocol import converters, types
from pygls.protocol import default_converter
from pygls.uris import from_fs_path, to_fs_path
from pytest_lsp import LanguageClient
from pytest_lsp.client import DEFAULT_CLIENT_FEATURES, register_lsp_features

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

PATIENCE = 30.0
"""Seconds after which an answer is taken never to come: far more than any takes, also on a busy machine."""

_PROFILES = {
    "vscode": "visual_studio_code_v1.65.2.json",
    "neovim": "neovim_v0.11.0.json",
    "emacs": "emacs_v29.1.json",
}


@dataclass(frozen=True, slots=True)
class Profile:
    """An editor's abilities with one encoding of positions; None for the encodings it offers itself."""

    editor: str
    encoding: str | None = None

    def __str__(self) -> str:
        return f"{self.editor}-{self.encoding or 'own'}"

    def params(self, root: Path, **changed: Any) -> types.InitializeParams:
        """What the editor says first."""
        text = (resources.files("pytest_lsp") / "clients" / _PROFILES[self.editor]).read_text(encoding="utf-8")
        params = converters.get_converter().structure(json.loads(text), types.InitializeParams)
        if self.encoding is not None:
            general = params.capabilities.general or types.GeneralClientCapabilities()
            general.position_encodings = (types.PositionEncodingKind(self.encoding),)
            params.capabilities.general = general
        params.process_id = os.getpid()
        params.root_uri = from_fs_path(str(root))
        params.root_path = None
        params.workspace_folders = [types.WorkspaceFolder(params.root_uri or "", root.name)]
        for name, value in changed.items():
            setattr(params, name, value)
        return params


PROFILES = [Profile(editor, encoding) for editor in _PROFILES for encoding in ("utf-16", "utf-8")]
SHARED = [Profile("vscode", "utf-16"), Profile("neovim", "utf-8")]
"""An editor that is sent diagnostics, and one that asks for them."""


@dataclass
class Session:
    """One connection. `root` is the workspace; `folder` the part of it that belongs to the running test."""

    client: LanguageClient
    profile: Profile
    root: Path
    folder: Path
    answer: types.InitializeResult | None = None
    pages: dict[str, Page] = field(default_factory=dict)
    published: dict[str, list[types.PublishDiagnosticsParams]] = field(default_factory=dict)
    edits: list[types.WorkspaceEdit] = field(default_factory=list)
    """What the server asked to apply (`workspace/applyEdit`)."""
    refreshed: Counter[str] = field(default_factory=Counter)
    """How often the server asked to be asked again, by method."""
    news: asyncio.Event = field(default_factory=asyncio.Event)
    """Set by whatever the server sends of its own accord."""

    @property
    def encoding(self) -> str:
        """The encoding that the server chose."""
        assert self.answer is not None
        return types.PositionEncodingKind(self.answer.capabilities.position_encoding or "utf-16").value

    @property
    def capabilities(self) -> types.ServerCapabilities:
        """What the server said it can do."""
        assert self.answer is not None
        return self.answer.capabilities

    @property
    def process(self) -> asyncio.subprocess.Process:
        """The server's process."""
        server = self.client._server
        assert server is not None
        return server

    @property
    def pulls(self) -> bool:
        """Whether the editor asks for diagnostics, rather than being sent them."""
        documents = self.profile.params(self.root).capabilities.text_document
        return documents is not None and documents.diagnostic is not None

    async def begin(self, **changed: Any) -> None:
        """Initialize."""
        params = self.profile.params(self.root, **changed)
        self.answer = await asyncio.wait_for(self.client.initialize_session(params), PATIENCE)

    async def end(self) -> None:
        """Shut down and leave; the server has to go by itself."""
        if self.process.returncode is None:
            await asyncio.wait_for(self.client.shutdown_session(), PATIENCE)
        await asyncio.wait_for(self.client.stop(), PATIENCE)

    async def kill(self) -> None:
        """End the server's process where it still is."""
        with suppress(ProcessLookupError):
            self.process.kill()
        with suppress(Exception):
            await asyncio.wait_for(self.client.stop(), PATIENCE)

    # Files

    def write(self, name: str, text: str | bytes) -> Path:
        """Writes a file into the test's folder, without marks, and tells nobody."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else marked(text)[0].encode())
        return path

    def uri(self, name: str) -> str:
        """The URI of a file in the test's folder."""
        return from_fs_path(str(self.folder / name)) or ""

    def name(self, uri: str) -> str:
        """The name of a file in the test's folder, of its URI."""
        return Path(to_fs_path(uri) or "").relative_to(self.folder).as_posix()

    def changed(self, *names: str, how: types.FileChangeType = types.FileChangeType.Changed) -> None:
        """Tells the server that files on disk are not what they were."""
        events = [types.FileEvent(self.uri(name), how) for name in names]
        self.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams(events))

    # Documents

    async def open(self, text: str, name: str = "p.vgl", language: str = "vigil", *, save: bool = True) -> Page:
        """Opens a document, `«…»` in it being marks; on disk it is the same unless `save` is False."""
        plain, spans = marked(text)
        if save:
            self.write(name, plain)
        return self.open_uri(self.uri(name), plain, language, spans)

    def open_uri(self, uri: str, text: str, language: str = "vigil", spans: Sequence[tuple[int, int]] = ()) -> Page:
        """Opens a document of any URI."""
        page = Page(self, uri, text, list(spans))
        self.pages[uri] = page
        item = types.TextDocumentItem(uri, language, page.version, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return page

    async def ask(self, method: str, params: Any) -> Any:
        """The result of a request; raises `pygls.exceptions.JsonRpcException` where the server refuses."""
        return await asyncio.wait_for(self.client.protocol.send_request_async(method, params), PATIENCE)

    async def until(self, holds: Callable[[], bool], patience: float = PATIENCE) -> bool:
        """Waits until something holds that what the server sends may change; whether it came to hold."""
        loop = asyncio.get_running_loop()
        end = loop.time() + patience
        while not holds():
            self.news.clear()
            try:
                await asyncio.wait_for(self.news.wait(), end - loop.time())
            except TimeoutError:
                return holds()
        return True

    def after(self, edit: types.WorkspaceEdit) -> dict[str, str]:
        """The texts of files, by name, after an edit of the workspace (files are not renamed or made)."""
        changes: dict[str, list[types.TextEdit]] = {}
        for change in edit.document_changes or ():
            assert isinstance(change, types.TextDocumentEdit)
            plain = [types.TextEdit(each.range, each.new_text) for each in change.edits if hasattr(each, "new_text")]
            changes.setdefault(change.text_document.uri, []).extend(plain)
        for uri, edits in (edit.changes or {}).items():
            changes.setdefault(uri, []).extend(edits)
        return {self.name(uri): edited(self.text(uri), edits, self.encoding) for uri, edits in changes.items()}

    def text(self, uri: str) -> str:
        """The text of a document: as open, else as on disk."""
        if uri in self.pages:
            return self.pages[uri].text
        return Path(to_fs_path(uri) or "").read_bytes().decode()


@dataclass
class Page:
    """An open document as the client has it."""

    session: Session
    uri: str
    text: str
    spans: list[tuple[int, int]]
    """The marked spans, by offset; edits do not move them."""
    version: int = 1

    @property
    def id(self) -> types.TextDocumentIdentifier:
        """The document, in the words of the protocol."""
        return types.TextDocumentIdentifier(self.uri)

    @property
    def here(self) -> types.Position:
        """The start of the first mark."""
        return self.position(self.spans[0][0])

    def position(self, offset: int) -> types.Position:
        """The position of an offset."""
        return position_of(self.text, offset, self.session.encoding)

    def find(self, text: str, number: int = 0) -> types.Range:
        """The range of an occurrence of a text, counted from 0."""
        start = -1
        for _ in range(number + 1):
            start = self.text.index(text, start + 1)
        return range_of(self.text, start, start + len(text), self.session.encoding)

    def span(self, number: int = 0) -> types.Range:
        """The range of a mark."""
        return range_of(self.text, *self.spans[number], self.session.encoding)

    def part(self, range: types.Range) -> str:  # noqa: A002 - the protocol's word
        """What stands in a range."""
        return part(self.text, range, self.session.encoding)

    def edited(self, edits: Sequence[types.TextEdit] | None) -> str:
        """The text after edits (which are not sent)."""
        return edited(self.text, list(edits or ()), self.session.encoding)

    async def ask(self, method: str, at: types.Position | None = None, **more: Any) -> Any:
        """The result of a request about this document, at the first mark unless another place is given.

        `more` are further fields of the request's parameters.
        """
        kind = types.METHOD_TO_TYPES[method][2]
        fields = {each.name for each in kind.__attrs_attrs__}
        given: dict[str, Any] = {"text_document": self.id, **more}
        if "position" in fields and "position" not in given:
            given["position"] = at or self.here
        if "options" in fields and "options" not in given:
            given["options"] = types.FormattingOptions(tab_size=4, insert_spaces=True)
        return await self.session.ask(method, kind(**given))

    # Changes

    def change(self, start: int, end: int, new: str) -> None:
        """Replaces what stands between two offsets, and tells the server."""
        self.send(
            [
                types.TextDocumentContentChangePartial(
                    range=range_of(self.text, start, end, self.session.encoding), text=new
                )
            ],
            self.text[:start] + new + self.text[end:],
        )

    def replace(self, old: str, new: str) -> None:
        """Replaces the first occurrence of a text, and tells the server."""
        start = self.text.index(old)
        self.change(start, start + len(old), new)

    def send(self, changes: list[types.TextDocumentContentChangeEvent], text: str) -> None:
        """Sends changes that make the document's text what is given."""
        self.text, self.version = text, self.version + 1
        document = types.VersionedTextDocumentIdentifier(self.version, self.uri)
        self.session.client.text_document_did_change(types.DidChangeTextDocumentParams(document, changes))

    def save(self) -> None:
        """Writes the text to disk and says so."""
        Path(to_fs_path(self.uri) or "").write_bytes(self.text.encode())
        self.session.client.text_document_did_save(types.DidSaveTextDocumentParams(self.id))

    def close(self) -> None:
        """Closes the document."""
        self.session.pages.pop(self.uri, None)
        self.session.client.text_document_did_close(types.DidCloseTextDocumentParams(self.id))

    # Diagnostics

    async def diagnostics(self, wanted: Callable[[list[types.Diagnostic]], bool]) -> list[types.Diagnostic]:
        """What an editor shows for the current text, as soon as it is as wanted, or after long at last.

        Push or pull, as the editor does it. Test the answer: it may not be as wanted.
        """
        if self.session.pulls:
            return await self._pulled(wanted)
        await self.session.until(lambda: self._published is not None and wanted(self._published))
        return self._published or []

    @property
    def _published(self) -> list[types.Diagnostic] | None:
        """What was sent last, if it is of the current text."""
        sent = self.session.published.get(self.uri)
        if not sent or sent[-1].version not in (self.version, None):
            return None
        return list(sent[-1].diagnostics)

    async def _pulled(self, wanted: Callable[[list[types.Diagnostic]], bool]) -> list[types.Diagnostic]:
        loop = asyncio.get_running_loop()
        end = loop.time() + PATIENCE
        while True:
            self.session.news.clear()
            report = await self.ask(types.TEXT_DOCUMENT_DIAGNOSTIC)
            found = list(report.items)
            if wanted(found) or loop.time() > end:
                return found
            with suppress(TimeoutError):  # the server may ask for a refresh; an editor would also ask after an edit
                await asyncio.wait_for(self.session.news.wait(), 0.5)

    async def findings(self, *expected: tuple[str, str]) -> list[tuple[str, str]]:
        """The code and the text of each finding in order, as soon as they are those expected.

        assert await page.findings(("VGL201", "transfrom")) == [("VGL201", "transfrom")]
        """
        found = await self.diagnostics(lambda sent: self._told(sent) == list(expected))
        return self._told(found)

    def _told(self, found: Sequence[types.Diagnostic]) -> list[tuple[str, str]]:
        ordered = sorted(found, key=lambda each: (each.range.start.line, each.range.start.character, str(each.code)))
        return [(str(each.code), self.part(each.range)) for each in ordered]


def make_client(session: Callable[[], Session]) -> LanguageClient:
    """A client that keeps in its session what the server sends of its own accord."""
    client = LanguageClient(converter_factory=default_converter)
    features = dict(DEFAULT_CLIENT_FEATURES)

    def published(_: LanguageClient, params: types.PublishDiagnosticsParams) -> None:
        session().published.setdefault(params.uri, []).append(params)
        session().news.set()

    def apply(_: LanguageClient, params: types.ApplyWorkspaceEditParams) -> types.ApplyWorkspaceEditResult:
        session().edits.append(params.edit)
        session().news.set()
        return types.ApplyWorkspaceEditResult(applied=True)

    def refresher(method: str) -> Callable[[LanguageClient, Any], None]:
        def refresh(_: LanguageClient, params: Any) -> None:  # noqa: ARG001 - pygls wants both
            session().refreshed[method] += 1
            session().news.set()

        return refresh

    def watched(
        feature: Callable[[LanguageClient, Any], Any],
    ) -> Callable[[LanguageClient, Any], Any]:
        def seen(client: LanguageClient, params: Any) -> Any:
            answer = feature(client, params)
            session().news.set()
            return answer

        return seen

    features = {method: watched(feature) for method, feature in features.items()}
    features[types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS] = published
    features[types.WORKSPACE_APPLY_EDIT] = apply
    features[types.CLIENT_REGISTER_CAPABILITY] = refresher(types.CLIENT_REGISTER_CAPABILITY)
    features[types.CLIENT_UNREGISTER_CAPABILITY] = refresher(types.CLIENT_UNREGISTER_CAPABILITY)
    for method in (
        types.WORKSPACE_CODE_LENS_REFRESH,
        types.WORKSPACE_DIAGNOSTIC_REFRESH,
        types.WORKSPACE_FOLDING_RANGE_REFRESH,
        types.WORKSPACE_INLAY_HINT_REFRESH,
        types.WORKSPACE_SEMANTIC_TOKENS_REFRESH,
        types.WORKSPACE_TEXT_DOCUMENT_CONTENT_REFRESH,
    ):
        features[method] = refresher(method)
    register_lsp_features(client, features)
    return client


async def start(profile: Profile, root: Path, *command: str, env: dict[str, str] | None = None) -> Session:
    """A server's process with a client that has not said anything yet."""
    client = make_client(lambda: session)
    session = Session(client, profile, root, root)
    await client.start_io(*command, env=env, cwd=root)
    return session
