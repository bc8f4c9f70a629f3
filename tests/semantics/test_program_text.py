"""`program_text` stands for roles: a condition of it is one of any of them (spec R5.4-12)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vigil_lang import parse_policy, verify
from vigil_lang.diagnostics import InputError
from vigil_lang.trace import Event, Trace

WRITTEN = (
    "command {0} or code {0} or program_text {0} or file.write(text {0})",
    "program_text {0}",
)
TEXT = st.lists(st.sampled_from(["rm -rf /", "import os", "x", ""]), min_size=1, max_size=2)
EVENTS = st.builds(
    lambda args, kinds: Event.of("a", args, kinds=kinds),
    st.dictionaries(st.sampled_from(["command", "code", "text", "program_text", "path"]), TEXT, max_size=3),
    st.sampled_from([[], ["file.write"], ["shell.run", "process.run"]]),
)
TESTS = ('~ "*rm*"', '!~ "*rm*"', '= "x"', '!= "x"', "in {x, y}", 'contains "port"', ":length > 3", ':lower = "x"')


def offending(condition: str, trace: Trace) -> list[str]:
    policy = parse_policy(f"statement s: abs({condition})\n")
    return [each.event for _, each in verify(policy, trace).offences()]


@settings(max_examples=60)
@given(st.lists(EVENTS, min_size=1, max_size=4), st.sampled_from(TESTS), st.booleans())
def test_a_condition_of_it_is_one_of_any_of_its_roles(events: list[Event], test: str, negated: bool) -> None:
    spelled, short = (text.format(test).replace(" :", ":") for text in WRITTEN)
    trace = Trace.of(events)
    wanted = f"not ({spelled})" if negated else spelled
    # What is spelled out has `program_text` itself as one part, which is the same once more.
    assert offending(f"not {short}" if negated else short, trace) == offending(wanted, trace)


def test_what_is_said_is_no_program_text() -> None:
    said = Event.of("agent.message", {"text": "rm"})
    written = Event.of("Write", {"text": "rm"}, kinds=["file.write"])
    own = Event.of("run", {"program_text": "rm"})
    assert offending('program_text = "rm"', Trace.of([said, written, own])) == ["e2", "e3"]
    assert offending("has program_text", Trace.of([said, written, own])) == ["e2", "e3"]


def test_in_an_entry_and_after_where_the_name_means_itself() -> None:
    entry = Event.of("a", {"items": '{"code": "rm", "program_text": "x"}'})
    assert offending('items with (program_text = "rm")', Trace.of([entry])) == []
    assert offending('items with (program_text = "x")', Trace.of([entry])) == ["e1"]
    policy = parse_policy('statement s: abs(a(code = program_text)) where program_text != "rm"\n')
    run = Trace.of([Event.of("a", {"code": text}) for text in ("rm", "x")])
    assert [each.event for _, each in verify(policy, run).offences()] == ["e2"]


def test_entries_of_its_roles() -> None:
    code = Event.of("a", {"code": '{"op": "drop"}'})
    assert offending('program_text with (op = "drop")', Trace.of([code])) == ["e1"]


@pytest.mark.parametrize(
    "statement",
    [
        "atmost[3](a(), distinct program_text)",
        "budget[3](a(), program_text)",
        "atmost[1](a(), distinct program_text:lower)",
    ],
)
def test_a_form_does_not_count_what_several_roles_hold(statement: str) -> None:
    with pytest.raises(InputError) as refused:
        parse_policy(f"statement s: {statement}\n")
    assert [each.code for each in refused.value.diagnostics] == ["VGL215"]
