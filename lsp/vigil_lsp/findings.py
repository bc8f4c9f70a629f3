"""Findings as editors take them, and where older ones stand in a newer text."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from msgspec.structs import replace

from vigil_lang.base.resources import resource
from vigil_lang.diagnostics import Diagnostic, Span
from vigil_lang.diagnostics.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from vigil_lang.diagnostics import Source
    from vigil_lsp.files import Files
    from vigil_lsp.text import Text

NAME = "vigil"
"""What diagnostics say they come from."""

SEVERITY = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "info": types.DiagnosticSeverity.Information,
}
# Findings about what could as well not be there: editors grey it out.
_UNNECESSARY = frozenset({"VGL007", "VGL205", "VGL304", "VGL310"})


@dataclass(frozen=True, slots=True)
class Findings:
    """The findings of one text: `resolved` of reading it, `linted` the linter's, `of_runs` what only runs show.

    `complete`: the linter has seen this very text; otherwise `linted` is what it said of an older one, moved along.
    """

    source: Source
    resolved: tuple[Diagnostic, ...] = ()
    linted: tuple[Diagnostic, ...] = ()
    of_runs: tuple[Diagnostic, ...] = ()
    complete: bool = False

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """All of them, in the order of the text."""
        found = {(f.code, f.span, f.message): f for f in (*self.resolved, *self.linted, *self.of_runs)}
        return tuple(sorted(found.values(), key=lambda f: (f.span, f.code)))


def moved(findings: Iterable[Diagnostic], source: Source, *, kept: bool = False) -> Iterator[Diagnostic]:
    """Findings of an older text where they stand in a newer one.

    Those that the change touched are left out, or `kept` as long as something of their text is there.
    """
    found = tuple(findings)
    if not found:
        return
    old, new = found[0].source.text, source.text
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    by = len(new) - len(old)
    for finding in found:
        span = finding.span
        if span.start >= len(old) - end:
            span = Span(span.start + by, span.end + by)
        elif span.end > start:
            inner = span.end < len(old) - end  # the change goes beyond it
            span = Span(min(span.start, start), start if inner else span.end + by)
            if not kept or span.end <= span.start:
                continue
        if kept or not _grown(span, new):
            yield replace(finding, source=source, span=span, fix=None, notes=())


def _grown(span: Span, text: str) -> bool:
    """Whether a range ends, or begins, inside a word."""
    return any(text[at - 1 : at + 1].isidentifier() for at in span if 0 < at < len(text))


def _common(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def to_protocol(finding: Diagnostic, text: Text, files: Files, *, related: bool = True) -> types.Diagnostic:
    """A finding as the protocol has it; `related`, with the places that help to understand it."""
    places = [
        types.DiagnosticRelatedInformation(
            types.Location(files.uri(note.source.path), files.text(note.source).range(note.span)), visible(note.message)
        )
        for note in finding.notes
        if related and not note.source.path.startswith("<")
    ]
    return types.Diagnostic(
        range=text.range(_seen(finding.span, text)),
        message=_words(finding.message, finding.help),
        severity=SEVERITY[finding.severity],
        code=finding.code,
        code_description=_description(finding.code),
        source=NAME,
        tags=[types.DiagnosticTag.Unnecessary] if finding.code in _UNNECESSARY else None,
        related_information=places or None,
    )


@lru_cache(maxsize=1_000)
def _words(message: str, help_text: str | None) -> str:
    """What an editor shows of a finding: that no secret is in it is seen to once, not with every key."""
    return visible(message) + (f"\nhelp: {visible(help_text)}" if help_text else "")


@cache
def _description(code: str) -> types.CodeDescription | None:
    """The finding's page, as it was installed."""
    page = resource("codes", f"{code}.md")
    return types.CodeDescription(page.absolute().as_uri()) if page.is_file() else None


def _seen(span: Span, text: Text) -> Span:
    """A visible range: editors draw nothing under an empty one, so it takes in the character before or after it."""
    if span.end > span.start:
        return span
    content = text.content
    if span.start and not content[span.start - 1].isspace():
        return Span(span.start - 1, span.start)
    if span.start < len(content) and content[span.start] not in "\r\n":
        return Span(span.start, span.start + 1)
    return span


def as_json(diagnostic: types.Diagnostic) -> tuple[Any, ...]:
    """What tells two diagnostics apart."""
    place = diagnostic.range
    return (
        place.start.line, place.start.character, place.end.line, place.end.character,
        diagnostic.code, diagnostic.message, diagnostic.severity,
    )  # fmt: skip
