"""The hooks of .pre-commit-hooks.yaml, run by pre-commit on a sample repository."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from action_steps import ROOT
from package_index import copy_project, need_package_index

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the programs are scripts of a shell")

MANIFEST = ROOT / ".pre-commit-hooks.yaml"
HOOKS: list[dict[str, Any]] = yaml.safe_load(MANIFEST.read_text(encoding="utf-8"))


def call(*arguments: str | Path, cwd: Path, path: Path | None = None, **more: str) -> tuple[int, str]:
    """Run a program; its status and what it printed."""
    environment = {name: text for name, text in os.environ.items() if not name.startswith("GIT_")} | more
    if path is not None:
        environment["PATH"] = f"{path}:{environment['PATH']}"
    done = subprocess.run(
        list(map(str, arguments)), cwd=cwd, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, check=False, timeout=600,
    )  # fmt: skip
    return done.returncode, done.stdout


def outcomes(shown: str) -> dict[str, str]:
    """What pre-commit says of each hook: Passed, Failed or Skipped."""
    return dict(re.findall(r"^(vigil \w+)\.+(?:\(no files to check\))?(Passed|Failed|Skipped)$", shown, re.MULTILINE))


@pytest.fixture
def commit(mended: Path, installed: Path, tmp_path: Path) -> Any:
    """Runs the hooks on the sample with `vigil` as it is here."""
    hooks = [{**hook, "language": "system"} for hook in HOOKS]
    (mended / ".pre-commit-config.yaml").write_text(
        yaml.safe_dump({"repos": [{"repo": "local", "hooks": hooks}]}), encoding="utf-8"
    )

    def run(*arguments: str) -> tuple[int, dict[str, str], str]:
        call("git", "add", "--all", cwd=mended)
        status, shown = call(
            sys.executable, "-m", "pre_commit", "run", "--color=never", *arguments,
            cwd=mended, path=installed, PRE_COMMIT_HOME=str(tmp_path / "pre-commit"),
        )  # fmt: skip
        return status, outcomes(shown), shown

    return run


def test_the_manifest_is_valid() -> None:
    status, shown = call(sys.executable, "-m", "pre_commit", "validate-manifest", MANIFEST, cwd=ROOT)
    assert status == 0, shown


def test_each_hook_is_a_verb() -> None:
    from vigil_lang.cli.main import VERBS

    assert [hook["id"] for hook in HOOKS] == [f"vigil-{verb}" for verb in ("check", "lint", "fmt", "test")]
    assert all(hook["entry"].split()[1] in VERBS for hook in HOOKS)


def test_a_draft_is_stopped(commit: Any, sample: Path) -> None:
    assert "a model drafted" in (sample / "policies" / "office.vgl").read_text(encoding="utf-8")
    status, said, shown = commit("--all-files")
    assert status == 1
    assert said == {"vigil check": "Failed", "vigil lint": "Failed", "vigil fmt": "Passed", "vigil test": "Failed"}
    assert "VGL302" in shown
    assert "VGL701" in shown


def test_mended_policies_pass(commit: Any) -> None:
    status, said, shown = commit("--all-files")
    assert status == 0, shown
    assert set(said.values()) == {"Passed"}


def test_a_file_is_formatted_in_place(commit: Any, mended: Path) -> None:
    policy = mended / "policies" / "office.vgl"
    neat = policy.read_text(encoding="utf-8")
    policy.write_text(neat.replace("statement no_force: abs(", "statement no_force  :  abs("), encoding="utf-8")
    status, said, _ = commit("--all-files")
    assert (status, said["vigil fmt"]) == (1, "Failed")
    assert policy.read_text(encoding="utf-8") == neat
    assert commit("--all-files")[0] == 0


def test_a_name_is_no_option(commit: Any, mended: Path) -> None:
    policy = mended / "--output=written" / "x.vgl"
    policy.parent.mkdir()
    policy.write_text("statement S  :  abs(a())\n", encoding="utf-8")
    _, said, shown = commit("vigil-fmt", "--all-files")
    assert said["vigil fmt"] == "Failed", shown
    assert policy.read_text(encoding="utf-8") == "statement S: abs(a())\n"
    assert not list(mended.glob("written*"))


def test_a_change_of_what_is_cited_lints_again(commit: Any, mended: Path) -> None:
    call("git", "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "first", cwd=mended)
    commit("--all-files")
    call("git", "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "all", cwd=mended)
    document = mended / "skills" / "office" / "SKILL.md"
    document.write_text(document.read_text(encoding="utf-8").replace("`rm -rf`", "`rm -r`"), encoding="utf-8")
    status, said, shown = commit()
    assert status == 1
    assert said == {"vigil check": "Skipped", "vigil lint": "Failed", "vigil fmt": "Skipped", "vigil test": "Skipped"}
    assert "VGL704" in shown


def test_other_files_concern_no_hook(commit: Any, mended: Path) -> None:
    (mended / "notes.txt").write_text("x\n", encoding="utf-8")
    _, said, _ = commit("--files", "notes.txt")
    assert set(said.values()) == {"Skipped"}


def test_pre_commit_installs_this_repository_and_runs_its_hooks(sample: Path, tmp_path: Path) -> None:
    need_package_index()
    project = copy_project(tmp_path / "vigil")
    for arguments in (
        ("init", "--quiet"),
        ("add", "--all"),
        ("-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--quiet", "-m", "as it is"),
    ):
        assert call("git", *arguments, cwd=project)[0] == 0
    call("git", "add", "--all", cwd=sample)
    status, shown = call(
        sys.executable, "-m", "pre_commit", "try-repo", project, "--all-files", "--color=never",
        cwd=sample, PRE_COMMIT_HOME=str(tmp_path / "pre-commit"), PIP_NO_COMPILE="1",
    )  # fmt: skip
    assert status == 1
    assert outcomes(shown) == {
        "vigil check": "Failed", "vigil lint": "Failed", "vigil fmt": "Passed", "vigil test": "Failed"
    }, shown  # fmt: skip
