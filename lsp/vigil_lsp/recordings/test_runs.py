"""Tests of policies for an editor's list of tests: which there are, and what came of them, as `vigil test` has it."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

from vigil_lang.base.files import read_source
from vigil_lang.diagnostics import InputError, Source
from vigil_lang.diagnostics.diagnostic import NOWHERE
from vigil_lang.syntax import parse, tree
from vigil_lang.testing.coverage import measure
from vigil_lang.testing.coverage_report import coverage_json, missing_words
from vigil_lang.testing.report import session_json
from vigil_lang.testing.session import Session, collect, run
from vigil_lsp.quotations import test_name
from vigil_lsp.recordings.loading import tools_of
from vigil_lsp.recordings.results import TestSuite

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from vigil_lang.diagnostics import Span

Wanted = tuple[str, tuple[str, ...] | None, str]
"""A file of tests; the names of those that are wanted, None for all; and the tools that its project describes."""


def suite_of(path: str, tools: str) -> TestSuite:
    """The tests of a file on disk. One that is not valid is among them: what is wrong is told of it."""
    try:
        source = read_source(path)
    except InputError as error:
        return TestSuite(Source(path, ""), (), error.diagnostics)
    (file,) = collect([path], lambda _: True, tools_of(tools)).files
    tests = {name: item.name.span for name, item in _tests(parse(source).file)}
    return TestSuite(source, tuple(tests.items()), file.findings)


def _tests(file: tree.File) -> Iterator[tuple[str, tree.TestCase]]:
    """The tests by name; of two with one name the first."""
    seen: set[str] = set()
    for item in file.items:
        if isinstance(item, tree.TestCase) and (name := test_name(item.name)).strip() and name not in seen:
            seen.add(name)
            yield name, item


def run_of(wanted: Sequence[Wanted], *, measured: bool) -> Iterator[dict[str, Any] | None]:
    """Run tests: yields None after each, and at last what `vigil test --format json` prints of them.

    Beside line and column everything has its `location`, a source and a span; a failure has `wanted` and `found` in
    words; an error says `of` which files' tests could not be run for it; a part of the coverage says in words what is
    `missing`.
    """
    session = Session()
    for tools, some in groupby(wanted, lambda one: one[2]):
        chosen = {path: names for path, names, _ in some}
        found = collect(chosen, _fits(chosen), tools_of(tools))
        session.files += found.files
        session.deselected += found.deselected
        yield None
    for _ in run(session):
        yield None
    report = session_json(session)
    for test, outcome in zip(report["tests"], session.outcomes, strict=True):
        test["location"] = outcome.case.source, outcome.case.span
        for told, failure in zip(test["failures"], outcome.failures, strict=True):
            told["location"] = outcome.case.source, failure.span
            told |= {"wanted": failure.expected.words, "found": failure.found}
    for told, finding in zip(report["errors"], session.findings, strict=True):
        told["location"] = finding.source, finding.span
        of = (file.path for file in session.files if finding in file.findings)
        told["of"] = [(Source(path, ""), NOWHERE) for path in of]
    if measured:
        yield None
        report["coverage"] = _coverage(session)
    yield report


def _fits(chosen: Mapping[str, tuple[str, ...] | None]) -> Callable[[str], bool]:
    """Whether a test is wanted, which is named by its file and its name."""
    whole = [f"{path}::" for path, names in chosen.items() if names is None]
    single = {f"{path}::{name}" for path, names in chosen.items() for name in names or ()}
    return lambda name: name in single or any(name.startswith(path) for path in whole)


def _coverage(session: Session) -> dict[str, Any]:
    coverage = measure([outcome.case for outcome in session.outcomes], session.policies)
    report = coverage_json(coverage)
    for told, file in zip(report["files"], coverage.files, strict=True):
        for one, part in zip(told["parts"], file.parts, strict=True):
            place: tuple[Source, Span] = part.source, part.span
            one |= {"location": place, "missing": missing_words(part) if part.missing else ""}
    return report
