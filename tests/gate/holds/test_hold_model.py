"""Whatever is done to holds, in whatever order and with whatever crash, the index says what a naive reading of the log
says, and an action passes exactly where that reading allows it."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holds_support import Call, World, create
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from vigil_lang.gate.authority.keys import Key
from vigil_lang.gate.holds import HoldError
from vigil_lang.gate.log.log import moment
from vigil_lang.gate.settings import HoldSettings

if TYPE_CHECKING:
    from collections.abc import Callable

KEYS = [Key.new() for _ in range(4)]
ALICE, BOB, ORG, STRANGER = KEYS
CALLS = [Call(amount=amount, layer=layer) for amount in (1, 2) for layer in ("personal", "organisation")]
CALLS = [Call(tool=f"{call.layer}.{call.tool}", amount=call.amount, layer=call.layer) for call in CALLS]


def naive(entries: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """What the holds of a log are: read anew from its beginning each time, with nothing kept."""
    holds: dict[str, dict[str, Any]] = {}
    for at, entry in enumerate(entries):
        kind, now = entry["kind"], moment(entry["at"]) // 1_000_000
        if kind == "decision":
            for name in entry["approvals"]:
                holds[name]["used"] += 1
            if "hold" in entry:
                found = {**entry["hold"], "state": "pending", "votes": [], "used": 0, "void": False}
                holds[found["id"]] = {**found, "binding": entry["binding"], "likeness": entry["likeness"]}
        elif kind in ("approval", "denial"):
            batch = [entry["hold"]] if "batch" not in entry else entry["batch"]
            place = batch.index(entry["hold"])
            whole = entries[at - place : at - place + len(batch)]
            same = [each for each in whole if each.get("batch") == entry.get("batch") and each["kind"] == kind]
            if len(same) < len(batch) or [each["hold"] for each in same] != batch:
                continue
            if any(moment(each["at"]) // 1_000_000 >= holds[each["hold"]]["expires"] for each in same):
                continue
            hold = holds[entry["hold"]]
            if kind == "denial":
                hold["state"] = "denied"
                continue
            hold["votes"].append(entry)
            if len({vote["by"] for vote in hold["votes"]}) == hold["quorum"]:
                hold["state"] = "approved"
        elif kind == "expiry":
            assert now >= holds[entry["hold"]]["expires"]
            holds[entry["hold"]]["state"] = "expired"
        elif kind == "cancellation":
            hold = holds[entry["hold"]]
            if hold["state"] == "pending":
                hold["state"] = "cancelled"
            else:
                hold["void"] = True
    return holds


def allows(hold: dict[str, Any], call: Call, at: int) -> bool:
    """Whether a hold, as the naive reading has it, lets a call through."""
    if hold["state"] != "approved" or hold["void"]:
        return False
    votes = hold["votes"]
    like = all(vote["release"] for vote in votes)
    meant = hold["likeness"] == call.likeness if like else hold["binding"] == call.binding
    return meant and at < min(v["expires"] for v in votes) and hold["used"] < min(v["uses"] for v in votes)


class Crash(BaseException):
    """The process ends here."""


class HoldMachine(RuleBasedStateMachine):
    """People, an agent, the time and crashes, on one state folder."""

    @initialize(quorum=st.integers(1, 2), uses=st.integers(1, 2))
    def begin(self, quorum: int, uses: int) -> None:
        self.place = Path(tempfile.mkdtemp(prefix="vigil-holds-"))
        self.settings = HoldSettings(
            approvers=(ALICE.public, BOB.public), organisation=(ORG.public, BOB.public), quorum=quorum, max_uses=uses,
            timeout=60, longest_release=90,
        )  # fmt: skip
        self.world = World(create(self.place / "state"), self.settings)
        self.world.holds.listed()

    def teardown(self) -> None:
        if hasattr(self, "place"):
            self.world.store.close()
            self.world.log.close()
            shutil.rmtree(self.place)

    def done(self, what: Callable[[], object], crash: int, *, written: bool) -> None:
        """Do something; the process ends at an append, before or after it is written, or (0) not at all."""
        if crash:
            append, left = self.world.log.append, [crash]

            def ending(*given: Any) -> int:
                left[0] -= 1
                if not left[0] and not written:
                    raise Crash
                seq = append(*given)
                if not left[0]:
                    raise Crash
                return seq

            self.world.log.append = ending  # type: ignore[method-assign]
        try:
            with suppress(HoldError):
                what()
        except Crash:
            self.restart(lost=False)
        finally:
            self.world.log.__dict__.pop("append", None)

    def names(self) -> list[str]:
        return [hold.id for hold in self.world.store.holds()]

    crashes = st.one_of(st.just(0), st.integers(1, 4))

    @rule(call=st.sampled_from(CALLS), crash=crashes, written=st.booleans())
    def ask(self, call: Call, crash: int, written: bool) -> None:
        now = self.world.holds.now()
        before = naive([entry for _, entry in self.world.log.entries()])
        expected = any(allows(hold, call, now) for hold in before.values())
        found: list[str] = []
        self.done(lambda: found.append(self.world.ask(call).mode), crash, written=written)
        assert found in ([], ["pass" if expected else "hold"])

    @precondition(lambda self: self.names())
    @rule(data=st.data(), key=st.sampled_from(KEYS), crash=crashes, written=st.booleans(), release=st.booleans())
    def approve(self, data: st.DataObject, key: Key, crash: int, written: bool, release: bool) -> None:
        chosen = data.draw(st.lists(st.sampled_from(self.names()), min_size=1, max_size=3, unique=True))
        self.done(lambda: self.world.approve(key, *chosen, release=70 if release else None), crash, written=written)

    @precondition(lambda self: self.names())
    @rule(data=st.data(), key=st.sampled_from(KEYS), crash=crashes, written=st.booleans())
    def deny(self, data: st.DataObject, key: Key, crash: int, written: bool) -> None:
        chosen = data.draw(st.lists(st.sampled_from(self.names()), min_size=1, max_size=2, unique=True))
        self.done(lambda: self.world.deny(key, *chosen), crash, written=written)

    @precondition(lambda self: self.names())
    @rule(data=st.data(), crash=crashes, written=st.booleans())
    def cancel(self, data: st.DataObject, crash: int, written: bool) -> None:
        chosen = data.draw(st.sampled_from(self.names()))
        self.done(lambda: self.world.holds.cancel([chosen], "not wanted"), crash, written=written)

    @rule(tool=st.sampled_from(sorted({call.tool for call in CALLS})), crash=crashes, written=st.booleans())
    def void(self, tool: str, crash: int, written: bool) -> None:
        likeness = Call(tool=tool).likeness
        self.done(
            lambda: self.world.holds.void("revoked", lambda hold: hold.opened["likeness"] == likeness),
            crash,
            written=written,
        )

    @rule(seconds=st.integers(1, 40))
    def wait(self, seconds: int) -> None:
        self.world.clock.at += seconds

    @rule(crash=crashes, written=st.booleans())
    def look(self, crash: int, written: bool) -> None:
        self.done(self.world.holds.listed, crash, written=written)

    @rule(lost=st.booleans())
    def restart(self, lost: bool) -> None:
        """Another process takes over, perhaps without the index."""
        world = self.world
        world.log.__dict__.pop("append", None)
        world.store.close()
        world.log.close()
        if lost:
            for path in world.folder.path.glob("index.sqlite*"):
                path.unlink()
        self.world = world.again()
        with self.world.holds.transaction():
            pass

    @invariant()
    def the_index_is_what_the_log_says(self) -> None:
        if not hasattr(self, "world"):
            return
        expected = naive([entry for _, entry in self.world.log.entries()])
        found = {hold.id: hold for hold in self.world.store.holds()}
        assert found.keys() == expected.keys()
        for name, hold in found.items():
            naively = expected[name]
            assert (hold.state, hold.used, hold.void is not None) == (
                naively["state"],
                naively["used"],
                naively["void"],
            )
            assert [entry["by"] for entry in hold.confirmations] == [vote["by"] for vote in naively["votes"]]
            voters = {vote["by"] for vote in naively["votes"]}
            assert STRANGER.public not in voters
            assert hold.confirm_by == "user" or ALICE.public not in voters
            assert hold.used <= max(1, hold.uses)


HoldMachine.TestCase.settings = settings(max_examples=40, stateful_step_count=25)
TestHolds = HoldMachine.TestCase
