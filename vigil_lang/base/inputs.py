"""Which files a call of the command reads, so that none of its outputs takes the place of one."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_calls: list[dict[str, None]] = []
"""The paths of each call that is under way, the innermost last; outside of calls nothing is remembered."""


@contextmanager
def remembered() -> Iterator[None]:
    """While this lasts, the files that are noted are remembered."""
    _calls.append({})
    try:
        yield
    finally:
        _calls.pop()


def note(*paths: str) -> None:
    """Remember files that were read, that will be, or that were written; `-` is standard input."""
    if _calls:
        for path in paths:
            _calls[-1][path if path == "-" else _whole(path)] = None


def is_noted(path: str) -> bool:
    """Whether a path leads to a file that was noted, however it is spelled and through whatever links."""
    noted = _calls[-1] if _calls else {}
    if _whole(path) in noted:
        return True
    try:
        wanted = os.stat(path)  # noqa: PTH116 - a text
    except (OSError, ValueError):
        return False
    return any(os.path.samestat(wanted, found) for other in noted if (found := _status(other)) is not None)


def _whole(path: str) -> str:
    try:
        return os.path.abspath(path)  # noqa: PTH100 - links are kept
    except OSError:  # the working directory is gone
        return path


def _status(path: str) -> os.stat_result | None:
    try:
        return os.fstat(0) if path == "-" else os.stat(path)  # noqa: PTH116 - a text
    except (OSError, ValueError):
        return None
