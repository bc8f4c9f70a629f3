"""Whether an argument that nothing reads looks like something to run: a command line, code or SQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.abstraction.catalogue import program
from vigil_lang.patterns import regex

if TYPE_CHECKING:
    from collections.abc import Mapping

_COMMANDS = ("command", "cmd", "commands", "shell_command", "command_line", "bash", "script", "code")
"""Arguments that a tool, of which nothing else is known, is likely to run, whatever they hold."""
_LOOKED_AT = 4_000
"""Characters of a text that are looked at."""
_MOST = 100
"""Texts of a call that are looked at."""

_ENGLISH = frozenset(
    {"a", "an", "and", "for", "i", "in", "is", "me", "my", "of", "please", "the", "to", "with", "your"}
)
"""Words that a sentence has and a command line hardly ever."""
_BEFORE = regex(r"\s*(?:\$\s+)?(?:(?:/\S+/)?(?:sudo|exec|env|time|nohup)\s+|[A-Za-z_]\w*=\S*\s+)*")
_PROGRAM = regex(r"(?:/[\w.+-]+)*/?([\w.+-]+)(?=\s)")
_OF_A_COMMAND = regex(r"(?:^|\s)(?:--?[A-Za-z]|[./~]*/[\w.*-]|[|<>]|&&|\$[({A-Z])|;\s|\.\w{1,4}(?:\s|$)|\*")
_PYTHON = regex(
    r"(?m)^\s*(?:import [\w.]+(?:\s*,\s*[\w.]+)*(?: as \w+)?\s*(?:;|#|$)|from [\w.]+ import [\w*]|def \w+\(|@\w+\n)"
    r"|\b(?:print|open|exec|eval|compile|__import__)\(|\b(?:os|sys|subprocess|shutil|pathlib|requests)\.\w+"
)
_JAVASCRIPT = regex(
    r"(?m)^\s*(?:const|let|var) [\w{\[][^=\n]*=|\bfunction\s*\w*\([^)]*\)\s*\{|=>\s*[{(]|\brequire\(['\"]"
    r"|\b(?:process|child_process|fs|console)\.\w+\("
)
_INERT = regex(r"[^\s.@#=(]*")
"""What looks like something to run has one of these characters."""
_SQL = regex(
    r"\s*(?i:select\s[^;]*?\sfrom\s|insert\s+into\s|replace\s+into\s|update\s+\S+\s+set\s|delete\s+from\s"
    r"|with\s+\w+\s+as\s*\("
    r"|(?:drop|alter|create|truncate)\s+(?:or\s+replace\s+|temp(?:orary)?\s+)?"
    r"(?:table|database|schema|index|view|user|role|function|trigger)\s|truncate\s+\w+\s*;?\s*\Z"
    r"|(?:grant|revoke)\s+[\w, ]+\s+on\s)"
)


def carries_what_runs(given: Mapping[str, object], flat: Mapping[str, tuple[str, ...]], read: frozenset[str]) -> bool:
    """Whether some argument looks like something to run.

    `given` are the arguments as an object, `flat` with dotted names, `read` those that the call's tool describes.
    """
    if any(isinstance(given.get(name), str | list) and given[name] for name in _COMMANDS if name not in read):
        return True
    texts = [text for name, values in flat.items() if name not in read for text in values]
    return any(looks_run(text) for text in texts[:_MOST])


def looks_run(text: str) -> bool:
    """Whether a text looks like a command line, code or SQL rather than words."""
    text = text[:_LOOKED_AT]
    if _INERT.fullmatch(text):
        return False
    if text.startswith("#!") or _PYTHON.search(text) or _JAVASCRIPT.search(text):
        return True
    if _SQL.match(text):
        return _ENGLISH.isdisjoint(text.split()) or any(mark in text for mark in "*=;(")
    line = next((line for line in text.splitlines() if line.strip() and line.strip()[0] != "#"), "")
    return _looks_like_a_command(line)


def _looks_like_a_command(line: str) -> bool:
    before = _BEFORE.match(line)
    found = _PROGRAM.match(line, before.end() if before else 0)
    entry = program(found[1]) if found else None
    if entry is None or found is None:
        return False
    words = line[found.end() :].split()
    if not words or not _ENGLISH.isdisjoint(words):
        return False
    return words[0] in (entry.commands or ()) or _OF_A_COMMAND.search(line, found.end()) is not None
