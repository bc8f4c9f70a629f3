"""Workflow commands read back as GitHub's runner reads them, and the summary as Markdown."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from report_support import POLICY, RUN, SOURCE, Command, command_in, diagnostics, findings, lines_of, texts, unhurried

from vigil_lang.diagnostics import Diagnostic
from vigil_lang.diagnostics.log import harmless
from vigil_lang.diagnostics.visible import visible
from vigil_lang.report import github
from vigil_lang.report.findings import findings_report
from vigil_lang.report.markdown import block, cell, code
from vigil_lang.report.summary import MAX_BYTES, append_summary, summary

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pytest

NAMES = {"error": "error", "warning": "warning", "info": "notice"}


def commands(text: str) -> list[Command | None]:
    return [command_in(line) for line in lines_of(text)]


def test_the_example(golden: Callable[[str, str], None]) -> None:
    golden("check.github", github.render(findings_report(findings())))


def test_the_example_of_verify(vigil: Callable[..., Any], golden: Callable[[str, str], None]) -> None:
    result = vigil("verify", POLICY, RUN, "--format", "github")
    assert result.status == 1
    golden("verify.github", result.out)


@unhurried
@given(st.lists(diagnostics(), max_size=5))
def test_the_runner_reads_what_was_meant(found: list[Diagnostic]) -> None:
    report = findings_report(found)
    text = github.render(report)
    assert visible(text.replace("\n", "")) == text.replace("\n", "")
    order = sorted(found, key=lambda finding: ["error", "warning", "info"].index(finding.severity))
    read = commands(text)
    assert len(read) == len(order)
    for command, finding in zip(read, order, strict=True):
        assert command is not None
        assert command.name == NAMES[finding.severity]
        lines = [finding.message, *([finding.help] if finding.help else [])]
        assert command.text == "\n".join(map(visible, lines))
        assert command.properties["file"] == visible(report.places.in_root(finding.source.path))
        line, column = finding.source.position(finding.span.start)
        if finding.source.text:
            assert command.properties["line"] == str(line)
            assert command.properties.get("col", str(column)) == str(column)


def test_a_range_over_lines_has_no_columns() -> None:
    (command,) = commands(github.render(findings_report(findings()[2:3])))
    assert command is not None
    assert command.properties.keys() == {"file", "line", "endLine", "title"}


def test_what_github_would_not_show_is_counted_and_stays_in_the_log() -> None:
    found = [Diagnostic.of("VGL301", f"warning {n}", SOURCE) for n in range(12)]
    found += [Diagnostic.of("VGL202", f"error {n}", SOURCE) for n in range(11)]
    found += [Diagnostic.of("VGL501", f"note {n}", SOURCE) for n in range(10)]
    text = github.render(findings_report(found))
    read = [command for command in commands(text) if command]
    assert [c.name for c in read] == ["error"] * 10 + ["warning"] * 10 + ["notice"] * 10
    assert read[-1].text.startswith("4 more findings")
    assert lines_of(text)[-4:] == [
        "policies/a b.vgl:1: VGL202 error 10",
        "policies/a b.vgl:1: VGL301 warning 10",
        "policies/a b.vgl:1: VGL301 warning 11",
        "policies/a b.vgl:1: VGL501 note 9",
    ]


@unhurried
@given(texts)
def test_no_line_of_a_log_is_a_command(text: str) -> None:
    assert not any(command_in(line) for line in lines_of(harmless(visible(text))))
    assert not any(command_in(line) for line in lines_of(harmless(text)))


def test_people_and_lines_are_shown_without_commands_on_github(
    vigil: Callable[..., Any], write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("COLUMNS", "60")
    policy = write("a.vgl", 'statement A: abs(p(s = "' + "x " * 20 + '::error::no ##[error]"))\nstatement B: abs(')
    monkeypatch.chdir(policy.parent)
    policy.rename("::error::.vgl")
    for form in ("human", "concise"):
        result = vigil("check", "::error::.vgl", "--format", form)
        assert "VGL101" in result.out
        assert not any(command_in(line) for line in lines_of(result.out + result.err))


# --- the summary -------------------------------------------------------------------------------------------


def test_the_example_of_a_summary(golden: Callable[[str, str], None]) -> None:
    golden("check.md", summary(findings_report(findings())))


class _Cells(HTMLParser):
    """The texts of a table's cells, and every tag that is met."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.rows: list[list[str]] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        self.tags.add(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_data(self, data: str) -> None:
        if self.rows and self.rows[-1]:
            self.rows[-1][-1] += data


def rendered(markdown: str) -> _Cells:
    return _Cells(MarkdownIt("commonmark").enable("table").render(markdown))


def plain(text: str) -> str:
    return " ".join(text.replace("\\|", "\\ |").split())


@unhurried
@given(st.lists(diagnostics(), min_size=1, max_size=4))
def test_nothing_breaks_out_of_the_table(found: list[Diagnostic]) -> None:
    read = rendered(summary(findings_report(found)))
    assert read.tags <= {"h3", "table", "thead", "tbody", "tr", "th", "td", "code"}
    assert len(read.rows) == 1 + len(found)
    assert all(len(row) == 4 for row in read.rows)
    order = sorted(found, key=lambda finding: ["error", "warning", "info"].index(finding.severity))
    assert [plain(row[3]) for row in read.rows[1:]] == [plain(visible(finding.message)) for finding in order]


# What the strictest reader takes for a cell: a backslash escapes a backslash and a bar, and any other bar ends it.
_CELL = re.compile(r"(?:\\[\\|]|\\(?![\\|])|[^|\n\\])+")


@unhurried
@given(texts)
def test_a_cell_is_one_cell_to_every_reader(text: str) -> None:
    assert _CELL.fullmatch(cell(text) or " ")
    assert _CELL.fullmatch(cell("\\" * 3 + "|" + text))


@unhurried
@given(texts)
def test_code_stays_code(text: str) -> None:
    assert rendered(code(text)).tags <= {"p", "code"}
    html = MarkdownIt("commonmark").render(block(text, "vgl"))
    assert re.findall(r"<(\w+)", html) == ["pre", "code"]


def test_a_summary_fits_into_what_github_takes() -> None:
    found = [Diagnostic.of("VGL301", "é" * 1_000, SOURCE) for _ in range(1_000)]
    text = summary(findings_report(found))
    assert MAX_BYTES - 3_000 < len(text.encode()) <= MAX_BYTES
    assert re.search(r"\nand \d+ more\.\n", text)
    assert summary(findings_report(found), 10) == ""


def test_a_summary_is_added_to_what_the_step_wrote(
    vigil: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "summary.md"
    target.write_text("before\n", encoding="utf-8")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(target))
    assert vigil("verify", POLICY, RUN, "--format", "github").status == 1
    assert vigil("check", POLICY, "--format", "github").out == ""
    text = target.read_text(encoding="utf-8")
    assert text.startswith("before\n### vigil verify: 1 of 1 run unsafe\n")
    assert "### vigil check: no findings\n" in text
    vigil("check", POLICY, "--format", "gitlab")
    assert target.read_text(encoding="utf-8") == text


def test_a_summary_that_cannot_be_written_changes_no_status(
    vigil: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path))
    result = vigil("check", POLICY, "--format", "github")
    assert (result.status, result.out) == (0, "")
    assert "VGL004 the summary of the job cannot be written" in result.err
    assert append_summary(findings_report([]), "\0")
