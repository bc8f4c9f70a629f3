"""What is true of runs, as files of JSON Lines say it: `{"run": …, "label": "violating"}`.

`run` names a run as labels of `vigil replay` do: by a part of its path or its name, by whole components. Other members
are for `where-labels`. A row with the label `excluded` says that nobody knows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from vigil_lang.enforce.labels import components, names_of
from vigil_lang.ingest.lines import Lines
from vigil_lang.ingest.load import opened
from vigil_lang.semantics.text_patterns import Glob, predicate
from vigil_lang.trace import checked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

Label: TypeAlias = Literal["violating", "benign", "excluded"]

_LABELS: dict[object, Label] = {
    "violating": "violating",
    "harmful": "violating",
    "benign": "benign",
    "excluded": "excluded",
}


@dataclass(frozen=True, slots=True)
class LabelRow:
    """One row, with its place for messages: file and line."""

    run: str
    label: Label
    members: Mapping[str, str]
    place: str


@dataclass(frozen=True, slots=True)
class Said:
    """What the rows of a run say together. Where they contradict each other there is no label, and `why` says so."""

    label: Label | None
    why: str = ""


def read_rows(path: str) -> Iterator[LabelRow]:
    """The rows of a file.

    Raises:
        InputError: VGL001 it cannot be read, VGL601 a line is no label.
    """
    with opened(path) as (stream, name):
        lines = Lines(stream, name)
        for line in lines:
            run, label = line.get("run"), line.get("label")
            if not isinstance(run, str) or not components(run):
                raise lines.fault("`run` must be a text that names a run", "run")
            if not isinstance(label, str) or label not in _LABELS:
                message = f"`label` must be `violating`, `benign` or `excluded`, not {checked.shown(label)}"
                raise lines.fault(message, "label")
            members = {key: value for key, value in line.items() if isinstance(value, str)}
            yield LabelRow(run, _LABELS[label], members, f"{name}:{lines.number}")


def matcher(where: Mapping[str, str]) -> Callable[[Mapping[str, str]], bool]:
    """Whether members match globs, each the whole of the member of its name; an absent member matches none."""
    tests = {name: predicate(Glob(pattern)) for name, pattern in where.items()}
    return lambda members: all(name in members and test(members[name]) for name, test in tests.items())


@dataclass(slots=True)
class Labels:
    """The labels of one group. `used` has the places of those rows that have named a run."""

    rows: dict[tuple[str, ...], list[LabelRow]] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    longest: int = 0

    @classmethod
    def of(cls, rows: Iterable[LabelRow]) -> Labels:
        """Labels from rows."""
        found = cls()
        for row in rows:
            named = components(row.run)
            found.rows.setdefault(named, []).append(row)
            found.longest = max(found.longest, len(named))
        return found

    def say(self, path: str) -> Said | None:
        """What is said of a run, None where nothing is."""
        names = names_of(path, self.longest) & self.rows.keys()
        rows = [row for name in sorted(names) for row in self.rows[name]]
        self.used.update(row.place for row in rows)
        labels = {row.label for row in rows}
        if len(labels) > 1:
            some = ", ".join(f"{row.label} ({row.place})" for row in sorted(rows, key=lambda row: row.place)[:4])
            return Said(None, f"its labels contradict each other: {some}")
        return Said(labels.pop()) if labels else None
