"""What the runs say, as features read it: plain data, sent by the process that knows the runs."""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from msgspec import Struct

from vigil_lang.diagnostics import Diagnostic, Severity, Source, Span
from vigil_lang.trace import Signature
from vigil_lang.trace.samples import Samples

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, slots=True)
class RunInfo:
    """One run. `path` is `Trace.run.path`: its file's, with ``#`` and the run's name where the file holds several."""

    path: str
    format: str
    events: int
    name: str
    file: str


class StatementResult(Struct, frozen=True):
    """How many runs were judged by a statement, the paths of those that violate it, and how many exercise it."""

    name: str
    runs: int
    violated: tuple[str, ...]
    exercised: int


class Matches(NamedTuple):
    """How many events meet a condition for some value of its variables, and in how many runs they are."""

    events: int
    runs: int


Counts: TypeAlias = "tuple[tuple[int, int, int, int], ...]"
"""(start, end, events, runs) of conditions: `Span` and `Matches` as numbers, since all are sent with every key."""


class ItemResult(Struct, frozen=True):
    """What was counted in one item, found again by its text: places are relative to the item's start."""

    text: str
    start: int
    counts: Counts = ()


@dataclass(frozen=True, slots=True)
class Judged:
    """What the runs say of one text of a policy file. Not `complete` where more is still being worked out."""

    path: str
    text: str
    summary: int
    """The number of the `RunsSummary` that this rests on."""
    items: tuple[ItemResult, ...] = ()
    statements: tuple[StatementResult, ...] = ()
    findings: tuple[Diagnostic, ...] = ()
    needs: tuple[str, ...] = ()
    """The other files (modules) that were looked for, there or not."""
    complete: bool = True
    after: int = 0
    """How much of what was said of policies it takes into account (`Policies.number`)."""


Setting: TypeAlias = 'Literal["runs", "signatures", "lint.benign"]'


@dataclass(frozen=True, slots=True)
class RunsSummary:
    """What the runs of a project are by themselves.

    `number` tells two states of them apart. `findings` are about recordings that cannot be used. `unread` is what is
    wrong with paths and patterns, each with the setting that lists it and its place there. `unreadable` recordings were
    left out, and `unmatched` patterns stand for none.
    """

    number: int
    signature: Signature
    samples: Samples
    runs: tuple[RunInfo, ...]
    findings: tuple[Diagnostic, ...] = ()
    unread: tuple[tuple[Setting, int, str], ...] = ()
    unreadable: int = 0
    unmatched: int = 0


@dataclass(frozen=True, slots=True)
class StatementNote:
    """A statement that concerns an event; `message` says how the event violates it, empty where it does not."""

    policy: str
    statement: str
    message: str = ""
    severity: Severity = "error"


@dataclass(frozen=True, slots=True)
class EventView:
    """One event of a run as an editor shows it, long texts cut. `line` is its line in the recording, from 1."""

    index: int
    id: str
    line: int | None
    text: str
    action: str
    kinds: tuple[str, ...]
    args: tuple[tuple[str, tuple[str, ...]], ...]
    status: str
    mentions: tuple[StatementNote, ...] = ()
    violates: tuple[StatementNote, ...] = ()


@dataclass(frozen=True, slots=True)
class RunView:
    """One run of a recording, `path` as in `RunInfo`; `digest` is `digest_of` what its file held then.

    `length` and `at_fault` count all of its events, of which only the first may be in `events`.
    """

    path: str
    file: str
    digest: bytes
    length: int
    at_fault: int
    events: tuple[EventView, ...]


_MARK = "\ufeff".encode()


def digest_of(content: bytes) -> bytes:
    """What tells texts apart; a byte order mark, which many editors keep to themselves, is no part of them."""
    return hashlib.sha256(content.removeprefix(_MARK)).digest()


@dataclass(frozen=True, slots=True)
class Timeline:
    """A run as a Markdown document, and its events."""

    text: str
    run: RunView


@dataclass(frozen=True, slots=True)
class Tested:
    """What came of a file of tests: a Markdown document, and the expectations that were not met.

    `source` is the text that they stand in.
    """

    text: str
    path: str
    source: str
    unmet: tuple[tuple[Span, str], ...]


@dataclass(frozen=True, slots=True)
class TestSuite:
    """The tests of a file on disk, valid or not, each with the place of its name; and what is wrong with them."""

    source: Source
    tests: tuple[tuple[str, Span], ...]
    findings: tuple[Diagnostic, ...]


