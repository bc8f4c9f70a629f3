"""Agents prove that they have their key, once a run; what they get is good for that run, and for nothing replayed."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest
from auth_support import Served

from vigil_lang.gate.authority.chain import Limits, verify_chain
from vigil_lang.gate.authority.issue import issue
from vigil_lang.gate.authority.keys import Key
from vigil_lang.gate.authority.proof import WINDOW, proof, signed_part
from vigil_lang.gate.canonical import base64url
from vigil_lang.gate.kill_switch import KillSwitch
from vigil_lang.gate.revocation import Entry

if TYPE_CHECKING:
    from pathlib import Path

AGENT, OTHER = Key.new(), Key.new()


@pytest.fixture
def served(tmp_path: Path) -> Served:
    return Served(tmp_path, f'\n[service.agents]\nmailer = "{AGENT.public}"\n')


def chain_for(served: Served, to: Key = AGENT, *, root: Key | None = None, ends: int = 3600, **more: Any) -> list[Any]:
    at = int(time.time())
    text = issue(
        root or served.world.key("root"), to.public, more.pop("grant", "web.get()"),
        audience=more.pop("audience", served.service.audience), begins=at - 10, ends=at + ends,
        limits=Limits(1000, at + 3600, "run"),
    )  # fmt: skip
    found: list[Any] = json.loads(text)
    return found


def leaf(chain: list[Any]) -> str:
    return verify_chain(json.dumps(chain).encode(), (), "", 0).digest


def begun(served: Served, body: dict[str, Any], node: Served | None = None) -> tuple[int, dict[str, Any]]:
    answer = (node or served).data().post("/v1/sessions", json=body)
    return answer.status_code, answer.json()


def body(served: Served, key: Key = AGENT, *, run: str = "r1", agent: str = "mailer", **changed: Any) -> dict[str, Any]:
    chain = changed.pop("chain", None)
    audience = served.service.audience
    made = proof(key, run, agent, audience, chain, None if chain is None else leaf(chain))
    return made | changed


def evaluation(run: str = "r1", agent: str = "mailer") -> dict[str, Any]:
    return {
        "subject": {"type": "agent", "id": agent},
        "action": {"name": "web.get", "properties": {"url": "https://example.org"}},
        "resource": {"type": "tool", "id": "web.get"},
        "context": {"run": run},
    }


def asked(served: Served, token: str, run: str = "r1", agent: str = "mailer") -> tuple[int, dict[str, Any]]:
    answer = served.data(token).post("/access/v1/evaluation", json=evaluation(run, agent))
    return answer.status_code, answer.json()


def test_a_key_of_the_settings_gives_a_token_for_its_run(served: Served) -> None:
    status, found = begun(served, body(served))
    assert status == 201
    assert asked(served, found["token"])[0] == 200
    assert asked(served, found["token"], run="r2")[0] == 403
    assert asked(served, found["token"], agent="other")[0] == 403
    assert served.data(found["token"]).get("/v1/sessions").json()["audience"] == served.service.audience
    control = served.browser().web.get("/v1/holds", headers={"Authorization": f"Bearer {found['token']}"})
    assert control.status_code == 403
    (entry,) = served.entries("session")
    assert (entry["agent"], entry["run"], entry["key"]) == ("mailer", "r1", AGENT.public)
    assert found["token"] not in (served.world.state / "log.jsonl").read_text("utf-8")


def test_another_node_takes_the_token(served: Served) -> None:
    token = begun(served, body(served))[1]["token"]
    assert asked(served.node(), token)[0] == 200


def test_a_proof_is_good_once_on_whichever_node(served: Served) -> None:
    made = body(served)
    assert begun(served, made)[0] == 201
    assert begun(served, made)[0] == 403
    assert begun(served, made, served.node())[0] == 403
    assert begun(served, body(served))[0] == 201


@pytest.mark.parametrize(
    "changed",
    [
        {"run": "r2"},
        {"agent": "other"},
        {"audience": "vigil.local/" + "0" * 32},
        {"nonce": "n" * 20},
        {"later": 5},
        {"later": -2 * WINDOW},
        {"later": 2 * WINDOW},
        {"key": OTHER},
        {"key": "ed25519:AAAA"},
        {"signature": ""},
        {"signature": "é"},
        {"signature": base64url(bytes(64))},
        {"chain": [{}]},
        {"chain": ["x"]},
    ],
)
def test_a_proof_that_is_changed_is_none(served: Served, changed: dict[str, Any]) -> None:
    made, changed = body(served), dict(changed)
    made["at"] += changed.pop("later", 0)
    made.update({name: value.public if isinstance(value, Key) else value for name, value in changed.items()})
    assert begun(served, made)[0] == 403
    assert served.entries("session") == []
    assert served.entries("access_refused")


@pytest.mark.parametrize(
    "changed", [{"run": ""}, {"nonce": "short"}, {"at": "now"}, {"at": 1.5}, {"more": 1}, {"chain": []}, {"chain": 5},
                {"key": None}, {"run": "r" * 300}, {"chain": [{}] * 9}, {"at": 10**30}],
    ids=str,
)  # fmt: skip
def test_what_has_not_the_form_is_refused_as_such(served: Served, changed: dict[str, Any]) -> None:
    assert begun(served, body(served) | changed)[0] == 400


def test_old_and_new_proofs_that_are_signed_are_refused_too(served: Served) -> None:
    for at in (int(time.time()) - 2 * WINDOW, int(time.time()) + 2 * WINDOW):
        made = body(served, at=at)
        made["signature"] = base64url(
            AGENT.sign(signed_part("r1", "mailer", None, served.service.audience, at, made["nonce"]))
        )
        assert begun(served, made)[0] == 403


def test_a_chain_is_what_the_agent_acts_under(tmp_path: Path) -> None:
    served = Served(tmp_path)
    served.world.set('mode = "open"', 'mode = "chain"')
    served = served.node()
    chain = chain_for(served)
    status, found = begun(served, body(served, chain=chain))
    assert status == 201
    assert asked(served, found["token"])[1]["decision"] is True
    decision = served.entries("decision")[-1]
    assert decision["authority_digest"] == leaf(chain)
    assert asked(served.node(), found["token"])[1]["decision"] is True  # the other node has the chain from the log
    outside = evaluation()
    outside["action"] = {"name": "file.read", "properties": {"path": "/a"}}
    outside["resource"] = {"type": "tool", "id": "file.read"}
    answer = served.data(found["token"]).post("/access/v1/evaluation", json=outside)
    assert answer.json()["decision"] is False


def test_chains_that_do_not_count_begin_nothing(tmp_path: Path) -> None:
    served = Served(tmp_path)
    good = chain_for(served)
    other = chain_for(served, OTHER)
    for chain, key in (
        (chain_for(served, root=OTHER), AGENT),
        (chain_for(served, ends=-5), AGENT),
        (chain_for(served, audience="else"), AGENT),
        (other, AGENT),
        (good, OTHER),
    ):
        assert begun(served, body(served, key, chain=chain))[0] == 403
    swapped = body(served, chain=good)
    swapped["chain"] = chain_for(served, grant="web.get() or file.read()")  # another chain of hers than she signed for
    assert begun(served, swapped)[0] == 403
    assert begun(served, body(served, chain=None))[0] == 403  # no chain, and no key in the settings
    assert served.entries("session") == []


def test_a_key_stays_one_agents_and_a_run_too(tmp_path: Path) -> None:
    served = Served(tmp_path)
    assert begun(served, body(served, chain=chain_for(served)))[0] == 201
    # A new name would be a way around what is revoked.
    assert begun(served, body(served, chain=chain_for(served), agent="other"))[0] == 403
    token = begun(served, body(served, chain=chain_for(served)))[1]["token"]
    assert asked(served, token)[0] == 200  # now the run is mailer's
    assert begun(served, body(served, OTHER, chain=chain_for(served, OTHER), agent="other"))[0] == 403


@pytest.mark.parametrize("what", ["agent", "key", "run"])
def test_what_is_revoked_is_refused_at_once(served: Served, what: Any) -> None:
    token = begun(served, body(served))[1]["token"]
    assert asked(served, token)[0] == 200
    name = {"agent": "mailer", "key": AGENT.public, "run": "r1"}[what]
    KillSwitch(served.gate.folder, served.gate.settings, wait=0).revoke(
        Entry(what, name), served.world.key("revoker"), 3600
    )
    status, found = asked(served, token)
    assert status == 403 or found["decision"] is False
    assert begun(served, body(served))[0] == 403


def test_a_revoked_link_blocks_and_the_log_tells(tmp_path: Path) -> None:
    served = Served(tmp_path)
    chain = chain_for(served)
    token = begun(served, body(served, chain=chain))[1]["token"]
    KillSwitch(served.gate.folder, served.gate.settings, wait=0).revoke(
        Entry("agent", "mailer"), served.world.key("revoker"), 3600
    )
    status, found = asked(served, token)
    assert (status, found["decision"]) == (200, False)
    assert served.entries("decision")[-1]["reasons"][0]["kind"] == "revocation"


def test_a_token_ends_and_a_changed_one_is_none(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    token = begun(served, body(served))[1]["token"]
    text, mac = token.split(".")
    for wrong in (
        text,
        f"{text}.{mac[:-1]}{'B' if mac[-1] == 'A' else 'A'}",
        f"{text}A.{mac}",
        served.auth.token[:-1],
        "",
        ".",
    ):
        assert asked(served, wrong)[0] == 401
    later = time.time() + 3700
    monkeypatch.setattr("vigil_lang.service.auth.authentication.time.time", lambda: later)
    assert asked(served, token)[0] == 401


def test_too_many_proofs_have_to_wait(served: Served) -> None:
    data = served.data()
    made = body(served, signature="x")
    codes = [data.post("/v1/sessions", json=made).status_code for _ in range(35)]
    assert codes[0] == 403
    assert codes[-1] == 429
    assert len(served.entries("access_refused")) == 1
