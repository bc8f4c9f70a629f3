"""Editors without a screen for the tests: `python tests/editors/install.py nvim emacs hx tree-sitter`.

Nothing is installed in the system: packages of a newer Debian, from wherever apt gets its packages here, are unpacked
below `.editors/` with the libraries they need, and `.editors/bin/NAME` starts them. What is there is not fetched again.
Where something cannot be had (another system, no network) the reason is printed and kept for the tests to show; that is
no failure.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
EDITORS = ROOT / ".editors"
SUITE = "forky"
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
SECONDS = 240
"""How long apt may take for one step."""


@dataclass(frozen=True, slots=True)
class Program:
    """A program, the package that has it, and what it needs to run outside of `/usr`; `$root` is where it lies."""

    name: str
    package: str
    least: tuple[int, int]
    environment: str = ""
    arguments: str = ""
    version: str = "--version"


PROGRAMS = {
    program.name: program
    for program in (
        Program("nvim", "neovim", (0, 11), 'VIMRUNTIME="$root/usr/share/nvim/runtime"'),
        Program(
            "emacs",
            "emacs-nox",
            (30, 1),
            'EMACSLOADPATH="$root/usr/share/emacs/$(ls "$root/usr/share/emacs" | grep "^[0-9]")/lisp" '
            'EMACSDATA="$root/usr/share/emacs/$(ls "$root/usr/share/emacs" | grep "^[0-9]")/etc" '
            'EMACSPATH="$(ls -d "$root"/usr/libexec/emacs/*/*)"',
            '--dump-file="$(ls "$root"/usr/libexec/emacs/*/*/emacs*.pdmp)"',
        ),
        Program("tmux", "tmux", (3, 3), version="-V"),
        Program("hx", "hx", (25, 1), 'HELIX_RUNTIME="$root/usr/lib/hx/runtime"'),
        Program("tree-sitter", "tree-sitter-cli", (0, 25)),
    )
}

LAUNCHER = """#!/bin/sh
root="$(cd "$(dirname "$0")/../{name}" && pwd)"
loader="$(ls "$root"/usr/lib*/ld-linux*.so.* | head -n 1)"
libraries="$(ls -d "$root"/usr/lib/*-linux-gnu*)"
{environment} exec "$loader" --library-path "$libraries" "{binary}" {arguments} "$@"
"""


class Unavailable(Exception):
    """Why a program cannot be had."""


def find(name: str) -> Path:
    """The program of a name, new enough: unpacked by this script, or one that the system has.

    Raises:
        Unavailable: there is none.
    """
    program = PROGRAMS[name]
    for path in (EDITORS / "bin" / name, shutil.which(name)):
        if path is not None and Path(path).exists() and _version(Path(path), program) >= program.least:
            return Path(path)
    reason = EDITORS / f"{name}.reason"
    told = reason.read_text(encoding="utf-8").strip() if reason.exists() else "tests/editors/install.py was not run"
    raise Unavailable(f"no {name} {'.'.join(map(str, program.least))} or newer: {told}")


def install(program: Program) -> None:
    """Unpacks a program where none is found.

    Raises:
        Unavailable: it cannot be had.
    """
    try:
        find(program.name)
        return
    except Unavailable:
        pass
    if not sys.platform.startswith("linux") or shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        raise Unavailable("this system has no apt")
    source = _source()
    EDITORS.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=EDITORS) as name:
        folder = Path(name)
        fresh = folder / program.name
        for package in _packages(program, source, folder):
            _run("dpkg-deb", "--extract", str(package), str(fresh))
        shutil.rmtree(EDITORS / program.name, ignore_errors=True)
        fresh.rename(EDITORS / program.name)
    launcher = EDITORS / "bin" / program.name
    launcher.parent.mkdir(exist_ok=True)
    launcher.write_text(_launcher(program), encoding="utf-8")
    launcher.chmod(0o755)
    version = _version(launcher, program)
    if version < program.least:
        launcher.unlink()
        raise Unavailable(f"the unpacked {program.name} does not start" if not version else f"{version} is too old")


def _source() -> str:
    """One line of apt's sources for the suite, made of the one this system has for its own release.

    Raises:
        Unavailable: this is not a Debian, or apt has no sources.
    """
    release = dict(re.findall(r"^(\w+)=\"?([^\"\n]*)", Path("/etc/os-release").read_text(encoding="utf-8"), re.M))
    if release.get("ID") != "debian":
        raise Unavailable(f"this is {release.get('ID', 'no Debian')}, not Debian")
    listed = _run("apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE) $(COMPONENT)", "Created-By: Packages")
    for line in listed.splitlines():
        uri, suite, component = line.split(" ")
        if (suite, component) == (release.get("VERSION_CODENAME"), "main"):
            signed = f"[signed-by={KEYRING}] " if KEYRING.exists() else ""
            return f"deb {signed}{uri} {SUITE} main\n"
    raise Unavailable("apt has no source for this release's packages")


def _packages(program: Program, source: str, folder: Path) -> list[Path]:
    """The program's package and all that it depends on, fetched with lists and state of apt's that are our own.

    Raises:
        Unavailable: they cannot be fetched.
    """
    for name in ("state/lists/partial", "cache/archives/partial", "parts"):
        (folder / name).mkdir(parents=True)
    (folder / "status").touch()  # as if nothing were installed: every library comes along
    (folder / "sources.list").write_text(source, encoding="utf-8")
    options = {
        "Dir::State": folder / "state",
        "Dir::State::status": folder / "status",
        "Dir::Cache": folder / "cache",
        "Dir::Etc::sourcelist": folder / "sources.list",
        "Dir::Etc::sourceparts": folder / "parts",
        "Acquire::Retries": 2,
        "Acquire::http::Timeout": 20,
        "Acquire::Languages": "none",
        "APT::Update::Post-Invoke-Success::": "true",
        "APT::Sandbox::User": "",
        "Debug::NoLocking": "true",
    }
    apt = ("apt-get", "--quiet", *(f"-o{name}={value}" for name, value in options.items()))
    _run(*apt, "update", "--error-on=any")
    _run(*apt, "install", "--download-only", "--yes", "--no-install-recommends", program.package)
    return sorted((folder / "cache" / "archives").glob("*.deb"))


def _launcher(program: Program) -> str:
    root = EDITORS / program.name
    found = next(path for path in (root / "usr" / "bin").glob(f"{program.name}*") if not path.name.endswith("client"))
    target = f"$root/usr/bin/{found.name}"
    return LAUNCHER.format(
        name=program.name, environment=program.environment, binary=target, arguments=program.arguments
    )


def _version(path: Path, program: Program) -> tuple[int, ...]:
    """What a program says its version is; nothing where it does not start."""
    try:
        told = subprocess.run([path, program.version], capture_output=True, text=True, timeout=30, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ()
    found = re.search(r"(\d+)\.(\d+)", told)
    return tuple(map(int, found.groups())) if found else ()


def _run(*command: str) -> str:
    """What a command prints.

    Raises:
        Unavailable: it fails, with the last line of its complaint.
    """
    environment = {**os.environ, "LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive"}
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=SECONDS, check=False, env=environment, errors="replace"
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"{command[0]}: {type(error).__name__}") from error
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.startswith("E:")] or done.stderr.splitlines()
        raise Unavailable(f"{command[0]}: {lines[-1] if lines else f'status {done.returncode}'}")
    return done.stdout


def main(names: list[str]) -> None:
    """Install what is named, or say why not."""
    for name in names or list(PROGRAMS):
        reason = EDITORS / f"{name}.reason"
        try:
            install(PROGRAMS[name])
        except Unavailable as error:
            EDITORS.mkdir(exist_ok=True)
            reason.write_text(f"{error}\n", encoding="utf-8")
            print(f"{name}: not installed, its tests will be skipped: {error}")
        else:
            reason.unlink(missing_ok=True)


if __name__ == "__main__":
    main(sys.argv[1:])
