"""Linting many policies: changed ones on all processors, the others from the cache."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from vigil_lang.base import cache, inputs
from vigil_lang.base.processes import can_spawn, processors, spawned
from vigil_lang.diagnostics import InputError
from vigil_lang.lint.codec import Records, decode, encode
from vigil_lang.lint.store import ABSENT, Digests, Entry, Store, digest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from vigil_lang.diagnostics import Diagnostic, Source
    from vigil_lang.lint.run import Plan

WORTH_A_PROCESS = 24
"""Files for which another process pays."""
_CHUNK = 12
_MISSING = frozenset({"VGL001", "VGL002", "VGL207", "VGL208"})
"""What is wrong with files other than the policy itself: these may change without it."""


@dataclass(frozen=True, slots=True)
class Result:
    """What came of one path. `unreadable`: it could not be judged; `cites` are (file, sentence) pairs."""

    path: str
    findings: tuple[Diagnostic, ...]
    suppressed: tuple[Diagnostic, ...]
    cites: tuple[tuple[str, str], ...]
    unreadable: bool


def lint_files(
    paths: Sequence[str], plan: Callable[[], Plan], store: Store | None = None, jobs: int | None = None
) -> list[Result]:
    """Lint policies, in the order given. `plan` is called only when some file must be looked at.

    `jobs` is the number of processes, by default what the machine has.
    """
    digests = Digests()
    entries: dict[str, Entry] = {}
    if store is not None:
        entries = {path: entry for path in paths if (entry := store.get(path, digests)) is not None}
    pending = [path for path in paths if path not in entries]
    read: dict[str, tuple[Source, ...]] = {}
    if pending:
        for path, entry, sources in _worked_out(pending, plan(), jobs or processors()):
            entries[path], read[path] = entry, sources
            if store is not None:
                store.put(path, entry)
        if store is not None:
            store.save()
    for entry in entries.values():  # what other processes read, or an earlier call did
        inputs.note(*(other for other, state in entry.needs.items() if state != ABSENT))
    return [_result(path, entries[path], read.get(path, ())) for path in paths]


def _result(path: str, entry: Entry, sources: tuple[Source, ...]) -> Result:
    findings, suppressed = (tuple(decode(records, sources)) for records in (entry.records, entry.suppressed))
    return Result(path, findings, suppressed, tuple(entry.cites), entry.unreadable)


_Work: TypeAlias = "tuple[str, Entry, tuple[Source, ...]]"
"""A path, what it came to, and the sources that were read, where they are at hand."""


def _worked_out(paths: Sequence[str], plan: Plan, jobs: int) -> Iterator[_Work]:
    if jobs == 1 or len(paths) < WORTH_A_PROCESS or not can_spawn():
        digests = Digests()
        for path in paths:
            yield _work(path, plan, digests)
        return
    from vigil_lang.syntax.grammar import grammar

    grammar()  # what every process needs is in the cache before they begin
    chunks = [paths[at : at + _CHUNK] for at in range(0, len(paths), _CHUNK)]
    with spawned(min(jobs, len(chunks)), _begin, plan) as pool:
        for entries in pool.map(_entries, chunks):
            yield from entries


_begun: list[tuple[Plan, Digests]] = []


def _begin(plan: Plan) -> None:
    import gc

    gc.disable()  # a process that lints some files and ends
    cache.say_nothing()
    _begun.append((plan, Digests()))


def _entries(paths: Iterable[str]) -> list[_Work]:
    return [(path, _work(path, *_begun[0])[1], ()) for path in paths]  # texts are not worth sending


def _work(path: str, plan: Plan, digests: Digests) -> _Work:
    from vigil_lang.lint.run import lint
    from vigil_lang.semantics.modules import is_test_file
    from vigil_lang.semantics.policy import policy_source

    try:
        source = policy_source(path)
    except InputError as error:
        entry = Entry("", {}, encode(error.diagnostics), _NONE, unreadable=True, lasting=False)
        return path, entry, tuple(f.source for f in error.diagnostics)
    linted = lint(source, plan)
    alone = path != "-" and not is_test_file(path)  # tests rest on runs and policies besides
    cites = list(dict.fromkeys(cite for s in linted.policy.statements for cite in s.metadata.cites))
    entry = Entry(
        digest(source.text.encode()),
        {other: digests.of(other) for other in linted.needs if other != source.path},
        encode(linted.findings),
        encode(linted.suppressed),
        cites,
        lasting=alone and all(f.code not in _MISSING for f in linted.policy.diagnostics),
    )
    return path, entry, (source,)


_NONE = Records([], [], [])
