"""The addresses by which people and agents sign in, and administrators say who may."""

from __future__ import annotations

import json
import time
from secrets import token_urlsafe
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from vigil_lang.gate.people import ROLES
from vigil_lang.service.auth import ceremonies, csrf
from vigil_lang.service.auth.agents import SessionAbout, SessionAnswer, SessionRequest, begin
from vigil_lang.service.edge import json_response
from vigil_lang.service.errors import Refused
from vigil_lang.service.limits import converted, json_body
from vigil_lang.service.openapi import operation
from vigil_lang.service.page.rendering import HEADERS, page
from vigil_lang.service.page.viewing import answered, field, posted, read_form, refusal, viewed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.datastructures import FormData
    from starlette.requests import Request

    from vigil_lang.gate.people import Person, Role
    from vigil_lang.service.auth.oidc import Provider
    from vigil_lang.service.service import Service

PROVIDER_COOKIE = "vigil-oidc"
"""What a browser keeps while a person is with the identity provider. She comes back from another site: so it is lax."""

RECENT = 15 * 60
"""Seconds after a sign-in in which a person who has a passkey may add another one."""

_PROVIDER = "sign-in with the identity provider"
_PROVIDER_SECONDS = 600
_ANSWER = 60_000
_NO_STORE = HEADERS | {"Cache-Control": "no-store"}


def routes(service: Service) -> list[Route]:
    """What the control address has for people."""
    pages = _People(service)
    return [
        Route("/sign-in", pages.sign_in, methods=["GET"]),
        Route("/sign-in/invitation", pages.accept, methods=["POST"]),
        Route("/sign-in/oidc", pages.leave, methods=["GET"]),
        Route("/sign-in/oidc/callback", pages.come_back, methods=["GET"]),
        Route("/sign-out", viewed(service, "viewer", pages.sign_out), methods=["POST"]),
        Route("/passkeys/sign-in/options", pages.sign_in_options, methods=["POST"]),
        Route("/passkeys/sign-in/verify", pages.sign_in_verify, methods=["POST"]),
        Route("/passkeys", viewed(service, "viewer", pages.passkeys), methods=["GET"]),
        Route("/passkeys/register/options", answered(service, "viewer", pages.register_options), methods=["POST"]),
        Route("/passkeys/register/verify", viewed(service, "viewer", pages.register_verify), methods=["POST"]),
        Route("/passkeys/remove", viewed(service, "viewer", pages.remove_passkey), methods=["POST"]),
        Route("/people", viewed(service, "administrator", pages.people), methods=["GET"]),
        Route("/people/invite", viewed(service, "administrator", pages.invite), methods=["POST"]),
        Route("/people/role", viewed(service, "administrator", pages.change_role), methods=["POST"]),
        Route("/people/remove", viewed(service, "administrator", pages.remove), methods=["POST"]),
        Route("/people/sign-out", viewed(service, "administrator", pages.end_sessions), methods=["POST"]),
    ]


def data_routes(service: Service) -> list[Route]:
    """What the data address has for agents."""

    @operation(answer=SessionAbout, public=True)
    async def about(_: Request) -> Response:
        """What an agent has to know before it proves who it is."""
        return json_response(SessionAbout(service.audience, int(time.time())))

    @operation(body=SessionRequest, answer=SessionAnswer, status=201, public=True)
    async def begun(request: Request) -> Response:
        """Begin a session of an agent in a run, by a proof that it has its key."""
        asked = converted(await json_body(request), SessionRequest)
        return json_response(await begin(service.gate, service.auth, request, asked), 201)

    return [
        Route("/v1/sessions", about, methods=["GET"]),
        Route("/v1/sessions", begun, methods=["POST"]),
    ]


