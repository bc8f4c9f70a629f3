"""Documents that are generated, not stored: their kinds, their URIs, and how they are shown.

`vigil:/run/NAME.md?…` (run), `vigil:/witness/STATEMENT.md?…` (policy, maybe run),
`vigil:/explain/STATEMENT.md?…` (policy), `vigil:/tests/NAME.md?…` (path, maybe test) and `vigil:/codes/CODE.md`.
What they are about stands behind the `?` as a JSON object in base64url without padding: some clients decode and encode
a query anew, and only letters and digits survive that.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Literal, TypeAlias
from urllib.parse import quote, unquote, urlsplit

from lsprotocol import types

from vigil_lang.base.cache import folder as cache_folder
from vigil_lang.base.files import lies_in, project_root, real_path
from vigil_lang.base.outputs import rewrite
from vigil_lang.base.resources import resource
from vigil_lang.diagnostics import CODES, InputError
from vigil_lsp.recordings.process import Unanswered

if TYPE_CHECKING:
    from vigil_lsp.client import Client
    from vigil_lsp.workspace import Workspace

SCHEME = "vigil"

Kind: TypeAlias = Literal["run", "witness", "explain", "tests", "codes"]

_ASKED: dict[str, tuple[str, ...]] = {
    "run": ("run",),
    "witness": ("policy",),
    "explain": ("policy",),
    "tests": ("path",),
    "codes": (),
}
_UPWARDS = re.compile(r"\]\((\.\./[\w./-]+)")
_PLAIN = re.compile(r"[^A-Za-z0-9_.-]+")


@dataclass(frozen=True, slots=True)
class Virtual:
    """A document: its kind, what it is called, and what it is about, as (name, value) pairs."""

    kind: str
    name: str
    about: tuple[tuple[str, str], ...] = ()

    @property
    def uri(self) -> str:
        """Its URI."""
        return f"{SCHEME}:/{self.kind}/{quote(self.name, safe='')}.md{f'?{_packed(self.about)}' if self.about else ''}"

    def get(self, name: str) -> str | None:
        """A value of what it is about."""
        return dict(self.about).get(name)


def run(path: str) -> Virtual:
    """The timeline of a run."""
    return Virtual("run", PurePosixPath(path).name, (("run", path),))


def witness(policy: str, statement: str, only: str | None = None) -> Virtual:
    """Where runs, or one of them, break a statement."""
    about = (("policy", policy), *((("run", only),) if only is not None else ()))
    return Virtual("witness", statement, about)


def explanation(policy: str, statement: str) -> Virtual:
    """What a statement means."""
    return Virtual("explain", statement, (("policy", policy),))


def results(path: str, only: str | None = None) -> Virtual:
    """What came of tests."""
    return Virtual(
        "tests", PurePosixPath(path).stem, (("path", path), *((("test", only),) if only is not None else ()))
    )


def code_page(code: str) -> Virtual:
    """The page of a diagnostic code."""
    return Virtual("codes", code)


def parsed(uri: str) -> Virtual | None:
    """The document of a URI; None where the URI is not of this server."""
    try:
        parts = urlsplit(uri)
        about = _unpacked(parts.query)
    except (ValueError, RecursionError):
        return None
    _, _, rest = unquote(parts.path).partition("/")
    kind, _, name = rest.partition("/")
    if parts.scheme != SCHEME or kind not in _ASKED or not name or any(key not in about for key in _ASKED[kind]):
        return None
    return Virtual(kind, name.removesuffix(".md"), tuple(about.items()))


def _packed(about: tuple[tuple[str, str], ...]) -> str:
    text = json.dumps(dict(about), ensure_ascii=False, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode("utf-8", "surrogatepass")).decode().rstrip("=")


def _unpacked(query: str) -> dict[str, str]:
    """What a document is about.

    Raises:
        ValueError: this is not how that is written.
    """
    if not query:
        return {}
    data = base64.b64decode(query + "=" * (-len(query) % 4), altchars=b"-_", validate=True)
    about = json.loads(data.decode("utf-8", "surrogatepass"))
    if not isinstance(about, dict) or not all(isinstance(value, str) for value in about.values()):
        raise ValueError("an object of texts is wanted")
    return about


async def text_of(document: Virtual, workspace: Workspace) -> str:
    """The text of a document, as Markdown.

    Raises:
        Unanswered: there is none, and why.
    """
    recordings, get = workspace.recordings, document.get
    for name in _ASKED.get(document.kind, ()):
        check_readable(get(name) or "", workspace)
    match document.kind:
        case "run":
            return (await recordings.timeline(get("run") or "")).text
        case "witness":
            return await recordings.witness(get("policy") or "", document.name, get("run"))
        case "explain":
            return await recordings.explanation(get("policy") or "", document.name)
        case "tests":
            return (await recordings.tests(get("path") or "", get("test"))).text
        case _:
            if document.name not in CODES:
                raise Unanswered(f"there is no code `{document.name}`")
            return _page(resource("codes", f"{document.name}.md"))


def _page(path: Path) -> str:
    """A page with links to the files beside its folder, which a generated document has not."""
    text = path.read_text(encoding="utf-8")
    return _UPWARDS.sub(lambda link: f"]({Path(real_path(path.parent / link[1])).as_uri()}", text)


def check_readable(path: str, workspace: Workspace) -> None:
    """See that a file may be shown: a link to it may stand in any document, and lead anywhere.

    It lies in the workspace, links followed, or is a run that the project names. What was opened from elsewhere, or
    without a workspace, lies in the project around it.

    Raises:
        Unanswered: it does not.
    """
    file = path if os.path.lexists(path) else path.rpartition("#")[0] or path
    if file in workspace.recordings.recordings():
        return
    folders = workspace.projects.folders
    elsewhere = not any(Path(file).is_relative_to(folder) for folder in folders)
    if elsewhere and (not folders or workspace.files.is_open(file)):
        folders = [*folders, project_root(Path(file).parent)]
    if not any(lies_in(file, Path(real_path(folder))) for folder in folders):
        raise Unanswered("only what lies in the workspace folder is read, links followed")


async def show(document: Virtual, text: str, client: Client) -> str:
    """Show a document to the user in whatever way the client can; the URI of what is shown.

    Clients that ask for texts of `vigil:` URIs do so; for others it is stored in a read-only file.
    """
    shows = client.supports("window.show_document.support")
    if shows and client.supports("workspace.text_document_content"):
        uri = document.uri
        await client.refresh_document(uri)
    else:
        path = _stored(document, text)
        if path is None:
            client.show_message(
                "The document cannot be shown: there is no folder to keep it in", types.MessageType.Error
            )
            return document.uri
        uri = path.as_uri()
        if not shows:
            client.show_message(f"{document.name}: see {path}")
            return uri
    await client.show_document(uri)
    return uri


def _stored(document: Virtual, text: str) -> Path | None:
    """A file of the user's own that holds a document, only to be read; None where there is no place for one."""
    folder = cache_folder("documents")
    if folder is None:
        return None
    digest = hashlib.sha256(document.uri.encode()).hexdigest()[:12]
    path = folder / f"{document.kind}-{_PLAIN.sub('-', document.name)[:60]}-{digest}.md"
    try:
        with suppress(FileNotFoundError):
            path.chmod(0o600)
        rewrite(str(path), text)
        path.chmod(0o400)
    except (OSError, InputError):
        return None
    return path
