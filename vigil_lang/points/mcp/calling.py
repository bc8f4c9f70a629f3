"""A call of a tool: decided about, held where the gate says so, made where it passes."""

from __future__ import annotations

import asyncio
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from vigil_lang.gate.canonical import NotCanonical, digest
from vigil_lang.points.mcp.ends import elicits, era_of
from vigil_lang.points.mcp.keeper import Call
from vigil_lang.points.mcp.messages import (
    CAPABILITIES_KEY,
    CONNECTION_CLOSED,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    Id,
    Malformed,
    Message,
    error,
    meta,
    refuse_likeness,
    result,
)
from vigil_lang.points.mcp.names import is_tool_name, policy_name, split_name
from vigil_lang.points.mcp.sealing import BadState, Seal
from vigil_lang.points.words import told

if TYPE_CHECKING:
    from vigil_lang.gate.answer import Answer
    from vigil_lang.gate.store import Hold
    from vigil_lang.points.mcp.ends import Router, Server
    from vigil_lang.trace import Status

ROUNDS = 3
"""How often one call asks its client to come back before it is told that it is held."""

KEY = "vigil-hold"
_ACCEPT = "accept"


class Calling:
    """What becomes of the calls of a relay."""

    def __init__(self, router: Router, seal: Seal) -> None:
        self._router = router
        self._seal = seal
        self._run = token_hex(4)
        self._count = 0

    async def call(self, message: Message) -> None:
        """Answer a request `tools/call` of the client.

        Raises:
            StateError: nothing can be judged.
        """
        number, params = message["id"], message.get("params", {})
        named = self._named(params)
        if named is None:
            await self._refuse(number, f"Unknown tool: {str(params.get('name'))[:128]}")
            return
        server, tool = named
        arguments = params.get("arguments")
        if not isinstance(arguments, dict | None):
            await self._refuse(number, "`arguments` is an object")
            return
        definition = await self._router.tool(server, tool, params)
        if definition is None:
            await self._refuse(number, f"Unknown tool: {tool[:128]}")
            return
        arguments = arguments or {}
        try:
            _refuse_ambiguous(arguments, definition.get("inputSchema"), number)
            same = digest([server.name, tool, arguments])
        except (Malformed, NotCanonical) as fault:
            await self._router.keeper.refused(f"a call of {policy_name(server.name, tool)}: {fault}")
            await self._refuse(number, f"Vigil does not pass these arguments on: {fault}")
            return
        if (why := self._mistrusted(server, tool)) is not None:
            await self._router.keeper.refused(f"a call of {policy_name(server.name, tool)}: {why}")
            await self._router.reply(number, _said(number, why, params))
            return
        await _Round(self._router, self._seal, server, tool, params, number, same).go(self._new_id)

    def _new_id(self) -> str:
        self._count += 1
        return f"{self._run}-{self._count}"

    def _named(self, params: Message) -> tuple[Server, str] | None:
        name = params.get("name")
        if not isinstance(name, str):
            return None
        if self._router.is_single:
            return next(iter(self._router.servers.values())), name
        found = split_name(name)
        server = None if found is None else self._router.servers.get(found[0])
        return None if server is None or found is None else (server, found[1])

    def _mistrusted(self, server: Server, tool: str) -> str | None:
        """Why a tool is not called whatever policies say; None where they decide."""
        if not is_tool_name(tool):
            return (
                "Vigil blocked this call: the tool's name has characters that policies cannot tell apart from others. "
                "Letters, digits and _ - . / are allowed."
            )
        pin = self._router.pins.get(server.name, tool)
        if pin is None or pin.is_changed:
            return (
                f"Vigil: held. The server {server.name} describes the tool {tool} otherwise than when it was first "
                f"seen. A person looks at that with `vigil mcp pins` and accepts it with "
                f"`vigil mcp accept {server.name} {tool}`; ask for the same call again afterwards."
            )
        return None

    async def _refuse(self, number: Id, why: str) -> None:
        await self._router.reply(number, error(number, INVALID_PARAMS, why))


