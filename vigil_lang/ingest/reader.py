"""What a reader is: one recording format, recognised by its lines and turned into events in one pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vigil_lang.ingest.lines import Lines
    from vigil_lang.trace import Run, Trace


@dataclass(frozen=True, slots=True)
class Reader:
    """One format.

    `detect` sees the first objects of a recording, a few dozen at most. `read` takes the lines from the start
    and what is known of the run (its path and format); it returns the trace or raises `InputError`.
    """

    name: str
    title: str
    detect: Callable[[Sequence[dict[str, Any]]], bool]
    read: Callable[[Lines, Run], Trace]
