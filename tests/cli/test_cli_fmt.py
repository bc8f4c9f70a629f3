"""`vigil fmt`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from vigil_lang.cli.main import run

if TYPE_CHECKING:
    from cli_support import Vigil, Write

UGLY = "statement  A:abs( x()and not y )\n"
NICE = "statement A: abs(x() and not y)\n"
MARKS = "statement A: abs(x() ∧ ¬y)\n"
BROKEN = "statement A: abs(\n"


@pytest.fixture
def project(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two ugly policies, one of them in a folder, a nice one, and a hidden one."""
    write("ugly.vgl", UGLY)
    write("sub/ugly.vgl", UGLY)
    write("nice.vgl", NICE)
    write(".hidden/ugly.vgl", UGLY)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def texts(project: Path) -> dict[str, str]:
    return {str(p.relative_to(project)): p.read_text() for p in sorted(project.rglob("*.vgl"))}


def test_a_folder_is_formatted_without_what_is_hidden(vigil: Vigil, project: Path) -> None:
    result = vigil("fmt")
    assert (result.status, result.out) == (0, "")
    assert result.err == "2 files reformatted, 1 file left unchanged\n"
    assert texts(project) == {".hidden/ugly.vgl": UGLY, "nice.vgl": NICE, "sub/ugly.vgl": NICE, "ugly.vgl": NICE}
    assert vigil("fmt", ".").err == "3 files left unchanged\n"


def test_what_is_right_is_not_written(vigil: Vigil, project: Path) -> None:
    before = (project / "nice.vgl").stat()
    vigil("fmt", "nice.vgl")
    after = (project / "nice.vgl").stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


def test_check_lists_and_writes_nothing(vigil: Vigil, project: Path) -> None:
    before = texts(project)
    result = vigil("fmt", "--check", "nice.vgl", "ugly.vgl", "sub")
    assert result.status == 1
    assert result.out == "would reformat ugly.vgl\nwould reformat sub/ugly.vgl\n"
    assert result.err == "2 files would be reformatted, 1 file already formatted\n"
    assert texts(project) == before
    assert vigil("fmt", "--check", "nice.vgl").status == 0


def test_diff_is_a_patch_and_writes_nothing(vigil: Vigil, project: Path) -> None:
    result = vigil("fmt", "--diff", "*.vgl")
    assert result.status == 1
    assert result.out == f"--- ugly.vgl\n+++ ugly.vgl\n@@ -1 +1 @@\n-{UGLY}+{NICE}"
    assert (project / "ugly.vgl").read_text() == UGLY
    assert vigil("fmt", "--diff", "nice.vgl").status == 0


def test_a_diff_shows_a_missing_last_line_end(vigil: Vigil, write: Write) -> None:
    result = vigil("fmt", "--diff", write("a.vgl", NICE.rstrip()))
    assert result.out.endswith(f"-{NICE}\\ No newline at end of file\n+{NICE}")


