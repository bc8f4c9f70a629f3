"""What is shown of long work: on standard error, and only where a person watches."""

from __future__ import annotations

import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from vigil_lang.diagnostics.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.progress import Progress
    from rich.status import Status


class Steps:
    """The items of a sequence, with a bar that counts them."""

    def __init__(self, items: Sequence[str], bar: Progress | None) -> None:
        self._items = items
        self._bar = bar

    def __iter__(self) -> Iterator[str]:
        if self._bar is None:
            yield from self._items
            return
        from vigil_lang.diagnostics.shorten import middle

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


class Told:
    """Turns what is told of drafting into the text of the line. Threads may tell of it."""

    def __init__(self, model: str, clauses: int, line: Status | None) -> None:
        self._model = visible(model)
        self._clauses = clauses
        self._line = line
        self._lock = threading.Lock()
        self._doing = "reading"
        self._characters = 0

    def round(self, number: int, clauses: int) -> None:
        """So many clauses have been asked about for the `number`-th time, from 1."""
        if number > 1:
            self._show(f"{_many(clauses)} with findings, asked again")

    def waiting(self, clauses: int) -> None:
        """So many clauses are not answered for yet."""
        self._show(f"asking {self._model}: {self._clauses - clauses} of {_many(self._clauses)} settled")

    def received(self, characters: int) -> None:
        """So many characters have come of all replies."""
        with self._lock:
            self._characters = characters
        self._update()

    def checked(self, done: int, total: int) -> None:
        """So many clauses are settled."""
        self._show(f"{done} of {_many(total)} settled")

    def delayed(self, why: str, seconds: float) -> None:
        """A request failed and is made again after a while."""
        self._show(f"{visible(why)}; again in {seconds:.0f} s")

    def _show(self, doing: str) -> None:
        with self._lock:
            self._doing = doing
        self._update()

    def _update(self) -> None:
        if self._line is None:
            return
        with self._lock:
            text = self._doing + (f" · {self._characters:,} characters" if self._characters else "")
        from rich.text import Text

        self._line.update(Text(text))


@contextmanager
def waiting(model: str, clauses: int) -> Iterator[Told]:
    """Something to tell of drafting; the line is gone at the end."""
    if not sys.stderr.isatty():
        yield Told(model, clauses, None)
        return
    from rich.console import Console

    with Console(stderr=True, highlight=False).status("", spinner="dots") as line:
        yield Told(model, clauses, line)


def _many(clauses: int) -> str:
    return f"{clauses} clause{'s' * (clauses != 1)}"
