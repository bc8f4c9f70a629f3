"""Which mutants there are, and that each is the edit it is shown as."""

from __future__ import annotations

import time

import pytest
from hypothesis import HealthCheck, given, settings

from tests.strategies.policies import policies, policy_of
from vigil_lang.analysis.canonical import key
from vigil_lang.diagnostics import Source
from vigil_lang.semantics.policy import read_policy
from vigil_lang.testing.distinguishing_runs import tell
from vigil_lang.testing.mutants import mutants


def edited(policy: str) -> list[tuple[str, str]]:
    """(what a mutant does, the last line as it then is) of all mutants."""
    return [(m.told, m.text.splitlines()[-1]) for m in mutants([policy_of(policy)])[0]]


@pytest.mark.parametrize(
    ("statement", "changed"),
    [
        (
            "abs(rm(force = true, path ~ \"/etc/*\"))",
            [
                ("drops `force = true`", 'abs(rm(path ~ "/etc/*"))'),
                ("negates the test", 'abs(rm(force != true, path ~ "/etc/*"))'),
                ("drops `path ~ \"/etc/*\"`", "abs(rm(force = true))"),
                ("negates the test", 'abs(rm(force = true, path !~ "/etc/*"))'),
                ("widens the glob", 'abs(rm(force = true, path ~ "*/etc/*"))'),
            ],
        ),
        (
            "abs(action = rm and (has force or n > 3))",
            [
                ("drops `action = rm`", "abs((has force or n > 3))"),
                ("drops `has force or n > 3`", "abs(action = rm)"),
                ("drops `has force`", "abs(action = rm and (n > 3))"),
                ("negates the test", "abs(action = rm and (not has force or n > 3))"),
                ("drops `n > 3`", "abs(action = rm and (has force))"),
                ("moves the limit", "abs(action = rm and (has force or n >= 3))"),
                ("moves the limit", "abs(action = rm and (has force or n > 4))"),
            ],
        ),
        (
            "prec(a(f = x), b(f = x, status = error)) after c()",
            [
                ("turns `prec` to `resp`", "resp(a(f = x), b(f = x, status = error)) after c()"),
                ("drops `f = x`", "prec(a(f = x), b(status = error)) after c()"),
                ("drops `status = error`", "prec(a(f = x), b(f = x)) after c()"),
                ("flips the status", "prec(a(f = x), b(f = x, status = ok)) after c()"),
                ("drops the scope", "prec(a(f = x), b(f = x, status = error))"),
            ],
        ),
        (
            "bresp[30s](a(), b())",
            [
                ("drops the bound", "resp(a(), b())"),
                ("moves the bound", "bresp[29s](a(), b())"),
                ("moves the bound", "bresp[31s](a(), b())"),
            ],
        ),
        ("atmost[1](a())", [("moves the bound", "atmost[2](a())")]),
        ("rslv(a(), b())", [("turns `rslv` to `resp`", "resp(a(), b())")]),
        ("until(a(), b(), c())", [("lets nothing resolve it", "until(a(), action in {}, c())")]),
        (
            "always (a(f = x, g = y) implies ¬◇⁻[2] b(f = x, g = y))",
            [
                ("drops `f = x`", "always (a(g = y) implies ¬◇⁻[2] b(f = x, g = y))"),
                ("swaps `x` and `y`", "always (a(f = y, g = x) implies ¬◇⁻[2] b(f = x, g = y))"),
                ("drops `g = y`", "always (a(f = x) implies ¬◇⁻[2] b(f = x, g = y))"),
                ("drops the negation", "always (a(f = x, g = y) implies ◇⁻[2] b(f = x, g = y))"),
                ("turns `earlier` to `later`", "always (a(f = x, g = y) implies ¬later[2] b(f = x, g = y))"),
                ("drops the bound", "always (a(f = x, g = y) implies ¬◇⁻ b(f = x, g = y))"),
                ("moves the bound", "always (a(f = x, g = y) implies ¬◇⁻[1] b(f = x, g = y))"),
                ("moves the bound", "always (a(f = x, g = y) implies ¬◇⁻[3] b(f = x, g = y))"),
                ("drops `f = x`", "always (a(f = x, g = y) implies ¬◇⁻[2] b(g = y))"),
                ("drops `g = y`", "always (a(f = x, g = y) implies ¬◇⁻[2] b(f = x))"),
            ],
        ),
        (
            r"abs(sh(command ~ /^rm\b/))",
            [
                (r"drops `command ~ /^rm\b/`", "abs(sh())"),
                ("negates the test", r"abs(sh(command !~ /^rm\b/))"),
                ("drops `^`", r"abs(sh(command ~ /rm\b/))"),
                (r"drops `\b`", "abs(sh(command ~ /^rm/))"),
                ("changes what case means", r"abs(sh(command ~ /^rm\b/i))"),
            ],
        ),
    ],
)  # fmt: skip
def test_the_mutants_of_a_statement(statement: str, changed: list[tuple[str, str]]) -> None:
    assert sorted(edited(f"statement S: {statement}")) == sorted((t, f"statement S: {text}") for t, text in changed)


