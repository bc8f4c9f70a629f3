"""Syntax errors: what was written, where the finding points, and what it says."""

from __future__ import annotations

import pytest
from syntax_support import findings, mended, only

CASES = [
    ("statement : abs(a)", "VGL101 1:11-12 expected a name, found `:`"),
    ("statement S abs(a)", "VGL101 1:13-16 expected `:`, found `abs`"),
    ("statement S: never(a)", "VGL101 1:14-19 expected a form (`abs`, `prec`, `resp`, …), found `never`"),
    ("statement S: abs a", "VGL101 1:18-19 expected `(`, found `a`"),
    ("statement S: abs()", "VGL101 1:18-19 expected a condition, found `)`"),
    ("statement S: abs(a", "VGL101 1:19-19 expected `)`, found the end of the item"),
    ("statement S: abs(a))", "VGL101 1:20-21 expected `after`, `where` or the end of the item, found `)`"),
    ("statement S: prec(a)", "VGL101 1:20-21 expected `,`, found `)`"),
    ("statement S: bresp(a, b)", "VGL101 1:19-20 expected `[`, found `(`"),
    (
        "statement S: bresp[x](a, b)",
        "VGL101 1:20-21 expected a number, a duration such as `30s` or a range such as `1..3`, found `x`",
    ),
    ("statement S: abs(a) after", "VGL101 1:26-26 expected a condition, found the end of the item"),
    ("statement S: abs(a and)", "VGL101 1:23-24 expected a condition, found `)`"),
    ("statement S: abs(a in )", "VGL101 1:23-24 expected a name or `{`, found `)`"),
    ("statement S: abs(a = )", "VGL101 1:22-23 expected a value or a name, found `)`"),
    ("statement S: abs(a ~ 3)", "VGL101 1:22-23 expected a name, a string, a regular expression or `{`, found `3`"),
    ("statement S: abs(a < x y)", "VGL101 1:24-25 expected `)`, `and`, `or` or `implies`, found `y`"),
    ("statement S: abs(5x = 3)", "VGL101 1:18-20 expected a condition, found `5x`"),
    ("statement S: abs(has 3)", "VGL101 1:22-23 expected `output`, a name or a string, found `3`"),
    (
        "statement S: abs(output containsx)",
        "VGL101 1:25-34 expected a test (`=`, `in`, `~`, …) or a view such as `:host`, found `containsx`",
    ),
    (
        "statement S: abs(a) aftermath",
        "VGL101 1:21-30 expected `after`, `where` or the end of the item, found `aftermath`",
    ),
    ("pattern p = a(url:)", "VGL101 1:19-20 expected a name, found `)`"),
    ("pattern p = output:json(total) = 3", "VGL101 1:25-30 expected a string or a regular expression, found `total`"),
    ("statement S: abs(a(k = x)) where ", "VGL101 1:33-33 expected a condition, found the end of the item"),
    ("statement S: abs(a) unless b", "VGL101 1:21-27 expected `after`, `where` or the end of the item, found `unless`"),
    ("statement S: atmost[3](a, path)", "VGL101 1:27-31 expected `distinct`, found `path`"),
    (
        "statement S: atmost[3](a) in ",
        "VGL101 1:29-29 expected a number or a duration such as `30s`, found the end of the item",
    ),
    ("statement S: atmost[3](a) in 10 b", "VGL101 1:33-34 expected a unit (`calls`, `steps`), found `b`"),
    (
        "statement S: atmost[3](a) b",
        "VGL101 1:27-28 expected `since`, `after`, `where`, `in` or the end of the item, found `b`",
    ),
    ("statement S: always a since", "VGL101 1:28-28 expected a condition or `[`, found the end of the item"),
    ("let A = {a,, b}", "VGL101 1:12-13 expected a value, a name, a regular expression or `}`, found `,`"),
    ("let A = {§}", "VGL103 1:10-11 expected a value, a name, a regular expression or `}`, found `§`"),
    ("let A {a}", "VGL101 1:7-8 expected `=`, found `{`"),
    ("param p", "VGL101 1:8-8 expected `:`, found the end of the item"),
    ("param p: numbers", "VGL101 1:10-17 expected a type (`number`, `text`, `bool` or `set`), found `numbers`"),
    ("pattern p(3) = a", "VGL101 1:11-12 expected a name, found `3`"),
    ("pattern p() = a", "VGL101 1:11-12 expected a name, found `)`"),
    ("use 3", "VGL101 1:5-6 expected a name or a module such as `.sibling`, found `3`"),
    ("use std.files: ", "VGL101 1:15-15 expected a name, found the end of the item"),
    ("@", "VGL101 1:2-2 expected a name, found the end of the item"),
    ("@note(", "VGL101 1:7-7 expected a name, a string, a number or `)`, found the end of the item"),
    (
        "@note let A = ",
        "VGL101 1:14-14 expected a value, a name, a regular expression or `{`, found the end of the item",
    ),
    ("@note", "VGL101 1:6-6 expected an item or `(`, found the end of the item"),
    ('let A = "a', "VGL102 1:9-11 this string is not closed before the end of the line"),
    ("pattern p = a ~ /b", "VGL102 1:17-19 this regular expression is not closed before the end of the line"),
    (
        "hello",
        "VGL101 1:1-6 expected `policy`, `use`, `let`, `param`, `pattern`, `statement`, `rule` or `test`, "
        "found `hello`",
    ),
    ("rule r: f() then hold", "VGL101 1:9-10 expected `when`, found `f`"),
    ("rule r: when f()", "VGL101 1:17-17 expected `then`, found the end of the item"),
    ("rule r: when f() then", "VGL101 1:22-22 expected `pass`, `hold` or `block`, found the end of the item"),
    ("rule r: when f() then warn", "VGL101 1:23-27 expected `pass`, `hold` or `block`, found `warn`"),
    (
        "rule r: when f() then hold record",
        "VGL101 1:34-34 expected a name or a string, found the end of the item",
    ),
    (
        "rule r: when f() then hold a",
        "VGL101 1:28-29 expected `record`, `relaxes` or the end of the item, found `a`",
    ),
    ("statement S: abs(a) then hold", "VGL101 1:21-25 expected `after`, `where` or the end of the item, found `then`"),
    ("let A = {a}\npolicy p", "VGL101 2:1-9 `policy` names the file and stands once, before every item"),
    (f"let A = ({'x' * 60})", "VGL101 1:9-10 expected a value, a name, a regular expression or `{`, found `(`"),
    (f"let {'9' * 60}", f"VGL101 1:5-65 expected a name, found `{'9' * 37}…`"),
    ("let A = {a} /// no\nlet B = {b}", "VGL105 1:13-19 this documentation comment belongs to no item"),
    ("let A = {\n/// no\na}", "VGL105 2:1-7 this documentation comment belongs to no item"),
]