class _People:
    """Handlers of what people do to sign in and to say who may."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._auth = service.auth
        self._provider: Provider | None = None
        if service.settings.oidc is not None:
            from vigil_lang.service.auth.oidc import Provider

            self._provider = Provider(service.settings.oidc)

    # --- signing in -----------------------------------------------------------------------------------------------

    async def sign_in(self, request: Request) -> Response:
        """The page to sign in on; the operator's link signs in."""
        token, invitation = request.query_params.get("token"), request.query_params.get("invitation")
        if token is not None and request.method == "GET" and "prefetch" not in request.headers.get("sec-purpose", ""):
            return await self._by_link(request, token)
        if invitation is not None:
            return page(request, "invitation.html", title="Your invitation", invitation=invitation[:100])
        following, host = _local(request.query_params.get("next")), self._provider.host if self._provider else ""
        return page(request, "sign_in.html", title="Sign in", next=following, oidc=host)

    async def _by_link(self, request: Request, token: str) -> Response:
        try:
            self._auth.attempts.check(f"link {self._auth.address(request)}")
            if not self._auth.taken_link(token):
                message = "this link was used, or is of an earlier start of the service"
                raise await self._auth.refusal(request, "sign_in", message)
            person = await self._auth.run(self._auth.membership.operator)
            response = RedirectResponse("/", 303, _NO_STORE)
            await self._auth.sign_in(request, response, person, "link", token)
        except Refused as error:
            return refusal(request, error)
        return response

    async def accept(self, request: Request) -> Response:
        """Who was invited joins."""
        try:
            form = await self._anonymous(request)
            secret = field(form, "invitation", 100)
            person = await self._auth.change(lambda: self._auth.membership.accept(secret))
            response = RedirectResponse("/passkeys", 303, _NO_STORE)
            await self._auth.sign_in(request, response, person, "invitation", secret)
        except Refused as error:
            return await self._not_signed_in(request, error)
        return response

    async def sign_in_options(self, request: Request) -> Response:
        """What a passkey is asked to sign in."""
        try:
            await self._anonymous(request)
        except Refused as error:
            return _json_refusal(error)
        return JSONResponse(ceremonies.sign_in(self._auth), headers=_NO_STORE)

    async def sign_in_verify(self, request: Request) -> Response:
        """Sign in by a passkey's answer."""
        try:
            form = await self._anonymous(request)
            person, proof = await ceremonies.signed_in(self._auth, self._origin(request), _answer(form))
            if person.subject is not None:
                raise Refused(403, "sign_in", "sign in with the identity provider; your passkey confirms and denies")
            response = RedirectResponse(_local(field(form, "next")), 303, _NO_STORE)
            await self._auth.sign_in(request, response, person, "passkey", proof)
        except Refused as error:
            return await self._not_signed_in(request, error)
        return response

    async def sign_out(self, request: Request) -> Response:
        """End this session."""
        await posted(request)
        response = RedirectResponse("/sign-in", 303, _NO_STORE | {"Clear-Site-Data": '"cache", "storage"'})
        await self._auth.sign_out(request, response)
        return response

    async def _anonymous(self, request: Request) -> FormData:
        """The form of somebody who is not signed in: no other site sent it, and not too many come from there."""
        self._auth.attempts.check(f"sign-in {self._auth.address(request)}")
        await self._auth.principal(request)
        csrf.check_origin(request)
        return await read_form(request)

    async def _not_signed_in(self, request: Request, error: Refused) -> Response:
        if error.status != 429:
            error = await self._auth.refusal(request, "sign_in", error.message, error.status)
        return refusal(request, error)

    def _origin(self, request: Request) -> str:
        return self._auth.own_origin(request) or ""

    # --- the identity provider ------------------------------------------------------------------------------------

    async def leave(self, request: Request) -> Response:
        """Go to the identity provider."""
        try:
            self._auth.attempts.check(f"oidc {self._auth.address(request)}")
            provider = self._known_provider()
            said: dict[str, object] = {name: token_urlsafe(32) for name in ("state", "nonce", "verifier")}
            said["next"] = _local(request.query_params.get("next"))
            texts = (str(said[name]) for name in ("state", "nonce", "verifier"))
            address = await provider.address(self._redirect(request), *texts)
        except Refused as error:
            return refusal(request, error)
        response = RedirectResponse(address, 303, _NO_STORE)
        until = int(time.time()) + _PROVIDER_SECONDS
        response.set_cookie(
            self._provider_cookie(request),
            self._auth.sealer.sealed(_PROVIDER, said, until),
            max_age=_PROVIDER_SECONDS,
            path="/",
            secure=self._origin(request).startswith("https://"),
            httponly=True,
            samesite="lax",
        )
        return response

    async def come_back(self, request: Request) -> Response:
        """Come back from the identity provider, and be signed in by what it says."""
        try:
            self._auth.attempts.check(f"oidc {self._auth.address(request)}")
            provider = self._known_provider()
            cookie = request.cookies.get(self._provider_cookie(request), "")
            asked = self._auth.sealer.opened(_PROVIDER, cookie, int(time.time()))
            if asked is None:
                raise Refused(403, "oidc", "this browser began no sign-in, or too long ago: try again")
            found = await provider.provided(request.query_params, self._redirect(request), asked)
            membership = self._auth.membership
            if found.role is None:
                await self._auth.run(lambda: membership.denied_by_provider(found.subject))
                raise Refused(403, "oidc", f"{found.name[:100]} is in none of the groups that may use this gate")
            role = found.role
            person = await self._auth.run(lambda: membership.provided(found.subject, found.name, role))
            # A redirect would still be of the provider's site to the browser, and not send a strict cookie.
            response = page(request, "signed_in.html", title="Signed in", next=asked["next"])
            response.headers["Refresh"] = f"0; url={quote(asked['next'], safe='/?=&%')}"
            await self._auth.sign_in(request, response, person, "oidc", asked["state"])
        except Refused as error:
            return await self._not_signed_in(request, error)
        name, secure = self._provider_cookie(request), self._origin(request).startswith("https://")
        response.delete_cookie(name, path="/", secure=secure, httponly=True, samesite="lax")
        return response

    def _known_provider(self) -> Provider:
        if self._provider is None:
            raise Refused(404, "oidc", "no identity provider is set")
        return self._provider

    def _provider_cookie(self, request: Request) -> str:
        secure = self._origin(request).startswith("https://")
        return f"__Host-{PROVIDER_COOKIE}" if secure else PROVIDER_COOKIE

    def _redirect(self, request: Request) -> str:
        return f"{self._origin(request)}/sign-in/oidc/callback"

    # --- passkeys -------------------------------------------------------------------------------------------------

    async def passkeys(self, request: Request) -> Response:
        """A person's own passkeys."""
        person = await self._self(request)
        return page(request, "passkeys.html", title="Your passkeys", csrf=csrf.token(request), person=person)

    async def register_options(self, request: Request) -> Response:
        """What a browser is asked to make a passkey."""
        await posted(request)
        person = await self._self(request)
        self._check_recent(request, person)
        session = request.state.principal.session
        return JSONResponse(ceremonies.registration(self._auth, person, session), headers=_NO_STORE)

    async def register_verify(self, request: Request) -> Response:
        """Take a passkey that a browser made."""
        form = await posted(request)
        person = await self._self(request)
        self._check_recent(request, person)
        session = request.state.principal.session
        key, credential = ceremonies.registered(self._auth, self._origin(request), session, _answer(form))
        label, rp = field(form, "label", 100), self._auth.rp
        await self._auth.change(lambda: self._auth.membership.add_passkey(person.id, key, credential, rp, label))
        return RedirectResponse("/passkeys", 303, _NO_STORE)

    async def remove_passkey(self, request: Request) -> Response:
        """Take back a passkey: one's own, or as an administrator anybody's."""
        form = await posted(request)
        by, name = request.state.principal, field(form, "person", 100)
        if name != by.person and not by.may("administrator"):
            raise await self._auth.refusal(request, "role", "this is for the role administrator", who=by.name)
        key, who = field(form, "key"), by.person or by.name
        await self._auth.change(lambda: self._auth.membership.remove_passkey(name, key, who))
        return RedirectResponse("/passkeys" if name == by.person else "/people", 303, _NO_STORE)

    async def _self(self, request: Request) -> Person:
        name = request.state.principal.person
        person = None if name is None else await self._auth.run(lambda: self._auth.membership.person(name))
        if person is None:
            raise Refused(403, "passkey", "a passkey is a person's: sign in by the link that the service printed")
        return person

    def _check_recent(self, request: Request, person: Person) -> None:
        if person.passkeys and time.time() > request.state.signed_in_at + RECENT:
            raise Refused(403, "recent", "sign in once more to add a passkey: this session is too old for that")

    # --- people ---------------------------------------------------------------------------------------------------

    async def people(self, request: Request) -> Response:
        """Who may what."""
        return await self._people(request)

    async def _people(self, request: Request, invited: str = "", link: str = "") -> Response:
        found = await self._auth.run(self._auth.membership.everybody)
        return page(
            request, "people.html", title="People", csrf=csrf.token(request), people=found, roles=ROLES,
            invited=invited, link=link,
        )  # fmt: skip

    async def invite(self, request: Request) -> Response:
        """Invite somebody; the link is shown this once."""
        form = await posted(request)
        name, role, by = field(form, "name", 100), _role(form), self._who(request)
        person, secret = await self._auth.change(lambda: self._auth.membership.invite(name, role, by))
        return await self._people(request, person.name, f"{self._origin(request)}/sign-in?invitation={secret}")

    async def change_role(self, request: Request) -> Response:
        """Give somebody another role."""
        form = await posted(request)
        name, role, by = field(form, "person", 100), _role(form), self._who(request)
        await self._auth.change(lambda: self._auth.membership.change_role(name, role, by))
        return RedirectResponse("/people", 303, _NO_STORE)

    async def remove(self, request: Request) -> Response:
        """Remove somebody, with her sessions and passkeys."""
        form = await posted(request)
        name, by = field(form, "person", 100), self._who(request)
        await self._auth.change(lambda: self._auth.membership.remove(name, by))
        return RedirectResponse("/people", 303, _NO_STORE)

    async def end_sessions(self, request: Request) -> Response:
        """End all sessions of somebody."""
        form = await posted(request)
        await self._auth.end(field(form, "person", 100), None)
        return RedirectResponse("/people", 303, _NO_STORE)

    def _who(self, request: Request) -> str:
        principal = request.state.principal
        return str(principal.person or principal.name)


def _local(address: str | None) -> str:
    """An address of this page that a person is led on to; the first page in the place of any other."""
    if not address or len(address) > 500 or not address.isascii() or not address.isprintable():
        return "/"
    return address if address.startswith("/") and not address.startswith("//") and "\\" not in address else "/"


def _role(form: Mapping[str, Any]) -> Role:
    found = next((role for role in ROLES if role == form.get("role")), None)
    if found is None:
        raise Refused(400, "role", "that is no role")
    return found


def _answer(form: Mapping[str, Any]) -> dict[str, Any]:
    text = form.get("answer", "")
    try:
        found = json.loads(text) if isinstance(text, str) and len(text) <= _ANSWER else None
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise Refused(400, "passkey", "signing in with a passkey takes a browser with its script")
    return found


def _json_refusal(error: Refused) -> Response:
    said = {"error": {"code": error.code, "message": error.message}}
    return JSONResponse(said, error.status, _NO_STORE | error.headers)
