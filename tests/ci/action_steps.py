"""A composite action run as GitHub runs one, as far as its shell steps go.

Steps that use another action are only noted; expressions are those that action.yml has.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).parents[2]
_TEMPLATE = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")
_NAME = re.compile(r"'[^']*'|[a-z_]+(?:\.[A-Za-z_-]+)+")


@dataclass(frozen=True)
class Step:
    """A step that was run or, where it uses an action, would have been: then `given` is what the action would get."""

    name: str
    status: int = 0
    out: str = ""
    uses: str = ""
    given: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Job:
    """What came of an action."""

    steps: tuple[Step, ...]
    outputs: dict[str, str]
    summary: str

    @property
    def failed(self) -> list[str]:
        return [step.name for step in self.steps if step.status]

    def step(self, name: str) -> Step:
        return next(step for step in self.steps if step.name == name)


def run_action(
    workspace: Path,
    temporary: Path,
    *,
    installed: Path | None = None,
    project: Path = ROOT,
    environment: Mapping[str, str] = MappingProxyType({}),
    **given: str,
) -> Job:
    """Run action.yml in a checkout; with `installed`, a folder of programs, nothing is installed.

    `project` is where the action was fetched to, `environment` what the job's own has besides.
    """
    action: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    inputs = {name: str(about.get("default", "")) for name, about in action["inputs"].items()}
    inputs |= {name.replace("_", "-"): value for name, value in given.items()}
    known: dict[str, Any] = {
        "inputs": inputs, "github": {"action_path": str(project)}, "runner": {"temp": str(temporary)}, "steps": {}
    }  # fmt: skip
    summary = temporary / "summary.md"
    summary.touch()
    done: list[Step] = []
    for number, step in enumerate(action["runs"]["steps"]):
        about = known["steps"].setdefault(step.get("id", str(number)), {"outputs": {}, "outcome": "skipped"})
        condition = _TEMPLATE.sub(r"\1", str(step.get("if", "success()")))
        if not value(condition, known, failed=any(one.status for one in done)):
            continue
        about["outcome"] = "success"
        if installed is not None and step.get("id") == "install":
            about["outputs"] = {"bin": str(installed)}
        elif "uses" in step:
            with_ = {name: filled(str(text), known) for name, text in step["with"].items()}
            done.append(Step(step["name"], uses=step["uses"], given=with_))
        else:
            own = {name: filled(text, known) for name, text in step["env"].items()}
            place = Path(filled(step.get("working-directory", str(workspace)), known))
            ran = _shell(step, {**surroundings(workspace, temporary), **environment, **own}, place, temporary)
            about["outcome"] = "failure" if ran.status else "success"
            about["outputs"] = _outputs(temporary / "output.txt")
            done.append(ran)
    outputs = {name: filled(about["value"], known) for name, about in action["outputs"].items()}
    return Job(tuple(done), outputs, summary.read_text(encoding="utf-8"))


def value(expression: str, known: dict[str, Any], *, failed: bool = False) -> Any:
    """An expression of a workflow's language, of which this knows names, texts, `!`, `&&`, `==` and `!=`."""

    def look(match: re.Match[str]) -> str:
        if match[0].startswith("'"):
            return match[0]
        found: Any = known
        for part in match[0].split("."):
            found = found.get(part, {})
        return repr(found or "")

    python = _NAME.sub(look, expression).replace("&&", " and ")
    python = re.sub(r"!(?!=)", " not ", python)
    return eval(python, {"__builtins__": {}}, {"cancelled": lambda: False, "success": lambda: not failed})


def filled(text: str, known: dict[str, Any]) -> str:
    """A text of a step with its expressions worked out."""
    return _TEMPLATE.sub(lambda match: str(value(match[1], known)), text)


def _shell(step: dict[str, Any], environment: dict[str, str], place: Path, temporary: Path) -> Step:
    assert step["shell"] == "bash"
    script = temporary / "step.sh"
    script.write_text(step["run"], encoding="utf-8")
    (temporary / "output.txt").write_text("", encoding="utf-8")
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
        cwd=place,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=300,
    )
    return Step(step["name"], done.returncode, done.stdout)


def surroundings(workspace: Path, temporary: Path) -> dict[str, str]:
    """The environment of a job on GitHub, as far as anything here looks at it."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(temporary),
        "CI": "true",
        "GITHUB_ACTIONS": "true",
        "GITHUB_WORKSPACE": str(workspace),
        "GITHUB_OUTPUT": str(temporary / "output.txt"),
        "GITHUB_STEP_SUMMARY": str(temporary / "summary.md"),
        "RUNNER_TEMP": str(temporary),
        **{name: text for name, text in os.environ.items() if name.startswith(("COVERAGE_", "PIP_", "VIGIL_CACHE"))},
    }


def _outputs(path: Path) -> dict[str, str]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines)


def programs(folder: Path) -> Path:
    """A folder with `vigil` as it is here, `python`, and a `pip` that installs nothing."""
    folder.mkdir()
    here = f'exec "{sys.executable}"'
    for name, line in {"vigil": f'{here} -I -m vigil_lang "$@"', "python": f'{here} "$@"', "pip": ""}.items():
        script = folder / name
        script.write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
        script.chmod(0o755)
    return folder