@dataclass(frozen=True)
class RunResults:
    """What the runs say of one policy file, moved to where its current text has it.

    `signature` is that of all runs, merged with the declared ones the project names. `stale` says that an answer
    for the current text (or the current runs) is still being computed: nothing is said of its statements and
    conditions then, and the findings are those of items whose own text did not change since. It stays so where the
    process that reads runs is `lost`. `unreadable` recordings are not among the runs, and `unmatched` patterns stand
    for none.
    """

    signature: Signature = field(repr=False)
    samples: Samples = field(repr=False)
    runs: tuple[RunInfo, ...]
    stale: bool
    statements: Mapping[str, StatementResult] = field(default_factory=dict, repr=False)
    unreadable: int = 0
    unmatched: int = 0
    lost: bool = False
    here: Placed | None = field(default=None, repr=False)
    """What stands somewhere in the text, and where."""

    @property
    def findings(self) -> tuple[Diagnostic, ...]:
        """What only runs show."""
        return () if self.here is None or self.lost else self.here.findings

    def statement(self, name: str) -> StatementResult | None:
        """What came of a statement of the current text; None where it has no meaning, or is not judged yet."""
        return None if self.stale else self.statements.get(name)

    def matches(self, span: Span) -> Matches | None:
        """How many events meet the condition (an `Expr` of the tree, or a pattern's body) that stands at this span.

        The span is that of the node in the CURRENT text. None where it was not counted, or not yet: a condition may
        have no meaning.
        """
        return None if self.here is None or self.stale else self.here.counts.get(span)


@dataclass(frozen=True, eq=False)
class Placed:
    """What came of an older text, perhaps, where the current one has it; worked out when somebody asks.

    `items` are where items stand in the current text: they are told apart by their own text, and by order where two
    are the same.
    """

    judged: Judged
    source: Source
    items: Sequence[Span]

    @cached_property
    def _same(self) -> list[tuple[ItemResult, int]]:
        """The items that are as they were, and where each begins now."""
        waiting: dict[str, list[ItemResult]] = {}
        for item in reversed(self.judged.items):
            waiting.setdefault(item.text, []).append(item)
        now = ((start, waiting.get(self.source.text[start:end])) for start, end in self.items)
        return [(same.pop(), start) for start, same in now if same]

    @cached_property
    def counts(self) -> Mapping[Span, Matches]:
        """How often the conditions of these items are met."""
        return {
            Span(first + start, last + start): Matches(events, runs)
            for item, start in self._same
            for first, last, events, runs in item.counts
        }

    @cached_property
    def findings(self) -> tuple[Diagnostic, ...]:
        """What only runs show."""
        if not self.judged.findings:
            return ()
        moved = sorted([(item.start, item.start + len(item.text), start - item.start) for item, start in self._same])
        found = (_moved(finding, self.judged, self.source, moved) for finding in self.judged.findings)
        return tuple(finding for finding in found if finding is not None)


NEVER_READ = RunResults(Signature({}, "observed"), Samples(), (), stale=True, lost=True)
"""What is known of runs where the process that reads them died before it said anything."""


def located(
    summary: RunsSummary,
    judged: Judged | None,
    source: Source,
    items: Sequence[Span],
    *,
    stale: bool,
    lost: bool = False,
) -> RunResults:
    """What is known of a text of a policy whose items stand at these spans; `judged` may be of an older text."""
    return RunResults(
        summary.signature,
        summary.samples,
        summary.runs,
        stale or judged is None,
        {} if judged is None else {statement.name: statement for statement in judged.statements},
        summary.unreadable,
        summary.unmatched,
        lost,
        None if judged is None else Placed(judged, source, items),
    )


def _moved(found: Diagnostic, judged: Judged, source: Source, moved: list[tuple[int, int, int]]) -> Diagnostic | None:
    """A finding where the current text has it; None where its item has changed, or what is before and behind it.

    `moved` are the items that are as they were, in order: where each began and ended, and how far it has moved.
    """
    if found.source.path != judged.path:
        return found
    if (at := bisect_right(moved, found.span.start, key=_start) - 1) >= 0:
        _, end, by = moved[at]
        if found.span.end <= end:
            return _at(found, source, by)
    if any(item.start <= found.span.start < item.start + len(item.text) for item in judged.items):
        return None
    if source.text.startswith(judged.text[: found.span.end]):
        return _at(found, source, 0)
    if source.text.endswith(judged.text[found.span.start :]):
        return _at(found, source, len(source.text) - len(judged.text))
    return None


def _start(moved: tuple[int, int, int]) -> int:
    return moved[0]


def _at(found: Diagnostic, source: Source, by: int) -> Diagnostic:
    span = Span(found.span.start + by, found.span.end + by)
    return Diagnostic(found.code, found.message, source, span, found.severity, found.help)
