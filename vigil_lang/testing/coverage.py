"""What of a policy its tests put to the test: statements, conditions, and the parts of conditions.

A part counts as seen under values that matter: those under which some event of the run meets the trigger. Under a
value that occurs nowhere, every join would be seen to fail.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from vigil_lang.semantics.modules import is_shipped
from vigil_lang.testing.condition_parts import Place, Reader
from vigil_lang.testing.coverage_points import PartKind, Point, Seen
from vigil_lang.testing.expectations import Indices
from vigil_lang.testing.observation import ObservedStatement
from vigil_lang.testing.rules_under_test import under_test

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vigil_lang.diagnostics import Source, Span
    from vigil_lang.semantics.policy import Policy
    from vigil_lang.testing.case import Case

MAX_WORK: Final = 5_000_000
"""Conditions tried on events; what is not seen by then counts as not covered."""


@dataclass(frozen=True, slots=True)
class Part:
    """A place in a policy, what should be seen of it, and what was."""

    kind: PartKind
    source: Source
    span: Span
    wanted: tuple[Seen, ...]
    seen: tuple[Seen, ...]

    @property
    def missing(self) -> tuple[Seen, ...]:
        """What no test shows."""
        return tuple(s for s in self.wanted if s not in self.seen)

    @property
    def text(self) -> str:
        """The part as written, on one line."""
        return " ".join(self.source.text[self.span.start : self.span.end].split())


@dataclass(frozen=True)
class FileCoverage:
    """One file: its statements, and the conditions and patterns that statements under test rest on, by place."""

    source: Source
    parts: tuple[Part, ...]

    @property
    def counted(self) -> tuple[int, int]:
        """(what was seen, what should be)."""
        wanted = sum(len(p.wanted) for p in self.parts)
        return wanted - sum(len(p.missing) for p in self.parts), wanted

    @property
    def percent(self) -> float:
        """The share that was seen; a file without anything to see is covered."""
        return _percent(*self.counted)


@dataclass(frozen=True)
class Coverage:
    """What was seen of every file, in the order of their paths; `complete` unless there was too much to look at."""

    files: tuple[FileCoverage, ...]
    complete: bool = True

    @property
    def counted(self) -> tuple[int, int]:
        """(what was seen, what should be) of all files."""
        counts = [file.counted for file in self.files]
        return sum(seen for seen, _ in counts), sum(wanted for _, wanted in counts)

    @property
    def percent(self) -> float:
        """The share that was seen of all files."""
        return _percent(*self.counted)


def measure(cases: Iterable[Case], policies: Iterable[Policy] = ()) -> Coverage:
    """What the runs of some tests show of their policies.

    A run shows something of the statements that its test expects something of, and of no others. `policies` count
    too, though no test may name them. The standard library counts where its own tests are run.
    """
    cases = list(cases)
    found = _Measurement(shipped=any(is_shipped(case.path) for case in cases))
    for policy in policies:
        found.declare(policy)
    for case in cases:
        for policy in case.policies:
            found.declare(policy)
        found.run(case)
    return found.result()


def _percent(seen: int, wanted: int) -> float:
    return 100.0 * seen / wanted if wanted else 100.0


class _Measurement:
    """The points of every file, and what was seen of them so far."""

    def __init__(self, *, shipped: bool) -> None:
        self._shipped = shipped
        self._points: dict[tuple[PartKind, Place], Point] = {}
        self._sources: dict[str, Source] = {}
        self._policies: dict[int, tuple[Policy, dict[str, ObservedStatement]]] = {}
        self._left = MAX_WORK

    def declare(self, policy: Policy) -> None:
        """Make a point of everything in a policy that can be seen."""
        if id(policy) in self._policies:
            return
        if self._counts(policy.path):
            self._sources.setdefault(policy.path, policy.module.source)
        reader = Reader(policy)
        judged = {s.name: ObservedStatement(s, reader, self) for s in under_test(policy)}
        self._policies[id(policy)] = policy, judged  # kept: an id is that of one object only while it is

    def run(self, case: Case) -> None:
        """See what a test's run makes of the statements that the test names."""
        named = {(e.policy, e.statement) for e in case.expected}
        indices = Indices(case)
        for policy in case.policies:
            for name, judged in self._policies[id(policy)][1].items():
                if (policy.path, name) in named:
                    judged.run(indices.of(judged.statement))

    def point(self, kind: PartKind, source: Source, span: Span, wanted: set[Seen]) -> Point:
        """The point at a place; one that does not count in the standard library, which has tests of its own."""
        if not self._counts(source.path):
            return Point(kind, source, span)
        self._sources.setdefault(source.path, source)
        key = kind, Place(source.path, *span)
        point = self._points.setdefault(key, Point(kind, source, span))
        point.wanted |= wanted
        return point

    def _counts(self, path: str) -> bool:
        return self._shipped or not is_shipped(path)

    def spend(self, work: int) -> bool:
        """Whether there is still time to look at so much more."""
        self._left -= work
        return self._left >= 0

    def result(self) -> Coverage:
        """What was seen, by file and place."""
        order: tuple[Seen, ...] = ("satisfied", "violated", "exercised", "true", "false", "decides")
        by_path: dict[str, list[Part]] = {path: [] for path in self._sources}
        for point in self._points.values():
            if point.wanted:
                wanted = tuple(s for s in order if s in point.wanted)
                seen = tuple(s for s in wanted if s in point.seen)
                by_path[point.source.path].append(Part(point.kind, point.source, point.span, wanted, seen))
        files = []
        for path, parts in sorted(by_path.items()):
            parts.sort(key=lambda p: (p.span.start, -p.span.end, p.kind))
            files.append(FileCoverage(self._sources[path], tuple(parts)))
        return Coverage(tuple(files), self._left >= 0)
