"""Rules of spec.md that none of its examples shows."""

from __future__ import annotations

import json
from typing import Any

import pytest

from vigil_lang.diagnostics import InputError, Source
from vigil_lang.engines.smt.verify import verify
from vigil_lang.runs import read_trace, read_traces
from vigil_lang.semantics import denotation
from vigil_lang.semantics.policy import Policy, read_policy
from vigil_lang.syntax import parse
from vigil_lang.trace import Signature, Trace, merge, observe
from vigil_lang.trace.signature_file import signature_from_json


def policy(text: str) -> Policy:
    read = read_policy(Source("policy.vgl", text))
    assert not read.errors
    return read


def run(*events: dict[str, Any]) -> Trace:
    return read_trace([json.dumps(event).encode() + b"\n" for event in events], "run.jsonl", "vigil")


def offenders(form: str, *events: dict[str, Any]) -> list[str]:
    """The ids of the events at which a statement fails, on which both engines agree."""
    read, trace = policy(f"statement S: {form}\n"), run(*events)
    (statement,) = read.statements
    found = [trace.events[at].id for at, _ in denotation.violations(statement.requirement, trace)]
    (judged,) = verify([read], trace).statements
    assert [offence.event for offence in judged.offending] == found
    return found


def parses(form: str) -> bool:
    return not parse(Source("policy.vgl", f"statement S: {form}\n")).diagnostics


@pytest.mark.parametrize(
    ("name", "bare"),
    [("file.read", True), ("afl-fuzz", True), ("_x1", True), ("a.-b", False), ("a-", False), ("1a", False)],
)
def test_what_is_no_name_is_written_as_a_string(name: str, bare: bool) -> None:
    """R2.4-1"""
    assert parses(f"abs({name}())") is bare
    assert offenders(f'abs("{name}"())', {"action": name}, {"action": name.upper()}) == ["e1"]


@pytest.mark.parametrize("form", ["abs(a(n > 3x))", "abs(a(n > 3_))", "bresp[3sx](a(), b())", "abs(a(n ~ //))"])
def test_nothing_follows_a_number_directly_and_no_expression_is_empty(form: str) -> None:
    """R2.5-1"""
    assert not parses(form)


@pytest.mark.parametrize(
    ("duration", "seconds"), [("1500ms", 1.5), ("2s", 2), ("3m", 180), ("1h", 3600), ("2d", 172_800)]
)
def test_durations(duration: str, seconds: float) -> None:
    """R2.5-4"""
    form = f"bresp[{duration}](start(), stop())"
    assert offenders(form, {"action": "start", "time": 0}, {"action": "stop", "time": seconds}) == []
    assert offenders(form, {"action": "start", "time": 0}, {"action": "stop", "time": seconds + 0.001}) == ["e1"]


def test_truth_values_are_their_texts() -> None:
    """R2.5-4"""
    assert offenders("abs(a(x = true))", {"action": "a", "args": {"x": True}}, {"action": "a"}) == ["e1"]


def test_annotations_change_no_meaning() -> None:
    """R4.7-1"""
    plain = "statement S: abs(a(x = 1))\n"
    notes = '@source("A.md", "No a.")\n@severity(info)\n@on_violation(warn)\n@message("no")\n'
    trace = run({"action": "a", "args": {"x": 1}})
    for text in (plain, notes + plain):
        (statement,) = policy(text).statements
        assert denotation.violations(statement.requirement, trace) == [(0, {})]


def test_a_header_begins_another_run() -> None:
    """R5.3-4"""
    lines = ['{"vigil_trace":1,"run":"r1"}', '{"action":"a"}', '{"vigil_trace":1,"run":"r2"}', '{"action":"b"}']
    traces = read_traces([line.encode() + b"\n" for line in lines], "runs.jsonl", "vigil")
    found = [[(event.id, event.action) for event in trace.events] for trace in traces]
    assert found == [[("e1", "a")], [("e1", "b")]]


DECLARED = signature_from_json(
    {
        "schema": "vigil.signature/1",
        "origin": "declared",
        "actions": {"pay": {"args": {"to": {"values": ["ada"]}, "sum": {}}}},
    }
)


def observed(*events: dict[str, Any]) -> Signature:
    return observe([run(*events)])


