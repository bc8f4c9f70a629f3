"""What the rules about forms say of a statement is true of every run, and said in words a reader can act on."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.strategies.policies import conditions, patterns, policy_of, with_declarations
from tests.strategies.runs import runs, trace_of
from vigil_lang.diagnostics import Source
from vigil_lang.lint.rules import (
    alike_variables,
    forbidden_resolver,
    implied_statement,
    lone_variable,
    self_guard,
    self_triggering_response,
    two_actions,
    unbreakable,
)
from vigil_lang.lint.subject import Subject
from vigil_lang.semantics import core
from vigil_lang.semantics.denotation import exercised, satisfied
from vigil_lang.semantics.policy import read_policy

if TYPE_CHECKING:
    from tests.strategies.runs import Line
    from vigil_lang.diagnostics import Diagnostic
    from vigil_lang.semantics.lower import Statement
    from vigil_lang.trace import Trace

RULES = (
    self_guard,
    self_triggering_response,
    forbidden_resolver,
    unbreakable,
    two_actions,
    implied_statement,
    alike_variables,
)
_many = settings(max_examples=100, deadline=None, database=None, suppress_health_check=list(HealthCheck))


@st.composite
def statements(draw: st.DrawFn) -> str:
    """A statement whose conditions are much like one another, so that there is something to find.

    What would not be bound is bound by its scope, or by a scope's like in the body of `always`.
    """
    variables = draw(st.sampled_from(((), (), ("x",), ("x", "y"))))
    first = draw(patterns(variables) | conditions(variables, 1))
    more = draw(conditions(draw(st.sampled_from((variables, ("z",)))), 0))
    other = draw(st.sampled_from((first, f"({first}) and {more}", f"({first}) or {more}", more)))
    third = draw(st.sampled_from((first, other, f"({other}) and has f")))
    scope = draw(st.sampled_from(("", "", "b()")))
    form = draw(
        st.sampled_from(
            (
                f"prec({first}, {other})",
                f"resp({first}, {other})",
                f"bresp[2]({first}, {other})",
                f"rslv({first}, {other})",
                f"until({third}, {other}, {first})",
                f"until({first}, {other}, {third})",
                f"always {first} implies earlier ({other}) and not later b()",
                f"always {first} implies {other}",
            )
        )
    )

    def scoped(scope: str) -> str:
        if form.startswith("always"):
            bound = f"always earlier {scope} and ({first}) implies"
            return form if scope in ("", "b()") else form.replace(f"always {first} implies", bound, 1)
        return f"{form} after {scope}" if scope else form

    policy = read_policy(Source("policy.vgl", with_declarations(f"statement S: {scoped(scope)}")))
    loose = sorted({finding.source.text[slice(*finding.span)] for finding in policy.errors})
    return scoped(f"b({', '.join(f'f = {x}' for x in loose)})") if loose else scoped(scope)


def linted(text: str) -> tuple[Statement, list[Diagnostic]]:
    """A statement with what the rules find in it."""
    policy = policy_of(with_declarations(f"statement S: {text}"))
    subject = Subject(policy)
    return policy.statements[0], [f for rule in RULES for f in rule.find(subject)]


def without_resolver(theta: core.Theta) -> core.Theta:
    """`until` if nothing resolved it."""
    assert isinstance(theta, core.Implies)
    assert isinstance(theta.right, core.Clear)
    return core.Implies(theta.left, core.Clear(core.FALSE, theta.right.forbidden))


def agrees(code: str, statement: Statement, trace: Trace) -> bool:
    """Whether what a finding claims is so on a run."""
    requirement = statement.requirement
    kept = satisfied(requirement, trace)
    match code:
        case "VGL311" | "VGL312":
            return kept is not exercised(requirement, trace)
        case "VGL313":
            theta = without_resolver(requirement.theta)
            return kept is satisfied(core.Requirement(theta, requirement.variables, requirement.trigger), trace)
        case "VGL314":
            return kept
        case _:
            return True


@_many
@given(statements(), st.lists(runs(), min_size=3, max_size=3))
def test_findings_are_true(text: str, recorded: list[list[Line]]) -> None:
    statement, found = linted(text)
    for finding in found:
        for lines in recorded:
            assert agrees(finding.code, statement, trace_of(lines)), finding.message


def only(text: str) -> Diagnostic:
    """The one finding in a policy."""
    policy = read_policy(Source("policy.vgl", text))
    assert not policy.errors, policy.errors
    subject = Subject(policy)
    (found,) = (f for rule in RULES for f in rule.find(subject))
    return found


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        (
            "prec(deploy(), deploy())",
            "the guard is the trigger itself, so the first one always breaks `S`",
            (1, 29),
        ),
        (
            "prec(deploy(), deploy(status = ok))",
            "every guard is a trigger, too, so the first one always breaks `S`",
            (1, 29),
        ),
        (
            "resp(save(file = x), save(file = x))",
            "the response is the trigger itself, so the last one always breaks `S`",
            (1, 35),
        ),
        (
            "bresp[2](save() or edit(), edit())",
            "every response is a trigger again, so the last one always breaks `S`",
            (1, 41),
        ),
        (
            'until(freeze(), edit(file = "a"), edit())',
            "every resolver is itself forbidden, so the first one breaks `S`",
            (1, 30),
        ),
        (
            "until(lock(), lock(status = ok), edit())",
            "every resolver is a trigger again, so `S` stays in force for good",
            (1, 28),
        ),
        ("rslv(save(status = ok), save())", "every trigger is its own resolution, so no run can break `S`", (1, 38)),
        (
            "prec(a(), b()) after b(status = ok)",
            "what `S` applies after is a guard already, so no run can break it",
            (1, 24),
        ),
        (
            "always earlier[1] a() implies earlier[2] a()",
            "no run can break `S`: what it asks for follows from the rest",
            (1, 11),
        ),
        ("abs(Bash(Read()))", "one event cannot be both `Bash` and `Read`", (1, 23)),
        (
            "abs(action in {A, B, C, D} and E())",
            "one event cannot be both `A` or `B` or another and `E`",
            (1, 45),
        ),
        ("always Write() implies Skill()", "the event that is `Write` would have to be `Skill` as well", (1, 37)),
        (
            "until(a(f = file), b(), c(f = fil))",
            "`fil` and `file` are two variables, and neither joins anything",
            (1, 44),
        ),
    ],
)
def test_what_is_said(text: str, message: str, place: tuple[int, int]) -> None:
    found = only(f"statement S: {text}")
    assert found.message == message
    assert found.source.position(found.span.start) == place


def test_an_implied_statement_is_named_with_the_one_that_says_more() -> None:
    found = only("statement all: abs(push())\n\nstatement some: abs(push(force = true))\n")
    assert found.message == "`some` says nothing that `all` does not say already"
    assert [(n.message, n.source.text[slice(*n.span)]) for n in found.notes] == [("said here", "all")]


def test_a_signature_says_which_actions_go_together() -> None:
    from vigil_lang.trace.signature_file import signature_from_json

    actions = {"Grep": {"args": {}, "kinds": ["Search"]}, "Bash": {"args": {}}}
    signature = signature_from_json({"schema": "vigil.signature/1", "origin": "declared", "actions": actions})
    policy = read_policy(Source("policy.vgl", "statement S: abs(Grep() and Search())"))
    assert list(two_actions.find(Subject(policy)))
    assert not list(two_actions.find(Subject(policy, signature)))


@pytest.mark.slow
def test_many_statements_about_one_action_are_soon_looked_through() -> None:
    import time

    lines = [f'statement S{n}: prec(Bash(command ~ "*{n}*"), ask())' for n in range(2_000)]
    subject = Subject(read_policy(Source("policy.vgl", "\n\n".join(lines))))
    started = time.process_time()
    list(implied_statement.find(subject))
    assert time.process_time() - started < 3


@given(st.lists(st.sampled_from(["x", "xy", " ", "\n", ",", '"', "{", "}", "`", "]", "//", "\t", "a = "]), max_size=8))
def test_a_text_that_may_be_written_is_never_passed_over(pieces: list[str]) -> None:
    text = "".join(pieces)
    written = re.search(r'(?:(?<!`)\{|[",\n])\s*x\s*(?:["},]|//)', text)
    assert written is None or lone_variable._may_be_written("x", text)
