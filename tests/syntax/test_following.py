"""What can follow the beginning of an item: held against the parser itself."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.strategies import trees
from vigil_lang.diagnostics import Source
from vigil_lang.syntax import tree
from vigil_lang.syntax.following import MOST_MENDED, Beginning, following
from vigil_lang.syntax.grammar import grammar
from vigil_lang.syntax.lalr import Unexpected
from vigil_lang.syntax.parse import parse_with_tokens
from vigil_lang.syntax.print import to_text
from vigil_lang.syntax.scan import tokens
from vigil_lang.syntax.terminals import Body

# Every terminal is spelled by one of them at least.
_TEXTS = (
    *("abc", ".abc", '"abc"', "3", "3s", "/a/", ",", ":", "(", ")", "{", "}", "[", "]", "|", "=", "!=", "~", "!~"),
    *("<", "<=", ">", ">=", "->", "@", "∉", "¬", "∧", "in", "at", "abs", "prec", "bresp", "until", "atmost"),
    *("always", "text", "not", "and", "or", "implies", "earlier", "later", "has", "contains", "action", "status"),
    *("output", "ok", "error", "true", "false", "after", "use", "let", "param", "pattern", "statement", "test"),
    *("set", "run", "calls", "expect", "satisfied", "violated", "vacuous", "with"),
    *("rule", "when", "then", "hold", "record", "relaxes", "violates"),
)


def _begun(text: str) -> Beginning:
    return following(tokens(text))


@pytest.mark.parametrize(
    ("text", "accepted"),
    [
        ("statement S:", {"FORM1", "FORM2", "UNTIL", "BRESP", "ATMOST", "ATLEAST", "BUDGET", "ALWAYS"}),
        ("statement S: abs(a(f", {"AND", "COMMA", "CONTAINS", "EQ", "GE", "GT", "IMPLIES", "IN", "LE", "LPAR", "LT"}
         | {"MATCH", "NE", "NOT", "NOT_IN", "NOT_MATCH", "OR", "RPAR", "COLON", "WITH", "SINCE", "UNTIL", "WEAK"}),
        ("statement S: abs(a() ", {"AND", "IMPLIES", "OR", "RPAR", "SINCE", "UNTIL", "WEAK"}),
        ("statement S: abs(a())", {"$END", "AFTER", "WHERE"}),
        ("statement S: bresp[", {"NUMBER", "DURATION", "RANGE"}),
        ("statement S: abs(status", {"EQ"}),
        ("statement S: abs(f in", {"LBRACE", "NAME"}),
        ("statement S: abs(f in {a", {"COMMA", "RBRACE"}),
        ("statement S: abs(f ~", {"NAME", "REGEX", "STRING", "LBRACE"}),
        ("statement S: abs(f:", {"NAME"}),
        ("statement S: atmost[3](f)", {"$END", "AFTER", "WHERE", "SINCE", "INSIDE"}),
        ("statement S: always f weak", {"SINCE", "UNTIL"}),
        ("use", {"NAME", "RELATIVE"}),
        ("param p:", {"TYPE"}),
        ("@severity(", {"NAME", "NUMBER", "RPAR", "STRING"}),
        ('test "t" { expect A', {"ASKS", "COMMA", "SATISFIED", "VACUOUS", "VIOLATED"}),
        ("", {"AT", "LET", "PARAM", "PATTERN", "RULE", "STATEMENT", "TEST", "USE"}),
        ("rule r:", {"WHEN"}),
        ("rule r: when f() then", {"MODE"}),
        ("rule r: when f() then hold", {"$END", "RECORD", "RELAXES"}),
        ("rule r: when f() then hold record a", {"$END", "COMMA", "RELAXES"}),
        ("rule r: when f() then hold relaxes a", {"$END", "COMMA"}),
    ],
)  # fmt: skip
def test_what_can_follow(text: str, accepted: set[str]) -> None:
    assert _begun(text).accepted == accepted
    assert not _begun(text).mended


def test_parts_are_what_rules_have_made_so_far() -> None:
    begun = _begun("statement S: prec(Bash(command = x) and a in {b} and f ~")
    assert [part.symbol for part in begun.parts][3:5] == ["FORM2", "LPAR"]
    conjuncts = begun.parts[5:-2]
    assert [part.symbol for part in conjuncts[-1:]] == ["AND"]
    field = begun.parts[-2]
    assert (field.symbol, field.value) == ("field", tree.Field("f"))
    assert (field.start, field.end) == (53, 54)


def test_header_begins_with_policy() -> None:
    # spec R3.4-3
    assert following([], "header").accepted == {"AT", "POLICY"}
    assert following(tokens("policy p"), "header").accepted == {"$END"}


@pytest.mark.parametrize(
    ("text", "accepted"),
    [
        ("statement S: prec(Bash(command ~ ), Read(path =", {"FALSE", "NAME", "NUMBER", "STRING", "TRUE"}),
        ("statement S: prec(a() b() and status", {"EQ"}),
        ("statement S: prec(, f ~", {"NAME", "REGEX", "STRING", "LBRACE"}),
        ("statement S: abs(f == g and status", {"EQ"}),
        ("statement S abs(status", {"EQ"}),
        ("foo", {"AT", "LET", "PARAM", "PATTERN", "RULE", "STATEMENT", "TEST", "USE"}),
    ],
)
def test_what_is_wrong_before_does_not_count(text: str, accepted: set[str]) -> None:
    begun = _begun(text)
    assert begun.mended
    assert begun.accepted == accepted


def test_too_much_that_is_wrong_ends_it() -> None:
    assert _begun("statement S: abs(" + ") " * 2 + "] " * MOST_MENDED).accepted == frozenset()


@settings(deadline=None, max_examples=150)
@given(trees.items, st.data())
def test_agrees_with_the_parser(item: tree.Item, data: st.DataObject) -> None:
    body = parse_with_tokens(Source("x.vgl", to_text(tree.File(Source("x.vgl", ""), items=(item,))))).bodies[0]
    at = data.draw(st.integers(0, len(body.tokens)))
    begun = following(body.tokens[:at])
    assert not begun.mended
    assert (body.terminals[at] if at < len(body.tokens) else "$END") in begun.accepted
    for text in _TEXTS:
        tail = tokens(text)[0]
        try:
            grammar().parse(Body([*body.tokens[:at], tail]), "item")
            goes_on = True
        except Unexpected as error:
            goes_on = error.at_end
        spelled = set(grammar().terminals(text)) if tail.kind != "string" else {"STRING"}
        assert goes_on == (not spelled.isdisjoint(begun.accepted)), text


@settings(deadline=None, max_examples=150)
@given(st.lists(st.sampled_from([*_TEXTS, "$"])))
def test_no_tokens_make_it_raise(words: list[str]) -> None:
    following(tokens(" ".join(words)))
    following(tokens(" ".join(words)), "header")
