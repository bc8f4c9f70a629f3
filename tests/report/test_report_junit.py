"""JUnit XML: read by junitparser and by an XML parser, whatever the texts hold."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import junitparser
from hypothesis import given
from hypothesis import strategies as st
from report_support import POLICY, RUN, diagnostics, findings, texts, unhurried

from vigil_lang.diagnostics.visible import visible
from vigil_lang.report import junit
from vigil_lang.report.content import Case, Problem, Suite
from vigil_lang.report.findings import findings_report
from vigil_lang.report.junit import junit_xml

if TYPE_CHECKING:
    from collections.abc import Callable

    from vigil_lang.diagnostics import Diagnostic


def without_times(text: str) -> str:
    return re.sub(r' time="[0-9.]+"', ' time="0.000"', text)


def test_the_example(golden: Callable[[str, str], None]) -> None:
    golden("check.junit.xml", junit.render(findings_report(findings(), files=["policies/clean.vgl"])))


def test_the_example_of_verify(vigil: Callable[..., Any], golden: Callable[[str, str], None]) -> None:
    result = vigil("verify", POLICY, RUN, "--format", "junit")
    golden("verify.junit.xml", without_times(result.out))


def test_a_reader_counts_what_was_written() -> None:
    suites = [
        Suite(
            "a_test.vgl",
            [
                Case("passes", "a", "a_test.vgl", 3, 0.25, output="two\nlines"),
                Case("fails", "a", failure=Problem("expected <this>", 'got "that"\n& more', "verdict")),
                Case("breaks", "a", error=Problem("no such run")),
                Case("waits", "a", skipped="not today"),
            ],
            "a_test.vgl",
        ),
        Suite("empty"),
    ]
    read = junitparser.JUnitXml.fromstring(junit_xml(suites).encode())
    assert (read.tests, read.failures, read.errors, read.skipped, read.time) == (4, 1, 1, 1, 0.25)
    passes, fails, breaks, waits = next(iter(read))
    assert (passes.name, passes.is_passed, passes.time, passes.system_out) == ("passes", True, 0.25, "two\nlines")
    assert (fails.result[0].message, fails.result[0].text) == ("expected <this>", 'got "that"\n& more')
    assert isinstance(fails.result[0], junitparser.Failure)
    assert isinstance(breaks.result[0], junitparser.Error)
    assert waits.is_skipped


@unhurried
@given(texts, texts, texts)
def test_texts_come_back_as_a_terminal_would_show_them(name: str, message: str, text: str) -> None:
    written = junit_xml([Suite(name, [Case(name, name, failure=Problem(message, text)), Case(name, output=text)])])
    assert visible(written.replace("\n", "")) == written.replace("\n", "")
    root = ElementTree.fromstring(written.encode())
    assert {element.tag for element in root.iter()} == {
        "testsuites", "testsuite", "testcase", "failure", "system-out",
    }  # fmt: skip
    failure, output = root.find(".//failure"), root.find(".//system-out")
    assert failure is not None
    assert output is not None
    assert failure.get("message") == shown(message)
    assert failure.text == output.text
    assert (output.text or "") == "\n".join(map(shown, text.replace("\r\n", "\n").split("\n")))


def shown(text: str) -> str:
    return visible(text).replace("\ufffe", "\\u{fffe}").replace("\uffff", "\\u{ffff}")


@unhurried
@given(st.lists(diagnostics(), max_size=5))
def test_every_finding_is_a_case(found: list[Diagnostic]) -> None:
    text = junit.render(findings_report(found, files=["clean.vgl"]))
    read = junitparser.JUnitXml.fromstring(text.encode())
    assert read.tests == len(found) + 1
    assert read.failures == sum(finding.severity != "info" for finding in found)
    suite = next(suite for suite in read if suite.name == "clean.vgl")
    assert [case.is_passed for case in suite] == [True]
