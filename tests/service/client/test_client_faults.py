"""Whatever a gate service answers, or does not, a decision that is not a pass of this very action is a block."""

from __future__ import annotations

import asyncio
import gzip
import json
import ssl
import struct
import time
from socket import SO_LINGER, SOL_SOCKET
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from faulty_server import FaultyServer, http, trickle
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from vigil_lang.gate import AsyncClient, Client
from vigil_lang.gate.authority.keys import Key, write_key
from vigil_lang.gate.binding import asked
from vigil_lang.gate.canonical import NotCanonical, canonical
from vigil_lang.gate.request import Request, read_json, request_of
from vigil_lang.gate.run_calls import Decided, Mismatch, answer_to, request_json
from vigil_lang.gate.state import StateError

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable
    from pathlib import Path

    from vigil_lang.gate.answer import Answer

TOKEN = "s3cret-token-of-the-operator"
REQUEST = Request("r1", "mailer", "Look", {"x": 1}, call="c1")
PASS = {
    "schema": "vigil.decision/1",
    "mode": "pass",
    "reasons": [],
    "action_digest": asked(REQUEST).digest,
    "policy_digest": "p",
    "authority_digest": "open",
    "log": {"seq": 3},
    "events": [{"id": "e1", "action": "Look", "call": "c1"}],
}
HOLDS = {"kind": "rule", "asks": "hold", "name": "n", "message": "m", "layer": "organisation"}


def passing(question: dict[str, Any], **more: object) -> dict[str, Any]:
    """A pass as the service answers it."""
    return PASS | {"id": question.get("id", "")} | more


def reset(_: dict[str, Any], connection: socket.socket) -> None:
    """Send half a body, and reset the connection."""
    connection.sendall(http(PASS)[:-20])
    time.sleep(0.05)
    connection.setsockopt(SOL_SOCKET, SO_LINGER, struct.pack("ii", 1, 0))


