"""A gate on a state folder of a test's own, with a clock that is set by hand."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from vigil_lang.gate.authority.keys import Key, load_key
from vigil_lang.gate.gate import Gate
from vigil_lang.gate.request import Request, request_of
from vigil_lang.gate.setup import make_state

if TYPE_CHECKING:
    from pathlib import Path

    from vigil_lang.gate.answer import Answer

START = 1_790_000_000
"""The POSIX time at which a test begins: a Monday in 2026, 13:33 UTC."""

ORGANISATION = """
policy org

param limit: number = 10000

/// The treasury confirms a payment above the threshold.
rule large: when payment.transfer(amount > 500) then hold record amount, recipient

/// No payment goes beyond the limit.
rule beyond: when payment.transfer(amount > limit) then block record amount

/// An invoice is looked at before it is paid.
statement looked_at: prec(pay_invoice(invoice = x), get_invoice(invoice = x))
"""

PERSONAL = """
policy ann

/// I read what I send.
rule mail: when message.send() then hold record recipient

/// Nothing in the evening.
rule evening: when message.send() and context.hour in {20, 21, 22} then block
"""


class World:
    """A state folder with policies, and gates over it: each is what a process has."""

    def __init__(
        self,
        folder: Path,
        *,
        organisation: str = ORGANISATION,
        personal: str = PERSONAL,
        database: str = "",
        **more: str,
    ) -> None:
        self.at = START * 1_000_000
        self.folder = folder
        self.state = folder / "state"
        self.workspace = folder / "work"
        self.workspace.mkdir()
        for name, text in {"organisation": organisation, "personal": personal}.items():
            (folder / f"{name}.vgl").write_text(text, encoding="utf-8")
        named = [[str(folder / f"{name}.vgl")] for name in ("organisation", "personal")]
        make_state(self.state, self.workspace, *named, is_open=True)
        self.set("default = true", "default = false")
        for old, new in more.items():
            self.set(old, new)
        if database:
            self.set("[layers]", f'[storage]\npostgres = "{database}"\n\n[layers]')
        self.gate = self.opened()

    def set(self, old: str, new: str) -> None:
        """Change the settings' text; gates that are open keep what they read."""
        file = self.state / "gate.toml"
        text = file.read_text(encoding="utf-8")
        assert old in text
        file.write_text(text.replace(old, new), encoding="utf-8")

    def opened(self) -> Gate:
        """Another gate over the same folder, as another process has it."""
        return Gate(self.state, clock=lambda: self.at)

    def wait(self, seconds: float) -> None:
        self.at += int(seconds * 1_000_000)

    def key(self, role: str) -> Key:
        return load_key(self.state / "keys" / f"{role}.pem")

    def ask(self, tool: str, gate: Gate | None = None, /, **input: Any) -> Answer:  # noqa: A002 - as requests call it
        return (gate or self.gate).decide(request(tool, **input))

    def confirm(self, answer: Answer) -> None:
        assert answer.hold is not None
        words = self.gate.holds.signed([answer.hold.id], self.key("approver"))
        self.gate.holds.approve(words)

    def deny(self, answer: Answer) -> None:
        assert answer.hold is not None
        self.gate.holds.deny(self.gate.holds.signed_denials([answer.hold.id], self.key("approver")))

    def entries(self, gate: Gate | None = None) -> list[dict[str, Any]]:
        storage = (gate or self.gate).storage
        return [json.loads(line) for line in storage.lines(0, storage.look()[1])]

    def kinds(self) -> list[str]:
        return [entry["kind"] for entry in self.entries()]


def request(tool: str, /, run: str = "r1", agent: str = "payer", **input: Any) -> Request:  # noqa: A002
    """A request for a call of a tool."""
    return request_of({"run": run, "agent": agent, "action": {"tool": tool, "input": input}})
