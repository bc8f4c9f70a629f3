"""vigil_lang/adapters/pydantic_ai.py with the agents of pydantic-ai and a scripted `FunctionModel`."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("pydantic_ai", reason="the SDK pydantic-ai is not installed")

from adapter_support import Cases, Place, Played, Script, Tools, functions
from pydantic_ai import Agent, ModelRetry, RunContext
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import (
    ModelResponse,
    RetryFeedbackPart,
    RetryPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.tools import DeferredToolRequests, DeferredToolResults, Tool

from vigil_lang.adapters.pydantic_ai import VigilCapability

if TYPE_CHECKING:
    from vigil_lang.gate.gate import Gate


def scripted(script: Script) -> FunctionModel:
    steps = iter(enumerate(script))

    def say(messages: Any, info: Any) -> ModelResponse:  # noqa: ARG001
        at, step = next(steps)
        if isinstance(step, str):
            return ModelResponse(parts=[TextPart(step)])
        return ModelResponse(parts=[ToolCallPart(name, args, f"c{at}-{i}") for i, (name, args) in enumerate(step)])

    return FunctionModel(say)


def tolerant(functions: list[Any]) -> list[Any]:
    """Tools whose errors the model is told."""

    def telling(function: Any) -> Any:
        @wraps(function)
        async def told(**given: Any) -> str:
            try:
                return str(await function(**given))
            except RuntimeError as error:
                raise ModelRetry(str(error)) from error

        return told

    return [telling(each) for each in functions]


def made(script: Script, tools: Tools, *capabilities: Any, **more: Any) -> Any:
    return Agent(scripted(script), tools=tolerant(functions(tools)), capabilities=list(capabilities), retries=3, **more)


def played(result: Any) -> Played:
    parts = [part for message in result.all_messages() for part in message.parts]
    of_tools = [p for p in parts if isinstance(p, ToolReturnPart | RetryPromptPart) and p.tool_name]
    told = [str(p.content) for p in parts if isinstance(p, RetryFeedbackPart)]
    return Played([str(p.content) for p in of_tools], told)


async def play(gate: Gate, tools: Tools, script: Script, **options: Any) -> Played:
    return played(await made(script, tools, VigilCapability(gate, **options)).run("go"))


class TestPydanticAi(Cases):
    play = staticmethod(play)


async def test_an_exception_is_an_error(place: Place) -> None:
    def pay(amount: int) -> str:
        """Pay."""
        raise LookupError(f"no {amount}")

    agent = Agent(scripted([[("pay", {"amount": 5})]]), tools=[pay], capabilities=[VigilCapability(place.gate)])
    with pytest.raises(LookupError):
        await agent.run("go")
    assert place.statuses == ["error"]


async def test_arguments_that_another_capability_changes_are_decided_about_as_they_are_then(place: Place) -> None:
    class More(AbstractCapability[Any]):
        async def before_tool_execute(self, ctx: Any, *, call: Any, tool_def: Any, args: Any) -> Any:  # noqa: ARG002
            return {"amount": 500}

    tools = Tools()
    result = await made([[("pay", {"amount": 5})], "done"], tools, VigilCapability(place.gate), More()).run("go")
    assert tools.ran == []
    assert "large" in played(result).answers[0]


async def test_an_approval_of_the_sdk_confirms_nothing(place: Place) -> None:
    tools = Tools()
    pay = next(each for each in functions(tools) if each.__name__ == "pay")
    agent: Any = Agent(
        scripted([[("pay", {"amount": 500})], "done"]),
        tools=[Tool(pay, requires_approval=True)],
        capabilities=[VigilCapability(place.gate)],
        output_type=[str, DeferredToolRequests],
    )
    asked = await agent.run("go")
    (call,) = asked.output.approvals
    approved = DeferredToolResults(approvals={call.tool_call_id: True})
    result = await agent.run(message_history=asked.all_messages(), deferred_tool_results=approved)
    assert tools.ran == []
    assert "held" in played(result).answers[0]


async def test_a_sub_agent_belongs_to_the_run(place: Place) -> None:
    tools = Tools()
    vigil = VigilCapability(place.gate)
    below = VigilCapability(of=vigil.mediation, session="tester")
    tester = made([[("run_tests", {"target": "x"}), ("drop_table", {"table": "t"})], "tested"], tools, below)

    async def ask_tester(ctx: RunContext[None], task: str) -> str:  # noqa: ARG001
        """Have the tester do something."""
        return str((await tester.run(task)).output)

    script: Script = [[("ask_tester", {"task": "test x"})], [("deploy", {"target": "x"})], "done"]
    agent = Agent(scripted(script), tools=[*functions(tools), ask_tester], capabilities=[vigil])
    await agent.run("go")
    assert tools.names == ["run_tests", "deploy"]
    assert sorted(place.modes) == ["block", "pass", "pass", "pass"]