def chunked(size: int) -> Callable[[dict[str, Any], socket.socket], None]:
    def sent(_: dict[str, Any], connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
        part = b" " * 65536
        for _part in range(size // len(part)):
            connection.sendall(b"10000\r\n" + part + b"\r\n")

    return sent


FAULTS: dict[str, Callable[[dict[str, Any], Any], bytes | None]] = {
    "closed at once": lambda *_: b"",
    "half a header": lambda *_: b"HTTP/1.1 200 OK\r\nContent-",
    "no http": lambda *_: b"\x16\x03\x01\x02\x00 220 smtp ready\r\n",
    "half a body": lambda q, _: http(passing(q))[:-1],
    "reset": reset,
    "trickled header": lambda q, c: trickle(http(passing(q)), c),
    "trickled body": lambda q, c: (c.sendall(http(passing(q))[:-40]), trickle(http(passing(q))[-40:], c))[1],
    "no answer": lambda *_: time.sleep(1),  # type: ignore[func-returns-value]
    "huge": chunked(64 << 20),
    "huge by its length": lambda *_: (
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99999999999\r\n\r\n{"
    ),
    "gzip bomb": lambda *_: http(gzip.compress(b"0" * (64 << 20)), Content_Encoding="gzip"),
    "gzip": lambda q, _: http(gzip.compress(json.dumps(passing(q)).encode()), Content_Encoding="gzip"),
    "html": lambda q, _: http(json.dumps(passing(q)).encode(), kind="text/html"),
    "no type": lambda q, _: http(json.dumps(passing(q)).encode(), kind=""),
    "garbage": lambda *_: http(b"\xff\x00garbage"),
    "empty": lambda *_: http(b""),
    "null": lambda *_: http(None),
    "a list": lambda *_: http([PASS]),
    "true": lambda *_: http(True),
    "deep": lambda *_: http(b"[" * 100_000),
    "nan": lambda *_: http(b'{"mode":NaN}'),
    "two answers": lambda q, _: http(json.dumps(passing(q)).encode() * 2),
    "redirect": lambda q, _: http(passing(q), 302, Location="http://127.0.0.1:1/"),
    "permanent redirect": lambda q, _: http(passing(q), 308, Location="/v1/runs/decide"),
    "created elsewhere": lambda q, _: http(passing(q), 202),
    "no content": lambda *_: b"HTTP/1.1 204 No Content\r\n\r\n",
    **{
        f"status {code}": (lambda q, _, code=code: http(passing(q), code))
        for code in (400, 401, 403, 404, 409, 413, 418, 429, 500, 502, 503, 504)
    },
    "token echoed": lambda *_: http({"error": {"code": "x", "message": f"no {TOKEN} \x1b[2J here"}}, 403),
    "no run": lambda *_: http({"error": {"code": "no_run", "message": "there is no run r1"}}, 404),
    "another question": lambda q, _: http(passing(q, id="other")),
    "no question": lambda *_: http(PASS),
    "another action": lambda q, _: http(passing(q, action_digest="0" * 64)),
    "no action": lambda q, _: http(passing(q, action_digest="")),
    "another schema": lambda q, _: http(passing(q, schema="vigil.decision/2")),
    "another mode": lambda q, _: http(passing(q, mode="allow")),
    "no mode": lambda q, _: http({k: v for k, v in passing(q).items() if k != "mode"}),
    "not in the log": lambda q, _: http(passing(q, log=None)),
    "below the log": lambda q, _: http(passing(q, log={"seq": -1})),
    "no events": lambda q, _: http(passing(q, events=[])),
    "bad events": lambda q, _: http(passing(q, events=[{"id": "e", "action": "a", "call": "c", "args": {"x": "abc"}}])),
    "reasons that hold": lambda q, _: http(passing(q, reasons=[HOLDS])),
    "reasons that block": lambda q, _: http(passing(q, reasons=[HOLDS | {"asks": "block"}])),
    "a hold whose reasons block": lambda q, _: http(passing(q, mode="hold", reasons=[HOLDS | {"asks": "block"}])),
    "unknown reasons": lambda q, _: http(passing(q, reasons=[HOLDS | {"asks": "maybe"}])),
    "no reasons": lambda q, _: http(passing(q, reasons="none")),
    "only observed": lambda q, _: http(passing(q, observed=True)),
    "a pass with a hold": lambda q, _: http(
        passing(
            q,
            held={
                "id": "h",
                "seq": 1,
                "state": "pending",
                "opened": {"binding": "b", "run": "r1", "at": "x", "hold": {"id": "h", "expires": 1}},
            },
        )
    ),
    "a hold of another": lambda q, _: http(
        passing(
            q,
            mode="hold",
            reasons=[HOLDS],
            held={
                "id": "h",
                "seq": 1,
                "state": "approved",
                "opened": {"binding": "b", "run": "r1", "at": "x", "hold": {"id": "h", "expires": 1}},
            },
        )
    ),
}


def blocked(answer: Answer) -> str:
    """Why an answer blocks without being judged."""
    assert answer.decision.mode == "block"
    assert answer.is_fault
    (reason,) = answer.decision.reasons
    assert reason.kind == "fault"
    assert len(reason.message) > 20
    assert TOKEN not in repr(answer)
    assert "\x1b" not in reason.message
    return reason.message


def test_a_right_answer_passes() -> None:
    with FaultyServer(lambda q, _: http(passing(q))) as server, Client(server.url, token=TOKEN) as client:
        assert client.decide(REQUEST).decision.mode == "pass"
        assert f"Authorization: Bearer {TOKEN}".encode() in server.seen[0]


@pytest.mark.parametrize("fault", FAULTS)
def test_any_fault_blocks(fault: str) -> None:
    with FaultyServer(FAULTS[fault]) as server, Client(server.url, token=TOKEN, timeout=0.4) as client:
        began = time.monotonic()
        why = blocked(client.decide(REQUEST))
        assert time.monotonic() - began < 3
        assert "gate service" in why


@pytest.mark.parametrize("fault", ["reset", "html", "redirect", "status 503", "no run", "no mode", "huge"])
def test_other_questions_raise_or_are_denied(fault: str) -> None:
    with FaultyServer(FAULTS[fault]) as server, Client(server.url, token=TOKEN, timeout=0.4) as client:
        with pytest.raises((StateError, ValueError)):
            client.hold("h", run="r1", agent="mailer")
        found = client.evaluate({"type": "agent", "id": "a"}, {"name": "x"}, {"type": "tool", "id": "x"})
        assert not found.decision
        assert "gate service" in found.context["reason"] or fault == "no run"


def test_nobody_there() -> None:
    with FaultyServer(lambda *_: b"") as server:
        url = server.url
    with Client(url, token=TOKEN) as client:
        assert blocked(client.decide(REQUEST)) == f"the gate service {url} cannot be reached"
        assert TOKEN not in repr(client)


def test_the_asynchronous_client_blocks_alike() -> None:
    async def main(fault: str) -> Answer:
        with FaultyServer(FAULTS[fault]) as server:
            async with AsyncClient(server.url, token=TOKEN, timeout=0.4) as client:
                return await client.decide(REQUEST)

    for fault in ("reset", "trickled body", "redirect", "reasons that hold"):
        blocked(asyncio.run(main(fault)))


def test_evaluations_are_denied_where_anything_is_wrong() -> None:
    items = [{"resource": {"type": "tool", "id": str(at)}} for at in range(3)]
    for body in ({"evaluations": [{"decision": True}] * 4}, {"evaluations": [{"decision": 1}]}, {}, []):
        with FaultyServer(lambda *_, body=body: http(body)) as server, Client(server.url, token=TOKEN) as client:
            found = client.evaluations(items, subject={"type": "agent", "id": "a"})
            assert [each.decision for each in found] == [False] * 3
    one = {"evaluations": [{"decision": True}]}
    with FaultyServer(lambda *_: http(one)) as server, Client(server.url, token=TOKEN) as client:
        assert [each.decision for each in client.evaluations(items)] == [True, False, False]


def test_no_secret_in_what_is_said(tmp_path: Path) -> None:
    key = Key.new()
    write_key(key, str(tmp_path / "key.pem"))

    def reply(question: dict[str, Any], _: object) -> bytes:
        if not question:
            return http({"audience": "vigil.local/x", "at": 1})
        if "nonce" in question:
            return http({"token": TOKEN, "expires_at": int(time.time()) + 3600}, 201)
        return http({"error": {"code": "x", "message": f"bad token {TOKEN}"}}, 403)

    with FaultyServer(reply) as server, Client(server.url, key=tmp_path / "key.pem") as client:
        why = blocked(client.decide(REQUEST))
        assert "bad token …" in why
        assert TOKEN not in repr(client.known("r1", "mailer"))
        assert key.pem().decode() not in repr(vars(client))


@pytest.mark.parametrize(
    "token", [{"token": "a b\r\nX: y", "expires_at": 9999999999}, {"token": ""}, {"expires_at": 1}, {"token": 1}, []]
)
def test_a_token_that_is_none(tmp_path: Path, token: object) -> None:
    write_key(Key.new(), str(tmp_path / "key.pem"))

    def reply(question: dict[str, Any], _: object) -> bytes:
        return http(token if question else {"audience": "x", "at": 1})

    with FaultyServer(reply) as server, Client(server.url, key=tmp_path / "key.pem") as client:
        blocked(client.decide(REQUEST))


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org",
        "http://10.0.0.1:80",
        "ftp://localhost",
        "https://",
        "localhost:80",
        "https://a/b",
        "unix:relative",
        "https://user:pw@host",
        "https://a?x=1",
        "http://127.0.0.1.example.org",
        "http://[::1",
        "https://a:99999",
        "",
        "http://localhost\n.example.org",
    ],
)
def test_addresses_that_are_refused(url: str) -> None:
    with pytest.raises(ValueError, match="address of"):
        Client(url, token=TOKEN)


@pytest.mark.parametrize("url", ["https://gate.example.org", "http://127.0.0.1:80", "http://[::1]:80/", "unix:/a/b"])
def test_addresses_that_are_taken(url: str) -> None:
    Client(url, token=TOKEN).close()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda x: st.lists(x, max_size=3) | st.dictionaries(st.text(max_size=5), x, max_size=3),
    max_leaves=5,
)


