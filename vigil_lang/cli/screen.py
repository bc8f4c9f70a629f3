"""The console that people read; importing this imports rich."""

from __future__ import annotations

from rich.console import Console


class Screen(Console):
    """A console that leaves it to the command what becomes of a reader that has left."""

    def on_broken_pipe(self) -> None:
        """Pass the BrokenPipeError on; rich would end the process with status 1, which says: findings."""
        raise  # rich calls this while it handles the error
