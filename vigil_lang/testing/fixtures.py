"""Recordings that tests name: read once, and only from inside the project."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from vigil_lang.diagnostics import InputError, Note
from vigil_lang.testing.faults import short

if TYPE_CHECKING:
    from vigil_lang.diagnostics import Diagnostic, Span
    from vigil_lang.testing.faults import Faults
    from vigil_lang.trace import Trace

_MARKS = (".git", "pyproject.toml", "vigil.toml")


def project(folder: Path) -> Path:
    """The folder a project is in: the nearest one upwards that has a mark of one, else the folder itself."""
    return next((p for p in (folder, *folder.parents) if any((p / mark).exists() for mark in _MARKS)), folder)


@dataclass(frozen=True)
class Fixtures:
    """Recordings by their files; those of several runs hold each by its name."""

    _read: dict[Path, list[Trace] | InputError] = field(default_factory=dict)

    def trace(self, name: str, span: Span, faults: Faults) -> Trace | None:
        """The run a test names, beside the test's own file; `runs.jsonl#monday` is one run of several.

        None when it cannot be had, which is then reported.
        """
        try:
            found = self._traces(name, span, faults)
        except (OSError, ValueError, RuntimeError) as error:  # a NUL in a path, a link that leads to itself
            reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
            faults.add(f"`{short(name)}` cannot be read: {reason.lower()}", span)
            return None
        if isinstance(found, InputError):
            self._broken(name, span, found.diagnostics[0], faults)
            return None
        if found is None:
            return None
        wanted = name.rpartition("#")[2] if "#" in name else ""
        if len(found) == 1 or wanted:
            chosen = [t for t in found if len(found) == 1 or t.run.path.endswith(f"#{wanted}")]
            if chosen:
                return chosen[0]
            names = [f"{name.rpartition('#')[0]}#{t.run.path.rpartition('#')[2]}" for t in found]
            faults.unknown(f"the recording has no run `{wanted}`", name, span, names, quoted=True)
            return None
        one = found[0].run.path.rpartition("#")[2]
        faults.add(f"`{short(name)}` holds {len(found)} runs", span, f'name one of them: `run "{name}#{one}"`')
        return None

    def _traces(self, name: str, span: Span, faults: Faults) -> list[Trace] | InputError | None:
        folder = Path(faults.source.path).resolve().parent
        place = (folder / name).resolve()
        if not place.exists() and "#" in name:
            place = (folder / name.rpartition("#")[0]).resolve()
        if not place.is_relative_to(project(folder)):
            faults.add(f"`{short(name)}` leads out of the project's folder", span)
            return None
        if not place.is_file():
            what = "is a folder, not a run" if place.is_dir() else "does not exist"
            inside = place if place.is_dir() else place.parent
            before = f"{name.rstrip('/')}/" if place.is_dir() else name[: name.rfind("/") + 1]
            faults.unknown(f"`{short(name)}` {what}", name, span, _beside(inside, before), quoted=True)
            return None
        if place not in self._read:
            self._read[place] = _load(place)
        return self._read[place]

    def _broken(self, name: str, span: Span, why: Diagnostic, faults: Faults) -> None:
        notes = (Note(why.message, why.source, why.span),) if why.source.text else ()
        faults.add(f"`{short(name)}` is no run: {why.message}", span, why.help, notes=notes)


def _load(place: Path) -> list[Trace] | InputError:
    from vigil_lang.runs import load_traces

    try:
        return list(load_traces(place))
    except InputError as error:
        return error


def _beside(folder: Path, before: str) -> list[str]:
    """The recordings in a folder, as a test there names them."""
    endings = (".jsonl", ".json", ".txt", ".traj", ".eval", ".log", ".gz")
    if not folder.is_dir():
        return []
    return sorted(before + p.name for p in folder.iterdir() if p.name.endswith(endings))
