"""What a run is known to have in its files: texts it wrote or read, and the files that came with its skills."""

from __future__ import annotations

import os
from pathlib import Path

from vigil_lang import inputs

LARGEST = 1_000_000
"""Code points; a longer text is not remembered."""

MOST = 32_000_000
"""Code points over all files; what was remembered first is forgotten first."""


class KnownFiles:
    """Texts by normalised path (see `paths.resolve`).

    `shipped` is a folder with the files of skills, one folder a skill: the path ``…/skills/NAME/FILE`` of a run is
    looked for there as ``NAME/FILE`` where the run itself has not shown it.
    """

    def __init__(self, shipped: Path | None = None) -> None:
        self._texts: dict[str, str] = {}
        self._total = 0
        self._shipped = shipped.resolve() if shipped else None
        self._gone: set[str] = set()
        self._large: set[str] = set()

    def get(self, path: str) -> str | None:
        """The text a file has, None where that is not known."""
        found = self._texts.get(path)
        return found if found is not None or path in self._gone else self._from_skills(path)

    def put(self, path: str, text: str) -> None:
        """A file now has this text."""
        self.forget(path)
        self._gone.discard(path)
        if len(text) > LARGEST:
            self._large.add(path)
            return
        self._texts[path] = text
        self._total += len(text)
        while self._total > MOST:
            self._total -= len(self._texts.pop(next(iter(self._texts))))

    def forget(self, path: str) -> None:
        """A file has another text than before, or is gone."""
        self._total -= len(self._texts.pop(path, ""))
        self._gone.add(path)
        self._large.discard(path)

    def too_large(self, path: str) -> bool:
        """Whether a file was shown and had too long a text to be remembered."""
        return path in self._large

    def replace(self, path: str, old: str, new: str, *, everywhere: bool) -> None:
        """A text in a file is replaced; where the file is not known it stays so."""
        text = self.get(path)
        if text is None:
            return
        if not old or old not in text:
            self.forget(path)
        else:
            self.put(path, text.replace(old, new) if everywhere else text.replace(old, new, 1))

    def _from_skills(self, path: str) -> str | None:
        if self._shipped is None:
            return None
        _, found, below = path.rpartition("/skills/")
        if not found:
            return None
        place = Path(os.path.realpath(self._shipped / below))
        try:
            if not (place.is_relative_to(self._shipped) and place.is_file() and place.stat().st_size <= LARGEST):
                return None
            inputs.note(str(place))
            return place.read_text(encoding="utf-8")
        except (OSError, ValueError):
            return None
