"""The recipes of docs/ci.md are valid for those who read them, and their scripts do what the page says."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml
from action_steps import ROOT, surroundings
from published_schemas import assert_valid
from spec_blocks import blocks

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the scripts are run by a shell")

RECIPES = {block.args[1]: block.text for block in blocks(ROOT / "docs" / "ci.md") if block.args[:1] == ("as",)}
PLAIN = ".github/workflows/policies-plain.yml"


def test_each_host_has_a_recipe() -> None:
    assert set(RECIPES) == {".github/workflows/policies.yml", PLAIN, ".gitlab-ci.yml", ".pre-commit-config.yaml"}


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_is_valid(name: str, tmp_path: Path) -> None:
    path = tmp_path / Path(name).name
    path.write_text(RECIPES[name], encoding="utf-8")
    if name == ".pre-commit-config.yaml":
        subprocess.run([sys.executable, "-m", "pre_commit", "validate-config", str(path)], check=True, timeout=60)
    else:
        assert_valid(path, "vendor.gitlab-ci" if name == ".gitlab-ci.yml" else "vendor.github-workflows")


def test_the_action_has_the_inputs_that_its_recipe_gives() -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    (job,) = yaml.safe_load(RECIPES[".github/workflows/policies.yml"])["jobs"].values()
    (used,) = (step for step in job["steps"] if step.get("id") == "vigil")
    assert set(used["with"]) <= set(action["inputs"])


def test_the_hooks_exist() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    (repository,) = yaml.safe_load(RECIPES[".pre-commit-config.yaml"])["repos"]
    assert {hook["id"] for hook in repository["hooks"]} == {hook["id"] for hook in hooks} - {"vigil-check"}


def replayed(lines: list[str], folder: Path, temporary: Path, installed: Path) -> list[int]:
    """The status of each line of a script, with our programs instead of what pip would install."""
    environment = surroundings(folder, temporary)
    environment["PATH"] = f"{installed}:{environment['PATH']}"
    return [
        subprocess.run(
            ["sh", "-e", "-c", line], cwd=folder, env=environment, check=False, capture_output=True, timeout=120
        ).returncode
        for line in lines
    ]


def plain_lines() -> list[str]:
    (job,) = yaml.safe_load(RECIPES[PLAIN])["jobs"].values()
    return [step["run"] for step in job["steps"] if "run" in step]


def gitlab() -> dict[str, Any]:
    (job,) = yaml.safe_load(RECIPES[".gitlab-ci.yml"]).values()
    return dict(job)


def test_github_without_the_action(sample: Path, temporary: Path, installed: Path) -> None:
    assert replayed(plain_lines(), sample, temporary, installed) == [0, 0, 1, 1, 1]


def test_github_without_the_action_on_mended_policies(mended: Path, temporary: Path, installed: Path) -> None:
    assert set(replayed(plain_lines(), mended, temporary, installed)) == {0}


def whole(lines: list[str], folder: Path, temporary: Path, installed: Path) -> subprocess.CompletedProcess[str]:
    """A script as GitLab runs it: in one shell, which ends at the first line that fails."""
    environment = surroundings(folder, temporary)
    environment["PATH"] = f"{installed}:{environment['PATH']}"
    script = "\n".join(["set -eo pipefail", *lines])
    return subprocess.run(
        ["bash", "-c", script], cwd=folder, env=environment, check=False, capture_output=True, text=True, timeout=300
    )


def test_gitlab(sample: Path, temporary: Path, installed: Path) -> None:
    job = gitlab()
    done = whole(job["script"], sample, temporary, installed)
    assert done.returncode == 1
    assert "warning[VGL701]" in done.stdout
    reports = job["artifacts"]["reports"]
    found = json.loads((sample / reports["codequality"]).read_text(encoding="utf-8"))
    assert {entry["location"]["path"] for entry in found} == {"policies/office.vgl"}
    for name in reports["junit"]:
        assert list(ElementTree.parse(sample / name).getroot().iter("failure")), name


def test_gitlab_on_mended_policies(mended: Path, temporary: Path, installed: Path) -> None:
    job = gitlab()
    done = whole(job["script"], mended, temporary, installed)
    assert done.returncode == 0, done.stdout
    assert json.loads((mended / job["artifacts"]["reports"]["codequality"]).read_text(encoding="utf-8")) == []


def test_gitlab_fails_where_only_a_test_or_a_run_does(mended: Path, temporary: Path, installed: Path) -> None:
    tests = next((mended / "policies").glob("*_test.vgl"))
    text = re.sub(r" violated( at .*)?$", " satisfied", tests.read_text(encoding="utf-8"), flags=re.MULTILINE)
    tests.write_text(text, encoding="utf-8")
    done = whole(gitlab()["script"], mended, temporary, installed)
    assert done.returncode == 1
    assert "no findings" in done.stdout