def test_signatures_are_merged_by_union() -> None:
    """R6-2"""
    one = observed({"action": "pay", "args": {"to": "bob"}})
    other = observed({"action": "pay", "args": {"to": "eve"}}, {"action": "ask", "args": {"q": "why"}})
    both = merge(one, other)
    assert both.origin == "observed"
    assert set(both.actions) == {"pay", "ask"}
    assert set(both.actions["pay"].args["to"].values or ()) == {"bob", "eve"}
    mixed = merge(DECLARED, other)
    assert mixed.origin == "declared"
    assert mixed.actions["pay"].args["sum"].values is None, "open in one is open in both"
    assert mixed.actions["ask"].args["q"].values is None, "what is observed only adds names"


A, B, C = {"action": "a"}, {"action": "b"}, {"action": "c"}


@pytest.mark.parametrize(
    ("form", "found"),
    [
        ("abs(c())", ["e2", "e3", "e5"]),
        ("prec(c(), b())", ["e2", "e3"]),
        ("resp(a(), c())", ["e6"]),
        ("until(a(), b(), c())", ["e1"]),
    ],
)
def test_the_offending_events_are_all_that_fail_in_the_order_of_the_run(form: str, found: list[str]) -> None:
    """R7.9-1"""
    assert offenders(form, A, C, C, B, C, A) == found


LARGE = "a" * 16_000_001
DEEP = "[" * 100_000


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ('abs(a(text:json("x") = 1))', LARGE),
        ("abs(a(text:find(/b/) = 1))", LARGE),
        ("abs(a(text:without(/b/) = 1))", LARGE),
        ("abs(a(text:find(/./) = b) and text:find(/./) = b)", "x" * 10_001),
        ('abs(a(text:json("") = 1))', json.dumps([2] * 10_001)),
        ('abs(a(text:json("[*]") = 1))', json.dumps([2] * 10_001)),
        ('abs(a(text:json("") = 1))', DEEP),
        ("abs(a(text with (x = 1)))", '{"x":' + DEEP),
        ("abs(a(text with (x = 1)))", '{"x":' + "[" * 101 + "]" * 101 + "}"),
    ],
)
def test_a_view_passes_nothing_over(form: str, text: str) -> None:
    """R7.12-4"""
    with pytest.raises(InputError) as refused:
        offenders(form, {"action": "a", "args": {"text": text}})
    assert [d.code for d in refused.value.diagnostics] == ["VGL003"]


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("abs(a(text:length = 16000001))", LARGE),
        ("abs(a(text:find(/x/):count = 10000))", "x" * 10_000),
        ('abs(a(text:json("[*]"):count = 10000))', json.dumps([2] * 10_000)),
        ('abs(a(text:json(""):length = 998))', "[" * 500 + "]" * 500),
    ],
)
def test_a_view_looks_at_what_is_within_the_limits(form: str, text: str) -> None:
    """R7.12-4"""
    assert offenders(form, {"action": "a", "args": {"text": text}}) == ["e1"]


def test_a_sum_is_exact() -> None:
    """R7.8-6"""
    cents = [{"action": "pay", "args": {"amount": "0.1"}}] * 10
    assert offenders("budget[1](pay(), amount)", *cents) == []
    assert offenders("budget[1](pay(), amount)", *cents, {"action": "pay", "args": {"amount": "1e-9999"}}) == ["e11"]
    assert offenders("budget[1](pay(), amount)", {"action": "pay", "args": {"amount": "1e99999"}}) == ["e1"]


def test_names_and_kinds_are_tested_alike() -> None:
    """R9-3"""
    events = [{"action": "cat", "kinds": ["file.read"]}, {"action": "file.read", "kinds": ["file.read"]}, A]
    for form in ("file.read()", "action = file.read", "action in {file.read}", 'action ~ "file.*"'):
        assert offenders(f"abs({form})", *events) == ["e1", "e2"]
    assert offenders('abs(not action ~ "file.*")', *events) == ["e3"]


def test_the_empty_set() -> None:
    """R9-5"""
    events = [{"action": "a", "args": {"k": 1}}, {"action": "a", "args": {"k": []}}, A]
    assert offenders("abs(k not in {})", *events) == ["e1"]
    assert offenders("abs(k in {})", *events) == offenders("abs(action in {})", *events) == []


def test_only_a_resolution_may_be_the_triggers_own_event() -> None:
    """R9-6"""
    both = {"action": "x", "kinds": ["a", "b"]}
    assert offenders("rslv(a(), b())", both) == []
    assert offenders("prec(a(), b())", both) == offenders("resp(a(), b())", both) == ["e1"]
    assert offenders("until(a(), c(), b())", both) == []


def test_an_obligation_that_is_open_at_the_end_is_violated() -> None:
    """R9-7"""
    assert offenders("resp(a(), b())", A, B, A) == ["e3"]
