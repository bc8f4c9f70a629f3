"""What the adapters' tests share: a gate, tools that note what they do, and the cases that each SDK is put to."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from vigil_lang.gate.authority.keys import load_key
from vigil_lang.gate.gate import Gate
from vigil_lang.gate.setup import make_state

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

POLICY = """
policy shop

/// Nobody drops a table.
rule no_drop: when drop_table() then block

/// A person looks at large payments.
rule large: when pay(amount > 100) then hold record amount

/// What is deployed was tested.
@message("run the tests first")
statement tested: prec(deploy(target = x), run_tests(target = x, status = ok))

/// Whoever publishes says so.
statement announced: resp(publish(page = x), announce(page = x))
"""

Call = tuple[str, dict[str, Any]]
Script = list[list[Call] | str]
"""What a model says, message by message: calls of tools, or a text, which ends a turn."""


@dataclass
class Tools:
    """What the tools of an agent do, and what was done."""

    ran: list[Call] = field(default_factory=list)
    fails: set[str] = field(default_factory=set)
    on_run: Callable[[str], None] | None = None
    slow: set[str] = field(default_factory=set)
    started: asyncio.Event | None = None

    async def run(self, name: str, **given: Any) -> str:
        """Note a call; a tool that is slow never ends."""
        self.ran.append((name, given))
        if self.on_run is not None:
            await asyncio.to_thread(self.on_run, name)
        if name in self.slow:
            assert self.started is not None
            self.started.set()
            await asyncio.sleep(600)
        if name in self.fails:
            raise RuntimeError(f"{name} failed")
        return f"{name} done"

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.ran]


PARAMETERS = {
    "read_page": "page",
    "drop_table": "table",
    "pay": "amount",
    "deploy": "target",
    "run_tests": "target",
    "publish": "page",
    "announce": "page",
}
"""The tools, each with its one parameter."""


def functions(tools: Tools) -> list[Any]:
    """The tools as asynchronous functions with signatures and docstrings, for SDKs that read those."""

    async def read_page(page: str) -> str:
        """Read a page."""
        return await tools.run("read_page", page=page)

    async def drop_table(table: str) -> str:
        """Drop a table."""
        return await tools.run("drop_table", table=table)

    async def pay(amount: int) -> str:
        """Pay an amount."""
        return await tools.run("pay", amount=amount)

    async def deploy(target: str) -> str:
        """Deploy to a target."""
        return await tools.run("deploy", target=target)

    async def run_tests(target: str) -> str:
        """Run the tests of a target."""
        return await tools.run("run_tests", target=target)

    async def publish(page: str) -> str:
        """Publish a page."""
        return await tools.run("publish", page=page)

    async def announce(page: str) -> str:
        """Announce a page."""
        return await tools.run("announce", page=page)

    return [read_page, drop_table, pay, deploy, run_tests, publish, announce]


class Place:
    """A state folder with a gate, in whose organisation layer the policy is."""

    def __init__(self, folder: Path) -> None:
        self.state = folder / "state"
        self.policy = folder / "shop.vgl"
        self.policy.write_text(POLICY, encoding="utf-8")
        (folder / "work").mkdir()
        make_state(self.state, folder / "work", [str(self.policy)], is_open=True)
        settings = self.state / "gate.toml"
        settings.write_text(settings.read_text("utf-8").replace("default = true", "default = false"), "utf-8")
        self.gate = Gate(self.state)

    def entries(self, *kinds: str) -> list[dict[str, Any]]:
        """The entries of the log, of these kinds."""
        lines = (self.state / "log.jsonl").read_text("utf-8").splitlines()
        return [entry for entry in map(json.loads, lines) if entry["kind"] in kinds]

    @property
    def modes(self) -> list[str]:
        """What was decided, in order."""
        return [entry["mode"] for entry in self.entries("decision")]

    @property
    def statuses(self) -> list[str]:
        """How calls ended, in the order in which that was written."""
        return [entry["status"] for entry in self.entries("outcome", "ended")]

    def confirm(self) -> None:
        """Approve what waits."""
        names = [hold.id for hold in self.gate.holds.listed()]
        assert names
        self.gate.holds.approve(self.gate.holds.signed(names, load_key(self.state / "keys" / "approver.pem")))

    def deny(self) -> None:
        """Deny what waits."""
        names = [hold.id for hold in self.gate.holds.listed()]
        assert names
        self.gate.holds.deny(self.gate.holds.signed_denials(names, load_key(self.state / "keys" / "approver.pem")))

    def break_it(self) -> None:
        """Damage the state, so that nothing can be judged."""
        (self.state / "log.jsonl").write_bytes(b"{}\n")

    async def soon(self, act: Callable[[], None]) -> None:
        """Do something as soon as an action waits."""
        for _ in range(600):
            if await asyncio.to_thread(self.gate.holds.listed):
                return await asyncio.to_thread(act)
            await asyncio.sleep(0.05)
        raise AssertionError("nothing waits")


@dataclass
class Played:
    """What a model was told: the answer of each call in order, and further messages of the user."""

    answers: list[str]
    told: list[str] = field(default_factory=list)


class Player(Protocol):
    """Has an agent of an SDK play a script, its calls decided about by an adapter on a gate with these options."""

    async def __call__(self, gate: Gate, tools: Tools, script: Script, **options: Any) -> Played: ...


class Cases:
    """The cases; each SDK's tests subclass it, and give `play`."""

    play: Player

    async def test_allowed(self, place: Place) -> None:
        tools = Tools()
        played = await self.play(place.gate, tools, [[("read_page", {"page": "a"})], "done"])
        assert tools.ran == [("read_page", {"page": "a"})]
        assert "read_page done" in played.answers[0]
        assert (place.modes, place.statuses) == (["pass"], ["ok"])

    async def test_blocked(self, place: Place) -> None:
        tools = Tools()
        played = await self.play(place.gate, tools, [[("drop_table", {"table": "a"})], "done"])
        assert tools.ran == []
        assert "no_drop" in played.answers[0]
        assert place.modes == ["block"]

    async def test_what_guards_the_agent_is_out_of_its_reach(self, place: Place) -> None:
        tools = Tools()
        played = await self.play(place.gate, tools, [[("read_page", {"page": f"{place.state}/log.jsonl"})], "done"])
        assert tools.ran == []
        assert "guards the agent" in played.answers[0]

    async def test_held_then_confirmed(self, place: Place) -> None:
        tools = Tools()
        script: Script = [[("pay", {"amount": 500})], "done"]
        await asyncio.gather(self.play(place.gate, tools, script, wait=60.0), place.soon(place.confirm))
        assert tools.ran == [("pay", {"amount": 500})]
        assert place.modes == ["hold", "pass"]

    async def test_held_then_denied(self, place: Place) -> None:
        tools = Tools()
        script: Script = [[("pay", {"amount": 500})], "done"]
        played, _ = await asyncio.gather(self.play(place.gate, tools, script, wait=60.0), place.soon(place.deny))
        assert tools.ran == []
        assert "denied" in played.answers[0]

    async def test_held_is_told_where_nobody_waits(self, place: Place) -> None:
        tools = Tools()
        played = await self.play(place.gate, tools, [[("pay", {"amount": 500})], "done"])
        assert tools.ran == []
        assert place.gate.holds.listed()[0].id in played.answers[0]

    async def test_a_confirmation_is_for_the_arguments_that_were_shown(self, place: Place) -> None:
        tools = Tools(on_run=lambda _: place.confirm())
        script: Script = [[("pay", {"amount": 500})], [("read_page", {"page": "a"})], [("pay", {"amount": 501})]]
        await self.play(place.gate, tools, [*script, "done"])
        assert tools.names == ["read_page"]
        tools.ran.clear()
        tools.on_run = lambda name: place.confirm() if name == "read_page" else None
        await self.play(place.gate, tools, [[("pay", {"amount": 700})], script[1], [("pay", {"amount": 700})], "done"])
        assert tools.ran == [("read_page", {"page": "a"}), ("pay", {"amount": 700})]

    async def test_a_guard_that_is_satisfied(self, place: Place) -> None:
        tools = Tools()
        script: Script = [
            [("deploy", {"target": "x"})],
            [("run_tests", {"target": "x"})],
            [("deploy", {"target": "x"})],
        ]
        played = await self.play(place.gate, tools, [*script, "done"])
        assert tools.names == ["run_tests", "deploy"]
        assert "tested" in played.answers[0]
        assert (place.modes, place.statuses) == (["block", "pass", "pass"], ["ok", "ok"])

    async def test_a_guard_that_failed_does_not_count(self, place: Place) -> None:
        tools = Tools(fails={"run_tests"})
        script: Script = [[("run_tests", {"target": "x"})], [("deploy", {"target": "x"})], "done"]
        await self.play(place.gate, tools, script)
        assert tools.names == ["run_tests"]
        assert (place.modes, place.statuses) == (["pass", "block"], ["error"])

    async def test_calls_of_one_message_do_not_count_for_each_other(self, place: Place) -> None:
        tools = Tools()
        both: list[Call] = [("run_tests", {"target": "x"}), ("deploy", {"target": "x"})]
        await self.play(place.gate, tools, [both, [("deploy", {"target": "x"})], "done"])
        assert tools.names == ["run_tests", "deploy"]
        assert sorted(place.modes[:2]) == ["block", "pass"]
        assert (place.modes[2], place.statuses) == ("pass", ["ok", "ok"])

    async def test_what_is_owed_is_told(self, place: Place) -> None:
        tools = Tools()
        script: Script = [[("publish", {"page": "a"})], "done", [("announce", {"page": "a"})], "done"]
        played = await self.play(place.gate, tools, script)
        assert tools.names == ["publish", "announce"]
        assert len(played.told) == 1
        assert "announced" in played.told[0]

    async def test_a_gate_that_fails_blocks(self, place: Place) -> None:
        tools = Tools()
        place.break_it()
        played = await self.play(place.gate, tools, [[("read_page", {"page": "a"})], "done"])
        assert tools.ran == []
        assert "Vigil" in played.answers[0]

    async def test_a_call_that_is_cancelled_has_no_known_end(self, place: Place) -> None:
        tools = Tools(slow={"run_tests"}, started=asyncio.Event())
        playing = asyncio.create_task(self.play(place.gate, tools, [[("run_tests", {"target": "x"})], "done"], run="r"))
        assert tools.started is not None
        await asyncio.wait_for(tools.started.wait(), 60)
        playing.cancel()
        await asyncio.wait([playing], timeout=60)
        assert place.statuses in (["unknown"], [])
        await self.play(place.gate, tools, [[("deploy", {"target": "x"})], "done"], run="r")
        assert tools.names == ["run_tests"]
