"""Names of files are names, whatever they hold: never options, commands of a log or of a terminal, or other names."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from vigil_lang.action import files, report
from vigil_lang.cli.output import FORMATS
from vigil_lang.diagnostics.visible import as_argument, safe_json

ROOT = Path(__file__).parents[2]
VIGIL = str(Path(sys.executable).with_name("vigil"))
NAMES = [
    "--output=kept.txt.vgl",
    "-o.vgl",
    "--help.vgl",
    "--fix.vgl",
    "@arguments.vgl",
    "line\nbreak.vgl",
    "line\n::error::break.vgl",
    "return\r::error::x.vgl",
    "\x1b[2J\x1b]0;title\x07.vgl",
    "::set-output name=findings::0.vgl",
    " ::stop-commands::x.vgl",
    "##[set-output name=findings;]0.vgl",
    "%0A::error::x.vgl",
    "\u202egvl.vgl",
    "$(touch pwned)`touch pwned`.vgl",
    "*.vgl",
    "[a].vgl",
    "~.vgl",
    "std.files.vgl",
    os.fsdecode(b"\xff\xfe.vgl"),
]
WRONG = "statement S: abs(a and b)\nstatement S: prec(nothing)\n"
_COMMAND = re.compile(r"^\s*::|##\[", re.MULTILINE)
# What github's own annotations look like; nothing of a name can end one or begin another.
_ANNOTATION = re.compile(r"::(error|warning|notice) [^:\n]*::[^\n]*\n")


def said(arguments: list[str], folder: Path, *, status: set[int]) -> str:
    """What a verb prints to either stream, which is fit for a terminal and the log of a job."""
    environment = {**os.environ, "GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(folder.parent / "summary.md")}
    done = subprocess.run(
        [VIGIL, *arguments], cwd=folder, env=environment, capture_output=True, stdin=subprocess.DEVNULL, timeout=120
    )
    text = (done.stdout + done.stderr).decode("utf-8", "surrogateescape")
    assert done.returncode in status, text
    assert "Traceback" not in text
    assert "internal error" not in text
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\udcff]", text), text
    return text


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project whose policies, each with mistakes, and whose runs and tests have such names."""
    made = tmp_path / "project"
    (made / "--output=kept").mkdir(parents=True)
    for name in (*NAMES, "--output=kept/x.vgl"):
        (made / name).write_text(WRONG, encoding="utf-8")
    (made / "kept.txt.vgl").write_text("kept", encoding="utf-8")
    return made


def contents(folder: Path) -> dict[str, bytes]:
    return {os.fsdecode(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    "verb", [["check"], ["lint"], ["fmt"], ["fmt", "--check"], ["fmt", "--diff"], ["test"]], ids=" ".join
)
def test_names_behind_two_dashes_are_names(verb: list[str], folder: Path) -> None:
    before = contents(folder)
    text = said([*verb, "--", *NAMES, "--output=kept/x.vgl"], folder, status={1, 2})
    if verb[0] != "fmt":
        assert not _COMMAND.search(text), _COMMAND.findall(text)
        assert "kept/x.vgl" in text
    assert contents(folder) == before
    assert not (folder / "pwned").exists()


@pytest.mark.parametrize("format_", FORMATS)
def test_no_format_passes_a_name_on_as_a_command(format_: str, folder: Path) -> None:
    text = said(["lint", f"--format={format_}", "--no-cache", "."], folder, status={0, 1, 2})
    if format_ == "github":
        text = _ANNOTATION.sub("", text)
    assert not _COMMAND.search(text), text
    summary = folder.parent / "summary.md"
    assert format_ != "github" or len(summary.read_text(encoding="utf-8").splitlines()) > len(NAMES)


@pytest.mark.parametrize(
    "verb", [["verify", "--", "good.vgl"], ["abstract", "--"], ["signature", "--"], ["lint", "--trace", "NAME", "."]]
)
def test_runs_have_such_names_too(verb: list[str], tmp_path: Path) -> None:
    made = tmp_path / "project"
    made.mkdir()
    shutil.copy(ROOT / "examples" / "dashcam" / "dashcam.vgl", made / "good.vgl")
    names = [name.replace(".vgl", ".jsonl") for name in NAMES if "::" in name or "#" in name]
    for name in names:
        (made / name).write_text('{"vigil_trace": 1}\nnothing\n', encoding="utf-8")
    given = [names[0] if word == "NAME" else word for word in verb]
    text = said(given if "NAME" in verb else [*verb, *names], made, status={1, 2})
    assert not _COMMAND.search(text), text


def test_what_is_wrong_with_the_command_line_is_said_on_lines_of_its_own(tmp_path: Path) -> None:
    for wrong in ("--no\n::error::x", "--no\n\x1b[2J=1", "--format=a\n::error::x", "##[error]x\n::error::y"):
        text = said(["check", wrong], tmp_path, status={2})
        assert not _COMMAND.search(text), text
        assert "\n::" not in text


def test_a_command_to_copy_takes_a_path_for_a_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert as_argument("a.vgl") == "a.vgl"
    assert as_argument("--output=x") == "./--output=x"
    assert as_argument("a; touch b") == "'a; touch b'"
    assert "\x1b" not in as_argument("\x1b[2J")
    assert safe_json("##[x]") == '"#\\u0023[x]"'


def test_hooks_that_are_given_names_take_them_for_names() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    given = [hook for hook in hooks if hook.get("pass_filenames", True)]
    assert given
    assert all(hook["entry"].endswith(" --") and "args" not in hook for hook in given)


def test_the_action_lists_each_path_whole(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    (folder / "a\nb_test.vgl").write_text("", encoding="utf-8")
    assert files(str(tmp_path), "") == ["tests=1"]
    listed = (tmp_path / "vigil-policies.txt").read_bytes().split(b"\0")[:-1]
    assert set(listed) == {b"./" + os.fsencode(n) for n in (*NAMES, "kept.txt.vgl", "--output=kept/x.vgl")}
    assert (tmp_path / "vigil-tests.txt").read_bytes() == b"./a\nb_test.vgl\0"
    assert files(str(tmp_path), "", "nowhere") == ["tests=0"]


def test_the_action_stores_the_report_where_it_is_wanted(tmp_path: Path) -> None:
    made, wanted = tmp_path / "made.sarif", tmp_path / "wanted.sarif"
    made.write_text('{"runs": [{"results": [{}, {}]}, {"results": []}]}', encoding="utf-8")
    assert report(str(made)) == ["findings=2", f"sarif-file={made}"]
    assert report(str(made), str(wanted)) == ["findings=2", f"sarif-file={wanted}"]
    assert wanted.read_bytes() == made.read_bytes()
