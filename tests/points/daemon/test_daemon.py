"""The daemon and its client: who meets whom, and what becomes of either when the other is not as agreed."""

from __future__ import annotations

import atexit
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from vigil_lang.points.daemon import asking, server, wire
from vigil_lang.points.daemon.server import AlreadyServed, NotServing, Server, stop
from vigil_lang.points.invocation import Reply

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from vigil_lang.points.hook import Gates
    from vigil_lang.points.invocation import Invocation

CLIENT = Path(wire.__file__).with_name("client.py")


@pytest.fixture
def state(tmp_path: Path) -> Path:
    folder = tmp_path / "state"
    folder.mkdir(mode=0o700)
    return folder


def echo(invocation: Invocation, _: Gates) -> Reply:
    """What it was asked, as it came."""
    said = [*invocation.args, invocation.cwd, invocation.env.get("SAID", ""), invocation.stdin.decode()]
    return Reply("|".join(said).encode(), b"told", 3)


@pytest.fixture(autouse=True)
def _memory_of_other_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests before these may have left more in the process than a daemon has."""
    monkeypatch.setattr(server, "MOST_MEMORY", 1 << 40)


@contextmanager
def serving(state: Path, answer: Callable[[Invocation, Gates], Reply] = echo, idle: float = 60) -> Iterator[Server]:
    daemon = Server(state, idle, answer)
    thread = threading.Thread(target=daemon.run)
    thread.start()
    try:
        yield daemon
    finally:
        daemon.stopping.set()
        thread.join(30)
    assert not thread.is_alive()


def client(
    state: Path, *args: str, stdin: bytes = b"{}", folder: Path | None = None, **environ: str
) -> subprocess.CompletedProcess[bytes]:
    """The program as hosts run it; it never starts a daemon."""
    (state / wire.STARTED).write_text("not now")
    line = [sys.executable, "-I", "-S", str(CLIENT), "--state", str(state), *args]
    kept = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], **environ}
    return subprocess.run(line, input=stdin, cwd=folder, env=kept, capture_output=True, timeout=60, check=False)


def asked(state: Path, stdin: bytes = b"in") -> bytes | None:
    """What a daemon answers to a client in this process; None where the client is to decide."""
    said = asking._asked(str(state), ["--state", str(state)], stdin)
    return None if said is None else said[0]


def raw(daemon: Server) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(20)
    connection.connect(daemon.path)
    return connection


# --- what is asked and answered -------------------------------------------------------------------------------------


def test_arguments_input_folder_and_environment_are_the_invocations(state: Path, tmp_path: Path) -> None:
    with serving(state):
        done = client(state, "--host", "x", "--deadline", "9", stdin="{…}".encode(), folder=tmp_path, SAID="hello")
    said = f"--state|{state}|--host|x|--state|{state}|{tmp_path}|hello|{{…}}"
    assert (done.stdout.decode(), done.stderr, done.returncode) == (said, b"told", 3)


def test_a_wrapper_is_told_that_the_hook_came_to_its_end(state: Path) -> None:
    with serving(state, lambda invocation, _: Reply(b"--mark" if "--mark" in invocation.args else b"{}")):
        assert client(state, "--mark").stdout == b"{}\nvigil:done\n"
        assert client(state).stdout == b"{}"


def test_what_is_no_text_arrives_as_it_is(state: Path) -> None:
    with serving(state, lambda invocation, _: Reply(invocation.stdin)):
        assert asked(state, b"\xff\x00\n") == b"\xff\x00\n"


def test_with_a_daemon_the_client_imports_next_to_nothing(state: Path) -> None:
    line = [sys.executable, "-I", "-S", "-X", "importtime", str(CLIENT), "--state", str(state)]
    with serving(state):
        done = subprocess.run(line, input=b"{}", capture_output=True, timeout=60, check=False)
        bare = subprocess.run([*line[:5], "-c", "import os"], capture_output=True, timeout=60, check=False)
    imported, needed = (set(re.findall(rb"\| +([\w.]+)$", each.stderr, re.MULTILINE)) for each in (done, bare))
    assert {name.decode() for name in imported - needed} == {
        "__future__", "_socket", "vigil_lang", "vigil_lang.points", "vigil_lang.points.daemon",
        "vigil_lang.points.daemon.asking", "vigil_lang.points.daemon.wire", "vigil_lang.version",
    }  # fmt: skip


NEVER = {
    "asyncio", "click", "cryptography", "dataclasses", "email", "http", "importlib.resources", "inspect", "lark",
    "logging", "lzma", "platformdirs", "psycopg", "pydantic", "pygls", "pysmt", "rich", "shutil", "ssl", "subprocess",
    "tempfile", "yaml", "z3", "zoneinfo",
    "vigil_lang.analysis", "vigil_lang.cli", "vigil_lang.corpus", "vigil_lang.documents", "vigil_lang.draft",
    "vigil_lang.engines.smt", "vigil_lang.english", "vigil_lang.gate.notices.outbox",
    "vigil_lang.gate.storage.postgres",
    "vigil_lang.gate.tier.asking", "vigil_lang.ingest.load", "vigil_lang.lint", "vigil_lang.points.checkpoints.history",
    "vigil_lang.points.hosts.codex", "vigil_lang.points.install", "vigil_lang.points.remote", "vigil_lang.project",
    "vigil_lang.report", "vigil_lang.service", "vigil_lang.testing",
}  # fmt: skip
"""What no decision needs, and no hook waits for."""
MOST_MODULES = 215
"""Of our own; each is a third of a millisecond."""


@pytest.mark.unmeasured  # the measurement imports some of them first
def test_without_a_daemon_a_hook_imports_what_its_decision_needs(state: Path, tmp_path: Path) -> None:
    policy = tmp_path / "p.vgl"
    policy.write_text("policy p\nstatement tested: prec(git.push(), test.run(status = ok))\n")
    call = {"session_id": "s", "cwd": "/", "hook_event_name": "PreToolUse", "tool_name": "Bash"}
    line = [sys.executable, "-I", "-S", "-X", "importtime", str(CLIENT), "--host", "claude", "--policy", str(policy)]
    environ = {**os.environ, "VIGIL_DAEMON": "off"}
    shutil.rmtree(state)
    for number in range(2):  # the first makes the state folder, and the run begins
        payload = json.dumps(call | {"tool_use_id": f"t{number}", "tool_input": {"command": "git push && ls | sort"}})
        done = subprocess.run(
            [*line, "--state", str(state)], input=payload.encode(), env=environ, capture_output=True, timeout=60
        )
        assert b"deny" in done.stdout, done.stderr
    imported = {name.decode() for name in re.findall(rb"\| +([\w.]+)$", done.stderr, re.MULTILINE)}
    assert "vigil_lang.gate.gate" in imported
    assert imported & NEVER == set()
    assert len([name for name in imported if name.startswith("vigil_lang")]) <= MOST_MODULES


def test_many_clients_at_once(state: Path) -> None:
    found: list[bytes | None] = []
    with serving(state, lambda invocation, _: Reply(invocation.stdin)):
        threads = [threading.Thread(target=lambda n=n: found.append(asked(state, b"%d" % n))) for n in range(100)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(found, key=str) == sorted((b"%d" % n for n in range(100)), key=str)


# --- no daemon, or none that may answer -----------------------------------------------------------------------------


def test_nobody_listens(state: Path) -> None:
    assert asked(state) is None
    left = socket.socket(socket.AF_UNIX)
    left.bind(str(state / "daemon.sock"))
    left.close()  # as a daemon leaves it that was killed
    assert asked(state) is None
    with serving(state):
        assert asked(state)


def test_a_state_folder_that_others_look_into_is_not_served_nor_asked(state: Path) -> None:
    with serving(state):
        state.chmod(0o755)
        assert asked(state) is None
    with pytest.raises(NotServing, match="0700"):
        Server(state)


def test_one_daemon_a_folder(state: Path) -> None:
    with serving(state), pytest.raises(AlreadyServed):
        Server(state)
    with serving(state):
        assert asked(state)


def test_a_client_of_another_user_is_not_answered(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(state):
        monkeypatch.setattr(server, "peer", lambda _: os.geteuid() + 1)
        assert asked(state) is None


def test_a_daemon_of_another_user_is_not_asked(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(state):
        monkeypatch.setattr(asking, "peer", lambda _: os.geteuid() + 1)
        assert asked(state) is None


def test_the_system_says_who_is_at_the_other_end() -> None:
    one, other = socket.socketpair()
    with one, other:
        assert wire.peer(one) == os.geteuid()


@pytest.mark.parametrize("folder", ["/here", "/a folder/of mine"])
@pytest.mark.parametrize(("said", "ends"), [("99.0.0", True), ("0.0.1", False), ("x", False), ("9" * 99, False)])
def test_a_client_of_another_version_decides_alone_and_a_newer_one_ends_the_daemon(
    state: Path, monkeypatch: pytest.MonkeyPatch, said: str, ends: bool, folder: str
) -> None:
    monkeypatch.setattr(wire, "_FOLDER", folder)
    with serving(state) as daemon:
        monkeypatch.setattr(asking, "hello", lambda: f"vigil/1 {said} {folder}\n".encode())
        assert asked(state) is None
        assert daemon.stopping.is_set() == ends


def test_a_client_of_another_copy_decides_alone(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(state) as daemon:
        monkeypatch.setattr(asking, "hello", lambda: wire.hello().replace(b"/vigil_lang", b"/other"))
        assert asked(state) is None
        assert not daemon.stopping.is_set()


def test_a_daemon_whose_code_was_changed_ends(state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = tmp_path / "vigil_lang_x.py"
    module.write_text("")
    os.utime(module, (1, 1))
    monkeypatch.syspath_prepend(str(tmp_path))
    __import__("vigil_lang_x")
    monkeypatch.setattr(server, "_CODE_SECONDS", 0)
    with serving(state) as daemon:
        assert asked(state)
        os.utime(module, (2, 2))
        assert asked(state) is None
        assert daemon.stopping.is_set()


def test_the_state_folder_is_removed_and_made_again(state: Path) -> None:
    with serving(state) as daemon:
        shutil.rmtree(state)
        state.mkdir(mode=0o700)
        assert asked(state) is None
        with serving(state):
            assert asked(state)
        _until(lambda: not daemon._is_over(), wanted=False)


def test_what_was_decided_about_a_folder_that_is_gone_is_not_answered(state: Path) -> None:
    def removing(_: Invocation, __: Gates) -> Reply:
        shutil.rmtree(state)
        return Reply(b"pass")

    with serving(state, removing):
        assert asked(state) is None


def test_an_invocation_about_another_state_folder_is_not_answered(state: Path) -> None:
    with serving(state):
        assert asking._asked(str(state), ["--state", "/elsewhere"], b"") is None


# --- an end ----------------------------------------------------------------------------------------------------------


def test_it_ends_when_nobody_asks(state: Path) -> None:
    daemon = Server(state, 0.3, echo)
    daemon.run()
    assert not os.path.lexists(daemon.path)


def test_what_was_begun_is_finished(state: Path) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def slow(_: Invocation, __: Gates) -> Reply:
        begun.set()
        go_on.wait(20)
        return Reply(b"done")

    found: list[bytes | None] = []
    with serving(state, slow) as daemon:
        thread = threading.Thread(target=lambda: found.append(asked(state)))
        thread.start()
        assert begun.wait(20)
        daemon.stopping.set()
        _until(lambda: os.path.lexists(daemon.path), wanted=False)
        assert asked(state) is None
        go_on.set()
    thread.join()
    assert found == [b"done"]


def test_stop(state: Path) -> None:
    assert not stop(state)
    with serving(state):
        assert stop(state)
    assert not stop(state)


def test_too_large_a_daemon_ends(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(state) as daemon:
        monkeypatch.setattr(server, "MOST_MEMORY", 1)
        asked(state)
        _until(lambda: os.path.lexists(daemon.path), wanted=False)


# --- clients that do not keep to what is agreed ----------------------------------------------------------------------

READY_THEN = [
    b"",
    b"\xff\xff\xff\xff",
    b"\x00\x00\x00\x08\x00\x00\x00\xffabcd",
    b"\x00\x00\x00\x04\x00\x00\x00\x00",
    b"\x00\x00\x00\x15" + bytes(21),
    wire.pack([b"{}", b"/", b"--host\0x", b"A=1"])[:-1],
    wire.pack([b"{}", b"/", b"--host\0x", b"A=1", b"more"]),
]


@pytest.mark.parametrize("data", READY_THEN)
def test_what_is_garbled_is_dropped(state: Path, data: bytes) -> None:
    with serving(state) as daemon:
        with raw(daemon) as connection:
            connection.sendall(wire.hello())
            assert connection.recv(1) == wire.READY
            with suppress(OSError):
                connection.sendall(data)
                connection.shutdown(socket.SHUT_WR)
                assert connection.recv(1) == b""
        assert asked(state)


@pytest.mark.parametrize("data", [b"", b"\n", b"GET / HTTP/1.1\r\n\r\n", b"\0" * 100_000, b"vigil/1 0.1.0"])
def test_a_first_line_that_is_none(state: Path, data: bytes) -> None:
    with serving(state) as daemon:
        with raw(daemon) as connection, suppress(OSError):
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
            assert connection.recv(1) in (b"", wire.STALE)
        assert asked(state)


def test_slow_clients_are_cut(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "HANDOVER", 0.3)
    monkeypatch.setattr(server, "THREADS", 2)
    with serving(state) as daemon:
        slow = [raw(daemon) for _ in range(2)]
        slow[0].sendall(wire.hello())
        for connection in slow:
            with connection, suppress(OSError):
                while connection.recv(1):  # b"" when the daemon cut it
                    connection.sendall(b"\0")
        assert asked(state)


def test_when_all_threads_are_busy_the_client_decides_alone(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "THREADS", 1)
    monkeypatch.setattr(asking, "PATIENCE", 0.3)
    begun, go_on = threading.Event(), threading.Event()
    seen: list[bytes] = []

    def slow(invocation: Invocation, _: Gates) -> Reply:
        seen.append(invocation.stdin)
        begun.set()
        go_on.wait(20)
        return Reply(b"done")

    with serving(state, slow):
        thread = threading.Thread(target=asked, args=(state, b"first"))
        thread.start()
        assert begun.wait(20)
        assert asked(state, b"second") is None
        go_on.set()
        thread.join()
        monkeypatch.setattr(asking, "PATIENCE", 5)
        assert asked(state, b"third")
    assert seen == [b"first", b"third"]  # what the client decided about alone is not decided about again


# --- the deadline ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("payload", "more", "status"),
    [
        (b'{"hook_event_name":"PreToolUse"}', [], 2),
        (b"{", [], 2),
        (b'{"hook_event_name":"Stop"}', [], 0),
        (b'{"hook_event_name":"AfterAgent"}', [], 0),
        (b'{"hook_event_name":"PreToolUse"}', ["--observe"], 0),
    ],
)
def test_past_the_deadline_a_call_is_blocked(state: Path, payload: bytes, more: list[str], status: int) -> None:
    go_on = threading.Event()

    def slow(_: Invocation, __: Gates) -> Reply:
        go_on.wait(20)
        return Reply()

    with serving(state, slow):
        began = time.monotonic()
        done = client(state, "--host", "claude", "--deadline=0.5", *more, stdin=payload)
        took = time.monotonic() - began
        go_on.set()
    assert (done.returncode, done.stdout) == (status, b"")
    assert b"no decision within 0.5 s" in done.stderr
    assert took < 10


def test_input_that_does_not_end_is_no_reason_to_wait(state: Path) -> None:
    line = [sys.executable, "-I", "-S", str(CLIENT), "--state", str(state), "--deadline", "0.5"]
    with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.wait(20) == 2
        assert process.stderr is not None
        assert process.stderr.read()


# --- where they meet -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "environ"),
    [
        ([], {}),
        ([], {"XDG_STATE_HOME": "/var/x"}),
        ([], {"XDG_STATE_HOME": "relative"}),
        ([], {"VIGIL_STATE": "/some/where"}),
        (["--state", "/a/b"], {"VIGIL_STATE": "/some/where"}),
        (["--host", "x", "--state=/a//b/"], {}),
        (["--state", "c"], {}),
    ],
)
def test_the_state_folder_is_found_as_the_gate_finds_it(
    args: list[str], environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from vigil_lang.gate.state import state_path

    for name in ("XDG_STATE_HOME", "VIGIL_STATE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    given = args[-1].removeprefix("--state=") if args else None
    assert wire.state_of(args, os.environ) == str(state_path(given))


def test_a_long_path_has_its_socket_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runtime = Path(os.path.realpath("/tmp")) / f"vigil-test-{os.getpid()}"
    runtime.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    deep = tmp_path / ("d" * 90) / ("e" * 90)
    deep.mkdir(mode=0o700, parents=True)
    try:
        with serving(deep) as daemon:
            assert Path(daemon.path).parent == runtime / f"vigil-{os.geteuid()}"
            assert asked(deep)
        (runtime / f"vigil-{os.geteuid()}").chmod(0o755)
        assert asked(deep) is None
        with pytest.raises(NotServing, match="too long"):
            Server(deep)
    finally:
        shutil.rmtree(runtime)


def _until(question: Callable[[], bool], *, wanted: bool) -> None:
    end = time.monotonic() + 20
    while question() != wanted:
        assert time.monotonic() < end
        time.sleep(0.02)


# --- the end of a process -------------------------------------------------------------------------------------------


def test_what_fails_after_the_answer_does_not_change_it(
    state: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    closed = []

    class Failing:
        def close(self) -> None:
            closed.append(1)
            raise OSError("the disk is gone")

    monkeypatch.setattr(asking, "_standard_input", lambda: b"{}")
    monkeypatch.setattr(asking, "_decided_here", lambda *_: ((b"{}", b"", 0), Failing()))
    monkeypatch.setattr(asking, "_is_alone", lambda: True)
    monkeypatch.setenv("VIGIL_DAEMON", "off")
    assert asking.main(["--state", str(state)]) == 0
    assert (capfdbinary.readouterr().out, closed) == (b"{}", [1])


def test_a_process_ends_at_once_but_after_its_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[int | str] = []
    monkeypatch.setattr(os, "_exit", ended.append)
    # What is registered here is the end of the measurement of all tests.
    monkeypatch.setattr(atexit, "_run_exitfuncs", lambda: ended.append("what was asked for"))
    told = threading.Event()
    telling = threading.Thread(target=told.wait, args=(60,))
    telling.start()
    with pytest.raises(SystemExit, match="2"):
        asking.leave(2)
    assert ended == []
    told.set()
    telling.join()
    monkeypatch.setattr(asking, "_is_alone", lambda: True)
    asking.leave(2)
    assert ended == ["what was asked for", 2]
