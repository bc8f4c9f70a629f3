"""VGL705: cited documents that cannot be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Diagnostic
from vigil_lang.documents.library import Unreadable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.lint.subject import Subject


def find(subject: Subject) -> Iterator[Diagnostic]:
    """Each unreadable document once. One that is not there may well be elsewhere: that is worth a remark, no more."""
    seen: set[str] = set()
    for citation in subject.cited.citations:
        if citation.file in seen:
            continue
        seen.add(citation.file)
        document = subject.documents.cited(subject.policy.path, citation.file)
        if isinstance(document, Unreadable) and document.reason != "elsewhere":
            yield Diagnostic.of(
                "VGL705",
                f"cannot read `{citation.file}`: {document.message}",
                citation.statement.source,
                citation.file_span,
                severity="info" if document.reason == "absent" else None,
                help="the sentences cited from it cannot be checked",
            )
