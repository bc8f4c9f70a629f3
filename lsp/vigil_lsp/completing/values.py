"""Values and globs that were seen in the runs, written as the language needs them."""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING

from lsprotocol.types import CompletionItemKind as Kind

from vigil_lang.trace.discreet import may_show
from vigil_lsp.completing.candidate import Candidate
from vigil_lsp.completing.context import seen
from vigil_lsp.completing.spelling import glob_inside, inside, is_number, literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from vigil_lsp.completing.context import CompletionContext

_MOST = 60
_MOST_GLOBS = 40
_LOOKED_AT = 1_000
_STATUSES = (("ok", "the call succeeded"), ("error", "the call failed"))


def values(context: CompletionContext, *, only_numbers: bool = False) -> Iterator[Candidate]:
    """Values of the argument, the most frequent first."""
    for value, count in _shown(context)[:_MOST]:
        if only_numbers and not is_number(value):
            continue
        text = literal(value)
        raw = None if only_numbers else inside(value)
        if value not in context.slot.used:
            yield Candidate(text, Kind.Value, text, 12, seen(count, context.known), "", raw, filter=value)


def globs(context: CompletionContext) -> Iterator[Candidate]:
    """Globs that some of the values match, those that most do first, and the values themselves."""
    shown = _shown(context)
    for glob, (count, of) in _derived(shown):
        said = f"{seen(count, context.known)}, {of} values" if of > 1 else seen(count, context.known)
        yield Candidate(f'"{glob}"', Kind.Value, f'"{glob}"', 12, said, "", glob, filter=glob)
    for value, count in shown[:_MOST]:
        raw = glob_inside(value)
        yield Candidate(f'"{raw}"', Kind.Value, f'"{raw}"', 14, seen(count, context.known), "", raw, filter=value)


def action_globs(context: CompletionContext) -> Iterator[Candidate]:
    """Globs for the names of actions: what several of them begin with."""
    if context.known is None:
        return
    found: Counter[str] = Counter()
    for name, action in context.known.samples.actions.items():
        if not name.isprintable() or len(name) > 120:
            continue
        for mark in ("__", ".", "_", "-"):
            at = name.rfind(mark)
            if at > 0:
                found[glob_inside(name[: at + len(mark)]) + "*"] += action.events
                break
    for glob, count in found.most_common(_MOST_GLOBS):
        yield Candidate(f'"{glob}"', Kind.Value, f'"{glob}"', 12, seen(count, context.known), "", glob, filter=glob)


def _shown(context: CompletionContext) -> list[tuple[str, int]]:
    """The values that may be offered."""
    argument = context.slot.subject
    if not argument:
        return []  # outputs are no samples
    found = context.values(argument, context.slot.actions)[:_LOOKED_AT]
    return [(value, count) for value, count in found if may_show(argument, value)]


def _derived(values: Iterable[tuple[str, int]]) -> list[tuple[str, tuple[int, int]]]:
    """Globs with (how many events, how many values) they match: folders, endings, and what commands begin with."""
    events: Counter[str] = Counter()
    distinct: Counter[str] = Counter()
    for value, count in values:
        for glob in _globs_of(value):
            events[glob] += count
            distinct[glob] += 1
    found = [(glob, (events[glob], distinct[glob])) for glob in events]
    found.sort(key=lambda one: (-one[1][1], -one[1][0], -len(one[0]), one[0]))
    return found[:_MOST_GLOBS]


def _globs_of(value: str) -> set[str]:
    found: set[str] = set()
    first, space, rest = value.partition(" ")
    if space and rest and "/" not in first:
        found.add(f"{glob_inside(first)} *")
        second, space, more = rest.partition(" ")
        if space and more and second.isalnum():
            found.add(f"{glob_inside(first)} {glob_inside(second)} *")
        return found
    folder = value.rpartition("/")[0]
    while folder and folder not in (".", "..") and not folder.endswith(":/"):
        found.add(f"{glob_inside(folder)}/*")
        folder = folder.rpartition("/")[0]
    ending = os.path.splitext(value.rpartition("/")[2])[1]  # noqa: PTH122 - a value, which need be no path
    if 1 < len(ending) <= 12 and ending[1:].isalnum() and not ending[1:].isdigit():
        found.add(f"*{glob_inside(ending)}")
    return found


def statuses(context: CompletionContext) -> Iterator[Candidate]:
    """How a call ends."""
    for at, (status, said) in enumerate(_STATUSES):
        written = context.spelt(status)
        yield Candidate(written, Kind.EnumMember, written, 10 + at, said, filter=status)


def moments() -> Iterator[Candidate]:
    """Times since the beginning of a run."""
    for text in ("0s", "1s", "30s", "1m", "10m", "1h"):
        yield Candidate(text, Kind.Unit, text, 10)
