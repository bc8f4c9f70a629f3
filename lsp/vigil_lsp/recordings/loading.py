"""The runs that policies are held against: found, read once, and read again when their files change."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from glob import has_magic
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from vigil_lang.abstraction.run import Options
from vigil_lang.abstraction.tools import named_tools
from vigil_lang.analysis.reachability import Reachability
from vigil_lang.base.files import lies_in, real_path, waits
from vigil_lang.diagnostics import Diagnostic, InputError, Source
from vigil_lang.diagnostics.secrets import hides, one_output
from vigil_lang.diagnostics.visible import as_argument
from vigil_lang.ingest.load import is_packed
from vigil_lang.project.paths import parted, trace_paths
from vigil_lang.report.recording import file_of
from vigil_lang.runs import load_traces
from vigil_lang.signatures import load_signature
from vigil_lang.trace import Action, Argument, Signature, merge, observe
from vigil_lang.trace.samples import Samples, sampled
from vigil_lsp.recordings.cached_run import CachedRun
from vigil_lsp.recordings.results import RunInfo, RunsSummary
from vigil_lsp.recordings.time_limit import TooLong, limited

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from vigil_lang.abstraction.tools import Tool
    from vigil_lsp.recordings.results import Setting
    from vigil_lsp.recordings.run_sources import RunSources

MAX_BYTES = 20_000_000
"""Bytes of a recording that is read in an editor; `vigil verify` reads larger ones."""

MAX_PACKED = 2_000_000
"""The same limit for a compressed recording, which may unpack to many times its size."""

MAX_ALTOGETHER = 100_000_000
"""Bytes of all recordings of a project that are read in an editor."""

MAX_FILES = 1_000

MAX_SECONDS = 2.0
"""How long the files that patterns stand for are looked for: one may be about a whole disk."""

_NAMED = 3
"""Recordings behind one pattern that cannot be read, each of which is told of."""

_NOTHING = Signature({}, "observed")


class FileState(NamedTuple):
    """What shows that a file is another one."""

    changed: int
    size: int


@dataclass(frozen=True, slots=True)
class Loaded:
    """A recording as it was read: its runs, or what is wrong with it."""

    state: FileState
    runs: tuple[CachedRun, ...] = ()
    findings: tuple[Diagnostic, ...] = ()


def state_of(path: str) -> FileState | None:
    """The state of a file, None where there is none."""
    try:
        found = Path(path).stat()
    except (OSError, ValueError):
        return None
    return FileState(found.st_mtime_ns, found.st_size)


class RecordingCache:
    """Recordings by path, each read once for all who name it."""

    def __init__(self) -> None:
        self._loaded: dict[str, Loaded] = {}
        self._tools: dict[str, str] = {}

    def current(self, path: str, tools: str = "") -> bool:
        """Whether a file was read as it is now, with these tools."""
        known = self._loaded.get(path)
        return known is not None and known.state == state_of(path) and self._tools[path] == tools

    def load(self, path: str, tools: str = "") -> Loaded:
        """A recording, read again where its file changed; what is wrong with it becomes findings.

        `tools` are those that the project describes, as JSON.
        """
        if not self.current(path, tools):
            self._loaded[path] = _read(path, state_of(path) or FileState(0, 0), tools)
            self._tools[path] = tools
        return self._loaded[path]

    def keep(self, paths: Iterable[str]) -> None:
        """Forget all recordings but these."""
        kept = set(paths)
        self._loaded = {path: loaded for path, loaded in self._loaded.items() if path in kept}


def too_large(path: str, size: int) -> int | None:
    """The bytes that a recording may have to be read in an editor, where it has more."""
    if size <= min(MAX_PACKED, MAX_BYTES):
        return None
    most = MAX_PACKED if is_packed(path) else MAX_BYTES
    return most if size > most else None


def tools_of(text: str) -> dict[str, Tool]:
    """Tools by name, from the JSON of a project's settings."""
    return named_tools(json.loads(text)) if text else {}


def _read(path: str, state: FileState, tools: str) -> Loaded:
    if (most := too_large(path, state.size)) is not None:
        message = f"a recording of more than {most // 1_000_000} MB is not followed in an editor"
        found = Diagnostic.of(
            "VGL003", message, Source(path, ""), severity="warning", help=f"`vigil verify … {as_argument(path)}`"
        )
        return Loaded(state, findings=(found,))
    if waits(path):
        found = Diagnostic.of("VGL003", "a pipe or a device is not followed in an editor", Source(path, ""))
        return Loaded(state, findings=(found,))
    runs: list[CachedRun] = []
    try:
        runs.extend(CachedRun(trace) for trace in load_traces(path, options=Options(tools=tools_of(tools))))
        return Loaded(state, tuple(runs))
    except InputError as error:  # what is told at the end, as of a run without events, leaves the others as they are
        return Loaded(state, tuple(runs), error.diagnostics)
    except TooLong:
        found = Diagnostic.of("VGL003", "reading the recording takes too long", Source(path, ""), severity="warning")
        return Loaded(state, findings=(found,))
    except Exception as error:  # a fault of ours in one recording must not take the others along
        message = f"reading the recording failed: {type(error).__name__}: {error}"
        return Loaded(state, findings=(Diagnostic.of("VGL902", message, Source(path, "")),))


