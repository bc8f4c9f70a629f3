"""Labels of recorded runs: which are benign, and which a gate should catch."""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

from vigil_lang.ingest.lines import Lines
from vigil_lang.ingest.load import opened
from vigil_lang.trace import checked

Label: TypeAlias = Literal["benign", "harmful"]

_LABELS: dict[str, Label | None] = {"benign": "benign", "harmful": "harmful", "violating": "harmful", "excluded": None}
_PARTS = re.compile("[/#]")


class Labels:
    """Which runs are benign and which are harmful, as a file of JSON Lines says: `{"run":…, "label":"benign"}`.

    `run` is the end or another part of a run's path or name, by whole components, the last of which may lack its
    extension. A run that any line calls harmful is harmful.
    """

    def __init__(self, path: str) -> None:
        """Read the file.

        Raises:
            InputError: VGL001 it cannot be read, VGL601 a line is no label.
        """
        self._labels: dict[tuple[str, ...], Label] = {}
        self._used: set[tuple[str, ...]] = set()
        with opened(path) as (stream, name):
            lines = Lines(stream, name)
            for line in lines:
                run, label = line.get("run"), line.get("label")
                if not isinstance(run, str) or not (parts := components(run)):
                    raise lines.fault("`run` must be a text that names a run", "run")
                if not isinstance(label, str) or label not in _LABELS:
                    raise lines.fault(f"`label` must be `benign` or `harmful`, not {checked.shown(label)}", "label")
                known = _LABELS[label]
                if known is not None and self._labels.get(parts) != "harmful":
                    self._labels[parts] = known
        self._longest = max(map(len, self._labels), default=0)

    def of(self, path: str) -> Label | None:
        """The label of a run, None where the file has none for it."""
        found = names_of(path, self._longest) & self._labels.keys()
        self._used |= found
        labels = {self._labels[named] for named in found}
        return "harmful" if "harmful" in labels else "benign" if labels else None

    @property
    def unused(self) -> int:
        """How many labels name no run that was asked for."""
        return len(self._labels) - len(self._used)


def components(path: str) -> tuple[str, ...]:
    """The components of a run's path, or of a part of one; a `#` begins the name of a run in a recording of several."""
    return tuple(part for part in _PARTS.split(path) if part not in ("", "."))


def names_of(path: str, longest: int) -> set[tuple[str, ...]]:
    """All that names a run: parts of its path of at most so many components, the last as it is or without extension."""
    parts = components(path)
    found: set[tuple[str, ...]] = set()
    for end in range(1, len(parts) + 1):
        for start in range(max(0, end - longest), end):
            named = parts[start:end]
            found |= {named, (*named[:-1], named[-1].rpartition(".")[0])}
    return found
