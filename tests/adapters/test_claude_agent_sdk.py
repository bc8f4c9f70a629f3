"""vigil_lang/adapters/claude_agent_sdk.py with the client of the SDK, which talks to a scripted program."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("claude_agent_sdk", reason="the SDK claude-agent-sdk is not installed")

from adapter_support import Cases, Place, Played, Script, Tools
from claude_agent_sdk import ClaudeAgentOptions, Transport, query

from vigil_lang.adapters.claude_agent_sdk import VigilHooks

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from vigil_lang.gate.gate import Gate

RESULT = {
    "type": "result",
    "subtype": "success",
    "duration_ms": 1,
    "duration_api_ms": 1,
    "is_error": False,
    "num_turns": 1,
    "session_id": "s",
    "total_cost_usd": 0,
}


class Program(Transport):
    """Claude Code as the SDK sees it: it plays a script, and asks the hooks that were registered."""

    def __init__(self, tools: Tools, script: Script, agent: str | None = None) -> None:
        self.played = Played([])
        self.hooks: dict[str, Any] = {}
        self._tools = tools
        self._script = script
        self._agent = {"agent_id": agent, "agent_type": "tester"} if agent else {}
        self._out: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
        self._replies: dict[str, asyncio.Future[Any]] = {}
        self._playing: asyncio.Task[None] | None = None

    async def connect(self) -> None: ...
    async def end_input(self) -> None: ...
    def is_ready(self) -> bool:
        return True

    async def close(self) -> None:
        if self._playing is not None:
            self._playing.cancel()

    async def read_messages(self) -> AsyncIterator[dict[str, Any]]:  # type: ignore[override]
        while (message := await self._out.get()) is not None:
            yield message

    async def write(self, data: str) -> None:
        message = json.loads(data)
        if message["type"] == "control_request":
            self.hooks = message["request"].get("hooks") or {}
            response = {"hook_on_failure_supported": True, "hooks_applied": True}
            self._out.put_nowait(
                {
                    "type": "control_response",
                    "response": {"subtype": "success", "request_id": message["request_id"], "response": response},
                }
            )
        elif message["type"] == "control_response":
            self._replies.pop(message["response"]["request_id"]).set_result(message["response"])
        else:
            self._playing = asyncio.create_task(self._play())

    async def _hook(self, event: str, **given: Any) -> dict[str, Any]:
        """What the hook of an event answers; None of its own where it fails."""
        (matcher,) = self.hooks[event]
        assert matcher["onFailure"] == "block"
        name = f"r{len(self._replies)}-{event}-{given.get('tool_use_id')}"
        self._replies[name] = asyncio.get_running_loop().create_future()
        reply = self._replies[name]
        of_all = {"session_id": "s", "transcript_path": "", "cwd": "/", "hook_event_name": event, **self._agent}
        request = {
            "subtype": "hook_callback",
            "callback_id": matcher["hookCallbackIds"][0],
            "input": of_all | given,
            "tool_use_id": given.get("tool_use_id"),
        }
        self._out.put_nowait({"type": "control_request", "request_id": name, "request": request})
        answer = await reply
        assert answer["subtype"] == "success", answer
        return dict(answer["response"])

    async def _play(self) -> None:
        for at, step in enumerate(self._script):
            if isinstance(step, str):
                stopped = await self._hook("SubagentStop" if self._agent else "Stop", stop_hook_active=False)
                if stopped.get("decision") != "block":
                    break
                self.played.told.append(stopped["reason"])
                continue
            for i, (name, given) in enumerate(step):
                await self._call(name, given, f"toolu_{at}_{i}")
            await self._hook("PostToolBatch", tool_calls=[])
        self._out.put_nowait(RESULT)
        self._out.put_nowait(None)

    async def _call(self, name: str, given: dict[str, Any], call: str) -> None:
        of_call = {"tool_name": name, "tool_input": given, "tool_use_id": call}
        decided = (await self._hook("PreToolUse", **of_call)).get("hookSpecificOutput", {})
        if decided.get("permissionDecision") == "deny":
            self.played.answers.append(decided["permissionDecisionReason"])
            return
        try:
            self.played.answers.append(await self._tools.run(name, **given))
            await self._hook("PostToolUse", **of_call, tool_response={"stdout": self.played.answers[-1]})
        except RuntimeError as error:
            self.played.answers.append(str(error))
            await self._hook("PostToolUseFailure", **of_call, error=str(error))


async def played(program: Program, vigil: VigilHooks) -> Played:
    async for _ in query(prompt="go", options=ClaudeAgentOptions(hooks=vigil.hooks), transport=program):
        pass
    return program.played


async def play(gate: Gate, tools: Tools, script: Script, **options: Any) -> Played:
    return await played(Program(tools, script), VigilHooks(gate, **options))


class TestClaudeAgentSdk(Cases):
    play = staticmethod(play)


async def test_a_hook_has_time_for_the_wait(place: Place) -> None:
    program = Program(Tools(), ["done"])
    await played(program, VigilHooks(place.gate, wait=300.0))
    assert program.hooks["PreToolUse"][0]["timeout"] > 300


async def test_a_command_that_found_nothing_is_no_success(place: Place) -> None:
    """A `grep` that exits with 1 is reported as if it had succeeded."""
    vigil = VigilHooks(place.gate)
    given = {"tool_name": "run_tests", "tool_input": {"target": "x"}, "tool_use_id": "t1"}
    assert await vigil._before(given, "t1", None) == {}
    await vigil._ended(given | {"tool_response": {"returnCodeInterpretation": "No matches found"}}, "t1", None)
    await vigil._batch_over({}, None, None)
    assert place.statuses == ["error"]


async def test_a_sub_agent_belongs_to_the_run(place: Place) -> None:
    tools, vigil = Tools(), VigilHooks(place.gate)
    await played(Program(tools, [[("run_tests", {"target": "x"})], "done"], agent="a1"), vigil)
    await played(Program(tools, [[("deploy", {"target": "x"})], "done"]), vigil)
    assert tools.names == ["run_tests", "deploy"]
