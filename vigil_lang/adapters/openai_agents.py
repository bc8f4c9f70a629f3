"""OpenAI Agents SDK: `await VigilAgents(state).run(agent, "…")`, or `Runner.run(vigil.agent(agent), "…")`."""

from __future__ import annotations

import copy
import json
from functools import wraps
from typing import TYPE_CHECKING, Any, Unpack

from vigil_lang.adapters.mediation import TOLD, Asked, Mediation, Options, failed, mcp_tool, missing

try:
    from agents import Agent, AgentHooks, FunctionTool, Runner
    from mcp.types import CallToolResult, TextContent
except ImportError as error:
    raise missing("openai-agents") from error

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from vigil_lang.gate.gate import Gate
    from vigil_lang.trace import Status

_NO_TEXT = "Vigil blocked {}: its arguments are no JSON object."


class VigilAgents:
    """Makes agents whose calls of tools the gate decides about, whatever the SDK's own approvals say."""

    def __init__(self, state: Gate | Path | str | None = None, **options: Unpack[Options]) -> None:
        self.mediation = Mediation("openai-agents", state, **options)
        self._batches: dict[str, tuple[str | None, ...]] = {}

    async def run(self, agent: Any, given: Any, **more: Any) -> Any:
        """`Runner.run` with a mediated agent; what is owed at the end is told as a further message, twice at most."""
        mediated = self.agent(agent)
        result = await Runner.run(mediated, given, **more)
        for _ in range(TOLD):
            owed = "" if result.interruptions else await self.mediation.aowed()
            if not owed:
                break
            given = [{"role": "user", "content": owed}]
            result = await Runner.run(mediated, given if "session" in more else result.to_input_list() + given, **more)
        return result

    def agent(self, agent: Any, *, session: str = "", unmediated: Collection[str] = ()) -> Any:
        """An agent like this one and those that it hands off to, with all their tools mediated.

        An agent that becomes a tool (`as_tool`) is mediated before, with a `session` of its own.

        Raises:
            ValueError: a tool runs where nobody can decide about it, and is not named in `unmediated`.
        """
        return self._agent(agent, session, frozenset(unmediated), {})

    def mcp_server(self, server: Any, *, session: str = "") -> Any:
        """The server itself, whose tools are called only where the gate lets them."""
        call_tool = server.call_tool
        if getattr(call_tool, "_is_mediated", False):
            return server

        async def called(tool_name: str, arguments: Any, *args: Any, **more: Any) -> Any:
            asked = Asked(mcp_tool(server.name, tool_name), arguments or {}, None, session)
            if refused := await self.mediation.abefore(asked):
                return CallToolResult(content=[TextContent(type="text", text=refused.text)], is_error=True)
            try:
                result = await call_tool(tool_name, arguments, *args, **more)
            except BaseException as error:
                await self.mediation.aafter(asked, *failed(error))
                raise
            text = "\n".join(each.text for each in result.content if isinstance(each, TextContent))
            await self.mediation.aafter(asked, "error" if result.is_error else "ok", text)
            return result

        called._is_mediated = True  # type: ignore[attr-defined]
        server.call_tool = called
        return server

    def _agent(self, agent: Any, session: str, unmediated: Collection[str], made: dict[int, Any]) -> Any:
        if id(agent) in made:
            return made[id(agent)]
        mediated = made[id(agent)] = agent.clone(
            tools=[self._tool(tool, session, unmediated) for tool in agent.tools],
            mcp_servers=[self.mcp_server(server, session=session) for server in agent.mcp_servers],
            hooks=self._hooks(agent.hooks, session),
            handoffs=[],
        )
        mediated.handoffs = [self._handoff(each, session, unmediated, made) for each in agent.handoffs]
        return mediated

    def _handoff(self, handoff: Any, session: str, unmediated: Collection[str], made: dict[int, Any]) -> Any:
        if isinstance(handoff, Agent):
            return self._agent(handoff, session, unmediated, made)
        mediated, invoke = copy.copy(handoff), handoff.on_invoke_handoff

        async def invoked(*args: Any) -> Any:
            return self._agent(await invoke(*args), session, unmediated, made)

        mediated.on_invoke_handoff = invoked
        return mediated

    def _hooks(self, hooks: Any, session: str) -> Any:
        """The agent's own hooks, which note besides which calls one response has."""
        noting = AgentHooks() if hooks is None else copy.copy(hooks)
        on_llm_end = noting.on_llm_end

        async def noted(context: Any, agent: Any, response: Any) -> None:
            calls = [each for each in response.output if getattr(each, "type", "") == "function_call"]
            self._batches[session] = tuple(each.call_id for each in calls)
            await on_llm_end(context, agent, response)

        noting.on_llm_end = noted
        return noting

    def _tool(self, tool: Any, session: str, unmediated: Collection[str]) -> Any:
        if not isinstance(tool, FunctionTool):
            if tool.name not in unmediated:
                raise ValueError(f"the tool `{tool.name}` cannot be mediated; name it in `unmediated` to let it be")
            return tool
        mediated = copy.copy(tool)
        invoker = copy.copy(mediated.on_invoke_tool)
        # The SDK's own invoker turns exceptions into texts: what it calls is asked, for it knows how a call ended.
        inside = getattr(invoker, "_invoke_tool_impl", None)
        if inside is None:
            mediated.on_invoke_tool = self._invoked(tool.name, invoker, session, "unknown")
        else:
            invoker._invoke_tool_impl = self._invoked(tool.name, inside, session, "ok")
            mediated.on_invoke_tool = invoker
        return mediated

    def _invoked(self, name: str, invoke: Any, session: str, status: Status) -> Any:
        @wraps(invoke, assigned=())
        async def invoked(context: Any, given: str) -> Any:
            try:
                found = json.loads(given or "{}")
            except ValueError:
                found = None
            if not isinstance(found, dict):
                return _NO_TEXT.format(name)
            call = context.tool_call_id
            batch = self._batches.get(session, ())
            asked = Asked(name, found, call, session, batch=batch if call in batch else ())
            if refused := await self.mediation.abefore(asked):
                return refused.text
            try:
                result = await invoke(context, given)
            except BaseException as error:
                await self.mediation.aafter(asked, *failed(error))
                raise
            await self.mediation.aafter(asked, status, result)
            return result

        return invoked
