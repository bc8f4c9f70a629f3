"""Which runs a policy's own tests expect to break it: what only such a run has is no model for a policy."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from vigil_lang.base.files import MAX_BYTES, real_path
from vigil_lang.diagnostics import InputError
from vigil_lang.project.paths import TESTS
from vigil_lang.semantics.text_patterns import BadEscape, unescape
from vigil_lang.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vigil_lang.semantics.modules import Access
    from vigil_lang.trace import Run, Trace

_AT_FAULT = frozenset({"violated", "holds", "blocks"})


def good_texts(path: str, runs: Sequence[Trace] | None, access: Access) -> frozenset[str] | None:
    """The names and values of runs that the policy's own tests do not expect to break it; None where none is to."""
    if not runs:
        return None
    bad = set(_bad_runs(path, access))
    good = [run for run in runs if real_path(_file_of(run.run)) not in bad] if bad else runs
    if len(good) == len(runs):
        return None
    events = [event for run in good for event in run.events]
    names = {name for event in events for name in (event.action, *event.kinds, *event.args)}
    return frozenset(names | {text for event in events for texts in event.args.values() for text in texts})


def tests_of(path: str) -> str | None:
    """Where the tests of a policy stand."""
    return f"{path.removesuffix('.vgl')}{TESTS}" if path.endswith(".vgl") and not path.endswith(TESTS) else None


def _file_of(run: Run) -> str:
    return run.path if run.label is None else run.path.removesuffix(f"#{run.label}")


def _bad_runs(policy: str, access: Access) -> Iterator[str]:
    path = tests_of(policy)
    if path is None or not access.is_file(Path(path)):
        return
    try:
        file = access.parse(access.read(path, MAX_BYTES)).file
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
