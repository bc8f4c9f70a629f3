"""One hook invocation from start to end: asked of the daemon, else decided in this process, and within a deadline.

The client trusts what it decides itself as much as what the daemon says: both are `points.hook.handle`. What a daemon
that was killed may have decided already is asked again under the same call id, which the gate answers as before.
"""

from __future__ import annotations

import _signal as signals  # type: ignore[import-not-found]  # `signal` without `enum`
import os
import sys

from vigil_lang.points.daemon.wire import (
    MAX_BYTES,
    READY,
    STARTED,
    Garbled,
    hello,
    pack,
    peer,
    private,
    receive,
    socket_path,
    state_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from socket import socket
    from typing import NoReturn

    from vigil_lang.points.hook import Gates

DEADLINE = 20.0
"""Seconds that a hook has, beside those that it waits for a person (`--wait`), where the registration says nothing."""

PATIENCE = 1.0
"""Seconds that a busy daemon has to take an invocation up."""

RESTART = 10.0
"""Seconds until another try, where a daemon was started and did not come up."""

_GARBAGE = 100_000
"""So many objects more are made before garbage is looked for: one decision hardly makes any."""

MARK = b"vigil:done\n"
"""The last line of what a hook prints in time with `--mark`: for a wrapper that checks whether it came to its end."""

_KEPT = ("HOME", "USER", "LOGNAME", "PATH", "TZ", "TMPDIR", "DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS")
_KEPT_PREFIXES = ("LC_", "LANG", "XDG_", "VIGIL_CACHE")

_ENDS = ("Stop", "SubagentStop", "AfterAgent", "SessionEnd", "stop", "subagentStop", "agentStop", "sessionEnd")
"""The hosts' names of what comes at the end of a turn."""

Said = tuple[bytes, bytes, int]
"""What goes to standard output and standard error, and the exit status."""


class _Call:
    """What the deadline has to know of the invocation under way."""

    stdin = b""
    observes = False


def main(argv: list[str]) -> int:
    """Answer the invocation of a hook on standard input; gives its exit status."""
    call = _Call()
    args, deadline, mark = _own_options(argv)
    call.observes = "--observe" in args
    signals.signal(signals.SIGALRM, lambda *_: _late(call, deadline))
    signals.setitimer(signals.ITIMER_REAL, deadline)
    cold, gates = False, None
    try:
        call.stdin = _standard_input()
        state = None if os.environ.get("VIGIL_DAEMON") == "off" else state_of(args, os.environ)
        said = None if state is None else _asked(state, args, call.stdin)
        if said is None:
            cold = state is not None
            said, gates = _decided_here(args, call.stdin)
    except Exception as error:  # whatever it is, the call does not pass
        said = _block(call, f"{type(error).__name__}: {error}")
    signals.setitimer(signals.ITIMER_REAL, 0)
    _tell((_marked(said[0], mark), *said[1:]))
    if gates is not None and _is_alone():
        _let_go(gates)
    if cold and state is not None:
        _start_daemon(state)
    return said[2]


def _own_options(argv: list[str]) -> tuple[list[str], float, bytes]:
    """The arguments without the client's own (`--deadline S`, `--mark`), the seconds that it has, and the mark."""
    args: list[str] = []
    waits, deadline, mark = 0.0, 0.0, b""
    given = iter(argv)
    for argument in given:
        name, equals, value = argument.partition("=")
        if argument == "--mark":
            mark = MARK
        elif name == "--deadline":
            deadline = _seconds(value if equals else next(given, ""))
        else:
            args.append(argument)
            if name == "--wait":
                following = value if equals else next(given, "")
                if not equals:
                    args.append(following)
                waits = _seconds(following)
    return args, deadline or waits + DEADLINE, mark


def _seconds(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        return 0.0  # what is wrong with it is said where the invocation is read
    return found if 0 < found < 1e6 else 0.0


def _standard_input() -> bytes:
    parts: list[bytes] = []
    try:
        while part := os.read(0, 1 << 20):
            parts.append(part)
    except OSError:
        return b""  # it is closed; nothing can be decided about nothing
    return b"".join(parts)


# --- with the daemon ------------------------------------------------------------------------------------------------


def _asked(state: str, args: list[str], stdin: bytes) -> Said | None:
    """What the daemon answers; None where there is none, or it does not answer: then it is decided here."""
    path = socket_path(state)
    if path is None or not os.path.lexists(path):
        return None
    try:
        import _socket

        connection: socket = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)  # type: ignore[assignment]
    except (ImportError, OSError):
        return None
    try:
        connection.settimeout(PATIENCE)
        connection.connect(path)
        if peer(connection) not in (None, os.geteuid()):
            return None
        connection.sendall(hello())
        if connection.recv(1) != READY:
            return None
        environ = b"\0".join(name + b"=" + value for name, value in os.environb.items())
        arguments = b"\0".join(map(os.fsencode, args))
        invocation = pack((stdin, os.fsencode(_directory()), arguments, environ))
        if len(invocation) > MAX_BYTES:
            return None
        connection.settimeout(None)  # from here the deadline of the whole call holds
        connection.sendall(invocation)
        stdout, stderr, status = receive(connection, 3)
        return stdout, stderr, int(status)
    except (OSError, ValueError, Garbled):
        return None
    finally:
        connection.close()


def _directory() -> str:
    try:
        return os.getcwd()  # noqa: PTH109 - a text
    except OSError:
        return ""


def _start_daemon(state: str) -> None:
    """Start a daemon for the next call, unless one was started a moment ago. Nobody waits for it."""
    try:
        if not private(state):
            return
        stamp = os.path.join(state, STARTED)  # noqa: PTH118 - a text
        flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        handle = os.open(stamp, flags, 0o600)
        try:
            age = _now() - os.fstat(handle).st_mtime
            if 0 <= age < RESTART and os.fstat(handle).st_size:
                return
            os.ftruncate(handle, 0)
            os.write(handle, b"started\n")
        finally:
            os.close(handle)
        client = os.path.join(os.path.dirname(os.path.abspath(__file__)), "client.py")  # noqa: PTH100, PTH118, PTH120
        environ = {
            name: value for name, value in os.environ.items() if name in _KEPT or name.startswith(_KEPT_PREFIXES)
        }
        nothing = [
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
            (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
        ]
        program = [sys.executable, "-I", "-S", client, "serve", "--state", state, "--detached"]
        os.posix_spawn(sys.executable, program, environ, file_actions=nothing)
    except OSError:
        return  # the next call is decided without a daemon too, and tries again


def _now() -> float:
    from time import time

    return time()


# --- without ----------------------------------------------------------------------------------------------------------


def _decided_here(args: list[str], stdin: bytes) -> tuple[Said, Gates]:
    import gc

    gc.set_threshold(_GARBAGE)
    find_packages()
    from vigil_lang.base.processes import import_path

    sys.path[:] = import_path()
    _import_msgspec()
    from vigil_lang.points.hook import Gates, handle
    from vigil_lang.points.invocation import Invocation

    gates = Gates()
    reply = handle(Invocation(tuple(args), stdin, _directory(), dict(os.environ)), gates)
    return (reply.stdout, reply.stderr, reply.status), gates


def leave(status: int) -> NoReturn:
    """End this process after what was asked to happen at its end: nobody needs it to take apart, piece by piece, what
    it imported. Where threads still tell people of a hold, it ends after them."""
    if not _is_alone():
        sys.exit(status)
    if (asked := sys.modules.get("atexit")) is not None:
        asked._run_exitfuncs()
    os._exit(status)


def _let_go(gates: Gates) -> None:
    """Close what was opened for an answer that was told already: nothing changes it any more."""
    try:
        gates.close()
    except Exception:  # as if the process had been killed: the next one finds everything in the log
        return


def _is_alone() -> bool:
    return "threading" not in sys.modules or sys.modules["threading"].active_count() == 1


def find_packages() -> None:
    """Let this process import what is installed, where it was started without (`python -S`)."""
    if "site" not in sys.modules:
        import site

        site.main()


def _import_msgspec() -> None:
    """Import `msgspec` without `typing_extensions`, which it would take where that is installed: `typing` has the same,
    and is there already."""
    name = "typing_extensions"
    if name in sys.modules:
        return
    sys.modules[name] = None  # type: ignore[assignment]  # "there is no such module"
    try:
        import msgspec  # noqa: F401
    finally:
        del sys.modules[name]


def _tell(said: Said) -> None:
    """Write an answer; where nobody reads it, nobody is told."""
    for target, data in ((2, said[1]), (1, said[0])):
        try:
            while data:
                data = data[os.write(target, data) :]
        except OSError:
            continue


def _marked(stdout: bytes, mark: bytes) -> bytes:
    """An answer with the mark in a line of its own."""
    return stdout + b"\n" + mark if mark and stdout and not stdout.endswith(b"\n") else stdout + mark


def _late(call: _Call, deadline: float) -> None:
    """The deadline is over: block, and be gone, whatever is under way."""
    said = _block(call, f"no decision within {deadline:g} s")
    _tell(said)
    os._exit(said[2])


def _block(call: _Call, why: str) -> Said:
    """What stops a call at every host when we cannot judge: status 2, a reason, and nothing on standard output.

    At the end of a turn it is said and does not block: hosts that are blocked there go on for ever. Nor does it block
    where the registration only observes.
    """
    text = f"vigil: nothing could be decided: {why}\n".encode("ascii", "backslashreplace")
    return b"", text, 0 if call.observes or _ends_turn(call.stdin) else 2


def _ends_turn(stdin: bytes) -> bool:
    try:
        import json

        event = json.loads(stdin)["hook_event_name"]
    except Exception:  # then it is taken for a call
        return False
    return event in (
        "Stop",
        "SubagentStop",
        "AfterAgent",
        "SessionEnd",
        "stop",
        "subagentStop",
        "agentStop",
        "sessionEnd",
    )