@pytest.mark.parametrize(("text", "expected"), CASES, ids=[text for text, _ in CASES])
def test_message(text: str, expected: str) -> None:
    assert findings(text) == [expected]


FIXED = [
    ('use "./rules/shared.vgl"', "a file beside this one is `use .rules.shared`", "use .rules.shared"),
    ("statement S: abs(a()&&b())", "conjunction is written `and`", "statement S: abs(a() and b())"),
    ("statement S: abs((a()||b()))", "disjunction is written `or`", "statement S: abs((a() or b()))"),
    ("statement S: always a()->b()", "implication is written `implies`", "statement S: always a() implies b()"),
    ("# a comment\nlet A = {a}", "a comment starts with `//`", "// a comment\nlet A = {a}"),
    (
        "-- a comment\nlet A = {a}",
        "a comment starts with `//`, what has to hold is `statement NAME: …`",
        "// a comment\nlet A = {a}",
    ),
    ("param p = 5", "the type stands before the value: `param NAME: number = …`", "param p: number = 5"),
    ('param p = "a"', "the type stands before the value: `param NAME: number = …`", 'param p: text = "a"'),
    ("param p = true", "the type stands before the value: `param NAME: number = …`", "param p: bool = true"),
    ("param p = {a}", "the type stands before the value: `param NAME: number = …`", "param p: set = {a}"),
    ("statement S: abs(a == 3)", "equality is written `=`", "statement S: abs(a = 3)"),
    ("statement S: abs(a && b)", "conjunction is written `and`", "statement S: abs(a and b)"),
    ("statement S: abs(a || b)", "disjunction is written `or`", "statement S: abs(a or b)"),
    ("statement S: abs(!a)", "negation is written `not`", "statement S: abs(not a)"),
    ("statement S: always a -> b", "implication is written `implies`", "statement S: always a implies b"),
    ("statement S: always a => b", "implication is written `implies`", "statement S: always a implies b"),
    ("statement S: abs(a => 3)", "at least is written `>=`", "statement S: abs(a >= 3)"),
    ("statement S: abs(a =~ /b/)", "matching is written `~`", "statement S: abs(a ~ /b/)"),
    ("statement S: abs(a <> 3)", "inequality is written `!=`", "statement S: abs(a != 3)"),
    ("statement S: precc(a, b)", "did you mean `prec`?", "statement S: prec(a, b)"),
    ("statment S: abs(a)", "did you mean `statement`?", "statement S: abs(a)"),
    (
        "statement S: abs(action > 3)",
        '`action` is a keyword; an argument of that name is written `"action"`',
        'statement S: abs("action" > 3)',
    ),
    ('tests "t" { run {} }', "did you mean `test`?", 'test "t" { run {} }'),
    ('test "t" { runs {} }', "did you mean `run`?", 'test "t" { run {} }'),
    ('test "t" { expect A violatd }', "did you mean `violated`?", 'test "t" { expect A violated }'),
    ('test "t" { run { a(x = M) } }', "text stands in double quotes", 'test "t" { run { a(x = "M") } }'),
    (
        'test "t" { run { a() => ok } }',
        "how an event ended is written `-> ok` or `-> error`",
        'test "t" { run { a() -> ok } }',
    ),
    ('statement S: abs(a is "b")', "this is written `=`", 'statement S: abs(a = "b")'),
    ('statement S: abs(a includes "b")', "this is written `contains`", 'statement S: abs(a contains "b")'),
    ("statement S: abs(a = /b/)", "a regular expression is matched by `~`", "statement S: abs(a ~ /b/)"),
    ("statement S: abs(a != /b/)", "a regular expression is matched by `!~`", "statement S: abs(a !~ /b/)"),
    (
        "statement S: abs(a matches /b/)",
        "globs, in quotes, and regular expressions, between slashes, are matched by `~`",
        "statement S: abs(a ~ /b/)",
    ),
    (
        'statement S: abs(a endswith ".b")',
        'a glob matches the whole text: `~ "*.b"`',
        'statement S: abs(a ~ "*.b")',
    ),
    ('statement S: abs(a > "5")', "what is ordered is a number, without quotes", "statement S: abs(a > 5)"),
    (
        "statement S: abs(a(status = failed))",
        'a status is `ok` or `error`; an argument called status is written `"status"`',
        "statement S: abs(a(status = error))",
    ),
    (
        "statement S: atmost 3 (a)",
        "the number stands in brackets: `atmost[3](…)`",
        "statement S: atmost[3] (a)",
    ),
    (
        "statement S: atmost[3](a) per 1h",
        "the time in which calls are counted is `in 1h`",
        "statement S: atmost[3](a) in 1h",
    ),
    ("statement S = abs(a)", "a colon follows the name", "statement S: abs(a)"),
    ("rule r: if a() then hold", "a rule begins with `when`", "rule r: when a() then hold"),
    ("rule r: when a() block", "what becomes of the call follows `then`", "rule r: when a() then block"),
    (
        "statement S: abs(not = 3)",
        '`not` is a keyword; an argument of that name is written `"not"`',
        'statement S: abs("not" = 3)',
    ),
]


