"""VGL707: annotations that let a violation pass where the cited sentence says `must`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Diagnostic, Edit, Fix
from vigil_lang.documents.passages import quoted_words
from vigil_lang.english.demanding import demands
from vigil_lang.lint.source.citations import citations_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.lint.subject import Subject
    from vigil_lang.semantics.lower import Statement

_STRONG = {"on_violation": "block", "severity": "error"}


def find(subject: Subject) -> Iterator[Diagnostic]:
    """`@on_violation(warn)` and `@severity(warning)` on what is demanded, unless a statement enforces it."""
    weak = [s for s in subject.policy.statements if s.metadata.cites and _is_weak(s)]
    if not weak:
        return
    enforced = {quoted_words(c.text) for c in subject.cited.citations if not _is_weak(c.statement)}
    for statement in weak:
        for citation in citations_of(statement):
            word = next((w for sentence in citation.sentences if (w := demands(sentence))), None)
            if word is not None and quoted_words(citation.text) not in enforced:
                yield from _findings(statement, word)
                break


def _is_weak(statement: Statement) -> bool:
    about = statement.metadata
    return about.on_violation == "warn" or about.severity != "error"


def _findings(statement: Statement, word: str) -> Iterator[Diagnostic]:
    about = statement.metadata
    for note in statement.syntax.annotations:
        name = note.name.text
        given = {"on_violation": about.on_violation, "severity": about.severity}.get(name)
        if given is None or given in ("block", "hold", "error") or not note.args:
            continue
        wanted = _STRONG[name]
        yield Diagnostic.of(
            "VGL707",
            f"the sentence says `{word}`, and `@{name}({given})` lets a violation pass",
            statement.source,
            note.span,
            help=f"`@{name}({wanted})` enforces it; advice (`should`, `prefer`) may be cited as such",
            fix=Fix(f"write `@{name}({wanted})`", (Edit(note.args[0].span, wanted),)),
        )
