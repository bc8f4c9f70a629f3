"""The query of every preset form grows with the run, not with its square."""

from __future__ import annotations

import time
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from tests.differential.engines import encoded
from tests.differential.shapes import FORMS, KINDS, long_run, preset, requirement_of
from tests.strategies.runs import trace_of
from vigil_lang.engines.index import RunIndex
from vigil_lang.engines.indexed import Judgement
from vigil_lang.engines.smt.script import definitions, term

if TYPE_CHECKING:
    from vigil_lang.engines.smt.encode import Encoding

SIZES = (200, 400, 800)


def size(encoding: Encoding) -> int:
    """Facts, definitions and conditions, each with the symbols it mentions."""
    query = encoding.query
    mentions = sum(line.count("|") // 2 for line in definitions(query))
    cases = [formula for condition in encoding.conditions for _, formula in condition.cases]
    return len(query.facts) + mentions + sum(1 + term(formula).count("|") // 2 for formula in cases)


@pytest.mark.parametrize("kinds", KINDS)
@pytest.mark.parametrize("values", ["distinct", "equal"])
@pytest.mark.parametrize("scoped", [False, True], ids=["plain", "after"])
@pytest.mark.parametrize("binding", ["ground", "bound"])
@pytest.mark.parametrize("form", FORMS)
def test_the_query_of_a_preset_form_is_linear(form: str, binding: str, scoped: bool, values: str, kinds: str) -> None:
    requirement = preset(form, binding, scoped=scoped)
    sizes = [size(encoded(requirement, long_run(n, values, kinds))) for n in SIZES]
    for smaller, larger in pairwise(sizes):
        assert larger <= 2.2 * smaller, sizes


@pytest.mark.parametrize("form", ["bresp seconds", "bresp days"])
def test_an_event_without_a_time_does_not_make_a_duration_costly(form: str) -> None:
    requirement = preset(form, "bound")
    sizes = [size(encoded(requirement, long_run(n, "equal", "everything at once", clock="gap"))) for n in SIZES]
    for smaller, larger in pairwise(sizes):
        assert larger <= 2.2 * smaller, sizes


def _calls(kinds: list[tuple[str, str]]) -> list[dict[str, object]]:
    return [{"action": action, "call": call, "args": {"f": call}} for action, call in kinds]


def test_calls_whose_steps_interleave_are_counted_linearly() -> None:
    """Pairs of calls issued in parallel, each with a step before and a step after the other's."""
    requirement = requirement_of("atmost[3](a())")
    sizes = []
    for pairs in SIZES:
        steps = [("a", f"c{2 * p + q}") for p in range(pairs) for q in (0, 1, 0, 1)]
        sizes.append(size(encoded(requirement, trace_of(_calls(steps)))))
    for smaller, larger in pairwise(sizes):
        assert larger <= 2.2 * smaller, sizes


@pytest.mark.parametrize(
    "form",
    [
        "bresp[100000](a(f = x), b(f = x))",
        "resp(a(f = x or g = x), b(f = x))",
        "prec(a(f = x), b(f = x)) after b()",
        "atmost[3](a(f = x))",
    ],
)
def test_a_long_run_is_encoded_soon(form: str) -> None:
    """A few hundredths of a second each; the limit only tells them from the square of the run."""
    run = trace_of(_calls([("a" if n % 2 else "b", f"c{n}") for n in range(6_000)]))
    started = time.process_time()
    encoded(requirement_of(form), run)
    Judgement(requirement_of(form), RunIndex(run)).exercised()
    assert time.process_time() - started < 5
