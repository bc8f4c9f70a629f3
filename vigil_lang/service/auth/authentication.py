"""Who asks: by a token in `Authorization: Bearer`, or by the cookie of a person who signed in.

A cookie and an agent's token are statements with a MAC under a secret that all nodes have, about a session that the log
has: any node takes them, and an entry of the log ends them on each.
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import time
from collections import OrderedDict
from contextlib import suppress
from secrets import token_urlsafe
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

from vigil_lang.gate.authority.chain import verify_chain
from vigil_lang.gate.membership import Membership, MembershipError, digest_of
from vigil_lang.gate.state import StateError
from vigil_lang.service.auth.attempts import Attempts, network_of
from vigil_lang.service.auth.csrf import check_origin
from vigil_lang.service.auth.principal import Principal, Role
from vigil_lang.service.auth.sealing import Sealer
from vigil_lang.service.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import HTTPConnection
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from vigil_lang.gate.gate import Gate
    from vigil_lang.gate.membership import How
    from vigil_lang.gate.people import AgentSession, Person
    from vigil_lang.gate.settings import ServiceSettings

T = TypeVar("T")

COOKIE, SECURE_COOKIE = "vigil", "__Host-vigil"
"""The cookie of a session: over http on this machine, and over https."""

AGENT_SECONDS = 3600
"""How long a token of an agent is good for."""

_SESSION, _AGENT = "session of a person", "session of an agent"
_FRESH = 60
"""Seconds of activity that a cookie may be behind by."""
_KNOWN_AGENTS = 10_000

_STATUS = {"unknown": 404, "taken": 409, "used": 403, "not_allowed": 403}


class _Agent(NamedTuple):
    """An agent's session, with the keys and links of its chain that may be revoked."""

    principal: Principal
    keys: tuple[str, ...]
    links: tuple[str, ...]


