"""What is told while a draft is made."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Hears how far a draft is. `received` may be called from any thread, the others from the one that drafts."""

    def round(self, number: int, clauses: int) -> None:
        """So many clauses have been asked about for the `number`-th time, from 1."""

    def waiting(self, clauses: int) -> None:
        """So many clauses have no answer yet."""

    def received(self, characters: int) -> None:
        """So many characters have come of all replies."""

    def checked(self, done: int, total: int) -> None:
        """So many clauses are settled."""


class Silent:
    """Tells nobody."""

    def round(self, number: int, clauses: int) -> None:
        """Nothing."""

    def waiting(self, clauses: int) -> None:
        """Nothing."""

    def received(self, characters: int) -> None:
        """Nothing."""

    def checked(self, done: int, total: int) -> None:
        """Nothing."""


SILENT = Silent()
