"""Signatures: observed from runs, merged, written to files and read from whatever holds one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from vigil_lang.abstraction.run import Options
from vigil_lang.diagnostics import InputError
from vigil_lang.signatures import load_signature, read_signature
from vigil_lang.trace import Action, Argument, Event, Signature, Trace, merge, observe
from vigil_lang.trace.signature_file import signature_from_json, signature_to_json

RUNS = Path(__file__).parent.parent / "fixtures" / "runs"
TEXT: Any = frozenset({"text"})
NUMBER: Any = frozenset({"number"})


def test_observe() -> None:
    trace = Trace(
        (
            Event("e1", "a", "e1", {"n": ("6",), "f": ("x", "1.5"), "b": ("true",)}, output="out", kinds=("k",)),
            Event("e2", "a", "e2", {"n": ("7",), "f": ("x",), "none": ()}),
            Event("e3", "b", "e3", kinds=("l",)),
        )
    )
    assert observe([trace]) == Signature(
        {
            "a": Action(
                {
                    "n": Argument(NUMBER, False, frozenset({"6", "7"})),
                    "f": Argument(TEXT | NUMBER, True, frozenset({"x", "1.5"})),
                    "b": Argument(frozenset({"bool"}), False, frozenset({"true"})),
                    "none": Argument(frozenset(), True, frozenset()),
                },
                frozenset({"k"}),
            ),
            "b": Action({}, frozenset({"l"})),
        },
        "observed",
        frozenset({"out"}),
    )


def test_observe_keeps_a_limited_number_of_values_but_every_type() -> None:
    events = [Event(f"e{n}", "a", f"e{n}", {"n": (str(n),)}) for n in range(5)]
    late = Event("e9", "a", "e9", {"n": ("late",)})
    full = observe([Trace(tuple(events))], limit=5).actions["a"].args["n"]
    over = observe([Trace(tuple(events)), Trace((late,))], limit=4).actions["a"].args["n"]
    assert full == Argument(NUMBER, False, frozenset("01234"))
    assert over == Argument(TEXT | NUMBER, False, None)


def test_merge() -> None:
    declared = Signature({"a": Action({"x": Argument(TEXT)}, open=True), "b": Action()}, "declared")
    observed = Signature(
        {
            "a": Action({"x": Argument(NUMBER, True, frozenset("1")), "y": Argument(TEXT, False, frozenset("z"))}),
            "c": Action({"x": Argument(TEXT, False, frozenset("z"))}, frozenset({"k"})),
        },
        "observed",
        frozenset({"out"}),
    )
    assert merge(declared, observed) == Signature(
        {
            "a": Action({"x": Argument(TEXT | NUMBER, True), "y": Argument(frozenset())}, open=True),
            "b": Action(),
            "c": Action({"x": Argument(frozenset())}, frozenset({"k"}), open=True),
        },
        "declared",
    )
    assert merge(observed, observed) == observed == merge(observed)


def test_a_signature_file() -> None:
    signature = Signature(
        {"b": Action(), "a": Action({"y": Argument(TEXT | NUMBER, True, frozenset("qp")), "x": Argument(TEXT)})},
        "declared",
    )
    text = signature_to_json(signature)
    assert text == (
        '{\n  "schema": "vigil.signature/1",\n  "origin": "declared",\n  "actions": {\n'
        '    "a": {\n      "kinds": [],\n      "open": false,\n      "args": {\n'
        '        "x": {\n          "types": [\n            "text"\n          ],\n'
        '          "many": false,\n          "values": null\n        },\n'
        '        "y": {\n          "types": [\n            "number",\n            "text"\n          ],\n'
        '          "many": true,\n          "values": [\n            "p",\n            "q"\n          ]\n'
        '        }\n      }\n    },\n    "b": {\n      "kinds": [],\n      "open": false,\n'
        '      "args": {}\n    }\n  }\n}\n'
    )
    assert read_signature(text.encode(), "signature.json") == signature


def test_a_signature_written_by_hand_may_be_brief() -> None:
    brief = b'{"schema":"vigil.signature/1","origin":"declared","actions":{"a":{"args":{"x":{}}}}}'
    everything = Argument(frozenset({"text", "number", "bool"}))
    assert read_signature(brief, "s").actions == {"a": Action({"x": everything})}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"schema": "vigil.signature/2"}, "`/schema` must be `vigil.signature/1`"),
        ({"origin": "guessed"}, "`/origin` must be one of `observed`, `declared`"),
        ({"actions": []}, "`/actions` must be an object"),
        ({"actions": {"a/b": 1}}, "`/actions/a~1b` must be an object"),
        ({"actions": {"a": {"open": 1}}}, "`/actions/a/open` must be true or false"),
        ({"actions": {"a": {"kinds": "k"}}}, "`/actions/a/kinds` must be a list of strings"),
        ({"actions": {"a": {"args": {"x": {"types": ["int"]}}}}}, "`/actions/a/args/x/types` must be one of"),
        ({"actions": {"a": {"args": {"x": {"values": [1]}}}}}, "`/actions/a/args/x/values` must be a list of strings"),
    ],
)
def test_a_signature_file_at_fault(value: dict[str, Any], message: str) -> None:
    whole = {"schema": "vigil.signature/1", "origin": "observed", "actions": {}, **value}
    with pytest.raises(ValueError, match=message):
        signature_from_json(whole)


def test_a_signature_at_fault_is_an_input_error() -> None:
    with pytest.raises(InputError) as refused:
        read_signature(b'{"schema":"vigil.signature/1","origin":"observed"}', "s.json")
    (found,) = refused.value.diagnostics
    assert (found.code, found.message) == ("VGL604", "the signature is not valid: `/actions` must be an object")


EMPTY = Options(allow_empty=True)


def test_a_run_of_any_format_is_observed() -> None:
    signature = load_signature(RUNS / "claude-session.jsonl")
    assert signature.origin == "observed"
    assert {"Bash", "Write", "agent.message", "user.message", "cat", "echo", "ls"} == set(signature.actions)
    assert read_signature(b'{"action":"a"}', "one-line.json").actions == {"a": Action()}
    assert read_signature(b"", "empty.json", EMPTY) == Signature({}, "observed", frozenset())
    with pytest.raises(InputError, match="VGL605"):
        read_signature(b"", "empty.json")


def test_a_transcripts_list_of_tool_names_is_no_definition() -> None:
    init = b'{"type":"system","subtype":"init","session_id":"s","tools":["Bash"]}'
    assert read_signature(init, "run.jsonl", EMPTY) == Signature({}, "observed", frozenset())


def test_a_list_may_be_a_run() -> None:
    run = [{"id": 1, "source": "agent", "action": "run", "args": {"command": "ls"}}]
    assert read_signature(json.dumps(run).encode(), "run.json").actions.keys() == {"run"}


def test_what_holds_no_signature(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="VGL603"):
        read_signature(b'{"tools":["Bash"]}', "t.json")
    with pytest.raises(InputError, match="VGL001"):
        load_signature(tmp_path / "none")
    with pytest.raises(InputError, match="VGL002"):
        read_signature(b"[\xff]", "t.json")
