"""Telling people that a hold waits for them: by a command, and by a webhook that follows Standard Webhooks.

What is told is bounded and has no control characters. Nobody is asked for an answer here: it comes by a signature.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import os
import signal
import threading
import time
from contextlib import closing, contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeAlias

from vigil_lang.base.files import read_bytes
from vigil_lang.diagnostics.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from http.client import HTTPConnection

    from vigil_lang.gate.settings import Notify
    from vigil_lang.gate.store import Hold

Notice: TypeAlias = dict[str, Any]
"""What is told, as JSON: schema `vigil.notice/1`."""

SECONDS = 10.0
"""How long a command or a webhook may take."""

LONGEST_TEXT = 200
"""Characters of any text in a notice."""

MOST = 20
"""Arguments and reasons in a notice."""

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_SECRET_PREFIX = b"whsec_"


def clipped(text: object, longest: int = LONGEST_TEXT) -> str:
    """A text on one line that a terminal can show, cut at some length."""
    shown = visible(text if isinstance(text, str) else json.dumps(text, ensure_ascii=False))
    return shown if len(shown) <= longest else f"{shown[: longest - 1]}…"


def notice(event: str, hold: Hold, action: object, to: Sequence[str] = ()) -> Notice:
    """What is told of a hold: `event` is `opened` or `escalated`, `action` what was asked for, None where it is not
    known any more, and `to` the keys that are to confirm besides."""
    opened = hold.opened
    given = action if isinstance(action, dict) else {}
    arguments = given.get("input")
    shown = list(arguments.items())[:MOST] if isinstance(arguments, dict) else []
    return {
        "schema": "vigil.notice/1",
        "event": event,
        "hold": hold.id,
        "run": clipped(opened["run"]),
        "agent": clipped(opened["agent"]),
        "tool": clipped(given.get("tool") or "not known"),
        "input": {clipped(name, 60): clipped(value) for name, value in shown},
        "reasons": [{"name": clipped(name), "message": clipped(message)} for name, message in _reasons(hold)[:MOST]],
        "confirm_by": hold.confirm_by,
        "missing": hold.missing,
        "expires": hold.expires,
        "to": list(to),
        "text": clipped(f"{opened['agent']} asks for {given.get('tool') or 'something'}: vigil hold show {hold.id}"),
    }


def _reasons(hold: Hold) -> list[tuple[str, str]]:
    return [
        (f"{each.get('layer') or each['kind']}.{each['name']}", each["message"])
        for each in hold.opened["reasons"]
        if each["asks"] == "hold" and not each.get("lifted")
    ]


def is_set(settings: Notify) -> bool:
    """Whether there is anybody to tell."""
    return bool(settings.command) or settings.webhook is not None


def send(settings: Notify, told: Notice) -> list[str]:
    """Tell what is to be told, and give what failed, in words. It takes no longer than twice `SECONDS`."""
    body = json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode()
    ways = []
    if settings.command:
        ways.append(_by_command(settings.command, body))
    if settings.webhook is not None:
        ways.append(_by_webhook(settings.webhook, settings.secret, f"{told['hold']}.{told['event']}", body))
    return [clipped(f"{told['hold']} was not told: {failure}") for failure in ways if failure is not None]


def _by_command(argv: Sequence[str], body: bytes) -> str | None:
    """A command starts in the root folder, where an agent puts nothing, and is not given the user's key."""
    import subprocess  # late: decisions start nothing

    kept = {name: value for name, value in os.environ.items() if name != "VIGIL_KEY"}
    try:
        process = subprocess.Popen(
            list(argv), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/", env=kept,
            start_new_session=True,
        )  # fmt: skip
    except (OSError, ValueError) as error:
        return f"the command {argv[0]} cannot be started: {error}"
    try:
        process.communicate(body, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return f"the command {argv[0]} took longer than {SECONDS:g} s"
    except OSError as error:
        return f"the command {argv[0]} cannot be written to: {error.strerror}"
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)  # and what it left behind
        process.wait()
    return None if process.returncode == 0 else f"the command {argv[0]} ended with status {process.returncode}"


def _by_webhook(url: str, secret: str | None, name: str, body: bytes) -> str | None:
    """It goes straight where it is sent, by no proxy and no redirect."""
    from http.client import HTTPConnection, HTTPException, HTTPSConnection  # late: decisions need no network
    from urllib.parse import urlsplit, urlunsplit

    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
        if parts.scheme != "https" and not (parts.scheme == "http" and host in _LOOPBACK):
            return "a webhook is an https address, or http on this machine"
        if secret is None:
            return "a webhook needs a secret to be signed with (notify.secret in the settings)"
        headers = {"Content-Type": "application/json"} | signature_headers(
            _secret(secret), name, int(time.time()), body
        )
        connection = (HTTPSConnection if parts.scheme == "https" else HTTPConnection)(host, port, timeout=SECONDS)
        with closing(connection), _ended_by(connection, time.monotonic() + SECONDS):
            place = urlunsplit(("", "", parts.path or "/", parts.query, ""))
            connection.request("POST", place, body, headers)
            status = connection.getresponse().status
        return None if 200 <= status < 300 else f"the webhook answered {status}"
    except (OSError, ValueError, HTTPException) as error:
        return f"the webhook failed: {type(error).__name__}: {error}"


@contextmanager
def _ended_by(connection: HTTPConnection, end: float) -> Iterator[None]:
    """A connection that ends at a time, also where the other side sends a byte now and then."""

    import socket

    def cut() -> None:
        with suppress(OSError, AttributeError):  # it has no socket (any more)
            connection.sock.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(max(0.0, end - time.monotonic()), cut)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def signature_headers(secret: bytes, name: str, at: int, body: bytes) -> dict[str, str]:
    """The headers of Standard Webhooks: an id, a time in POSIX seconds and an HMAC-SHA256 over both and the body."""
    signed = hmac.new(secret, f"{name}.{at}.".encode() + body, hashlib.sha256).digest()
    return {
        "webhook-id": name,
        "webhook-timestamp": str(at),
        "webhook-signature": f"v1,{base64.b64encode(signed).decode()}",
    }


def _secret(path: str) -> bytes:
    """The secret in a file: `whsec_` and base64, as Standard Webhooks has it, or else its bytes."""
    data = read_bytes(path, 10_000).strip()
    if not data:
        raise ValueError("the file of the secret is empty")
    if not data.startswith(_SECRET_PREFIX):
        return data
    try:
        return base64.b64decode(data.removeprefix(_SECRET_PREFIX), validate=True)
    except binascii.Error:
        raise ValueError("the secret is no base64") from None
