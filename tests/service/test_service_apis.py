"""What operators reach: holds, log, runs, revocations, signals, metrics, health."""

from __future__ import annotations

import json
import threading
import time
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from service_support import EVALUATION, Served, asked, made_state

from vigil_lang.gate.authority.dsse import sealed
from vigil_lang.gate.canonical import canonical
from vigil_lang.gate.revocation import PAYLOAD_TYPE

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.processes

SETTINGS = """
[tier.sources.watcher]
window = 600
"""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    found = Served(made_state(tmp_path_factory.mktemp("apis"), settings=SETTINGS))
    yield found
    found.stop()


def held(served: Served, amount: int) -> str:
    answer = served.post(EVALUATION, asked("pay", {"amount": amount, "to": "acme"})).json()
    return str(answer["context"]["hold"]["id"])


def test_all_of_it_needs_a_token(served: Served) -> None:
    for path in ("/v1/holds", "/v1/log", "/v1/log/0", "/v1/log/events", "/v1/runs", "/v1/revocations", "/metrics"):
        answer = httpx.get(served.control + path)
        assert (answer.status_code, "www-authenticate" in answer.headers) == (401, True), path
    for path in ("/v1/holds/approve", "/v1/holds/deny", "/v1/holds/x/cancel", "/v1/revocations", "/v1/signals"):
        assert httpx.post(served.control + path, json={}).status_code == 401, path


def test_the_life_of_holds(served: Served) -> None:
    first, second, third = (held(served, amount) for amount in (701, 702, 703))
    found = served.get("/v1/holds").json()
    assert {first, second, third} <= {each["id"] for each in found["holds"]}
    assert found["counts"]["pending"] >= 3
    shown = served.get(f"/v1/holds/{first}").json()
    assert (shown["schema"], shown["action"]["input"]["amount"]) == ("vigil.hold/1", 701)
    assert served.get("/v1/holds?limit=1&offset=1").json()["holds"] != found["holds"][:1]

    answer = served.post("/v1/holds/approve", served.words(first), control=True)
    assert answer.json()["holds"][0]["state"] == "approved"
    gate = served.gate()
    (word,) = gate.holds.signed_denials([second], served.key("approver"))
    gate.close()
    words = {"words": [{"hold": word.hold, "by": word.by, "signature": word.signature}]}
    assert served.post("/v1/holds/approve", words, control=True).status_code == 409  # a denial is no approval
    assert served.post("/v1/holds/deny", words, control=True).json()["holds"][0]["state"] == "denied"
    cancelled = served.post(f"/v1/holds/{third}/cancel", {"why": "not now"}, control=True).json()
    assert (cancelled["holds"][0]["state"], cancelled["holds"][0]["why"]) == ("cancelled", "not now")
    assert served.post(f"/v1/holds/{third}/cancel", content=b"", control=True).status_code == 409
    assert served.get("/v1/holds/unknown").status_code == 404
    for state in ("approved", "denied", "cancelled", "all"):
        assert served.get(f"/v1/holds?state={state}").json()["holds"]


def test_nothing_is_decided_by_get(served: Served) -> None:
    name = held(served, 704)
    for path in (f"/v1/holds/{name}/cancel", "/v1/holds/approve", "/v1/holds/deny"):
        answer = served.get(path)
        assert answer.status_code in (404, 405)
    assert served.get(f"/v1/holds/{name}").json()["state"] == "pending"


@pytest.mark.parametrize(
    "query", ["state=x", "limit=0", "limit=501", "limit=-1", "limit=1e3", "limit=٣", "offset=x", f"limit={'9' * 5000}"]
)
def test_bad_queries_are_refused(served: Served, query: str) -> None:
    assert served.get(f"/v1/holds?{query}").status_code == 400


def test_the_log_in_pages(served: Served) -> None:
    served.post(EVALUATION, asked(run="logged"))
    found = served.get("/v1/log?limit=2").json()
    assert [each["seq"] for each in found["page"]] == [found["entries"] - 1, found["entries"] - 2]
    older = served.get(f"/v1/log?limit=1&before={found['page'][-1]['seq']}").json()["page"]
    assert older[0]["seq"] == found["page"][-1]["seq"] - 1
    kinds = [each["entry"]["kind"] for each in served.get("/v1/log?run=logged").json()["page"]]
    assert kinds == ["decision", "run_start"]
    assert served.get("/v1/log/0").json()["seq"] == 0
    for seq in ("999999", "x", "-1", "1" * 40):
        assert served.get(f"/v1/log/{seq}").status_code == 404


