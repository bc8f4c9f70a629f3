"""Sources, spans, findings and their fixes."""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from vigil_lang.diagnostics.codes import CODES, Severity
from vigil_lang.diagnostics.secrets import hides
from vigil_lang.patterns import regex

if TYPE_CHECKING:
    from collections.abc import Iterable


class Span(NamedTuple):
    """A half-open range of code point offsets into one source text. A tuple, because a tree has many."""

    start: int
    end: int

    def to(self, other: Span) -> Span:
        """The smallest span that covers both."""
        return Span(min(self.start, other.start), max(self.end, other.end))

    def holds(self, other: Span) -> bool:
        """Whether all of the other span is in this one."""
        return self.start <= other.start and other.end <= self.end


NOWHERE = Span(0, 0)


class Source(Struct, frozen=True, dict=True):
    """A text with the name it is shown by.

    A source may be an excerpt (one line of a long trace): `first_line` is the number, from 1, of its first line.
    """

    path: str
    text: str
    first_line: int = 1

    def __repr__(self) -> str:
        return f"Source(path={self.path!r}, first_line={self.first_line})"

    @cached_property
    def line_starts(self) -> list[int]:
        """Offsets at which lines begin; lines end at `\\n` alone, as editors and LSP count `\\r\\n` too."""
        starts = [0]
        at = self.text.find("\n")
        while at >= 0:
            starts.append(at + 1)
            at = self.text.find("\n", at + 1)
        return starts

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, both from 1, the column in code points."""
        line = bisect_right(self.line_starts, offset) - 1
        return line + self.first_line, offset - self.line_starts[line] + 1

    def line(self, number: int) -> str:
        """The text of a line by its shown number, without its line break."""
        index = number - self.first_line
        start = self.line_starts[index]
        end = self.line_starts[index + 1] - 1 if index + 1 < len(self.line_starts) else len(self.text)
        return self.text[start:end].rstrip("\r")


class Edit(Struct, frozen=True):
    """Replace the text of a span."""

    span: Span
    text: str


class Fix(Struct, frozen=True):
    """Edits that mend a finding; `safe` when they cannot change what a correct policy means."""

    title: str
    edits: tuple[Edit, ...]
    safe: bool = False

    @property
    def hides(self) -> bool:
        """Whether a secret in an edit would be masked: what was shown of it must then not be applied."""
        return any(hides(edit.text) for edit in self.edits)


class Note(Struct, frozen=True):
    """A second place that helps to understand a finding."""

    message: str
    source: Source
    span: Span


class Diagnostic(Struct, frozen=True):
    """One finding. The message is lower case, without a full stop, with names in backticks."""

    code: str
    message: str
    source: Source
    span: Span = NOWHERE
    severity: Severity = "error"
    help: str | None = None
    fix: Fix | None = None
    notes: tuple[Note, ...] = ()

    @classmethod
    def of(
        cls,
        code: str,
        message: str,
        source: Source,
        span: Span = NOWHERE,
        *,
        severity: Severity | None = None,
        help: str | None = None,  # noqa: A002 - the field's name in the published format
        fix: Fix | None = None,
        notes: tuple[Note, ...] = (),
    ) -> Diagnostic:
        """A finding with the severity its code is registered with, unless told otherwise."""
        return cls(code, message, source, span, severity or CODES[code].severity, help, fix, notes)


class InputError(Exception):
    """The input cannot be used; `diagnostics` say why and where. Command-line status 2."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        super().__init__("; ".join(_one_line(d) for d in self.diagnostics))


class TooCostly(InputError):
    """A question about a run cannot be answered: that would take more than the run's size warrants."""


def _one_line(found: Diagnostic) -> str:
    line, column = found.source.position(found.span.start)
    return f"{found.source.path}:{line}:{column}: {found.code} {found.message}"


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """The text after the edits, which must not overlap.

    Raises:
        ValueError: two edits overlap.
    """
    parts: list[str] = []
    at = 0
    for edit in sorted(edits, key=lambda e: (e.span.start, e.span.end)):
        if edit.span.start < at:
            raise ValueError("overlapping edits")
        parts += (text[at : edit.span.start], edit.text)
        at = edit.span.end
    return "".join([*parts, text[at:]])