@settings(max_examples=300, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from([*PASS, "observed", "held", "remedies", "tier", "record"]), JSON, min_size=1, max_size=3
    )
)
def test_a_changed_answer_passes_only_where_it_is_a_pass_of_this_action(changes: dict[str, Any]) -> None:
    given = PASS | {"id": "q"} | changes
    try:
        answer = answer_to(REQUEST, "q", msgspec.convert(given, Decided))
    except (Mismatch, msgspec.ValidationError):
        return
    if answer.decision.mode == "pass":
        assert given["mode"] == "pass"
        assert given["action_digest"] == PASS["action_digest"]
        assert answer.seq is not None
        assert all(each.asks in ("pass", "warn") or each.lifted for each in answer.decision.reasons)


NAMES = st.text(min_size=1, max_size=5)
REQUESTS = st.builds(
    lambda *args, **named: Request(*args, **named),  # whose types are not there to be looked up
    NAMES,
    NAMES,
    NAMES,
    st.dictionaries(st.text(max_size=5), JSON, max_size=3),
    user=st.none() | NAMES,
    host=st.none() | NAMES,
    cwd=st.none() | NAMES,
    context=st.dictionaries(NAMES.map("context.my_{}".format), st.lists(NAMES, min_size=1).map(tuple), max_size=2),
    outcomes=st.sampled_from(["assumed", "reported"]),
    call=st.none() | NAMES,
    session=st.text(max_size=3),
    parent=st.none() | NAMES,
    directory=st.none() | NAMES,
    observe=st.booleans(),
    kinds=st.lists(NAMES, max_size=2).map(tuple),
)


