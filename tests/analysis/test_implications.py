"""What is said to imply something does; most questions are settled without the solver."""

from __future__ import annotations

import random
import subprocess
import sys
from itertools import product
from typing import TYPE_CHECKING

import pytest
import z3
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.strategies.core import conditions
from vigil_lang.analysis.condition_implication import Implications, implies, plainly_impossible
from vigil_lang.analysis.field_constraints import field_constraints, field_test_implies, may_imply
from vigil_lang.analysis.satisfiable import contradiction
from vigil_lang.analysis.witness import obviously_satisfiable
from vigil_lang.diagnostics import Source
from vigil_lang.engines.smt.solve import evaluate
from vigil_lang.semantics import core
from vigil_lang.semantics.denotation import meets
from vigil_lang.semantics.policy import read_policy
from vigil_lang.semantics.text_patterns import Glob, predicate
from vigil_lang.trace import Event

if TYPE_CHECKING:
    from collections.abc import Iterable

F = core.Reads("f")
TEXTS = ("M", "MN", "N", "", "7", "é*", "m", "-3", "8", "M7", "x", "6.5", "1e1")
_many = settings(max_examples=150, deadline=None, database=None, suppress_health_check=list(HealthCheck))


def condition(text: str) -> core.Condition:
    """A condition as a policy writes it."""
    policy = read_policy(Source("<stdin>", f"statement S: abs({text}) after bound(f = x, g = y)"))
    assert not policy.errors, policy.errors
    return core.conditions(policy.statements[0].requirement.theta)[0].condition


def events(seed: int) -> Iterable[Event]:
    """Events of all sorts, lists under their arguments too."""
    choose = random.Random(seed)
    for _ in range(60):
        args = {
            name: tuple(choose.choice(TEXTS) for _ in range(choose.choice((0, 1, 1, 2, 3))))
            for name in ("f", "g", "p.q")
            if choose.random() < 0.8
        }
        kinds = tuple(choose.sample(["a", "b", "k", "a.b"], choose.choice((0, 1, 2))))
        outputs = (None, *TEXTS, '{"q": "M"}', '[{"q": "7", "n": 7}, {"q": "MN", "n": 2}]')
        status, output = choose.choice(("ok", "error", "unknown")), choose.choice(outputs)
        yield Event("e", choose.choice(("a", "b", "k", "ak", "c")), "e", args, status, output, kinds)


def refuted(left: core.Condition, right: core.Condition, seed: int) -> bool:
    """Whether some event meets `left` and not `right`."""
    bindings = [{"x": x, "y": y} for x, y in product((None, "M", "7", "x", ""), repeat=2)]
    return any(meets(left, e, b) and not meets(right, e, b) for e in events(seed) for b in bindings)


def weaker(condition: core.Condition, choose: random.Random) -> core.Condition:
    """Something much like the condition, mostly implied by it: pairs that mean nothing to each other prove little."""
    match condition:
        case core.AndC(items) if items and choose.random() < 0.7:
            kept = [weaker(item, choose) for item in items if choose.random() < 0.7]
            return core.AndC(tuple(kept))
        case core.OrC(items):
            return core.OrC((*items, core.Has(core.Reads("g"))))
        case core.In(field, values, False):
            return core.In(field, values | {"N"}, choose.random() < 0.1)
        case core.In(field, values, True):
            return core.In(field, frozenset(list(values)[:1]), negated=True)
        case core.Compares(field, operator, limit):
            return core.Compares(field, operator, limit + choose.choice((-1, 0, 1)))
        case core.ComparesWith(field, operator, variable):
            return core.ComparesWith(field, choose.choice((operator, "<=")), variable)
        case core.Entry(field, body):
            return core.Entry(field, weaker(body, choose))
        case core.ActionIn(names):
            return core.ActionIn(names | {"z"})
        case core.Matches(field, matcher, negated) if choose.random() < 0.3:
            return core.Matches(field, matcher, not negated)
        case core.Equals(field, _) | core.Matches(field, _, _) if choose.random() < 0.5:
            return core.Has(field)
        case core.NotC(body):
            return core.NotC(body if choose.random() < 0.5 else core.AndC((body, core.StatusIs("ok"))))
        case _:
            return condition


