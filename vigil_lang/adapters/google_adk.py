"""Google ADK: `InMemoryRunner(agent, plugins=[VigilPlugin(state)])`."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, Unpack

from vigil_lang.adapters.mediation import TOLD, Asked, Mediation, Options, failed, mcp_tool, missing

try:
    from google.adk.plugins.base_plugin import BasePlugin
    from google.genai import types
except ImportError as error:
    raise missing("google-adk") from error

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping
    from pathlib import Path

    from vigil_lang.gate.gate import Gate


class VigilPlugin(BasePlugin):
    """Decides about each call of a tool of every agent of a runner, and reports how it ended.

    A call is decided about when plugins are asked, and again where a callback of an agent changes its arguments
    afterwards. `servers` names the MCP server of each tool that comes from one, for ADK does not tell it.
    """

    def __init__(
        self,
        state: Gate | Path | str | None = None,
        *,
        servers: Mapping[str, str] | None = None,
        **options: Unpack[Options],
    ) -> None:
        super().__init__("vigil")
        self.mediation = Mediation("google-adk", state, **options)
        self._servers = dict(servers or {})
        self._passed: dict[str | None, Asked] = {}
        self._batch: tuple[str | None, ...] = ()

    async def on_event_callback(self, *, invocation_context: Any, event: Any) -> None:  # noqa: ARG002
        """Learn which calls one message has."""
        if calls := event.get_function_calls():
            self._batch = tuple(call.id for call in calls)

    async def before_tool_callback(self, *, tool: Any, tool_args: Any, tool_context: Any) -> dict[str, Any] | None:
        """Let the call go on (None), or answer it for the tool."""
        asked = self._asked(tool, tool_args, tool_context)
        refused = await self.mediation.abefore(asked)
        if refused is not None:
            return {"error": refused.text}
        self._passed[asked.call] = asked
        if getattr(tool.run_async, "__name__", "") != "_mediated":
            tool.run_async = _mediated_run(tool)
        return None

    async def after_tool_callback(self, *, tool: Any, tool_args: Any, tool_context: Any, result: Any) -> None:  # noqa: ARG002
        """A call that another callback answered, or a confirmation of ADK stopped, has no known end."""
        if asked := self._passed.pop(tool_context.function_call_id, None):
            await self.mediation.aafter(asked, "unknown")

    async def on_tool_error_callback(self, *, tool: Any, tool_args: Any, tool_context: Any, error: Any) -> None:  # noqa: ARG002
        """As `after_tool_callback`, for a call that failed before its tool ran."""
        if asked := self._passed.pop(tool_context.function_call_id, None):
            await self.mediation.aafter(asked, "unknown")

    async def run(self, runner: Any, *, user_id: str, session_id: str, new_message: Any) -> AsyncIterator[Any]:
        """The events of `runner.run_async`; what is owed at the end is told as a further message, twice at most."""
        for _ in range(TOLD + 1):
            async for event in runner.run_async(user_id=user_id, session_id=session_id, new_message=new_message):
                yield event
            owed = await self.mediation.aowed()
            if not owed:
                return
            new_message = types.Content(role="user", parts=[types.Part(text=owed)])

    async def mediated(self, run: Any, tool: Any, args: dict[str, Any], tool_context: Any) -> Any:
        """Run a tool with exactly the arguments that passed."""
        asked = self._passed.pop(tool_context.function_call_id, None)
        now = self._asked(tool, args, tool_context)
        if asked is None or asked.input != now.input:
            if asked is not None:
                await self.mediation.aafter(asked, "unknown", executed=False)
            if refused := await self.mediation.abefore(now):
                return {"error": refused.text}
        try:
            result = await run(args=args, tool_context=tool_context)
        except BaseException as error:
            await self.mediation.aafter(now, *failed(error))
            raise
        has_failed = isinstance(result, dict) and (result.get("error") or result.get("isError"))
        await self.mediation.aafter(now, "error" if has_failed else "ok", result)
        return result

    def _asked(self, tool: Any, args: dict[str, Any], tool_context: Any) -> Asked:
        call = tool_context.function_call_id
        name = mcp_tool(self._servers[tool.name], tool.name) if tool.name in self._servers else tool.name
        batch = self._batch if call in self._batch else ()
        return Asked(name, copy.deepcopy(args), call, tool_context.branch or "", batch=batch)


def _mediated_run(tool: Any) -> Any:
    run = tool.run_async

    async def _mediated(*, args: dict[str, Any], tool_context: Any) -> Any:
        plugins = tool_context._invocation_context.plugin_manager.plugins
        plugin = next((each for each in plugins if isinstance(each, VigilPlugin)), None)
        if plugin is None:  # a runner that shares the tool, and is not mediated
            return await run(args=args, tool_context=tool_context)
        return await plugin.mediated(run, tool, args, tool_context)

    return _mediated
