"""Gold policies: written by hand, with the documents they cite and the runs beside them."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from vigil_lang.base.files import stays, waits
from vigil_lang.documents.document import Document
from vigil_lang.documents.library import Library
from vigil_lang.project.paths import RUNS, TESTS, policy_paths
from vigil_lang.runs import is_run, load_traces
from vigil_lang.semantics.policy import load_policy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.semantics.lower import Statement
    from vigil_lang.semantics.policy import Policy
    from vigil_lang.trace import Trace

ANSWERS: Final = "draft.json"
"""The answers of a model, or of a person, that may lie beside a gold policy."""


@dataclass(frozen=True)
class Gold:
    """A gold policy: paths of the `documents` it cites and of the `recordings` beside it; `runs` are their traces."""

    path: str
    policy: Policy = field(repr=False)
    documents: tuple[str, ...]
    recordings: tuple[str, ...] = ()
    runs: tuple[Trace, ...] = field(default=(), repr=False)
    library: Library = field(default_factory=Library, repr=False)

    def cites(self, statement: Statement) -> Iterator[tuple[Document, str]]:
        """The documents a statement cites that can be read, each with the sentence; all sentences are quoted ones."""
        for name, sentence in statement.metadata.cites:
            document = self.library.cited(self.path, name)
            if isinstance(document, Document) and sentence:
                yield document, sentence


@dataclass(frozen=True, slots=True)
class Found:
    """The gold policies of a folder, and the policies that are none, each with the reason."""

    gold: tuple[Gold, ...]
    left_out: tuple[tuple[str, str], ...]


def find(folder: str) -> Found:
    """The policies in a folder, however deep, that have statements and quote documents that can be read.

    Raises:
        InputError: VGL001 where there is no policy; else as for a policy or a recording that is broken.
    """
    gold: list[Gold] = []
    left_out: list[tuple[str, str]] = []
    for path in policy_paths([folder]):
        if path.endswith(TESTS):
            continue
        policy = load_policy(path)
        library = Library()
        one = Gold(path, policy, (), library=library)
        documents = dict.fromkeys(d.source.path for s in policy.statements for d, _ in one.cites(s))
        if not documents:
            left_out.append((path, "quotes no document that can be read" if policy.statements else "has no statements"))
            continue
        recordings = tuple(_recordings(os.path.dirname(path) or "."))  # noqa: PTH120 - the path as it was named
        runs = tuple(trace for recording in recordings for trace in load_traces(recording))
        gold.append(Gold(path, policy, tuple(documents), recordings, runs, library))
    return Found(tuple(gold), tuple(left_out))


def stored(answers: str, folder: str, gold: Gold) -> str | None:
    """The answers for a gold policy of a folder: the file at the same place below `answers`, None where it is not."""
    place = Path(answers) / os.path.relpath(Path(gold.path).parent, folder) / ANSWERS
    return str(place) if place.is_file() and stays(place, answers) else None


def _recordings(folder: str) -> Iterator[str]:
    """The recordings right in a folder, in order."""
    for name in sorted(os.listdir(folder)):  # noqa: PTH208 - names, not paths
        path = os.path.join(folder, name)  # noqa: PTH118 - keeps the folder as it was named
        if (
            name.endswith(RUNS)
            and not name.startswith(".")
            and stays(path, folder)
            and not waits(path)
            and not Path(path).is_dir()
            and is_run(path)
        ):
            yield path
