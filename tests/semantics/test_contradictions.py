"""What the solver claims is impossible is; and what is plainly possible does not need it."""

from __future__ import annotations

import random
import subprocess
import sys
from decimal import Decimal
from itertools import product

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from semantics_support import codes, read

from tests.strategies.core import conditions
from vigil_lang.analysis.satisfiable import Contradiction, contradiction
from vigil_lang.analysis.witness import obviously_satisfiable
from vigil_lang.engines.smt import solve
from vigil_lang.lint.check import check_policy
from vigil_lang.semantics import core
from vigil_lang.semantics.denotation import meets
from vigil_lang.semantics.text_patterns import Expression, Glob
from vigil_lang.trace import Event

F = core.Reads("f")
TEXTS = ("M", "MN", "N", "", "7", "é*", "m", "-3", "8", "M7", "x", "6.5", "1e1")


def on_f(condition: core.Condition) -> core.Condition:
    """The same test of one field, so that tests meet."""
    match condition:
        case core.In(_, values, negated):
            return core.In(F, values, negated)
        case core.Matches(_, matcher, negated):
            return core.Matches(F, matcher, negated)
        case core.Compares(_, operator, limit):
            return core.Compares(F, operator, limit)
        case core.Equals(_, x):
            return core.Equals(F, x)
        case core.Contains(_, x):
            return core.Contains(F, x)
        case core.ContainsText(_, text):
            return core.ContainsText(F, text)
        case core.NotC(body):
            return core.NotC(on_f(body))
        case _:
            return condition


_atoms = conditions(("x", "y"), 0)
conjuncts = st.lists(st.one_of(_atoms.map(on_f), conditions(("x", "y"), 1).map(on_f), _atoms), min_size=1, max_size=4)
_slow = settings(max_examples=150, deadline=None, database=None, suppress_health_check=list(HealthCheck))


def events(seed: int, *, lists: bool) -> list[Event]:
    """Events of all sorts, with lists under arguments or without."""
    choose = random.Random(seed)
    found = []
    for _ in range(60):
        sizes = (0, 1, 1, 2, 3) if lists else (1,)
        args = {
            name: tuple(choose.choice(TEXTS) for _ in range(choose.choice(sizes)))
            for name in ("f", "g", "p.q")
            if choose.random() < 0.8
        }
        kinds = tuple(choose.sample(["a", "b", "k", "a.b"], choose.choice((0, 1, 2))))
        status, output = choose.choice(("ok", "error", "unknown")), choose.choice((None, *TEXTS))
        found.append(Event("e", choose.choice(("a", "b", "k", "ak", "c")), "e", args, status, output, kinds))
    return found


@_slow
@given(conjuncts, st.integers(0, 1000))
def test_no_event_meets_a_contradiction(parts: list[core.Condition], seed: int) -> None:
    found = contradiction(parts)
    if found is None:
        return
    fault = core.AndC(tuple(parts[at] for at in found.conjuncts))
    for event in events(seed, lists=not found.only_lists):
        for x, y in product((None, "M", "7", "x", ""), repeat=2):
            assert not meets(fault, event, {"x": x, "y": y})


@_slow
@given(conjuncts)
def test_what_a_witness_proves_the_solver_does_not_deny(parts: list[core.Condition]) -> None:
    whole = core.AndC(tuple(parts))
    if obviously_satisfiable(whole):
        from vigil_lang.analysis.satisfiable import _core

        assert not isinstance(_core(parts, lists=False), tuple)


@_slow
@given(conjuncts)
def test_the_fault_is_as_small_as_it_can_be(parts: list[core.Condition]) -> None:
    found = contradiction(parts)
    if found is None or found.only_lists:
        return
    for left_out in found.conjuncts:
        rest = contradiction([parts[at] for at in found.conjuncts if at != left_out])
        assert rest is None or rest.only_lists


def matches(matcher: Glob | Expression, *, negated: bool = False) -> core.Matches:
    return core.Matches(F, matcher, negated)


IMPOSSIBLE = [
    [core.OrC(())],
    [core.ActionIn(frozenset())],
    [core.In(F, frozenset())],
    [core.In(F, frozenset()), matches(Expression("a"))],
    [core.ActionMatches(Glob("a*")), core.NotC(core.ActionMatches(Glob("*")))],
    [matches(Expression(r"\brm\b")), core.NotC(matches(Expression("rm")))],
    [matches(Expression("(?i)abc")), core.NotC(matches(Expression("a", ignore_case=True)))],
    [core.NotC(matches(Glob("*"))), core.Equals(F, "x")],
    [core.Has(F), core.NotC(core.Has(F))],
    [core.NotC(core.Has(F)), core.NotC(core.NotC(core.Equals(F, "x")))],
    [matches(Expression(r"\bgit push\b.*\bmain\b")), core.NotC(matches(Expression(r"\bgit push\b")))],
    [matches(Expression(r"(ab|ba\b){1,3}")), core.NotC(matches(Expression("[ab]{2}")))],
    [matches(Expression("^(a|b)$")), core.NotC(core.In(F, frozenset("ab")))],
    [core.In(F, frozenset("ab")), core.NotC(matches(Expression("^[ab]$")))],
    [core.ContainsText(F, "ab"), core.NotC(matches(Glob("*a*")))],
    [core.Compares(F, ">", Decimal(5)), core.NotC(matches(Expression("[0-9]")))],
    # What is not read still contradicts its own negation.
    [matches(Expression(r"\pL")), core.NotC(matches(Expression(r"\pL")))],
    [core.In(F, frozenset({"\U00030000"})), core.NotC(core.In(F, frozenset({"\U00030000"})))],
]


