"""Runs that are written in a test: events as they are, and calls as a recording of them would be read."""

from __future__ import annotations

import json

import pytest

from vigil_lang.diagnostics import Source
from vigil_lang.runs import read_trace
from vigil_lang.syntax import parse, tree
from vigil_lang.syntax.print import to_text
from vigil_lang.testing.inline_runs import written_run
from vigil_lang.testing.test_errors import Faults
from vigil_lang.trace import Event, Trace


def trace(given: str) -> Trace:
    source = Source("a_test.vgl", f'test "t" {{ {given} }}')
    parsed = parse(source)
    assert not parsed.diagnostics
    (test,) = parsed.file.items
    assert isinstance(test, tree.TestCase)
    (clause,) = test.clauses
    assert isinstance(clause, tree.RunEvents | tree.RunCalls)
    faults = Faults(source)
    found = written_run(clause, "a_test.vgl: t", faults)
    assert found is not None, faults.found
    return found


def event(given: str) -> Event:
    (found,) = trace(f"run {{ {given} }}").events
    return found


def test_an_event_has_nothing_that_is_not_written() -> None:
    assert event("deploy()") == Event("e1", "deploy", "e1")


def test_an_event_with_everything() -> None:
    written = 'save: Write(path = "/a", n = 3.0, on = true): file.write, "odd kind" at 90s -> error "disk full"'
    assert event(written) == Event(
        "save",
        "Write",
        "save",
        {"path": ("/a",), "n": ("3",), "on": ("true",)},
        "error",
        "disk full",
        ("file.write", "odd kind"),
        90_000_000,
    )


@pytest.mark.parametrize(
    ("written", "args"),
    [
        ('a = {"x", "y"}', {"a": ("x", "y")}),
        ("a = {}", {"a": ()}),
        ("a = {b = 1, c = {d = 2}}", {"a.b": ("1",), "a.c.d": ("2",)}),
        ("a = {{b = 1}, {b = 2}}", {"a.b": ("1", "2")}),
        ("params.amount = 1e3", {"params.amount": ("1000",)}),
        ('"status" = "open", output = "x"', {"status": ("open",), "output": ("x",)}),
        ('a = "\\u{e9}\\n"', {"a": ("é\n",)}),
        ("a = 12345678901234567890123", {"a": ("12345678901234567890123",)}),
    ],
)
def test_values(written: str, args: dict[str, tuple[str, ...]]) -> None:
    assert event(f"x({written})").args == args


@pytest.mark.parametrize(
    ("written", "status", "output"),
    [("", "unknown", None), ("-> ok", "ok", None), ('-> ok ""', "ok", ""), ('-> "seen"', "unknown", "seen")],
)
def test_endings(written: str, status: str, output: str | None) -> None:
    found = event(f"x() {written}")
    assert (found.status, found.output) == (status, output)


def test_steps_of_one_call() -> None:
    found = trace("run { a() { b() last: c() } d() }").events
    assert [(e.id, e.call) for e in found] == [("e1", "e1"), ("e2.1", "e2"), ("last", "e2"), ("e3", "e3")]


def test_words_of_the_language_are_names_of_actions_and_arguments() -> None:
    found = trace("run { test(test = 1) run: run(run = 1) expect(set = 1) calls() e9: at() with() violated() }").events
    assert [e.action for e in found] == ["test", "run", "expect", "calls", "at", "with", "violated"]


@pytest.mark.parametrize("word", ["run", "calls", "set", "expect", "with", "satisfied", "in", "test"])
@pytest.mark.parametrize("before", ["a()", "a(): k", "a() at 3s", "a() -> ok", 'a() -> ok "o"', "{ a() }"])
def test_an_event_may_be_called_as_a_clause_is(before: str, word: str) -> None:
    assert [e.action for e in trace(f"run {{ {before} {word}() }}").events] == ["a", word]


