"""Policies are hostile input: small texts that would expand without end are refused, quickly."""

from __future__ import annotations

import time

import pytest
from semantics_support import findings, read

from vigil_lang.lint.check import check_policy
from vigil_lang.semantics.conditions import MAX_CONDITIONS, MAX_NESTING, MAX_TOTAL
from vigil_lang.semantics.terms import MAX_CHAIN
from vigil_lang.trace import Event, Trace, observe


def said(text: str) -> list[str]:
    """The findings, found within seconds."""
    started = time.process_time()
    found = [f"{f.code} {f.message}" for f in findings(read(text))]
    assert time.process_time() - started < 20
    return found


def doubling(levels: int) -> str:
    patterns = [f"pattern p{n} = p{n - 1} and p{n - 1}" for n in range(1, levels)]
    return "\n".join(["pattern p0 = a()", *patterns])


def test_patterns_that_double() -> None:
    # spec R2.1-2
    text = doubling(40) + "\n\nstatement S: abs(«p39»)\n\nstatement T: abs(p3)"
    policy = read(text.replace("«", "").replace("»", ""))
    assert [s.name for s in policy.statements] == ["T"]
    (found,) = policy.diagnostics  # said once, where it begins, not of all that is built on it
    assert (found.code, found.message) == (
        "VGL213",
        f"this expands to more than {MAX_CONDITIONS:,} conditions",
    )
    assert "pattern p13 = " in text[: found.span.start]
    assert "pattern p16 = " not in text[: found.span.start]
    assert {f.code for f in findings(policy)} == {"VGL213"}


def test_many_statements_that_are_each_within_the_limit() -> None:
    statements = "\n".join(f"statement S{n}: abs(p12)" for n in range(120))
    found = said(f"{doubling(13)}\n\n{statements}")
    messages = {message for message in found if message.startswith("VGL213")}
    assert messages == {f"VGL213 the statements of the file expand to more than {MAX_TOTAL:,} conditions"}


def test_patterns_nested_in_patterns() -> None:
    nested = "not (" * 20 + "p{}" + ")" * 20
    patterns = [f"pattern p{n} = {nested.format(n - 1)}" for n in range(1, 20)]
    found = said("\n".join(["pattern p0 = a()", *patterns, "statement S: abs(p19)", "statement T: abs(p4)"]))
    assert {m for m in found if "VGL3" not in m} == {
        f"VGL213 this expands to conditions nested more than {MAX_NESTING} deep"
    }


def test_a_chain_of_declarations() -> None:
    chain = "\n".join(f"let a{n} = a{n + 1}" for n in range(500))
    found = said(f"{chain}\nlet a500 = {{x}}\n\nstatement S: abs(f in a0)")
    assert found
    assert set(found) == {f"VGL203 more than {MAX_CHAIN} declarations refer to each other in a chain"}


def test_a_chain_that_is_declared_in_order_is_no_trouble() -> None:
    chain = "\n".join(f"let a{n} = a{n - 1} | a{n - 1}" for n in range(1, 500))
    assert said(f"let a0 = {{x}}\n{chain}\n\nstatement S: abs(f in a499)") == []


def test_a_circle_is_reported_once_however_many_use_it() -> None:
    text = "pattern p = q\npattern q = r\npattern r = p\n\nstatement S: abs(p)\n\nstatement T: abs(q and r)"
    assert said(text) == ["VGL203 patterns refer to each other: p → q → r → p"]


@pytest.mark.parametrize("count", [1_000])
def test_a_long_conjunction(count: int) -> None:
    text = "statement S: abs(" + " and ".join(f"f{n} = {n}" for n in range(count)) + ")"
    assert said(text) == []


def test_a_condition_too_large_for_the_solver_is_left_alone() -> None:
    parts = " and ".join(f'f{n} != "a" and f{n} = "a"' for n in range(300))
    assert said(f"statement S: abs({parts})") == []


def test_sets_joined_from_sets_again_and_again() -> None:
    """Each set is looked at once, also where a signature is asked about its elements."""
    text = "let A0 = {a, b}\n" + "\n".join(f"let A{n} = A{n - 1} | A{n - 1}" for n in range(1, 60))
    policy = read(f"{text}\n\nstatement S: abs(action in A59)")
    started = time.process_time()
    check_policy(policy, observe([Trace((Event("e1", "a", "e1"),))]))
    assert time.process_time() - started < 2


def test_sets_made_of_sets_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vigil_lang.semantics.terms.MAX_ELEMENTS", 100)
    lines = ["let s0 = {a0}", *(f"let s{n} = {{a{n}}} | s{n - 1}" for n in range(1, 30))]
    found = said("\n".join([*lines, "statement S: abs(a(f in s29))"]))
    assert "VGL213 the sets of the file have more than 100 elements together" in found


def test_a_glob_too_large_to_compile_is_refused() -> None:
    stars = "?*a" * 300_000
    assert said(f'statement S: abs(a(f ~ "{stars}"))') == ["VGL003 the text pattern is too large: it has too many `?`"]


def test_names_that_nothing_declares_are_looked_for_in_linear_time_beside_a_large_broken_item() -> None:
    words = "set " + " ".join(f"w{n} w" for n in range(8_000))
    statements = "".join(f"statement s{n}: abs(q{n})\n" for n in range(8_000))
    started = time.process_time()
    found = read(f"pattern p = (\n{words}\n{statements}")
    assert len(found.diagnostics) > 8_000
    assert time.process_time() - started < 6