@pytest.mark.parametrize(("text", "hint", "after"), FIXED, ids=[text for text, _, _ in FIXED])
def test_what_was_meant_is_offered_as_a_fix(text: str, hint: str, after: str) -> None:
    assert only(text).help == hint
    assert mended(text) == after
    assert not findings(after)


UNCERTAIN = [
    "statement S: abs(a(k = 'it''s'))",
    "statement S: abs(a(k = 'say \"x\"'))",
    "statement S: abs(Bash(python -c print(1)))",
    "statement S: atmost[1,000](a())",
    "statement S: always a() implies earlier[1,100] b()",
    "statement S: always a() implies earlier[1,30s] b()",
    "statement S: abs(a(url:host is null))",
    "statement S: abs(a(url:length between 1 and 5))",
    "statement S: abs(a(k in (NAMES)))",
    'statement S: abs(a(path|re: "x.*"))',
    'statement S: abs(a(text icontains "X"))',
    "param p = q",
    "statement S: abs(a(k in [1 2]))",
    "statement S: abs(a(k in [1, {2}]))",
    "let A = [",
    "statement S: abs(a(k = 'open))",
    'use "https://a.example/x"',
]


@pytest.mark.parametrize("text", UNCERTAIN)
def test_no_fix_is_offered_where_several_things_may_be_meant(text: str) -> None:
    assert only(text).help is not None
    assert only(text).fix is None


