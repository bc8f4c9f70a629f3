"""Each form is the □Θ that Table VI gives it, and sugar is what it stands for."""

from __future__ import annotations

from decimal import Decimal

import pytest
from semantics_support import findings, read

from vigil_lang.semantics import core
from vigil_lang.semantics.lower import parts
from vigil_lang.semantics.text_patterns import Expression, Glob

F, G, OUTPUT = core.Reads("f"), core.Reads("g"), core.Reads("output", output=True)


def action(name: str) -> core.ActionIn:
    return core.ActionIn(frozenset({name}))


def call(name: str, role: str = "condition") -> core.Holds:
    return core.Holds(action(name), role)


def lowered(form: str, declarations: str = "") -> core.Requirement:
    policy = read(f"{declarations}\n\nstatement S: {form}")
    assert [f.message for f in policy.errors] == []
    return policy.statements[0].requirement


A, B = call("a", "trigger"), call("b", "guard")
SCOPE = core.Earlier(call("c", "scope"))

FORMS = [
    ("abs(a())", core.Not(call("a", "forbidden")), None),
    ("abs(a()) after c()", core.Not(core.And((call("a", "forbidden"), SCOPE))), None),
    ("prec(a(), b())", core.Implies(A, core.Earlier(B)), A),
    ("prec(a(), b()) after c()", core.Implies(core.And((A, SCOPE)), core.Earlier(B)), core.And((A, SCOPE))),
    ("resp(a(), b())", core.Implies(A, core.Later(call("b", "response"))), A),
    ("bresp[3](a(), b())", core.Implies(A, core.Later(call("b", "response"), core.Calls(3))), A),
    ("bresp[500ms](a(), b())", core.Implies(A, core.Later(call("b", "response"), core.Within(500_000))), A),
    ("bresp[2h](a(), b())", core.Implies(A, core.Later(call("b", "response"), core.Within(7_200_000_000))), A),
    (
        "rslv(a(), b())",
        core.Implies(A, core.Or((call("b", "resolution"), core.Later(core.Or((call("b", "resolution"), A)))))),
        A,
    ),
    (
        "rslv(a(), b()) after c()",
        core.Implies(
            core.And((A, SCOPE)),
            core.Or((call("b", "resolution"), core.Later(core.Or((call("b", "resolution"), A))))),
        ),
        core.And((A, SCOPE)),
    ),
    ("until(a(), b(), d())", core.Implies(A, core.Clear(call("b", "resolver"), call("d", "forbidden"))), A),
    ("atmost[2](a())", core.Implies(A, core.Not(core.Repeated(3, A))), A),
    (
        "atmost[2](a()) after c()",
        core.Implies(core.And((A, SCOPE)), core.Not(core.Repeated(3, core.And((A, SCOPE))))),
        core.And((A, SCOPE)),
    ),
    ("always a()", call("a"), None),
    ("always not earlier a()", core.Not(core.Earlier(call("a"))), None),
    ("always (a() implies earlier[2] b())", core.Implies(call("a"), core.Earlier(call("b"), core.Calls(2))), call("a")),
    (
        "always (a() and later b() implies c() or not later[1d] d())",
        core.Implies(
            core.And((call("a"), core.Later(call("b")))),
            core.Or((call("c"), core.Not(core.Later(call("d"), core.Within(86_400_000_000))))),
        ),
        core.And((call("a"), core.Later(call("b")))),
    ),
]


@pytest.mark.parametrize(("form", "theta", "trigger"), FORMS, ids=[form for form, _, _ in FORMS])
def test_form(form: str, theta: core.Theta, trigger: core.Theta | None) -> None:
    assert lowered(form) == core.Requirement(theta, (), trigger)


TESTS = [
    ("action in {a, b}", core.ActionIn(frozenset({"a", "b"}))),
    ("action = a", action("a")),
    ('action = "a b"', action("a b")),
    ('action ~ "a*"', core.ActionMatches(Glob("a*"))),
    ("action ~ /^a/i", core.ActionMatches(Expression("^a", ignore_case=True))),
    ("a()", action("a")),
    ("a(f = 1)", core.AndC((action("a"), core.In(F, frozenset({"1"}))))),
    ('"a b"(f = 1, has g)', core.AndC((action("a b"), core.In(F, frozenset({"1"})), core.Has(G)))),
    ("status = error", core.StatusIs("error")),
    ('"status" = "open"', core.In(core.Reads("status"), frozenset({"open"}))),
    ("output contains x", core.Contains(OUTPUT, "x")),
    ("has output", core.Has(OUTPUT)),
    ("f = x", core.Equals(F, "x")),
    ("f = 6.0", core.In(F, frozenset({"6"}))),
    ("f = true", core.In(F, frozenset({"true"}))),
    ('f = "6.0"', core.In(F, frozenset({"6.0"}))),
    ("f != 6.0", core.In(F, frozenset({"6"}), negated=True)),
    ("f in {a, 6.0, true}", core.In(F, frozenset({"a", "6", "true"}))),
    ("f not in {a} | {b}", core.In(F, frozenset({"a", "b"}), negated=True)),
    ('f ~ "a\\*b"', core.Matches(F, Glob("a\\*b"))),
    ("f !~ /a/", core.Matches(F, Expression("a"), negated=True)),
    ("f >= -6.50", core.Compares(F, ">=", Decimal("-6.5"))),
    ('f contains "a\\nb"', core.ContainsText(F, "a\nb")),
    ("not (f = 1 or g = 2)", core.NotC(core.OrC((core.In(F, frozenset({"1"})), core.In(G, frozenset({"2"})))))),
]


