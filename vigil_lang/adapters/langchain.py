"""LangChain and LangGraph: `create_agent(model, tools, middleware=[…, VigilMiddleware(state)])`, last in the list."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Unpack

from vigil_lang.adapters.mediation import Asked, Mediation, Options, Refused, failed, missing

try:
    from langchain.agents.middleware import AgentMiddleware, hook_config
    from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
    from langgraph.errors import GraphBubbleUp
    from langgraph.types import interrupt
except ImportError as error:
    raise missing("langchain") from error

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from vigil_lang.gate.gate import Gate
    from vigil_lang.trace import Status


class VigilMiddleware(AgentMiddleware):
    """Decides about each call of a tool, and reports how it ended.

    It has to be the last middleware: those behind it could change a call after it was decided about. With `interrupts`
    the graph interrupts where a call is held, with `{"hold": …, "tool": …, "args": …, "message": …}`; whatever it is
    resumed with, the gate alone says whether the call is made. A sub-agent has a middleware of its own, with the
    mediation of the first (`of`) and a `session`.
    """

    def __init__(
        self,
        state: Gate | Path | str | None = None,
        *,
        interrupts: bool = False,
        of: Mediation | None = None,
        session: str = "",
        **options: Unpack[Options],
    ) -> None:
        super().__init__()
        self.mediation = of or Mediation("langchain", state, **options)
        self._interrupts = interrupts
        self._session = session
        self._held: dict[str | None, str] = {}

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Make the call, or tell the model why not."""
        asked = self._asked(request)
        refused = self._settled(asked) or self.mediation.before(asked)
        if refused is not None:
            self._interrupt(asked, refused)
            return _answer(asked, refused)
        try:
            result = handler(request)
        except GraphBubbleUp:  # the call goes on when the graph is resumed
            raise
        except BaseException as error:
            self.mediation.after(asked, *failed(error))
            raise
        self.mediation.after(asked, *_outcome(result))
        return result

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """As `wrap_tool_call`, where the graph runs asynchronously."""
        asked = self._asked(request)
        refused = await asyncio.to_thread(self._settled, asked) or await self.mediation.abefore(asked)
        if refused is not None:
            self._interrupt(asked, refused)
            return _answer(asked, refused)
        try:
            result = await handler(request)
        except GraphBubbleUp:
            raise
        except BaseException as error:
            await self.mediation.aafter(asked, *failed(error))
            raise
        await self.mediation.aafter(asked, *_outcome(result))
        return result

    @hook_config(can_jump_to=["model"])
    def after_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:  # noqa: ARG002
        """Tell the model what is owed, in place of the end."""
        return _told(self.mediation.owed(self._session))

    @hook_config(can_jump_to=["model"])
    async def aafter_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:  # noqa: ARG002
        """As `after_agent`, where the graph runs asynchronously."""
        return _told(await self.mediation.aowed(self._session))

    def _asked(self, request: Any) -> Asked:
        call = request.tool_call
        messages = request.state.get("messages", []) if isinstance(request.state, dict) else []
        calls: list[Any] = next((m.tool_calls for m in reversed(messages) if isinstance(m, AIMessage)), [])
        batch = tuple(each["id"] for each in calls)
        return Asked(call["name"], call["args"], call["id"], self._session, batch=batch)

    def _interrupt(self, asked: Asked, refused: Refused) -> None:
        if self._interrupts and refused.hold is not None:
            self._held[asked.call] = refused.hold
            interrupt({"hold": refused.hold, "tool": asked.tool, "args": dict(asked.input), "message": refused.text})

    def _settled(self, asked: Asked) -> Refused | None:
        """What became of the hold that the graph was interrupted for; None where it is to be decided about (anew)."""
        hold = self._held.pop(asked.call, None)
        return None if hold is None else self.mediation.ended(asked, hold)


def _answer(asked: Asked, refused: Refused) -> Any:
    mark = {"lc_source": "vigil", "lc_data": {"decision": "reject"}}  # so that a recording tells it from a tool's error
    return ToolMessage(refused.text, name=asked.tool, tool_call_id=asked.call, status="error", additional_kwargs=mark)


def _outcome(result: Any) -> tuple[Status, object]:
    """A tool's own error is the status of its message; a `Command` may have messages."""
    update = getattr(result, "update", None)
    given = update.get("messages", ()) if isinstance(update, dict) else result
    found = [each for each in (given if isinstance(given, (list, tuple)) else [given]) if isinstance(each, ToolMessage)]
    status: Status = "error" if any(each.status == "error" for each in found) else "ok"
    return status, "\n".join(each.text for each in found)


def _told(owed: str) -> dict[str, Any] | None:
    return {"messages": [HumanMessage(owed)], "jump_to": "model"} if owed else None
