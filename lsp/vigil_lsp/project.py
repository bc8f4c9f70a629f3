"""What a folder's configuration says of the policies in it, and which policies there are."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from vigil_lang.base.files import is_file, leads_out, project_root, real_path
from vigil_lang.documents.library import Library
from vigil_lang.lint.run import Plan
from vigil_lang.project.configuration import load

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from vigil_lang.project.configuration import Loaded
    from vigil_lang.project.settings import Settings
    from vigil_lang.semantics.modules import Access
    from vigil_lang.trace import Signature

MAX_POLICIES = 5_000
"""Policies of one project that are read without being open."""

MAX_SECONDS = 0.5
"""How long they are looked for: somebody may have opened a whole disk."""

_SKIPPED = frozenset({"node_modules", "__pycache__", "venv", "dist", "build"})
_CONFIGURATIONS = ("vigil.toml", "pyproject.toml")


@dataclass(frozen=True, eq=False)
class Project:
    """One folder, absolute, with the configuration that counts in it. `inside`: it is part of the workspace."""

    root: Path
    loaded: Loaded = field(repr=False)
    inside: bool = True

    @property
    def settings(self) -> Settings:
        """What the configuration sets; paths in it are as seen from `root`."""
        return self.loaded.settings

    @property
    def configuration(self) -> str | None:
        """The file that the settings come from."""
        path = self.loaded.path
        return None if path is None else os.path.normpath(self.root / path)

    @property
    def baseline(self) -> str | None:
        """The file with the known findings."""
        name = self.settings.lint.baseline
        return None if name is None else os.path.normpath(self.root / name)

    @cached_property
    def plan(self) -> Plan:
        """What its policies are linted by, without a signature or runs."""
        settings = self.settings
        return Plan(
            settings.selection,
            settings.params,
            inline_ignores=settings.lint.inline_ignores,
            documents=Library(),
            tools=settings.known_tools,
        )

    def plan_with(self, signature: Signature | None, access: Access) -> Plan:
        """What its policies are linted by, with Σ where that is known, and documents as they are open."""
        return replace(self.plan, signature=signature, access=access)

    @cached_property
    def everything(self) -> tuple[str, ...]:
        """The policies and tests below the folder, sorted.

        Outside the workspace, where a root is only guessed, none: there what is open is all there is.
        """
        return tuple(sorted(_policies(self.root))[:MAX_POLICIES]) if self.inside else ()

    @cached_property
    def found(self) -> tuple[str, ...]:
        """Those without the ones that the configuration excludes: it wants no findings of them."""
        return tuple(path for path in self.everything if not self.settings.excludes(path))


class Projects:
    """The projects of a workspace, by folder; forgotten when something about their files changed."""

    def __init__(self) -> None:
        self.folders: list[Path] = []
        self._known: dict[Path, Project] = {}
        self._roots: dict[Path, Path] = {}

    def of(self, path: str | None) -> Project:
        """The project that a file belongs to; without a file that of the first workspace folder."""
        root = self._root(Path(path)) if path is not None else (self.folders or [Path.cwd()])[0]
        if root not in self._known:
            inside = any(root == folder or folder in root.parents for folder in self.folders)
            self._known[root] = Project(root, load(root), inside)
        return self._known[root]

    def all(self) -> Iterable[Project]:
        """The projects of the workspace's folders, and those of files that were asked about."""
        for folder in self.folders:
            self.of(str(folder / "x"))
        return list(self._known.values())

    def forget(self) -> None:
        """Read configurations again, and look for policies again, when they are needed next."""
        self._known.clear()
        self._roots.clear()

    def paths(self) -> list[str]:
        """The policies and tests of all projects, each once, without those that its nearest project excludes."""
        found = dict.fromkeys(one for project in self.all() for one in project.found)
        return [one for one in found if not self.of(one).settings.excludes(one)]

    def around(self, path: str | None) -> list[str]:
        """The policies and tests that may have to do with the names of a file, excluded or not.

        All that could use it as a module is among them, also where there is too much to look at.
        """
        projects = {project.root: project for project in (self.of(path), *self.all())}
        found = dict.fromkeys(one for project in projects.values() for one in project.everything)
        if path is not None:
            found |= dict.fromkeys(self._above(Path(path).parent))
        return list(found)

    def _above(self, folder: Path) -> Iterator[str]:
        """The policies in a folder and in those that it is in, as far up as `use` leads down to it."""
        around = (folder, *folder.parents)
        top = next((one for one in reversed(around) if one in self.folders), None) or project_root(folder)
        for one in around[: around.index(top) + 1]:
            with suppress(OSError):
                found = sorted(map(str, one.glob("*.vgl")))
                yield from (path for path in found if not leads_out(path, project_root(Path(real_path(one)))))

    def _root(self, path: Path) -> Path:
        if path.parent not in self._roots:
            self._roots[path.parent] = self._looked_up(path)
        return self._roots[path.parent]

    def _looked_up(self, path: Path) -> Path:
        """The folder of the nearest configuration, else the workspace folder, else what looks like a project."""
        for folder in path.parents:
            if any(is_file(folder / name) for name in _CONFIGURATIONS):
                return folder
            if folder in self.folders:
                return folder
        return project_root(path.parent)


def _policies(root: Path) -> Iterator[str]:
    end = time.monotonic() + MAX_SECONDS
    within = project_root(Path(real_path(root)))
    for folder, folders, names in os.walk(root):
        if time.monotonic() > end:
            return
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _SKIPPED)
        paths = (os.path.join(folder, name) for name in names if name.endswith(".vgl"))  # noqa: PTH118 - many
        yield from (path for path in paths if not leads_out(path, within))
