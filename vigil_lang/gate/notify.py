"""Telling people that a hold waits for them: by a command, by a webhook that follows Standard Webhooks, and by
templates over these two (`notices/`). Nobody is asked for an answer here: it comes by a signature.
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
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, get_args

from vigil_lang.base.files import read_bytes
from vigil_lang.gate.notices.notice import clipped, name_of
from vigil_lang.patterns import regex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from http.client import HTTPConnection

    from vigil_lang.gate.notices.notice import Notice
    from vigil_lang.gate.settings import Notify

SECONDS = 10.0
"""How long a command or a webhook may take."""

Way: TypeAlias = Literal["command", "webhook", "desktop", "slack", "mail"]
WAYS: tuple[Way, ...] = get_args(Way)
"""The ways that people are told by, as the settings name them."""

GONE = 410

_SECONDS = regex("[0-9]{1,6}")
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_SECRET_PREFIX = b"whsec_"


class Failed(NamedTuple):
    """Why somebody was not told, how many seconds they ask to be left alone, and whether to try again at all."""

    message: str
    wait: float | None = None
    for_good: bool = False


def ways(settings: Notify) -> tuple[Way, ...]:
    """The ways that are set: each is told on its own."""
    return tuple(way for way in WAYS if getattr(settings, way))


def send(settings: Notify, way: Way, told: Notice) -> Failed | None:
    """Tell something by a way; None where that was done. It takes no longer than `SECONDS`."""
    failed = _sent(settings, way, told)
    return None if failed is None else failed._replace(message=clipped(failed.message))


def _sent(settings: Notify, way: Way, told: Notice) -> Failed | None:
    try:
        match way:
            case "command":
                return _by_command(settings.command, _json(told))
            case "desktop" if settings.desktop is not None:
                from vigil_lang.gate.notices import desktop

                return _by_command(desktop.filled(settings.desktop.command, told), b"")
            case "mail" if settings.mail is not None:
                from vigil_lang.gate.notices import mail

                return _by_command(settings.mail.command, mail.message(settings.mail, told))
            case "slack" if settings.slack is not None:
                from vigil_lang.gate.notices import slack

                address = read_bytes(settings.slack.address, 10_000).decode("ascii").strip()
                return _by_post("Slack", address, _json(slack.message(told)))
            case "webhook" if settings.webhook is not None:
                return _by_webhook(settings.webhook, settings.secret or (), told)
            case _:
                return Failed(f"nobody is told by {way}")
    except (OSError, ValueError) as error:  # what the settings name cannot be read, or is none
        return Failed(f"the {way} failed: {error}")


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _by_command(argv: Sequence[str], body: bytes) -> Failed | None:
    """A command starts in the root folder, where an agent puts nothing, and is not given the user's key."""
    import subprocess  # late: decisions start nothing

    kept = {name: value for name, value in os.environ.items() if name != "VIGIL_KEY"}
    try:
        process = subprocess.Popen(
            list(argv), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/", env=kept,
            start_new_session=True,
        )  # fmt: skip
    except (OSError, ValueError) as error:
        return Failed(f"the command {argv[0]} cannot be started: {error}")
    try:
        process.communicate(body, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return Failed(f"the command {argv[0]} took longer than {SECONDS:g} s")
    except OSError as error:
        return Failed(f"the command {argv[0]} cannot be written to: {error.strerror}")
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)  # and what it left behind
        process.wait()
    status = process.returncode
    return None if status == 0 else Failed(f"the command {argv[0]} ended with status {status}")


def _by_webhook(url: str, secret: str | Sequence[str], told: Notice) -> Failed | None:
    def signed() -> dict[str, str]:
        paths = (secret,) if isinstance(secret, str) else secret
        if not paths:
            raise ValueError("a webhook needs a secret to be signed with (notify.secret in the settings)")
        return signature_headers([_secret(path) for path in paths], name_of(told), int(time.time()), body)

    body = _json(told)
    return _by_post("the webhook", url, body, signed)


def _by_post(whom: str, url: str, body: bytes, signed: Callable[[], Mapping[str, str]] = dict) -> Failed | None:
    """It goes straight where it is sent, by no proxy and no redirect. An address that is gone for good (410, as
    Standard Webhooks has it) is not tried again. What failed is told without the address, which may be a secret."""
    from http.client import HTTPConnection, HTTPException, HTTPSConnection  # late: decisions need no network
    from urllib.parse import urlsplit, urlunsplit

    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
        if parts.scheme != "https" and not (parts.scheme == "http" and host in _LOOPBACK):
            return Failed("a webhook is an https address, or http on this machine")
        if " " in url or not (url.isascii() and url.isprintable()):
            return Failed(f"the address of {whom} is none")
        headers = {"Content-Type": "application/json", **signed()}
        connection = (HTTPSConnection if parts.scheme == "https" else HTTPConnection)(host, port, timeout=SECONDS)
        with closing(connection), _ended_by(connection, time.monotonic() + SECONDS):
            place = urlunsplit(("", "", parts.path or "/", parts.query, ""))
            connection.request("POST", place, body, headers)
            answer = connection.getresponse()
            status, wait = answer.status, answer.getheader("Retry-After") or ""
    except (OSError, ValueError, HTTPException) as error:
        return Failed(f"{whom} failed: {type(error).__name__}: {error}".replace(url, "its address"))
    if 200 <= status < 300:
        return None
    return Failed(f"{whom} answered {status}", float(wait) if _SECONDS.fullmatch(wait) else None, status == GONE)


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


def signature_headers(secrets: Sequence[bytes], name: str, at: int, body: bytes) -> dict[str, str]:
    """The headers of Standard Webhooks: an id, a time in POSIX seconds, and for each secret an HMAC-SHA256 over both
    and the body."""
    signed = [hmac.new(secret, f"{name}.{at}.".encode() + body, hashlib.sha256).digest() for secret in secrets]
    return {
        "webhook-id": name,
        "webhook-timestamp": str(at),
        "webhook-signature": " ".join(f"v1,{base64.b64encode(each).decode()}" for each in signed),
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
