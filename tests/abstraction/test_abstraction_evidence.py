"""What a text that was shown says of steps whose end the exit status leaves open."""

from __future__ import annotations

import time

import pytest
from abstraction_support import abstracted, bash, error, ok, statuses

from vigil_lang.abstraction.evidence import failed
from vigil_lang.abstraction.step import Step
from vigil_lang.trace.record import Call

NOT_FOUND = "No such file or directory"


def broken(command: str, output: str) -> list[str]:
    """The programs that a text shows to have failed, in a call that went well."""
    events = abstracted([bash("t", command), ok("t", output)])
    return [event.action for event in events if event.status == "error"]


# --- programs that are not there ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "said",
    [
        "bash: frob: command not found",
        "/bin/bash: line 1: frob: command not found",
        "/usr/bin/bash: line 12: frob: command not found",
        "sh: 1: frob: not found",
        "/bin/sh: 3: frob: not found",
        "bash: eval: line 1: frob: command not found",
        "zsh:1: command not found: frob",
        "zsh: command not found: frob",
        "before\nbash: frob: command not found  \nafter",
        "sh: frob: not found\r\n",
    ],
)
def test_shells_say_that_a_program_is_not_there(said: str) -> None:
    assert broken("frob --all; ls", said) == ["frob"]


def test_a_program_counts_as_it_is_written() -> None:
    assert broken("bin/frob; ls", "bash: bin/frob: not found") == ["frob"]
    assert broken("bin/frob; ls", "bash: frob: command not found") == []


def test_every_use_of_what_is_not_there_failed() -> None:
    assert broken("frob; ls; frob -x; ls", "bash: frob: command not found") == ["frob", "frob"]


def test_what_a_missing_program_would_have_run_did_not_happen() -> None:
    events = abstracted([bash("t", "sudo rm a; ls"), ok("t", "bash: sudo: command not found")])
    assert statuses(events) == {"e1": "ok", "e1.1": "error", "e1.2": "error", "e1.3": "ok"}
    events = abstracted([bash("t", "bash -c 'rm a && ls' && true; ls"), ok("t", "bash: bash: command not found")])
    assert [event.status for event in events] == ["ok", "error", "error", "error", "unknown", "ok"]


def test_what_a_program_did_before_it_failed_stays_open() -> None:
    command = "python3 -c \"open('a', 'w')\nx\"; ls"
    events = abstracted([bash("t", command), ok("t", "Traceback (most recent call last):")])
    assert [(event.action, event.status) for event in events][1:] == [
        ("python3", "error"), ("open", "unknown"), ("ls", "ok"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "said",
    [
        f"bash: line 1: ./frob: {NOT_FOUND}",
        f"/bin/sh: 1: ./frob: {NOT_FOUND}",
        "bash: line 3: ./frob: Permission denied",
    ],
)
def test_a_shell_speaks_of_the_program_it_names(said: str) -> None:
    assert broken("bash ok.sh; ./frob; ls", said) == ["frob"]


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("env A=1 true; ./x.py; ls", f"env: 'python': {NOT_FOUND}"),
        ("xargs a < b; ls", f"xargs: c: {NOT_FOUND}"),
        ("bash ok.sh; ls", "bash: line 1: out/a.txt: Permission denied"),
        ("./frob; echo Permission denied; ls", "bash: line 1: ./frob: Permission denied"),
    ],
)
def test_what_is_said_of_others_is_not_taken_for_the_speaker(command: str, said: str) -> None:
    assert broken(command, said) == []


# --- programs that complain --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "said",
    [
        f"cat: a.txt: {NOT_FOUND}",
        "cat: a.txt: Permission denied",
        "cat: a.txt: Is a directory",
        "cat: a.txt: Operation not permitted",
        f"x\ncat: a.txt: {NOT_FOUND}\ny",
    ],
)
def test_a_program_that_complains_failed(said: str) -> None:
    assert broken("cat a.txt; ls", said) == ["cat"]


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("cat a; cat b; ls", f"cat: a: {NOT_FOUND}"),  # one of them: which one is not said
        ("cat a; ls", f"cat: a: {NOT_FOUND} or so"),
        ("cat a; ls", f"  cat: a: {NOT_FOUND}"),
        ("cat a; ls", f"cat says: {NOT_FOUND}"),
        ("cat a; ls", f"head: a: {NOT_FOUND}"),
        ("cat a; ls", "all is well"),
        ("cat a; ls", ""),
    ],
)
def test_other_texts_prove_nothing(command: str, said: str) -> None:
    assert broken(command, said) == []


def test_what_is_known_to_be_well_stays_so() -> None:
    assert broken("ls; cat a", f"cat: a: {NOT_FOUND}") == []
    assert broken("cat a && frob", "bash: frob: command not found") == []


# --- tracebacks --------------------------------------------------------------------------------------------


TRACEBACK = 'Traceback (most recent call last):\n  File "x.py", line 1\nValueError: x'


