"""The core as plain data: what it is made of, and as JSON."""

from __future__ import annotations

import pytest
from hypothesis import given

from tests.strategies.core import requirements
from vigil_lang.diagnostics import Source
from vigil_lang.semantics import core
from vigil_lang.semantics.policy import read_policy


@given(requirements())
def test_a_requirement_comes_back_from_json_as_it_was(requirement: core.Requirement) -> None:
    text = core.to_json(requirement)
    assert core.from_json(text) == requirement
    assert core.to_json(core.from_json(text)) == text


@given(requirements())
def test_the_bodies_of_a_requirement_are_all_it_is_made_of(requirement: core.Requirement) -> None:
    found = list(core.bodies(requirement.theta))
    assert found[0] is requirement.theta
    assert all(any(part is other for other in found) for body in found for part in core.children(body))
    assert [body for body in found if isinstance(body, core.Holds)] == core.conditions(requirement.theta)
    assert len(found) == 1 + sum(len(core.children(body)) for body in found)


def test_a_requirement_as_json() -> None:
    text = 'statement S: prec(a(f ~ /M/i, n > 1.50), b(g = x, k in {"2", "1"})) after c(h = x)'
    (statement,) = read_policy(Source("p.vgl", text)).statements
    written = core.to_json(statement.requirement).decode()
    assert written.startswith('{"is":"Requirement","theta":{"is":"Implies","left":{"is":"And","items":[{"is":"Holds"')
    assert '"matcher":{"is":"Expression","pattern":"M","ignore_case":true}' in written
    assert '"number":"1.50"' in written
    assert '"values":["1","2"]' in written
    assert '"span":[74,82]' in written


@pytest.mark.parametrize(
    "text",
    ["", "null", "[]", "{}", '{"is":"Holds"}', '{"is":"Requirement","theta":{"is":"Maybe"},"variables":[]}', "\xff"],
)
def test_what_is_no_requirement_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        core.from_json(text)
