"""vigil_lang/adapters/openai_agents.py with the OpenAI Agents SDK and its own `ScriptedModel`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("agents", reason="the SDK openai-agents is not installed")

from adapter_support import Cases, Place, Played, Script, Tools, functions
from agents import Agent, Runner, WebSearchTool, function_tool, handoff
from agents.mcp import MCPServer
from agents.run import RunConfig
from agents.testing import ScriptedModel, assistant_message, function_call
from mcp.types import CallToolResult, TextContent
from mcp.types import Tool as McpTool

from vigil_lang.adapters.openai_agents import VigilAgents

if TYPE_CHECKING:
    from vigil_lang.gate.gate import Gate

QUIET = RunConfig(tracing_disabled=True)


def scripted(script: Script, prefix: str = "c") -> ScriptedModel:
    steps: list[Any] = []
    for at, step in enumerate(script):
        if isinstance(step, str):
            steps.append([assistant_message(step)])
        else:
            ids = [f"{prefix}{at}-{i}" for i in range(len(step))]
            steps.append([function_call(name, args, call_id=id_) for id_, (name, args) in zip(ids, step, strict=True)])
    return ScriptedModel(steps)


def made(script: Script, tools: Tools, **more: Any) -> Any:
    return Agent("shop", model=scripted(script), tools=[function_tool(each) for each in functions(tools)], **more)


def played(result: Any) -> Played:
    items = result.to_input_list()
    answers = [str(each["output"]) for each in items if each.get("type") == "function_call_output"]
    return Played(answers, [each["content"] for each in items if each.get("role") == "user"][1:])


async def play(gate: Gate, tools: Tools, script: Script, **options: Any) -> Played:
    return played(await VigilAgents(gate, **options).run(made(script, tools), "go", run_config=QUIET))


class TestOpenAiAgents(Cases):
    play = staticmethod(play)


async def test_an_exception_is_an_error(place: Place) -> None:
    @function_tool(failure_error_function=None)
    async def pay(amount: int) -> str:
        raise LookupError(f"no {amount}")

    agent = Agent("shop", model=scripted([[("pay", {"amount": 5})]]), tools=[pay])
    with pytest.raises(Exception, match="no 5"):
        await VigilAgents(place.gate).run(agent, "go", run_config=QUIET)
    assert place.statuses == ["error"]


async def test_streaming(place: Place) -> None:
    tools = Tools()
    agent = VigilAgents(place.gate).agent(made([[("drop_table", {"table": "t"})], "done"], tools))
    result = Runner.run_streamed(agent, "go", run_config=QUIET)
    async for _ in result.stream_events():
        pass
    assert tools.ran == []
    assert place.modes == ["block"]


async def test_approvals_of_the_sdk_confirm_nothing(place: Place) -> None:
    """Not even one that is to hold for good, in this state or another of the same run."""
    tools = Tools()
    pay = next(each for each in functions(tools) if each.__name__ == "pay")
    script: Script = [[("pay", {"amount": 5})], [("pay", {"amount": 500})], "done"]
    plain = Agent("shop", model=scripted(script), tools=[function_tool(pay, needs_approval=True)])
    agent = VigilAgents(place.gate).agent(plain)
    result = await Runner.run(agent, "go", run_config=QUIET)
    state = result.to_state()
    state.approve(result.interruptions[0], always_approve=True)
    result = await Runner.run(agent, state, run_config=QUIET)
    assert tools.ran == [("pay", {"amount": 5})]
    assert "held" in played(result).answers[1]
    place.deny()
    again = plain.clone(model=scripted([[("pay", {"amount": 500})], "done"]))
    state = (await Runner.run(VigilAgents(place.gate).agent(again), "go", run_config=QUIET)).to_state()
    for each in state.get_interruptions():
        state.approve(each, always_approve=True)
    assert tools.ran == [("pay", {"amount": 5})]


async def test_agents_that_are_handed_off_to(place: Place) -> None:
    tools = Tools()
    names = ("transfer_to_deployer", {}), ("transfer_to_dropper", {})
    dropping = scripted([[("drop_table", {"table": "t"})], "done"], "d")
    dropper = Agent("dropper", model=dropping, tools=made([], tools).tools)
    deployer = made([], tools, handoffs=[handoff(dropper)])
    deployer.name, deployer.model = "deployer", scripted([[("deploy", {"target": "x"})], [names[1]]], "e")
    shop = made([[("run_tests", {"target": "x"})], [names[0]]], tools, handoffs=[deployer])
    deployer.handoffs.append(shop)
    await VigilAgents(place.gate).run(shop, "go", run_config=QUIET)
    assert tools.names == ["run_tests", "deploy"]
    assert place.modes == ["pass", "pass", "block"]


async def test_an_agent_that_is_a_tool(place: Place) -> None:
    tools = Tools()
    vigil = VigilAgents(place.gate)
    tester = made([[("run_tests", {"target": "x"}), ("drop_table", {"table": "t"})], "tested"], tools)
    asking = vigil.agent(tester, session="tester").as_tool("ask_tester", "Have x tested.", run_config=QUIET)
    shop = made([[("ask_tester", {"input": "x"})], [("deploy", {"target": "x"})], "done"], tools)
    shop.tools.append(asking)
    await vigil.run(shop, "go", run_config=QUIET)
    assert tools.names == ["run_tests", "deploy"]
    assert sorted(place.modes) == ["block", "pass", "pass", "pass"]


def test_a_tool_that_runs_elsewhere_is_refused(place: Place) -> None:
    agent = Agent("shop", tools=[WebSearchTool()])
    with pytest.raises(ValueError, match="`web_search` cannot be mediated"):
        VigilAgents(place.gate).agent(agent)
    assert VigilAgents(place.gate).agent(agent, unmediated=["web_search"]).tools == agent.tools


class Server(MCPServer):
    """An MCP server in the same process."""

    name = "pages"

    def __init__(self) -> None:
        super().__init__()
        self.called: list[str] = []

    async def connect(self) -> None: ...
    async def cleanup(self) -> None: ...
    async def list_tools(self, run_context: Any = None, agent: Any = None) -> Any:  # noqa: ARG002
        return [McpTool(name=each, input_schema={"type": "object", "properties": {}}) for each in ("read", "drop")]

    async def call_tool(self, tool_name: str, arguments: Any, meta: Any = None) -> Any:  # noqa: ARG002
        self.called.append(tool_name)
        return CallToolResult(content=[TextContent(type="text", text=json.dumps(arguments))])

    async def list_prompts(self) -> Any: ...
    async def get_prompt(self, name: str, arguments: Any = None) -> Any: ...


async def test_tools_of_an_mcp_server(place: Place) -> None:
    policy = place.state.parent / "mcp.vgl"
    policy.write_text("policy mcp\n\nrule no_drop: when mcp__pages__drop() then block\n", "utf-8")
    server = Server()
    agent = Agent("shop", model=scripted([[("read", {})], [("drop", {})], "done"]), mcp_servers=[server])
    result = await VigilAgents(place.gate, policies=[policy]).run(agent, "go", run_config=QUIET)
    assert server.called == ["read"]
    assert place.statuses == ["ok"]
    assert "no_drop" in played(result).answers[1]
