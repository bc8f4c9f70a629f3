"""Recordings that tests name: read once, and only from inside the project."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from vigil_lang.base.files import is_file, project_root, real_path
from vigil_lang.diagnostics import InputError, Note
from vigil_lang.semantics.text_patterns import quote
from vigil_lang.testing.test_errors import short

if TYPE_CHECKING:
    from vigil_lang.abstraction.tools import Tool
    from vigil_lang.diagnostics import Diagnostic, Span
    from vigil_lang.testing.test_errors import Faults
    from vigil_lang.trace import Trace

_TRIED = 16
"""Places in a name at which it may end and the run's begin."""


def leads_out(file: Path) -> bool:
    """Whether a file is a link out of the project it is in."""
    target = Path(real_path(file))  # a link that leads to itself is no error here
    return file.is_symlink() and not target.is_relative_to(project_root(Path(real_path(file.parent))))


@dataclass(frozen=True)
class Fixtures:
    """Recordings by their files, read once; `tools` are those that the project describes."""

    tools: dict[str, Tool] = field(default_factory=dict)
    _read: dict[Path, list[Trace] | InputError] = field(default_factory=dict)

    def trace(self, name: str, span: Span, faults: Faults) -> Trace | None:
        """The run a test names, beside the test's own file; `runs.jsonl#monday` is one run of several.

        None when it cannot be had, which is then reported.
        """
        try:
            return self._trace(name, span, faults)
        except (OSError, ValueError, RuntimeError) as error:  # a NUL in a path, a link that leads to itself
            reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
            faults.add(f"`{short(name)}` cannot be read: {reason.lower()}", span)
            return None

    def _trace(self, name: str, span: Span, faults: Faults) -> Trace | None:
        folder = Path(real_path(faults.source.path)).parent
        if not name:
            faults.unknown("the run's file has no name", name, span, _beside(folder, ""), quoted=True)
            return None
        file, run = _split(folder, name)
        place = Path(real_path(folder / file))
        if not place.is_relative_to(project_root(folder)):
            faults.add(f"`{short(file)}` leads out of the project's folder", span)
            return None
        if not is_file(place):
            is_folder = place.is_dir()
            what = "is a folder, not a run" if is_folder else "is no file" if place.exists() else "does not exist"
            before = f"{file.rstrip('/')}/" if is_folder else file[: file.rfind("/") + 1]
            beside = _beside(place if is_folder else place.parent, before)
            faults.unknown(f"`{short(file)}` {what}", file, span, beside, quoted=True)
            return None
        if place not in self._read:
            self._read[place] = _load(place, self.tools)
        found = self._read[place]
        if isinstance(found, InputError):
            _broken(file, span, found.diagnostics[0], faults)
            return None
        from vigil_lang.runs import why_unusable

        chosen = _chosen(found, file, run, span, faults)
        if chosen is not None and (doubt := why_unusable(chosen.run, len(chosen))) is not None:
            what = "holds no events" if doubt.code == "VGL605" else f"is no run: {doubt.message}"
            faults.add(f"`{short(name)}` {what}", span, "a run without events is `run { }`")
            return None
        return chosen


def _split(folder: Path, name: str) -> tuple[str, str | None]:
    """The file that is named, and the run behind a `#`; both may have one in their names."""
    marks = (at for at in range(len(name) - 1, 0, -1) if name[at] == "#")
    ends = [len(name), *islice(marks, _TRIED)]
    end = next((end for end in ends if is_file(folder / name[:end])), ends[:2][-1])
    return name[:end], None if end == len(name) else name[end + 1 :]


def _chosen(found: list[Trace], file: str, run: str | None, span: Span, faults: Faults) -> Trace | None:
    """The run with this name, or the only run; unnamed runs are called by their number."""
    names = [trace.run.name or str(number) for number, trace in enumerate(found, 1)]
    if run is None and len(found) > 1:
        help_text = f"name one of them: `run {quote(f'{file}#{names[0]}')}`"
        faults.add(f"`{short(file)}` holds {len(found)} runs", span, help_text)
        return None
    chosen = [trace for trace, name in zip(found, names, strict=True) if run in (None, name)]
    if not chosen:
        known = [f"{file}#{name}" for name in names]
        faults.unknown(f"the recording has no run `{short(run or '')}`", f"{file}#{run}", span, known, quoted=True)
    elif len(chosen) > 1:
        faults.add(f"the recording has {len(chosen)} runs `{short(run or '')}`", span, "each run needs its own name")
    return chosen[0] if len(chosen) == 1 else None


def _broken(name: str, span: Span, why: Diagnostic, faults: Faults) -> None:
    notes = (Note(why.message, why.source, why.span),) if why.source.text else ()
    faults.add(f"`{short(name)}` is no run: {why.message}", span, why.help, notes=notes)


def _load(place: Path, tools: dict[str, Tool]) -> list[Trace] | InputError:
    from vigil_lang.abstraction.run import Options
    from vigil_lang.runs import load_traces

    try:
        return list(
            load_traces(place, options=Options(allow_empty=True, tools=tools))
        )  # of several, the one that is named counts
    except InputError as error:
        return error


def _beside(folder: Path, before: str) -> list[str]:
    """The recordings in a folder, as a test there names them."""
    endings = (".jsonl", ".json", ".txt", ".traj", ".eval", ".log", ".gz")
    if not folder.is_dir():
        return []
    inside = project_root(folder)
    files = (p for p in folder.iterdir() if p.name.endswith(endings) and p.is_file())
    return sorted(before + p.name for p in files if Path(real_path(p)).is_relative_to(inside))
