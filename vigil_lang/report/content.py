"""What is reported, whatever the format: results of rules at places, and how the verb ended."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from vigil_lang.diagnostics import SEVERITIES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from vigil_lang.diagnostics import Diagnostic, Fix, Severity, Source, Span
    from vigil_lang.report.paths import Places


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a case did not pass: one line, what kind of problem it is, and the whole story."""

    message: str
    text: str = ""
    type: str = ""


@dataclass(frozen=True, slots=True)
class Case:
    """One test. `file` is relative to the repository, `line` counts from 1, `seconds` is how long it took.

    `failure`: what was tested is wrong; `error`: it could not be tested; `skipped`: why it was not.
    """

    name: str
    classname: str = ""
    file: str | None = None
    line: int | None = None
    seconds: float | None = None
    failure: Problem | None = None
    error: Problem | None = None
    skipped: str | None = None
    output: str | None = None


@dataclass(frozen=True, slots=True)
class Suite:
    """The tests of one file or one run."""

    name: str
    cases: Sequence[Case] = field(default_factory=tuple)
    file: str | None = None
    figures: Mapping[str, int] = field(default_factory=dict)
    """Numbers about the suite as a whole: its `properties`."""


@dataclass(frozen=True, slots=True)
class Place:
    """A file, a line of it (no span), or a range of it. Of a run only the line's number is known, not its text."""

    source: Source
    span: Span | None = None
    line: int | None = None

    @classmethod
    def of(cls, source: Source, span: Span) -> Place:
        """The place of a finding; one without a text speaks of the file."""
        return cls(source, span, source.position(span.start)[0]) if source.text else cls(source)

    @property
    def path(self) -> str:
        """The file as it was named."""
        return self.source.path

    def range(self) -> tuple[tuple[int, int], tuple[int, int]] | None:
        """Start and end (not part of it) as lines and columns in code points, from 1; None without a span."""
        if self.span is None:
            return None
        end = max(self.span.start, self.span.end)
        return self.source.position(self.span.start), self.source.position(end)


@dataclass(frozen=True, slots=True)
class Rule:
    """What a result is an instance of. `description` is plain text, `page` Markdown."""

    id: str
    name: str
    summary: str
    level: Severity
    description: str
    page: str
    tags: tuple[str, ...] = ()
    security: str | None = None
    """How severe it is for security, as GitHub counts: from 0.0 to 10.0."""


@dataclass(frozen=True, slots=True)
class Step:
    """A call of a run that has to do with a result. `offends`: the call at fault, not one that explains it."""

    event: str
    index: int
    message: str
    place: Place
    offends: bool = False
    time: int | None = None


@dataclass(frozen=True, slots=True)
class Suppression:
    """Why a result does not count: a comment in the policy, or a baseline (`external`)."""

    kind: Literal["inSource", "external"]
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Result:
    """One thing that is wrong. `steps` are calls of a run, in its order; `fingerprint` outlives edits elsewhere."""

    rule: Rule
    level: Severity
    message: str
    place: Place
    fingerprint: str
    help: str | None = None
    notes: tuple[tuple[str, Place], ...] = ()
    fix: Fix | None = None
    steps: tuple[Step, ...] = ()
    subject: str | None = None
    """The statement that a run breaks, with its policy: `dashcam.R3`."""
    blocks: bool = False
    """Whether a gate would have stopped the run."""
    suppressed: Suppression | None = None


@dataclass(frozen=True)
class Report:
    """Everything that a verb has to say.

    `results` are those that count and those that are suppressed; `remarks` are what went wrong beside them. `suites`
    are the cases for JUnit where results do not make them. `status` is the exit status.
    """

    verb: str
    headline: str
    results: Sequence[Result]
    places: Places
    status: int = 0
    files: Sequence[str] = ()
    remarks: Sequence[Diagnostic] = ()
    suites: Sequence[Suite] | None = field(default=None, repr=False)
    figures: Mapping[str, int] = field(default_factory=dict)
    """What the report is about, in numbers, where a format has a place for them."""

    @property
    def counted(self) -> list[Result]:
        """The results that are not suppressed."""
        return [result for result in self.results if result.suppressed is None]


def by_severity(results: Iterable[Result]) -> list[Result]:
    """The most severe first, otherwise in their order."""
    return sorted(results, key=lambda result: SEVERITIES.index(result.level))


def count(levels: Iterable[Severity]) -> str:
    """`2 errors, 1 warning`, or `no findings`."""
    every = list(levels)
    numbers = [(every.count(level), "note" if level == "info" else level) for level in SEVERITIES]
    return ", ".join(f"{number} {name}{'s' * (number != 1)}" for number, name in numbers if number) or "no findings"
