"""What is new about a policy since the last time: most of what the runs say of a text they said of the one before.

An answer for a policy of 500 lines takes megabytes where many events are at fault, and the server's loop would wait
while it reads them. So only the parts that changed are sent; the others are named by their place in what was sent last.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from vigil_lsp.recordings.results import ItemResult, Judged, StatementResult

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from vigil_lang.diagnostics import Diagnostic

_Part = TypeVar("_Part")


@dataclass(frozen=True, slots=True)
class Changes(Generic[_Part]):
    """A sequence: each member is new, or the index of one in the sequence before."""

    members: tuple[_Part | int, ...]

    def after(self, before: Sequence[_Part]) -> tuple[_Part, ...]:
        """The sequence, given the one before."""
        return tuple(before[one] if isinstance(one, int) else one for one in self.members)


@dataclass(frozen=True, slots=True)
class News:
    """`Judged`, as what changed since the one numbered `since`; None where all of it is here.

    Not `complete` where more is still being worked out.
    """

    number: int
    since: int | None
    path: str
    text: str
    world: int
    items: Changes[ItemResult]
    statements: Changes[StatementResult]
    findings: tuple[Diagnostic, ...]
    needs: tuple[str, ...]
    complete: bool

    def after(self, before: Judged | None) -> Judged:
        """What the runs say, given what they said before."""
        items = self.items.after(before.items if before is not None else ())
        statements = self.statements.after(before.statements if before is not None else ())
        return Judged(self.path, self.text, self.world, items, statements, self.findings, self.needs)


def news(judged: Judged, number: int, before: tuple[int, Judged] | None, *, complete: bool) -> News:
    """What to send of an answer after another, with its number, was sent; None: nothing was."""
    since, older = before if before is not None else (None, None)
    return News(
        number,
        since,
        judged.path,
        judged.text,
        judged.world,
        _changes(judged.items, older.items if older is not None else (), lambda item: (item.text, item.start)),
        _changes(judged.statements, older.statements if older is not None else (), lambda statement: statement.name),
        judged.findings,
        judged.needs,
        complete,
    )


def _changes(now: Sequence[_Part], before: Sequence[_Part], key: Callable[[_Part], Hashable]) -> Changes[_Part]:
    places = {key(part): at for at, part in enumerate(before)}
    found: list[_Part | int] = []
    for part in now:
        at = places.get(key(part))
        found.append(at if at is not None and before[at] == part else part)
    return Changes(tuple(found))