def test_a_declared_set_loses_its_elements_for_every_test_at_once() -> None:
    policy = policy_of("let A = {a, b}\nstatement S: abs(action in A)\nstatement T: prec(action in A, c())")
    found = [m for m in mutants([policy])[0] if m.told.startswith("drops")]
    assert [(m.told, m.lines) for m in found] == [
        ("drops `a`", (("let A = {a, b}",), ("let A = {b}",))),
        ("drops `b`", (("let A = {a, b}",), ("let A = {a}",))),
    ]
    assert [[m.statement.name for m in mutant.mutated] for mutant in found] == [["S", "T"], ["S", "T"]]


def test_a_change_that_changes_nothing_is_no_mutant() -> None:
    assert edited("statement S: abs((a() and a()) or a())") == []


def test_the_lines_of_a_change_are_those_it_touches() -> None:
    text = "statement S: abs(\n    a()\n    and f = 1 // why\n)"
    shown = {m.told: m.lines for m in mutants([policy_of(text)])[0]}
    assert shown["drops `f = 1`"] == (("    a()", "    and f = 1 // why"), ("    a() // why",))


def test_the_standard_library_is_left_as_it_is() -> None:
    policy = policy_of('use std.files: writes\nstatement S: abs(writes("/etc/x"))')
    assert [m for m in mutants([policy])[0] if m.source.path != policy.path] == []


@pytest.mark.parametrize(
    "text",
    [
        'let A = {M, 7, ""}\nstatement S: abs(a(f = x, f in {})) after f in A where not x not in A',
        "let A = {M, 7}\npattern p(s) = f in s\nstatement S: abs(a(f in A, p(A), output with (q in A)))",
        "let A = {M, 7}\nlet B = A | {8}\nparam C: set = A\nstatement S: abs(a(f in A, f in B) or b(f ~ B, g in C))",
        'let A = {M, "~/x"}\nstatement S: abs(a(f in A))',
    ],
)
def test_a_declared_set_is_smaller_in_all_its_uses(text: str) -> None:
    made = [m for m in mutants([policy_of(text)])[0] if m.edits[0].span.start < text.index("}")]
    assert len(made) >= 2
    for mutant in made:
        (statement,) = read_policy(Source("policy.vgl", mutant.text)).statements
        assert key(statement.requirement.theta) == key(mutant.mutated[0].mutant.requirement.theta), mutant.text


def test_statements_that_test_a_set_only_in_where_have_its_mutants() -> None:
    policy = policy_of(
        "let A = {M, 7}\nstatement S: abs(a(f in A))\nstatement T: abs(b(f = x)) where x in A\nstatement U: abs(c())"
    )
    found = [m for m in mutants([policy])[0] if m.told == "drops `M`"]
    assert [[mutated.statement.name for mutated in mutant.mutated] for mutant in found] == [["S", "T"]]


@given(text=policies())
@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
def test_a_mutant_means_what_its_text_says(text: str) -> None:
    for mutant in mutants([policy_of(text)])[0]:
        again = read_policy(Source("policy.vgl", mutant.text))
        assert not again.errors, (mutant.told, mutant.text, again.errors)
        by_name = {s.name: s for s in again.statements}
        for mutated in mutant.mutated:
            read = by_name[mutated.statement.name].requirement
            assert key(read.theta) == key(mutated.mutant.requirement.theta), (mutant.told, mutant.text)
            assert (read.trigger is None) == (mutated.mutant.requirement.trigger is None)


