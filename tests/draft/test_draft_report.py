"""The reports of a draft: what each reader sees, and that no text of a document or a model acts on them."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any, get_args

import jsonschema
import pytest
from draft_samples import HOSTILE, clause, draft, drafted
from markdown_it import MarkdownIt

from vigil_lang.draft.clause_result import Clause, Draft, Entry, FormName, Other, RunCounts, Usage, Why
from vigil_lang.draft.reports.human import print_report
from vigil_lang.draft.reports.markdown import MAX_CHARS, to_markdown
from vigil_lang.draft.reports.not_taken import TITLES
from vigil_lang.draft.reports.report import Report, cost, headline, runs_text, spent, to_json, why
from vigil_lang.report.markdown import cell

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "draft-report.schema.json").read_text(encoding="utf-8"))
REPORT = Report(draft(), "skill", "out/policy.vgl", runs=3)


def screen(report: Report, width: int, *, colour: bool = False) -> str:
    """What a terminal of this width gets."""
    from rich.console import Console

    target = StringIO()
    system: Any = "standard" if colour else None
    print_report(
        report,
        Console(file=target, width=width, force_terminal=colour, color_system=system, soft_wrap=True, markup=False),
    )
    return target.getvalue()


# --- what is counted -----------------------------------------------------------------------------------------------


def test_the_headline_counts_each_clause_once_and_each_statement_once() -> None:
    assert headline(REPORT) == (
        "3 of 9 clauses kept with 2 statements, 1 unsupported, 1 rejected, 1 not answered, 1 cut off, 1 refused, "
        "1 not normative"
    )


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (RunCounts(), ""),
        (RunCounts(1), "the run does not test it"),
        (RunCounts(1, 1), "the run tests and keeps it"),
        (RunCounts(1, 1, 1), "the run breaks it"),
        (RunCounts(4), "none of 4 runs tests it"),
        (RunCounts(4, 3), "tested by 3 of 4 runs, broken by none"),
        (RunCounts(4, 3, 2), "tested by 3 of 4 runs, broken by 2"),
    ],
)
def test_how_a_statement_fared_is_told_in_words(found: RunCounts, said: str) -> None:
    assert runs_text(found) == said


@pytest.mark.parametrize(
    ("usage", "said"),
    [
        (Usage(), "cost unknown"),
        (Usage(cost=0.03121), "$0.0312"),
        (Usage(cost=12.345), "$12.35"),
        (Usage(cost=0.5, estimated=True), "at most $0.5000"),
    ],
)
def test_the_cost_says_what_is_known(usage: Usage, said: str) -> None:
    assert cost(usage) == said


def test_tokens_of_the_prompt_cache_are_tokens_in() -> None:
    assert spent(REPORT) == [
        "claude-x",
        "4 requests and 1 retry",
        "14,320 tokens in (5,000 from the cache), 1,204 out",
        "$0.0312",
        "12.3 s",
    ]


def test_stored_answers_and_documents_cost_nothing() -> None:
    assert spent(replace(REPORT, origin="stored")) == ["stored answers of claude-x, nothing asked"]
    assert spent(replace(REPORT, origin="document", source="a.json")) == ["answers of a.json, no model asked"]


def test_why_names_the_cause_and_how_often_was_asked() -> None:
    said = [why(entry) for entry in REPORT.draft.entries[5:]]
    assert said == ["no statement passed (asked 3 times)", "not answered (asked 3 times)", "refused", "cut off"]
    budget = Entry(clause(1, "x"), "unsupported", (), "1.00 of 1.00 USD are spent", "budget")
    assert why(budget) == "not asked: the budget was used up"


@pytest.mark.parametrize(
    ("about", "said"),
    [
        (clause(1, "You must back up."), "You must back up."),
        (clause(1, "No `TODO`", lead="Before you write:"), "Before you write: No `TODO`"),
        (clause(1, "Before you write: no `TODO`", lead="Before you write:"), "Before you write: no `TODO`"),
        (replace(clause(1, "The root"), headings=("Rules", "You MUST list:", "x")), "You MUST list: The root"),
        (replace(clause(1, "The root"), headings=("Parts - MUST",)), "Parts - MUST: The root"),
    ],
)
def test_a_sentence_is_told_with_what_it_is_the_other_half_of(about: Clause, said: str) -> None:
    report = Report(Draft((Entry(about, "unsupported", reason="no", cause="model"),), ("A.md",)), "a")
    assert f"SKILL.md:7  {said}\n" in screen(report, 200)
    assert cell(said) in to_markdown(report)
    (found,) = to_json(report)["clauses"]
    assert (found["lead"], found["sentence"]) == (about.lead, about.text)


# --- JSON ----------------------------------------------------------------------------------------------------------


def test_the_json_is_what_its_schema_says_and_reads_back() -> None:
    # spec RC.5-1
    found = to_json(REPORT)
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(found, SCHEMA)
    assert json.loads(json.dumps(found)) == found


def test_the_schema_names_every_member_and_no_other() -> None:
    found = to_json(REPORT)
    assert set(found) == set(SCHEMA["properties"]) == set(SCHEMA["required"])
    assert set(found["clauses"][0]) == set(SCHEMA["$defs"]["clause"]["properties"])
    assert set(found["not_taken"][0]) == set(SCHEMA["$defs"]["other"]["properties"])
    assert SCHEMA["$defs"]["other"]["properties"]["reason"]["enum"] == list(get_args(Why)) == list(TITLES)
    assert SCHEMA["$defs"]["statement"]["properties"]["form"]["enum"] == list(get_args(FormName))
    assert set(found["clauses"][0]["statements"][0]) == set(SCHEMA["$defs"]["statement"]["properties"])
    assert set(found["usage"]) == set(SCHEMA["properties"]["usage"]["required"])


def test_the_json_has_every_clause_and_its_statement_as_written() -> None:
    # spec RC.5-2
    found = to_json(REPORT)
    assert found["complete"] is False
    assert found["summary"] == {
        "clauses": 9, "kept": 3, "unsupported": 1, "failed": 4, "not_normative": 1, "other_sentences": 4,
    }  # fmt: skip
    push = found["clauses"][1]["statements"][0]
    assert push["text"] == "abs(vcs.push(force = true)) after start()"
    assert push["runs"] == {"given": 3, "tested_by": 0, "broken_by": 0}
    assert HOSTILE in found["clauses"][1]["sentence"]


# --- the screen ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [60, 80, 120])
def test_the_screen_keeps_to_its_width_and_no_text_acts_on_it(width: int) -> None:
    text = screen(REPORT, width)
    assert all(len(line) <= width or " " not in line.strip() for line in text.splitlines())
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "\n# big" not in text


def test_the_screen_has_each_clause_in_its_group_and_a_statement_once() -> None:
    text = screen(REPORT, 100)
    assert text.splitlines()[0].startswith("incomplete  out/policy.vgl · 3 of 9 clauses kept")
    groups = [
        "Not taken for obligations: 3 sentences, 1 block of code or comments",
        "In the policy",
        "Not normative",
        "Unsupported",
        "Without an acceptable answer",
    ]
    places = [text.index(group) for group in groups]
    assert places == sorted(places)
    assert text.count("prec(file.write(path = x), file.copy(source = x))") == 1
    assert "backed_up  as above" in text
    assert "may speak to the model: it asks to ignore" in text
    assert "and 1 more finding" in text
    assert all(f"SKILL.md:{number * 7}  " in text for number in range(1, 10))


def test_the_screen_has_a_line_for_each_sentence_that_is_no_clause() -> None:
    lines = screen(REPORT, 100).splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("Not taken"))
    assert lines[at + 1 : at + 9 : 2] == [
        " instructions that nothing makes binding (--take step)",
        " code, which is not read for clauses",
        " headings",
        " sentences that only describe (--take description)",
    ]
    assert lines[at + 2].startswith("   SKILL.md:4  Run the tests. \\x1b[31m")
    assert (len(lines[at + 8]), lines[at + 8][-7:]) == (100, "d word…")


def test_a_statement_of_two_clauses_keeps_the_remarks_on_each() -> None:
    text = "statement a: abs(rm())"
    entries = (
        Entry(clause(1, "Never remove."), "kept", (drafted(text, RunCounts(1), "first remark"),)),
        Entry(clause(2, "Removing is forbidden."), "kept", (drafted(text, RunCounts(1), "second remark"),)),
    )
    report = Report(Draft(entries, ("A.md",)), "a", runs=1)
    for shown in (screen(report, 80), to_markdown(report)):
        assert shown.index("first remark") < shown.index("second remark")


def test_reasons_are_missed_only_where_they_must_be_given() -> None:
    silent = (Entry(clause(1, "Hm."), "not_normative"), Entry(clause(2, "Never."), "unsupported", cause="model"))
    assert screen(Report(Draft(silent, ("A.md",)), "a"), 80).count("no reason given") == 1


def test_colours_are_ours_alone() -> None:
    text = screen(REPORT, 100, colour=True)
    assert "\x1b[1;31mincomplete\x1b[0m" in text
    assert "\\x1b[31m</td>" in text


# --- Markdown ------------------------------------------------------------------------------------------------------


def plain(markdown: str) -> str:
    """What a reader sees as text, not as code, after Markdown and its tables are understood."""
    tokens = MarkdownIt("gfm-like", {"linkify": False, "html": True}).parse(markdown)
    inline = [child for token in tokens if token.type == "inline" for child in token.children or ()]
    kinds = {child.type for child in inline} | {token.type for token in tokens}
    assert not kinds & {"link_open", "image", "fence", "code_block"}, kinds
    ours = r"<details><summary>Not taken for obligations: [a-z0-9 ,]+</summary>\n|</details>\n"
    assert all(re.fullmatch(ours, token.content) for token in tokens if token.type == "html_block")
    assert {child.content for child in inline if child.type == "html_inline"} <= {"<br>"}
    return " ".join(child.content for child in inline if child.type == "text")


def test_nothing_from_outside_is_more_than_code_in_markdown() -> None:
    text = plain(to_markdown(REPORT))
    assert not re.search(r"[@<>\[\]|]|\bscript|evil|big", text)
    assert "3 of 9 clauses kept with 2 statements" in text


def test_each_clause_has_a_row_of_two_cells() -> None:
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(to_markdown(REPORT))
    kinds = [token.type for token in tokens]
    assert kinds.count("tr_open") == 9 + 4
    assert kinds.count("td_open") == 9 * 2


def test_a_long_report_says_what_it_leaves_out() -> None:
    entry = REPORT.draft.entries[0]
    many = tuple(replace(entry, clause=clause(n, "word " * 100)) for n in range(1, 400))
    text = to_markdown(replace(REPORT, draft=replace(REPORT.draft, entries=many, problems=("long " * 300,) * 99)))
    assert len(text) <= MAX_CHARS
    rows = text.count("| `SKILL.md:")
    assert 50 < rows < 399
    assert f"There is no room here for {399 - rows} more clauses" in text
    assert text.rstrip().endswith("12.3 s")
    others = tuple(Other("SKILL.md", n, "word " * 100, "description") for n in range(1, 400))
    text = to_markdown(replace(REPORT, draft=replace(REPORT.draft, others=others)))
    assert len(text) <= MAX_CHARS
    assert f"There is no room here for {399 - text.count('- `SKILL.md:')} more; the JSON report has all." in text
    assert text.index("</details>") < text.index("12.3 s")


def test_an_empty_draft_has_reports_too() -> None:
    report = Report(Draft((), ("A.md",)), "a")
    assert "0 of 0 clauses kept" in to_markdown(report)
    assert "0 of 0 clauses kept" in screen(report, 80)
    jsonschema.validate(to_json(report), SCHEMA)


@pytest.mark.parametrize(
    ("outside", "said"),
    [(("A.md",), "A.md lies outside"), (("A.md", "B.md", "C.md"), "A.md and 2 more lie outside"), ((), None)],
)
def test_documents_outside_the_project_are_told_of(outside: tuple[str, ...], said: str | None) -> None:
    report = replace(REPORT, outside=outside)
    told = to_json(report)["notes"]
    assert "two statements are close" in told
    assert [note for note in told if "outside" in note] == [note for note in told if said and note.startswith(said)]
    assert (said or "outside") in to_markdown(report) or said is None


def test_statements_that_no_run_was_there_for_are_told_of() -> None:
    entry = Entry(clause(1, "Never."), "kept", (drafted("statement a: abs(rm())"),))
    report = Report(Draft((entry,), ("A.md",)), "a")
    assert "no runs were given" in screen(report, 80)
    assert "no runs were given" in to_markdown(report)
