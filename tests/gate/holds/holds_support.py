"""A small gate for the tests of holds: the kernel, a real log, a real index, and a clock that is set by hand."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from vigil_lang.gate.authority.keys import Key, write_key
from vigil_lang.gate.canonical import short_digest
from vigil_lang.gate.decide import Action, Authority, Broken, Table, Tier, decide
from vigil_lang.gate.holds import Holds
from vigil_lang.gate.log.log import Log, create_log
from vigil_lang.gate.settings import HoldSettings, LogSettings, Notify
from vigil_lang.gate.state import StateFolder
from vigil_lang.gate.storage.folder import FolderStorage
from vigil_lang.gate.storage.postgres import PostgresStorage
from vigil_lang.gate.store import Store
from vigil_lang.trace import Event

if TYPE_CHECKING:
    from pathlib import Path

    from vigil_lang.gate.decide import Decision
    from vigil_lang.gate.decide.model import Layer
    from vigil_lang.gate.storage.storage import Storage

START = 1_790_000_000
"""The POSIX time at which a test begins."""


class Clock:
    """Stands still until it is set; gives microseconds."""

    def __init__(self, at: int = START) -> None:
        self.at = at

    def __call__(self) -> int:
        return self.at * 1_000_000


@dataclass(frozen=True, slots=True)
class Call:
    """What an agent asks for, and what is in force meanwhile."""

    tool: str = "payment.transfer"
    amount: int = 700
    run: str = "r1"
    agent: str = "mailer"
    policy: str = "policy-1"
    authority: str = "authority-1"
    tier: int = 0
    layer: Layer = "personal"
    more: tuple[str, ...] = ()
    """Further statements that are broken and ask for a hold."""

    @property
    def action(self) -> dict[str, Any]:
        return {"tool": self.tool, "input": {"amount": self.amount, "to": "acct_123"}}

    @property
    def binding(self) -> str:
        return short_digest({"action": self.action, "context": [self.run, self.agent, *self._in_force, self.tier]})

    @property
    def likeness(self) -> str:
        return short_digest([self.tool, self.agent, *self._in_force])

    @property
    def _in_force(self) -> tuple[str, str]:
        return self.policy, self.authority


class Answer(NamedTuple):
    """What the gate said: its decision, the number of its entry, and the hold that was opened or joined."""

    decision: Decision
    seq: int
    hold: str | None

    @property
    def mode(self) -> str:
        return self.decision.mode


def create(path: Path) -> StateFolder:
    """A new state folder with an empty log."""
    path.mkdir(mode=0o700)
    folder = StateFolder(path)
    create_log(folder)
    return folder


class World:
    """One process's view of a state folder, with a gate that holds every transfer."""

    def __init__(
        self,
        folder: StateFolder,
        settings: HoldSettings,
        clock: Clock | None = None,
        notified: Notify | None = None,
        *,
        database: str = "",
    ) -> None:
        self.database = database
        self.folder = StateFolder(folder.path)
        self.clock = clock or Clock()
        self.storage: Storage = FolderStorage(self.folder, "process")
        if database:
            self.storage = PostgresStorage(self.folder, database)
        self.log = Log(self.storage, LogSettings(durability="process"), self.clock)
        self.store = Store(self.storage, self.log)
        self.holds = Holds(self.storage, self.log, self.store, settings, notified, clock=self.clock)

    def ask(self, call: Call, asker: str | None = None) -> Answer:
        """The transaction of the gate: decide, append, and count."""
        with self.holds.transaction():
            self.holds.settle()
            at = self.holds.now()
            approvals = self.holds.approvals_for(call.binding, call.likeness, at)
            broken = tuple(
                Broken(name, call.layer, "hold", f"`{name}` is to be confirmed") for name in ("transfer", *call.more)
            )
            event = Event.of(call.tool, call.action["input"], id="e1")
            action = Action((event,), {}, call.binding, call.likeness, at, broken)
            decision = decide(action, Authority(open=True), Tier(call.tier), Table(), approvals)
            members: dict[str, Any] = {
                "run": call.run,
                "agent": call.agent,
                "user": "alice",
                "mode": decision.mode,
                "reasons": [msgspec.to_builtins(reason) for reason in decision.reasons],
                "approvals": list(decision.approvals),
                "binding": call.binding,
                "likeness": call.likeness,
                "policy_digest": call.policy,
                "authority_digest": call.authority,
                "tier": call.tier,
                "revocations": 0,
                "links": ["link-1"],
            }
            name = None
            if decision.mode == "hold":
                pending = self.store.pending_for(call.binding, at)
                if pending is None:
                    members["hold"] = self.holds.opened(decision.who, asker)
                    name = members["hold"]["id"]
                else:
                    members["joined"] = name = pending.id
            seq = self.log.append("decision", members, {"/inputs": {"action": call.action, "at": at}})
        return Answer(decision, seq, name)

    def approve(self, key: Key, *names: str | None, release: int | None = None) -> list[str]:
        """Approve holds, and give their states."""
        wanted = [name for name in names if name is not None]
        return [hold.state for hold in self.holds.approve(self.holds.signed(wanted, key, release=release))]

    def deny(self, key: Key, *names: str | None) -> list[str]:
        """Deny holds, and give their states."""
        wanted = [name for name in names if name is not None]
        return [hold.state for hold in self.holds.deny(self.holds.signed_denials(wanted, key))]

    def state(self, name: str | None) -> str:
        """The state of a hold, as the index has it."""
        assert name is not None
        return self.holds.get(name).state

    def kinds(self) -> list[str]:
        """The kinds of the entries of the log."""
        return [entry["kind"] for _, entry in self.log.entries()]

    def again(self, settings: HoldSettings | None = None) -> World:
        """Another process on the same folder, with the same clock."""
        return World(self.folder, settings or self.holds._settings, self.clock, database=self.database)


def key_file(folder: Path, name: str, key: Key) -> Path:
    """A key in a file of its own."""
    path = folder / f"{name}.pem"
    write_key(key, os.fspath(path))
    return path
