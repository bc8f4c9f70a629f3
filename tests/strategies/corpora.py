"""Corpora for property tests: several runs together, with values that databases stumble over, and long ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from tests.strategies.choices import booleans, up_to
from tests.strategies.runs import runs

if TYPE_CHECKING:
    from tests.strategies.runs import Line

HOSTILE = (
    "M\x00",
    "\x00",
    "\U0001f984",
    "\U0010ffff",
    "1e400",
    "-1e400",
    "007",
    "1e1",
    "NULL",
    "'",
    '"',
    "\u00e9",
    "e\u0301",
)


@st.composite
def hostile(draw: st.DrawFn, lines: list[Line]) -> list[Line]:
    """The same run with some values in the place of others: NUL, astral characters, numbers beyond any range."""
    texts = draw(st.lists(st.sampled_from(HOSTILE), min_size=1, max_size=3))
    for line in lines:
        for name in line.get("args", {}):
            if draw(up_to(2)) == 0:
                line["args"][name] = draw(st.sampled_from([[], texts, texts[0], texts[-1]]))
        if draw(up_to(5)) == 0:
            line["output"] = draw(st.sampled_from(texts))
    return lines


@st.composite
def long_runs(draw: st.DrawFn, max_size: int = 200) -> list[Line]:
    """A run of up to so many events, drawn from few: what an event says is repeated, its place is not."""
    few = draw(runs())
    size = draw(st.integers(0, max_size)) if few else 0
    chosen = draw(st.lists(st.integers(0, max(len(few) - 1, 0)), min_size=size, max_size=size))
    lines: list[dict[str, Any]] = []
    for number, at in enumerate(chosen):
        line = {key: value for key, value in few[at].items() if key not in ("event", "call")}
        if draw(up_to(3)) == 0:
            line["call"] = f"c{number // 3}"
        lines.append(line)
    return lines


@st.composite
def corpora(draw: st.DrawFn, max_size: int = 4) -> list[list[Line]]:
    """Some runs, also empty ones."""
    found = draw(st.lists(runs(), min_size=1, max_size=max_size))
    return [draw(hostile(lines)) if draw(booleans) else lines for lines in found]
