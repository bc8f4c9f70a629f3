"""What recorded runs may teach: not what a cited sentence contradicts, nor what only runs known to be bad have."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vigil_lang.lint.subject import Subject
    from vigil_lang.semantics.lower import Statement

SENTENCE_WINS = "the cited sentence says so: it is the runs that may be wrong, or too few"


@dataclass(frozen=True, slots=True)
class Evidence:
    """What else is known of the names and values of a statement, beside a signature that runs have shown.

    `said` is what the sentences say that the statement cites; `subject` has the runs, if there are any.
    """

    said: str = ""
    subject: Subject | None = None

    def says(self, text: str) -> bool:
        """Whether a cited sentence has a text, or the last part of a path."""
        names = (text, text.rstrip("/").rpartition("/")[2]) if self.said else ()
        return any(
            len(name) > 1 and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", self.said, re.IGNORECASE) for name in names
        )

    def taught(self, near: Sequence[str]) -> list[str]:
        """Those of some names and values that may be proposed."""
        good = None if self.subject is None or not near else self.subject.good_texts
        return list(near) if good is None else [text for text in near if text in good]


NOTHING_ELSE = Evidence()


def evidence(subject: Subject, statement: Statement) -> Evidence:
    """What else is known of a statement's names; tool definitions are what they are, whatever a sentence says."""
    if subject.signature is None or subject.signature.origin == "declared":
        return NOTHING_ELSE
    cites = subject.cited.citations if statement.metadata.cites else ()
    return Evidence("\n".join(c.text for c in cites if c.statement is statement), subject)
