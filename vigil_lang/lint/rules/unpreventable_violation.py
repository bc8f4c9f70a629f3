"""VGL327: a gate is told to block or hold where refusing calls prevents no violation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.analysis.enforceability import enforceability, in_words, kinds
from vigil_lang.diagnostics import Diagnostic, Edit, Fix, Span
from vigil_lang.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.diagnostics import Source
    from vigil_lang.lint.subject import Subject


def find(subject: Subject) -> Iterator[Diagnostic]:
    """Reactions other than `warn`, written out, of statements no part of which can be prevented all along."""
    for statement in subject.policy.statements:
        written = [note for note in statement.syntax.annotations if note.name.text == "on_violation"]
        if not written:
            continue
        parts = enforceability(statement.requirement)
        found = kinds(parts)
        if not found or "preventable" in found:
            continue
        match written[0].args:
            case (tree.Name("block" | "hold" as reaction) | tree.String("block" | "hold" as reaction),):
                at_last = "last-chance" in found
                said = "; it ".join(in_words(statement, part) for part in parts)
                where = "before that" if at_last else "here"
                yield Diagnostic.of(
                    "VGL327",
                    f"`{statement.name}` {said}",
                    statement.source,
                    written[0].span,
                    severity="info" if at_last else None,
                    help=f"{where}, `@on_violation({reaction})` stops nothing",
                    fix=None if at_last else _left_out(written[0], statement.source, safe=reaction == "block"),
                )


def _left_out(note: tree.Annotation, source: Source, *, safe: bool) -> Fix:
    """The fix that takes an annotation away, with the space after it; `block` is what a statement says without it."""
    after = source.text[note.span.end :]
    space = len(after) - len(after.lstrip())
    return Fix("leave it out", (Edit(Span(note.span.start, note.span.end + space), ""),), safe)