HINTS = [
    ("- a", "a comment starts with `//`, what has to hold is `statement NAME: …`"),
    ("statement S: prec(a())", "`prec(trigger, guard)` takes two: what is done, and what must have come first"),
    (
        "statement S: until(a(), b())",
        "`until(trigger, resolver, forbidden)` takes three: what is forbidden in between stands last",
    ),
    (
        "statement S: bresp[3](a())",
        "`bresp[3](trigger, response)` takes two: what is done, and what must follow",
    ),
    ("statement S: abs(a(), b())", "several are forbidden by `abs(a() or b())`, or by a statement each"),
    ("statement S: abs(a = 'b')", "strings stand in double quotes"),
    ("let A = {a};", "nothing separates items but white space"),
    ("# a comment", "a comment starts with `//`"),
    ("statement S: abs(status != ok)", "negate the whole condition: `not status …`"),
    ("statement S: abs(action not in {a})", "negate the whole condition: `not action …`"),
    (
        "statement S: abs(status = success)",
        'a status is `ok` or `error`; an argument called status is written `"status"`',
    ),
    ('test "t" { run { "a b"() } }', 'such a name follows an id: `e1: "a b"(…)`'),
    ('test "t" { run { a(k = [1, 2]) } }', "lists and sets stand in braces, such as `{1, 2}`"),
    ('test "t" { run { a() } expect A violated e1 }', "the events at fault follow `at`"),
    ('test "t" { run { a() expect A violated }', "close the run before `expect` with `}`"),
    (
        "statement S: abs(a unless b)",
        "an exception is a condition `and not …`; what must come first is the guard of `prec(trigger, guard)`",
    ),
    (
        "statement S: abs(a) unless b",
        "an exception is a condition `and not …`; what must come first is the guard of `prec(trigger, guard)`",
    ),
    (
        "statement S: always a unless b",
        "an exception is a condition `and not …`; what must come first is the guard of `prec(trigger, guard)`",
    ),
    (
        "statement S: always if a then b",
        "for what follows `resp(A, B)`, for what must come first `prec(A, B)`, of one event `always A implies B`",
    ),
    (
        "statement S: abs(a between b)",
        "what is forbidden from one event to another is `until(trigger, resolver, forbidden)`",
    ),
    (
        "statement S: abs(a) when b",
        "a statement that applies only after something ends with `after …`, one for some values with `where …`",
    ),
    ("statement S: abs(a) then hold", "what becomes of a call is said by a rule: `rule r: when … then hold`"),
    ('statement S: abs(a not like "b")', "a test is negated as a whole, `not k ~ …`, or by `!~`, `!=`, `not in`"),
    ('statement S: abs(a in "b")', 'a set stands in braces: `{"b"}`; what contains it is `contains "b"`'),
    ("statement S: abs(a >= 5 EUR)", "a number has no unit: what it counts is the argument's matter"),
    (
        'statement S: abs(a like "%b%")',
        "globs, in quotes, and regular expressions, between slashes, are matched by `~`",
    ),
    ('let A = "a', 'add the closing `"`'),
    ("pattern p = a ~ /b", "close it with `/`; a slash inside is written `\\/`"),
    ("let A = {a} /// no", "put it on its own line before the item, or write `//`"),
]


@pytest.mark.parametrize(("text", "hint"), HINTS, ids=[text for text, _ in HINTS])
def test_hint(text: str, hint: str) -> None:
    assert only(text).help == hint