pairs = st.one_of(
    st.tuples(conditions(("x", "y"), 1), conditions(("x", "y"), 1)),
    st.tuples(conditions(("x", "y")), st.randoms(use_true_random=False)).map(lambda p: (p[0], weaker(*p))),
)


@_many
@given(pairs, st.integers(0, 1000))
def test_no_event_meets_the_one_and_not_the_other(pair: tuple[core.Condition, core.Condition], seed: int) -> None:
    answer = implies(*pair)
    if answer is True:
        assert not refuted(*pair, seed)
    if answer is False:
        assert obviously_satisfiable(core.AndC((pair[0], core.NotC(pair[1]))))


@_many
@given(pairs, st.integers(0, 1000))
def test_what_is_plain_needs_no_solver_and_is_true(pair: tuple[core.Condition, core.Condition], seed: int) -> None:
    if plainly_impossible((pair[0], core.NotC(pair[1]))):
        assert not refuted(*pair, seed)


@_many
@given(pairs)
def test_what_is_called_inconceivable_is_not_implied(pair: tuple[core.Condition, core.Condition]) -> None:
    left, right = pair
    if not may_imply(field_constraints(left), field_constraints(right)) and implies(left, right) is True:
        # The look takes it that tests of the one can be met, and that those of the other can be missed.
        empty = Implications().impossible((left,)) is True
        assert empty or any(_odd(t) for t in (*core.tests(left), *core.tests(right)))


def _odd(test: core.Test) -> bool:
    """Whether every value meets a test, or none, or only one."""
    return isinstance(test, core.Matches | core.ContainsText | core.In | core.ActionIn | core.ActionMatches)


globs = st.text("ab*?", max_size=5).map(Glob)
SHORT = ["".join(letters) for size in range(5) for letters in product("abc", repeat=size)]


@settings(max_examples=1000, deadline=None, database=None)
@given(globs, globs, st.booleans())
def test_a_glob_within_another_matches_no_other_text(one: Glob, other: Glob, negated: bool) -> None:
    answer = field_test_implies(core.Matches(F, one, negated), core.Matches(F, other, negated))
    narrow, wide = map(predicate, (other, one) if negated else (one, other))
    outside = any(narrow(text) and not wide(text) for text in SHORT)
    assert not (answer is True and outside)
    # Where a text of a few letters shows it, it is seen.
    assert not (answer is None and outside and "?" not in one.pattern + other.pattern)


IMPLIED = [
    ('a(f = "x")', "a()"),
    ("a(f = x)", "a(has f)"),
    ("a(f = x and g = y)", "f = x"),
    ("action in {a, b}", "action in {a, b, c}"),
    ("a() or b()", "action in {b, a}"),
    ("a(n > 3)", "n >= 3 and n > 2.5"),
    ("n < -1", "n <= 0"),
    ('f in {"x", "y"}', 'f ~ "?"'),
    ('f = "main.py"', "f ~ /\\.py$/"),
    ('f ~ "/src/*.py"', 'f ~ "/src/*"'),
    ("f ~ /^ab+$/", 'f contains "b"'),
    ('f contains "secret"', 'f ~ "*secret*"'),
    ("status = ok", "not status = error"),
    ("not (a() or b())", "not a()"),
    ("a() and not f = x", "not (a() and f = x)"),
    ('f not in {"x", "y"}', 'f != "x"'),
    ('f = "x" or f = "y"', 'f in {"x", "y", "z"}'),
    ('u:host in {"a", "b"}', 'u:host ~ "?"'),
    ("n:count > 3", "n:count > 2"),
    ("n > x", "n > x"),
    ('output:json("f[*]") with (p = 2 and q = x)', 'output:json("f[*]") with (p = 2 and q = x)'),
    ('f ~ {"a*", "b*"}', 'f ~ {"a*", "b*"}'),
]

