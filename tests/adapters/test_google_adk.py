"""vigil_lang/adapters/google_adk.py with the runner of Google ADK and a scripted model."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("google.adk", reason="the SDK google-adk is not installed")

from adapter_support import Cases, Place, Played, Script, Tools, functions
from google.adk.agents import LlmAgent
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import InMemoryRunner
from google.adk.tools import AgentTool, FunctionTool
from google.genai import types
from pydantic import PrivateAttr

from vigil_lang.adapters.google_adk import VigilPlugin

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from vigil_lang.gate.gate import Gate


class Model(BaseLlm):
    """Says what its script has."""

    _steps: Any = PrivateAttr()

    async def generate_content_async(self, llm_request: Any, stream: bool = False) -> AsyncIterator[Any]:  # noqa: ARG002
        step = next(self._steps)
        parts = [types.Part(text=step)] if isinstance(step, str) else []
        for name, args in () if isinstance(step, str) else step:
            parts.append(types.Part(function_call=types.FunctionCall(name=name, args=args)))
        yield LlmResponse(content=types.Content(role="model", parts=parts))


def scripted(script: Script) -> Model:
    model = Model(model="scripted")
    model._steps = iter(script)
    return model


def tolerant(functions: list[Any]) -> list[Any]:
    """Tools whose errors the model is told."""

    def telling(function: Any) -> Any:
        @wraps(function)
        async def told(**given: Any) -> Any:
            try:
                return {"result": await function(**given)}
            except RuntimeError as error:
                return {"error": str(error)}

        return told

    return [FunctionTool(telling(each)) for each in functions]


def made(script: Script, tools: Tools, **more: Any) -> Any:
    given = {"name": "shop", "tools": tolerant(functions(tools)), **more}
    return LlmAgent(model=scripted(script), **given)


def said(text: str) -> Any:
    return types.Content(role="user", parts=[types.Part(text=text)])


async def run(agent: Any, vigil: VigilPlugin, message: Any = None) -> Played:
    runner = InMemoryRunner(agent, app_name="shop", plugins=[vigil])
    session = await runner.session_service.create_session(app_name="shop", user_id="ann")
    answers = []
    async for event in vigil.run(runner, user_id="ann", session_id=session.id, new_message=message or said("go")):
        answers += [str(each.response) for each in event.get_function_responses()]
    found = await runner.session_service.get_session(app_name="shop", user_id="ann", session_id=session.id)
    assert found is not None
    told = [event.content.parts[0].text for event in found.events if event.author == "user" and event.content]
    return Played(answers, told[1:])


async def play(gate: Gate, tools: Tools, script: Script, **options: Any) -> Played:
    return await run(made(script, tools), VigilPlugin(gate, **options))


class TestGoogleAdk(Cases):
    play = staticmethod(play)


async def test_an_exception_is_an_error(place: Place) -> None:
    async def pay(amount: int) -> str:
        """Pay."""
        raise LookupError(f"no {amount}")

    agent = LlmAgent(name="shop", model=scripted([[("pay", {"amount": 5})]]), tools=[pay])
    with pytest.raises(Exception, match="no 5"):
        await run(agent, VigilPlugin(place.gate))
    assert place.statuses == ["error"]


async def test_arguments_that_a_callback_changes_are_decided_about_as_they_are_then(place: Place) -> None:
    def more(tool: Any, args: dict[str, Any], tool_context: Any) -> None:  # noqa: ARG001
        args["amount"] = 500

    tools = Tools()
    agent = made([[("pay", {"amount": 5})], "done"], tools, before_tool_callback=more)
    played = await run(agent, VigilPlugin(place.gate))
    assert tools.ran == []
    assert "held" in played.answers[0]
    assert place.modes == ["pass", "hold"]


async def test_a_call_that_a_callback_answers_satisfies_nothing(place: Place) -> None:
    def cached(tool: Any, args: dict[str, Any], tool_context: Any) -> Any:  # noqa: ARG001
        return {"result": "cached"} if tool.name == "run_tests" else None

    tools = Tools()
    script: Script = [[("run_tests", {"target": "x"})], [("deploy", {"target": "x"})], "done"]
    await run(made(script, tools, before_tool_callback=cached), VigilPlugin(place.gate))
    assert tools.ran == []
    assert place.modes == ["pass", "block"]


async def test_a_confirmation_of_the_sdk_confirms_nothing(place: Place) -> None:
    tools = Tools()
    pay = next(each for each in functions(tools) if each.__name__ == "pay")
    asking = FunctionTool(pay, require_confirmation=True)
    agent = LlmAgent(name="shop", model=scripted([[("pay", {"amount": 500})], "done"]), tools=[asking])
    played = await run(agent, VigilPlugin(place.gate))
    assert tools.ran == []
    assert "held" in played.answers[0]


async def test_a_sub_agent_belongs_to_the_run(place: Place) -> None:
    tools = Tools()
    tester = made([[("run_tests", {"target": "x"}), ("drop_table", {"table": "t"})], "tested"], tools, name="tester")
    script: Script = [[("tester", {"request": "x"})], [("deploy", {"target": "x"})], "done"]
    of_shop = [AgentTool(tester), *tolerant(functions(tools))]
    shop = LlmAgent(name="shop", model=scripted(script), tools=of_shop)
    await run(shop, VigilPlugin(place.gate))
    assert tools.names == ["run_tests", "deploy"]
    assert sorted(place.modes) == ["block", "pass", "pass", "pass"]


async def test_an_agent_that_is_transferred_to(place: Place) -> None:
    tools = Tools()
    dropper = made([[("drop_table", {"table": "t"})], "done"], tools, name="dropper")
    shop = made([[("transfer_to_agent", {"agent_name": "dropper"})]], tools, sub_agents=[dropper])
    played = await run(shop, VigilPlugin(place.gate))
    assert tools.ran == []
    assert "no_drop" in played.answers[-1]


async def test_names_of_tools_of_mcp_servers(place: Place) -> None:
    policy = place.state.parent / "mcp.vgl"
    policy.write_text("policy mcp\n\nrule none: when mcp__pages__read_page() then block\n", "utf-8")
    tools = Tools()
    vigil = VigilPlugin(place.gate, policies=[policy], servers={"read_page": "pages"})
    await run(made([[("read_page", {"page": "a"})], "done"], tools), vigil)
    assert tools.ran == []
