"""pydantic-ai: `Agent(model, capabilities=[VigilCapability(state)])`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from vigil_lang.adapters.mediation import Asked, Mediation, Options, failed, mcp_tool, missing

try:
    from pydantic_ai import ModelRetry
    from pydantic_ai.capabilities import AbstractCapability, CapabilityOrdering
    from pydantic_ai.exceptions import ApprovalRequired, CallDeferred
    from pydantic_ai.messages import ModelResponse
    from pydantic_ai.toolsets import WrapperToolset
    from pydantic_core import to_jsonable_python
except ImportError as error:
    raise missing("pydantic-ai") from error

if TYPE_CHECKING:
    from pathlib import Path

    from vigil_lang.gate.gate import Gate


class VigilCapability(AbstractCapability):
    """Decides about each call of a tool, and reports how it ended.

    It wraps the toolset innermost: other capabilities have changed the arguments before. An agent that a tool starts
    has a capability of its own, with the mediation of the first (`of`) and a `session`.
    """

    def __init__(
        self,
        state: Gate | Path | str | None = None,
        *,
        of: Mediation | None = None,
        session: str = "",
        **options: Unpack[Options],
    ) -> None:
        self.mediation = of or Mediation("pydantic-ai", state, **options)
        self._session = session

    def get_ordering(self) -> Any:
        """Nothing comes between the decision and the tool."""
        return CapabilityOrdering(position="innermost")

    def get_wrapper_toolset(self, toolset: Any) -> Any:
        """All tools of the agent, mediated."""
        return _Mediated(toolset, self.mediation, self._session)

    async def after_output_process(self, ctx: Any, *, output_context: Any, output: Any) -> Any:  # noqa: ARG002
        """Tell the model what is owed, in place of the end; that takes one of its output retries."""
        if not ctx.partial_output and (owed := await self.mediation.aowed(self._session)):
            raise ModelRetry(owed)
        return output


class _Mediated(WrapperToolset):
    def __init__(self, wrapped: Any, mediation: Mediation, session: str) -> None:
        super().__init__(wrapped)
        self._mediation = mediation
        self._session = session

    async def for_run(self, ctx: Any) -> Any:
        return _Mediated(await self.wrapped.for_run(ctx), self._mediation, self._session)

    async def for_run_step(self, ctx: Any) -> Any:
        return _Mediated(await self.wrapped.for_run_step(ctx), self._mediation, self._session)

    def visit_and_replace(self, visitor: Any) -> Any:
        return _Mediated(self.wrapped.visit_and_replace(visitor), self._mediation, self._session)

    async def call_tool(self, name: str, tool_args: dict[str, Any], ctx: Any, tool: Any) -> Any:
        asked = self._asked(name, tool_args, ctx, tool)
        if refused := await self._mediation.abefore(asked):
            return refused.text
        try:
            result = await super().call_tool(name, tool_args, ctx, tool)
        except (ApprovalRequired, CallDeferred):  # the tool asks for something first, and has done nothing yet
            await self._mediation.aafter(asked, "unknown", executed=False)
            raise
        except BaseException as error:
            await self._mediation.aafter(asked, *failed(error))
            raise
        await self._mediation.aafter(asked, "ok", to_jsonable_python(result, fallback=str))
        return result

    def _asked(self, name: str, args: dict[str, Any], ctx: Any, tool: Any) -> Asked:
        last = next((each for each in reversed(ctx.messages) if isinstance(each, ModelResponse)), None)
        batch = () if last is None else tuple(call.tool_call_id for call in last.tool_calls)
        owner = tool.toolset
        if type(owner).__module__ == "pydantic_ai.mcp" and owner.id:
            name = mcp_tool(owner.id, name)
        return Asked(name, to_jsonable_python(args), ctx.tool_call_id, self._session, batch=batch)
