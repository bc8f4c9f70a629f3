"""The index is what the log comes to: made anew when it is gone, never ahead of the log, and certain or not at all."""

from __future__ import annotations

import sqlite3
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import pytest
from holds_support import START, Call, World, create

from vigil_lang.gate.authority.keys import Key
from vigil_lang.gate.log.log import Log
from vigil_lang.gate.settings import HoldSettings, LogSettings
from vigil_lang.gate.state import StateError, StateFolder
from vigil_lang.gate.storage.folder import FolderStorage
from vigil_lang.gate.store import SCHEMA, Store

if TYPE_CHECKING:
    from pathlib import Path

ALICE = Key.new()
SETTINGS = HoldSettings(approvers=(ALICE.public,), quorum=1)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(create(tmp_path / "state"), SETTINGS)


def appended(world: World, kind: str, **members: Any) -> int:
    with world.holds.transaction():
        return world.log.append(kind, members)


def state_of(world: World) -> dict[str, list[Any]]:
    """All that the index says, but for the place of its tables."""
    tables = [
        row[0] for row in world.store._base.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
    ]
    return {name: world.store._base.execute(f'SELECT * FROM "{name}" ORDER BY 1, 2').fetchall() for name in tables}


def some(world: World) -> World:
    """A world with a bit of everything."""
    appended(world, "run_start", run="r1", agent="mailer")
    appended(world, "signal", run="r1", source="bursts", score=0.5, until=START + 10)
    world.approve(ALICE, world.ask(Call()).hold)
    world.ask(Call())
    world.deny(ALICE, world.ask(Call(amount=2)).hold)
    world.ask(Call(amount=3))
    appended(world, "policy", policy_digest="policy-1")
    return world


@pytest.mark.parametrize("spoil", ["missing", "older", "newer"])
def test_an_index_that_is_missing_or_of_another_version_is_made_anew(world: World, spoil: str) -> None:
    before = state_of(some(world))
    world.store.close()
    if spoil == "missing":
        for path in world.folder.path.glob("index.sqlite*"):
            path.unlink()
    else:
        with sqlite3.connect(world.folder.index) as base:
            base.execute(f"PRAGMA user_version = {SCHEMA - 1 if spoil == 'older' else SCHEMA + 1}")
            base.execute('CREATE TABLE "an""other" (x)')
            base.execute("DROP TABLE run")
    after = world.again()
    with after.holds.transaction():
        assert state_of(after) == before


def test_what_an_index_left_behind_is_not_taken_for_the_new_one(world: World) -> None:
    before = state_of(some(world))
    world.folder.index.unlink()  # while others have it open: its -wal and -shm stay
    after = world.again()
    with after.holds.transaction():
        assert state_of(after) == before


@pytest.mark.parametrize("version", [SCHEMA, SCHEMA + 1])
def test_a_log_that_is_shorter_than_its_index_was_cut(world: World, version: int) -> None:
    some(world)
    world.store._base.execute(f"PRAGMA user_version = {version}")
    lines = world.folder.log.read_bytes().splitlines(keepends=True)
    world.folder.log.write_bytes(b"".join(lines[:-1]))
    with pytest.raises(StateError, match="the log was cut"), world.again().holds.transaction():
        pass


def test_a_log_whose_last_known_entry_is_another_was_changed(world: World) -> None:
    some(world)
    lines = world.folder.log.read_bytes().splitlines(keepends=True)
    lines[-1] = lines[-1].replace(b"policy-1", b"policy-2")
    world.folder.log.write_bytes(b"".join(lines))
    with pytest.raises(StateError, match="the log was changed"), world.again().holds.transaction():
        pass


def test_the_index_has_the_leaf_of_every_entry(world: World) -> None:
    some(world)
    lines = world.folder.log.read_bytes().splitlines()
    found = world.store._base.execute("SELECT seq, leaf FROM entries ORDER BY seq").fetchall()
    assert found == [(seq, sha256(b"\0" + line).digest()) for seq, line in enumerate(lines)]


def test_an_index_that_is_none_cannot_be_judged_by(world: World) -> None:
    world.store.close()
    for path in world.folder.path.glob("index.sqlite*"):
        path.unlink()
    world.folder.index.write_bytes(b"not a database, though as long as one" * 100)
    with pytest.raises(StateError, match="cannot be used"):
        world.again().holds.listed()


def test_an_index_that_is_a_link_is_refused(world: World, tmp_path: Path) -> None:
    world.store.close()
    for path in world.folder.path.glob("index.sqlite*"):
        path.unlink()
    world.folder.index.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StateError, match="cannot be used"):
        world.again()
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("state", ["granted", "Approved", "", "failed"])
def test_a_hold_in_an_unknown_state_is_not_approved(world: World, state: str) -> None:
    asked = world.ask(Call())
    world.approve(ALICE, asked.hold)
    world.store._base.execute("UPDATE hold SET state = ?", (state,))
    assert world.store.approved_for(Call().binding, Call().likeness, START) == []
    with pytest.raises(StateError, match="unknown state"):
        world.holds.get(asked.hold or "")
    with pytest.raises(StateError, match="unknown state"):
        world.holds.listed(every=True)