class Authentication:
    """Knows who asks. `audience` is the log's origin; with `no_auth` everybody is the operator.

    Raises:
        StateError: the secret that all nodes share cannot be read.
    """

    def __init__(self, gate: Gate, settings: ServiceSettings, *, audience: str, no_auth: bool) -> None:
        self.settings = settings
        self.audience = audience
        self.token = token_urlsafe(32)
        """The operator's, for as long as this process lives."""
        self.membership = Membership(gate)
        self.attempts = Attempts()
        self.rp = (urlsplit(settings.origin).hostname if settings.origin else None) or "localhost"
        """The relying party's id of passkeys: the host of the page."""
        self._gate = gate
        self._no_auth = no_auth
        self._no_auth_csrf = token_urlsafe(32)
        self.sealer = Sealer(gate.storage.secret("service"))
        self._link: str | None = None
        self._agents: OrderedDict[str, _Agent] = OrderedDict()
        """Sessions of agents that this node has seen: a cache of the log."""

    # --- who asks -------------------------------------------------------------------------------------------------

    async def principal(self, connection: HTTPConnection) -> Principal | None:
        """Who asks; None where that is not known. What forms need of the session is in `connection.state` then.

        Raises:
            StateError: nothing can be judged.
        """
        if hasattr(connection.state, "principal"):
            known: Principal | None = connection.state.principal
            return known
        connection.state.own_origin = self.own_origin(connection)
        found = connection.state.principal = await self._principal(connection)
        return found

    async def require(self, request: HTTPConnection, role: Role) -> Principal:
        """Who asks, where they have a role or one that may more.

        Raises:
            Refused: 401 nobody is signed in, 403 she may not.
            StateError: nothing can be judged.
        """
        found = await self.known(request)
        if request.scope.get("method") not in ("GET", "HEAD") and not getattr(request.state, "by_bearer", False):
            check_origin(request)
        if not found.may(role):
            raise await self.refusal(request, "role", f"this is for the role {role}", who=found.name)
        return found

    async def require_agent(
        self, request: HTTPConnection, run: str, agent: str, *, is_decided: bool = False
    ) -> Principal:
        """Who asks about a run of an agent: that agent in that run, or the operator.

        What is revoked is refused, unless the gate itself goes on to decide: it blocks then, and its log tells why.

        Raises:
            Refused: 401 nobody, 403 another run or agent, what is revoked, or a person.
            StateError: nothing can be judged.
        """
        found = await self.known(request)
        if found.kind == "operator":
            return found
        if found.kind != "agent" or (found.run, found.name) != (run, agent):
            raise await self.refusal(request, "agent", "this token is for another run or agent", who=found.name)
        if is_decided and found.chain is not None:
            return found
        revoked = await self.run(lambda: self._revoked(found))
        if revoked:
            raise await self.refusal(request, "revoked", "; ".join(revoked), who=found.name)
        return found

    async def known(self, request: HTTPConnection) -> Principal:
        """Who asks. An agent without a chain whose key is revoked is nobody: what such a one asks for is not decided.

        Raises:
            Refused: 401, nobody is known.
            StateError: nothing can be judged.
        """
        found = await self.principal(request)
        if found is not None and found.kind == "agent" and found.chain is None:
            gone = await self.run(lambda: self._revoked(found))
            if gone:
                raise await self.refusal(request, "revoked", "; ".join(gone), who=found.name)
        if found is not None:
            return found
        headers = {"WWW-Authenticate": "Bearer"}
        if "authorization" in request.headers:
            headers["WWW-Authenticate"] = 'Bearer error="invalid_token"'
            raise await self.refusal(request, "token", "the token is not known, or its time is over", 401, headers)
        raise Refused(401, "unauthorized", "sign in, or send a token", headers)

    async def refusal(
        self,
        request: HTTPConnection,
        what: str,
        message: str,
        status: int = 403,
        headers: dict[str, str] | None = None,
        *,
        who: str = "",
    ) -> Refused:
        """A refusal, which is in the log: with others of the kind, where there are many."""
        address = self.address(request)
        count = self.attempts.to_tell(what, address)
        if count:
            told = f"{who}: {message}" if who else message
            with suppress(StateError):  # it is refused whether that can be written or not
                await self.run(lambda: self.membership.refused(what, told, address, count))
        return Refused(status, what, message, headers)

    async def _principal(self, connection: HTTPConnection) -> Principal | None:
        header = connection.headers.get("authorization")
        if header is not None:
            scheme, _, token = header.partition(" ")
            connection.state.by_bearer = True
            return await self._bearer(token.strip()) if scheme.lower() == "bearer" else None
        if self._no_auth:
            connection.state.csrf = self._no_auth_csrf
            local = connection.client is None or connection.state.own_origin is not None
            return self._operator if local else None  # another name that leads here is a trick of some page's
        cookie = connection.cookies.get(self._cookie_name(connection))
        if cookie is None or connection.state.own_origin is None:
            return None
        return await self._signed_in(connection, cookie)

    # --- tokens ---------------------------------------------------------------------------------------------------

    _operator = Principal("operator", "operator", "administrator")

    async def _bearer(self, token: str) -> Principal | None:
        if hmac.compare_digest(token.encode(), self.token.encode()):
            return self._operator
        said = self.sealer.opened(_AGENT, token, int(time.time()))
        if said is None:
            return None
        name: str = said["session"]
        found = self._agents.get(name)
        if found is None:
            session = await self.run(lambda: self.membership.agent_session(name))
            if session is None:
                return None
            found = self._remember(session)
        return found.principal

    def agent_token(self, session: AgentSession) -> str:
        """The token of an agent's session."""
        self._remember(session)
        return self.sealer.sealed(_AGENT, {"session": session.session}, session.until)

    def _remember(self, session: AgentSession) -> _Agent:
        chain = None if session.chain is None else session.chain.encode()
        links = () if chain is None else verify_chain(chain, (), self.audience, 0).links
        keys = {session.key, *(key for link in links for key in (link.payload.iss, link.payload.sub))}
        principal = Principal("agent", session.agent, None, session.run, session.key, chain, session.session)
        found = self._agents[session.session] = _Agent(principal, tuple(sorted(keys)), tuple(link.id for link in links))
        if len(self._agents) > _KNOWN_AGENTS:
            self._agents.popitem(last=False)
        return found

    def _revoked(self, agent: Principal) -> tuple[str, ...]:
        """What of an agent is revoked by now."""
        revoked, known = self._gate.revoked(), self._agents.get(agent.session or "")
        if known is None:
            return ("the session is not known any more",)
        if revoked.fault is not None:
            return (revoked.fault,)
        return revoked.reasons(agent.name, agent.run or "", known.keys, known.links)

    # --- the operator ---------------------------------------------------------------------------------------------

    def sign_in_link(self, control_origin: str) -> str:
        """A link that signs the operator in, once. An earlier one no longer does."""
        token = token_urlsafe(32)
        self._link = digest_of(token)
        return f"{control_origin}/sign-in?token={token}"

    def taken_link(self, token: str) -> bool:
        """Whether a token is that of the link; it is not any more then."""
        if self._link is None or not hmac.compare_digest(digest_of(token), self._link):
            return False
        self._link = None
        return True

    # --- sessions of people ---------------------------------------------------------------------------------------

    async def sign_in(
        self, connection: HTTPConnection, response: Response, person: Person, how: How, proof: str | None = None
    ) -> None:
        """Begin a session, with a name that nobody knows; one that the browser had before ends.

        Raises:
            Refused: 403, the proof was used before.
            StateError: nothing can be judged.
        """
        before = await self.principal(connection)
        if before is not None and before.kind == "person" and before.person is not None:
            await self.end(before.person, before.session)
        seconds, address = self.settings.session, self.address(connection)
        session = await self.change(lambda: self.membership.sign_in(person.id, how, address, seconds, proof))
        at = int(time.time())
        said = {"session": session, "csrf": token_urlsafe(24), "person": person.id, "seen": at}
        self._set_cookie(connection, response, said, at + seconds)

    async def sign_out(self, connection: HTTPConnection, response: Response) -> None:
        """End the session of a request."""
        found = await self.principal(connection)
        if found is not None and found.person is not None:
            await self.end(found.person, found.session)
        connection.state.cookie = None
        name, secure = self._cookie_name(connection), self._is_secure(connection)
        response.delete_cookie(name, path="/", secure=secure, httponly=True, samesite="strict")

    async def end(self, person: str, session: str | None) -> None:
        """End a session of a person, or all of them."""
        await self.run(lambda: self.membership.sign_out(person, session))

    async def _signed_in(self, connection: HTTPConnection, cookie: str) -> Principal | None:
        at = int(time.time())
        said = self.sealer.opened(_SESSION, cookie, at)
        if said is None or at >= said["seen"] + self.settings.idle:
            return None
        person = await self.run(lambda: self.membership.in_session(said["session"], said["person"]))
        if person is None:
            return None
        connection.state.csrf = said["csrf"]
        connection.state.signed_in_at = said["expires"] - self.settings.session
        if at >= said["seen"] + _FRESH and "text/event-stream" not in connection.headers.get("accept", ""):
            connection.state.cookie = {**said, "seen": at}
        return Principal("person", person.name, person.role, session=said["session"], person=person.id)

    async def is_in_session(self, principal: Principal) -> bool:
        """Whether a person who was let in is still, with the role that she had; others are.

        Raises:
            StateError: nothing can be judged.
        """
        session, name = principal.session, principal.person
        if principal.kind != "person" or session is None or name is None:
            return True
        person = await self.run(lambda: self.membership.in_session(session, name))
        return person is not None and person.role == principal.role

    def _set_cookie(self, connection: HTTPConnection, response: Response, said: dict[str, Any], until: int) -> None:
        connection.state.cookie = None
        response.set_cookie(
            self._cookie_name(connection),
            self.sealer.sealed(_SESSION, {name: value for name, value in said.items() if name != "expires"}, until),
            path="/",
            secure=self._is_secure(connection),
            httponly=True,
            samesite="strict",
        )

    def refreshing(self, app: ASGIApp) -> ASGIApp:
        """An application whose answers tell the browser that its session is in use: else it would end as idle."""
        from starlette.requests import HTTPConnection
        from starlette.responses import Response

        async def refreshed(scope: Scope, receive: Receive, send: Send) -> None:
            async def sent(message: Message) -> None:
                said = scope.get("state", {}).get("cookie")
                if message["type"] == "http.response.start" and said is not None:
                    made = Response()
                    self._set_cookie(HTTPConnection(scope), made, said, said["expires"])
                    cookies = [each for each in made.raw_headers if each[0] == b"set-cookie"]
                    message = {**message, "headers": [*message.get("headers", ()), *cookies]}
                await send(message)

            await app(scope, receive, sent if scope["type"] == "http" else send)

        return refreshed

    # --- where ----------------------------------------------------------------------------------------------------

    def own_origin(self, connection: HTTPConnection) -> str | None:
        """The origin of the page: as set, or on this machine the address that was asked for; None for another one."""
        if self.settings.origin is not None:
            return self.settings.origin.rstrip("/")
        host = connection.headers.get("host", "")
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return None
        return f"{connection.url.scheme}://{host}" if _is_loopback(name) else None

    def address(self, connection: HTTPConnection) -> str:
        """Where somebody asks from, as attempts are counted and the log has it."""
        return network_of(connection.client.host if connection.client else None)

    def _is_secure(self, connection: HTTPConnection) -> bool:
        return (self.own_origin(connection) or "").startswith("https://")

    def _cookie_name(self, connection: HTTPConnection) -> str:
        return SECURE_COOKIE if self._is_secure(connection) else COOKIE

    # --- work in threads ------------------------------------------------------------------------------------------

    @staticmethod
    async def run(work: Callable[[], T]) -> T:
        """Do in a thread what waits for the gate's folder."""
        return await asyncio.to_thread(work)

    async def change(self, work: Callable[[], T]) -> T:
        """As `run`, where what cannot be is refused.

        Raises:
            Refused: the membership says why.
        """
        try:
            return await self.run(work)
        except MembershipError as error:
            raise Refused(_STATUS[error.why], error.why, str(error)) from error


def _is_loopback(name: str) -> bool:
    try:
        return name == "localhost" or ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
