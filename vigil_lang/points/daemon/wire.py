"""What the client and the daemon say to each other, and where they meet. Every hook pays for what is imported here.

The client says which program it is (`hello`), the daemon answers READY when a thread of it is free; only then is the
invocation sent, so that what was not taken up is decided about by the client alone. One invocation a connection.
"""

from __future__ import annotations

import os
import sys

from vigil_lang.version import __version__

TYPE_CHECKING = False  # without `typing`, whose import takes longer than all of this
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from socket import socket

READY = b"+"
STALE = b"-"
"""The daemon is of another version, or its code or state folder changed: decide without it."""

STOP = b"vigil/1 stop\n"
"""Said instead of `hello`: the daemon ends, when it has finished what it began."""

MAX_HELLO = 8192
MAX_BYTES = 20_000_000
"""Bytes of an invocation, and of an answer."""

STARTED = "daemon.started"
"""The file in a state folder that says that a daemon was started and is not up yet."""

_SOCKET = "daemon.sock"
_LONGEST_PATH = 100
"""Bytes of the path of a socket: Linux has 108, others 104, one of which ends it."""

_FOLDER = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))  # noqa: PTH100, PTH120 - texts


class Garbled(Exception):
    """What was received is not of the agreed form."""


def hello() -> bytes:
    """Which program this is: its version and where its code lies."""
    return b"vigil/1 " + __version__.encode() + b" " + os.fsencode(_FOLDER) + b"\n"


def pack(fields: Sequence[bytes]) -> bytes:
    """Fields as they are sent: the length of all, then each after its own length."""
    body = b"".join(len(field).to_bytes(4, "big") + field for field in fields)
    return len(body).to_bytes(4, "big") + body


def receive(connection: socket, count: int) -> list[bytes]:
    """So many fields from a connection.

    Raises:
        Garbled: they are longer than allowed, or do not fit the length of all.
        OSError: the other side is gone, or too slow.
    """
    length = int.from_bytes(_exactly(connection, 4), "big")
    if length > MAX_BYTES:
        raise Garbled(f"{length:,} bytes are announced")
    body = _exactly(connection, length)
    fields: list[bytes] = []
    at = 0
    while len(fields) < count:
        end = at + 4 + int.from_bytes(body[at : at + 4], "big")
        if end > length or at + 4 > length:
            raise Garbled("a field is longer than the whole")
        fields.append(body[at + 4 : end])
        at = end
    if at != length:
        raise Garbled("there are more fields than agreed")
    return fields


def _exactly(connection: socket, count: int) -> bytes:
    """So many bytes; memory is taken as they arrive, not as they are announced."""
    parts: list[bytes] = []
    left = count
    while left:
        part = connection.recv(min(left, 1 << 18))
        if not part:
            raise ConnectionResetError("the other side is gone")
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def peer(connection: socket) -> int | None:
    """The user at the other end of a connection; None where the system does not say."""
    try:
        if sys.platform == "linux":
            found = connection.getsockopt(1, 17, 12)  # SOL_SOCKET, SO_PEERCRED: pid, uid, gid
        elif sys.platform == "darwin":
            found = connection.getsockopt(0, 1, 76)  # SOL_LOCAL, LOCAL_PEERCRED: version, uid, …
        else:
            return None
    except OSError:
        return None
    return int.from_bytes(found[4:8], sys.byteorder)


def state_of(args: Sequence[str], environ: Mapping[str, str]) -> str | None:
    """The state folder that an invocation means, as `gate.state.state_path` finds it; None where that is not known."""
    given = environ.get("VIGIL_STATE", "")
    for place, argument in enumerate(args):
        if argument == "--state":
            given = args[place + 1] if place + 1 < len(args) else ""
        elif argument.startswith("--state="):
            given = argument[8:]
    if given:
        return os.path.abspath(given)  # noqa: PTH100 - a text
    home = environ.get("HOME", "")
    if sys.platform == "darwin":
        return f"{home}/Library/Application Support/vigil" if home else None
    base = environ.get("XDG_STATE_HOME", "").strip()
    if base.startswith("/"):
        return os.path.join(base, "vigil")  # noqa: PTH118 - a text
    return f"{home}/.local/state/vigil" if home.startswith("/") else None


def private(folder: str) -> bool:
    """Whether a folder is the user's own, and nobody else may look into it."""
    try:
        found = os.lstat(folder)
    except OSError:
        return False
    return found.st_mode & 0o170077 == 0o040000 and found.st_uid == os.geteuid()


def make_private(folder: str) -> None:
    """Make a folder that nobody else may look into, where none is; whose it is, is for `private` to tell."""
    try:
        os.mkdir(folder, 0o700)  # noqa: PTH102 - a text
    except OSError:
        return


def socket_path(state: str, make: bool = False) -> str | None:
    """Where the daemon of a state folder listens; None where that is no safe place.

    In the folder itself; where that is too long a name for a socket, in a folder of the user's own for such. `make`
    makes that folder.
    """
    if not private(state):
        return None
    path = os.path.join(state, _SOCKET)  # noqa: PTH118 - a text
    if len(os.fsencode(path)) <= _LONGEST_PATH:
        return path
    base = os.environ.get("XDG_RUNTIME_DIR") or "/tmp"
    folder = os.path.join(base, f"vigil-{os.geteuid()}")  # noqa: PTH118
    if len(os.fsencode(folder)) > _LONGEST_PATH - 40:
        folder = f"/tmp/vigil-{os.geteuid()}"
    if make:
        make_private(folder)
    if not private(folder):
        return None
    from hashlib import sha256

    name = sha256(os.fsencode(os.path.realpath(state))).hexdigest()[:32]
    return os.path.join(folder, f"{name}.sock")  # noqa: PTH118