@pytest.mark.parametrize("parts", IMPOSSIBLE, ids=range(len(IMPOSSIBLE)))
def test_impossible(parts: list[core.Condition]) -> None:
    found = contradiction(parts)
    assert found is not None
    assert not found.only_lists


@pytest.mark.parametrize("answer", ["unknown", "sat", "unsat"])
def test_only_lists_is_said_where_the_solver_has_a_list(answer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def of_lists(lines: list[str]) -> tuple[str, tuple[str, ...]]:
        lists = any("f0_some f0_here)" in line and "(=>" in line for line in lines)
        return (answer, ("c0",) if answer == "unsat" else ()) if lists else ("unsat", ("c0", "c1"))

    monkeypatch.setattr(solve, "answer_and_core", of_lists)
    found = contradiction([core.In(F, frozenset({f"{answer} a"})), core.In(F, frozenset({f"{answer} b"}))])
    expected = {"unknown": None, "sat": Contradiction((0, 1), only_lists=True), "unsat": Contradiction((0,))}
    assert found == expected[answer]


POSSIBLE = [
    "f = 6 and f = 6.0",
    'f = "a" and f ~ "?"',
    "f > 5 and f < 5.0000000001",
    "f > 1e300 and f < 1e301",
    'f > 5 and f ~ "*e*"',
    "f = x and not g = x",
    "f contains x and g = x and not f = g",
    "not has f and not f = 1",
    "a() and b()",
    "status = ok or status = error",
    "not status = ok and not status = error",
    'f ~ /^a.*z$/ and f ~ /m/ and f !~ "*mm*"',
    r"f ~ /\brm\b.*\b-rf\b/",
    r"f ~ /\pL/ and f ~ /\pN/",
    'f ~ "\\u{30000}*" and f ~ "*a"',
    "output ~ /a/ and output ~ /b/",
    "f ~ /[[:alpha:]]{200}/ and f ~ /^b/",
]


@pytest.mark.parametrize("text", POSSIBLE)
def test_possible(text: str) -> None:
    assert [c for c in codes(f"statement S: abs({text})") if c not in ("VGL301", "VGL320")] == []


ONLY_LISTS = [
    'f = "a" and f != "a"',
    'f = "a" and f = "b" and f = "c"',
    "f > 5 and f < 3",
    "f = x and f != 3 and f < 4 and f > 4",
    "has f and not f in {a} and not f not in {a}",  # the empty list
]


@pytest.mark.parametrize("text", ONLY_LISTS)
def test_possible_for_lists_alone(text: str) -> None:
    found = [f for f in check_policy(read(f"statement S: abs({text})")) if f.code == "VGL302"]
    assert [f.severity for f in found] == ["warning"]
    assert "only where `f` is a list" in found[0].message


@pytest.mark.parametrize("text", ['output = "a" and output = "b"', "status = ok and status = error"])
def test_status_and_output_are_never_lists(text: str) -> None:
    (found,) = check_policy(read(f"statement S: abs({text})"))
    assert (found.code, found.severity) == ("VGL302", "error")


ORDINARY = """
let WARPS = {warpAffine, warpPerspective}
param limit: number = 6
pattern consumes(x) = action in WARPS and transform = x and status = ok
pattern shell(x) = (Bash(command contains x) or PowerShell(command contains x)) and not status = error

statement A: abs(sample_video(fps != 6, frames > limit))
statement B: prec(release(file ~ "*.csr", file !~ "tmp/*"), validate())
statement C: prec(consumes(x), validate(target = x) and has schema)
statement D: always (edit(path ~ /\\.env$/) implies not earlier shell("curl"))
statement E: until(edit(file = f), backup(file = f), action in {delete} and file = f and not dry = true)
statement F: abs(k != "a" and k ~ "a*" and k contains "b" and output ~ /\\bfail(ed|ure)?\\b/i)
"""


def test_ordinary_policies_need_no_solver() -> None:
    script = (
        "import sys\n"
        "from vigil_lang.diagnostics import Source\n"
        "from vigil_lang.lint.check import check_policy\n"
        "from vigil_lang.semantics.policy import read_policy\n"
        "policy = read_policy(Source('a.vgl', sys.stdin.read()))\n"
        "assert not [*policy.errors, *check_policy(policy)], check_policy(policy)\n"
        "print('z3' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], input=ORDINARY, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_a_standard_pattern_is_blamed_where_it_is_applied() -> None:
    text = "use std.files: reads, reading\n\nstatement S: abs(reads(x) and f = x and not reading)"
    (found,) = check_policy(read(text))
    assert text[found.span.start : found.span.end] == "reads(x)"
    assert found.source.path == "<stdin>"
