"""Runs for property tests: small alphabets, so that values meet, repeat and contain one another."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from vigil_lang.runs import read_trace

if TYPE_CHECKING:
    from vigil_lang.trace import Trace

ACTIONS = ("a", "a", "b", "b", "c", "a.b")
KINDS = ("a", "k", "file.read")
NAMES = ("f", "g", "p.q")
TEXTS = ("M", "MN", "N", "", "7", "7.0", "-3", "1e1", "é*", "any other")
SCALARS = (*TEXTS, 7, 7.0, -3, 10, True)
ENTRIES = '[{"q": "M", "n": 7}, {"q": "N", "n": 1.50}, "M"]'
OUTPUTS = ("M", "MN done", "", "7", 7, '{"q": "M", "n": 7}', ENTRIES)
IDS = ("e1", "e|1", "e<7c>1", "e<7c>1#2", "x" * 61, "x" * 62, "e2", "e3")
CLOCK = tuple(f"2026-01-05T10:00:{s:06.3f}Z" for s in (0, 0.5, 1, 2, 30, 59))

Line = dict[str, Any]


def trace_of(lines: list[Line]) -> Trace:
    """The trace that a recording with these events is read as."""
    return read_trace([json.dumps(line).encode() + b"\n" for line in lines], "run.jsonl", format="vigil")


@st.composite
def values(draw: st.DrawFn, texts: tuple[Any, ...] = SCALARS) -> Any:
    """An argument's value: mostly one scalar, else a list, possibly empty, an object or null."""
    scalar = st.sampled_from(texts)
    match draw(st.integers(0, 9)):
        case 0 | 1 | 2:
            return draw(st.lists(scalar | st.none(), max_size=3))
        case 3:
            return {"q": draw(scalar)}
        case 4:
            return draw(st.none() | st.lists(st.fixed_dictionaries({"q": scalar}), max_size=2))
        case _:
            return draw(scalar)


@st.composite
def events(draw: st.DrawFn, texts: tuple[Any, ...] = SCALARS) -> Line:
    """One event as a trace file writes it; every member but the action may be missing."""
    line: Line = {"action": draw(st.sampled_from(ACTIONS))}
    if draw(st.integers(0, 3)) == 0:
        line["kinds"] = draw(st.lists(st.sampled_from(KINDS), max_size=2))
    names = [name for name in ("f", "g", "p") if draw(st.integers(0, 4)) > (2 if name == "p" else 0)]
    if names:
        line["args"] = {name: draw(values(texts)) for name in names}
    if draw(st.booleans()):
        line["status"] = draw(st.sampled_from(("ok", "ok", "error", "unknown")))
    if draw(st.integers(0, 2)) == 0:
        line["output"] = draw(st.sampled_from(OUTPUTS))
    return line


@st.composite
def joined_events(draw: st.DrawFn, texts: tuple[Any, ...]) -> Line:
    """An event that carries several values under each name, so that one value passes where another fails."""
    several = st.lists(st.sampled_from(texts), min_size=1, max_size=3, unique_by=repr)
    return {"action": draw(st.sampled_from("ab")), "args": {"f": draw(several), "g": draw(several)}}


@st.composite
def runs(draw: st.DrawFn, max_size: int = 6) -> list[Line]:
    """A run as the lines of a trace: calls of one or several events, also interleaved, and any kind of clock.

    Of the alphabet of values each run uses a few, so that most events share some.
    """
    texts = draw(st.lists(st.sampled_from(SCALARS), min_size=1, max_size=4).map(tuple))
    fewest = draw(st.sampled_from((0, 2, 3, 3, 4)))
    event = joined_events(texts) if draw(st.integers(0, 2)) == 0 else events(texts)
    lines = draw(st.lists(event, min_size=fewest, max_size=max_size))
    clock = draw(st.sampled_from(("none", "none", "ascending", "any", "gaps")))
    if clock != "none":
        times = draw(st.lists(st.sampled_from(CLOCK), min_size=len(lines), max_size=len(lines)))
        for line, time in zip(lines, sorted(times) if clock != "any" else times, strict=True):
            if clock != "gaps" or draw(st.booleans()):
                line["time"] = time
    calls = draw(st.sampled_from(("own", "own", "grouped", "interleaved")))
    if calls != "own":
        numbers = draw(st.lists(st.integers(0, 3), min_size=len(lines), max_size=len(lines)))
        for line, number in zip(lines, sorted(numbers) if calls == "grouped" else numbers, strict=True):
            line["call"] = f"c{number}"
    if draw(st.integers(0, 7)) == 0:
        ids = draw(st.permutations(IDS))
        for line, name in zip(lines, ids, strict=False):
            line["event"] = name
    return lines
