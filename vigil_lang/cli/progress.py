"""A progress bar for work of several steps: on standard error, and only where a person watches."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.progress import Progress


class Steps:
    """The items of a sequence, with a bar that counts them."""

    def __init__(self, items: Sequence[str], bar: Progress | None) -> None:
        self._items = items
        self._bar = bar

    def __iter__(self) -> Iterator[str]:
        if self._bar is None:
            yield from self._items
            return
        from vigil_lang.verdict.calls import middle

        task = self._bar.add_task("", total=len(self._items))
        for item in self._items:
            self._bar.update(task, description=middle(item, 40))
            yield item
            self._bar.advance(task)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Takes the bar away while something is printed, so that the two do not mix on one terminal."""
        if self._bar is None:
            yield
            return
        self._bar.stop()
        try:
            yield
        finally:
            self._bar.start()


@contextmanager
def steps(items: Sequence[str]) -> Iterator[Steps]:
    """Steps through items; the bar is gone at the end."""
    if len(items) < 2 or not sys.stderr.isatty():
        yield Steps(items, None)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        MofNCompleteColumn(),
        BarColumn(30),
        TimeRemainingColumn(),
        TextColumn("{task.description}", markup=False),
    )
    with Progress(
        *columns,
        console=Console(stderr=True, highlight=False),
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    ) as bar:
        yield Steps(items, bar)
