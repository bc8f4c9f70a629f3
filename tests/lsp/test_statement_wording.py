"""Statements in words and as □Θ."""

from __future__ import annotations

import pytest

from vigil_lang.diagnostics import Source
from vigil_lang.semantics.policy import read_policy
from vigil_lsp.statement_wording import as_theta, wording

EVERY = " This must hold for every value of `x`."


@pytest.mark.parametrize(
    ("form", "words", "theta"),
    [
        ("abs(a())", "`a()` must never happen.", "□ ¬a()"),
        (
            "abs(a()) after b() and c()",
            "`a()` must never happen once `b() and c()` has happened.",
            "□ ¬(a() ∧ ◇⁻ (b() and c()))",
        ),
        (
            "prec(a(k = x), b(k = x))",
            "Whenever `a(k = x)` happens, `b(k = x)` must have happened before." + EVERY,
            "∀ x. □ a(k = x) ⇒ ◇⁻ b(k = x)",
        ),
        ("resp(a(), b())", "Whenever `a()` happens, `b()` must happen later.", "□ a() ⇒ ◇⁺ b()"),
        (
            "bresp[90s](a(), b())",
            "Whenever `a()` happens, `b()` must happen within 90s.",
            "□ a() ⇒ ◇⁺[90s] b()",
        ),
        (
            "rslv(a(), b())",
            "Whenever `a()` happens, the run must not end before `b()` happens.",
            "□ a() ⇒ b() ∨ ◇⁺ (b() ∨ a())",
        ),
        ("until(a(), b(), c())", "After `a()`, `c()` must not happen until `b()` has.", "□ a() ⇒ clear(b(), c())"),
        ("atmost[1](a())", "`a()` may happen in at most 1 call.", "□ a() ⇒ ¬repeated[2](a())"),
        (
            'abs(a(url:host = h)) where h !~ "*.internal"',
            '`a(url:host = h)` must never happen. This must hold for every value of `h` with `h !~ "*.internal"`.',
            '∀ h. □ ¬(a(url:host = h) ∧ h !~ "*.internal")',
        ),
        (
            "budget[9](a(), n) in 1h since b()",
            "The amounts of `a()` may add up to at most 9 within 1h. What came before the last `b()` does not count.",
            "□ a() ⇒ ¬exceeds[9](a(), n) in 1h since b()",
        ),
        (
            "always (a() weak since[1..3] b()) and repeated[2](c(), distinct f)",
            "Of every event it must hold that `a() weak since[1..3] b() and repeated[2](c(), distinct f)`.",
            "□ a() weak since[1..3] b() ∧ repeated[2](c(), distinct f)",
        ),
        (
            "always a(k = x, j = y) implies earlier[3] (b(k = y) or c())",
            "Of every event it must hold that `a(k = x, j = y) implies earlier[3] (b(k = y) or c())`."
            " This must hold for every value of `x` and `y`.",
            "∀ x, y. □ a(k = x, j = y) ⇒ ◇⁻[3] (b(k = y) or c())",
        ),
    ],
)
def test_forms(form: str, words: str, theta: str) -> None:
    (statement,) = read_policy(Source("p.vgl", f"statement S: {form}\n")).statements
    assert wording(statement) == words
    assert as_theta(statement) == theta
