"""What a path holds now: an open document's text, which the client owns, or what is on disk."""

from __future__ import annotations

import errno
import os
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote, urlsplit

from pygls.uris import from_fs_path, to_fs_path

from vigil_lang.base.files import MAX_BYTES, is_file, read_source, real_path
from vigil_lang.diagnostics import Diagnostic, InputError, Source
from vigil_lang.project.configuration import OWN
from vigil_lang.syntax.memory import Memory
from vigil_lang.syntax.parse import Lexed, parse_with_tokens
from vigil_lsp.text import UTF16, Text

if TYPE_CHECKING:
    from lsprotocol import types

    from vigil_lang.semantics.modules import Access
    from vigil_lang.syntax import Parsed

_WRITTEN = frozenset({"file", "untitled", ""})
"""The schemes of documents that somebody works on, wherever the workspace is."""

_REMEMBERED = 500
"""Files whose parse results are kept."""


@dataclass(slots=True)
class Document:
    """An open document. `path` is what findings about it name: its file, or `<its URI>` where it has none.

    `written`: somebody works on it here. What is only looked at, such as the older side of a comparison (`git:`), is
    explained like any policy, but nothing is found in it or changed, and nothing beside it is read.
    """

    uri: str
    path: str
    language: str
    version: int
    text: Text
    source: Source
    written: bool = True

    @property
    def on_disk(self) -> bool:
        """Whether it is, or could be, a file."""
        return not self.path.startswith("<")

    @property
    def is_policy(self) -> bool:
        """Whether it holds a policy, or tests of policies."""
        return self.language == "vigil" or self.path.endswith(".vgl")

    @property
    def is_configuration(self) -> bool:
        """Whether it is a project's `vigil.toml`."""
        return self.on_disk and Path(self.path).name == OWN

    @property
    def is_judged(self) -> bool:
        """Whether it is a policy in which something may be found."""
        return self.is_policy and self.written


@dataclass(slots=True)
class _OnDisk:
    state: tuple[int, int]
    source: Source


@dataclass(slots=True)
class _Parsed:
    source: Source
    lexed: Lexed
    memory: Memory = field(default_factory=Memory)


