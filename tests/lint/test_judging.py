"""Verdicts without the solver are those of `verify`; what exercises a statement that has no trigger."""

from __future__ import annotations

import pytest

from vigil_lang.diagnostics import Source
from vigil_lang.engines.smt.verify import verify
from vigil_lang.lint.judging import judged
from vigil_lang.semantics.policy import read_policy
from vigil_lang.trace import Event, Trace

RUN = Trace(
    (
        Event("e1", "deploy", "c1", {"env": ("dev",), "tag": ("v1", "v2")}, "ok", "done"),
        Event("e2", "test", "c2", {"suite": ("dev",)}, "error"),
        Event("e3", "Write", "c3", {"path": ("/a",)}, "ok", kinds=("file.write",)),
        Event("e4", "deploy", "c4", {"env": ("prod",)}),
    )
)

FORMS = """
statement a: abs(deploy(env = "prod"))
statement b: prec(deploy(env = x), test(suite = x))
statement c: resp(deploy(env = x), test(suite = x))
statement d: bresp[1](test(), deploy())
statement e: until(deploy(), test(status = ok), file.write())
statement f: atmost[1](deploy())
statement g: always deploy(env = x) implies later test(suite = x) or earlier file.write()
statement h: prec(release(), test())
statement i: rslv(deploy(), file.write(path = "/a")) after test()
"""


def test_verdicts_are_those_of_verify() -> None:
    policy = read_policy(Source("<stdin>", FORMS))
    found = [verdicts[0] for verdicts in judged(policy.statements, [RUN])]
    expected = verify([policy], RUN).statements
    assert [one.offending for one in found] == [v.offending[0].event if v.offending else None for v in expected]
    triggered = [s.requirement.trigger is not None for s in policy.statements]
    assert [one.concerned for one, has in zip(found, triggered, strict=True) if has] == [
        not v.vacuous for v, has in zip(expected, triggered, strict=True) if has
    ]


@pytest.mark.parametrize(
    ("form", "concerned"),
    [
        ('abs(deploy(env = "prod", force = true))', True),
        ("abs(release())", False),
        ('abs(file.write(path = "/b"))', True),
        ('abs(action ~ "dep*" and tag = "v9")', True),
        ("abs(not deploy() and not test() and not file.write())", False),
        ('abs(tag = "v9")', True),
        ('abs(channel = "beta")', False),
        ("abs(output ~ /x/)", True),
        ("abs(status = error)", True),
        ("always not earlier release()", False),
        ("always not earlier deploy(env = never)", True),
    ],
)
def test_what_exercises_a_statement_without_a_trigger(form: str, concerned: bool) -> None:
    policy = read_policy(Source("<stdin>", f"statement S: {form}\n"))
    assert judged(policy.statements, [RUN])[0][0].concerned is concerned
