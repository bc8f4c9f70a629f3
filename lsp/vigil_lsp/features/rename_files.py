"""`workspace/willRenameFiles`: what names a file or folder by its path goes on naming it.

Those are `use` lines, citations, the recordings of tests and of `// runs:` comments, and paths of configurations. A
policy takes along the tests that are named after it.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types

from vigil_lang.base.files import real_path
from vigil_lang.diagnostics import InputError
from vigil_lang.semantics.modules import TESTS, is_shipped, is_test_file
from vigil_lsp.path_mentions import located, mentions_in_configuration, mentions_in_policy, path_after

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from pygls.lsp.server import LanguageServer

    from vigil_lang.diagnostics import Source
    from vigil_lsp.client import Client
    from vigil_lsp.path_mentions import PathMention
    from vigil_lsp.reading import Reading
    from vigil_lsp.workspace import Workspace

_PART = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_FILES = types.FileOperationRegistrationOptions(
    [
        types.FileOperationFilter(types.FileOperationPattern("**/*", kind), "file")
        for kind in (types.FileOperationPatternKind.File, types.FileOperationPatternKind.Folder)
    ]
)


def edits_of_uses(readings: Iterable[Reading], renamed: Mapping[str, str]) -> Iterator[tuple[Reading, types.TextEdit]]:
    """The names of modules that change when files and folders, by absolute paths, are renamed.

    What no `use` can name from where it will stand, outside the folder of the policy, is left for the finding to say.
    """
    for reading in readings:
        here = real_path(reading.source.path)
        for use, module in reading.module.uses:
            path = real_path(module.source.path)
            if is_shipped(path) or (path_after(path, renamed) == path and path_after(here, renamed) == here):
                continue
            name = _name(path_after(path, renamed), path_after(here, renamed))
            if name is not None and name != use.module.text:
                yield reading, types.TextEdit(reading.text.range(use.module.span), name)


def _name(module: str, user: str) -> str | None:
    """What a policy calls a module by its file; None where it cannot."""
    folder, (stem, ending) = Path(user).parent, os.path.splitext(module)  # noqa: PTH122 - both parts
    if ending != ".vgl" or not Path(stem).is_relative_to(folder):
        return None
    parts = Path(stem).relative_to(folder).parts
    return "." + ".".join(parts) if all(map(_PART.fullmatch, parts)) else None


class _Changes:
    """The edits of a workspace, by document, that follow when files and folders are renamed."""

    def __init__(self, workspace: Workspace, renamed: Mapping[str, str]) -> None:
        self._workspace, self._renamed = workspace, renamed
        self.edits: dict[str, list[types.TextEdit]] = {}

    def in_policies(self, uris: Iterable[str]) -> None:
        """Mend policies and tests: those that move, and those that name what does."""
        workspace, renamed = self._workspace, self._renamed
        words = {os.path.splitext(os.path.basename(old))[0] for old in renamed}  # noqa: PTH119, PTH122 - texts
        near = dict.fromkeys(path for uri in uris for path in workspace.policy_paths(uri))
        paths = [p for p in near if path_after(located(p), renamed) != located(p) or workspace.names_any(p, words)]
        readings = [reading for path in paths if (reading := workspace.reading_of(path)) is not None]
        for reading, edit in edits_of_uses(readings, renamed):
            self.edits.setdefault(reading.uri, []).append(edit)
        for reading in readings:
            self._add(reading.source, mentions_in_policy(reading))

    def in_configurations(self) -> None:
        """Mend the configurations of the workspace, as they are open or on disk."""
        found = dict.fromkeys(one.configuration for one in self._workspace.projects.all())
        for path in found:
            with suppress(InputError):
                if path is not None:
                    source = self._workspace.files.source(path)
                    self._add(source, mentions_in_configuration(source))

    def _add(self, source: Source, mentions: Iterable[PathMention]) -> None:
        files = self._workspace.files
        text = files.text(source)
        for mention in mentions:
            if (new := mention.after(self._renamed)) is not None:
                edit = types.TextEdit(text.range(mention.span), new)
                self.edits.setdefault(files.uri(source.path), []).append(edit)


def _tests_along(workspace: Workspace, renamed: Mapping[str, str]) -> dict[str, str]:
    """The tests named after policies that are renamed, where nothing is overwritten: their names say what they test."""
    found = {}
    for old, new in renamed.items():
        if old.endswith(".vgl") and new.endswith(".vgl") and not (is_test_file(old) or is_test_file(new)):
            tests, moved = (f"{path.removesuffix('.vgl')}{TESTS}" for path in (old, new))
            if workspace.files.is_file(Path(tests)) and tests not in renamed and not os.path.lexists(moved):
                found[tests] = moved
    return found


def register(server: LanguageServer, workspace: Workspace, client: Client) -> None:
    """Answer it."""

    @server.feature(types.WORKSPACE_WILL_RENAME_FILES, _FILES)
    def will_rename(params: types.RenameFilesParams) -> types.WorkspaceEdit | None:
        renamed: dict[str, str] = {}
        for file in params.files:
            old, new = workspace.files.path(file.old_uri), workspace.files.path(file.new_uri)
            if old is not None and new is not None:
                renamed[located(old)] = located(new)
        along = (
            _tests_along(workspace, renamed) if types.ResourceOperationKind.Rename in client.resource_operations else {}
        )
        changes = _Changes(workspace, renamed | along)
        changes.in_policies(file.old_uri for file in params.files)
        changes.in_configurations()
        if not along:
            return types.WorkspaceEdit(changes.edits) if changes.edits else None
        return types.WorkspaceEdit(
            document_changes=[
                *(
                    types.TextDocumentEdit(
                        types.OptionalVersionedTextDocumentIdentifier(uri, _version(workspace, uri)), some
                    )
                    for uri, some in changes.edits.items()
                ),
                *(types.RenameFile(workspace.files.uri(old), workspace.files.uri(new)) for old, new in along.items()),
            ]
        )


def _version(workspace: Workspace, uri: str) -> int | None:
    document = workspace.document(uri)
    return None if document is None else document.version
