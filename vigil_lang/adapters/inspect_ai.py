"""inspect_ai: `Task(…, approval=vigil.approval, review=vigil.review)` with `vigil = VigilInspect(state)`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack
from uuid import uuid4

from vigil_lang.adapters.mediation import Asked, Mediation, Options, missing

try:
    from inspect_ai.approval import Approval, ApprovalPolicy, approver
    from inspect_ai.review import Review, ReviewPolicy, reviewer
    from inspect_ai.util import store
except ImportError as error:
    raise missing("inspect-ai") from error

if TYPE_CHECKING:
    from pathlib import Path

    from vigil_lang.gate.gate import Gate
    from vigil_lang.trace import Status

_RUN = "vigil:run"
"""Where the store of a sample has the name of its run."""


class VigilInspect:
    """Approves each call of a tool that the gate lets pass, and reports how it ended. Each sample is a run of its own.

    `approval` and `review` are for `Task`, `eval`, `react` and others that take such policies: the only ones there, for
    another approver could change a call that was decided about.
    """

    def __init__(self, state: Gate | Path | str | None = None, **options: Unpack[Options]) -> None:
        self._first = Mediation("inspect-ai", state, **options)
        self._options = options
        self._of: dict[str, Mediation] = {}

        # Only functions can be registered, methods cannot.
        @approver(name="vigil")
        def approving() -> Any:
            async def approve(message: str, call: Any, view: Any, history: Any) -> Any:  # noqa: ARG001
                refused = await self.mediation.abefore(_asked(call, history))
                if refused is None:
                    return Approval(decision="approve")
                return Approval(decision="reject", explanation=refused.text)

            return approve

        @reviewer(name="vigil")
        def reviewing() -> Any:
            async def review(message: str, call: Any, result: Any, output: Any, view: Any, history: Any) -> Any:  # noqa: ARG001
                status: Status = "ok" if result.error is None else "error"
                text = result.text if result.error is None else result.error.message
                await self.mediation.aafter(_asked(call, history), status, text)
                return Review(decision="continue")

            return review

        self.approval = [ApprovalPolicy(approving(), "*")]
        self.review = [ReviewPolicy(reviewing(), "*")]

    @property
    def mediation(self) -> Mediation:
        """The run of the sample that is current."""
        name = store().get(_RUN)
        if name is None:
            name = f"{self._first.run}-{uuid4()}"
            store().set(_RUN, name)
        if name not in self._of:
            options = Options(**{**self._options, "run": name})
            self._of[name] = Mediation("inspect-ai", self._first.gate, **options)
        return self._of[name]

    async def on_continue(self, state: Any) -> bool | str:
        """For `react(submit=False, on_continue=…)`: where the model stops, tell it what is owed."""
        return bool(state.output.message.tool_calls) or await self.mediation.aowed() or False


def _asked(call: Any, history: Any) -> Asked:
    last = next((each for each in reversed(history) if each.role == "assistant"), None)
    batch = () if last is None else tuple(each.id for each in last.tool_calls or ())
    return Asked(call.function, call.arguments, call.id, batch=batch)