NOT_IMPLIED = [
    ("a()", 'a(f = "x")'),
    ("f = x", "g = x"),
    ("f = x", "f = y"),
    ("n > 3", "n < 5"),
    ("n >= 3", "n > 3"),
    ("not status = error", "status = ok"),  # it may not be known
    ('f = "x"', 'not f = "y"'),  # a list has both
    ("has f", 'f ~ "*"'),  # a list may be empty
    ("f contains x", "f = x"),
    ("f = x", "f contains x"),  # the empty text is contained in nothing
    ("action in {a, b}", "a()"),
    ("a()", "not b()"),  # an event has kinds beside its name
    ('f !~ "*.py"', 'not f ~ "*.py"'),  # as above
    ('u:host = "a"', 'u = "a"'),
    ("n:count = 0", "n:count > 0"),
    ("n > x", "n >= y"),
    ('output:json("f[*]") with (p = 2)', 'output:json("f[*]") with (p = 2 and q = x)'),
]


@pytest.mark.parametrize(("left", "right"), IMPLIED)
def test_implied(left: str, right: str) -> None:
    assert implies(condition(left), condition(right)) is True
    assert may_imply(field_constraints(condition(left)), field_constraints(condition(right)))


@pytest.mark.parametrize(("left", "right"), NOT_IMPLIED)
def test_not_implied(left: str, right: str) -> None:
    assert implies(condition(left), condition(right)) is not True


def test_questions_of_one_policy_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr("vigil_lang.analysis.condition_implication._by_solver", lambda c: asked.append(c) or "unknown")
    known = Implications()
    for n in range(50):
        left, right = condition(f"f ~ /^a{{{n + 2}}}b/"), condition(f"f ~ /a{{{n + 1}}}b/")
        assert known.implies(left, right) is None
        assert known.implies(left, right) is None
    assert len(asked) == 5


def test_a_large_condition_is_left_alone() -> None:
    large = core.OrC(tuple(core.ContainsText(core.Reads("f"), f"{n}") for n in range(1000)))
    assert implies(large, large) is None


UNRELATED = """
statement A: prec(publish(artifact = x and channel = "c1"), run_tests(artifact = x))
statement B: resp(Edit(file_path ~ "/src/m2/*.py"), run_tests(suite = "full"))
statement C: bresp[6](Write(file_path = x), Bash(command ~ /\\bpytest\\b/ and command contains x))
statement D: until(open(ticket = x), approve(ticket = x and state = "closed5"), deploy(ticket = x))
statement E: atmost[6](fetch(url ~ "https://example.com/6/*" and method = "GET"))
statement F: always (publish(channel = "b") implies earlier approve(kind = "beta") and not earlier deploy(env = "x"))
statement G: resp(Edit(file_path ~ "/src/m12/*.py"), run_tests(suite = "full"))
statement H: abs(deploy(replicas > 10))
statement I: rslv(run_tests(status = error and suite = "s4"), run_tests(status = ok))
"""


def test_unrelated_statements_need_no_solver() -> None:
    script = (
        "import sys\n"
        "from vigil_lang.diagnostics import Source\n"
        "from vigil_lang.lint.registry import all_rules\n"
        "from vigil_lang.lint.subject import Subject\n"
        "from vigil_lang.semantics.policy import read_policy\n"
        "policy = read_policy(Source('a.vgl', sys.stdin.read()))\n"
        "subject = Subject(policy)\n"
        "codes = {'VGL311', 'VGL312', 'VGL313', 'VGL314', 'VGL315', 'VGL320', 'VGL322', 'VGL325'}\n"
        "found = [d for rule in all_rules() if codes & set(rule.codes) for d in rule.find(subject)]\n"
        "assert not policy.errors and not found, found\n"
        "print('z3' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], input=UNRELATED, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_the_limit_of_one_question_binds_no_other() -> None:
    """Z3 keeps its own options for the whole process: a verdict must not depend on what was linted before it."""
    assert contradiction([condition("f ~ /^a+$/"), core.NotC(condition("f ~ /^a*b?$/"))])
    assert implies(condition("f ~ /^a+$/"), condition("f ~ /^a*b?$/")) is True
    question = ["(declare-const s String)", "(assert (= (str.len s) 40))", "(check-sat)"]
    limited = ["(set-option :reproducible-resource-limit 10)", *question]
    assert [evaluate(lines) for lines in (limited, question)] == ["unknown", "sat"]
    assert z3.get_param("rlimit") == "0"
