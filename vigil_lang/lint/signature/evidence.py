"""What recorded runs may teach: not what a cited sentence contradicts, nor what only runs known to be bad have."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from vigil_lang.base.files import MAX_BYTES, real_path
from vigil_lang.diagnostics import InputError
from vigil_lang.project.paths import TESTS
from vigil_lang.semantics.text_patterns import BadEscape, unescape
from vigil_lang.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vigil_lang.lint.subject import Subject
    from vigil_lang.semantics.lower import Statement
    from vigil_lang.trace import Run

SENTENCE_WINS = "the cited sentence says so: it is the runs that may be wrong, or too few"
_AT_FAULT = frozenset({"violated", "holds", "blocks"})


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


def good_texts(subject: Subject) -> frozenset[str] | None:
    """The names and values of runs that the policy's own tests do not expect to break it; None where none is to."""
    if not subject.runs:
        return None
    bad = set(_bad_runs(subject))
    good = [run for run in subject.runs if real_path(_file_of(run.run)) not in bad] if bad else subject.runs
    if len(good) == len(subject.runs):
        return None
    events = [event for run in good for event in run.events]
    names = {name for event in events for name in (event.action, *event.kinds, *event.args)}
    return frozenset(names | {text for event in events for texts in event.args.values() for text in texts})


def tests_of(path: str) -> str | None:
    """Where the tests of a policy stand."""
    return f"{path.removesuffix('.vgl')}{TESTS}" if path.endswith(".vgl") and not path.endswith(TESTS) else None


def _file_of(run: Run) -> str:
    return run.path if run.label is None else run.path.removesuffix(f"#{run.label}")


def _bad_runs(subject: Subject) -> Iterator[str]:
    path = tests_of(subject.policy.module.source.path)
    if path is None or not subject.access.is_file(Path(path)):
        return
    try:
        file = subject.access.parse(subject.access.read(path, MAX_BYTES)).file
    except InputError:  # which is said where it is linted itself
        return
    folder = Path(path).parent
    for item in file.items:
        if isinstance(item, tree.TestCase) and any(
            isinstance(clause, tree.Expectation) and clause.verdict in _AT_FAULT for clause in item.clauses
        ):
            for clause in item.clauses:
                if isinstance(clause, tree.RunFile):
                    try:
                        yield real_path(str(folder / unescape(clause.path.raw)))
                    except BadEscape:
                        continue