class _Round:
    """One request of a call, of which there may be several: with `requestState` it goes on where the last one ended."""

    def __init__(
        self, router: Router, seal: Seal, server: Server, tool: str, params: Message, number: Id, same: str
    ) -> None:
        self._router = router
        self._keeper = router.keeper
        self._seal = seal
        self._server = server
        self._tool = tool
        self._params = params
        self._number = number
        self._same = same
        self._rounds = 0
        self._passed_on: dict[str, Any] = {"name": tool}

    async def go(self, new_id: Any) -> None:
        params = self._params
        call_id = None
        if "requestState" in params:
            try:
                state = self._seal.open(params["requestState"], principal=self._router.rules.principal, call=self._same)
            except BadState as fault:
                await self._keeper.refused(f"a requestState of {policy_name(self._server.name, self._tool)}: {fault}")
                refusal = error(
                    self._number,
                    INVALID_PARAMS,
                    "Invalid or expired requestState",
                    {"reason": "invalid_request_state"},
                )
                await self._router.reply(self._number, refusal)
                return
            call_id = state["call"]
            if state["kind"] == "held":
                self._rounds = state["rounds"]
                if await self._answered(state["hold"], params.get("inputResponses")):
                    return
            else:
                self._passed_on |= {"inputResponses": params.get("inputResponses", {})}
                if state["state"] is not None:
                    self._passed_on["requestState"] = state["state"]
        elif "inputResponses" in params:
            self._passed_on["inputResponses"] = params["inputResponses"]
        call = Call(call_id or new_id(), policy_name(self._server.name, self._tool), params.get("arguments") or {})
        answer = await self._keeper.decide(call)
        if self._router.rules.observe:
            await self._make(call)
            return
        while answer.decision.mode == "hold" and answer.hold is not None:
            if not await self._confirmed(call, answer, answer.hold):
                return
            answer = await self._keeper.decide(call)
        if answer.decision.mode != "pass":
            await self._say(told(answer))
            return
        await self._make(call)

    async def _make(self, call: Call) -> None:
        """Make a call that passed, and tell the gate what came of it."""
        given = {name: value for name, value in self._params.items() if name not in ("inputResponses", "requestState")}
        found = await self._router.call(self._server, call, {**given, **self._passed_on}, self._number)
        outcome = found.get("result")
        if not isinstance(outcome, dict):
            code = found.get("error", {}).get("code") if isinstance(found.get("error"), dict) else None
            lost = code in (None, CONNECTION_CLOSED, 0)
            status: Status = "unknown" if lost else "error"
            await self._router.reply(self._number, found)
            await self._keeper.ended(call, status, None, executed=code not in (INVALID_PARAMS, METHOD_NOT_FOUND))
            return
        if outcome.get("resultType") == "input_required":
            content = {"kind": "asked", "call": call.id, "state": outcome.get("requestState")}
            sealed = self._seal.close(content, principal=self._router.rules.principal, call=self._same)
            await self._router.reply(self._number, {**found, "result": {**outcome, "requestState": sealed}})
            return
        await self._router.reply(self._number, found)
        if "task" in outcome or outcome.get("resultType") == "task":
            await self._keeper.ended(call, "unknown", None)
        else:
            await self._keeper.ended(call, "error" if outcome.get("isError") is True else "ok", _text(outcome))

    # --- what is held -------------------------------------------------------------------------------------------

    async def _confirmed(self, call: Call, answer: Answer, hold: Hold) -> bool:
        """Whether a held call may be asked about again; else the client has its answer."""
        router = self._router
        stateless = era_of(self._params) is not None
        capabilities = meta(self._params).get(CAPABILITIES_KEY) if stateless else router.capabilities
        if router.rules.wait > 0:
            hold = await self._keeper.waited(hold, router.rules.wait)
        if hold.state == "approved":
            return True
        if hold.state != "pending":
            await self._say(f"Vigil: this call was held, {hold.id}, and is {hold.state}. It is not made.")
            return False
        if elicits(capabilities) and stateless and self._rounds < ROUNDS:
            content = {"kind": "held", "call": call.id, "hold": hold.id, "rounds": self._rounds + 1}
            sealed = self._seal.close(content, principal=router.rules.principal, call=self._same)
            asked = {KEY: {"method": "elicitation/create", "params": self._form(answer)}}
            found = {"resultType": "input_required", "inputRequests": asked, "requestState": sealed}
            await router.reply(self._number, result(self._number, found))
            return False
        if elicits(capabilities) and not stateless and router.front.can_ask and self._rounds < ROUNDS:
            self._rounds += 1
            return await self._elicited(answer, hold)
        await self._say(told(answer))
        return False

    async def _elicited(self, answer: Answer, hold: Hold) -> bool:
        """Ask the client's user, and look whether an approver is quicker; as `_confirmed`."""
        asking = asyncio.create_task(self._router.ask_client("elicitation/create", self._form(answer), self._number))
        waiting = asyncio.create_task(self._keeper.waited(hold, None))
        try:
            await asyncio.wait({asking, waiting}, return_when=asyncio.FIRST_COMPLETED)
            if not asking.done():
                found = waiting.result()
                if found.state == "approved":
                    return True
                await self._say(f"Vigil: this call was held, {found.id}, and is {found.state}. It is not made.")
                return False
            said = asking.result().get("result")
            if not isinstance(said, dict):
                await self._say(told(answer))
                return False
            return not await self._answered(hold.id, {KEY: said})
        finally:
            for task in (asking, waiting):
                task.cancel()
            await asyncio.gather(asking, waiting, return_exceptions=True)

    async def _answered(self, hold: str, responses: object) -> bool:
        """Take in what the client's user said of a hold; whether the client has its answer by that."""
        said = responses.get(KEY) if isinstance(responses, dict) else None
        action = said.get("action") if isinstance(said, dict) else None
        content = said.get("content") if isinstance(said, dict) else None
        if action not in (_ACCEPT, None):
            await self._keeper.withdraw(hold)
            await self._say(f"Vigil: this call was held, {hold}, and the user took it back. It is not made.")
            return True
        if action == _ACCEPT and self._keeper.confirms:
            approve = isinstance(content, dict) and content.get("approve") is True
            why = await self._keeper.confirm(hold, approve=approve)
            if not approve:
                await self._say(f"Vigil: this call was held, {hold}, and the user denied it. It is not made.")
                return True
            if why is not None:
                await self._say(f"Vigil: this call is held, {hold}, and could not be confirmed: {why}.")
                return True
        return False

    def _form(self, answer: Answer) -> Message:
        if self._keeper.confirms:
            schema: Message = {
                "type": "object",
                "properties": {"approve": {"type": "boolean", "title": "Let this call be made, once"}},
                "required": ["approve"],
            }
            return {"mode": "form", "message": told(answer), "requestedSchema": schema}
        assert answer.hold is not None
        how = f"runs `vigil hold approve {answer.hold.id}`" if answer.link is None else f"decides at {answer.link}"
        message = (
            f"{told(answer)} Your answer here confirms nothing: an approver {how}."
            " Accept when that is done; decline to take the call back."
        )
        return {"mode": "form", "message": message, "requestedSchema": {"type": "object", "properties": {}}}

    async def _say(self, text: str) -> None:
        await self._router.reply(self._number, _said(self._number, text, self._params))


def _said(number: Id, text: str, params: Message) -> Message:
    """A result that tells the model why its call was not made."""
    found: Message = {"content": [{"type": "text", "text": text}], "isError": True}
    return result(number, found | ({} if era_of(params) is None else {"resultType": "complete"}))


def _text(outcome: Message) -> str | None:
    """What a tool gave, as text."""
    content = outcome.get("content")
    if not isinstance(content, list):
        return None
    texts = [each["text"] for each in content if isinstance(each, dict) and isinstance(each.get("text"), str)]
    return "\n".join(texts) if texts else None


def _refuse_ambiguous(arguments: Message, schema: object, number: Id) -> None:
    """Refuse arguments that some servers take for others, because they differ in their case alone.

    Raises:
        Malformed: there are some.
    """
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if isinstance(properties, dict):
        refuse_likeness(arguments, frozenset(properties), number)
    folded: dict[str, str] = {}
    for name in arguments:
        if folded.setdefault(name.casefold(), name) != name:
            raise Malformed(f"two arguments are {name[:40]!r} but for their case", INVALID_PARAMS, number)
