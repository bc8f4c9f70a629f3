"""Running tests file by file, and their results."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Diagnostic, InputError, Source
from vigil_lang.semantics.modules import TESTS, is_test_file
from vigil_lang.testing.expectations import judge
from vigil_lang.testing.fixtures import Fixtures
from vigil_lang.testing.read import Suite, read_tests

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from vigil_lang.abstraction.tools import Tool
    from vigil_lang.semantics.policy import Policy
    from vigil_lang.testing.case import Case, Outcome


@dataclass(slots=True)
class FileResult:
    """What came of the tests of one file, so far."""

    path: str
    findings: tuple[Diagnostic, ...]
    cases: tuple[Case, ...] = ()
    policies: tuple[Policy, ...] = ()
    outcomes: list[Outcome] = field(default_factory=list)


@dataclass
class Session:
    """The tests of several files."""

    files: list[FileResult] = field(default_factory=list)
    deselected: int = 0
    seconds: float = 0.0

    @property
    def outcomes(self) -> list[Outcome]:
        """What came of every test that was run, in order."""
        return [outcome for file in self.files for outcome in file.outcomes]

    @property
    def failed(self) -> list[Outcome]:
        """Those that failed."""
        return [outcome for outcome in self.outcomes if not outcome.passed]

    @property
    def findings(self) -> list[Diagnostic]:
        """What is wrong with tests, or with what they test, so that they could not be run; each once."""
        found = [finding for file in self.files for finding in file.findings]
        return list({(f.code, f.source.path, f.span, f.message): f for f in found}.values())

    @property
    def cases(self) -> list[Case]:
        """Every test that was chosen."""
        return [case for file in self.files for case in file.cases]

    @property
    def policies(self) -> list[Policy]:
        """The policies under test, each once."""
        return list({policy.path: policy for file in self.files for policy in file.policies}.values())


def collect(paths: Iterable[str], fits: Callable[[str], bool], tools: dict[str, Tool] | None = None) -> Session:
    """The tests of some files whose names fit, not yet run; a file at fault does not stop the others.

    `tools` are those that the project describes.
    """
    session, fixtures = Session(), Fixtures(tools or {})
    for path in paths:
        try:
            read = read_tests(path, fixtures)
        except InputError as error:
            session.files.append(FileResult(path, error.diagnostics))
            continue
        chosen = tuple(case for case in read.cases if fits(f"{path}::{case.name}"))
        session.deselected += len(read.cases) - len(chosen)
        session.files.append(FileResult(path, _told(read), chosen, read.policies))
    return session


def run(session: Session, *, first_failure: bool = False) -> Iterator[tuple[FileResult, Outcome]]:
    """Run the collected tests one by one; with `first_failure` none after the first that fails.

    Raises:
        SolverDisagrees: Z3 did not confirm an answer; a fault of this program.
    """
    started = time.perf_counter()
    for file in session.files:
        for case in file.cases:
            outcome = judge(case, confirmed=True)
            file.outcomes.append(outcome)
            session.seconds = time.perf_counter() - started
            yield file, outcome
            if first_failure and not outcome.passed:
                return


def _told(read: Suite) -> tuple[Diagnostic, ...]:
    if read.cases or read.findings:
        return read.findings
    path = read.source.path
    beside = f"{path.removesuffix('.vgl')}{TESTS}"
    help_text = 'write `test "…" { … }`' if is_test_file(path) else f"the tests of a policy stand beside it: `{beside}`"
    return (Diagnostic.of("VGL610", "the file holds no tests", Source(path, ""), help=help_text),)
