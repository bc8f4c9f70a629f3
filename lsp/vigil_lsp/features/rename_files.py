"""`workspace/willRenameFiles`: the `use` lines that name a policy by its file go on naming it."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types

from vigil_lang.base.files import real_path
from vigil_lang.semantics.modules import is_shipped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from pygls.lsp.server import LanguageServer

    from vigil_lsp.reading import Reading
    from vigil_lsp.workspace import Workspace

_PART = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_FILES = types.FileOperationRegistrationOptions(
    [
        types.FileOperationFilter(types.FileOperationPattern("**/*.vgl"), "file"),
        types.FileOperationFilter(types.FileOperationPattern("**", types.FileOperationPatternKind.Folder), "file"),
    ]
)


def edits(readings: Iterable[Reading], renamed: Mapping[str, str]) -> Iterator[tuple[Reading, types.TextEdit]]:
    """The names of modules that change when files and folders, by absolute paths, are renamed.

    What no `use` can name from where it will stand, outside the folder of the policy, is left for the finding to say.
    """
    for reading in readings:
        here = real_path(reading.source.path)
        for use, module in reading.module.uses:
            path = real_path(module.source.path)
            if is_shipped(path) or (_after(path, renamed) == path and _after(here, renamed) == here):
                continue
            name = _name(_after(path, renamed), _after(here, renamed))
            if name is not None and name != use.module.text:
                yield reading, types.TextEdit(reading.text.range(use.module.span), name)


def _after(path: str, renamed: Mapping[str, str]) -> str:
    """Where a file will be."""
    for old, new in renamed.items():
        if path == old or path.startswith(old + os.sep):
            return new + path[len(old) :]
    return path


def _name(module: str, user: str) -> str | None:
    """What a policy calls a module by its file; None where it cannot."""
    folder, (stem, ending) = Path(user).parent, os.path.splitext(module)  # noqa: PTH122 - both parts
    if ending != ".vgl" or not Path(stem).is_relative_to(folder):
        return None
    parts = Path(stem).relative_to(folder).parts
    return "." + ".".join(parts) if all(map(_PART.fullmatch, parts)) else None


def register(server: LanguageServer, workspace: Workspace) -> None:
    """Answer it."""

    @server.feature(types.WORKSPACE_WILL_RENAME_FILES, _FILES)
    def will_rename(params: types.RenameFilesParams) -> types.WorkspaceEdit | None:
        renamed: dict[str, str] = {}
        for file in params.files:
            old, new = workspace.files.path(file.old_uri), workspace.files.path(file.new_uri)
            if old is not None and new is not None:
                renamed[real_path(old)] = real_path(new)
        changes: dict[str, list[types.TextEdit]] = {}
        seen = {one.source.path: one for file in params.files for one in workspace.policies(file.old_uri, ("use",))}
        for reading, edit in edits(seen.values(), renamed):
            changes.setdefault(reading.uri, []).append(edit)
        return types.WorkspaceEdit(changes) if changes else None
