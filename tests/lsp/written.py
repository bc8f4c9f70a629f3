"""Policies in a folder, read as the server reads them, for tests that need no server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pygls.uris import from_fs_path

from vigil_lsp.files import Files
from vigil_lsp.names import Names
from vigil_lsp.reading import Reading, Readings

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pytest


def shared(factory: pytest.TempPathFactory) -> Path:
    """One folder for all generated cases of a session, apart from the folders above those of other tests."""
    folder = factory.getbasetemp() / "generated"
    folder.mkdir(exist_ok=True)
    return folder


class Project:
    """Policies by the names of their files."""

    def __init__(self, folder: Path, texts: Mapping[str, str], params: Mapping[str, object] | None = None) -> None:
        self.folder = folder.resolve()
        self.files = Files()
        self.params = params or {}
        self._readings = Readings(self.files)
        for name, text in texts.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="")
        self.texts = dict(texts)

    def __getitem__(self, name: str) -> Reading:
        return self._readings.of(self.files.source(self.path(name)), self.params)

    def path(self, name: str) -> str:
        """Where a file of the project is."""
        return str(self.folder / name)

    def uri(self, name: str) -> str:
        """The URI of a file of the project."""
        return from_fs_path(self.path(name)) or ""

    @property
    def names(self) -> Names:
        """The names of all policies."""
        return Names(self[name] for name in self.texts if name.endswith(".vgl"))

    def offset(self, where: str) -> tuple[str, int]:
        """File and offset of a place, `a.vgl: … co|nsumes(x)`: the bar is the place in a text that is there once."""
        name, _, marked = where.partition(": ")
        before, _, after = marked.partition("|")
        assert self.texts[name].count(before + after) == 1, where
        return name, self.texts[name].index(before + after) + len(before)
