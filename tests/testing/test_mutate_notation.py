"""A run written out as a test writes it is read as the same run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.strategies.runs import events, trace_of
from tests.testing.policies_under_test import under_test
from vigil_lang.testing.run_notation import run_lines, written_test
from vigil_lang.trace.event import Event, Trace

if TYPE_CHECKING:
    from pathlib import Path

    from tests.strategies.runs import Line

POLICY = "statement S: abs(nothing())"


@pytest.mark.parametrize(
    ("event", "text"),
    [
        (Event("e1", "rm", "e1", {"force": ("true",), "n": ("3",)}, "ok"), "rm(force = true, n = 3) -> ok"),
        (Event("e1", "cat", "e1", {}, "error", "no such file"), 'cat() -> error "no such file"'),
        (Event("e1", "cat", "e1", {}, "unknown", "7"), 'cat() -> "7"'),
        (Event("e1", "a", "e1", {"f": ("M", "7.0")}, kinds=("k", "file.write")), 'a(f = {"M", "7.0"}): k, file.write'),
        (Event("e1", "odd name", "e1", {"an arg": ('"q"',)}), 'e1: "odd name"("an arg" = "\\"q\\"")'),
        (Event("save", "a", "save"), "save: a()"),
    ],
)
def test_an_event_is_written_in_one_line(event: Event, text: str) -> None:
    assert list(run_lines(Trace((event,)))) == [text]


def test_times_count_from_the_first_event() -> None:
    trace = Trace(tuple(Event(f"e{n}", "a", f"e{n}", time=5_000_000 + at) for n, at in ((1, 0), (2, 1_500_000))))
    assert list(run_lines(trace)) == ["a() at 0s", "a() at 1500ms"]


@given(lines=st.lists(events(), min_size=1, max_size=4))
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_what_is_written_is_read_as_the_same_run(tmp_path: Path, lines: list[Line]) -> None:
    trace = trace_of(lines)
    found = under_test(tmp_path, POLICY, "\n".join(written_test("t", trace, ["S satisfied"])))
    (case,) = found.cases
    assert [replace(e, extra={}) for e in case.trace.events] == [replace(e, extra={}) for e in trace.events]


def test_values_of_params_are_set(tmp_path: Path) -> None:
    policy = 'param n: number = 1\nparam t: text = ""\nparam b: bool = true\nparam s: set = {}\n' + POLICY
    values = {"n": 3, "t": 'a "b"', "b": False, "s": ["x", "y"]}
    trace = Trace((Event("e1", "a", "e1"),))
    found = under_test(tmp_path, policy, "\n".join(written_test("t", trace, ["S satisfied"], values)))
    assert found.cases[0].policies[0].params == values
