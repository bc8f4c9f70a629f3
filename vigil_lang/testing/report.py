"""Test results as JSON and JUnit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vigil_lang.diagnostics.render import to_json

if TYPE_CHECKING:
    from vigil_lang.testing.case import Expected, Failure, Outcome
    from vigil_lang.testing.session import Session


def session_json(session: Session) -> dict[str, Any]:
    """The published form, `vigil.test/1`."""
    failed = len(session.failed)
    return {
        "schema": "vigil.test/1",
        "tests": [_test(outcome) for outcome in session.outcomes],
        "errors": [to_json(finding) for finding in session.findings],
        "summary": {
            "passed": len(session.outcomes) - failed,
            "failed": failed,
            "not_run": len(session.cases) - len(session.outcomes),
            "deselected": session.deselected,
            "errors": len(session.findings),
            "seconds": round(session.seconds, 6),
        },
    }


def session_junit(session: Session) -> str:
    """A JUnit document: a suite a file, a case a test, and one for each finding that kept tests from running."""
    from vigil_lang.diagnostics.render import concise
    from vigil_lang.report.content import Case, Problem, Suite
    from vigil_lang.report.junit import junit_xml
    from vigil_lang.report.paths import Places

    places = Places.now()
    suites = []
    for file in session.files:
        path = places.in_root(file.path)
        cases = []
        for outcome in file.outcomes:
            line = outcome.case.source.position(outcome.case.span.start)[0]
            failure = None
            if outcome.failures:
                text = "\n".join(_located(f, outcome) for f in outcome.failures)
                failure = Problem(outcome.failures[0].message, text, "expectation")
            cases.append(Case(outcome.case.name, path, path, line, outcome.seconds, failure=failure))
        for finding in file.findings:
            line = finding.source.position(finding.span.start)[0]
            problem = Problem(finding.message, concise(finding), finding.code)
            name = f"{finding.code} in line {line}"
            cases.append(Case(name, path, places.in_root(finding.source.path), line, 0.0, error=problem))
        suites.append(Suite(path, cases, file=path))
    return junit_xml(suites)


def _test(outcome: Outcome) -> dict[str, Any]:
    case = outcome.case
    line, column = case.source.position(case.span.start)
    return {
        "file": case.path,
        "name": case.name,
        "line": line,
        "column": column,
        "outcome": "passed" if outcome.passed else "failed",
        "seconds": round(outcome.seconds, 6),
        "expected": [_expected(expected) for expected in case.expected],
        "failures": [_failure(failure, outcome) for failure in outcome.failures],
    }


def _expected(expected: Expected) -> dict[str, Any]:
    return {
        "policy": expected.policy,
        "statement": expected.statement,
        "verdict": expected.verdict,
        **({"events": list(expected.events)} if expected.events is not None else {}),
        **({"bindings": dict(expected.bindings)} if expected.bindings else {}),
    }


def _failure(failure: Failure, outcome: Outcome) -> dict[str, Any]:
    line, column = outcome.case.source.position(failure.span.start)
    return {
        "policy": failure.expected.policy,
        "statement": failure.expected.statement,
        "message": failure.message,
        "line": line,
        "column": column,
    }


def _located(failure: Failure, outcome: Outcome) -> str:
    line, column = outcome.case.source.position(failure.span.start)
    return f"{outcome.case.path}:{line}:{column}: {failure.message}"
