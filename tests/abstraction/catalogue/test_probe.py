"""Asking programs for their help: little scripts stand for them."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from vigil_lang.abstraction import probe as asking
from vigil_lang.abstraction.catalogue import read_command
from vigil_lang.abstraction.helptext import parse_help
from vigil_lang.abstraction.probe import ask, find, probe
from vigil_lang.abstraction.step import Word

GNU = """\
Usage: tool [OPTION]... SOURCE... DEST
  or:  tool -t DIRECTORY SOURCE...

  -a, --archive               same as -dR
      --backup[=CONTROL]      make a backup
  -S, --suffix=SUFFIX         override the suffix
  -c, --check, --check=quiet  check
"""
ARGPARSE = """\
usage: tool [-h] [-n N] [--mode {fast,slow}] [--name NAME [NAME ...]]
            input [input ...]

options:
  -h, --help            show this help message and exit
  -n N, --number N      how many
  --mode {fast,slow}
  --name NAME [NAME ...]
"""
CLICK = """\
Usage: tool [OPTIONS] SRC [DST]

Options:
  -n, --name TEXT     The name.  [required]
  --flag / --no-flag  A flag.
  --help              Show this message and exit.
"""
CLAP = """\
\x1b[1mUsage:\x1b[0m tool [OPTIONS] <PATTERN> [PATH]...

Options:
  -o, --output <FILE>
          Where to write
  -v, --verbose...     More output
"""
COBRA = """\
Usage:
  tool run [flags]

Flags:
  -o, --output string    where to write
      --dry-run          do nothing
      --retries int      how often
"""
GO = """\
Usage of tool:
  -name string
    \twho (default "x")
  -v\tverbose
  -wait duration
    \thow long
"""


@pytest.mark.parametrize(
    ("text", "switches", "values", "attached", "operands"),
    [
        (GNU, "-a --archive", "-S --suffix", "--backup -c --check", [("path", True, True), ("target", True, False)]),
        (ARGPARSE, "-h --help", "-n --number --mode --name", "", [("path", True, True)]),
        (CLICK, "--flag --no-flag --help", "-n --name", "", [("path", True, False), ("_", False, False)]),
        (CLAP, "-v --verbose", "-o --output", "", [("_", True, False), ("path", False, True)]),
        (COBRA, "--dry-run", "-o --output --retries", "", [("_", True, False)]),
        (GO, "-v", "-name -wait", "", [("_", True, False)]),
        ("-q quiet", "", "-q", "", []),
        ("  -n, --lines=[-]NUM   print", "", "-n --lines", "", []),
        ("  -e,  --execute=COMMAND   run", "", "-e --execute", "", []),
        ("  -H --host=[USER@]HOST   where", "", "-H --host", "", []),
        ("  -e script, --expression=script", "", "-e --expression", "", []),
        ("  -i/--in", "-i --in", "", "", []),
        ("nothing to see\n\n---\n", "", "", "", []),
        ("usage: tool [-h] [--a [B]] file... dir... more", "", "", "", [("path", True, True)]),
        ("usage:\n", "", "", "", []),
        ("usage: tool\n\nfile", "", "", "", []),
    ],
    ids=[
        "gnu",
        "argparse",
        "click",
        "clap",
        "cobra",
        "go",
        "lone",
        "gnu-signed",
        "gnu-wide",
        "gnu-close",
        "sed",
        "slash",
        "none",
        "two-repeated",
        "bare",
        "no-operands",
    ],
)
def test_layouts(text: str, switches: str, values: str, attached: str, operands: list[tuple[str, bool, bool]]) -> None:
    usage = parse_help(text)
    by = {
        takes: " ".join(n for names, each in usage.options for n in names if each == takes)
        for _, takes in usage.options
    }
    assert (by.get("nothing", ""), by.get("value", ""), by.get("attached", "")) == (switches, values, attached)
    if text not in (COBRA, GO):  # whose usage line names no operands but subcommands
        assert list(usage.operands) == operands


def test_long_help_is_read_in_time() -> None:
    start = time.monotonic()
    parse_help(
        "  -a, " * 100_000 + "\n" + "  --x=" + "[" * 100_000 + "\n" + "usage: " + "[" * 100_000 + "\n" + "-a\n" * 50_000
    )
    parse_help("\n".join(f"  --o{n} <{'A' * 300}" for n in range(6000)))
    assert time.monotonic() - start < 10


@pytest.fixture
def bin_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    directory = tmp_path / "bin"
    directory.mkdir(mode=0o755)
    monkeypatch.setenv("PATH", f"{directory}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("VIGIL_CACHE_DIR", str(tmp_path / "cache"))
    return directory


def script(directory: Path, name: str, text: str) -> Path:
    path = directory / name
    path.write_text(f"#!/bin/sh\n{text}\n", "utf-8")
    path.chmod(0o755)
    return path


def test_a_probed_program_gives_roles(bin_directory: Path) -> None:
    script(bin_directory, "mytool", f"cat <<'END'\n{GNU}END")
    words = tuple(map(Word, ["mytool", "-a", "-S", ".bak", "x", "y", "z"]))
    plain, asked = read_command(words, "/repo"), read_command(words, "/repo", probe=probe)
    assert "path" not in plain.step.roles
    assert asked.step.roles["path"] == ("/repo/x", "/repo/y")
    assert asked.step.roles["target"] == ("/repo/z",)
    assert asked.step.roles["suffix"] == (".bak",)
    assert asked.step.kinds == ("process.run",)
    assert (plain.known, asked.known) == (False, False)


def test_nothing_runs_by_default(bin_directory: Path, tmp_path: Path) -> None:
    script(bin_directory, "mytool", f"touch {tmp_path}/ran")
    read_command((Word("mytool"), Word("--help")), "/repo")
    assert not (tmp_path / "ran").exists()


def test_the_answer_is_kept(bin_directory: Path, tmp_path: Path) -> None:
    path = script(bin_directory, "mytool", f"echo ran >> {tmp_path}/log; echo '  -x, --ex  an option'")
    first, second = probe("mytool"), probe("mytool")
    assert first is not None
    assert first == second
    assert (tmp_path / "log").read_text("utf-8") == "ran\n"
    os.utime(path, ns=(1, 1))
    assert probe("mytool") == first
    assert (tmp_path / "log").read_text("utf-8") == "ran\nran\n"


def test_a_damaged_answer_is_asked_for_again(bin_directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script(bin_directory, "mytool", "echo '  -x, --ex  an option'")
    for stored in ("{", "[1]", "[[], 3]", "null"):
        monkeypatch.setattr("vigil_lang.base.cache.read", lambda _, stored=stored: stored)
        found = probe("mytool")
        assert found is not None
        assert set(found.options) == {"-x", "--ex"}


def test_environment_directory_and_input(bin_directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "s")
    path = script(bin_directory, "mytool", 'env; pwd; ls -A; cat; echo "args: $*"; echo error >&2')
    answer = ask(path)
    assert answer is not None
    lines = answer.splitlines()
    assert not any("SECRET" in line or line.startswith("HOME=") for line in lines)
    assert str(Path.cwd()) not in lines
    assert lines[-2:] == ["args: --help", "error"]


def test_time_and_size_are_limited(bin_directory: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(asking, "SECONDS", 0.3)
    start = time.monotonic()
    assert ask(script(bin_directory, "slow", f"echo begun; (sleep 1; touch {tmp_path}/late) & sleep 60")) == "begun\n"
    assert time.monotonic() - start < 20
    monkeypatch.setattr(asking, "SECONDS", 5.0)
    answer = ask(script(bin_directory, "long", "while :; do echo 0123456789012345678901234567890123456789; done"))
    assert answer is not None
    assert len(answer) == asking.MOST_BYTES
    time.sleep(1)
    assert not (tmp_path / "late").exists()


def test_what_cannot_be_run(bin_directory: Path) -> None:
    broken = bin_directory / "broken"
    broken.write_bytes(b"\x7fELF")
    broken.chmod(0o755)
    assert ask(broken) is None
    assert probe("broken") is None
    assert probe("silent-or-missing-program") is None
    script(bin_directory, "silent", ":")
    assert probe("silent") is None


def test_only_programs_of_the_path_are_found(
    bin_directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = script(bin_directory, "mytool", ":")
    assert find("mytool") == here.resolve()
    assert find(str(here)) is None
    assert find("./mytool") is None
    assert find("../bin/mytool") is None
    assert find("") is None
    assert find("my tool") is None
    (bin_directory / "plain").write_text("no program", "utf-8")
    (bin_directory / "folder").mkdir()
    assert find("plain") is None
    assert find("folder") is None
    monkeypatch.chdir(bin_directory)
    assert find("mytool") is None
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", os.pathsep.join(["bin", "", ".", "/no/such/place"]))
    assert find("mytool") is None
    monkeypatch.setenv("PATH", str(bin_directory))
    bin_directory.chmod(0o777)
    assert find("mytool") is None


def test_no_program_of_the_project_is_run(bin_directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = tmp_path / "project"
    inside = project / "node_modules" / "bin"
    for folder in (project / ".git", project / "src" / "deep", inside):
        folder.mkdir(parents=True)
    script(inside, "mytool", f"touch {tmp_path}/ran")
    (bin_directory / "mytool").symlink_to(inside / "mytool")
    (tmp_path / "link").symlink_to(inside)
    for place in (inside, tmp_path / "link", bin_directory):
        monkeypatch.setenv("PATH", str(place))
        for here in (project, project / "src" / "deep", inside):
            monkeypatch.chdir(here)
            assert find("mytool") is None
            assert probe("mytool") is None
    assert not (tmp_path / "ran").exists()
    # What a program starts in turn is found in the same places.
    script(bin_directory, "outer", "mytool")
    (bin_directory / "mytool").unlink()
    monkeypatch.setenv("PATH", f"{inside}:{tmp_path / 'link'}:{bin_directory}")
    assert ask(bin_directory / "outer") is not None
    assert not (tmp_path / "ran").exists()
    (bin_directory / "outer").chmod(0o777)
    assert find("outer") is None


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere what leaves its session is left alone")
def test_nothing_outlives_a_program(bin_directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "SECONDS", 1.0)
    started = tmp_path / "started"
    loop = f"echo $$ >> {started}; while :; do sleep 0.05; done"
    for number, wrapped in enumerate(
        (
            f"setsid sh -c '{loop}' &",
            f"setsid sh -c 'setsid sh -c \"{loop}\" & sleep 60' &",
            f"(setsid nohup env -i PATH=/usr/bin:/bin sh -c '{loop}' >/dev/null 2>&1 </dev/null &) &",
            f"trap '' TERM HUP INT; {loop}",
        )
    ):
        ask(script(bin_directory, f"forks{number}", f"{wrapped}\nsleep 0.3"))
    pids = [int(pid) for pid in started.read_text("utf-8").split()]
    assert len(pids) >= 4
    assert not [pid for pid in pids if Path(f"/proc/{pid}").exists()]


def test_a_program_that_goes_away(bin_directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "find", lambda _: bin_directory / "gone")
    assert probe("gone") is None
