"""What the project has to offer to its configuration: what its runs show of tools, its own kinds, params and files."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from vigil_lang.base.files import lies_in, real_path
from vigil_lang.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from vigil_lang.trace import Signature
    from vigil_lsp.workspace import Workspace

MAX_FILES = 300
"""Entries of a folder that are offered."""

_POLICIES = 200
"""Policies that are read for their params."""


@dataclass(frozen=True, slots=True)
class ProjectNames:
    """`tools` are the actions of the runs with their arguments; `kinds` those that are not of the vocabulary.

    `roles` are those that the configuration gives to each tool. `declared` finds the params of policies, which takes
    longer. `root` is the folder of the configuration.
    """

    root: str
    tools: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    kinds: tuple[str, ...] = ()
    roles: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    declared: Callable[[], Mapping[str, str]] = dict

    @property
    def params(self) -> Mapping[str, str]:
        """The params that the policies of the project declare, with their types."""
        return self.declared()


def names_of(workspace: Workspace, path: str) -> ProjectNames:
    """The names of the project of a configuration."""
    from vigil_lang.trace.vocabulary import vocabulary

    project = workspace.project_of(path)
    root = os.path.dirname(path)  # noqa: PTH120 - a text
    signature = workspace.recordings.signature_of(str(project.root))
    own = [kind for tool in project.settings.tools.values() for kind in (*tool.kinds, *tool.effects.values())]
    own += [kind for action in (signature.actions.values() if signature else ()) for kind in action.kinds]
    known = vocabulary().kinds
    return ProjectNames(
        root,
        _tools(signature),
        tuple(dict.fromkeys(kind for kind in own if kind not in known)),
        {name: tuple(tool.roles) for name, tool in project.settings.tools.items()},
        lambda: _params(workspace, project.found),
    )


def _tools(signature: Signature | None) -> dict[str, tuple[str, ...]]:
    if signature is None:
        return {}
    return {name: tuple(action.args) for name, action in sorted(signature.actions.items())}


def _params(workspace: Workspace, paths: Iterable[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for path in list(paths)[:_POLICIES]:
        reading = workspace.reading_of(path)
        for item in reading.file.items if reading is not None else ():
            if isinstance(item, tree.Param):
                found.setdefault(item.name.text, item.type)
    return found


def files_below(root: str, typed: str, endings: tuple[str, ...] = ("",)) -> list[str]:
    """The entries of the folder that a path so far leads to, as the configuration would name them, folders with `/`.

    Of files those whose names end so.
    """
    folder, _, _ = typed.rpartition("/")
    place = Path(root, folder)
    if ".." in Path(folder).parts or typed.startswith("/") or not lies_in(place, Path(real_path(root))):
        return []
    try:
        found = (entry for entry in place.iterdir() if entry.name.endswith(endings) or entry.is_dir())
        entries = sorted(found, key=lambda entry: (entry.is_file(), entry.name))[:MAX_FILES]
    except (OSError, ValueError):
        return []
    shown = [entry for entry in entries if not entry.name.startswith(".") and entry.name.isprintable()]
    before = f"{folder}/" if folder else ""
    return [f"{before}{entry.name}{'/' if entry.is_dir() else ''}" for entry in shown]
