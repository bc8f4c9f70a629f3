"""action.yml is a valid action, and its steps do what docs/ci.md says of them, whatever its inputs hold."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from action_steps import ROOT, filled, run_action, value
from package_index import copy_project, need_package_index
from published_schemas import assert_valid

from tests.security.planted import has_run, plant
from vigil_lang.lint.batch import WORTH_A_PROCESS
from vigil_lang.version import __version__

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the steps are run by bash")

ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
PAGE = ROOT / "docs" / "ci.md"
JUDGE = "Judge recorded runs"
MADE = re.compile(r"(?<=<!-- made from action.yml -->\n).*?(?=<!-- end -->)", re.DOTALL)


def test_it_is_valid() -> None:
    assert_valid(ROOT / "action.yml", "vendor.github-actions")


def test_what_comes_from_outside_is_no_part_of_a_script() -> None:
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step.get("run", "")


def test_the_page_lists_its_inputs_and_outputs() -> None:
    rows = ["\n| input | | by default |\n|---|---|---|\n"]
    for name, about in ACTION["inputs"].items():
        usual = f"`{about['default']}`" if about["default"] else ""
        rows.append(f"| `{name}` | {about['description']} | {usual} |\n")
    rows.append("\n| output | |\n|---|---|\n")
    rows += [f"| `{name}` | {about['description']} |\n" for name, about in ACTION["outputs"].items()]
    made = "".join(rows) + "\n"
    text = PAGE.read_text(encoding="utf-8")
    if os.environ.get("VIGIL_UPDATE"):
        PAGE.write_text(text := MADE.sub(lambda _: made, text), encoding="utf-8")
    found = MADE.search(text)
    assert found is not None
    assert found[0] == made


def test_the_harness_reads_expressions() -> None:
    known = {"inputs": {"a-b": "x", "no": "false"}, "steps": {"s": {"outcome": "success", "outputs": {}}}}
    assert filled("${{ inputs.a-b }}/y", known) == "x/y"
    assert value("inputs.no == 'true'", known) is False
    assert value("!cancelled() && steps.s.outcome == 'success' && inputs.a-b != ''", known) is True
    assert filled("${{ steps.s.outputs.nothing }}", known) == ""
    assert not value("success()", known, failed=True)


def test_it_fails_says_why_and_goes_on(sample: Path, temporary: Path, installed: Path) -> None:
    job = run_action(
        sample, temporary, installed=installed, paths="policies/\n", signatures="tools.json", traces="runs/"
    )
    assert job.failed == ["Lint", "Test", "Judge recorded runs"]
    assert "::warning file=policies/office.vgl,line=6," in job.step("Lint").out
    assert int(job.outputs["findings"]) > 5
    assert Path(job.outputs["sarif-file"]).is_file()
    assert "| " in job.summary


def test_nothing_is_uploaded_unless_asked_for(mended: Path, temporary: Path, installed: Path) -> None:
    job = run_action(mended, temporary, installed=installed, paths="policies/", signatures="tools.json")
    assert job.failed == []
    assert [step.name for step in job.steps] == ["Set up Python", "Lint", "Find policies and tests", "Test"]
    assert job.outputs["findings"] == "0"


def test_sarif_is_uploaded_although_lint_fails(sample: Path, temporary: Path, installed: Path) -> None:
    job = run_action(
        sample,
        temporary,
        installed=installed,
        paths="policies/",
        traces="runs/",
        sarif="out.sarif",
        upload_sarif="true",
    )
    assert "Lint" in job.failed
    first, second = (step for step in job.steps if step.uses.startswith("github/codeql-action/upload-sarif@"))
    assert first.given == {"sarif_file": "out.sarif", "category": "vigil-lint"}
    assert second.given == {"sarif_file": f"{temporary}/vigil-runs.sarif", "category": "vigil-verify"}
    assert (sample / "out.sarif").is_file()


def test_a_fail_level_lets_findings_pass(sample: Path, temporary: Path, installed: Path) -> None:
    (sample / "policies" / "office_test.vgl").unlink()
    job = run_action(sample, temporary, installed=installed, paths="policies/", traces="runs/", fail_level="never")
    assert job.failed == []
    assert "office.bulk_changes is violated" in job.step("Judge recorded runs").out
    assert int(job.outputs["findings"]) > 0
    assert "Test" not in {step.name for step in job.steps}


def test_a_configuration_is_taken(sample: Path, temporary: Path, installed: Path) -> None:
    (sample / "ci settings.toml").write_text('[lint]\nselect = ["VGL316"]\n', encoding="utf-8")
    (sample / "policies" / "office_test.vgl").unlink()
    job = run_action(sample, temporary, installed=installed, paths="policies/", config="ci settings.toml")
    assert set(re.findall(r"VGL\d+", job.step("Lint").out)) <= {"VGL316"}


def test_a_glob_names_tests_too(sample: Path, temporary: Path, installed: Path) -> None:
    job = run_action(sample, temporary, installed=installed, paths="**/*_test.vgl")
    assert "Test" in job.failed


def test_paths_stand_on_lines_of_their_own(mended: Path, temporary: Path, installed: Path) -> None:
    (mended / "more rules").mkdir()
    shutil.copy(mended / "policies" / "office.vgl", mended / "more rules" / "-x.vgl")
    (mended / "more rules" / ".hidden").mkdir()
    (mended / "more rules" / ".hidden" / "broken.vgl").write_text("statement", encoding="utf-8")
    job = run_action(
        mended,
        temporary,
        installed=installed,
        paths="policies/\n\nmore rules\n",
        signatures="tools.json\n",
        traces="runs/",
    )
    assert job.failed == []


def test_it_installs_what_it_was_taken_from(mended: Path, temporary: Path, tmp_path: Path) -> None:
    need_package_index()
    project = copy_project(tmp_path / "the action")
    told = plant(mended)
    job = run_action(
        mended, temporary, project=project, paths="policies/", traces="runs/", environment={"PYTHONPATH": str(mended)}
    )
    assert job.failed == [], job
    assert job.step("Install Vigil").out == f"vigil {__version__}\n"
    assert job.outputs["findings"] == "0"
    assert has_run(told) == []


@pytest.mark.parametrize("path", [None, "{checkout}"], ids=str)
def test_nothing_of_the_checkout_is_run(path: str | None, mended: Path, temporary: Path, installed: Path) -> None:
    """`tests/security/test_running_code.py` has the same of the verbs; the step that installs is run above."""
    for number in range(WORTH_A_PROCESS):
        shutil.copy(mended / "policies" / "office.vgl", mended / "policies" / f"office{number}.vgl")
    told = plant(mended)
    environment = {} if path is None else {"PYTHONPATH": path.format(checkout=mended)}
    job = run_action(mended, temporary, installed=installed, traces="runs/", environment=environment)
    assert [step.name for step in job.steps] == ["Set up Python", "Lint", "Find policies and tests", "Test", JUDGE]
    assert "Traceback" not in "".join(step.out for step in job.steps)
    assert has_run(told) == []


def test_every_call_of_python_is_isolated() -> None:
    for step in ACTION["runs"]["steps"]:
        calls = re.findall(r"\S*python\b\S* +(\S+)", re.sub(r"#.*|command -v \S+|python=\S+", "", step.get("run", "")))
        assert set(calls) <= {"-I"}, step["name"]
        assert "$BIN/vigil" not in step.get("run", ""), step["name"]


def test_other_actions_are_named_by_their_commits() -> None:
    text = (ROOT / "action.yml").read_text(encoding="utf-8") + PAGE.read_text(encoding="utf-8")
    used = re.findall(r"uses: (?!OWNER/vigil@TAG)(.*)", text)
    assert used
    assert all(re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", one) for one in used), used


HOSTILE = "\"; touch pwned; ' $(touch pwned) `touch pwned`\n--fix\nfindings=$(touch pwned)\n*\n"


@pytest.mark.parametrize("name", ["paths", "traces", "signatures", "fail_level", "config", "sarif", "upload_sarif"])
def test_no_input_is_a_program_or_an_option(name: str, mended: Path, temporary: Path, installed: Path) -> None:
    before = (mended / "policies" / "office.vgl").read_bytes()
    given = {"paths": "policies/", "signatures": "tools.json"} | {name: HOSTILE}
    job = run_action(mended, temporary, installed=installed, **given)
    assert not list(mended.rglob("pwned"))
    assert not list(temporary.rglob("pwned"))
    assert (mended / "policies" / "office.vgl").read_bytes() == before
    assert set(job.outputs) == {"findings", "sarif-file"}
    assert all("Traceback" not in step.out for step in job.steps)
