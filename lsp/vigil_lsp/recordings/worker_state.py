"""What the process that knows the runs holds: policies as the editor has them, and the runs they are held against."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from vigil_lang.base.files import is_file, read_source, real_path
from vigil_lang.diagnostics import InputError, Source
from vigil_lang.semantics.modules import MAX_BYTES, Access, is_shipped, is_test_file
from vigil_lang.semantics.policy import read_policy
from vigil_lang.syntax.memory import Memory
from vigil_lang.syntax.parse import parse
from vigil_lsp.recordings.judging import modules_of
from vigil_lsp.recordings.loading import RecordingCache, Runs

if TYPE_CHECKING:
    from vigil_lang.semantics.modules import Module
    from vigil_lang.semantics.policy import Policy
    from vigil_lang.syntax import Parsed
    from vigil_lsp.recordings.cached_run import CachedRun
    from vigil_lsp.recordings.run_sources import RunSources, TrackedPolicy

_REMEMBERED = 100
"""Files whose parse results are kept."""


class State:
    """Policies by path, runs by what names them."""

    def __init__(self) -> None:
        self.tracked: dict[str, TrackedPolicy] = {}
        self.recordings = RecordingCache()
        self.runs: dict[RunSources, Runs] = {}
        self._memories: dict[str, Memory] = {}
        self._policies: dict[str, Policy] = {}

    # --- policies ---

    def set(self, tracked: TrackedPolicy) -> None:
        """Track a policy, or a newer text of it."""
        self.tracked[tracked.path] = tracked
        if tracked.sources.given and tracked.sources not in self.runs:
            self.runs[tracked.sources] = Runs(tracked.sources)

    def drop(self, path: str) -> None:
        """A policy is no longer tracked."""
        self.tracked.pop(path, None)
        self._memories.pop(path, None)
        self._policies.pop(path, None)

    def tidy(self) -> None:
        """Forget runs that no policy is held against."""
        used = {tracked.sources for tracked in self.tracked.values()}
        self.runs = {sources: runs for sources, runs in self.runs.items() if sources in used}
        self.recordings.keep(path for runs in self.runs.values() for path in runs.files())

    def judged(self) -> list[str]:
        """The policies that are judged without being asked about: those somebody looks at."""
        return [p for p, a in self.tracked.items() if a.shown and a.sources in self.runs and not is_test_file(p)]

    def source(self, path: str) -> Source:
        """The text of a policy as the editor has it.

        Raises:
            InputError: it cannot be read.
        """
        return self._read(path, MAX_BYTES)

    def policy(self, path: str) -> Policy | None:
        """A policy as the editor has it, None where it cannot be read. It is read again when a text is another one."""
        tracked = self.tracked.get(path)
        params = tracked.params if tracked is not None else {}
        known = self._policies.get(path)
        try:
            if known is not None and known.params == params and all(map(self._is_current, modules_of(known))):
                return known
            self._policies[path] = known = read_policy(self.source(path), params, access=self.access)
        except InputError:
            self._policies.pop(path, None)
            return None
        return known

    @property
    def statements(self) -> int:
        """How many statements there are in the policies that were asked about."""
        return sum(len(policy.statements) for policy in self._policies.values())

    def _is_current(self, module: Module) -> bool:
        return is_shipped(module.source.path) or self._read(module.source.path).text == module.source.text

    def folder_of(self, path: str) -> str:
        """The folder of the project that a policy belongs to."""
        tracked = self.tracked.get(path)
        return tracked.folder if tracked is not None else os.path.dirname(path)  # noqa: PTH120 - a text

    def tools_for(self, path: str) -> str:
        """The tools that the project of a policy or a recording describes, as JSON."""
        if path in self.tracked:
            return self.tracked[path].sources.tools
        within = (a.sources.tools for a in self.tracked.values() if path.startswith(os.path.join(a.folder, "")))  # noqa: PTH118
        return next(within, "")

    @property
    def access(self) -> Access:
        """How modules are read: as the editor has them."""
        return Access(self._read, self._parse, self._is_file)

    def _read(self, path: str, limit: int = MAX_BYTES) -> Source:
        tracked = self.tracked.get(path)
        if tracked is not None and tracked.text is not None:
            return Source(path, tracked.text)
        return read_source(path, limit)

    def _is_file(self, path: Path) -> bool:
        tracked = self.tracked.get(str(path))
        return (tracked is not None and tracked.text is not None) or is_file(path)

    def _parse(self, source: Source) -> Parsed:
        memory = self._memories.pop(source.path, None) or Memory()
        self._memories[source.path] = memory
        if len(self._memories) > _REMEMBERED:
            del self._memories[next(iter(self._memories))]
        return parse(source, memory)

    # --- runs ---

    def runs_for(self, path: str) -> Runs | None:
        """The runs that a policy is held against; None where none are named, or they are not read yet."""
        tracked = self.tracked.get(path)
        runs = self.runs.get(tracked.sources) if tracked is not None else None
        return runs if runs is not None and runs.summary is not None else None

    def recorded_for(self, path: str) -> tuple[CachedRun, ...]:
        """Likewise, one by one; none where there are none."""
        runs = self.runs_for(path)
        return runs.recorded if runs is not None else ()

    def all_recorded(self) -> list[CachedRun]:
        """Every run that was read."""
        return [run for runs in self.runs.values() for run in runs.recorded]

    def policies_for(self, file: str) -> list[str]:
        """The policies that a recording is held against; for one that nobody names, those of the project it lies in."""
        real = real_path(file)
        bases = {sources for sources, runs in self.runs.items() if real in map(real_path, runs.files())}
        named = [path for path, tracked in self.tracked.items() if tracked.sources in bases]
        if named:
            return named
        folders = {tracked.folder for tracked in self.tracked.values()}
        around = {folder for folder in folders if Path(real).is_relative_to(real_path(folder))}
        return [path for path, tracked in self.tracked.items() if tracked.folder in around]
