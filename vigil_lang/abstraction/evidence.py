"""What the text that a call showed says about steps whose end the exit status leaves open.

Only failures can be told from a text, and only in the shell's or the interpreter's own words. Where the call itself
contains those words (`echo "rm: command not found"`), they prove nothing.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vigil_lang.patterns import regex

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vigil_lang.abstraction.step import Step
    from vigil_lang.trace import Status

_NOT_FOUND = regex(
    r"(?m)^(?:\S*?sh: )?(?:eval: )?(?:line \d+: |\d+: )?(?P<program>[\w./+-]+): (?:command )?not found\s*$"
    r"|^\S*?sh: (?:line )?\d+: (?P<file>[\w./+-]+): (?:No such file or directory|Permission denied)\s*$"
    r"|^zsh:(?:\d+:)? command not found: (?P<other>[\w./+-]+)\s*$"
)
_NO_DIRECTORY = regex(r"(?m)^\S*?sh: (?:line )?\d+: cd: (?P<path>[^\n:]+): (?:No such file|Not a directory|Permission)")
_REFUSED = regex(
    r"(?m)^(?P<program>[\w+-]+): .*"
    r"(?:No such file or directory|Permission denied|Is a directory|Operation not permitted)$"
)
_REFUSAL = regex(
    r"(?:/\S*/)?(?P<program>[\w+-]+): (?:line \d+: |\d+: )?.*"
    r"(?:No such file or directory|Permission denied|Is a directory|Operation not permitted|command not found)"
)
# What these say is about a program they were to run, or about a line of a script.
_SPEAK_FOR_OTHERS = frozenset(
    {"bash", "sh", "zsh", "dash", "ksh", "env", "sudo", "doas", "timeout", "xargs", "nohup", "nice", "time", "exec"}
)
_TRACEBACK = regex(r"(?m)^Traceback \(most recent call last\):$")
_SUMMED_UP = regex(r"=*\s?(?P<counts>\d+ [a-z]+(?:, \d+ [a-z]+)*) in [0-9.]+s(?: \([0-9:]+\))?\s?=*")
_NOT_RUN = ("ERROR: file or directory not found: ", "ERROR: usage: ", "FAIL Required test coverage ")
"""How lines begin with which pytest says that it fails for another reason than a test."""
_UNITTEST = regex(r"Ran [1-9]\d* tests? in [0-9.]+s\n+(?P<end>OK|FAILED)(?: \([a-z0-9=, ]+\))?\s*\Z")
_CARGO = regex(
    r"test result: FAILED\. \d+ passed; [1-9]\d* failed; .*|error: (?:test failed, to rerun pass|could not compile) .*"
)
_SUITES = regex(r"\s*(?:Tests|Test Suites|Test Files):?\s+[1-9]\d* failed\b.*|\s+[1-9]\d* failing")
_SUMMARY = 4000
"""Code points from the end in which the summary is looked for."""
_WORDS = ("not found", "No such file or directory", "Permission denied", "Is a directory", "not permitted", "Traceback")
_LONGEST = 200_000


def failed(steps: Sequence[Step], output: str, command: str) -> set[int]:
    """The steps (by place) that a text shows to have failed, of those of one call that ran `command`."""
    if not any(word in output for word in _WORDS):
        return set()
    text = output if len(output) <= _LONGEST else output[: _LONGEST // 2] + "\n" + output[-_LONGEST // 2 :]
    found: set[int] = set()
    missing = {match["program"] or match["other"] or match["file"] for match in _NOT_FOUND.finditer(text)}
    if missing and not any(word in command for word in _WORDS[:3]):
        found |= {n for n, step in enumerate(steps) if _written(step) in missing and not step.inferred}
    for match in _NO_DIRECTORY.finditer(text):
        if not any(word in command for word in _WORDS[1:3]):
            found |= {n for n, s in enumerate(steps) if s.action == "cd" and match["path"] in s.roles.get("argv", ())}
    for program in {match["program"] for match in _REFUSED.finditer(text)} - _SPEAK_FOR_OTHERS:
        users = [n for n, s in enumerate(steps) if s.action == program and "process.run" in s.kinds]
        if len(users) == 1 and not any(word in command for word in _WORDS[1:5]):
            found.add(users[0])
    if _TRACEBACK.search(text) and "Traceback" not in command:
        interpreters = [
            n
            for n, step in enumerate(steps)
            if "code.run" in step.kinds and step.roles.get("language") == ("python",) and not step.inferred
        ]
        # A text that is only shown may hold the traceback of another run.
        if len(interpreters) == 1 and not any("file.read" in s.kinds and not s.inferred for s in steps):
            found.add(interpreters[0])
    return found


def is_refusal(line: str, program: str) -> bool:
    """Whether a line is a program's, or its shell's, word for a file that it could not read."""
    match = _REFUSAL.fullmatch(line.strip()) if len(line) <= _SUMMARY else None
    return match is not None and (match["program"] == program or match["program"].endswith("sh"))


def summed_up(steps: Sequence[Step], output: str, command: str) -> tuple[int, Status] | None:
    """The one test run of a call (by place) and how it ended, by the lines in which its program sums up.

    A failure is told by any such line; a success only where one line is about all tests.
    """
    runs = [n for n, step in enumerate(steps) if "test.run" in step.kinds and not step.inferred]
    if len(runs) != 1 or any(word in command for word in _SUMMARIES) or not _is_shown(steps, runs[0]):
        return None
    reader = _READERS.get(steps[runs[0]].action)
    status = reader(output[-_SUMMARY:], command) if reader is not None else None
    return (runs[0], status) if status is not None else None


def _is_shown(steps: Sequence[Step], place: int) -> bool:
    """Whether what a call shows in the end may be a program's own output, and no text of another file."""
    away = {path for path in steps[place].roles.get("piped_to", ()) if "/" in path}
    own = away | {path for step in steps if step.action == "tee" for path in step.roles.get("path", ())}
    readers = [step for step in steps[place + 1 :] if "process.run" in step.kinds and not _LOOKS.isdisjoint(step.kinds)]
    shown = {path for step in readers for path in step.roles.get("path", ())}
    if any("path" in step.unresolved for step in readers):
        return False
    return shown <= own and (not away or bool(shown))