def test_a_diff_has_colours_only_where_they_are_wanted(
    vigil: Vigil, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write("a.vgl", UGLY)
    assert "\x1b" not in vigil("fmt", "--diff", path).out
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    assert f"\x1b[31m-{UGLY.rstrip()}\x1b[0m\n\x1b[32m+{NICE.rstrip()}\x1b[0m\n" in vigil("fmt", "--diff", path).out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in vigil("fmt", "--diff", path).out


@pytest.mark.parametrize(("option", "before", "after"), [("--unicode", UGLY, MARKS), ("--ascii", MARKS, NICE)])
def test_operators_are_respelled_on_request(vigil: Vigil, write: Write, option: str, before: str, after: str) -> None:
    path = write("a.vgl", before)
    assert vigil("fmt", option, path).status == 0
    assert path.read_text() == after
    assert vigil("fmt", path).err == "1 file left unchanged\n"


def test_standard_input_goes_to_standard_output(vigil: Vigil) -> None:
    result = vigil("fmt", "-", stdin=UGLY.encode())
    assert (result.status, result.out, result.err) == (0, NICE, "")
    assert vigil("fmt", "-", stdin=NICE.encode()).out == NICE
    assert vigil("fmt", "-", "--unicode", stdin=b"\xef\xbb\xbf" + NICE.replace("\n", "\r\n").encode()).out == MARKS


def test_standard_input_can_be_checked(vigil: Vigil) -> None:
    result = vigil("fmt", "--check", "-", stdin=UGLY.encode())
    assert (result.status, result.out) == (1, "would reformat <stdin>\n")
    assert vigil("fmt", "--check", "-", stdin=NICE.encode()).status == 0
    assert vigil("fmt", "--diff", "-", stdin=UGLY.encode()).out.startswith("--- <stdin>\n+++ <stdin>\n")


def test_a_broken_policy_stops_no_other(vigil: Vigil, project: Path, write: Write) -> None:
    write("broken.vgl", BROKEN)
    write("latin.vgl", b"// \xe9\n")
    result = vigil("fmt", "broken.vgl", "latin.vgl", "ugly.vgl")
    assert result.status == 2
    assert "error[VGL101]: expected a condition, found the end of the item" in result.err
    assert "broken.vgl:1:18" in result.err
    assert "VGL002" in result.err
    assert result.err.endswith("1 file reformatted, 2 files not formatted\n")
    assert (project / "broken.vgl").read_text() == BROKEN
    assert (project / "ugly.vgl").read_text() == NICE
    assert vigil("fmt", "--check", "broken.vgl", "sub/ugly.vgl").status == 2


def test_a_broken_policy_on_standard_input_gives_no_output(vigil: Vigil) -> None:
    result = vigil("fmt", "-", stdin=BROKEN.encode())
    assert (result.status, result.out) == (2, "")
    assert "<stdin>:1:18" in result.err


@pytest.mark.usefixtures("project")
def test_a_missing_file_is_a_finding(vigil: Vigil) -> None:
    result = vigil("fmt", "ugly.vgl", "none.vgl")
    assert result.status == 2
    assert "there is no file or folder `none.vgl`" in result.err


def test_control_characters_of_a_name_are_escaped(vigil: Vigil, write: Write) -> None:
    path = write("a\x1b[31m.vgl", UGLY)
    for option in ("--check", "--diff"):
        result = vigil("fmt", option, path)
        assert "\x1b" not in result.out + result.err
        assert "a\\x1b[31m.vgl" in result.out


def test_nothing_is_written_through_a_link(vigil: Vigil, project: Path) -> None:
    link = project / "link.vgl"
    link.symlink_to("ugly.vgl")
    result = vigil("fmt", "link.vgl")
    assert (result.status, "cannot write `link.vgl`: it is a link" in result.err) == (2, True)
    assert link.is_symlink()
    assert (project / "ugly.vgl").read_text() == UGLY
    assert vigil("fmt", ".").status == 0  # which finds the file itself
    assert (link.is_symlink(), (project / "ugly.vgl").read_text()) == (True, NICE)


def test_the_mode_of_a_file_stays(vigil: Vigil, project: Path) -> None:
    path = project / "ugly.vgl"
    path.chmod(0o640)
    vigil("fmt", path)
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_file_that_cannot_be_written_is_reported(
    vigil: Vigil, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "replace", refuse)
    result = vigil("fmt", "ugly.vgl", "nice.vgl")
    assert result.status == 2
    assert "cannot write `ugly.vgl`: permission denied" in result.err
    assert result.err.endswith("1 file left unchanged, 1 file not formatted\n")
    assert (project / "ugly.vgl").read_text() == UGLY
    assert sorted(p.name for p in project.iterdir()) == [".hidden", "nice.vgl", "sub", "ugly.vgl"]


def test_a_fault_of_the_formatter_changes_nothing_and_is_told(
    vigil: Vigil, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from vigil_lang.syntax import format as formatter

    laid_out = formatter._laid_out
    monkeypatch.setattr(formatter, "_laid_out", lambda *args: laid_out(*args).replace("not y", "y"))
    result = vigil("fmt", "ugly.vgl", "sub")
    assert result.status == 3
    assert "internal error: FormatError: ugly.vgl: the formatted text has another tree" in result.err
    assert texts(project)["ugly.vgl"] == UGLY


def _process(*args: str, stdin: str, **options: object) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "vigil_lang", "fmt", *args]
    return subprocess.run(command, input=stdin.encode(), stderr=subprocess.PIPE, check=False, **options)  # type: ignore[call-overload,no-any-return]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_device_is_told() -> None:
    with Path("/dev/full").open("wb") as full:
        done = _process("-", stdin=UGLY, stdout=full)
    assert done.returncode == 2
    assert b"no space left on device" in done.stderr


def test_the_output_is_utf_8_whatever_the_locale() -> None:
    done = _process(
        "--unicode", "-", stdin=UGLY, stdout=subprocess.PIPE, env=os.environ | {"PYTHONIOENCODING": "ascii"}
    )
    assert (done.returncode, done.stdout.decode()) == (0, MARKS)


def test_the_group_knows_the_verb(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["fmt", "--help"]) == 0
    assert "Format policies in place" in capsys.readouterr().out
