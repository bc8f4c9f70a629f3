"""The query of every preset form grows with the run, not with its square."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tests.differential.shapes import FORMS, KINDS, long_run, preset
from vigil_lang.smt.encode import Encoding
from vigil_lang.smt.script import definitions, term

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
    sizes = [size(Encoding(requirement, long_run(n, values, kinds))) for n in SIZES]
    for smaller, larger in pairwise(sizes):
        assert larger <= 2.2 * smaller, sizes


@pytest.mark.parametrize("form", ["bresp seconds", "bresp days"])
def test_an_event_without_a_time_does_not_make_a_duration_costly(form: str) -> None:
    requirement = preset(form, "bound")
    sizes = [size(Encoding(requirement, long_run(n, "equal", "everything at once", clock="gap"))) for n in SIZES]
    for smaller, larger in pairwise(sizes):
        assert larger <= 2.2 * smaller, sizes
