"""Bounded observation: of a long output the beginning and the end are kept, and how much is missing is recorded."""

from __future__ import annotations

KEPT = 65_536
"""Code points of an output that are kept unless told otherwise."""

SMALLEST = 256
"""The least that may be asked for: the mark in the middle needs room."""


def bounded(output: str, kept: int) -> tuple[str, int]:
    """An output of at most `kept` code points, and how many were left out."""
    if len(output) <= kept:
        return output, 0
    mark = f"\n[… {len(output)} characters, cut …]\n"
    room = kept - len(mark)
    head = room - room // 2
    tail = room // 2
    return output[:head] + mark + output[len(output) - tail :], len(output) - room
