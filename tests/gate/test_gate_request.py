"""Requests are read strictly: nothing is decided about what is not certainly understood."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vigil_lang.gate.request import MAX_BYTES, BadRequest, read_request

CALL: dict[str, Any] = {"run": "r", "agent": "a", "action": {"tool": "t", "input": {"x": 1}}}


def test_a_call() -> None:
    found = read_request(json.dumps(CALL | {"user": "ann", "context": {"desk": "emea", "user": {"level": 3}}}))
    assert (found.run, found.agent, found.tool, found.input, found.user) == ("r", "a", "t", {"x": 1}, "ann")
    assert found.context == {"context.desk": ("emea",), "context.user.level": ("3",)}
    assert found.action == {"tool": "t", "input": {"x": 1}}


def test_what_an_enforcement_point_says_of_a_call() -> None:
    said = {"call": "toolu_1", "session": "sub", "parent": "toolu_0", "directory": "/srv", "observe": True}
    found = read_request(json.dumps(CALL | said))
    assert {name: getattr(found, name) for name in said} == said
    plain = read_request(json.dumps(CALL))
    assert (plain.call, plain.session, plain.parent, plain.directory, plain.observe) == (None, "", None, None, False)


def test_events() -> None:
    events = [{"action": "rm", "kinds": ["file.delete"], "args": {"path": ["/a", "/b"]}}]
    found = read_request(json.dumps({"run": "r", "agent": "a", "events": events}))
    assert found.tool == "rm"
    assert found.events[0].args == {"path": ("/a", "/b")}
    assert found.action == {"tool": "rm", "events": events}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no JSON: Expecting value in line 1, column 1"),
        ("{", "no JSON"),
        ("[]", "no JSON object"),
        ('{"run":"r","run":"q"}', "the member 'run' stands twice"),
        ('{"run":"r","agent":"a","action":{"tool":"t","input":{"a":{"b":1,"b":2}}}}', "the member 'b' stands twice"),
        (json.dumps(CALL | {"mode": "pass"}), "not known: 'mode'"),
        (json.dumps(CALL | {"schema": "vigil.request/2"}), "`schema` has to be vigil.request/1"),
        (json.dumps(CALL | {"run": 7}), "`run` has to be a text that is not empty"),
        (json.dumps(CALL | {"run": ""}), "`run` has to be a text that is not empty"),
        (json.dumps(CALL | {"agent": "x" * 257}), "`agent` has more than 256 characters"),
        (json.dumps(CALL | {"events": []}), "either `action` or `events`"),
        (json.dumps({"run": "r", "agent": "a"}), "either `action` or `events`"),
        (json.dumps({"run": "r", "agent": "a", "events": []}), "a list that is not empty"),
        (json.dumps({"run": "r", "agent": "a", "events": [{"action": "x", "status": "ok"}]}), r"`events\[0\]` is"),
        (json.dumps({"run": "r", "agent": "a", "events": [{"kinds": []}]}), r"`events\[0\]` is no event"),
        (json.dumps(CALL | {"action": {"tool": "t", "input": []}}), "`action.input` is no object"),
        (json.dumps(CALL | {"action": {"input": {}}}), "`action.tool` has to be a text"),
        (json.dumps(CALL | {"context": {"tier": 0}}), "`context.tier` is for the gate to fill in"),
        (json.dumps(CALL | {"outcomes": "maybe"}), "`outcomes` is"),
        (json.dumps(CALL | {"observe": 1}), "`observe` is true or false"),
        (json.dumps(CALL | {"call": ""}), "`call` has to be a text that is not empty"),
        (json.dumps(CALL | {"session": 1}), "`session` has to be a text"),
        ('{"run":"r","agent":"a","action":{"tool":"t","input":{"x":NaN}}}', "NaN is no number"),
        ('{"run":"r","agent":"a","action":{"tool":"t","input":{"x":1e400}}}', "not finite"),
        ('{"run":"r","agent":"a","action":{"tool":"t","input":{"x":1e' + "9" * 20 + "}}}", "beyond"),
        ('{"run":"r","agent":"a","action":{"tool":"t","input":{"x":0e-' + "9" * 20 + "}}}", "more digits"),
        ('{"run":"r","agent":"a","action":{"tool":"t","input":{"x":9007199254740992}}}', "beyond"),
        ('{"run":"r","agent":"a","action":{"tool":"t","input":{"x":' + "9" * 5000 + "}}}", "beyond"),
        ('{"run":"r","agent":"a","action":{"tool":"t","input":{"x":"\\ud800"}}}', "half of a character"),
        ('{"run":' + "[" * 100_000, "nested too deeply"),
    ],
)
def test_bad_requests_are_refused_with_their_fault(text: str, why: str) -> None:
    with pytest.raises(BadRequest, match=why):
        read_request(text)


def test_bytes_that_are_no_text() -> None:
    with pytest.raises(BadRequest, match="not UTF-8: byte 1"):
        read_request(b'"\xff"')


def test_size_has_a_limit() -> None:
    with pytest.raises(BadRequest, match="more than 4,000,000 bytes"):
        read_request(b" " * (MAX_BYTES + 1))


@given(st.binary(max_size=60) | st.text(max_size=60))
def test_whatever_it_is_the_answer_is_a_request_or_a_refusal(data: bytes | str) -> None:
    with pytest.raises(BadRequest):
        read_request(data)
