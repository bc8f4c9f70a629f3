"""Fixes of conditions that are called safe leave their meaning alone, on every small event."""

from __future__ import annotations

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from vigil_lang.diagnostics import Source, apply_edits
from vigil_lang.lint.rules import glob_without_wildcard, matches_anything, redundant, tautology
from vigil_lang.lint.subject import Subject
from vigil_lang.semantics import core
from vigil_lang.semantics.denotation import meets
from vigil_lang.semantics.policy import Policy, read_policy
from vigil_lang.trace import Event

VALUES = ((), ("a",), ("b",), ("7",), ("ab", "b"), ("a", "c"))
EVENTS = [
    Event("e", action, "c", {name: texts for name, texts in (("x", x), ("y", y)) if texts is not None}, status, output)
    for action, x, y, status, output in product(
        ("go", "a"), (None, *VALUES), (None, (), ("a",), ("b", "7")), ("ok", "unknown"), (None, "a")
    )
]

_TESTS = st.sampled_from(
    [
        'x = "a"', 'x != "a"', 'x = "b"', 'x ~ "a*"', 'x ~ "*"', 'x ~ "a"', 'x !~ "*b"',
        "x in {a, b}", "x not in {b, c}",
        "has x", "x > 5", "x <= 7", "x ~ /a|b/", "x ~ /^a$/", 'x contains "b"', 'y = "a"', 'y != "b"', "has y",
        "status = ok", "not status = ok", "not x = \"a\"", 'output ~ "*"', "has output",
        'action ~ "go"', 'action ~ "*"',
        "action in {go, a}", "(x = \"a\" or y = \"a\")", "(x != \"a\" and has y)", "go(has x)",
    ]
)  # fmt: skip
_CONDITIONS = st.tuples(st.lists(_TESTS, min_size=2, max_size=4), st.sampled_from([" and ", " or ", ", "]))


@settings(max_examples=120, deadline=None)
@given(_CONDITIONS)
def test_a_safe_fix_changes_no_meaning(parts: tuple[list[str], str]) -> None:
    tests, joined = parts
    body = f"go({joined.join(tests)})" if joined == ", " else joined.join(tests)
    text = f"statement S: abs({body})\n"
    policy = _read(text)
    for rule in (redundant, glob_without_wildcard, matches_anything):
        for finding in rule.find(Subject(policy)):
            if finding.fix is not None:
                after = _read(apply_edits(text, finding.fix.edits))
                if finding.fix.safe:
                    assert _met(after) == _met(policy), finding


@settings(max_examples=80, deadline=None)
@given(st.lists(_TESTS, min_size=2, max_size=3))
def test_what_always_holds_is_met_by_every_event_that_has_the_fields(tests: list[str]) -> None:
    policy = _read(f"statement S: abs({' or '.join(tests)})\n")
    for finding in tautology.find(Subject(policy)):
        if "always" in finding.message:
            assert _met(policy) == [True] * len(EVENTS)
        else:
            named = [name for name in "xy" if f"`{name}`" in finding.message]
            given_all = [all(_number_or_text(e, name, tests) for name in named) for e in EVENTS]
            assert [m for m, has in zip(_met(policy), given_all, strict=True) if has and not m] == []


def _number_or_text(event: Event, name: str, tests: list[str]) -> bool:
    numeric = any(test.startswith((f"{name} >", f"{name} <")) for test in tests)
    return any(not numeric or text.isdigit() for text in event.values(name))


def _read(text: str) -> Policy:
    policy = read_policy(Source("<stdin>", text))
    assert policy.errors == (), text
    return policy


def _met(policy: Policy) -> list[bool]:
    (holds,) = core.conditions(policy.statements[0].requirement.theta)
    return [meets(holds.condition, event, {}) for event in EVENTS]