_NUMBER = regex(r"[0-9]+")
_PARTS = regex(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_TURNING = ("un", "dis", "in", "im", "non", "de", "not", "no", "mis", "pre", "post", "re")
"""What makes another word of one, often its opposite: `unlock`, `preinstall`."""
_SHORTEST_WORD = 3
_OPPOSED = (
    ("enabl", "disabl"),
    ("encod", "decod"),
    ("encrypt", "decrypt"),
    ("import", "export"),
    ("increas", "decreas"),
    ("increment", "decrement"),
    ("upload", "download"),
    ("inbound", "outbound"),
    ("input", "output"),
    ("internal", "external"),
    ("includ", "exclud"),
    ("attach", "detach"),
    ("min", "max"),
    ("push", "pull"),
)
"""Words that begin so are alike, and mean the opposite of each other where they end alike."""


def nearest(name: str, candidates: Iterable[str], limit: int = 3) -> list[str]:
    """The candidates a person may have meant, closest first (imported late: difflib costs start-up time).

    The opposite of a name, however alike, is not what was meant by it.
    """
    from difflib import get_close_matches

    # Names that differ in a number alone (`arg2`, `arg3`) are different things, not a slip.
    shape = _NUMBER.sub("#", name)
    pool = sorted(c for c in set(candidates) if shape == name or _NUMBER.sub("#", c) != shape)
    by_fold = {c.casefold(): c for c in reversed(pool)}
    found = get_close_matches(name.casefold(), list(by_fold), n=limit, cutoff=0.6)
    return [by_fold[f] for f in found if not are_opposed(name, by_fold[f]) and not _are_far(name, by_fold[f])]


def _are_far(one: str, other: str) -> bool:
    """Whether two names of as many words share none in its place, nor all of them: `create_key` and `dir.create`."""
    first, second = ([part.lower() for part in _PARTS.findall(name)] for name in (one, other))
    if len(first) != len(second) or len(first) < 2 or sorted(first) == sorted(second):
        return False
    return not any(a[:2] == b[:2] or differ_by_a_slip(a, b) for a, b in zip(first, second, strict=True))


def are_opposed(one: str, other: str) -> bool:
    """Whether two names differ in a word that turns what they mean: `lock` and `unlock`, `ask` and `not_asked`."""
    first, second = ([part.lower() for part in _PARTS.findall(name)] for name in (one, other))
    if len(first) != len(second):
        short, long = sorted((first, second), key=len)
        return any(long[:at] + long[at + 1 :] == short for at, word in enumerate(long) if word in _TURNING)
    return any(a != b and _are_opposite(a, b) for a, b in zip(first, second, strict=True))


def _are_opposite(one: str, other: str) -> bool:
    if any(
        a.startswith(left) and b.startswith(right) and a[len(left) :] == b[len(right) :]
        for left, right in _OPPOSED
        for a, b in ((one, other), (other, one))
    ):
        return True
    roots = ({word, *(word[len(t) :] for t in _TURNING if word.startswith(t))} for word in (one, other))
    return any(len(root) >= _SHORTEST_WORD for root in set.intersection(*roots))


def differ_by_a_slip(one: str, other: str) -> bool:
    """Whether one letter (no digit), or two that are swapped, are all that tells two names apart."""
    short, long = sorted((one, other), key=len)
    if len(long) - len(short) > 1 or short == long:
        return False
    at = next((n for n, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    if len(short) < len(long):
        return short[at:] == long[at + 1 :] and not long[at].isdigit()
    if short[at + 1 :] == long[at + 1 :]:
        return not (short[at].isdigit() or long[at].isdigit())
    return short[at : at + 2] == long[at : at + 2][::-1] and short[at + 2 :] == long[at + 2 :]