# --- entries that cannot follow ------------------------------------------------------------------------------------


def approval(world: World, **changed: Any) -> dict[str, Any]:
    """The entry of an approval by Alice of the only hold."""
    asked = world.ask(Call())
    (word,) = world.holds.signed([asked.hold or ""], ALICE)
    entry = {
        "hold": asked.hold,
        "by": ALICE.public,
        "signature": word.signature,
        "who": "user",
        "complete": True,
        "uses": 1,
        "expires": START + 300,
        "covers": Call().binding,
        "reasons": ["personal.transfer"],
        "release": False,
    }
    return {name: value for name, value in (entry | changed).items() if value is not ...}


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"by": Key.new().public}, "signature"),
        ({"by": ""}, "signature"),
        ({"by": ...}, "lacks something"),
        ({"signature": "AAAA"}, "signature"),
        ({"signature": None}, "lacks something"),
        ({"complete": False}, "miscounts"),
        ({"uses": 2}, "signature"),
        ({"uses": 0}, "no number of uses"),
        ({"uses": True}, "no number of uses"),
        ({"expires": START + 301}, "lasts longer"),
        ({"covers": Call(amount=1).binding}, "covers another action"),
        ({"covers": Call().likeness, "release": True}, "signature"),
        ({"reasons": ["personal.transfer", "organisation.other"]}, "other reasons"),
        ({"hold": "unknown"}, "no hold"),
    ],
)
def test_an_approval_that_proves_nothing_is_not_judged_by(world: World, changed: dict[str, Any], why: str) -> None:
    entry = approval(world, **changed)
    with pytest.raises(StateError, match=why):
        appended(world, "approval", **entry)
    with pytest.raises(StateError, match=why):
        world.again().holds.listed()


def test_the_approval_of_the_tests_is_good(world: World) -> None:
    appended(world, "approval", **approval(world))
    assert world.ask(Call()).mode == "pass"


def test_only_the_organisation_may_confirm_what_the_log_says_is_its_own(world: World) -> None:
    name = world.ask(Call(layer="organisation")).hold
    entry = approval(world, reasons=["organisation.transfer"])
    assert entry["hold"] == name
    with pytest.raises(StateError, match="only the organisation"):
        appended(world, "approval", **entry)


@pytest.mark.parametrize("uses", [1, 2])
def test_an_approval_used_too_often_is_not_judged_by(world: World, uses: int) -> None:
    world = world.again(HoldSettings(approvers=(ALICE.public,), max_uses=uses))
    asked = world.ask(Call())
    world.approve(ALICE, asked.hold)
    decision = {"run": "r1", "agent": "mailer", "mode": "pass", "approvals": [asked.hold], "binding": Call().binding}
    for _ in range(uses):
        appended(world, "decision", **decision)
    with pytest.raises(StateError, match="was used before"):
        appended(world, "decision", **decision)


@pytest.mark.parametrize(
    ("kind", "members"),
    [
        ("decision", {"run": "r1", "agent": "mailer", "mode": "hold", "approvals": ["x"]}),
        ("decision", {"run": "r1", "agent": "mailer", "mode": "pass", "hold": {"id": "x"}}),
        ("decision", {"agent": "mailer", "mode": "pass"}),
        ("decision", {"run": "r1", "agent": "mailer", "mode": "pass", "approvals": ["unknown"]}),
        ("expiry", {"hold": "unknown"}),
        ("expiry", {}),
        ("signal", {"run": "r1", "source": "x", "until": START}),
        ("cancellation", {"hold": 7, "why": "x"}),
        ("outcome", {"run": "r1"}),
    ],
)
def test_an_entry_that_cannot_be_is_not_judged_by(world: World, kind: str, members: dict[str, Any]) -> None:
    with pytest.raises(StateError, match="entry 0 of the log"):
        appended(world, kind, **members)


def test_a_hold_is_not_expired_before_its_time(world: World) -> None:
    asked = world.ask(Call())
    with pytest.raises(StateError, match="had not ended"):
        appended(world, "expiry", hold=asked.hold)


def test_kinds_that_are_not_known_are_passed_over(world: World) -> None:
    appended(world, "something_new", hold="unknown", run=7)
    assert world.ask(Call()).mode == "hold"


# --- what is asked of it -------------------------------------------------------------------------------------------


def test_passes_are_counted_by_link_run_hour_and_day(world: World) -> None:
    world = world.again(HoldSettings(approvers=(ALICE.public,), max_uses=1000))
    world.approve(ALICE, world.ask(Call()).hold, release=3600)
    world.ask(Call(amount=1))
    world.clock.at += 1800
    world.ask(Call(amount=2, run="r2"))
    assert world.store.counters(["link-1", "link-2"], "r1", START + 1800) == {
        "link-1": {"run": 1, "hour": 2, "day": 2},
        "link-2": {"run": 0, "hour": 0, "day": 0},
    }
    assert world.store.counters(["link-1"], "r2", START + 3601)["link-1"] == {"run": 1, "hour": 1, "day": 2}
    assert world.store.counters(["link-1"], "r2", START + 90_000)["link-1"] == {"run": 1, "hour": 0, "day": 0}


