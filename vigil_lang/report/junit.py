"""JUnit XML, as GitLab, Jenkins and most other CI systems read it: suites of cases, each passed unless it says more."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vigil_lang.diagnostics.visible import visible, visible_lines
from vigil_lang.report.content import Case, Problem, Suite

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from vigil_lang.report.content import Place, Report, Result
    from vigil_lang.report.paths import Places

# XML 1.0 has no way to write these, not even as a reference; `visible` knows the others.
_NO_XML = re.compile("[\ufffe\uffff]")
# What a log on GitHub would take for a command; it reads back as it was.
_COMMAND = re.compile(r"^(\s*):(?=:)|#(?=#\[)", re.MULTILINE)
_MARKUP = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;"})


def junit_xml(suites: Iterable[Suite], name: str = "vigil") -> str:
    """The document, one element a line, whatever the texts hold: what XML or a terminal cannot take is written out."""
    every = list(suites)
    cases = [case for suite in every for case in suite.cases]
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f"<testsuites{_attributes(name=name, **_sums(cases))}>"]
    for suite in every:
        head = _attributes(name=suite.name, **_sums(suite.cases), file=suite.file)
        lines.append(f"  <testsuite{head}>")
        lines += _properties(suite.figures)
        for case in suite.cases:
            lines += _case(case)
        lines.append("  </testsuite>")
    lines.append("</testsuites>")
    return _COMMAND.sub(lambda found: "&#35;" if found[1] is None else f"{found[1]}&#58;", "\n".join(lines)) + "\n"


def _properties(figures: Mapping[str, int]) -> Iterator[str]:
    if figures:
        yield "    <properties>"
        yield from (f"      <property{_attributes(name=name, value=str(number))}/>" for name, number in figures.items())
        yield "    </properties>"


def _sums(cases: Sequence[Case]) -> dict[str, str]:
    return {
        "tests": str(len(cases)),
        "failures": str(sum(case.failure is not None for case in cases)),
        "errors": str(sum(case.error is not None for case in cases)),
        "skipped": str(sum(case.skipped is not None for case in cases)),
        "time": _seconds(sum(case.seconds or 0.0 for case in cases)),
    }


def _case(case: Case) -> Iterator[str]:
    head = _attributes(
        name=case.name,
        classname=case.classname,
        file=case.file,
        line=None if case.line is None else str(case.line),
        time=None if case.seconds is None else _seconds(case.seconds),
    )
    inner = [
        *_problem("failure", case.failure),
        *_problem("error", case.error),
        *([] if case.skipped is None else [f"      <skipped{_attributes(message=case.skipped)}/>"]),
        *([] if case.output is None else [f"      <system-out>{_text(case.output)}</system-out>"]),
    ]
    if not inner:
        yield f"    <testcase{head}/>"
        return
    yield f"    <testcase{head}>"
    yield from inner
    yield "    </testcase>"


def _problem(element: str, problem: Problem | None) -> Iterator[str]:
    if problem is not None:
        head = _attributes(message=problem.message, type=problem.type or None)
        yield f"      <{element}{head}>{_text(problem.text)}</{element}>"


def _attributes(**values: str | None) -> str:
    return "".join(f' {name}="{_text(value, one_line=True)}"' for name, value in values.items() if value is not None)


def _text(text: str, *, one_line: bool = False) -> str:
    """A text as XML takes it. Line breaks are kept, except in attributes, whose readers turn them into spaces."""
    shown = visible(text) if one_line else visible_lines(text.replace("\r\n", "\n"))
    return _NO_XML.sub(lambda match: f"\\u{{{ord(match[0]):x}}}", shown).translate(_MARKUP)


def _seconds(seconds: float) -> str:
    return f"{max(seconds, 0.0):.3f}"


# --- reports -----------------------------------------------------------------------------------------------


def render(report: Report) -> str:
    """The suites of the report; where it has none, one for each file, with a case for each finding in it."""
    return junit_xml(_suites(report) if report.suites is None else report.suites, f"vigil {report.verb}")


def _suites(report: Report) -> Iterator[Suite]:
    found: dict[str, list[Result]] = {report.places.in_root(path): [] for path in report.files}
    for result in report.counted:
        found.setdefault(report.places.in_root(result.place.path), []).append(result)
    for path, results in found.items():
        cases = [_finding(result, report.places) for result in results]
        yield Suite(path, cases or [Case("no findings", path, path)], path)


def _finding(result: Result, places: Places) -> Case:
    """A finding as a case that fails; one that only informs passes, with what it says as its output."""
    path, line = places.in_root(result.place.path), result.place.line
    where = _where(result.place, places)
    name = f"{result.rule.id} at {where.removeprefix(f'{path}:')}" if line is not None else result.rule.id
    told = [f"{where}: {result.rule.id} {result.message}"]
    told += [f"help: {result.help}"] if result.help else []
    told += [f"{_where(place, places)}: {message}" for message, place in result.notes]
    text = "\n".join(told)
    if result.level == "info":
        return Case(name, path, path, line, output=text)
    return Case(name, path, path, line, failure=Problem(result.message, text, result.level))


def _where(place: Place, places: Places) -> str:
    found = place.range()
    path = places.in_root(place.path)
    if found is not None:
        (line, column), _ = found
        return f"{path}:{line}:{column}"
    return path if place.line is None else f"{path}:{place.line}"
