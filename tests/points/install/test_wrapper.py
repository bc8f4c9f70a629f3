"""The registered command as hosts run it: whatever fails in it blocks, and at the end of a turn nothing does."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from vigil_lang.points.install.hosts import HOSTS, NO_ANSWER
from vigil_lang.points.install.wrapper import unwrapped, wrapped

NAMED = ("/bin/sh", "dash", "bash", "bash --posix", "busybox sh", "ksh", "zsh --emulate sh")
SHELLS = [
    pytest.param(shell, marks=pytest.mark.skipif(shutil.which(shell[0]) is None, reason=f"{shell[0]} is not here"))
    for shell in map(str.split, NAMED)
]
ANSWER = '{"decision":"block","reason":"a rule"}\n'
DONE = "echo vigil:done"


def said(command: list[str], payload: str = "{}", **more: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, input=payload, capture_output=True, text=True, timeout=120, check=False, **more)  # type: ignore[call-overload, no-any-return]


def all_said(commands: list[list[str]], cwd: Path) -> list[tuple[str, int]]:
    """What commands print and end with that run at the same time, as most of it is waiting."""
    pipe = subprocess.PIPE
    begun = [subprocess.Popen(each, stdin=pipe, stdout=pipe, stderr=pipe, text=True, cwd=cwd) for each in commands]
    return [(each.communicate(ANSWER, timeout=120)[0], each.returncode) for each in begun]


def sh(program: str, *, seconds: int = 60, fault: str = "FAULT", shell: list[str] | None = None) -> list[str]:
    """The wrapper around a program that is written in shell."""
    command = wrapped(["/bin/sh", "-c", program], seconds, fault)
    return command if shell is None else [*shell, *command[1:]]


@pytest.mark.parametrize("shell", SHELLS)
def test_a_whole_answer_comes_through_as_it_is(shell: list[str]) -> None:
    done = said(sh(f"cat; {DONE}", shell=shell), ANSWER)
    assert (done.stdout, done.returncode) == (ANSWER, 0)


@pytest.mark.parametrize("shell", SHELLS)
def test_nothing_is_printed_where_the_answer_is_empty(shell: list[str]) -> None:
    done = said(sh(f"cat >/dev/null; {DONE}", shell=shell))
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)


def test_backslashes_percents_and_spaces_come_through() -> None:
    odd = '  {"reason":"100%s \\\\n `x` $HOME \\u00e4 ä"}  \n'
    assert said(sh(f"cat; {DONE}"), odd).stdout == odd


FAULTS = {
    "the program is missing": "exec /nonexistent/program",
    "the program may not be run": "exec /etc/passwd",
    "the interpreter is missing": "printf '#!/nonexistent/python\\n' > x; chmod +x x; exec ./x",
    "the program is a folder": "exec /tmp",
    "nothing is printed": "true",
    "the mark is missing": "cat",
    "it fails without a word": "exit 1",
    "it fails after the answer": f"cat; {DONE}; exit 1",
    "it ends with 2": f"cat; {DONE}; exit 2",
    "it ends with 127": f"cat; {DONE}; exit 127",
    "it is killed": "kill -KILL $$",
    "it is killed after the answer": f"cat; {DONE}; kill -KILL $$",
    "it is terminated": "kill -TERM $$",
    "it is aborted": "cat; kill -ABRT $$",
    "it prints garbage": "echo 'Traceback (most recent call last):'; exit 1",
    "it prints garbage and ends well": "echo garbage",
    "half an answer": """printf '{"decision":"bl'""",
    "half a mark": "cat; printf vigil:do",
    "the mark without its line": "cat; printf vigil:done",
    "the mark in another line": "cat; echo 'x vigil:done'",
    "something after the mark": f"cat; {DONE}; echo more",
    "zero bytes": "head -c 100000 /dev/zero",
    "random bytes": "head -c 100000 /dev/urandom",
    "a hundred thousand lines": f"yes garbage | head -n 100000; {DONE}",
    "an exit line of its own": "echo vigil:exit 0",
    "a mark and an exit line of its own, then a failure": f"{DONE}; echo vigil:exit 1; exit 1",
    "its standard output is closed": f"exec >&-; {DONE}",
    "the limit of file sizes": f"ulimit -f 0; head -c 9999999 /dev/zero > big && cat && {DONE}",
    "no more memory": f"ulimit -v 1000; cat && {DONE}",
    "no more descriptors": "ulimit -n 0; exec < /dev/null; cat x",
}
SLOW = {
    "it hangs": "exec sleep 60",
    "it hangs after the answer": f"cat; {DONE}; exec sleep 60",
    "it hangs and is deaf": "trap '' TERM INT; while :; do sleep 1; done",
    "it prints without end": "exec yes garbage",
    "it prints one line without end": "exec tr '\\0' x < /dev/zero",
}


@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.parametrize("shell", SHELLS)
def test_a_program_that_fails_is_answered_for(shell: list[str], name: str, tmp_path: Path) -> None:
    done = said(sh(FAULTS[name], shell=shell), ANSWER, cwd=tmp_path)
    assert (done.stdout, done.returncode) == ("FAULT\n", 0)


@pytest.mark.parametrize("shell", SHELLS)
def test_a_program_that_is_slow_is_answered_for(shell: list[str], tmp_path: Path) -> None:
    begun = time.monotonic()
    done = all_said([sh(program, seconds=1, shell=shell) for program in SLOW.values()], tmp_path)
    assert dict(zip(SLOW, done, strict=True)) == dict.fromkeys(SLOW, ("FAULT\n", 0))
    assert time.monotonic() - begun < 45


@pytest.mark.parametrize("fault", [*FAULTS, "it hangs"])
def test_every_host_is_answered_in_its_own_form(fault: str, tmp_path: Path) -> None:
    """As the host runs it: by exec, or by a shell that reads one text."""
    program = ["/bin/sh", "-c", {**FAULTS, **SLOW}[fault]]
    commands = []
    for host in HOSTS.values():
        command = wrapped(program, 1 if fault in SLOW else 60, host.fault("before"))
        hook = host.hook(command, "before", 30, observe=False)
        commands.append([hook["command"], *hook["args"]] if host.exec_form else ["/bin/sh", "-c", hook[host.command]])
    for host, (told, status) in zip(HOSTS.values(), all_said(commands, tmp_path), strict=True):
        assert status == 0, host
        assert host.blocks(told), host
        assert NO_ANSWER in told, host


@pytest.mark.parametrize("fault", [*FAULTS, "it hangs"])
def test_at_the_end_of_a_turn_nothing_is_said(fault: str, tmp_path: Path) -> None:
    """Two hosts go on for ever where that blocks."""
    done = said(sh({**FAULTS, **SLOW}[fault], seconds=1 if fault in SLOW else 60, fault=""), cwd=tmp_path)
    assert (done.stdout, done.returncode) == ("", 0)


@pytest.mark.parametrize("host", HOSTS.values(), ids=HOSTS)
def test_only_before_a_call_or_a_change_of_settings_a_fault_says_something(host: object) -> None:
    from vigil_lang.points.install.hosts import Host

    assert isinstance(host, Host)
    for event, moment in host.events.items():
        assert bool(host.fault(moment)) == (
            event[0].lower() + event[1:] in ("preToolUse", "beforeTool", "configChange")
        )


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("redirection", ["<&-", "< /dev/null"])
def test_a_closed_standard_input_is_an_empty_one(shell: list[str], redirection: str) -> None:
    text = shlex.join(sh(f"cat; echo read; {DONE}", shell=shell)) + f" {redirection}"
    assert said(["/bin/sh", "-c", text]).stdout == "read\n"


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("redirection", [">&-", "> /dev/full"])
@pytest.mark.parametrize("program", [f"cat; {DONE}", "exit 1"], ids=["answer", "fault"])
def test_where_nothing_can_be_printed_the_status_blocks(shell: list[str], redirection: str, program: str) -> None:
    done = said(["/bin/sh", "-c", shlex.join(sh(program, shell=shell)) + f" {redirection}"], ANSWER)
    assert done.returncode == 2
    assert "Vigil did not answer" in done.stderr


@pytest.mark.parametrize("shell", SHELLS)
def test_a_process_that_keeps_the_pipe_open_is_not_waited_for(shell: list[str]) -> None:
    begun = time.monotonic()
    done = said(sh(f"cat; {DONE}; sleep 50 2>/dev/null & exit 0", shell=shell), ANSWER)
    assert (done.stdout, done.returncode) == (ANSWER, 0)
    assert time.monotonic() - begun < 40


@pytest.mark.parametrize("shell", SHELLS)
def test_the_watchdog_ends_with_the_program(shell: list[str]) -> None:
    seconds = 4000 + os.getpid() % 4000 + SHELLS.index(next(each for each in SHELLS if each.values == (shell,)))
    for _ in range(20):
        assert said(sh(f"sleep 0.02; {DONE}", seconds=seconds, shell=shell)).returncode == 0
    time.sleep(0.5)
    left = [p for p in Path("/proc").glob("[0-9]*/cmdline") if _read(p) == f"sleep\0{seconds}\0".encode()]
    for each in left:
        os.kill(int(each.parent.name), signal.SIGKILL)
    assert not left


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def test_without_sleep_every_call_is_blocked(tmp_path: Path) -> None:
    done = said(sh(f"/bin/sleep 0.5; {DONE}"), env={"PATH": str(tmp_path)})
    assert done.stdout == "FAULT\n"


def test_what_was_wrapped_is_found_again() -> None:
    command = wrapped([sys.executable, "-I", "x y", "it's"], 30, "FAULT")
    assert unwrapped(command) == (30, "FAULT", [sys.executable, "-I", "x y", "it's"])
    assert unwrapped(shlex.split(shlex.join(command))) == unwrapped(command)
    assert unwrapped(["/bin/sh", "-c", "true", "vigil", "30", "", "x"]) is None


def test_the_script_has_nothing_that_hosts_replace() -> None:
    """Claude Code replaces `${CLAUDE_…}`, Gemini CLI variables that the environment has; others may do so as well."""
    script = wrapped(["x"], 1, "")[2]
    assert "${" not in script
    assert "'" not in script
    assert json.loads(json.dumps(script)) == script
