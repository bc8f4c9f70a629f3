"""Logs for the tests: a state folder with a log of decisions that follow from their inputs, and its index."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from vigil_lang.gate.canonical import digest
from vigil_lang.gate.decide import Action, Approval, Authority, Rule, Table, Tier, decide
from vigil_lang.gate.log.derivation import Derivation, KernelInputs, inputs_json, reason_json
from vigil_lang.gate.log.log import Log, create_log
from vigil_lang.gate.settings import LogSettings
from vigil_lang.gate.state import StateFolder
from vigil_lang.gate.storage.folder import FolderStorage
from vigil_lang.semantics import core
from vigil_lang.trace import Event

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from vigil_lang.gate.decide import Decision

RULES = b'{"hold": ["payment.transfer"], "block": ["file.write"]}'
BUNDLE = sha256(RULES).hexdigest()
BEGIN = 1_790_000_000_000_000
TOOLS = ("email.send", "file.write", "payment.transfer", "web.get")


class Result(NamedTuple):
    """What a call of the command came to."""

    status: int
    out: str
    err: str


Vigil: TypeAlias = "Callable[..., Result]"


class Clock:
    """A clock that goes on by a millisecond whenever it is read, unless it is set."""

    def __init__(self) -> None:
        self.now = BEGIN

    def __call__(self) -> int:
        self.now += 1000
        return self.now


def new_folder(path: Path) -> StateFolder:
    """A state folder with an empty log."""
    path.mkdir(mode=0o700)
    folder = StateFolder(path)
    create_log(folder)
    return folder


def opened(folder: StateFolder, *, every: int = 1000, durability: Any = "process", clock: Any = None) -> Log:
    """The log of a folder, read; a checkpoint is made after so many entries."""
    log = Log(FolderStorage(folder), LogSettings(durability=durability, checkpoint_entries=every), clock or Clock())
    log.refresh()
    return log


def table(data: bytes) -> Table:
    """The rules in a bundle of the tests: `{"hold": [actions], "block": [actions]}`."""
    rules = []
    for asks, names in json.loads(data).items():
        rules += [Rule(f"{asks}_{at}", "default", asks, core.ActionIn(frozenset({n}))) for at, n in enumerate(names)]
    return Table(rules)


def grant(text: str) -> core.Condition:
    """The text of a grant in the tests: an action's name."""
    return core.ActionIn(frozenset({text}))


def derivation(folder: Path, *, instead: bytes | None = None) -> Derivation:
    """What derives the decisions of a folder of the tests, or takes other rules for theirs."""
    return Derivation(folder / "policies", lambda data: table(instead or data), grant)


def write_bundle(folder: Path) -> None:
    """Keep the policies that the decisions of the tests are made by."""
    (folder / "policies").mkdir(exist_ok=True)
    (folder / "policies" / f"{BUNDLE}.json").write_bytes(RULES)


def decided(number: int, grants: tuple[str, ...] = ()) -> tuple[dict[str, Any], Decision]:
    """The inputs of a decision as they are recorded, and the decision."""
    tool = TOOLS[number % len(TOOLS)]
    event = Event.of(tool, {"to": f"alice{number}@example.com"}, id=f"e{number}")
    action = Action((event,), {"context.agent": ("mailer",)}, f"b{number}", f"l{number}", BEGIN // 1_000_000)
    approvals = (
        (Approval("h1", f"b{number}", ("default.hold_0",), "user", action.at + 60, 1),) if number % 8 == 2 else ()
    )
    authority = Authority(open=not grants, grants=tuple(map(grant, grants)))
    given = KernelInputs(action, authority, Tier(), approvals)
    rules = table(RULES)
    decision = decide(action, authority, Tier(), rules, approvals)
    return inputs_json(given, grants, {"tool": tool, "input": {}}, {"os": "test"}), decision


def append_decision(log: Log, number: int, run: str = "r1", grants: tuple[str, ...] = (), **other: object) -> int:
    """Log a decision, with its inputs in the side store; without grants authority is open."""
    inputs, decision = decided(number, grants)
    members = {
        "run": run,
        "agent": "mailer",
        "mode": decision.mode,
        "reasons": [reason_json(each) for each in decision.reasons],
        "approvals": list(decision.approvals),
        "record": {name: list(values) for name, values in decision.record},
        "policy_digest": BUNDLE,
        "action_digest": digest(inputs["action"]),
        "binding": inputs["binding"],
        "likeness": inputs["likeness"],
        "tier": inputs["tier"]["level"],
        **other,
    }
    return log.append("decision", members, {"/inputs": inputs})


def write_index(folder: Path, log: Log) -> None:
    """The part of the index that an audit reads."""
    with closing(sqlite3.connect(folder / "index.sqlite")) as found, found:
        found.execute("CREATE TABLE entries(seq INTEGER PRIMARY KEY, leaf BLOB NOT NULL) STRICT")
        found.executemany("INSERT INTO entries VALUES (?, ?)", ((seq, leaf) for seq, leaf, _ in log.leaves()))


def filled(path: Path, *, entries: int = 40, tail: int = 3, every: int = 7, index: bool = True) -> StateFolder:
    """A folder whose log has decisions of two runs, checkpoints between, and a few entries after the last."""
    folder = new_folder(path)
    write_bundle(path)
    log = opened(folder, every=every)
    with folder.lock():
        log.append("run_start", {"run": "r1", "agent": "mailer", "policy_digest": BUNDLE})
        for number in range(entries):
            append_decision(log, number, "r1" if number < entries // 2 else "r2")
            if number == entries // 2 - 1:
                log.append("run_end", {"run": "r1"})
        log.checkpoint()
        for number in range(tail):
            append_decision(log, entries + number, "r2")
    if index:
        write_index(path, log)
    log.close()
    return folder
