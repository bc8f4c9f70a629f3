"""What is said never to happen within a signature happens in no run of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.analysis.test_entailment import body_of, run
from tests.strategies.core import requirements
from vigil_lang.analysis.reachability import Reachability
from vigil_lang.semantics.denotation import bindings, holds
from vigil_lang.trace.signature import Action, Argument, Signature, observe

if TYPE_CHECKING:
    import random

    from vigil_lang.semantics import core


@settings(max_examples=200, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(requirements(), st.randoms(use_true_random=False))
def test_what_a_run_shows_can_be(body: core.Requirement, choose: random.Random) -> None:
    trace = run(choose)
    can = Reachability(observe([trace])).body(body.theta)
    for at in range(len(trace)):
        for binding in bindings(body, trace):
            assert can.hold if holds(body.theta, trace, at, binding) else can.fail


SIGNATURE = Signature({"a": Action({"u": Argument(frozenset({"text"}), values=frozenset({"https://h/"}))})}, "observed")


@pytest.mark.parametrize(
    ("condition", "possible"),
    [
        ('a(u:host = "h")', True),
        ('a(u:host = "g")', False),
        ('a(u:host ~ {"h*", "g"})', True),
        ("a(u:host = x)", True),
        ("a(u:count > 3)", True),  # a list of that value
        ("a(v:count = 0)", True),  # of what is absent
        ('a(v:host = "h")', False),
        ('a(u:json("f") with (n = 1))', True),  # not looked into
    ],
)
def test_views(condition: str, possible: bool) -> None:
    theta = body_of(f"abs({condition})").theta
    assert Reachability(SIGNATURE).body(theta).fail is possible