@pytest.mark.parametrize(
    ("command", "programs"),
    [
        ("python3 x.py 2>&1 | tail -5", ["python3"]),
        ("python3 x.py; ls", ["python3"]),
        ("ls; python x.py || true", ["python"]),
        ("python3 x.py; python3 y.py; ls", []),  # one of them
        ("node x.js; ls", []),
        ("python3 x.py; cat log.txt; ls", []),  # the log of another run
        ("cat log.txt | python3 x.py; ls", []),
    ],
)
def test_a_traceback_is_of_the_only_interpreter(command: str, programs: list[str]) -> None:
    assert broken(command, TRACEBACK) == programs


def test_a_traceback_inside_a_line_is_none() -> None:
    assert broken("python3 x.py; ls", f"log: {TRACEBACK}") == []


# --- words of the call's own -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("frob; echo 'bash: frob: command not found'", "bash: frob: command not found"),
        (f"cat a; echo 'cat: a: {NOT_FOUND}'", f"cat: a: {NOT_FOUND}"),
        ("cat a; echo 'cat: a: Permission denied'", "cat: a: Permission denied"),
        ("python3 x.py; echo 'Traceback (most recent call last):'", TRACEBACK),
    ],
)
def test_what_the_call_itself_can_have_printed_proves_nothing(command: str, said: str) -> None:
    assert broken(command, said) == []


def test_failures_are_seen_in_calls_that_failed_too() -> None:
    events = abstracted([bash("t", "frob; make"), error("t", "bash: frob: command not found\nmake: *** [all] Error 1")])
    assert statuses(events) == {"e1": "error", "e1.1": "error", "e1.2": "error"}
    events = abstracted([bash("t", "frob && make"), error("t", "bash: frob: command not found", exit_code=127)])
    assert statuses(events)["e1.1"] == "error"


def test_a_call_without_an_end_or_an_output_proves_nothing() -> None:
    assert statuses(abstracted([bash("t", "frob; ls")])) == {"e1": "unknown", "e1.1": "unknown", "e1.2": "unknown"}
    assert statuses(abstracted([bash("t", "frob; ls"), ok("t", None)]))["e1.1"] == "unknown"


# --- bounds ------------------------------------------------------------------------------------------------


def step(name: str, **more: bool) -> Step:
    return Step(name, ("process.run",), {"argv": (name,)}, **more)


def test_a_step_without_words_is_no_program() -> None:
    assert failed([Step("file.write", ("file.write",)), step("frob")], "sh: frob: not found", "x") == {1}
    assert failed([step("frob", inferred=True), step("ls")], "sh: frob: not found", "x") == set()


@pytest.mark.parametrize(
    "text",
    [
        "x" * 3_000_000 + ": not found",
        "bash: " * 500_000 + "not found",
        "a: not found" + " " * 3_000_000 + "b",
        "cat: " * 500_000 + NOT_FOUND + "x",
        "\n" * 3_000_000 + "not found",
        ("cat: " + "y" * 100 + "\n") * 30_000 + NOT_FOUND,
    ],
)
def test_long_texts_are_looked_at_in_bounded_time(text: str) -> None:
    start = time.process_time()
    assert failed([step("frob"), step("cat")], text, "frob; cat") == set()
    assert time.process_time() - start < 5


def test_the_beginning_and_the_end_of_a_long_text_are_looked_at() -> None:
    filler = "line\n" * 100_000
    said = "bash: frob: command not found\n"
    assert failed([step("frob")], said + filler, "frob") == {0}
    assert failed([step("frob")], filler + said, "frob") == {0}
    assert failed([step("frob")], filler + said + filler, "frob") == set()


# --- how tests ended, in a pipe that hides it --------------------------------------------------------------

CARGO = "test result: {}. 2 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s"


