"""SARIF: held against the schema of OASIS and read by pysarif; what GitHub makes of it."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_to_bytes

import pysarif
import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_support import POLICY, RUN, SOURCE, diagnostics, findings, is_valid, json_of, span_of, unhurried

from vigil_lang.diagnostics import CODES, Diagnostic, Edit, Fix, Source, apply_edits
from vigil_lang.report import sarif
from vigil_lang.report.content import Place, Step, Suppression
from vigil_lang.report.findings import Suppressed, findings_report
from vigil_lang.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path


def log_of(found: Sequence[Diagnostic], **more: Any) -> dict[str, Any]:
    log: dict[str, Any] = json_of(sarif.render(findings_report(found, **more)))
    is_valid(log, "sarif-2.1.0.json")
    return log


def run_of(found: Sequence[Diagnostic], **more: Any) -> dict[str, Any]:
    (run,) = log_of(found, **more)["runs"]
    return run


def test_the_example(golden: Callable[[str, str], None]) -> None:
    golden("check.sarif", pretty(log_of(findings(), status=1)))


def test_the_example_of_verify(vigil: Callable[..., Any], golden: Callable[[str, str], None]) -> None:
    result = vigil("verify", POLICY, RUN, "--format", "sarif")
    log = json_of(result.out)
    is_valid(log, "sarif-2.1.0.json")
    golden("verify.sarif", pretty(log))


def pretty(log: dict[str, Any]) -> str:
    """A log to read, without what has a test of its own or changes with every version."""
    for rule in log["runs"][0]["tool"]["driver"]["rules"]:
        if rule["id"] in CODES:
            del rule["help"], rule["fullDescription"]
    return json.dumps(log, indent=2, ensure_ascii=False).replace(f'"{__version__}"', '"VERSION"') + "\n"


def test_a_reader_finds_what_was_written(tmp_path: Path) -> None:
    target = tmp_path / "a.sarif"
    target.write_text(sarif.render(findings_report(findings())), encoding="utf-8")
    (run,) = pysarif.load_from_file(str(target)).runs
    assert [result.rule_id for result in run.results] == ["VGL301", "VGL202", "VGL501", "VGL001"]
    region = run.results[0].locations[0].physical_location.region
    assert (region.start_line, region.start_column, region.end_column) == (1, 39, 40)
    assert run.results[1].related_locations[0].message.text == "first declared here"


def test_rules_carry_their_pages() -> None:
    (rule, *_) = run_of(findings())["tool"]["driver"]["rules"]
    assert (rule["id"], rule["name"]) == ("VGL301", "AValueVariableOccursOnlyOnce")
    assert rule["shortDescription"]["text"] == CODES["VGL301"].summary
    assert "## Instead" in rule["help"]["markdown"]
    assert rule["fullDescription"]["text"].startswith("A bare name is a variable")
    assert rule["defaultConfiguration"] == {"level": "warning"}


def test_every_code_makes_a_rule() -> None:
    run = run_of([Diagnostic.of(code, "m", SOURCE, span_of("x")) for code in CODES])
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == list(CODES)
    assert [result["ruleIndex"] for result in run["results"]] == list(range(len(CODES)))


def test_columns_count_code_points() -> None:
    found = Diagnostic.of("VGL301", "m", SOURCE, span_of("c(d"))
    (result,) = run_of([found])["results"]
    assert run_of([found])["columnKind"] == "unicodeCodePoints"
    assert result["locations"][0]["physicalLocation"]["region"]["startColumn"] == 33


def test_a_fix_mends_the_text_as_its_edits_do() -> None:
    edits = (Edit(span_of("x"), '"x"'), Edit(span_of("prec(p(), q())"), "abs(q())"))
    found = Diagnostic.of("VGL301", "m", SOURCE, span_of("x"), fix=Fix("mend", edits, safe=True))
    (fix,) = run_of([found])["results"][0]["fixes"]
    (change,) = fix["artifactChanges"]
    assert change["artifactLocation"]["uri"] == "policies/a%20b.vgl"
    lines = SOURCE.text.split("\n")
    for replacement in reversed(change["replacements"]):
        region = replacement["deletedRegion"]
        assert region["startLine"] == region["endLine"]
        line = lines[region["startLine"] - 1]
        new = replacement["insertedContent"]["text"]
        lines[region["startLine"] - 1] = line[: region["startColumn"] - 1] + new + line[region["endColumn"] - 1 :]
    assert "\n".join(lines) == apply_edits(SOURCE.text, edits)


def test_what_is_suppressed_says_why_and_does_not_move_the_others() -> None:
    one, two = (Diagnostic.of("VGL301", "m", SOURCE, span_of(text)) for text in ("a(b", "c(d"))
    both = run_of([one, two])["results"]
    for kind in ("external", "inSource"):
        why = Suppression(kind, "old")  # type: ignore[arg-type]
        results = run_of([two], suppressed=[Suppressed(one, why)])["results"]
        assert results[1]["suppressions"] == [{"kind": kind, "status": "accepted", "justification": "old"}]
        assert "suppressions" not in results[0]
        prints = [result["partialFingerprints"] for result in results]
        assert prints == [both[1]["partialFingerprints"], both[0]["partialFingerprints"]]


def test_a_message_is_no_link_unless_we_say_so() -> None:
    found = [Diagnostic.of("VGL301", text, SOURCE) for text in ("see [me](https://x.y)", "one of [1, 2]")]
    first, second = run_of(found)["results"]
    assert first["message"]["text"] == r"see \[me\](https://x.y)"
    assert second["message"]["text"] == "one of [1, 2]"


def test_more_results_than_github_takes_are_cut_with_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sarif, "MAX_RESULTS", 3)
    found = [Diagnostic.of(code, str(n), SOURCE) for n, code in enumerate(["VGL301", "VGL501", "VGL301", "VGL202"])]
    run = run_of(found)
    assert [result["ruleId"] for result in run["results"]] == ["VGL202", "VGL301", "VGL301"]
    (note,) = run["invocations"][0]["toolExecutionNotifications"]
    assert note["message"]["text"].startswith("1 of 4 results were left out")


def test_a_file_larger_than_github_takes_is_cut_with_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sarif, "MAX_BYTES", 5_000)
    found = [Diagnostic.of("VGL301", os.urandom(200).hex(), SOURCE) for _ in range(100)]
    text = sarif.render(findings_report(found))
    run = json_of(text)["runs"][0]
    assert 0 < len(run["results"]) < 25
    assert "left out" in run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"]


@unhurried
@given(st.lists(diagnostics(), max_size=3))
def test_whatever_is_reported_is_valid(found: list[Diagnostic]) -> None:
    report = findings_report(found)
    run = run_of(found)
    assert len(run["results"]) == len(found)
    for result, diagnostic in zip(run["results"], found, strict=True):
        location = result["locations"][0]["physicalLocation"]
        path = report.places.in_root(diagnostic.source.path)
        assert unquote_to_bytes(location["artifactLocation"]["uri"]) == (path.encode("utf-8", "surrogatepass"))


@pytest.mark.parametrize(("time", "shown"), [(0, "1970-01-01T00:00:00.000Z"), (10**18, None), (-(10**18), None)])
def test_a_step_has_its_time_where_a_date_can_say_it(time: int, shown: str | None) -> None:
    step = Step("e1", 0, "e1", Place(Source("r.jsonl", "")), offends=True, time=time)
    report = findings_report(findings()[:1])
    flow = replace(report, results=[replace(report.results[0], steps=(step,))])
    (result,) = json_of(sarif.render(flow))["runs"][0]["results"]
    (found,) = result["codeFlows"][0]["threadFlows"][0]["locations"]
    assert found.get("executionTimeUtc") == shown


def test_a_flow_keeps_the_call_at_fault_when_it_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sarif, "_MAX_STEPS", 3)
    steps = tuple(Step(f"e{n}", n, "", Place(Source("r.jsonl", "")), offends=n == 9) for n in range(10))
    report = findings_report(findings()[:1])
    cut = replace(report, results=[replace(report.results[0], steps=steps)])
    (result,) = json_of(sarif.render(cut))["runs"][0]["results"]
    orders = [step["executionOrder"] for step in result["codeFlows"][0]["threadFlows"][0]["locations"]]
    assert orders == [1, 2, 10]


def test_a_name_in_no_encoding_is_its_bytes() -> None:
    name = os.fsdecode(b"caf\xe9.vgl")
    (result,) = run_of([Diagnostic.of("VGL301", "m", Source(name, "x"))])["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "caf%E9.vgl"
