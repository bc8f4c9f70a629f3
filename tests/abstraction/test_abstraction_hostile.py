"""Hostile calls take bounded time and room, and what was not read is said once."""

from __future__ import annotations

import time

import pytest
from abstraction_support import abstracted, bash

from vigil_lang.abstraction.call_steps import MOST_STEPS
from vigil_lang.trace.record import Call

SECONDS = 20.0
"""Generous: a busy machine is no failure, a quadratic reader is."""

HOSTILE = {
    "10 MB of command": "echo " + "a" * 10_000_000,
    "10 MB of words": "echo " + "a " * 5_000_000,
    "nested substitutions": "echo " + "$(echo " * 5_000 + "x" + ")" * 5_000,
    "unclosed substitutions": "echo " + "$(" * 100_000,
    "nested groups": "{ " * 20_000 + "ls" + "; }" * 20_000,
    "an endless loop": "while true; do rm x; done",
    "loops in loops": "for a in {1..100}; do for b in {1..100}; do for c in {1..100}; do rm $a$b$c; done; done; done",
    "a counting loop": "for ((i=0; i<1000000000; i++)); do rm $i; done",
    "braces": "rm " + "{a,b}" * 40,
    "a range": "rm {1..999999999}",
    "doubling": "a=x; " + 'a="$a$a"; ' * 60 + 'rm "$a"',
    "recursion": "f() { f; f; }; f",
    "dots and escapes": "cat " + "../" * 200_000 + "etc/passwd\x1b[2J",
    "pipes": " | ".join(["cat"] * 20_000),
    "a long pipeline": "echo x | " + " | ".join(["cat"] * 1_500),
    "here-documents": "cat <<A\n" * 5_000 + "A\n" * 5_000,
    "shells in shells": "bash -c '" * 30 + "rm x" + "'" * 30,
    "script of 100,000 statements": "python3 - <<'EOF'\n" + "open('a', 'w')\n" * 100_000 + "EOF",
    "script of nested calls": "python3 - <<'EOF'\n" + "f(" * 5_000 + ")" * 5_000 + "\nEOF",
    "script of calls that call twice": "python3 - <<'EOF'\nimport os\ndef f0(): os.remove('x')\n"
    + "".join(f"def f{n}():\n  f{n - 1}()\n  f{n - 1}()\n" for n in range(1, 60))
    + "f59()\nEOF",
    "a script of a billion letters": "python3 -c \"open('a' * 10**10, 'w'); open('b' * 9 ** 9 ** 9, 'w')\"",
    "javascript nested": "node -e '" + "[" * 50_000 + "]" * 50_000 + "'",
    "nul and control": "rm a\0b \x1b]0;title\x07",
}


@pytest.mark.parametrize("command", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_command_is_bounded(command: str) -> None:
    started = time.process_time()
    events = abstracted([bash("t", command)])
    assert time.process_time() - started < SECONDS
    assert len(events) <= MOST_STEPS + 1
    assert events[0].id == "e1"
    size = sum(len(text) for event in events[1:] for texts in event.args.values() for text in texts)
    assert size < 20_000_000
    assert len(events[0].extra.get("not_understood", ())) <= 20


@pytest.mark.parametrize("name", ["10 MB of command", "unclosed substitutions", "a range", "doubling", "recursion"])
def test_what_was_not_read_is_said(name: str) -> None:
    call, *_ = abstracted([bash("t", HOSTILE[name])])
    assert call.args["unresolved"] == ("steps",)
    assert call.extra["not_understood"]


def test_dots_end_at_the_root() -> None:
    (step,) = abstracted([bash("t", "cat " + "../" * 50 + "etc/passwd")])[1:]
    assert step.args["path"] == ("/etc/passwd",)


def test_many_scripts_share_one_budget() -> None:
    script = "import os\n" + "os.remove('x')\n" * 300
    records = [Call("w", "Write", {"file_path": "/repo/a.py", "content": script}), bash("t", "python3 a.py; " * 200)]
    started = time.process_time()
    events = abstracted(records)
    assert time.process_time() - started < SECONDS
    assert len(events) <= MOST_STEPS + 2