@pytest.mark.parametrize(
    ("command", "said", "end"),
    [
        ("pytest | tail -1", "===== 3 passed, 1 warning in 0.10s =====", "ok"),
        ("python -m pytest -q 2>&1 | tail -2", "....\n2 failed, 1 passed in 0.10s", "error"),
        ("pytest | grep -E 'passed|error'", "1 error, 2 passed in 1.00s", "error"),
        ("pytest | tail -1", "2 skipped, 1 xfailed in 0.01s", "ok"),
        ("pytest | tail -1", "no tests ran in 0.01s", "unknown"),
        ("pytest | tail -1", "5 deselected in 0.01s", "unknown"),
        ("pytest x | tail -2", "\nERROR: file or directory not found: x", "error"),
        ("pytest | tail -3", "FAIL Required test coverage of 80% not reached.\n3 passed in 0.10s", "error"),
        ("pytest --cov | tail -1", "3 passed in 0.10s", "unknown"),
        ("pytest | tail -1", "the 3 passed in 0.10s", "unknown"),
        ("pytest a | tail -1; pytest b | tail -1", "3 passed in 0.10s", "unknown"),
        ("pytest | tail -1; echo '3 passed in 0.1s'", "3 passed in 0.1s", "unknown"),
        ("pytest -q > log; cat old.log", "3 passed in 1s", "unknown"),
        ("pytest -q > log; cat $X", "3 passed in 1s", "unknown"),
        ("pytest -q > log; cat log old.log", "3 passed in 1s", "unknown"),
        ("pytest -q > log; true", "3 passed in 1s", "unknown"),
        ("pytest -q | tail -1; tail -1 old.log", "3 failed in 1s", "unknown"),
        ("pytest -q > log; tail -3 log", "3 passed in 1s", "ok"),
        ("pytest -q | tee log | tail -1; cat log", "3 passed in 1s", "ok"),
        ("cat setup.cfg; pytest -q | tail -1", "[a]\n3 passed in 1s", "ok"),
        ("python -m unittest 2>&1 | tail -3", "Ran 3 tests in 0.001s\n\nOK", "ok"),
        ("python -m unittest 2>&1 | tail -3", "Ran 3 tests in 0.001s\n\nFAILED (failures=1)", "error"),
        ("python -m unittest 2>&1 | tail -3", "Ran 0 tests in 0.001s\n\nOK", "unknown"),
        ("cargo test | tail -1", CARGO.format("FAILED"), "error"),
        ("cargo test 2>&1 | tail -1", "error: could not compile `a` (lib) due to 1 previous error", "error"),
        ("cargo test | tail -1", CARGO.format("ok"), "unknown"),
        ("go test ./... | tail -1", "FAIL", "error"),
        ("go test ./... | tail -1", "ok  \tx\t0.1s", "unknown"),
        ("npx jest 2>&1 | tail -1", "Tests:       1 failed, 2 passed, 3 total", "error"),
        ("npx vitest run | tail -1", " Test Files  1 failed (3)", "error"),
        ("npx jest 2>&1 | tail -1", "Tests:       3 passed, 3 total", "unknown"),
        ("npm test | tail -5", "Tests:       1 failed, 2 passed, 3 total", "error"),
        ("yarn test 2>&1 | tail -3", "  3 passing (10ms)\n  1 failing", "error"),
        ("npm test | tail -5", "  3 passing (10ms)", "unknown"),
        ("tox | tail -1", "3 passed in 0.10s", "unknown"),
    ],
)
def test_tests_in_a_pipe_end_as_their_summary_says(command: str, said: str, end: str) -> None:
    events = abstracted([bash("t", command), ok("t", said)])
    assert next(event.status for event in events if "test.run" in event.kinds) == end


# --- what was to be said if all went well ------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [
        "pip install -q x 2>/dev/null && echo done; ls",
        "pip install -q x && echo done || true",
        "cd /srv && pip install -q x && echo installed; true",
        "pip install a==1 b && echo done; ls",
        "npm ci --silent && echo done || true",
        "make -s && printf '%s' 'all good'; ls",
    ],
)
def test_a_program_failed_whose_success_was_to_be_told(command: str) -> None:
    program = next(word for word in ("pip", "npm", "make") if word in command)
    (event, *parts) = (e for e in abstracted([bash("t", command), ok("t", "a b")]) if e.action != "ls")
    ended = {e.action: e.status for e in parts}
    assert event.status == "ok"
    assert ended[program] == "error"
    assert ended.get("package.install", "error") == "error"
    (_, *parts) = abstracted([bash("t", command), ok("t", "done installed all good")])
    assert {e.status for e in parts if e.action == program} == {"unknown"}


@pytest.mark.parametrize(
    "command",
    [
        "pip install x | tail -1 && echo done; ls",
        "(pip install x && echo done) | cat",
        "{ pip install x && echo done; } > log; ls",
        "pip install x && echo done > log; ls",
        "exec > log; pip install x && echo done; ls",
        "set -e; make; pip install x && echo done; ls",
        "test -f a && pip install x && echo done; ls",
        "cd /a 2>/dev/null && pip install x && echo done; ls",
        "if a; then pip install x && echo done; fi; ls",
        "for i in 1 2; do pip install x && echo done; done; ls",
        "a || pip install x && echo done; ls",
        "pip install x && echo; ls",
        "pip install x && echo $X; ls",
        "pip install x && echo 'a\\nb'; ls",
        "f() { pip install x && echo done; }; ls",
    ],
)
def test_a_silence_that_has_other_causes_proves_nothing(command: str) -> None:
    events = abstracted([bash("t", command), ok("t", "")])
    assert "error" not in [event.status for event in events]


def test_a_silence_that_may_be_broken_later_proves_nothing() -> None:
    command = "pip install x && echo done; ls"
    in_background = Call("t", "Bash", {"command": command, "run_in_background": True})
    for records in (
        [in_background, ok("t", "")],
        [bash("t", command), ok("t", "Command running in background with ID: 1")],
        [bash("t", command), ok("t", None)],
        [bash("t", command), ok("t", "x" * 30_000)],
        [bash("t", command), error("t", "", exit_code=143)],
    ):
        assert "error" not in [event.status for event in abstracted(records)[1:]]