_OUTSIDE = "only what lies in the workspace folder is read"
_AT_LEAST = 0.01
_NO_RUNS = (".vgl", ".toml")


@dataclass(slots=True)
class Found:
    """The files that patterns stand for, and what is wrong with a pattern by its place among them."""

    files: list[str]
    missing: list[tuple[int, str]]
    named_by: dict[str, int] = field(default_factory=dict)
    """The first pattern that stands for a file, by its place."""


def find(patterns: Iterable[str], within: str | None = None, slow: set[str] | None = None) -> Found:
    """The files that patterns stand for, each once. Only those that lie in the folder `within`, links followed.

    What takes too long to find is added to `slow`, and what is in there is not looked for.
    """
    slow = set() if slow is None else slow
    found = Found([], [])
    inside = real_path(within) if within is not None else None
    end = time.monotonic() + MAX_SECONDS
    for at, pattern in enumerate(patterns):
        refused: list[Diagnostic] = []
        try:
            if inside is not None and not lies_in(parted(pattern)[0], Path(inside)):
                found.missing.append((at, _OUTSIDE))
                continue
            if pattern in slow:
                raise TooLong
            with limited(max(_AT_LEAST, end - time.monotonic())):
                files = trace_paths([pattern], refused=refused)
        except TooLong:
            slow.add(pattern)
            found.missing.append((at, "finding the files that match this takes too long"))
            continue
        except InputError as error:
            found.missing.append((at, error.diagnostics[0].message))
            continue
        except (OSError, ValueError, RecursionError) as error:
            found.missing.append((at, str(error)))
            continue
        runs = [f for f in files if not f.endswith(_NO_RUNS)]
        if refused:
            found.missing.append((at, _OUTSIDE))
        elif not runs:
            found.missing.append((at, "this matches no recording, only policies or configurations"))
        allowed = [f for f in runs if inside is None or lies_in(f, Path(inside))]
        if len(allowed) < len(runs):
            found.missing.append((at, _OUTSIDE))
        for file in allowed:
            if file not in found.named_by:
                found.named_by[file] = at
                found.files.append(file)
    del found.files[MAX_FILES:]
    return found


class Runs:
    """The runs that one `RunSources` names, and their summary."""

    _numbers = 0

    def __init__(self, sources: RunSources) -> None:
        self.sources = sources
        self.recorded: tuple[CachedRun, ...] = ()
        self.benign: tuple[CachedRun, ...] = ()
        self.summary: RunsSummary | None = None
        self.occurring = Reachability(_NOTHING)
        """What can occur in them, as far as that has been asked: of most statements it is with every text."""
        self._seen: tuple[tuple[str, FileState | None], ...] = ()
        self._slow: set[str] = set()

    @property
    def signature(self) -> Signature:
        """Σ in full, as rules are given it."""
        return self.occurring.signature

    def files(self) -> list[str]:
        """The recordings that were found last."""
        return [path for path, _ in self._seen]

    def changed(self) -> bool:
        """Whether some file is there now that was not, is no longer there, or is another one."""
        return self._look()[0] != self._seen

    def _look(self) -> tuple[tuple[tuple[str, FileState | None], ...], Found, Found]:
        runs = find(self.sources.runs, self.sources.within, self._slow)
        benign = find(self.sources.benign, slow=self._slow)
        paths = dict.fromkeys((*runs.files, *benign.files, *self.sources.signatures))
        return tuple((path, state_of(path)) for path in paths), runs, benign

    def load(self, recordings: RecordingCache) -> Iterator[tuple[int, int, str | None]]:
        """Find and read everything; yields after each file (done, of how many, its path if it was read again)."""
        self._seen, runs, benign = self._look()
        files = list(dict.fromkeys((*runs.files, *benign.files)))
        loaded: dict[str, Loaded] = {}
        left = MAX_ALTOGETHER
        beyond: list[Diagnostic] = []
        for done, path in enumerate(files, 1):
            state = state_of(path)
            left -= state.size if state is not None and too_large(path, state.size) is None else 0
            if left < 0:
                message = f"the recordings before it have {MAX_ALTOGETHER // 1_000_000} MB: this one is not followed"
                beyond.append(Diagnostic.of("VGL003", message, Source(path, ""), severity="warning"))
                continue
            read = not recordings.current(path, self.sources.tools)
            loaded[path] = recordings.load(path, self.sources.tools)
            yield done, len(files), path if read else None
        recorded = tuple(run for path in runs.files if path in loaded for run in loaded[path].runs)
        findings = [finding for one in loaded.values() for finding in one.findings]
        why = {f.source.path: f.message for f in (*findings, *beyond)}
        lost: list[tuple[Setting, int, str]] = [("runs", *one) for one in (*runs.missing, *_unread(runs, why, loaded))]
        lost += [("lint.benign", *one) for one in (*benign.missing, *_unread(benign, why, loaded))]
        traces = [run.trace for run in recorded]
        signatures, wrong, unread_signatures = _declared(self.sources.signatures)
        parts = [*signatures, *([observe(traces)] if traces else ())]
        occurring = Reachability(merge(*parts) if parts else _NOTHING)
        yield len(files), len(files), None
        # All at once: what was counted in the runs of one summary is remembered by its number.
        self.recorded, self.occurring = recorded, occurring
        self.benign = tuple(run for path in benign.files if path in loaded for run in loaded[path].runs)
        absent, unmatched = self._not_there(runs)
        Runs._numbers += 1
        with one_output():
            samples = sampled(traces)
            signature = shown_signature(self.signature)
        self.summary = RunsSummary(
            Runs._numbers,
            signature,
            samples,
            tuple(RunInfo(t.run.path, t.run.format, len(t), t.run.name or "", file_of(t.run)) for t in traces),
            (*findings, *beyond, *wrong),
            (*lost, *(("signatures", *one) for one in unread_signatures)),
            sum(path not in loaded or not loaded[path].runs for path in runs.files) + absent,
            unmatched,
        )

    def _not_there(self, runs: Found) -> tuple[int, int]:
        """How many recordings were named, each by its own path, where there is none that may be read; and how many
        patterns stand for none. A folder may have none yet."""
        lost = {at for at, _ in runs.missing} - set(runs.named_by.values())
        paths = [path for at in lost if not Path(path := self.sources.runs[at]).is_dir()]
        named = sum(not has_magic(path) and Path(path).suffix != "" for path in paths)
        return named, len(paths) - named

    def give_up(self, why: str) -> None:
        """Do without what cannot be read, until something about it changes."""
        self.recorded = self.benign = ()
        self.occurring = Reachability(_NOTHING)
        Runs._numbers += 1
        unread: list[tuple[Setting, int, str]] = [("runs", at, why) for at in range(len(self.sources.runs))]
        self.summary = RunsSummary(Runs._numbers, _NOTHING, Samples(), (), unread=tuple(unread))


