"""GitLab's code quality report, by what GitLab documents of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st
from report_support import POLICY, RUN, SOURCE, diagnostics, findings, is_valid, json_of, unhurried

from vigil_lang.diagnostics import Diagnostic
from vigil_lang.diagnostics.visible import visible
from vigil_lang.report import gitlab
from vigil_lang.report.content import Suppression
from vigil_lang.report.findings import Suppressed, findings_report

if TYPE_CHECKING:
    from collections.abc import Callable


def issues(text: str) -> list[dict[str, Any]]:
    read: list[dict[str, Any]] = json_of(text)
    is_valid(read, "gitlab-code-quality.json")
    prints = [issue["fingerprint"] for issue in read]
    assert len(set(prints)) == len(prints)  # GitLab shows one of those that share one
    return read


def test_the_example(golden: Callable[[str, str], None]) -> None:
    text = gitlab.render(findings_report(findings()))
    assert [issue["severity"] for issue in issues(text)] == ["minor", "critical", "info", "critical"]
    golden("check.gitlab.json", text)


def test_the_example_of_verify(vigil: Callable[..., Any], golden: Callable[[str, str], None]) -> None:
    result = vigil("verify", POLICY, RUN, "--format", "gitlab")
    assert [issue["severity"] for issue in issues(result.out)] == ["blocker", "minor", "blocker"]
    golden("verify.gitlab.json", result.out)


@unhurried
@given(st.lists(diagnostics(), max_size=5))
def test_whatever_is_reported_is_valid(found: list[Diagnostic]) -> None:
    read = issues(gitlab.render(findings_report(found)))
    for issue, finding in zip(read, found, strict=True):
        assert issue["description"].startswith(visible(finding.message))
        assert issue["location"]["lines"]["begin"] == finding.source.position(finding.span.start)[0]


def test_what_is_suppressed_is_left_out() -> None:
    found = Suppressed(Diagnostic.of("VGL301", "m", SOURCE), Suppression("external"))
    assert issues(gitlab.render(findings_report([], suppressed=[found]))) == []
