"""A pull request with policies that a model drafted: red, with findings a reviewer understands; then green.

The draft has twelve statements, six of them right. `sample/NOTICE.md` says where the rules come from. After a wanted
change of a message: ``VIGIL_UPDATE=1 pytest tests/ci``, and read the difference.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from action_steps import run_action, surroundings

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the programs are scripts of a shell")

SAMPLE = Path(__file__).parent / "sample"
DRAFT, REVIEWED = SAMPLE / "draft.vgl", SAMPLE / "policies" / "office.vgl"

MISTAKES = {
    "VGL701": (6, "`Bulk` was dropped: moving one event is a violation (Figure 7b of the paper)"),
    "VGL703": (20, "the form is wrong: the mail follows, it does not come before"),
    "VGL707": (23, "the sentence says must, and a violation is let pass"),
    "VGL402": (27, "the tool has no such argument: the statement can never fire"),
    "VGL704": (32, "the sentence is not the document's"),
    "VGL302": (49, "the statement can never fire …"),
    "VGL316": (49, "… for no text matches its regular expression"),
}

BY_HAND = {
    # There is a tool for many events; the statement is about that one.
    "prec(update_event(), ask_user(": "prec(bulk_update_events(), ask_user(",
    # What must follow is the response.
    "guests_told: prec(": "guests_told: resp(",
    # No word begins before `-`.
    r"/\brm\s+\b-rf\b/": r"/\brm\s+-rf\b/",
    # Whether a sentence with another verb is the one that was meant is for somebody to say who reads both.
    "Never send an API key by mail.": "Never put an API key into a mail.",
    "/// The rules of the office skill, as a model drafted them.": "/// The rules of the office skill.",
}
"""What fixes do not do: the reviewer's part."""


def vigil(installed: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**surroundings(folder, installed.parent), "COLUMNS": "110"}
    return subprocess.run(
        [str(installed / "vigil"), *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_the_draft_is_red(sample: Path, temporary: Path, installed: Path) -> None:
    job = run_action(sample, temporary, installed=installed, paths="policies/", traces="runs/")
    assert job.failed == ["Lint", "Test", "Judge recorded runs"]
    (run,) = json.loads(Path(job.outputs["sarif-file"]).read_text(encoding="utf-8"))["runs"]
    found = {
        result["ruleId"]: result["locations"][0]["physicalLocation"]["region"]["startLine"] for result in run["results"]
    }
    assert found == {code: line for code, (line, _) in MISTAKES.items()}
    assert job.outputs["findings"] == str(len(MISTAKES))


def test_a_reviewer_reads(sample: Path, installed: Path) -> None:
    shown = vigil(installed, sample, "lint", "policies/").stdout
    golden = SAMPLE.parent / "sample_findings.txt"
    if os.environ.get("VIGIL_UPDATE"):
        golden.write_text(shown, encoding="utf-8")
    assert shown == golden.read_text(encoding="utf-8")


def test_the_run_shows_what_dropping_bulk_does(sample: Path, installed: Path) -> None:
    judged = vigil(installed, sample, "verify", "policies/office.vgl", "runs/good.jsonl", "--format", "json")
    violated = [s["name"] for s in json.loads(judged.stdout)["statements"] if s["verdict"] == "violated"]
    assert violated == ["bulk_changes", "guests_told"]


def test_fixes_and_five_edits_make_it_the_reviewed_policy(sample: Path, installed: Path) -> None:
    vigil(installed, sample, "lint", "--fix", "--unsafe-fixes", "policies/office.vgl")
    policy = sample / "policies" / "office.vgl"
    text = policy.read_text(encoding="utf-8")
    for before, after in BY_HAND.items():
        assert text.count(before) == 1
        text = text.replace(before, after)
    assert text == REVIEWED.read_text(encoding="utf-8")


def test_the_reviewed_policy_is_green(mended: Path, temporary: Path, installed: Path) -> None:
    job = run_action(mended, temporary, installed=installed, paths="policies/", traces="runs/", upload_sarif="true")
    assert job.failed == []
    assert job.outputs["findings"] == "0"
    assert "no findings" in job.summary


def test_a_baseline_lets_the_draft_in_and_stops_what_is_new(sample: Path, temporary: Path, installed: Path) -> None:
    (sample / "vigil.toml").write_text('signatures = ["tools.json"]\nlint.baseline = "known.json"\n', encoding="utf-8")
    (sample / "policies" / "office_test.vgl").unlink()
    assert vigil(installed, sample, "lint", "--update-baseline", "policies/").returncode == 0
    assert run_action(sample, temporary, installed=installed, paths="policies/").failed == []
    policy = sample / "policies" / "office.vgl"
    policy.write_text(policy.read_text(encoding="utf-8") + "\nstatement new: abs(sent_mail())\n", encoding="utf-8")
    job = run_action(sample, temporary, installed=installed, paths="policies/")
    assert job.failed == ["Lint"]
    assert "`sent_mail`" in job.step("Lint").out


def test_the_draft_has_twelve_statements() -> None:
    for policy in (DRAFT, REVIEWED):
        assert policy.read_text(encoding="utf-8").count("\nstatement ") == 12
