"""Runs for property tests: small alphabets, so that values meet, repeat and contain one another."""

from __future__ import annotations

import json
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from tests.strategies.choices import booleans, pick, up_to
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


_kinds = st.lists(st.sampled_from(KINDS), max_size=2)
_texts = st.lists(st.sampled_from(SCALARS), min_size=1, max_size=4).map(tuple)
_ids = st.permutations(IDS)


@cache
def _times(count: int) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(CLOCK), min_size=count, max_size=count)


@cache
def _numbers(count: int) -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(0, 3), min_size=count, max_size=count)


def trace_of(lines: list[Line]) -> Trace:
    """The trace that a recording with these events is read as."""
    return read_trace([json.dumps(line).encode() + b"\n" for line in lines], "run.jsonl", format="vigil")


def values(texts: tuple[Any, ...] = SCALARS) -> st.SearchStrategy[Any]:
    """An argument's value: mostly one scalar, else a list, possibly empty, an object or null."""
    return _values(*texts)


@lru_cache(maxsize=1024, typed=True)
def _values(*texts: Any) -> st.SearchStrategy[Any]:
    scalar = st.sampled_from(texts)
    several = st.lists(scalar | st.none(), max_size=3)
    objects = st.none() | st.lists(st.fixed_dictionaries({"q": scalar}), max_size=2)

    @st.composite
    def value(draw: st.DrawFn) -> Any:
        match draw(up_to(9)):
            case 0 | 1 | 2:
                return draw(several)
            case 3:
                return {"q": draw(scalar)}
            case 4:
                return draw(objects)
            case _:
                return draw(scalar)

    return value()


@st.composite
def events(draw: st.DrawFn, texts: tuple[Any, ...] = SCALARS) -> Line:
    """One event as a trace file writes it; every member but the action may be missing."""
    line: Line = {"action": draw(pick(*ACTIONS))}
    if draw(up_to(3)) == 0:
        line["kinds"] = draw(_kinds)
    names = [name for name in ("f", "g", "p") if draw(up_to(4)) > (2 if name == "p" else 0)]
    if names:
        line["args"] = {name: draw(values(texts)) for name in names}
    if draw(booleans):
        line["status"] = draw(pick("ok", "ok", "error", "unknown"))
    if draw(up_to(2)) == 0:
        line["output"] = draw(pick(*OUTPUTS))
    return line


@st.composite
def joined_events(draw: st.DrawFn, texts: tuple[Any, ...]) -> Line:
    """An event that carries several values under each name, so that one value passes where another fails."""
    several = st.lists(st.sampled_from(texts), min_size=1, max_size=3, unique_by=repr)
    return {"action": draw(pick("a", "b")), "args": {"f": draw(several), "g": draw(several)}}


@st.composite
def runs(draw: st.DrawFn, max_size: int = 6) -> list[Line]:
    """A run as the lines of a trace: calls of one or several events, also interleaved, and any kind of clock.

    Of the alphabet of values each run uses a few, so that most events share some.
    """
    texts = draw(_texts)
    fewest = draw(pick(0, 2, 3, 3, 4))
    event = joined_events(texts) if draw(up_to(2)) == 0 else events(texts)
    lines = draw(st.lists(event, min_size=fewest, max_size=max_size))
    clock = draw(pick("none", "none", "ascending", "any", "gaps"))
    if clock != "none":
        times = draw(_times(len(lines)))
        for line, time in zip(lines, sorted(times) if clock != "any" else times, strict=True):
            if clock != "gaps" or draw(booleans):
                line["time"] = time
    calls = draw(pick("own", "own", "grouped", "interleaved"))
    if calls != "own":
        numbers = draw(_numbers(len(lines)))
        for line, number in zip(lines, sorted(numbers) if calls == "grouped" else numbers, strict=True):
            line["call"] = f"c{number}"
    if draw(up_to(7)) == 0:
        ids = draw(_ids)
        for line, name in zip(lines, ids, strict=False):
            line["event"] = name
    return lines
