"""The last part of `vigil demo`: a session of three agents behind a gate, on a state folder that is thrown away."""

from __future__ import annotations

import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.text import Text

from vigil_lang.base.files import real_path
from vigil_lang.base.resources import resource
from vigil_lang.cli.gate_screen import MODES
from vigil_lang.diagnostics.shorten import fit
from vigil_lang.gate.authority.chain import Limits
from vigil_lang.gate.authority.grants import grant_condition
from vigil_lang.gate.authority.issue import issue
from vigil_lang.gate.authority.keys import Key, load_key
from vigil_lang.gate.gate import Gate
from vigil_lang.gate.kill_switch import KillSwitch
from vigil_lang.gate.layers import table_of
from vigil_lang.gate.log.derivation import Derivation
from vigil_lang.gate.log.reading import LogCopy
from vigil_lang.gate.log.verifying import verify
from vigil_lang.gate.request import request_of
from vigil_lang.gate.revocation import Entry
from vigil_lang.gate.setup import make_state

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

    from vigil_lang.gate.answer import Answer

_DAY = 86_400
_MANY = Limits(calls=1000, until=0, per="day")
_STYLES = MODES | {"denied": MODES["block"], "expired": MODES["hold"]}


@dataclass(slots=True)
class Told:
    """What came of a step: its agent and tool, what the step says of itself, what was expected, what the gate said."""

    agent: str
    tool: str
    says: str
    expected: str
    found: str
    why: str = ""


def show_session(console: Console) -> None:
    """The shipped session, a line a step, and what the audit of its log says."""
    with tempfile.TemporaryDirectory(prefix="vigil-demo-") as folder:
        session = Session(Path(real_path(folder)) / "state")
        for told in session.play():
            head = Text.assemble("  ", (f"{told.found:<9}", _STYLES[told.found]), f"{told.agent:<8}{told.tool:<13}")
            line = Text.assemble(head, told.says, (f": {told.why}" if told.why else "", "dim"))
            fit(line, console.width)
            console.print(line)
        console.print()
        console.print(f"  {session.audit()}")


class Session:
    """The session of `examples/gate`, to be played once in a new state folder."""

    def __init__(self, state: Path) -> None:
        found = resource("examples", "gate")
        self._plan = tomllib.loads((found / "session.toml").read_text("utf-8"))
        self._at = int(self._plan["begins"].timestamp())
        policies = [[str(found / f"{layer}.vgl")] for layer in ("organisation", "personal")]
        make_state(state, Path(self._plan["cwd"]), *policies)
        self._folder = state
        self._grant()
        self.gate = Gate(state, clock=lambda: self._at * 1_000_000)
        self._held: tuple[dict[str, Any], Answer] | None = None

    def play(self) -> Iterator[Told]:
        """Each step in turn."""
        for step in self._plan["steps"]:
            self._at += 60
            yield self._step(step)

    def audit(self) -> str:
        """What the log says when it is checked, in a line."""
        derivation = Derivation(self._folder / "policies", table_of, grant_condition)
        found = verify(LogCopy(self._folder), derivation=derivation)
        wrong = f"{len(found.problems)} problems" if found.problems else "nothing is wrong with it"
        again = found.derived["derived"]
        return f"The log has {found.entries} entries: {wrong}, and {again} decisions were derived again."

    def _step(self, step: dict[str, Any]) -> Told:
        if "tool" in step:
            action = {"tool": step["tool"], "input": step["input"]}
            given = {"run": step["agent"], "agent": step["agent"], "cwd": self._plan["cwd"], "action": action}
        else:
            assert self._held is not None
            given = self._held[0]
        told = Told(given["agent"], given["action"]["tool"], step["says"], step["expect"], "")
        match step.get("does"):
            case "approve":
                self._decide(self.gate.holds.approve, self.gate.holds.signed)
            case "deny":
                self._decide(self.gate.holds.deny, self.gate.holds.signed_denials)
                told.found = "denied"
                return told
            case "kill":
                switch = KillSwitch(self.gate.folder, self.gate.settings, wait=0, clock=lambda: self._at)
                switch.revoke(Entry("agent", step["agent"]), self._key("revoker"), _DAY)
        answer = self.gate.decide(request_of(given))
        self._held = given, answer
        told.found = answer.decision.mode
        if told.found != "pass":
            told.why = answer.decision.reasons[0].message
        if step.get("then") == "wait":
            self._at += self.gate.settings.holds.timeout
            assert answer.hold is not None
            told.found = self.gate.holds.look(answer.hold.id).state
        return told

    def _decide(self, decide: Any, signed: Any) -> None:
        assert self._held is not None
        hold = self._held[1].hold
        assert hold is not None
        decide(signed([hold.id], self._key("approver")))

    def _key(self, role: str) -> Key:
        return load_key(self._folder / "keys" / f"{role}.pem")

    def _grant(self) -> None:
        """A chain for each agent, from the root of the state folder, and the settings that name it."""
        audience = (self._folder / "log.vkey").read_text("utf-8").split("+")[0]
        limits = Limits(_MANY.calls, self._at + _DAY, _MANY.per)
        lines = []
        for agent, grants in self._plan["chains"].items():
            key, chain = self._key("root"), None
            for place, grant in enumerate(grants):
                to = Key.new()
                chain = issue(
                    key,
                    to.public,
                    grant,
                    audience=audience,
                    begins=self._at,
                    ends=self._at + _DAY,
                    limits=limits,
                    depth=len(grants) - place - 1,
                    parent=chain,
                )
                key = to
            assert chain is not None
            (self._folder / f"{agent}.json").write_bytes(chain)
            lines.append(f'{agent} = "{self._folder / agent}.json"')
        params = [f"{name} = {value!r}".replace("'", '"') for name, value in self._plan["params"].items()]
        settings = self._folder / "gate.toml"
        text = settings.read_text("utf-8")
        for table, added in (("[authority.chains]", lines), ("[params]", params)):
            text = text.replace(table, "\n".join([table, *added]))
        settings.write_text(text, "utf-8")