def test_runs_are_known_until_they_end(world: World) -> None:
    appended(world, "run_start", run="r1", agent="mailer")
    appended(world, "run_start", run="r2", agent="other")
    world.clock.at += 5
    world.ask(Call())
    appended(world, "acknowledged", run="r1", seq=7)
    one, two = world.store.runs()
    assert (one.name, one.started, one.seen, one.seq) == ("r1", START * 10**6, (START + 5) * 10**6, 2)
    assert (one.acknowledged, one.acknowledged_at) == (7, 3)
    assert (two.name, two.agent, two.acknowledged) == ("r2", "other", None)
    appended(world, "run_end", run="r1")
    assert [run.name for run in world.store.runs()] == ["r2"]


def test_signals_count_until_their_end_and_the_last_are_always_there(world: World) -> None:
    appended(world, "signal", run="r1", source="a", score=0.5, until=START + 10)
    appended(world, "signal", run="r1", source="a", score=None, until=START + 5)
    appended(world, "signal", run="r1", source="b", score=1, until=START + 20)
    appended(world, "signal", run="r2", source="b", score=1, until=START + 20)
    assert [(s.source, s.score) for s in world.store.signals("r1", START)] == [("a", 0.5), ("a", None), ("b", 1)]
    assert [(s.source, s.score) for s in world.store.signals("r1", START + 30)] == [("a", 0.5), ("a", None), ("b", 1)]
    appended(world, "signal", run="r1", source="a", score=0.1, until=START + 1)
    assert [(s.source, s.score) for s in world.store.signals("r1", START + 30)] == [("b", 1), ("a", 0.1)]


def test_an_outcome_belongs_to_its_decision(world: World) -> None:
    world.approve(ALICE, world.ask(Call()).hold)
    passed = world.ask(Call())
    outcome = appended(world, "outcome", run="r1", decision=passed.seq, status="ok")
    first, second = world.store.decisions("r1")
    assert (first.mode, first.outcome) == ("hold", None)
    assert (second.mode, second.outcome, second.status) == ("pass", outcome, "ok")


def test_the_index_is_caught_up_by_whoever_comes_next(world: World) -> None:
    """A crash between the log and the index: the entry is there, and nobody told the index."""
    folder = StateFolder(world.folder.path)
    storage = FolderStorage(folder)
    log = Log(storage, LogSettings(durability="process"), world.clock)
    with folder.lock():
        log.refresh()
        log.append("run_start", {"run": "r9", "agent": "mailer"})
    store = Store(storage, log)
    with world.holds.transaction():
        assert [run.name for run in world.store.runs()] == ["r9"]
    with folder.lock():
        store.catch_up()
    assert [run.name for run in store.runs()] == ["r9"]


def test_entries_are_shown_in_pages_newest_first(world: World) -> None:
    some(world)
    every = list(world.log.entries())[::-1]
    for kind in (None, "decision", "approval", "signal", "nothing"):
        for run in (None, "r1", "r2"):
            chosen = [each for each in every if kind in (None, each[1]["kind"]) and run in (None, each[1].get("run"))]
            pages, before = [], None
            while page := world.store.page(before, 2, kind=kind, run=run):
                pages += page
                before = page[-1][0]
            assert pages == chosen, (kind, run)


def test_the_holds_that_people_have_to_look_at_first_come_first(world: World) -> None:
    calls = [
        Call(amount=amount, tier=tier, layer=layer)
        for amount, (tier, layer) in enumerate([(0, "personal"), (2, "personal"), (1, "organisation"), (2, "personal")])
    ]
    asked = [world.ask(call).hold for call in calls]
    assert [hold.id for hold in world.store.hold_page("pending", 9)] == [asked[2], asked[1], asked[3], asked[0]]
    assert [hold.id for hold in world.store.hold_page("pending", 2, 1)] == [asked[1], asked[3]]
    world.deny(ALICE, asked[0])
    assert [hold.id for hold in world.store.hold_page(None, 2)] == [asked[3], asked[2]]
    assert [hold.id for hold in world.store.hold_page("denied", 9)] == [asked[0]]
    expected = {"pending": 3, "approved": 0, "denied": 1, "expired": 0, "cancelled": 0}
    assert world.store.hold_counts() == expected


def test_a_page_of_a_large_index_is_found_by_an_index(world: World) -> None:
    """No page reads all entries or sorts all holds."""
    some(world)
    asked: list[str] = []
    world.store._base.set_trace_callback(asked.append)
    for kind in (None, "decision"):
        for run in (None, "r1"):
            world.store.page(9, 2, kind=kind, run=run)
    for state in (None, "pending", "denied"):
        world.store.hold_page(state, 2)
    world.store._base.set_trace_callback(None)
    pages = [query for query in asked if "LIMIT" in query]
    assert len(pages) == 7
    for query in pages:
        plan = " ".join(str(row[-1]) for row in world.store._base.execute(f"EXPLAIN QUERY PLAN {query}"))
        assert "TEMP B-TREE" not in plan, query