def test_calls_are_what_a_recording_of_them_would_be() -> None:
    found = trace(
        """calls in "/home/ann" {
        Bash(command = "cd work && rm -rf build") -> ok
        user.message(text = "go on")
        Write(file_path = "a.txt", content = "x") -> ok "written"
        }"""
    )
    lines = [
        {"type": "user", "cwd": "/home/ann", "message": {"role": "user", "content": "start"}},
        _use("c1", "Bash", command="cd work && rm -rf build"),
        _result("c1", ""),
        {"type": "user", "message": {"role": "user", "content": "go on"}},
        _use("c2", "Write", file_path="a.txt", content="x"),
        _result("c2", "written"),
    ]
    recorded = read_trace([json.dumps(line).encode() + b"\n" for line in lines], "run.jsonl", "claude-code")
    calls = [e for e in recorded.events if e.action != "user.message"]
    mine = [e for e in found.events if e.action != "user.message"]
    assert [(e.id, e.action, e.kinds, e.args) for e in mine] == [(e.id, e.action, e.kinds, e.args) for e in calls]
    assert [(e.id, e.values("text")) for e in found.events if e.action == "user.message"] == [("m1", ("go on",))]


def _use(key: str, name: str, **args: str) -> dict[str, object]:
    block = {"type": "tool_use", "id": key, "name": name, "input": args}
    return {"type": "assistant", "message": {"role": "assistant", "content": [block]}}


def _result(key: str, output: str) -> dict[str, object]:
    block = {"type": "tool_result", "tool_use_id": key, "content": output}
    return {"type": "user", "message": {"role": "user", "content": [block]}}


def test_a_call_with_a_name_has_steps_with_that_name() -> None:
    found = trace('calls { clean: Bash(command = "rm a && rm b") -> ok\nBash(command = "ls") }').events
    assert [(e.id, e.call) for e in found][:3] == [("clean", "clean"), ("clean.1", "clean"), ("clean.2", "clean")]
    assert found[-1].id == "e2.1"
    assert found[-1].status == "unknown", "a call without an ending is pending"


def test_a_test_is_printed_on_one_line_that_reads_the_same() -> None:
    text = (
        'test "t" { set n = {1, b} run { a: x(k = {1, {b = 2}}): file.read at 3s -> ok "o" { y() z() } } '
        'calls in "/w" { Bash(command = "ls") } run "f.jsonl" '
        'expect R0, R1 satisfied expect R2 violated at a, "e 2" with x = "M", y = 3 }'
    )
    (item,) = parse(Source("a_test.vgl", text)).file.items
    assert to_text(item) == text


def broken(given: str) -> list[tuple[str, str]]:
    """(what is underlined, what is said) of a run that is not valid."""
    source = Source("a_test.vgl", f'test "t" {{ {given} }}')
    (test,) = parse(source).file.items
    assert isinstance(test, tree.TestCase)
    (clause,) = test.clauses
    assert isinstance(clause, tree.RunEvents | tree.RunCalls)
    faults = Faults(source)
    assert written_run(clause, "a_test.vgl: t", faults) is None
    return [(source.text[f.span.start : f.span.end], f.message) for f in faults.found]


@pytest.mark.parametrize(
    "given",
    [
        'e2.1: Bash(command = "ls a") -> ok Bash(command = "rm b") -> ok',
        'Bash(command = "rm b && ls") -> ok e1.1: Bash(command = "ls a") -> ok',
        'save: Bash(command = "rm b") -> ok save.1: Bash(command = "ls a") -> ok',
    ],
)
def test_no_call_goes_by_the_name_of_a_step(given: str) -> None:
    (name,) = {name for name in ("e2.1", "e1.1", "save.1") if f"{name}:" in given}
    assert broken(f"calls {{ {given} }}") == [(name, f"two events are called `{name}`")]


@pytest.mark.parametrize("folder", ["r", "./r", "", "../r"])
def test_calls_start_in_a_folder_that_is_known(folder: str) -> None:
    said = "the folder is not absolute, and not below `~/`"
    assert broken(f'calls in "{folder}" {{ Bash(command = "rm a") -> ok }}') == [(f'"{folder}"', said)]


@pytest.mark.parametrize("folder", ["/r", "~/r", "C:\\\\r"])
def test_calls_start_in_a_folder(folder: str) -> None:
    assert trace(f'calls in "{folder}" {{ Bash(command = "rm a") -> ok }}').run.cwd


def test_numbers_are_those_of_a_policy() -> None:
    assert broken("run { x(a = 1e10001) }") == [("1e10001", "`1e10001` is out of range")]
    assert event("x(a = 1e20)").args == {"a": ("100000000000000000000",)}
