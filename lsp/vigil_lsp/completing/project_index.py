"""What else there is in a project: modules, recordings, documents and what is cited of them. Belongs to the loop."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from vigil_lang.diagnostics import InputError
from vigil_lang.semantics.modules import is_test_file
from vigil_lsp.completing.context import Importable
from vigil_lsp.completing.modules import relative_name, standard
from vigil_lsp.quotations import quotations

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.diagnostics import Source
    from vigil_lsp.reading import Reading
    from vigil_lsp.workspace import Workspace

_MOST_MODULES = 200
_PARSED_AT_ONCE = 5
"""New modules of the project that one answer reads; the next answers read the others."""
_MOST_ENTRIES = 3_000
_MOST_FILES = 200
_DEEPEST = 6
_SKIPPED = frozenset({"node_modules", "__pycache__", "venv", "dist", "build"})


class ProjectIndex:
    """Looks things up in a workspace and remembers what it has read."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._modules: dict[str, tuple[Source, Importable]] = {}
        self.missed = False
        """Whether the last answer left something out."""

    def importable(self, reading: Reading) -> list[Importable]:
        """The modules that a policy could use: standard ones, and those in its folder and below."""
        self.missed = False
        left = _PARSED_AT_ONCE
        found = [module for name, path in standard() if (module := self._read(name, str(path))[0]) is not None]
        for name, path in self._own(reading):
            module, parsed = self._read(name, path, may_parse=left > 0)
            left -= parsed
            if module is not None:
                found.append(module)
        return found

    def read_ahead(self) -> bool:
        """Read the next standard module that no answer has read yet; whether there was one."""
        return any(self._read(name, str(path))[1] for name, path in standard())

    def _own(self, reading: Reading) -> Iterator[tuple[str, str]]:
        """The modules of the project that a policy could use, by the names for it."""
        path = reading.source.path
        if path.startswith("<"):
            return
        folder = Path(path).parent
        others = (
            other for other in self._workspace.project_of(path).found if other != path and not is_test_file(other)
        )
        names = ((relative_name(other, folder), other) for other in others)
        for at, (name, other) in enumerate((name, other) for name, other in names if name is not None):
            if at >= _MOST_MODULES:
                return
            yield name, other

    def _read(self, name: str, path: str, *, may_parse: bool = True) -> tuple[Importable | None, bool]:
        """A module, and whether it had to be parsed."""
        files = self._workspace.files
        try:
            source = files.source(path)
        except InputError:
            return None, False
        known = self._modules.get(path)
        if known is not None and known[0] is source:
            return Importable(name, known[1].file), False
        if not may_parse:
            self.missed = True
            return None, False
        module = Importable(name, files.lexed(source).parsed.file)
        self._modules[path] = (source, module)
        return module, True

    def recordings(self, reading: Reading) -> list[str]:
        """Recordings of the project, as named from the policy's folder; those below it first."""
        return self._named(reading, (".jsonl", ".json"))

    def documents(self, reading: Reading) -> list[str]:
        """Documents of the project, likewise."""
        return self._named(reading, (".md", ".markdown", ".txt"))

    def citations(self, reading: Reading) -> Iterator[tuple[str, str, str]]:
        """(policy, file, sentence) of what this policy cites, and those that were read already."""
        path = reading.source.path
        others = (
            self._workspace.readings.last(other) for other in self._workspace.project_of(path).found if other != path
        )
        for one in (reading, *(other for other in others if other is not None)):
            for quotation in quotations(one.file):
                if quotation.sentence is not None:
                    yield one.source.path, quotation.file, quotation.sentence

    def _named(self, reading: Reading, endings: tuple[str, ...]) -> list[str]:
        path = reading.source.path
        if path.startswith("<"):
            return []
        files = _files(self._workspace.project_of(path).root, endings)
        found = [os.path.relpath(file, Path(path).parent).replace(os.sep, "/") for file in files]
        return sorted(found, key=lambda name: (name.startswith(".."), name.count("/"), name))[:_MOST_FILES]


def _files(root: Path, endings: tuple[str, ...]) -> Iterator[str]:
    """Files below a folder that end so, as far as few steps lead."""
    pending, looked = [(str(root), 0)], 0
    while pending:
        folder, depth = pending.pop(0)
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    looked += 1
                    if looked > _MOST_ENTRIES:
                        return
                    if entry.name.startswith(".") or entry.name in _SKIPPED:
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        if depth < _DEEPEST:
                            pending.append((entry.path, depth + 1))
                    elif entry.name.endswith(endings):
                        yield entry.path
        except OSError:
            continue
