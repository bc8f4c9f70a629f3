"""The fixes of findings, and the comment that lets one pass."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol.types import CodeActionKind

from vigil_lang.diagnostics import Edit, Source, Span, apply_edits
from vigil_lang.lint.suppress import ignores, may_pass
from vigil_lsp.actions.proposal import Place, Proposal
from vigil_lsp.edits import touching

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.diagnostics import Diagnostic

_KIND = CodeActionKind.QuickFix.value
_REASON = "TODO: say why this is meant"


def proposals(place: Place) -> Iterator[Proposal]:
    """What mends the findings at a place, and then what lets them pass."""
    here = [place.findings[at] for at in touching(place.span, [finding.span for finding in place.findings])]
    for finding in here:
        if finding.fix is not None:
            title = finding.fix.title[:1].upper() + finding.fix.title[1:]
            yield Proposal(title, _KIND, finding.fix.edits, finding, preferred=finding.fix.safe)
    passed: set[tuple[str, int]] = set()
    for finding in here:
        line = place.text.count("\n", 0, finding.span.start)
        if (finding.code, line) not in passed and (found := _ignored(place, finding)) is not None:
            passed.add((finding.code, line))
            yield found


def _ignored(place: Place, finding: Diagnostic) -> Proposal | None:
    """The comment at the end of a finding's line, or one more code in the comment that is there already."""
    if not may_pass(finding.code) or not place.settings.lint.inline_ignores:
        return None
    text, at = place.text, finding.span.start
    start, end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
    end = len(text) if end < 0 else end
    while end > start and text[end - 1] in " \t\r":
        end -= 1
    selected = _REASON
    edit = Edit(Span(end, end), f"  // vigil: ignore[{finding.code}] {_REASON}")
    comment = next((c for c in place.reading.file.comments if start <= c.span.start < end), None)
    if comment is not None:
        closed = place.slice(comment.span).find("]")
        if closed < 0 or not any(one.comment == comment.span for one in ignores(place.reading.file)[0]):
            return None
        inside = comment.span.start + closed
        edit, selected = Edit(Span(inside, inside), f", {finding.code}"), ""
    if not _lets_pass(place, finding, edit):
        return None
    return Proposal(f"Let {finding.code} pass here", _KIND, (edit,), finding, selected=selected)


def _lets_pass(place: Place, finding: Diagnostic, edit: Edit) -> bool:
    after = place.access.parse(Source(place.reading.source.path, apply_edits(place.text, (edit,)))).file
    return any(one.covers(finding) for one in ignores(after)[0])
