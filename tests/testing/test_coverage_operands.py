"""Coverage of what `and` and `or` join in the body of `always`, and of joins that cannot fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.testing.policies_under_test import under_test
from vigil_lang.testing.coverage import measure

if TYPE_CHECKING:
    from pathlib import Path


def missing(folder: Path, policy: str, *tests: str) -> list[str]:
    """`earlier b(): true` for everything that runs, each with what `S` is then, do not show."""
    written = "\n".join(
        f'test "{number}" {{ run {{ {run} }} expect S {verdict} }}'
        for number, (run, _, verdict) in enumerate(test.partition(": ") for test in tests)
    )
    found = under_test(folder, policy, written)
    coverage = measure(found.cases, found.policies)
    return [f"{part.text}: {seen}" for file in coverage.files for part in file.parts for seen in part.missing]


EITHER = "statement S: always a() implies (earlier b() or later c())"
BOTH = "statement S: always ship(o = x) implies (earlier pay(o = x) and earlier check(o = x))"
INNER = "statement S: always stop(n = x) implies earlier (begin(n = x) and earlier[2] ask(n = x))"
SCOPED = 'statement S: always earlier a(k = x) and earlier b(k = x) implies earlier c(k = x) after d() where x ~ "1*"'
FORBIDDEN = "statement S: always not (release() and earlier fail())"


@pytest.mark.parametrize(
    ("policy", "tests", "unseen"),
    [
        (EITHER, ["a() c() b(): satisfied", "a(): violated"], ["earlier b(): true"]),
        (EITHER, ["b() a(): satisfied", "a(): violated"], ["later c(): true", "c(): true"]),
        (EITHER, ["a() c(): satisfied", "b() a(): satisfied", "a(): violated"], []),
        (
            SCOPED,
            ["d() b(k = 1) a(k = 1) d(): violated"],
            ["S: satisfied", "earlier b(k = x): decides", "c(k = x): true", "k = x: decides"],
        ),
        (
            SCOPED,
            ["d() b(k = 2) a(k = 2) d(): satisfied"],  # `where` is not met
            [
                *("S: satisfied", "S: violated", "S: exercised"),
                *("earlier a(k = x): decides", "earlier b(k = x): decides", "c(k = x): true", "k = x: decides"),
            ],
        ),
        (EITHER, ["b() a() c(): satisfied"], ["S: violated", "earlier b(): false", "later c(): false"]),
        (
            BOTH,
            ["pay(o = 1) check(o = 1) ship(o = 1): satisfied", "pay(o = 1) check(o = 2) ship(o = 1): violated"],
            ["earlier pay(o = x): decides", "o = x: decides"],
        ),
        (
            BOTH,
            [
                "pay(o = 1) check(o = 1) ship(o = 1): satisfied",
                "pay(o = 1) check(o = 2) ship(o = 1): violated",
                "pay(o = 2) check(o = 1) ship(o = 1): violated",
            ],
            [],
        ),
        (
            INNER,
            ["ask(n = 1) begin(n = 1) stop(n = 1): satisfied", "ask(n = 2) begin(n = 2) stop(n = 1): violated"],
            ["earlier[2] ask(n = x): decides"],
        ),
        (
            INNER,
            [
                "ask(n = 1) begin(n = 1) stop(n = 1): satisfied",
                "ask(n = 2) begin(n = 2) begin(n = 1) stop(n = 1): violated",
            ],
            [],
        ),
        (FORBIDDEN, ["fail() release(): violated", "release() other(): satisfied"], []),
    ],
)
def test_operands_of_a_temporal_body(tmp_path: Path, policy: str, tests: list[str], unseen: list[str]) -> None:
    assert missing(tmp_path, policy, *tests) == unseen


@pytest.mark.parametrize(
    ("writes", "demanded"),
    [
        ("put(k = x) or set(k = x)", []),
        ("put(k = x) or set(name = x)", []),
        ("copy(k = x) or copy(name = x)", ["k = x: decides", "name = x: decides"]),
        ("action in {put, set} and (k = x or name = x)", []),
    ],
)
def test_only_a_join_that_some_call_can_fail_must_fail(tmp_path: Path, writes: str, demanded: list[str]) -> None:
    policy = f"pattern w(x) = {writes}\nstatement S: prec(w(x), chk(k = x))"
    unseen = missing(tmp_path, policy, "other(): satisfied")
    assert [u for u in unseen if u.endswith("= x: decides")][:-1] == demanded
