"""Claude Agent SDK: `ClaudeAgentOptions(hooks=VigilHooks(state).hooks)`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from vigil_lang.adapters.mediation import Asked, Mediation, Options, missing

try:
    from claude_agent_sdk import HookMatcher
except ImportError as error:
    raise missing("claude-agent-sdk") from error

if TYPE_CHECKING:
    from pathlib import Path

    from vigil_lang.gate.gate import Gate
    from vigil_lang.trace import Status

_PATIENCE = 60.0
"""Seconds that a hook may take beside the wait for a confirmation."""


class VigilHooks:
    """Hooks that decide about each call of a tool, whatever the permission mode, and report how it ended.

    A hook that fails or takes too long blocks the call. One of it mediates one session.
    """

    def __init__(self, state: Gate | Path | str | None = None, **options: Unpack[Options]) -> None:
        self.mediation = Mediation("claude-agent-sdk", state, **options)
        self._timeout = _PATIENCE + options.get("wait", 0.0)

    @property
    def hooks(self) -> dict[Any, Any]:
        """For `ClaudeAgentOptions`; hooks of your own go into the same lists."""
        found = {
            "PreToolUse": self._before,
            "PostToolUse": self._ended,
            "PostToolUseFailure": self._failed,
            "PostToolBatch": self._batch_over,
            "Stop": self._stop,
            "SubagentStop": self._stop,
        }
        return {
            event: [HookMatcher(hooks=[hook], timeout=self._timeout, on_failure="block")]
            for event, hook in found.items()
        }

    async def _before(self, given: Any, call: str | None, context: Any) -> Any:  # noqa: ARG002
        refused = await self.mediation.abefore(_asked(given))
        if refused is None:
            return {}
        decision = {"permissionDecision": "deny", "permissionDecisionReason": refused.text}
        return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **decision}}

    async def _ended(self, given: Any, call: str | None, context: Any) -> Any:  # noqa: ARG002
        response = given.get("tool_response")
        # A command that exits with another status than 0 is reported as a success where that has a meaning of its own.
        is_error = isinstance(response, dict) and (
            response.get("returnCodeInterpretation") or response.get("interrupted") or response.get("is_error")
        )
        await self.mediation.aafter(_asked(given), "error" if is_error else "ok", response)
        return {}

    async def _failed(self, given: Any, call: str | None, context: Any) -> Any:  # noqa: ARG002
        status: Status = "unknown" if given.get("is_interrupt") else "error"
        await self.mediation.aafter(_asked(given), status, given.get("error"))
        return {}

    async def _batch_over(self, given: Any, call: str | None, context: Any) -> Any:  # noqa: ARG002
        await self.mediation.abatch_over(given.get("agent_id", ""))
        return {}

    async def _stop(self, given: Any, call: str | None, context: Any) -> Any:  # noqa: ARG002
        owed = await self.mediation.aowed(given.get("agent_id", ""))
        return {"decision": "block", "reason": owed} if owed else {}


def _asked(given: Any) -> Asked:
    session = given.get("agent_id", "")
    return Asked(
        given["tool_name"],
        given["tool_input"],
        given["tool_use_id"],
        session,
        session or None,
        batch=None,
    )