@pytest.mark.unmeasured
def test_a_huge_policy_takes_its_time_and_no_more() -> None:
    """Patterns that expand to thousands of conditions, in many statements."""
    patterns = ["pattern p0 = a(f = 1, g = 2)"]
    patterns += [f"pattern p{n} = p{n - 1} or (p{n - 1} and h = {n})" for n in range(1, 11)]
    policy = policy_of("\n".join([*patterns, *(f"statement S{n}: abs(p10 and i = {n})" for n in range(20))]))
    started = time.perf_counter()
    found, complete = mutants([policy])
    assert time.perf_counter() - started < 20
    assert found
    assert not complete


def test_a_mutant_is_a_policy() -> None:
    policy = """\
pattern P(x) = k = x
statement S: abs(a(P("v")))
statement T: prec(b(P(y)), c(P(y)))
"""
    made, _ = mutants([policy_of(policy)])
    assert made
    for mutant in made:
        assert not read_policy(Source("p.vgl", mutant.text)).errors, mutant.text


ADDITIONS = """
let OWN = {"a.com", "b.com"}
let SECRETS = {"*.env", /pem$/}
statement a1: atleast[2](review(status = ok))
statement a2: budget[100](pay(to = x), amount) in 1h since (refund() or void())
statement a3: atmost[1](fetch(), distinct url) in 20 calls since reset()
statement a5: abs(fetch(url:host = h)) where h not in OWN and h !~ "*.internal"
statement a6: abs(read(path ~ SECRETS))
statement a7: always commit() implies not edit() since[5 calls] test(status = ok)
statement a8: always freeze() implies quiet() weak until thaw()
statement a9: always commit() implies repeated[3](test(), distinct suite)
statement b1: prec(pay(to = x), list(output:json("items[*]") with (name = x and n > 3)))
statement b2: always commit() implies earlier[2..3] test()
statement b4: always (pay(to = x) and n > a and earlier max(n = a)) implies earlier ok(to = x) after s() where x != "b"
statement b5: bresp[2 steps](a(f:ext = "py"), b(g:length > 3))
statement b6: atmost[2](send(attachments:count > 3)) since (b() or c()) after (d() or e())
statement b7: always earlier a(k = x) or earlier b(k = x) implies earlier c(k = x) after d() where x ~ "a*"
"""


def test_the_mutants_of_views_counts_sums_intervals_and_where_mean_what_their_texts_say() -> None:
    told: dict[str, set[str]] = {}
    for mutant in mutants([policy_of(ADDITIONS)])[0]:
        again = read_policy(Source("policy.vgl", mutant.text))
        assert not again.errors, (mutant.text, again.errors)
        by_name = {s.name: s for s in again.statements}
        for mutated in mutant.mutated:
            name = mutated.statement.name
            told.setdefault(name, set()).add(mutant.told)
            assert key(by_name[name].requirement.theta) == key(mutated.mutant.requirement.theta), mutant.lines
    assert told["a2"] >= {"moves the limit", "drops the window", "moves the window", "drops the reset"}
    assert told["a3"] >= {"moves the bound", "counts calls", "drops the window", "drops the reset"}
    assert told["a5"] == {"drops `where`", "drops `h not in OWN`", 'drops `h !~ "*.internal"`'}
    assert told["a6"] >= {'drops `"*.env"`', "drops `/pem$/`"}
    assert told["a7"] >= {"adds `weak`", "turns `since` to `until`", "drops the bound", "moves the bound"}
    assert told["a8"] == {"drops `weak`", "turns `until` to `since`"}
    assert told["b4"] >= {"drops the scope", "drops `where`"}


def test_a_run_shows_each_of_these_mutants() -> None:
    """But for the few that take longer runs, or lists."""
    found = [m for m in mutants([policy_of(ADDITIONS)])[0] if m.mutated[0].statement.name not in ("b4", "b6", "b7")]
    pairs = [(m.mutated[0].statement.requirement, m.mutated[0].mutant.requirement, m.told) for m in found]
    unknown = [told for before, after, told in pairs if isinstance(tell(before, after), str)]
    assert unknown == ["drops the reset", "drops `refund()`", "drops `void()`", "drops the reset"]
