"""Values from outside: texts from the command line, typed ones from a TOML file."""

from __future__ import annotations

import tomllib
from decimal import Decimal
from typing import Any

import pytest
from semantics_support import findings, read

from vigil_lang.semantics import core

F = core.Reads("f")


def condition(text: str, **params: Any) -> core.Condition:
    """The condition of the one statement of a policy."""
    policy = read(text, params)
    assert findings(policy) == []
    (holds,) = core.conditions(policy.statements[0].requirement.theta)
    return holds.condition


@pytest.mark.parametrize(
    ("given", "limit"),
    [("7", "7"), ("7.50", "7.5"), ("-1e3", "-1000"), (7, "7"), (7.5, "7.5"), (Decimal("0.1"), "0.1")],
)
def test_a_number(given: object, limit: str) -> None:
    text = "param p: number = 6\n\nstatement S: abs(f > p)"
    assert condition(text, p=given) == core.Compares(F, ">", Decimal(limit))
    equal = condition("param p: number = 6\n\nstatement S: abs(f = p)", p=given)
    assert equal == core.In(F, frozenset({limit}))


@pytest.mark.parametrize(("given", "text"), [("true", "true"), ("false", "false"), (True, "true")])
def test_a_truth_value(given: object, text: str) -> None:
    assert condition("param p: bool = false\n\nstatement S: abs(f = p)", p=given) == core.In(F, frozenset({text}))


@pytest.mark.parametrize(
    ("given", "texts"),
    [
        ("a, b", {"a", "b"}),
        ("6.0", {"6.0"}),
        ("", set()),
        (["a", 6.0, True], {"a", "6", "true"}),
        ([], set()),
    ],
)
def test_a_set(given: object, texts: set[str]) -> None:
    text = "param p: set = {x}\n\nstatement S: abs(f not in p)"
    assert condition(text, p=given) == core.In(F, frozenset(texts), negated=True)


@pytest.mark.parametrize("given", ["a.*", "6", "", "true"])
def test_a_text(given: str) -> None:
    text = 'param p: text = "x"\n\nstatement S: abs(f != p)'
    assert condition(text, p=given) == core.In(F, frozenset({given}), negated=True)


def test_an_outside_text_is_a_glob_after_a_tilde_and_data_elsewhere() -> None:
    text = 'param p: text = "x"\n\nstatement S: abs(f ~ p and g = p)'
    matches, equal = condition(text, p="a\\*\\n").items  # type: ignore[union-attr]
    assert matches.matcher.pattern == "a\\*\\n"
    assert equal.values == {"a\\*\\n"}


def test_values_of_a_toml_file() -> None:
    given = tomllib.loads('n = 7\nb = true\ns = ["a", 6.0]\nt = "x"', parse_float=Decimal)
    text = (
        "param n: number\nparam b: bool\nparam s: set\nparam t: text\n\n"
        "statement S: abs(f = n or f = b or f in s or f = t)"
    )
    policy = read(text, given)
    assert findings(policy) == []
    values = [
        t.values for h in core.conditions(policy.statements[0].requirement.theta) for t in core.tests(h.condition)
    ]  # type: ignore[union-attr]
    assert values == [{"7"}, {"true"}, {"a", "6"}, {"x"}]


@pytest.mark.parametrize(
    ("declared", "given"),
    [
        ("number", "six"),
        ("number", "1_000"),
        ("number", "١"),
        ("number", "inf"),
        ("number", float("inf")),
        ("number", True),
        ("number", [1]),
        ("bool", "yes"),
        ("bool", 1),
        ("text", 6),
        ("text", ["a"]),
        ("set", 6),
        ("set", "{a, b}"),
        ("set", '["a", "b"]'),
        ("set", " [] "),
        ("set", [["a"]]),
        ("set", [None]),
        ("set", [float("nan")]),
    ],
)
def test_a_value_of_the_wrong_type(declared: str, given: object) -> None:
    text = f"param p: {declared}\n\nstatement S: abs(f = p)"
    codes = {f.code for f in read(text, {"p": given}).diagnostics}
    assert codes == {"VGL210"}


def test_a_default_counts_where_nothing_is_given() -> None:
    assert condition("param p: number = 6\n\nstatement S: abs(f = p)") == core.In(F, frozenset({"6"}))


def test_a_default_is_checked_even_so() -> None:
    policy = read('param p: number = "x"\n\nstatement S: abs(f = p)', {"p": 6})
    assert [f.code for f in policy.diagnostics] == ["VGL306"]


def test_a_statement_knows_its_params() -> None:
    text = (
        "param a: number = 1\nparam b: set = {x}\nlet B = b | {y}\npattern p(v) = f = v\n\n"
        "statement S: abs(f > a)\n\nstatement T: abs(f in B)\n\nstatement U: abs(p(a))\n\nstatement V: abs(f = 1)"
    )
    policy = read(text)
    assert [s.params for s in policy.statements] == [{"a"}, {"b"}, {"a"}, set()]
    assert policy.params == {}
