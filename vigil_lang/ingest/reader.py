"""What a reader is: one recording format, recognised by its first objects and turned into records in one pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vigil_lang.base.structs import Frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from vigil_lang.ingest.lines import Lines
    from vigil_lang.trace import Run
    from vigil_lang.trace.record import Record


class Reader(Frozen, frozen=True):
    """One format.

    `detect` sees the first objects of a recording, a few dozen at most, and must not change them. `read` takes the
    objects from the start and what is known of the run (its path and format); it yields the recording's records in
    its order, the first of them a `Start`, as soon as it has read what they say. It raises `InputError`. `knows` says
    of an object that told nothing whether it is one of the format's all the same; by default `detect` does. `by_line`
    says whether a recording is written line by line, each of which tells something without those behind it.
    """

    name: str
    title: str
    detect: Callable[[Sequence[dict[str, Any]]], bool]
    read: Callable[[Lines, Run], Iterator[Record]]
    knows: Callable[[dict[str, Any]], bool] | None = None
    by_line: bool = True
