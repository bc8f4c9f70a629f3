"""What makes a finding the same one after an edit elsewhere: what it is and the text it is about, not where."""

from __future__ import annotations

from collections import Counter
from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from vigil_lang.diagnostics import Diagnostic, Source, Span

# A line may be megabytes long; what is further along it does not identify it any better.
_LINE = 1000


def fingerprint(code: str, path: str, line: str, occurrence: int = 1, *more: str) -> str:
    """32 hexadecimal digits for a finding in a file whose line begins with this text.

    `path` is relative to the repository. `occurrence` counts, from 1, findings that are otherwise alike; `more` tells
    apart what one line alone does not (the run and the call that break a statement).
    """
    parts = (code, path, line.strip(), str(occurrence), *more)
    data = "".join(f"{len(part)}:{part}" for part in parts)  # no part can pretend to be two
    return sha256(data.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def fingerprints(findings: Sequence[Diagnostic], name: Callable[[str], str]) -> list[str]:
    """The fingerprint of each finding, all different. `name` gives a path as the report names it.

    Occurrences are counted in the order of the text, so it does not matter in which order findings were made.
    """
    keys = [(found.code, name(found.source.path), line_start(found.source, found.span)) for found in findings]
    made = [""] * len(keys)
    for index, occurrence in _counted(keys, range(len(keys)), lambda index: findings[index].span):
        made[index] = fingerprint(*keys[index], occurrence)
    return made


def line_start(source: Source, span: Span) -> str:
    """The text of the line a span starts on, stripped, as much of it as identifies it."""
    line, _ = source.position(span.start)
    start = source.line_starts[line - source.first_line]
    return source.text[start : start + _LINE].partition("\n")[0].strip()


def _counted(
    keys: Sequence[tuple[str, str, str]], indexes: Iterable[int], place: Callable[[int], Span]
) -> Iterable[tuple[int, int]]:
    seen: Counter[tuple[str, str, str]] = Counter()
    for index in sorted(indexes, key=place):
        seen[keys[index]] += 1
        yield index, seen[keys[index]]
