"""vigil_lang/adapters/langchain.py with `create_agent` of LangChain and a scripted chat model."""

from __future__ import annotations

import asyncio
from functools import wraps
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("langchain", reason="the SDK langchain is not installed")

from adapter_support import Cases, Place, Played, Script, Tools, functions
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, HumanInTheLoopMiddleware
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage, messages_to_dict
from langchain_core.tools import StructuredTool, ToolException
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from tests.ingest.recordings import records, results
from vigil_lang.adapters.langchain import VigilMiddleware

if TYPE_CHECKING:
    from vigil_lang.gate.gate import Gate


class Model(GenericFakeChatModel):
    """Says what its script has."""

    def bind_tools(self, tools: Any, **more: Any) -> Any:  # noqa: ARG002
        return self


def scripted(script: Script) -> Model:
    messages = []
    for at, step in enumerate(script):
        if isinstance(step, str):
            messages.append(AIMessage(step))
        else:
            calls = [{"name": name, "args": args, "id": f"c{at}-{i}"} for i, (name, args) in enumerate(step)]
            messages.append(AIMessage("", tool_calls=calls))
    return Model(messages=iter(messages))


def tolerant(functions: list[Any]) -> list[Any]:
    """Tools whose errors the model is told."""

    def telling(function: Any) -> Any:
        @wraps(function)
        async def told(**given: Any) -> str:
            try:
                return str(await function(**given))
            except RuntimeError as error:
                raise ToolException(str(error)) from error

        return told

    return [StructuredTool.from_function(coroutine=telling(each), handle_tool_error=True) for each in functions]


def made(script: Script, tools: Tools, *middleware: Any, **more: Any) -> Any:
    return create_agent(scripted(script), tolerant(functions(tools)), middleware=list(middleware), **more)


START = {"messages": [HumanMessage("go")]}


def played(result: dict[str, Any]) -> Played:
    messages = result["messages"]
    answers = [m.text for m in messages if isinstance(m, ToolMessage)]
    return Played(answers, [m.text for m in messages if isinstance(m, HumanMessage)][1:])


async def play(gate: Gate, tools: Tools, script: Script, **options: Any) -> Played:
    return played(await made(script, tools, VigilMiddleware(gate, **options)).ainvoke(START))


class TestLangChain(Cases):
    play = staticmethod(play)


def test_a_graph_that_runs_synchronously(place: Place) -> None:
    ran: list[int] = []

    def pay(amount: int) -> str:
        """Pay."""
        ran.append(amount)
        if amount == 3:
            raise ValueError("no funds")
        return "paid"

    vigil = VigilMiddleware(place.gate)
    steps: Script = [[("pay", {"amount": amount})] for amount in (1, 500, 2)]
    result = create_agent(scripted([*steps, "done"]), [pay], middleware=[vigil]).invoke(START)
    assert ran == [1, 2]
    assert "held" in played(result).answers[1]
    with pytest.raises(ValueError, match="no funds"):
        create_agent(scripted([[("pay", {"amount": 3})]]), [pay], middleware=[vigil]).invoke(START)
    assert (place.modes, place.statuses) == (["pass", "hold", "pass", "pass"], ["ok", "ok", "error"])
    told = results(records("langchain", *messages_to_dict(result["messages"])))
    assert [(each.status, each.executed) for each in told] == [("ok", True), ("error", False), ("ok", True)]


