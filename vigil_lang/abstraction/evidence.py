"""What the text that a call showed says about steps whose end the exit status leaves open.

Only failures can be told from a text, and only in the shell's or the interpreter's own words. Where the call itself
contains those words (`echo "rm: command not found"`), they prove nothing.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vigil_lang.abstraction.step import Step
    from vigil_lang.trace import Status

_NOT_FOUND = re.compile(
    r"(?m)^(?:\S*?sh: )?(?:eval: )?(?:line \d+: |\d+: )?(?P<program>[\w./+-]+): (?:command )?not found\s*$"
    r"|^\S*?sh: (?:line )?\d+: (?P<file>[\w./+-]+): (?:No such file or directory|Permission denied)\s*$"
    r"|^zsh:(?:\d+:)? command not found: (?P<other>[\w./+-]+)\s*$"
)
_NO_DIRECTORY = re.compile(
    r"(?m)^\S*?sh: (?:line )?\d+: cd: (?P<path>[^\n:]+): (?:No such file|Not a directory|Permission)"
)
_REFUSED = re.compile(
    r"(?m)^(?P<program>[\w+-]+): .*"
    r"(?:No such file or directory|Permission denied|Is a directory|Operation not permitted)$"
)
_REFUSAL = re.compile(
    r"(?:/\S*/)?(?P<program>[\w+-]+): (?:line \d+: |\d+: )?.*"
    r"(?:No such file or directory|Permission denied|Is a directory|Operation not permitted|command not found)"
)
# What these say is about a program they were to run, or about a line of a script.
_SPEAK_FOR_OTHERS = frozenset(
    {"bash", "sh", "zsh", "dash", "ksh", "env", "sudo", "doas", "timeout", "xargs", "nohup", "nice", "time", "exec"}
)
_TRACEBACK = re.compile(r"(?m)^Traceback \(most recent call last\):$")
_PYTESTS = frozenset({"pytest", "py.test"})
_SUMMED_UP = re.compile(r"=*\s?(?P<counts>\d+ [a-z]+(?:, \d+ [a-z]+)*) in [0-9.]+s(?: \([0-9:]+\))?\s?=*")
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
    """The one test run of a call (by place) and how it ended, by the line in which pytest sums up."""
    runs = [n for n, step in enumerate(steps) if step.action in _PYTESTS and not step.inferred]
    lines = [line for line in output[-_SUMMARY:].splitlines() if line.strip()]
    if len(runs) != 1 or " passed" in command or " failed" in command:
        return None
    counts = next((match["counts"] for line in reversed(lines) if (match := _SUMMED_UP.fullmatch(line.strip()))), "")
    if "failed" in counts or "error" in counts:
        return runs[0], "error"
    return (runs[0], "ok") if "passed" in counts else None


def _written(step: Step) -> str | None:
    argv = step.roles.get("argv")
    return argv[0] if argv else None
