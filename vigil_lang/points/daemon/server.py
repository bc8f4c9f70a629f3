"""The daemon of a state folder: it answers whole hook invocations, one thread each, with what it keeps between them.

It decides nothing that a hook alone would not decide: both call `points.hook.handle` with the arguments, the input, the
environment and the working directory of the invocation, and both write to one log under one lock. So it may be killed
at any moment; whoever asked decides alone.
"""

from __future__ import annotations

import fcntl
import os
import signal
import socket
import sys
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from vigil_lang.base.files import real_path
from vigil_lang.points.daemon.wire import (
    MAX_HELLO,
    READY,
    STALE,
    STARTED,
    STOP,
    Garbled,
    hello,
    pack,
    peer,
    private,
    receive,
    socket_path,
    state_of,
)
from vigil_lang.points.hook import Gates, handle
from vigil_lang.points.invocation import Invocation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from vigil_lang.points.invocation import Reply

IDLE = 900.0
"""Seconds without an invocation after which the daemon ends."""

THREADS = 32
"""Invocations at once; the others wait, and go on without the daemon where that takes long."""

HANDOVER = 5.0
"""Seconds that a client has to send its invocation, and to take the answer."""

DRAIN = 20.0
"""Seconds that what was begun has when the daemon ends."""

MOST_MEMORY = 1 << 30
"""Bytes after which the daemon ends between two invocations: what it keeps of runs is read again by the next."""

_LOCK = "daemon.lock"
_POLL = 0.5
_CODE_SECONDS = 1.0


class NotServing(Exception):
    """The daemon cannot start; the text says why."""


class AlreadyServed(NotServing):
    """Another daemon serves the state folder."""


class Server:
    """A daemon that listens, until `stopping` is set. `answer` is what it answers with, for tests.

    Raises:
        AlreadyServed: another one has the state folder.
        NotServing: the state folder is not the user's own, or no socket can be made.
    """

    def __init__(
        self,
        state: Path,
        idle: float = IDLE,
        answer: Callable[[Invocation, Gates], Reply] = handle,
        stopping: threading.Event | None = None,
    ) -> None:
        self.gates = Gates()
        self._answer = answer
        self._idle = idle
        self._state = real_path(state)
        if not private(self._state):
            raise NotServing(f"the state folder {state} has to be the user's own, of mode 0700")
        self._folder = _identity(self._state)
        self._lock = self._locked()
        try:
            self.path, self._listener = _listening(self._state)
        except NotServing:
            os.close(self._lock)
            raise
        self._socket = _identity(self.path)
        with suppress(OSError):
            os.unlink(os.path.join(self._state, STARTED))  # noqa: PTH108, PTH118 - texts
        self._code = _Code()
        self._free = threading.BoundedSemaphore(THREADS)
        self._last = time.monotonic()
        self._looked = 0.0
        self._mutex = threading.Lock()
        self._until: dict[socket.socket, float] = {}
        self.stopping = stopping or threading.Event()

    def _locked(self) -> int:
        """The lock that the one daemon of a folder has as long as it lives."""
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            handle = os.open(os.path.join(self._state, _LOCK), flags, 0o600)  # noqa: PTH118 - a text
        except OSError as error:
            raise NotServing(f"the state folder {self._state} cannot be written: {error.strerror}") from error
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(handle)
            raise AlreadyServed(f"another daemon serves {self._state}") from error
        return handle

    def run(self) -> None:
        """Answer until there is nothing to do for long, or `stopping` is set; then finish what was begun, and sign."""
        self._listener.settimeout(_POLL)
        try:
            while not self.stopping.is_set() and not self._is_over():
                self._cut_slow()
                if not self._free.acquire(timeout=_POLL):
                    continue
                try:
                    connection = self._listener.accept()[0]
                except OSError:
                    self._free.release()
                    continue
                self._last = time.monotonic()
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()
        finally:
            self._close()

    def _is_over(self) -> bool:
        """Whether it has been idle for long, is too large, or its folder is not there any more; once in a while."""
        now = time.monotonic()
        if now - self._looked < _POLL:
            return False
        self._looked = now
        idle = now - self._last
        return idle > self._idle or self._is_moved() or (idle < 2 * _POLL and _memory() > MOST_MEMORY)

    def _is_moved(self) -> bool:
        """Whether what lies at the paths of its folder and its socket is another, or nothing."""
        return _identity(self._state) != self._folder or _identity(self.path) != self._socket

    def _serve(self, connection: socket.socket) -> None:
        try:
            with connection, suppress(OSError, Garbled):
                self._converse(connection)
        finally:
            self._last = time.monotonic()
            self._free.release()

    def _converse(self, connection: socket.socket) -> None:
        if peer(connection) not in (None, os.geteuid()):
            return
        with self._handing_over(connection):
            if not self._knows(_line(connection)):
                connection.sendall(STALE)
                return
            connection.sendall(READY)
            invocation = _invocation(*receive(connection, 4))
        meant = state_of(invocation.args, invocation.env)
        if meant is None or real_path(meant) != self._state:
            return
        invocation = replace(invocation, args=(*invocation.args, "--state", meant))
        reply = self._answer(invocation, self.gates)
        if _identity(self._state) != self._folder:
            return  # what was decided went into a log that nobody reads: the client decides anew
        with self._handing_over(connection):
            connection.sendall(pack((reply.stdout, reply.stderr, b"%d" % reply.status)))

    @contextmanager
    def _handing_over(self, connection: socket.socket) -> Iterator[None]:
        """Within it, the connection is cut when the time for all of it is over, however slowly it goes on."""
        self._until[connection] = time.monotonic() + HANDOVER
        try:
            yield
        finally:
            del self._until[connection]

    def _cut_slow(self) -> None:
        now = time.monotonic()
        for connection, end in tuple(self._until.items()):
            if now > end:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def _knows(self, said: bytes) -> bool:
        """Whether a client is of the same program, and this daemon still is what lies on the disk; else it may end."""
        if said == STOP:
            self.stopping.set()
        if self.stopping.is_set() or self._is_moved():
            return False
        if said != hello():
            if _version(said) > _version(hello()):
                self.stopping.set()
            return False
        with self._mutex:
            if self._code.is_changed():
                self.stopping.set()
        return not self.stopping.is_set()

    def _close(self) -> None:
        moved = self._is_moved()
        if not moved:
            with suppress(OSError):
                os.unlink(self.path)  # noqa: PTH108 - a text
        self._listener.close()
        end = time.monotonic() + DRAIN
        for _ in range(THREADS):
            while not self._free.acquire(timeout=_POLL) and time.monotonic() < end:
                self._cut_slow()
        if not moved:
            self.gates.sign()
        self.gates.close()
        os.close(self._lock)


