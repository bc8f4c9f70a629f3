"""`vigil gate serve`: what it prints, where it listens, whom it refuses, and how it ends."""

from __future__ import annotations

import datetime
import ipaddress
import json
import signal
import socket
import ssl
import threading
import time
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from cli_support import called
from service_support import EVALUATION, Served, asked, made_state

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_state(tmp_path_factory.mktemp("serve"))


def test_it_says_where_it_answers_and_ends_with_a_signed_log(state: Path) -> None:
    served = Served(state)
    assert list(served.said) == ["data", "control", "token", "sign-in"]
    assert served.data.startswith("http://127.0.0.1:")
    assert served.said["sign-in"].startswith(served.control.replace("127.0.0.1", "localhost") + "/sign-in?token=")
    assert served.post(EVALUATION, asked()).json()["decision"] is True
    assert served.stop() == 0
    report = json.loads(called("audit", "verify", "--state", str(state), "--format", "json").out)
    assert (report["problems"], report["signed_to"]) == ([], report["entries"])


def test_what_is_under_way_is_answered_at_the_end(state: Path) -> None:
    served = Served(state)
    body = json.dumps(asked(run="draining")).encode()
    host, port = served.data.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as slow:
        head = (
            f"POST {EVALUATION} HTTP/1.1\r\nHost: {host}:{port}\r\nAuthorization: Bearer {served.token}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        slow.sendall(head.encode() + body[:10])
        time.sleep(0.2)
        served.signal()
        time.sleep(0.3)
        with pytest.raises(OSError, match="refused"):
            socket.create_connection((host, int(port)), timeout=1).close()
        slow.sendall(body[10:])
        answer = b"".join(iter(lambda: slow.recv(100_000), b""))
    assert b"200 OK" in answer
    assert b'"decision":true' in answer
    assert served.stop() == 0


def test_who_listens_to_events_does_not_keep_it(state: Path) -> None:
    served = Served(state)
    ended = threading.Event()

    def listen() -> None:
        with httpx.stream("GET", served.control + "/v1/log/events", headers=served.headers(), timeout=30) as stream:
            for _ in stream.iter_lines():
                pass
        ended.set()

    thread = threading.Thread(target=listen)
    thread.start()
    time.sleep(0.5)
    began = time.monotonic()
    assert served.stop() == 0
    assert time.monotonic() - began < 5
    thread.join(5)
    assert ended.is_set()


def test_a_second_signal_ends_it_at_once(state: Path) -> None:
    served = Served(state)
    host, port = served.data.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as slow:
        head = f"POST {EVALUATION} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {served.token}\r\n"
        slow.sendall(f"{head}Content-Length: 10\r\n\r\n".encode())
        time.sleep(0.2)
        served.signal()
        time.sleep(0.3)
        assert served.process.poll() is None
        served.signal()
        assert served.process.wait(5) == 130
    served.stop()


@pytest.mark.processes
def test_unix_sockets(state: Path, tmp_path: Path) -> None:
    data, control = tmp_path / "data.sock", tmp_path / "control.sock"
    left = socket.socket(socket.AF_UNIX)
    left.bind(str(data))  # of a service that was killed
    left.close()
    served = Served(state, "--uds", str(data), "--control-uds", str(control))
    assert (data.stat().st_mode & 0o777, control.stat().st_mode & 0o777) == (0o600, 0o600)
    with httpx.Client(transport=httpx.HTTPTransport(uds=str(data))) as client:
        answer = client.post(f"http://localhost{EVALUATION}", json=asked(run="uds"), headers=served.headers())
    assert answer.json()["decision"] is True
    assert called("gate", "serve", "--state", str(state), "--uds", str(data)).status == 2
    assert served.stop() == 0
    assert not data.exists()
    file = tmp_path / "file"
    file.write_text("mine", encoding="utf-8")
    assert called("gate", "serve", "--state", str(state), "--uds", str(file)).status == 2
    assert file.read_text(encoding="utf-8") == "mine"


def certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate of 127.0.0.1's own."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False)
        .sign(key, hashes.SHA256())
    )
    cert, private = folder / "cert.pem", folder / "key.pem"
    cert.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    form = serialization.PrivateFormat.PKCS8
    private.write_bytes(key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()))
    return cert, private


def test_tls(state: Path, tmp_path: Path) -> None:
    cert, key = certificate(tmp_path)
    served = Served(state, "--tls-cert", str(cert), "--tls-key", str(key))
    assert served.data.startswith("https://127.0.0.1:")
    trusted = ssl.create_default_context(cafile=str(cert))
    answer = httpx.post(served.data + EVALUATION, json=asked(run="tls"), headers=served.headers(), verify=trusted)
    assert answer.json()["decision"] is True
    with pytest.raises(httpx.HTTPError):
        httpx.get(served.data.replace("https", "http") + "/healthz")
    assert served.stop() == 0


def test_without_tokens_on_this_machine_only(state: Path) -> None:
    served = Served(state, "--no-auth")
    assert list(served.said) == ["data", "control"]
    assert httpx.post(served.data + EVALUATION, json=asked(run="open")).json()["decision"] is True
    evil = httpx.post(served.data + EVALUATION, json=asked(run="open"), headers={"Host": "evil.example"})
    assert evil.status_code == 421
    assert served.stop() == 0


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (("--host", "0.0.0.0", "--no-auth"), "--no-auth"),
        (("--host", "0.0.0.0"), "TLS"),
        (("--host", "::"), "TLS"),
        (("--host", "256.1.1.1"), ""),
        (("--tls-cert", "x"), "together"),
        (("--tls-cert", "/none", "--tls-key", "/none"), ""),
        (("--port", "70000"), "range"),
        (("--uds", "/nowhere/at/all"), "cannot listen"),
    ],
)
def test_what_is_refused(state: Path, options: tuple[str, ...], word: str) -> None:
    result = called("gate", "serve", "--state", str(state), *options)
    assert result.status == 2
    assert word in result.err


def test_a_port_that_is_taken_is_told(state: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        result = called("gate", "serve", "--state", str(state), "--port", str(taken.getsockname()[1]))
    assert (result.status, "cannot listen" in result.err) == (2, True)


def test_no_state_folder(tmp_path: Path) -> None:
    assert called("gate", "serve", "--state", str(tmp_path / "none")).status == 2


def test_it_ends_by_an_interrupt_as_well(state: Path) -> None:
    served = Served(state)
    served.signal(signal.SIGINT)
    assert served.process.wait(20) == 0
    served.stop()


def test_a_state_that_is_damaged_while_it_runs_blocks(tmp_path: Path) -> None:
    state = made_state(tmp_path)
    served = Served(state)
    assert served.post(EVALUATION, asked()).json()["decision"] is True
    with (state / "log.jsonl").open("r+b") as log:
        log.truncate(10)
    answer: dict[str, Any] = served.post(EVALUATION, asked()).json()
    assert (answer["decision"], answer["context"]["reason"]) == (False, "cannot_judge")
    assert httpx.get(served.data + "/readyz").status_code == 503
    assert served.get("/v1/holds").status_code == 503
    served.stop()
