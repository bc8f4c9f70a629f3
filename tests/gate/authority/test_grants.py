"""The text of a grant: one condition on a pending call."""

from __future__ import annotations

import json

import pytest

from vigil_lang.diagnostics import InputError
from vigil_lang.gate.authority.details import grant_of_details
from vigil_lang.gate.authority.grants import grant_condition
from vigil_lang.semantics import core


@pytest.mark.parametrize(
    "text",
    [
        "net.request()", 'net.request(url ~ "https://example.com/*")', "file.read() or file.write()",
        "payment.transfer(amount <= 500)", 'action in {file.read, "my tool"}', 'action ~ "net.*"', "not shell.run()",
        'a(x contains "y")', "a(x in {1, 2, y})", "a(has x)", 'a(x:host = "h")', 'a(x with (y = "1"))',
        "context.tier < 2",
        'a(x ~ /^[a-z]+$/i)', "a() // with a remark", "a()\n  and b = 1\n", "action = foo", 'a(")" = "(")',
    ],
)  # fmt: skip
def test_a_condition_on_a_call_is_a_grant(text: str) -> None:
    assert grant_condition(text) is not None


def test_a_grant_means_what_the_language_says() -> None:
    assert grant_condition("a(x = 1)") == core.AndC(
        (core.ActionIn(frozenset({"a"})), core.In(core.Reads("x"), frozenset({"1"})))
    )


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("", "1:1", "the grant is empty"),
        ("  \n", "1:1", "the grant is empty"),
        ("// a remark", "1:12", "expected a condition"),
        ("a(", "1:3", "expected `)`"),
        ("a())", "1:4", "closes nothing"),
        ("a()) after (b()", "1:4", "closes nothing"),
        ("a()\nstatement x: abs(b())", "1:4", "expected `)`"),
        ("a(), b()", "1:4", "expected `)`"),
        ("a(x = y)", "1:7", "a grant has no variables, and `y` is one"),
        ("a(x < y)", "1:7", "a grant has no variables"),
        ("a(x contains y)", "1:14", "a grant has no variables"),
        ("a(x with (y = z))", "1:15", "a grant has no variables"),
        ("not (b() or a(x = y))", "1:19", "a grant has no variables"),
        ("a(x in s)", "1:8", "no set named `s`"),
        ("pattern_of_a_module", "1:1", "no pattern named"),
        ("a(status = ok)", "1:3", "which has no status yet"),
        ('a(output ~ "x")', "1:3", "which has no output yet"),
        ("a(has output)", "1:7", "which has no output yet"),
        ('a(output:json("x") > 1)', "1:3", "which has no output yet"),
        ("a() implies b()", "1:1", "`implies` stands only"),
        ("earlier a()", "1:1", "`earlier` stands only"),
        ("a(x:nope = 1)", "1:5", "there is no view `nope`"),
        ("a(x = \"\u202e\")", "1:8", "can hide or reorder text"),
        ("(" * 100 + "a()" + ")" * 100, "1:", "nested more than"),
        ("a(x ~ /(/)", "1:", ""),
        ("context.teir < 2", "1:1", "the context has no `context.teir`"),
        ("context.tier > 3", "1:", "`context.tier` is never > 3"),
        ("violates organisation.R3", "1:1", "a grant names no statement"),
        ("a() and not violates R3", "1:22", "no statement named `R3`"),
        ("a()) then pass relaxes x rule y: when (b()", "1:4", "closes nothing"),
        ("a()\nrule x: when b() then pass", "1:4", "expected `)`"),
    ],
)  # fmt: skip
def test_anything_else_is_refused_at_its_place(text: str, place: str, message: str) -> None:
    with pytest.raises(InputError) as refused:
        grant_condition(text)
    first = refused.value.diagnostics[0]
    line, column = first.source.position(first.span.start)
    assert (first.source.path, first.source.text) == ("<grant>", text)
    assert f"{line}:{column}".startswith(place)
    assert message in first.message