_LOOKS = frozenset({"file.read", "file.search", "data.process", "git.read"})

_SUMMARIES = (" passed", " failed", "FAIL", "test result", "Ran ", "Tests:", "ERROR")


def _pytest(output: str, command: str) -> Status | None:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    counts = next((match["counts"] for line in reversed(lines) if (match := _SUMMED_UP.fullmatch(line))), "")
    words = frozenset(re.findall(r"[a-z]+", counts))
    if not words.isdisjoint(("failed", "error", "errors")) or any(line.startswith(_NOT_RUN) for line in lines):
        return "error"
    # Too little of the code may be covered, which is said elsewhere.
    return (
        "ok" if not words.isdisjoint(("passed", "skipped", "xfailed", "xpassed")) and "--cov" not in command else None
    )


def _unittest(output: str, command: str) -> Status | None:  # noqa: ARG001
    match = _UNITTEST.search(output)
    return None if match is None else "ok" if match["end"] == "OK" else "error"


def _cargo(output: str, command: str) -> Status | None:  # noqa: ARG001
    return "error" if any(map(_CARGO.fullmatch, output.splitlines())) else None


def _go(output: str, command: str) -> Status | None:  # noqa: ARG001
    return "error" if output.rstrip().rpartition("\n")[2] == "FAIL" else None


def _suites(output: str, command: str) -> Status | None:  # noqa: ARG001
    return "error" if any(map(_SUITES.fullmatch, output.splitlines())) else None


_READERS: dict[str, Callable[[str, str], Status | None]] = {
    **dict.fromkeys(("pytest", "py.test"), _pytest),
    **dict.fromkeys(("jest", "vitest", "mocha", "npm", "pnpm", "yarn"), _suites),
    "unittest": _unittest,
    "cargo": _cargo,
    "go": _go,
}
"""What is read of a program's summary of its tests."""

_QUIETENS = frozenset({"exec", "exit", "set", "trap", "return"})
"""What may end a shell early, or send what it prints elsewhere."""


def unsaid(steps: Sequence[Step], output: str) -> set[int]:
    """The programs (by place) that failed, for `echo` was to print a text if they did not: `pip … && echo done`.

    With more than one before it, it is not told which of them failed, but for a `cd` that says so itself.
    """
    watched = [step for step in steps if step.after and (step.says or "").strip()]
    if not watched or len(output) > _SUMMARY or "background" in output or "cd:" in output:
        return set()
    if any(step.action in _QUIETENS for step in steps):
        return set()
    shown = " ".join(output.split())
    found: set[int] = set()
    for step in watched:
        said = " ".join((step.says or "").split())
        earlier = [steps[n] for n in step.after[:-1]]
        if "\\" in said or said in shown or any(each.action != "cd" or ">" in each.excerpt for each in earlier):
            continue
        found.add(step.after[-1])
    return found


def _written(step: Step) -> str | None:
    argv = step.roles.get("argv")
    return argv[0] if argv else None
