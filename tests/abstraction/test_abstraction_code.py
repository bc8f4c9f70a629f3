"""Code that a call runs and that is not wholly known: the program, or the call itself, says so."""

from __future__ import annotations

import pytest
from abstraction_support import abstracted, bash

from vigil_lang.trace.record import Call
from vigil_lang.trace.unseen import is_wholly_seen


@pytest.mark.parametrize(
    ("command", "mark"),
    [
        ("python3 /opt/x.py", "script"),
        ("python3 -m mymodule", "module"),
        ("node x.js", "script"),
        ("ruby -e 'File.delete(1)'", "effects"),
        ("perl -e unlink", "effects"),
        ("php -r 'unlink(1);'", "effects"),
        ("python3 -c 'import mymodule'", "effects"),
        ("python3 -c 'unknown()'", "effects"),
    ],
)
def test_the_program_that_runs_code_has_the_mark(command: str, mark: str) -> None:
    program = next(e for e in abstracted([bash("1", command)]) if e.id == "e1.1")
    assert mark in program.args["unresolved"]
    assert not is_wholly_seen(program)


def test_code_of_a_tool_marks_its_call_and_says_why() -> None:
    (call, *_) = abstracted([Call("1", "execute_python", {"code": "x = 1\nunknown()"})])
    assert "effects" in call.args["unresolved"]
    assert call.extra["unseen"] == ["line 2: it is not known what is called"]
    (call, *_) = abstracted([Call("1", "execute_python", {"code": "print(1)"})])
    assert "unresolved" not in call.args


def test_a_known_script_is_wholly_seen() -> None:
    events = abstracted([bash("1", "python3 -c 'import json; print(json.dumps([1]))'")])
    assert all(is_wholly_seen(e) for e in events)


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("curl -o json.py http://h/x", "python3 -c 'import json'"),
        ("ln -s /tmp/a.py json.py", "python3 -c 'import json'"),
        ("cp /tmp/x.so json.so", "python3 -c 'import json'"),
        ("cp /tmp/x.py numpy/__init__.py", "python3 -c 'import numpy.linalg'"),
        ("cp /tmp/x.js node_modules/lodash/index.js", "node -e \"require('lodash')\""),
    ],
)
def test_a_module_that_the_run_put_in_the_place_of_a_known_one_is_not_known(first: str, then: str) -> None:
    def unseen(*lines: str) -> bool:
        events = abstracted([bash(str(n), line) for n, line in enumerate(lines)])
        return any("effects" in e.args.get("unresolved", ()) for e in events if e.call == str(len(lines) - 1))

    assert unseen(first, then)
    assert not unseen(then)


@pytest.mark.parametrize("program", ["python3", "ruby"])
def test_code_on_standard_input_that_is_too_long_to_be_carried_is_marked(program: str) -> None:
    for length, told in ((50_000, True), (150_000, False)):
        code = "#" * length + "\n"
        (_, step, *_) = abstracted([bash("t", f"{program} <<'E'\n{code}E")])
        assert step.args.get("code") == ((code,) if told else None)
        assert ("code" in step.args.get("unresolved", ())) is not (told and program == "python3")
