"""A run at an enforcement point: a state folder as points make it, and policies of the run's own."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from gate_support import START

from vigil_lang.gate.authority.grants import grant_condition
from vigil_lang.gate.authority.keys import load_key
from vigil_lang.gate.entering import Ended, Entering
from vigil_lang.gate.gate import Gate
from vigil_lang.gate.layers import table_of
from vigil_lang.gate.log.derivation import Derivation
from vigil_lang.gate.log.reading import LogCopy
from vigil_lang.gate.log.replaying import replay
from vigil_lang.gate.log.verifying import verify
from vigil_lang.gate.recorded_runs import RecordedRuns
from vigil_lang.gate.request import Request
from vigil_lang.gate.setup import ensure

if TYPE_CHECKING:
    from pathlib import Path

    from vigil_lang.enforce.run import Broken
    from vigil_lang.gate.answer import Answer
    from vigil_lang.gate.authority.keys import Key

TESTED = """
policy tested

/// What is deployed was tested.
statement tested: prec(Deploy(target = x), Test(target = x, status = ok))

/// What is opened is closed again.
statement closed: resp(Open(file = x), Close(file = x))
"""

HELD = """
policy held

/// Somebody confirms a payment.
rule payment: when Pay() then hold record amount
"""

SKILL = """
policy skill

/// Nothing is sent once a secret was read, unless somebody confirmed something.
statement quiet: always Send() implies earlier Confirm() or not earlier Read(file = "secret")
"""


class Point:
    """An enforcement point over a state folder, with a clock that is set by hand."""

    def __init__(self, folder: Path, **policies: str) -> None:
        self.at = START * 1_000_000
        self.folder = folder
        self.state = folder / "state"
        ensure(self.state)
        for name, text in policies.items():
            self.write(name, text)
        self.gate = self.opened()

    def write(self, name: str, text: str) -> str:
        """A policy in the workspace; gives its path."""
        path = self.folder / "work" / f"{name}.vgl"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return str(path)

    def key(self, role: str) -> Key:
        return load_key(self.state / "keys" / f"{role}.pem")

    def opened(self) -> Gate:
        return Gate(self.state, clock=lambda: self.at)

    def entering(self, *policies: str, workspace: tuple[str, ...] = (), **more: Any) -> Entering:
        at = self.folder / "work"
        paths = tuple(str(at / f"{name}.vgl") for name in policies)
        return Entering("r1", "claude", "claude", str(at), paths, workspace, **more)

    def ask(self, tool: str, call: str | None = None, /, *, observe: bool = False, **input: Any) -> Answer:  # noqa: A002
        request = Request("r1", "claude", tool, input, call=call, outcomes="reported", observe=observe)
        return self.gate.decide(request)

    def end(self, tool: str, call: str | None = None, status: Any = "ok", /, **input: Any) -> list[str]:  # noqa: A002
        return names(self.gate.ended("r1", Ended(tool, input, status, call=call)))

    def mode(self, tool: str, call: str | None = None, /, **input: Any) -> str:  # noqa: A002
        return self.ask(tool, call, **input).decision.mode

    def entries(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.state / "log.jsonl").read_text(encoding="utf-8").splitlines()]

    def kinds(self) -> list[str]:
        return [entry["kind"] for entry in self.entries()]

    def made(self) -> list[tuple[str, str]]:
        """The actions of the run's events with their statuses."""
        return [(event.action, event.status) for event in self.gate.trace("r1").events]

    def check(self) -> None:
        """The log is in order, and its decisions follow from their inputs and from their runs."""
        log = LogCopy(self.state)
        derivation = Derivation(log.folder / "policies", table_of, grant_condition)
        assert not verify(log, derivation=derivation).problems
        runs = replay(log, derivation, RecordedRuns(log.folder / "policies").follow)
        assert [(run.differing, run.not_followed, run.not_derived) for run in runs] == [([], 0, 0)] * len(runs)


def names(found: tuple[Broken, ...]) -> list[str]:
    return [broken.name for broken in found]