def _unread(runs: Found, why: dict[str, str], loaded: dict[str, Loaded]) -> Iterator[tuple[int, str]]:
    """By the place of a pattern, that some of the recordings it stands for could not be read."""
    for at in dict.fromkeys(runs.named_by.values()):
        files = [file for file in runs.files if runs.named_by[file] == at]
        lost = [file for file in files if file not in loaded or not loaded[file].runs]
        if lost:
            said = "; ".join(f"`{Path(file).name}`: {why.get(file, 'it holds no run')}" for file in lost[:_NAMED])
            said += f"; and {len(lost) - _NAMED} more" if len(lost) > _NAMED else ""
            one = f"this recording cannot be read: {said}"
            yield at, one if len(files) == 1 else f"{len(lost)} of {len(files)} recordings cannot be read: {said}"


def _declared(paths: Iterable[str]) -> tuple[list[Signature], list[Diagnostic], tuple[tuple[int, str], ...]]:
    """The signatures that can be read, what is wrong with the others, and where which of them is named."""
    signatures: list[Signature] = []
    findings: list[Diagnostic] = []
    unread_signatures: list[tuple[int, str]] = []
    for at, path in enumerate(paths):
        state = state_of(path)
        if waits(path) or (state is not None and state.size > MAX_BYTES):
            message = f"a signature is a file of no more than {MAX_BYTES // 1_000_000} MB"
            wrong: Sequence[Diagnostic] = [Diagnostic.of("VGL003", message, Source(path, ""), severity="warning")]
        else:
            try:
                signatures.append(load_signature(path))
                continue
            except InputError as error:
                wrong = error.diagnostics
        if state is not None:  # what is not there has no place of its own to say so
            findings += wrong
        name = Path(path).name
        why = f"`{name}`: {wrong[0].message}" if state is not None else f"there is no file `{name}`"
        unread_signatures.append((at, f"this signature cannot be read: {why}"))
    return signatures, findings, tuple(unread_signatures)


MAX_TEXT = 200_000
"""Characters of the values of one argument that are sent to the server; with more it counts as open there."""


def shown_signature(signature: Signature) -> Signature:
    """A signature that the server may hold: sets of long values, and those with a secret, are open in it.

    An open set never makes a finding that the closed one would not.
    """
    actions = {
        name: Action({key: _shown_argument(value) for key, value in action.args.items()}, action.kinds, action.open)
        for name, action in signature.actions.items()
    }
    outputs = signature.outputs
    if outputs is not None and sum(map(len, outputs)) > MAX_TEXT:
        outputs = None
    return replace(signature, actions=actions, outputs=outputs)


def _shown_argument(argument: Argument) -> Argument:
    values = argument.values
    if values is None or (sum(map(len, values)) <= MAX_TEXT and not any(map(hides, values))):
        return argument
    return replace(argument, values=None)