# --- RFC 9396 ------------------------------------------------------------------------------------------------------


def granted(*details: object) -> str:
    text = grant_of_details(json.dumps(details).encode(), "details.json")
    assert grant_condition(text)
    return text


def test_authorization_details_are_a_condition() -> None:
    assert granted({"type": "net.request"}) == "net.request()"
    assert granted({"type": "file", "actions": ["read", "write"]}) == "file.read() or file.write()"
    assert granted(
        {"type": "payment.transfer", "to": "acct_1", "amount": 5, "now": True, "currency": ["EUR", "USD"]}
    ) == ('payment.transfer("to" = "acct_1", "amount" = 5, "now" = true, "currency" in {"EUR", "USD"})')
    assert granted({"type": "my tool"}, {"type": "x.y"}) == '"my tool"() or x.y()'
    assert grant_of_details(b'{"type": "a.b"}', "d") == "a.b()"


def test_a_location_is_a_host_or_one_url() -> None:
    assert granted({"type": "net.request", "locations": ["https://example.com/"]}) == (
        'net.request(url = "https://example.com" or url ~ "https://example.com/*")'
    )
    assert granted({"type": "net.request", "locations": ["https://example.com/a?b=1", "http://x:8080"]}) == (
        'net.request(url = "https://example.com/a?b=1" or url = "http://x:8080" or url ~ "http://x:8080/*")'
    )


def test_texts_of_details_stay_texts() -> None:
    text = granted({"type": 'a" or b', "x": '") or c(y = "', "actions": ["\n"], 'k" = 1 or "': "\\"})
    condition = grant_condition(text)
    assert condition == core.AndC(
        (
            core.ActionIn(frozenset({'a" or b.\n'})),
            core.In(core.Reads("x"), frozenset({'") or c(y = "'})),
            core.In(core.Reads('k" = 1 or "'), frozenset({"\\"})),
        )
    )


@pytest.mark.parametrize(
    ("details", "message"),
    [
        ([], "a JSON array of 1 to 100 objects"),
        ("x", "a JSON array"),
        ([1], "detail 1: it is no object"),
        ([{}], "a text `type`"),
        ([{"type": "a.b"}, {"type": 1}], "detail 2"),
        ([{"type": "a", "actions": []}], "`actions` is a list of texts"),
        ([{"type": "a", "actions": "read"}], "`actions` is a list of texts"),
        ([{"type": "a", "actions": [1]}], "`actions` is a list of texts"),
        ([{"type": "a", "locations": ["ftp://x/"]}], "no http or https URL"),
        ([{"type": "a", "locations": ["https://u@x/"]}], "no http or https URL"),
        ([{"type": "a", "locations": ["https://x*/"]}], "without wildcards"),
        ([{"type": "a", "locations": ["https://[x"]}], "no http or https URL"),
        ([{"type": "a", "datatypes": ["x"]}], "`datatypes` says nothing about the arguments"),
        ([{"type": "a", "identifier": "x"}], "`identifier` says nothing"),
        ([{"type": "a", "privileges": ["admin"]}], "`privileges` says nothing"),
        ([{"type": "a", "instructedAmount": {"currency": "EUR", "amount": "1"}}], "`instructedAmount` is neither"),
        ([{"type": "a", "x": None}], "`x` is neither"),
        ([{"type": "a", "x": []}], "`x` is neither"),
        ([{"type": "a", "x": [[1]]}], "`x` is neither"),
        ([{"type": "a"}] * 101, "1 to 100"),
    ],
)
def test_what_no_condition_says_is_refused(details: object, message: str) -> None:
    with pytest.raises(InputError, match="VGL641") as refused:
        grant_of_details(json.dumps(details).encode(), "details.json")
    assert message in str(refused.value)


def test_details_that_can_be_read_in_two_ways_are_refused() -> None:
    with pytest.raises(InputError, match="`type` stands twice"):
        grant_of_details(b'[{"type": "a", "type": "b"}]', "details.json")