@settings(max_examples=200, deadline=None)
@given(REQUESTS)
def test_the_service_reads_the_request_that_was_asked(request: Request) -> None:
    try:
        sent = canonical(request_json(request))
    except NotCanonical:  # it is blocked, here as there
        return
    assert request_of(read_json(sent)) == request


def test_events_are_sent_as_they_are() -> None:
    given = {
        "run": "r",
        "agent": "a",
        "events": [
            {
                "event": "x",
                "call": "c",
                "action": "Look",
                "args": {"p": ["a", "b"]},
                "kinds": ["file.read"],
                "time": "2026-01-05T10:00:00.123456Z",
            }
        ],
    }
    asked_for = request_of(given)
    assert request_of(read_json(canonical(request_json(asked_for)))) == asked_for


@pytest.mark.parametrize("more", [{"authority": "/a"}, {"chain": b"x"}, {"approval": "h"}])
def test_what_only_a_service_says(more: dict[str, Any]) -> None:
    with FaultyServer(lambda q, _: http(passing(q))) as server, Client(server.url, token=TOKEN) as client:
        blocked(client.decide(replace(REQUEST, **more)))
        assert server.seen == []


# --- tokens and certificates ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("seconds", "sessions"), [(3600, 1), (-5, 3), (30, 3)])
def test_a_token_is_renewed_before_its_end(tmp_path: Path, seconds: int, sessions: int) -> None:
    write_key(Key.new(), str(tmp_path / "key.pem"))
    proofs: list[dict[str, Any]] = []

    def reply(question: dict[str, Any], _: object) -> bytes:
        if "nonce" in question:
            proofs.append(question)
            return http({"token": f"t{len(proofs)}", "expires_at": int(time.time()) + seconds}, 201)
        return http(passing(question)) if question else http({"audience": "vigil.local/x", "at": 1})

    with FaultyServer(reply) as server, Client(server.url, key=tmp_path / "key.pem") as client:
        for _ in range(3):
            assert client.decide(REQUEST).decision.mode == "pass"
    assert len(proofs) == sessions
    assert len({each["nonce"] for each in proofs}) == sessions
    assert {(each["run"], each["agent"], each["audience"]) for each in proofs} == {("r1", "mailer", "vigil.local/x")}


def test_a_token_that_is_not_known_any_more_is_asked_for_anew_once(tmp_path: Path) -> None:
    write_key(Key.new(), str(tmp_path / "key.pem"))
    refuse, sessions = {"t1"}, []

    def reply(question: dict[str, Any], _: object) -> bytes:
        if "nonce" in question:
            sessions.append(1)
            return http({"token": f"t{len(sessions)}", "expires_at": 9_999_999_999}, 201)
        if not question:
            return http({"audience": "x", "at": 1})
        token = server.seen[-1].partition(b"Bearer ")[2].split(b"\r\n")[0].decode()
        known = token not in refuse and "all" not in refuse
        return http(passing(question)) if known else http({"error": {"code": "token", "message": "no"}}, 401)

    with FaultyServer(reply) as server, Client(server.url, key=tmp_path / "key.pem") as client:
        assert client.decide(REQUEST).decision.mode == "pass"
        assert len(sessions) == 2
        refuse.add("all")
        blocked(client.decide(REQUEST))
        assert len(sessions) == 3, "no more than once for a question"


def certificate(folder: Path) -> ssl.SSLContext:
    """A server's certificate for 127.0.0.1, signed by itself, in `cert.pem`."""
    from datetime import UTC, datetime, timedelta
    from ipaddress import ip_address

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "gate")])
    made = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    made = made.not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
    made = made.add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
    made = made.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    (folder / "cert.pem").write_bytes(made.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "key.pem").write_bytes(key.private_bytes(*form))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    return context


def test_certificates_are_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    context = certificate(tmp_path)
    with FaultyServer(lambda q, _: http(passing(q)), context) as server:
        with Client(server.url, token=TOKEN, ca=tmp_path / "cert.pem") as client:
            assert client.decide(REQUEST).decision.mode == "pass"
        with Client(server.url.replace("127.0.0.1", "localhost"), token=TOKEN, ca=tmp_path / "cert.pem") as client:
            blocked(client.decide(REQUEST))
        monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
        with Client(server.url, token=TOKEN) as client:
            assert "cannot be reached" in blocked(client.decide(REQUEST))
    assert len(server.seen) == 1, "nothing is sent to somebody else"
    with pytest.raises(StateError, match="cannot be read"):
        Client("https://127.0.0.1", token=TOKEN, ca=tmp_path / "none.pem")
