"""What is said of names that recorded runs lack: of these runs, and once for one cause."""

from __future__ import annotations

import pytest

from vigil_lang.diagnostics import Source
from vigil_lang.lint.run import Plan, lint
from vigil_lang.trace import Event, Signature, Trace, observe
from vigil_lang.trace.signature import merge

RUN = Trace.of([Event.of("edit"), Event.of("check")])
DECLARED = Signature(observe([RUN]).actions, "declared")


def findings(text: str, signature: Signature) -> list[tuple[str, str]]:
    return [(f.code, f.message) for f in lint(Source("policy.vgl", text), Plan(signature=signature)).findings]


@pytest.mark.parametrize(
    ("signature", "said"),
    [
        (observe([RUN]), "does not occur in the run; there every trigger is a violation"),
        (observe([RUN, RUN]), "occurs in none of the 2 runs; there every trigger is a violation"),
        (
            merge(observe([RUN]), observe([RUN, RUN])),
            "occurs in none of the 3 runs; there every trigger is a violation",
        ),
        (
            merge(observe([RUN]), Signature(observe([RUN]).actions, "observed")),
            "does not occur in what the signature was observed in; there every trigger is a violation",
        ),
        (DECLARED, "can never occur, so every trigger is a violation"),
    ],
)
def test_only_a_declared_signature_says_never(signature: Signature, said: str) -> None:
    found = findings("statement R0: prec(edit(), check() and edit())", signature)
    assert ("VGL409", f"the guard of `R0` {said}") in found


def test_one_cause_is_told_once_of_runs() -> None:
    text = "statement R0: prec(deploy(), announce())"
    two = observe([RUN, RUN])
    assert findings(text, two) == [
        ("VGL401", "no action `deploy` in any of the 2 runs"),
        ("VGL401", "no action `announce` in any of the 2 runs"),
    ]
    assert [code for code, _ in findings(text, DECLARED)].count("VGL408") == 1


def test_kinds_that_runs_lack_are_told_as_what_the_statement_lacks() -> None:
    found = findings("statement R0: prec(edit(), test.run())", observe([RUN, RUN]))
    assert found == [
        ("VGL409", "the guard of `R0` occurs in none of the 2 runs; there every trigger is a violation"),
    ]
