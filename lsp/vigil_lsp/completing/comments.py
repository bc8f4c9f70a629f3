"""Completion in comments: codes to ignore, and recordings."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lsprotocol.types import CompletionItemKind as Kind

from vigil_lang.diagnostics import CODES
from vigil_lang.lint.suppress import may_pass
from vigil_lsp.completing.candidate import Candidate
from vigil_lsp.completing.place import Place

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from vigil_lang.diagnostics import Diagnostic
    from vigil_lang.syntax.scan import Token

_CODES = re.compile(r"//\s*vigil\s*:\s*ignore(?:-file)?\s*\[(?:[^\]]*[\s,])?([A-Za-z0-9]*)$")
_RUNS = re.compile(r"//\s*runs:(?:.*[\s,])?([^\s,]*)$")
_WORDS = re.compile(r"//\s*(vigil:\s*[a-z-]*|v[a-z]*|r[a-z]*)$")


def in_comment(
    comment: Token, offset: int, findings: Iterable[Diagnostic], recordings: Callable[[], Sequence[str]]
) -> tuple[Place, list[Candidate]] | None:
    """The place in a comment and what can be written there; None where that is anything."""
    before = comment.text[: offset - comment.start]
    if len(before) > 1_000 or comment.kind == "doc":
        return None
    if found := _CODES.match(before):
        return _place(comment, offset, found[1], r"[A-Za-z0-9]*"), list(_codes(comment, findings))
    if found := _RUNS.match(before):
        return _place(comment, offset, found[1], r"[^\s,]*"), list(_recordings(recordings()))
    if found := _WORDS.match(before):
        return _place(comment, offset, found[1], r"[a-z-]*"), list(_words())
    return None


def _place(comment: Token, offset: int, typed: str, more: str) -> Place:
    behind = re.match(more, comment.text[offset - comment.start :])
    end = offset + (behind.end() if behind else 0)
    return Place(offset, offset - len(typed), end, typed)


def _codes(comment: Token, findings: Iterable[Diagnostic]) -> Iterator[Candidate]:
    """Codes that a comment may let pass, those first that are found on its line or below it."""
    near = {found.code for found in findings if 0 <= found.span.end - comment.start <= 400}
    anywhere = {found.code for found in findings}
    for code, told in CODES.items():
        if may_pass(code):
            group = 10 if code in near else 11 if code in anywhere else 12
            yield Candidate(code, Kind.EnumMember, code, group, told.summary, about=("code", code), ends=("]", ","))


def _recordings(names: Iterable[str]) -> Iterator[Candidate]:
    """Recordings, and globs for all of a folder."""
    names = [name for name in names if name.isprintable() and not re.search(r"[\s,*?\[\]]", name)]
    folders: dict[str, int] = {}
    for name in names:
        folder, _, file = name.rpartition("/")
        glob = f"{folder}/*.{file.rpartition('.')[2]}" if folder else f"*.{file.rpartition('.')[2]}"
        folders[glob] = folders.get(glob, 0) + 1
    for glob, count in sorted(folders.items(), key=lambda found: (-found[1], found[0])):
        yield Candidate(glob, Kind.File, glob, 10, f"{count} recording{'s' * (count != 1)}")
    for name in names:
        yield Candidate(name, Kind.File, name, 11)


def _words() -> Iterator[Candidate]:
    ignore = "vigil: ignore"
    yield Candidate(ignore, Kind.Keyword, f"{ignore}[]", 10, "lets a finding pass, with the reason", f"{ignore}[$1] $2")
    yield Candidate("runs:", Kind.Keyword, "runs: ", 11, "recordings that this policy is held against")
