"""Which files a specification is: documents that were named, and those that folders hold."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from vigil_lang.base.files import real_path, waits
from vigil_lang.diagnostics import Diagnostic, InputError, Source

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SUFFIXES = (".md", ".markdown", ".mdx")
"""Files of a folder that are read as its documents; others only if they are named."""

MAX_DOCUMENTS = 200
"""Documents that one folder may hold: a whole disk is no specification."""

_FIRST = ("skill.md", "agents.md", "claude.md")
_ABOUT = frozenset(
    {"changelog", "code_of_conduct", "contributing", "copying", "history", "license", "licence", "notice", "security"}
)
_SKIPPED = frozenset({"node_modules", "site-packages", "__pycache__"})


def document_paths(args: Iterable[str]) -> list[str]:
    """Documents in the order of the arguments, each file once.

    Of a folder its Markdown however deep: `SKILL.md`, `AGENTS.md` and `CLAUDE.md` before the others of their folder,
    these by name, and subfolders last. What is hidden is passed over; so are links to files elsewhere, which the
    folder's author may not be allowed to read, and licences, notices and changelogs, which oblige people and not an
    agent.

    Raises:
        InputError: VGL001 for an argument that stands for nothing or is no file that can be cited; VGL003 for a
            folder with more than MAX_DOCUMENTS.
    """
    found: dict[str, str] = {}
    for arg in args:
        for path in _expand(arg):
            found.setdefault(real_path(path), path)
    return list(found.values())


def _expand(arg: str) -> list[str]:
    if arg == "-":
        raise _unfit(arg, "standard input is no document that a policy can cite", "save it as a file, and name that")
    if "\0" in arg:
        raise _unfit(arg, "a path cannot hold a NUL character")
    try:
        if arg and Path(arg).is_dir():
            return _below(arg)
        if not os.path.lexists(arg):
            raise _unfit(arg, f"there is no file or folder `{arg}`")
    except OSError as error:
        raise _unfit(arg, f"cannot read `{arg}`: {(error.strerror or str(error)).lower()}") from None
    if waits(arg):
        raise _unfit(arg, f"`{arg}` is not a file")
    return [arg]


def _below(folder: str) -> list[str]:
    found = []
    for path in _documents(folder):
        found.append(path)
        if len(found) > MAX_DOCUMENTS:
            message = f"`{folder}` holds more than {MAX_DOCUMENTS} documents"
            help_text = "name the documents that are meant, or a folder with fewer of them"
            raise InputError([Diagnostic.of("VGL003", message, Source(folder, ""), help=help_text)])
    if not found:
        raise _unfit(folder, f"no document (`*.md`) in `{folder}`", "name other files one by one")
    return found


def _documents(folder: str) -> Iterator[str]:
    def give_up(error: OSError) -> None:
        reason = (error.strerror or str(error)).lower()
        raise _unfit(folder, f"cannot read `{error.filename or folder}`: {reason}")

    for place, folders, names in os.walk(folder, onerror=give_up):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _SKIPPED)
        for name in sorted(names, key=_rank):
            path = os.path.join(place, name)  # noqa: PTH118 - keeps `./` as it was typed
            if not name.lower().endswith(SUFFIXES) or name.startswith(".") or not _speaks(name) or waits(path):
                continue
            if not Path(path).is_symlink() or Path(real_path(path)).is_relative_to(real_path(folder)):
                yield path


def _rank(name: str) -> tuple[int, str]:
    lower = name.lower()
    return (_FIRST.index(lower) if lower in _FIRST else len(_FIRST), name)


def _speaks(name: str) -> bool:
    """Whether a file of a folder may speak to an agent."""
    stem = name.lower().partition(".")[0]
    return stem.partition("-")[0] not in _ABOUT


def _unfit(arg: str, message: str, help_text: str | None = None) -> InputError:
    return InputError([Diagnostic.of("VGL001", message, Source(arg, ""), help=help_text)])
