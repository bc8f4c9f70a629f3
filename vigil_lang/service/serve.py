"""`vigil gate serve`: both addresses in one process and one event loop, until it is told to end.

SIGTERM, or SIGINT, ends it in order: nothing new is taken, what waits is answered, the log is signed. The second one
ends it at once.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import stat
import sys
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any

import uvicorn
import uvloop

from vigil_lang.gate.gate import Gate
from vigil_lang.service import tracing
from vigil_lang.service.apps import control_app, data_app
from vigil_lang.service.service import Origins, Service
from vigil_lang.service.wire import BoundedProtocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from starlette.types import ASGIApp

    from vigil_lang.gate.settings import ServiceSettings

DRAIN_SECONDS = 20
"""How long what is under way may take when the service ends."""

SWITCH = 0.001
"""Seconds for which the thread that decides keeps the interpreter from the one that reads and answers."""

CIPHERS = "ECDHE+AESGCM:ECDHE+CHACHA20"
"""Of TLS 1.2. The library's own choice has none that authenticate what they encrypt, and some that do neither."""

AT_ONCE = 130
"""The exit status where it was told twice to end."""


class NotServing(Exception):
    """The service cannot begin: the text says why."""


@dataclass(frozen=True, slots=True)
class Listen:
    """Where a service listens: ports of `host`, or unix sockets in their place; with a certificate and its key, TLS."""

    host: str = "127.0.0.1"
    port: int = 0
    control_port: int = 0
    uds: str | None = None
    control_uds: str | None = None
    tls_cert: str | None = None
    tls_key: str | None = None


def serve(state: Path, listen: Listen, *, no_auth: bool, tell: Callable[[str], None]) -> int:
    """Answer until a signal ends it, and give the exit status. `tell` is given the lines that say where, once both
    addresses answer.

    Raises:
        StateError: the state folder cannot be read.
        NotServing: it cannot listen there, or must not.
    """
    local = _is_local(listen)
    if no_auth and not local:
        raise NotServing("--no-auth is for this machine alone: the address is another one")
    gate = Gate(state)
    settings = gate.settings.service
    if not local and listen.tls_cert is None and not _behind_tls(settings):
        raise NotServing(
            "beyond this machine tokens need TLS: give --tls-cert and --tls-key or, where another program ends TLS in "
            "front of this one, https addresses as `origin` and `data_origin` under [service] in the settings"
        )
    try:
        tracing.configure()
    except tracing.NoExporter as error:
        raise NotServing(str(error)) from error
    data, control = _bound(listen)
    try:
        origins = Origins(
            settings.data_origin or _origin(data, listen), settings.origin or _origin(control, listen), local
        )
        service = Service(gate, origins, no_auth=no_auth)
        sys.setswitchinterval(SWITCH)
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(_run(service, (data, control), listen, no_auth, tell))
        gate.checkpoint()
    finally:
        for path in (listen.uds, listen.control_uds):
            if path is not None:
                with suppress(OSError):
                    Path(path).unlink()
        gate.close()
    return 0


async def _run(
    service: Service,
    sockets: tuple[socket.socket, socket.socket],
    listen: Listen,
    no_auth: bool,
    tell: Callable[[str], None],
) -> None:
    service.start()
    servers = [_Server(_config(app, listen)) for app in (data_app(service), control_app(service))]
    ending = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, _end, service, servers, ending)
    with service.gate.watching():
        tasks = [asyncio.create_task(server.serve(sockets=[one])) for server, one in zip(servers, sockets, strict=True)]
        while not all(server.started for server in servers) and not any(task.done() for task in tasks):
            await asyncio.sleep(0.005)
        if all(server.started for server in servers):
            _announce(service, no_auth, tell)
        try:
            await asyncio.gather(*tasks)
        finally:
            await service.stop()


def _announce(service: Service, no_auth: bool, tell: Callable[[str], None]) -> None:
    tell(f"data {service.origins.data}")
    tell(f"control {service.origins.control}")
    if not no_auth:
        tell(f"token {service.auth.token}")
        tell(f"sign-in {service.auth.sign_in_link(_named(service.origins.control))}")


def _named(origin: str) -> str:
    """An address of this machine by its name: passkeys go by names."""
    return origin.replace("//127.0.0.1", "//localhost").replace("//[::1]", "//localhost")


def _end(service: Service, servers: list[_Server], ending: asyncio.Event) -> None:
    if ending.is_set():
        os._exit(AT_ONCE)
    ending.set()
    service.drain()
    for server in servers:
        server.should_exit = True


class _Server(uvicorn.Server):
    """Leaves the signals to who runs several."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _config(app: ASGIApp, listen: Listen) -> uvicorn.Config:
    more: dict[str, Any] = {}
    if listen.tls_cert is not None:
        more = {"ssl_certfile": listen.tls_cert, "ssl_keyfile": listen.tls_key, "ssl_ciphers": CIPHERS}
    return uvicorn.Config(
        app,
        http=BoundedProtocol,
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="error",  # a line for every bad request is for whoever sends them to fill a disk with
        access_log=False,
        server_header=False,
        proxy_headers=False,
        backlog=1024,
        timeout_keep_alive=65,
        timeout_graceful_shutdown=DRAIN_SECONDS,
        **more,
    )


# --- where it listens -----------------------------------------------------------------------------------------------


def _is_local(listen: Listen) -> bool:
    """Whether only programs on this machine reach it."""
    by_name = listen.uds is not None and listen.control_uds is not None
    if by_name or listen.host == "localhost":
        return True
    try:
        return ip_address(listen.host).is_loopback
    except ValueError:
        return False


def _behind_tls(settings: ServiceSettings) -> bool:
    return all((each or "").startswith("https://") for each in (settings.origin, settings.data_origin))


def _bound(listen: Listen) -> tuple[socket.socket, socket.socket]:
    data = _unix(listen.uds) if listen.uds is not None else _tcp(listen.host, listen.port)
    try:
        control = (
            _unix(listen.control_uds) if listen.control_uds is not None else _tcp(listen.host, listen.control_port)
        )
    except NotServing:
        data.close()
        raise
    return data, control


def _tcp(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        found = socket.socket(family, kind, protocol)
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(address)
    except OSError as error:
        raise NotServing(f"it cannot listen at {host}:{port}: {error.strerror}") from error
    return found


def _unix(path: str) -> socket.socket:
    """A socket that only this user reaches. One that nobody answers at any more is replaced."""
    found = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        with suppress(FileNotFoundError):
            if not stat.S_ISSOCK(os.lstat(path).st_mode) or _answers(path):
                raise NotServing(f"there is something at {path} already")
            Path(path).unlink()
        found.bind(path)
    except OSError as error:
        raise NotServing(f"it cannot listen at {path}: {error.strerror or error}") from error
    finally:
        os.umask(before)
    return found


def _answers(path: str) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as found:
        found.settimeout(1)
        try:
            found.connect(path)
        except OSError:
            return False
        return True


def _origin(bound: socket.socket, listen: Listen) -> str:
    if bound.family == socket.AF_UNIX:
        return "http://localhost"
    host, port = bound.getsockname()[:2]
    if listen.host == "localhost" or not _is_local(listen):
        host = listen.host
    scheme = "http" if listen.tls_cert is None else "https"
    return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"
