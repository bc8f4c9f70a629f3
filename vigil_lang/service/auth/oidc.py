"""Signing in with an identity provider (OpenID Connect): the code flow with PKCE, state and nonce."""

from __future__ import annotations

import hmac
import ssl
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

import httpx
from authlib.integrations.httpx_client import AsyncOAuth2Client
from authlib.oauth2.rfc6749.parameters import prepare_grant_uri
from authlib.oauth2.rfc7636 import create_s256_code_challenge
from authlib.oidc.core import CodeIDToken
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from vigil_lang.base.files import read_bytes
from vigil_lang.gate.people import ROLES, Role
from vigil_lang.service.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vigil_lang.gate.settings import Oidc

ALGORITHMS = ["RS256", "PS256", "ES256", "EdDSA"]
"""Of signatures of id tokens: neither none nor a shared secret."""

SECONDS = 10.0
"""How long the provider may take for an answer."""

LEEWAY = 60
"""Seconds that the provider's clock may differ."""

_REQUIRED = ("issuer", "authorization_endpoint", "token_endpoint", "jwks_uri")
_KNOWN_SECONDS = 3600


class Provided(NamedTuple):
    """Who signed in with the provider: a subject, her name, and the role that her groups have; None without one."""

    subject: str
    name: str
    role: Role | None


class Provider:
    """The identity provider that the settings name."""

    def __init__(self, settings: Oidc) -> None:
        self._settings = settings
        self._known: tuple[float, dict[str, Any]] | None = None
        self._trusted = ssl.create_default_context()

    @property
    def host(self) -> str:
        """What it is called on the page."""
        return urlsplit(self._settings.issuer).hostname or "the identity provider"

    async def address(self, redirect: str, state: str, nonce: str, verifier: str) -> str:
        """Where a browser is sent to sign in.

        Raises:
            Refused: 502, the provider cannot be reached or is not what the settings say.
        """
        about = await self._about()
        return str(
            prepare_grant_uri(
                about["authorization_endpoint"],
                self._settings.client_id,
                "code",
                redirect_uri=redirect,
                scope="openid profile email",
                state=state,
                nonce=nonce,
                code_challenge=create_s256_code_challenge(verifier),
                code_challenge_method="S256",
            )
        )

    async def provided(self, query: Mapping[str, str], redirect: str, asked: Mapping[str, str]) -> Provided:
        """Who came back, by the `query` of the callback; `asked` has the state, nonce and verifier that she left with.

        Raises:
            Refused: 403 the answer is not one to what was asked, or counts for nothing; 502 the provider fails.
        """
        if not hmac.compare_digest(query.get("state", "").encode(), asked["state"].encode()):
            raise Refused(403, "oidc", "this answers another sign-in")
        if query.get("iss", self._settings.issuer) != self._settings.issuer:
            raise Refused(403, "oidc", "another provider answered")
        if "code" not in query:
            raise Refused(403, "oidc", "the identity provider did not sign in")
        about = await self._about()
        try:
            secret = read_bytes(Path(self._settings.client_secret), 10_000).decode().strip()
        except (OSError, ValueError):
            raise Refused(502, "oidc", "the client secret cannot be read") from None
        try:
            async with AsyncOAuth2Client(
                self._settings.client_id, secret, redirect_uri=redirect, timeout=SECONDS, verify=self._trusted
            ) as client:
                tokens = await client.fetch_token(
                    about["token_endpoint"],
                    grant_type="authorization_code",
                    code=query["code"],
                    code_verifier=asked["verifier"],
                )
        except Exception:  # whatever the provider answers: the library has many errors of its own
            raise Refused(502, "oidc", "the identity provider gave no token") from None
        return self._read(tokens, await self._keys(about), asked["nonce"])

    def _read(self, tokens: Mapping[str, Any], keys: KeySet, nonce: str) -> Provided:
        settings = self._settings
        options = {
            "iss": {"essential": True, "value": settings.issuer},
            "aud": {"essential": True, "value": settings.client_id},
            "sub": {"essential": True},
            "nonce": {"essential": True},
        }
        try:
            token = jwt.decode(str(tokens["id_token"]), keys, algorithms=ALGORITHMS)
            params = {"nonce": nonce, "client_id": settings.client_id, "access_token": tokens.get("access_token")}
            claims = CodeIDToken(token.claims, token.header, options, params)
            claims.validate(now=int(time.time()), leeway=LEEWAY)
        except (JoseError, KeyError, TypeError, ValueError, RecursionError):
            raise Refused(403, "oidc", "the id token of the identity provider does not count") from None
        subject, name = claims["sub"], claims.get("name") or claims.get("email") or claims["sub"]
        if not isinstance(subject, str) or not 0 < len(subject) <= 255 or not isinstance(name, str):
            raise Refused(403, "oidc", "the id token of the identity provider does not count")
        return Provided(f"{settings.issuer} {subject}", name, self._role(claims.get(settings.groups_claim)))

    def _role(self, groups: object) -> Role | None:
        """The greatest role that one of some groups has."""
        named = [groups] if isinstance(groups, str) else groups if isinstance(groups, list) else []
        has = {each for each in named if isinstance(each, str)}
        of = {"viewer": self._settings.viewer, "approver": self._settings.approver}
        of["administrator"] = self._settings.administrator
        return next((role for role in reversed(ROLES) if has & set(of[role])), None)

    async def _about(self) -> dict[str, Any]:
        """What the provider says of itself, at most an hour old."""
        if self._known is not None and time.monotonic() < self._known[0]:
            return self._known[1]
        issuer = self._settings.issuer
        _check_address(issuer)
        found = await self._json(f"{issuer.rstrip('/')}/.well-known/openid-configuration")
        if any(not isinstance(found.get(name), str) for name in _REQUIRED) or found["issuer"] != issuer:
            raise Refused(502, "oidc", "the identity provider is not the one that the settings name")
        for name in _REQUIRED:
            _check_address(found[name])
        self._known = time.monotonic() + _KNOWN_SECONDS, found
        return found

    async def _keys(self, about: Mapping[str, Any]) -> KeySet:
        try:
            return KeySet.import_key_set(await self._json(about["jwks_uri"]))  # type: ignore[arg-type]
        except (JoseError, ValueError, KeyError, TypeError):
            raise Refused(502, "oidc", "the keys of the identity provider cannot be read") from None

    async def _json(self, address: str) -> dict[str, Any]:
        try:
            async with httpx.AsyncClient(timeout=SECONDS, follow_redirects=False, verify=self._trusted) as client:
                response = await client.get(address)
                response.raise_for_status()
                found = response.json()
        except (httpx.HTTPError, ValueError, RecursionError):
            raise Refused(502, "oidc", "the identity provider cannot be reached") from None
        if not isinstance(found, dict):
            raise Refused(502, "oidc", "the identity provider answers what has no meaning")
        return found


def _check_address(address: str) -> None:
    """Nothing is asked of a provider without TLS, but on this machine."""
    parts = urlsplit(address)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in ("localhost", "127.0.0.1")):
        raise Refused(502, "oidc", "the identity provider has to be reached by https")