class Files:
    """Open documents over the disk. Belongs to the event loop."""

    def __init__(self) -> None:
        self.encoding: types.PositionEncodingKind | str = UTF16
        self.schemes: frozenset[str] = frozenset()
        """What the URIs of the workspace's folders begin with: an editor may keep them elsewhere than on this disk."""
        self._open: dict[str, Document] = {}
        self._linked: dict[str, str] = {}
        self._disk: dict[str, _OnDisk] = {}
        self._parsed: dict[str, _Parsed] = {}
        self._texts: dict[str, tuple[Source, Text]] = {}

    # --- documents ---

    @property
    def documents(self) -> list[Document]:
        """Everything that is open."""
        return list(self._open.values())

    def document(self, uri: str) -> Document | None:
        """The open document of a URI, however it is spelled."""
        return self._open.get(self._key(uri))

    def open(self, item: types.TextDocumentItem) -> None:
        """Take a document over from the disk."""
        path = self._key(item.uri)
        text = Text(item.text, self.encoding)
        if (real := real_path(path)) != path:
            self._linked[real] = path
        written = scheme_of(item.uri) in _WRITTEN | self.schemes
        source = Source(path, item.text)
        self._open[path] = Document(item.uri, path, item.language_id, item.version, text, source, written)

    def change(self, params: types.DidChangeTextDocumentParams) -> None:
        """Change the text of a document.

        Raises:
            LookupError: it is not open.
        """
        document = self._open[self._key(params.text_document.uri)]
        for change in params.content_changes:
            document.text = document.text.changed(change)
        document.version = params.text_document.version
        if document.text.content != document.source.text:
            document.source = Source(document.path, document.text.content)

    def close(self, uri: str) -> Document | None:
        """Give a document, if it was open, back to the disk."""
        path = self._key(uri)
        self._parsed.pop(path, None)
        return self._open.pop(path, None)

    # --- paths ---

    def path(self, uri: str) -> str | None:
        """The path of a URI, None for one that is no file's. The bytes of a name that is no text are kept."""
        found = to_fs_path(uri)
        if found and "\ufffd" in found:
            found = unquote(urlsplit(uri).path, errors="surrogateescape")
        return os.path.normpath(found) if found and possible(found) else None

    def uri(self, path: str) -> str:
        """The URI of a path, as the client spells it where it is open."""
        document = self._opened(path)
        if document is not None:
            return document.uri
        try:
            return from_fs_path(path) or path
        except UnicodeEncodeError:  # a name of bytes that are no text
            return "file://" + quote(os.fsencode(path))

    def _key(self, uri: str) -> str:
        return self.path(uri) or f"<{uri}>"

    def _opened(self, path: str) -> Document | None:
        """The open document of a path, also of one that leads to it through links."""
        return self._open.get(path) or self._open.get(self._linked.get(path, ""))

    # --- contents ---

    def open_at(self, path: str) -> Document | None:
        """The open document of a path."""
        return self._opened(path)

    def is_open(self, path: str) -> bool:
        """Whether a document of this path is open."""
        return self._opened(path) is not None

    def is_file(self, path: Path) -> bool:
        """Whether there is such a file, or a document that would be stored there."""
        return self._opened(str(path)) is not None or is_file(path)

    def source(self, path: str, limit: int = MAX_BYTES) -> Source:
        """What a path holds; the same object for as long as it holds the same.

        Raises:
            InputError: it cannot be read, as `read_source` says.
        """
        document = self._opened(path)
        if document is not None:
            return document.source
        state = _state(path)
        known = self._disk.get(path)
        if known is not None and state is not None and known.state == state:
            return known.source
        self._disk.pop(path, None)
        source = read_source(path, limit)
        if state is not None:
            if known is not None and known.source.text == source.text:
                source = known.source
            self._disk[path] = _OnDisk(state, source)
        return source

    def text(self, source: Source) -> Text:
        """A source with positions."""
        document = self._open.get(source.path)
        if document is not None and document.source is source:
            return document.text
        known = self._texts.get(source.path)
        if known is None or known[0] is not source:
            marked = source.text.startswith("\ufeff")  # a byte order mark, which editors keep to themselves
            known = self._texts[source.path] = (source, Text(source.text, self.encoding, begin=int(marked)))
        return known[1]

    def lexed(self, source: Source) -> Lexed:
        """A policy's tree and tokens; cheap where little changed since this was asked for its path last."""
        known = self._parsed.pop(source.path, None)
        if known is None:
            memory = Memory()
            known = _Parsed(source, parse_with_tokens(source, memory), memory)
        elif known.source is not source:
            known.lexed = parse_with_tokens(source, known.memory)
            known.source = source
        self._parsed[source.path] = known  # the one asked for last stays longest
        if len(self._parsed) > _REMEMBERED:
            del self._parsed[next(iter(self._parsed))]
        return known.lexed

    @property
    def access(self) -> Access:
        """How modules that a policy uses are read: as they are in the editor."""
        from vigil_lang.semantics.modules import Access

        return Access(self.source, self._parse, self.is_file)

    def access_of(self, source: Source) -> Access:
        """The same for one policy: where it lies nowhere, only those modules are there that come with Vigil."""
        from vigil_lang.semantics.modules import Access

        if not source.path.startswith("<"):
            return self.access

        def refused(path: str, limit: int) -> Source:  # noqa: ARG001 - the signature of what reads
            raise InputError([Diagnostic.of("VGL001", "nothing lies beside this document", Source(path, ""))])

        return Access(refused, self._parse, lambda _: False)

    def _parse(self, source: Source) -> Parsed:
        return self.lexed(source).parsed

    def snapshot(self) -> Access:
        """What paths hold at this moment, for work in one thread beside the event loop."""
        from vigil_lang.semantics.modules import Access

        documents = self._open.values()
        known = {path: one.source for one in documents for path in (one.path, real_path(one.path))}
        memories: dict[str, Memory] = defaultdict(Memory)

        def read(path: str, limit: int = MAX_BYTES) -> Source:
            return known[path] if path in known else read_source(path, limit)

        def parse(source: Source) -> Parsed:
            return parse_with_tokens(source, memories[source.path]).parsed

        return Access(read, parse, lambda path: str(path) in known or is_file(path))


def scheme_of(uri: str) -> str:
    """What a URI begins with, in small letters; empty where it is a path."""
    return uri.partition(":")[0].lower() if ":" in uri else ""


def possible(path: str) -> bool:
    """Whether a file system can be asked about a path at all, which then is not done in a hundred places."""
    try:
        os.lstat(path)
    except OSError as error:
        return error.errno not in (errno.ENAMETOOLONG, errno.EINVAL)
    except ValueError:  # a NUL, or half a character
        return False
    return True


def _state(path: str) -> tuple[int, int] | None:
    try:
        found = Path(path).stat()
    except (OSError, ValueError):
        return None
    return found.st_mtime_ns, found.st_size
