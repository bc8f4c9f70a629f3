"""Variables and files that change what a program runs: where it is looked for, what is loaded, what it calls."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from vigil_lang.abstraction.catalogue import program
from vigil_lang.abstraction.catalogue.read import is_installed
from vigil_lang.patterns import regex

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vigil_lang.abstraction.files import KnownFiles
    from vigil_lang.abstraction.shell.state import Value
    from vigil_lang.abstraction.step import Word

_BUILT_IN = "shell"
_OF_ALL = ("LD_*", "DYLD_*")
_LEADS_ELSEWHERE = regex(
    r"(?i)(?:^|_)(?:editor|pager|browser|wrapper|hook|cmd|command|askpass|rustc|external_diff|conf|config_file|userconfig"
    r"|globalconfig|script_shell|registry|index_url|find_links|(?<!no_)proxy|docker_host|kubeconfig|rsh|init_script)$"
)
"""Names of variables that say, whatever the program, what it runs besides or which machine it asks."""
_BY_NAME = frozenset(
    {
        "building", "cloud", "containers", "databases", "deploy", "git", "javascript", "jobs", "languages", "make",
        "network", "packages", "security",
    }
)  # fmt: skip
"""Subjects of the catalogue whose programs look at such variables."""
_HARMLESS = frozenset(
    {
        "-mod=mod",
        "-mod=vendor",
        "-mod=readonly",
        "",
        "cat",
        "true",
        ":",
        "false",
        "0",
        "1",
        "less",
        "less -R",
        "never",
        "head",
    }
)


def runs_otherwise(head: Word, variables: Mapping[str, Value]) -> bool:
    """Whether a variable may make a program run something else than its words say."""
    if not variables or not head.known:
        return False
    entry = program(head.text)
    names = (*_OF_ALL, *(entry.environment if entry is not None else ()))
    by_name = entry is not None and entry.subject in _BY_NAME
    found = (
        name
        for name in variables
        if any(fnmatchcase(name, each) for each in names) or (by_name and _LEADS_ELSEWHERE.search(name))
    )
    if any(not _is_harmless(variables[name]) for name in found):
        return True
    looked_for = "/" not in head.text and (entry is None or entry.subject != _BUILT_IN)
    return looked_for and "PATH" in variables and not _keeps_programs(variables["PATH"])


def is_set_up(head: Word, files: KnownFiles) -> bool:
    """Whether the run has changed a file that says what a program runs besides: hooks of git, say."""
    entry = program(head.text) if head.known else None
    return entry is not None and bool(entry.settings) and files.has_changed(entry.settings)


def _is_harmless(value: Value) -> bool:
    return all(word.known and word.text in _HARMLESS for word in value)


def _keeps_programs(value: Value) -> bool:
    """Whether programs are looked for where they are installed, before any other place."""
    for place in value[0].text.split(":") if len(value) == 1 else ("",):
        if place in ("$PATH", "${PATH}"):
            return True
        if not is_installed(place.rstrip("/") + "/program"):
            return False
    return True