class TestInterrupts:
    """A held call interrupts the graph, which is resumed when the hold is over."""

    async def run(self, place: Place, tools: Tools, amount: int = 500) -> Any:
        script: Script = [[("pay", {"amount": amount})], "done"]
        vigil = VigilMiddleware(place.gate, interrupts=True)
        agent = made(script, tools, vigil, checkpointer=InMemorySaver())
        config = {"configurable": {"thread_id": "1"}}
        (interrupted,) = (await agent.ainvoke(START, config))["__interrupt__"]
        assert interrupted.value["hold"] == place.gate.holds.listed()[0].id
        assert interrupted.value["args"] == {"amount": amount}
        return lambda: agent.ainvoke(Command(resume="go on"), config)

    async def test_confirmed(self, place: Place) -> None:
        tools = Tools()
        resume = await self.run(place, tools)
        place.confirm()
        result = await resume()
        assert tools.ran == [("pay", {"amount": 500})]
        assert played(result).answers == ["pay done"]

    async def test_denied(self, place: Place) -> None:
        tools = Tools()
        resume = await self.run(place, tools)
        place.deny()
        result = await resume()
        assert tools.ran == []
        assert "denied" in played(result).answers[0]
        assert place.modes == ["hold"]

    async def test_resuming_alone_confirms_nothing(self, place: Place) -> None:
        tools = Tools()
        resume = await self.run(place, tools)
        result = await resume()
        assert tools.ran == []
        assert "held" in played(result).answers[0]


@pytest.mark.parametrize("mode", ["batched", "per_call"])
async def test_a_call_that_a_reviewer_edited_is_decided_about_as_it_is_then(place: Place, mode: str) -> None:
    tools = Tools()
    reviewing = HumanInTheLoopMiddleware(interrupt_on={"pay": True}, interrupt_mode=mode)  # type: ignore[arg-type]
    script: Script = [[("pay", {"amount": 5})], "done"]
    agent = made(script, tools, reviewing, VigilMiddleware(place.gate), checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "1"}}
    await agent.ainvoke(START, config)
    edited = {"type": "edit", "edited_action": {"name": "pay", "args": {"amount": 500}}}
    answer = {"decisions": [edited]} if mode == "batched" else edited
    result = await agent.ainvoke(Command(resume=answer), config)
    assert tools.ran == []
    assert "large" in played(result).answers[0]
    assert place.modes == ["hold"]


async def test_a_middleware_that_tries_again_asks_again(place: Place) -> None:
    class Twice(AgentMiddleware):
        async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
            await handler(request)
            return await handler(request)

    tools = Tools()
    agent = made([[("read_page", {"page": "a"})], "done"], tools, Twice(), VigilMiddleware(place.gate))
    await agent.ainvoke(START)
    assert tools.names == ["read_page", "read_page"]
    assert (place.modes, place.statuses) == (["pass", "pass"], ["ok", "ok"])


async def test_a_sub_agent_belongs_to_the_run(place: Place) -> None:
    tools = Tools()
    vigil = VigilMiddleware(place.gate)
    below = VigilMiddleware(of=vigil.mediation, session="tester")
    tester = made([[("run_tests", {"target": "x"}), ("drop_table", {"table": "t"})], "tested"], tools, below)

    async def ask_tester(task: str) -> str:
        """Have the tester do something."""
        return str((await tester.ainvoke({"messages": [HumanMessage(task)]}))["messages"][-1].text)

    script: Script = [[("ask_tester", {"task": "test x"})], [("deploy", {"target": "x"})], "done"]
    functions_ = [*tolerant(functions(tools)), StructuredTool.from_function(coroutine=ask_tester)]
    await create_agent(scripted(script), functions_, middleware=[vigil]).ainvoke(START)
    assert tools.names == ["run_tests", "deploy"]
    assert sorted(place.modes) == ["block", "pass", "pass", "pass"]
    assert len(place.entries("run_start")) == 1


async def test_other_tasks_go_on_while_a_call_waits(place: Place) -> None:
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        for _ in range(20):
            await asyncio.sleep(0.01)
            ticks += 1
        await asyncio.to_thread(place.deny)

    script: Script = [[("pay", {"amount": 500})], "done"]

    async def denied_later() -> None:
        await place.soon(lambda: None)
        await tick()

    await asyncio.gather(play(place.gate, Tools(), script, wait=60.0), denied_later())
    assert ticks == 20
