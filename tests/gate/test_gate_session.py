"""The session of examples/gate: what the gate says at each step, and what its log shows afterwards."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest
from cli_support import called

from vigil_lang.cli.demo_gate import Session
from vigil_lang.gate.log.derivation import misstated

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return Session(tmp_path / "state")


def test_each_step_is_answered_as_the_example_says(session: Session) -> None:
    told = list(session.play())
    assert [(each.says, each.expected) for each in told] == [(each.says, each.found) for each in told]
    assert {each.found for each in told} == {"pass", "hold", "denied", "expired", "block"}


def test_the_log_is_in_order_and_its_decisions_follow(session: Session, tmp_path: Path) -> None:
    decisions = sum(each.found != "denied" for each in session.play())
    copy = tmp_path / "copy"
    shutil.copytree(session.gate.folder.path, copy)
    verified = called("audit", "verify", "--state", copy, "--format", "json")
    found = json.loads(verified.out)
    assert (verified.status, found["problems"]) == (0, [])
    assert found["decisions"] == {"derived": decisions, "deleted": 0, "not_derived": 0}
    replayed = called("audit", "replay", "--state", copy, "--format", "json")
    runs = json.loads(replayed.out)["runs"]
    assert replayed.status == 0
    assert sum(run["derived"] for run in runs) == decisions
    assert [run["not_followed"] for run in runs] == [0, 0, 0]


def test_a_statement_that_said_something_else_is_found(session: Session) -> None:
    """The recorded inputs say of a payment that no statement was violated."""
    list(session.play())
    state = session.gate.folder.path
    entries = [json.loads(line) for line in (state / "log.jsonl").read_text(encoding="utf-8").splitlines()]
    place = next(at for at, entry in enumerate(entries) if "looked_at" in str(entry.get("reasons")))
    inputs = session.gate.log.plain(place, "/inputs")
    assert [each["name"] for each in inputs["broken"]] == ["looked_at"]
    from vigil_lang.gate.recorded_runs import RecordedRuns

    run = RecordedRuns(state / "policies").follow("payer")
    for at, entry in enumerate(entries[:place]):
        if entry.get("run") == "payer":
            run.happened(at, entry, None)
    assert run.proposed(entries[place]["policy_digest"], inputs) == inputs["broken"]
    run.happened(
        place,
        {**entries[place], "mode": "pass"},
        {**inputs, "action": {"tool": "get_invoice", "input": {"invoice": "2026-117"}}},
    )
    assert run.proposed(entries[place]["policy_digest"], inputs) == []


def test_policies_of_another_version_are_not_followed(session: Session) -> None:
    list(session.play())
    (bundle,) = (session.gate.folder.path / "policies").glob("*.json")
    text = bundle.read_text(encoding="utf-8").replace("get_invoice", "get_the_invoice", 1)
    bundle.write_text(text, encoding="utf-8")
    from vigil_lang.gate.layers import policies_of

    with pytest.raises(ValueError, match="reads something else in its texts"):
        policies_of(bundle.read_bytes())


def test_a_confirmation_that_nobody_signed_is_found(session: Session, tmp_path: Path) -> None:
    """Whoever has the log's key may write an approval, and not the approver's signature."""
    list(session.play())
    state = tmp_path / "copy"
    shutil.copytree(session.gate.folder.path, state)
    for made in ("checkpoint", "checkpoints", "index.sqlite", "index.sqlite-wal", "index.sqlite-shm", "frontier"):
        place = state / made
        shutil.rmtree(place) if place.is_dir() else place.unlink(missing_ok=True)
    (state / "checkpoints").mkdir()
    log = state / "log.jsonl"
    lines = log.read_text(encoding="utf-8").splitlines(keepends=True)
    at = next(place for place, line in enumerate(lines) if '"kind":"approval"' in line)
    entry = json.loads(lines[at])
    forged = lines[at].replace(entry["signature"], entry["signature"][::-1])
    log.write_text("".join([*lines[:at], forged, *lines[at + 1 :]]), encoding="utf-8")
    found = json.loads(called("audit", "verify", "--state", state, "--format", "json").out)
    assert [(problem["seq"], problem["kind"]) for problem in found["problems"]] == [(at, "decision")]
    assert "signature" in found["problems"][0]["message"]


def test_what_an_entry_says_of_its_action_is_checked(session: Session) -> None:
    """Whoever has the log's key may sign entries that say another action, tier or binding than was decided about."""
    list(session.play())
    entries = [json.loads(line) for line in (session.gate.folder.path / "log.jsonl").read_text().splitlines()]
    place = next(at for at, entry in enumerate(entries) if entry["kind"] == "decision")
    recorded = session.gate.log.plain(place, "/inputs")
    assert misstated(entries[place], recorded) is None
    for name, other in [("action_digest", "0" * 64), ("binding", "x"), ("likeness", None), ("tier", 3)]:
        assert misstated({**entries[place], name: other}, recorded) == f"its `{name}` is not that of its inputs"