@pytest.mark.parametrize(("text", "condition"), TESTS, ids=[text for text, _ in TESTS])
def test_condition(text: str, condition: core.Condition) -> None:
    theta = lowered(f"abs({text}) after g = x").theta
    scope = core.Earlier(core.Holds(core.Equals(G, "x"), "scope"))
    assert theta == core.Not(core.And((core.Holds(condition, "forbidden"), scope)))


SAME = [
    ("let NAMES = {a, b}", "action in NAMES | {c}", "action in {a, b, c}"),
    ('let a = "x"\nlet b = a', "f = b and g in {b}", 'f = "x" and g in {"x"}'),
    ("let A = {x}\nlet B = A", "f in B", "f in {x}"),
    ('let GLOB = "a*"', "f ~ GLOB", 'f ~ "a*"'),
    ("param limit: number = 6.50", "f < limit", "f < 6.5"),
    ("pattern p = f = 1 or g = 1", "not p", "not (f = 1 or g = 1)"),
    ("pattern p(v) = f = v and g != v", "p(3)", "f = 3 and g != 3"),
    ("pattern p(v) = f ~ v", 'p("a\\*?")', 'f ~ "a\\*?"'),
    ("pattern p(v) = f in {v, b}", 'p("a")', 'f in {"a", b}'),
    ("pattern p(n) = f < n\nlet six = 6", "p(six)", "f < 6"),
    ("let NAMES = {a}\npattern p(s) = f in s", "p(NAMES)", "f in {a}"),
    ("pattern p(x) = f = x\npattern q(y) = p(y) and g = y", "q(z) and g = z", "f = z and g = z and g = z"),
    ("pattern p(x) = f = x", "p(f) and g = f", "f = f and g = f"),
    ("pattern p = f = free", "p and g = free", "f = free and g = free"),
    ("pattern a(x) = f = x", '"a"(g = 1) and a(2)', "action = a and g = 1 and f = 2"),
    ("let x = 3\npattern p(x) = f = x", "p(4) and g = x", "f = 4 and g = 3"),
]


def flat(condition: core.Condition) -> core.Condition:
    """Conjunctions in conjunctions as one: how patterns are nested is not the point."""
    if not isinstance(condition, core.AndC):
        return condition
    items = [flat(item) for item in condition.items]
    return core.AndC(tuple(c for i in items for c in (i.items if isinstance(i, core.AndC) else (i,))))


@pytest.mark.parametrize(("declarations", "sugar", "plain"), SAME, ids=[sugar for _, sugar, _ in SAME])
def test_sugar(declarations: str, sugar: str, plain: str) -> None:
    (one,) = core.conditions(lowered(f"abs({sugar})", declarations).theta)
    (other,) = core.conditions(lowered(f"abs({plain})").theta)
    assert flat(one.condition) == flat(other.condition)


def test_variables_are_in_order_of_appearance_and_shared() -> None:
    requirement = lowered("until(p(y, x), a(), p(x, z)) after a(f = w, g = y)", "pattern p(x, y) = f = x and g = y")
    assert requirement.variables == ("y", "x", "w", "z")


def test_a_condition_remembers_where_and_how_it_was_written() -> None:
    text = "statement S: prec( a( f=1 ) , b()) after c()"
    (statement,) = read(text).statements
    holds = core.conditions(statement.requirement.theta)
    shown = [(h.role, statement.label(h), text[h.span.start : h.span.end] if h.span else "") for h in holds]
    assert shown == [("trigger", "a(f = 1)", "a( f=1 )"), ("scope", "c()", "c()"), ("guard", "b()", "b()")]


def test_the_parts_of_a_statement_and_what_they_are_to_it() -> None:
    text = "statement S: always (a() and not later b() implies c() and not earlier (d() or not e()))"
    policy = read(text)
    found = [(p.role, text[p.expr.span.start : p.expr.span.end]) for p in parts(policy.statements[0].syntax)]
    assert found == [
        ("trigger", "a()"),
        ("trigger", "b()"),
        ("guard", "c()"),
        ("forbidden", "(d() or not e())"),
    ]


def test_every_condition_of_a_statement_is_checked() -> None:
    policy = read("statement S: until(p, f ~ /(/, g in NAMES) after q\n\nstatement T: always (r implies earlier s)")
    assert [f.code for f in findings(policy)] == ["VGL201", "VGL305", "VGL201", "VGL201", "VGL201", "VGL201"]
    assert policy.statements == ()


def test_a_statement_that_fails_leaves_the_others() -> None:
    policy = read("statement S: abs(p)\n\nstatement T: abs(a())")
    assert [s.name for s in policy.statements] == ["T"]


def test_names_that_only_a_broken_statement_could_use_are_not_called_unused() -> None:
    policy = read("pattern consumes(x) = f = x\n\nstatement S: abs(consume(y))")
    assert [f.code for f in policy.diagnostics] == ["VGL209"]
