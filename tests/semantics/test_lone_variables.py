"""VGL301 counts what a variable joins: forms that look at their trigger twice join it to itself."""

from __future__ import annotations

import pytest
from semantics_support import findings, read


@pytest.mark.parametrize(
    ("form", "lone"),
    [
        ("atmost[1](a()) after s(f = x)", True),
        ("prec(a(), b()) after s(f = x)", True),
        ("abs(a(f = x))", True),
        ("atmost[1](a(f = x))", False),  # at most one call for each value
        ("rslv(a(f = x), b())", False),  # a later trigger with the same value supersedes
        ("atmost[1](a(f = x)) after s(f = x)", False),
        ("prec(a(), b(f = x)) after s(f = x)", False),
    ],
)
def test_a_variable_that_joins_nothing(form: str, lone: bool) -> None:
    found = {f.code for f in findings(read(f"statement S: {form}"))}
    assert ("VGL301" in found) is lone