def _listening(state: str) -> tuple[str, socket.socket]:
    """A socket of mode 0600, and its path. What lies there is of a daemon that is gone: the caller has the lock.

    Raises:
        NotServing: there can be none.
    """
    path = socket_path(state, make=True)
    if path is None:
        raise NotServing(f"the path of the state folder {state} is too long for a socket")
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        with suppress(FileNotFoundError):
            os.unlink(path)  # noqa: PTH108 - a text
        listener.bind(path)
        listener.listen(256)
    except OSError as error:
        listener.close()
        raise NotServing(f"nothing can listen at {path}: {error.strerror}") from error
    finally:
        os.umask(before)
    return path, listener


def _line(connection: socket.socket) -> bytes:
    """The first line that a client says, byte by byte: what follows is read elsewhere.

    Raises:
        Garbled: it is too long.
        OSError: the client is gone.
    """
    said = connection.recv(MAX_HELLO)  # a client says nothing more until it is answered
    while not said.endswith(b"\n"):
        part = connection.recv(MAX_HELLO)
        if not part:
            raise ConnectionResetError("the client is gone")
        said += part
        if len(said) > MAX_HELLO:
            raise Garbled("the first line is too long")
    return said


def _version(said: bytes) -> tuple[int, ...]:
    """The version in a first line; () where there is none. After it comes a path, which may have spaces."""
    words = said.split(b" ", 2)
    parts = words[1].split(b".") if len(words) == 3 and words[0] == b"vigil/1" else []
    return tuple(int(part) for part in parts) if all(part.isdigit() and len(part) < 9 for part in parts) else ()


def _invocation(stdin: bytes, cwd: bytes, args: bytes, environ: bytes) -> Invocation:
    """An invocation from what a client sent."""
    pairs = (entry.partition(b"=") for entry in environ.split(b"\0") if entry)
    env = {os.fsdecode(name): os.fsdecode(value) for name, _, value in pairs}
    given = tuple(map(os.fsdecode, args.split(b"\0"))) if args else ()
    return Invocation(given, stdin, os.fsdecode(cwd), env)


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


class _Code:
    """This program's own modules as they were when they were loaded."""

    def __init__(self) -> None:
        self._began = time.time()
        self._written: dict[str, float] = {}
        self._seen = 0.0
        self.is_changed()

    def is_changed(self) -> bool:
        """Whether one of them was written since; looked at once a second."""
        if time.monotonic() - self._seen < _CODE_SECONDS:
            return False
        self._seen = time.monotonic()
        for name, module in tuple(sys.modules.items()):
            path = getattr(module, "__file__", None) if name.startswith("vigil_lang") else None
            if path is None:
                continue
            try:
                written = os.stat(path).st_mtime  # noqa: PTH116 - some hundred texts
            except OSError:
                return True
            if written > self._began or self._written.setdefault(path, written) != written:
                return True
        return False


def _memory() -> int:
    """Bytes of memory that this process has now; 0 where that is not known."""
    try:
        with open("/proc/self/statm", "rb") as file:  # noqa: PTH123
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


def serve(state: Path, idle: float = IDLE, ready: Callable[[str], None] = lambda _: None) -> None:
    """Be the daemon of a state folder until it is over, or a signal ends it; `ready` is told where it listens.

    Raises:
        NotServing: it cannot start.
    """
    stopping = threading.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, lambda *_: stopping.set())
    server = Server(state, idle, stopping=stopping)
    ready(server.path)
    server.run()


def start(argv: Sequence[str]) -> int:
    """Be a daemon that a client started: apart from its terminal, its folder and its files. Gives the exit status."""
    state = state_of(argv, os.environ)
    with suppress(OSError):  # it leads its session already
        os.setsid()
    os.chdir("/")
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    os.umask(0o077)
    try:
        serve(Path(state or ""))
    except NotServing:
        return 2
    return 0


def stop(state: Path) -> bool:
    """End the daemon of a state folder; gives whether there was one. What it began it finishes.

    Raises:
        NotServing: it does not end.
    """
    folder = real_path(state)
    try:
        lock = os.open(os.path.join(folder, _LOCK), os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)  # noqa: PTH118 - a text
    except OSError:
        return False
    try:
        if _is_free(lock):
            return False
        path = socket_path(folder)
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(HANDOVER)
            connection.connect(path or "")
            connection.sendall(STOP)
            connection.recv(1)
        end = time.monotonic() + DRAIN + HANDOVER
        while time.monotonic() < end:
            if _is_free(lock):
                return True
            time.sleep(0.02)
    finally:
        os.close(lock)
    raise NotServing(f"the daemon of {folder} does not end")


def _is_free(lock: int) -> bool:
    """Whether nobody has a lock; it is given back at once."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    fcntl.flock(lock, fcntl.LOCK_UN)
    return True
