"""The fixes of findings, one by one and all at once, and the comment that lets one pass."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from lsprotocol.types import CodeActionKind

from vigil_lang.diagnostics import Edit, Source, Span, apply_edits
from vigil_lang.lint.fixing import mend
from vigil_lang.lint.suppress import ignores, may_pass
from vigil_lsp.actions.proposal import Place, Proposal
from vigil_lsp.cursor import documented, item_at
from vigil_lsp.edits import line_edits, touching, with_line_ends

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.diagnostics import Diagnostic
    from vigil_lang.lint.run import Plan

_KIND = CodeActionKind.QuickFix.value
_MOST = 20
"""Findings that are offered something at once: somebody may have selected everything."""

_REASON = "TODO: say why this is meant"


def proposals(place: Place) -> Iterator[Proposal]:
    """What mends the findings at a place, and then what lets them pass."""
    spans = [finding.span for finding in place.findings]
    here = [place.findings[at] for at in islice(touching(place.span, spans), _MOST)]
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
    """The comment that lets a finding pass: at the end of its line, or, where another one stands there, above."""
    if not may_pass(finding.code) or not place.settings.lint.inline_ignores:
        return None
    for edit in (_beside(place, finding), _above(place, finding)):
        if edit is not None and _lets_pass(place, finding, edit):
            selected = _REASON if _REASON in edit.text else ""
            return Proposal(f"Let {finding.code} pass here", _KIND, (edit,), finding, selected=selected)
    return None


def _beside(place: Place, finding: Diagnostic) -> Edit | None:
    """A comment at the end of a finding's line, or one more code in the comment that is there already."""
    text, at = place.text, finding.span.start
    start, end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
    end = len(text) if end < 0 else end
    while end > start and text[end - 1] in " \t\r":
        end -= 1
    comment = next((c for c in place.reading.file.comments if start <= c.span.start < end), None)
    if comment is None:
        return Edit(Span(end, end), f"  // vigil: ignore[{finding.code}] {_REASON}")
    closed = place.slice(comment.span).find("]")
    if closed < 0 or not any(one.comment == comment.span for one in ignores(place.reading.file)[0]):
        return None
    inside = comment.span.start + closed
    return Edit(Span(inside, inside), f", {finding.code}")


def _above(place: Place, finding: Diagnostic) -> Edit | None:
    """A comment on a line of its own above the item."""
    item = item_at(place.reading.file, finding.span.start)
    if item is None:
        return None
    start = documented(item, place.reading.tokens, place.text).start
    if place.text[place.text.rfind("\n", 0, start) + 1 : start].strip():
        return None
    return Edit(Span(start, start), f"// vigil: ignore[{finding.code}] {_REASON}\n")


def _lets_pass(place: Place, finding: Diagnostic, edit: Edit) -> bool:
    after = place.access.parse(Source(place.reading.source.path, apply_edits(place.text, (edit,)))).file
    return any(one.covers(finding) for one in ignores(after)[0])


def all_fixed(source: Source, plan: Plan) -> list[Edit]:
    """The edits of all safe fixes, as `vigil lint --fix` makes them. Lints several times: not on the event loop."""
    after = mend(source, plan)
    return line_edits(source.text, with_line_ends(after.source.text, source.text))
