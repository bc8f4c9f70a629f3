"""The secret that tokens rest on is made anew: what was given out before is refused by each node that starts then."""

from __future__ import annotations

from typing import TYPE_CHECKING

from auth_support import Served
from cli_support import called

from vigil_lang.gate.authority.keys import Key
from vigil_lang.gate.authority.proof import proof

if TYPE_CHECKING:
    from pathlib import Path

AGENT = Key.new()


def token(served: Served, run: str) -> str:
    made = proof(AGENT, run, "mailer", served.service.audience, None, None)
    found: str = served.data().post("/v1/sessions", json=made).json()["token"]
    return found


def status(served: Served, given: str, run: str = "r1") -> int:
    body = {
        "subject": {"type": "agent", "id": "mailer"},
        "action": {"name": "web.get", "properties": {"url": "https://example.org"}},
        "resource": {"type": "tool", "id": "web.get"},
        "context": {"run": run},
    }
    return served.data(given).post("/access/v1/evaluation", json=body).status_code


def test_a_new_secret_ends_what_was_given_out(tmp_path: Path) -> None:
    served = Served(tmp_path, f'\n[service.agents]\nmailer = "{AGENT.public}"\n')
    old = token(served, "r1")
    assert status(served.node(), old) == 200
    assert called("gate", "rotate-secret", "--state", str(served.world.state)).status == 0
    started = served.node()
    assert status(started, old) == 401
    assert status(started, token(started, "r2"), "r2") == 200
    assert status(served, old) == 200  # a node that was not started again has the old one still


def test_without_a_state_it_says_so(tmp_path: Path) -> None:
    found = called("gate", "rotate-secret", "--state", str(tmp_path / "none"))
    assert found.status == 2
    assert "cannot be read" in found.err
