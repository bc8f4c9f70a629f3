"""The command as a process of its own: streams that fail, terminals, and what a cold start imports."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import IO, Any

import pytest
from cli_support import DASHCAM, REPAIRED, ROOT, VIOLATING

HEAVY = {"z3", "pysmt", "lark", "rich", "msgspec", "re2", "tomllib", "difflib", "asyncio"}
full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")


def vigil(
    *args: str, stdout: IO[Any] | int = subprocess.PIPE, stdin: bytes = b"", **env: str
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "vigil_lang", *args],
        stdout=stdout,
        stderr=subprocess.PIPE,
        input=stdin,
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "100", **env},
        check=False,
        timeout=120,
    )


def imported(*args: str) -> set[str]:
    """The heavy packages that a call has imported by its end, apart from those that were there before it began."""
    script = (
        "import sys; before = set(sys.modules); from vigil_lang.cli.main import run; run(sys.argv[1:]);"
        "print(*{name.partition('.')[0] for name in set(sys.modules) - before}, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script, *args], capture_output=True, text=True, cwd=ROOT, check=True)
    return HEAVY & set(done.stderr.split())


def test_the_command_works_end_to_end() -> None:
    done = vigil("verify", DASHCAM, VIOLATING, "--format", "concise")
    assert done.returncode == 1
    assert done.stdout.decode() == f"{VIOLATING}:6:e5: R3 `M` was consumed before anything validated it\n"
    assert done.stderr == b""


@pytest.mark.unmeasured  # the measurement imports some of them first
@pytest.mark.parametrize(
    ("args", "wanted"),
    [
        (["--help"], {"msgspec"}),
        (["check", "--help"], {"msgspec"}),
        (["verify", "--help"], {"msgspec"}),
        (["explain"], {"msgspec"}),
        (["completion", "bash"], {"msgspec"}),
        (["signature", VIOLATING, "--format", "json"], {"msgspec", "tomllib"}),
    ],
)
def test_a_verb_imports_what_it_needs_and_no_more(args: list[str], wanted: set[str]) -> None:
    assert imported(*args) == wanted


def test_checking_and_formatting_need_neither_a_screen_nor_the_readers() -> None:
    assert imported("check", DASHCAM, "--format", "json") <= {"lark", "msgspec", "re2", "tomllib"}
    assert imported("fmt", "--check", DASHCAM) <= {"lark", "msgspec", "difflib", "tomllib"}


@pytest.mark.processes
@full
@pytest.mark.parametrize(
    "args",
    [["verify", DASHCAM, VIOLATING], ["verify", DASHCAM, VIOLATING, "--format", "json"], ["--help"], ["explain"]],
)
def test_a_full_disk_is_one_message_and_status_2(args: list[str]) -> None:
    with Path("/dev/full").open("wb") as device:
        done = vigil(*args, stdout=device)
    assert done.returncode == 2
    assert done.stderr == b"vigil: cannot write the result: no space left on device\n"


@full
def test_a_full_disk_behind_an_output_file_is_a_finding() -> None:
    done = vigil("verify", DASHCAM, VIOLATING, "-o", "/dev/full", "--format", "json")
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode() == "/dev/full:1:1: VGL004 cannot write `/dev/full`: no space left on device\n"


def test_a_reader_that_leaves_early_is_no_fault() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as pipe:
        done = vigil("verify", DASHCAM, VIOLATING, stdout=pipe)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.skipif(os.name != "posix", reason="needs a shell")
def test_closed_streams_are_empty_ones() -> None:
    script = f'"$0" -m vigil_lang verify {DASHCAM} - --allow-empty <&- >&- 2>&-'
    assert subprocess.run(["sh", "-c", script, sys.executable], cwd=ROOT, check=False).returncode == 0


def test_an_ascii_terminal_gets_escapes_not_a_traceback() -> None:
    done = vigil("verify", DASHCAM, VIOLATING, PYTHONIOENCODING="ascii")
    assert done.returncode == 1
    assert b"\\u25b6 e5  warpAffine(" in done.stdout
    assert done.stderr == b""


@pytest.mark.parametrize("content", [b"\x7fELF\x01\xff" * 1000, b"\x00" * 5_000_000, b"[" * 5_000_000, b"\xff\xfe{"])
@pytest.mark.parametrize("kind", ["policy", "run"])
def test_binary_and_huge_input_ends_in_findings(tmp_path: Path, kind: str, content: bytes) -> None:
    name = tmp_path / ("a.vgl" if kind == "policy" else "a.jsonl")
    name.write_bytes(content)
    args = [str(name), REPAIRED] if kind == "policy" else [DASHCAM, str(name)]
    done = vigil("verify", *args, "--format", "concise")
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"Traceback" not in done.stderr
    assert b"VGL" in done.stderr
    assert len(done.stderr) < 10_000


def test_names_with_control_characters_cannot_act(tmp_path: Path) -> None:
    name = tmp_path / "ev\nil\x1b[31m\u202e.vgl"
    name.write_text("statement A: abs(\n", encoding="utf-8")
    for form in ("human", "concise", "json"):
        done = vigil("check", str(name), "--format", form)
        assert done.returncode == 1
        assert b"\x1b" not in done.stdout
        assert "\u202e".encode() not in done.stdout


def test_a_progress_bar_is_for_terminals_only() -> None:
    done = vigil("verify", DASHCAM, "examples/dashcam", "--format", "concise")
    assert done.stderr == b""


@pytest.mark.processes
@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
def test_on_a_terminal_there_are_colours_and_a_bar() -> None:
    import pty

    leader, follower = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-m", "vigil_lang", "verify", DASHCAM, "examples/dashcam", "--no-check"],
        stdout=follower,
        stderr=follower,
        cwd=ROOT,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "100"},
    )
    os.close(follower)
    seen = b""
    while True:
        try:
            part = os.read(leader, 65536)
        except OSError:  # the other side is closed
            break
        if not part:
            break
        seen += part
    os.close(leader)
    assert child.wait(60) == 1
    assert b"\x1b[1;31munsafe\x1b[0m" in seen
    assert b"1/2" in seen