def test_what_is_added_to_the_log_is_told(served: Served) -> None:
    found: list[dict[str, Any]] = []
    began = threading.Event()

    def listen() -> None:
        with httpx.stream("GET", served.control + "/v1/log/events", headers=served.headers(), timeout=20) as stream:
            assert stream.headers["content-type"].startswith("text/event-stream")
            for line in stream.iter_lines():
                began.set()
                if line.startswith("data: "):
                    found.append(json.loads(line[6:]))
                    if found[-1].get("run") == "streamed" and found[-1]["kind"] == "decision":
                        return

    thread = threading.Thread(target=listen)
    thread.start()
    assert began.wait(10)
    served.post(EVALUATION, asked(run="streamed"))
    thread.join(20)
    assert [each["kind"] for each in found if each.get("run") == "streamed"] == ["run_start", "decision"]
    last = served.get("/v1/log?limit=1").json()["page"][0]["seq"]
    headers = served.headers(**{"Last-Event-ID": str(last - 1)})
    with httpx.stream("GET", served.control + "/v1/log/events", headers=headers, timeout=20) as stream:
        first = next(line for line in stream.iter_lines() if line.startswith("id: "))
    assert first == f"id: {last}"


def test_runs(served: Served) -> None:
    served.post(EVALUATION, asked(run="a/b ü"))
    assert "a/b ü" in [each["run"] for each in served.get("/v1/runs").json()["runs"]]
    found = served.get("/v1/runs/a%2Fb%20%C3%BC").json()
    assert (found["run"]["agent"], found["state"], found["verdict"], found["passed"]) == (
        "payer",
        "live",
        "satisfied",
        1,
    )
    assert served.get("/v1/runs/unknown").status_code == 404


def test_signals(served: Served) -> None:
    body = {"run": "watched", "source": "watcher", "score": 0.95, "for": 60}
    found = served.post("/v1/signals", body).json()
    assert (found["schema"], found["tier"]) == ("vigil.signal/1", 3)
    for wrong in ({**body, "score": 2}, {**body, "source": "unknown"}, {**body, "run": ""}, {"payload": "x"}, 7):
        assert served.post("/v1/signals", wrong).status_code == 400
    assert served.post(EVALUATION, asked(run="watched")).json()["context"]["tier"] == 3


def revocations(served: Served, seq: int, *names: str, role: str = "revoker") -> bytes:
    now, key = int(time.time()), served.key(role)
    revoked = [{"kind": "agent", "name": name} for name in sorted(names)]
    payload = canonical({"v": 1, "seq": seq, "issued": now, "expires": now + 3600, "revoked": revoked})
    return canonical(sealed(PAYLOAD_TYPE, payload, key.public, key.sign))


def test_a_signed_list_is_in_force_at_once(served: Served) -> None:
    kind = {"Content-Type": "application/json"}
    served.post(EVALUATION, asked(run="killed", agent="rogue"))
    answer = served.post("/v1/revocations", content=revocations(served, 1, "rogue"), headers=kind, control=True)
    assert answer.status_code == 200, answer.text
    assert [(each["run"], each["state"]) for each in answer.json()["runs"]] == [("killed", "acknowledged")]
    answer = served.post(EVALUATION, asked(run="killed", agent="rogue")).json()
    assert [each["kind"] for each in answer["context"]["reasons"] if each["asks"] == "block"] == ["revocation"]
    assert served.get("/v1/revocations").json()["seq"] == 1
    for wrong in (
        revocations(served, 2, role="approver"),
        revocations(served, 1, "other"),
        revocations(served, 0),
        b"{}",
        b"x",
    ):
        assert served.post("/v1/revocations", content=wrong, headers=kind, control=True).status_code == 409
    assert served.get("/v1/revocations").json() == {
        "schema": "vigil.revocations/1",
        "seq": 1,
        "revoked": [{"kind": "agent", "name": "rogue"}],
        "fault": None,
    }
    assert served.post("/v1/revocations", content=revocations(served, 2), headers=kind, control=True).status_code == 200
    assert served.post(EVALUATION, asked(run="killed", agent="rogue")).json()["decision"] is True


def test_metrics(served: Served) -> None:
    text = served.get("/metrics").text
    for name in (
        'vigil_decisions_total{mode="pass"}',
        "vigil_decision_seconds_bucket",
        "vigil_queue ",
        "vigil_holds_pending",
    ):
        assert name in text


def test_health_needs_no_token(served: Served) -> None:
    for address in (served.data, served.control):
        for path in ("/healthz", "/readyz"):
            answer = httpx.get(address + path, headers={"Host": "10.0.0.7:8080"})
            assert (answer.status_code, answer.json()["status"]) == (200, "ok")


def test_what_is_not_there_is_told_in_json(served: Served) -> None:
    answer = served.get("/v1/nothing")
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")
    answer = served.get(EVALUATION, control=False)
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
