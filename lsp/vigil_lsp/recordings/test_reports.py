"""Tests of policies, run for an editor: a document, and each expectation that was not met."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.base.files import read_source
from vigil_lang.diagnostics import InputError
from vigil_lang.diagnostics.render import concise
from vigil_lang.testing.session import collect, run
from vigil_lsp.markup import sentence
from vigil_lsp.recordings.loading import tools_of
from vigil_lsp.recordings.reports import link, shown_path
from vigil_lsp.recordings.results import Tested

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.testing.case import Outcome
    from vigil_lang.testing.session import FileResult, Session


def results_of(path: str, folder: str, only: str | None = None, tools: str = "") -> Iterator[Tested | None]:
    """Run the tests of a file on disk, or one of them: yields None after each, and the results at the end."""
    session = collect([path], lambda name: only is None or name == f"{path}::{only}", tools_of(tools))
    yield None
    for _ in run(session):
        yield None
    try:
        text = read_source(path).text
    except InputError:
        text = ""
    unmet = tuple((failure.span, f"{o.case.name}: {failure.message}") for o in session.failed for failure in o.failures)
    yield Tested(document(session, folder), path, text, unmet)


def document(session: Session, folder: str) -> str:
    """What came of tests, the failures first."""
    failed, passed = session.failed, [outcome for outcome in session.outcomes if outcome.passed]
    counts = [(len(failed), "failed"), (len(passed), "passed"), (len(session.findings), "could not be run")]
    told = ", ".join(f"{count} {word}" for count, word in counts if count) or "nothing to run"
    parts = [f"# Tests: {told}"]
    for file in session.files:
        parts.append(f"## {link(shown_path(file.path, folder), file.path)}")
        parts += _file(file)
    return "\n\n".join(parts) + "\n"


def _file(file: FileResult) -> Iterator[str]:
    for outcome in file.outcomes:
        if not outcome.passed:
            rows = [
                f"- {_place(outcome, failure.span.start)}: {sentence(failure.message)}" for failure in outcome.failures
            ]
            yield "\n".join([f"✗ {_title(outcome)}", "", *rows])
    passed = [f"- ✓ {_title(outcome)}" for outcome in file.outcomes if outcome.passed]
    if passed:
        yield "\n".join(passed)
    findings = [f"- {sentence(concise(finding))}" for finding in file.findings]
    if findings:
        yield "\n".join(findings)


def _title(outcome: Outcome) -> str:
    line, _ = outcome.case.source.position(outcome.case.span.start)
    return link(outcome.case.name, outcome.case.path, line)


def _place(outcome: Outcome, offset: int) -> str:
    line, _ = outcome.case.source.position(offset)
    return link(f"line {line}", outcome.case.path, line)
