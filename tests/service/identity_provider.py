"""An identity provider on loopback: it signs in whoever it is told to, and can be made to answer amiss."""

from __future__ import annotations

import json
import threading
import time
from base64 import urlsafe_b64decode
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

from vigil_lang.gate.canonical import base64url

CLIENT, SECRET = "vigil", "a secret of the client"


_KEY = RSAKey.generate_key(2048, {"kid": "one", "use": "sig", "alg": "RS256"}, auto_kid=False)


class IdentityProvider:
    """The provider; `claims` changes what its id tokens say, `answers` what its addresses answer, by path."""

    def __init__(self) -> None:
        self.key = _KEY
        self.signing = self.key
        self.header: dict[str, Any] = {"alg": "RS256", "kid": "one"}
        self.claims: dict[str, Any] = {}
        self.answers: dict[str, Any] = {}
        self.codes: dict[str, dict[str, str]] = {}
        self.asked: list[str] = []
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._answer(provider.answer(self.path, {}, ""))

            def do_POST(self) -> None:
                size = int(self.headers.get("content-length", "0"))
                form = {name: texts[0] for name, texts in parse_qs(self.rfile.read(size).decode()).items()}
                self._answer(provider.answer(self.path, form, self.headers.get("authorization", "")))

            def _answer(self, found: tuple[int, Any]) -> None:
                data = found[1] if isinstance(found[1], bytes) else json.dumps(found[1]).encode()
                self.send_response(found[0])
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    @property
    def issuer(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, path: str, form: dict[str, str], authorization: str) -> tuple[int, Any]:
        path = urlsplit(path).path
        self.asked.append(path)
        if path in self.answers:
            return 200, self.answers[path]
        if path == "/.well-known/openid-configuration":
            names = {"authorization_endpoint": "authorize", "token_endpoint": "token", "jwks_uri": "keys"}
            return 200, {"issuer": self.issuer, **{name: f"{self.issuer}/{at}" for name, at in names.items()}}
        if path == "/keys":
            return 200, {"keys": [self.key.as_dict(private=False)]}
        if path == "/token":
            return self._token(form, authorization)
        return 404, {}

    def sign_in(self, address: str, subject: str, **claims: Any) -> dict[str, str]:
        """What the browser brings back that was sent to an address: a code, and the state."""
        asked = {name: texts[0] for name, texts in parse_qs(urlsplit(address).query).items()}
        assert address.startswith(f"{self.issuer}/authorize?")
        assert (asked["response_type"], asked["client_id"]) == ("code", CLIENT)
        assert asked["code_challenge_method"] == "S256"
        assert "openid" in asked["scope"].split()
        code = f"code-{len(self.codes)}"
        self.codes[code] = {**asked, "claims": json.dumps({"sub": subject, **claims})}
        return {"code": code, "state": asked["state"]}

    def _token(self, form: dict[str, str], authorization: str) -> tuple[int, Any]:
        asked = self.codes.pop(form.get("code", ""), None)
        if asked is None or form.get("redirect_uri") != asked["redirect_uri"]:
            return 400, {"error": "invalid_grant"}
        verifier = base64url(sha256(form.get("code_verifier", "").encode()).digest())
        _, _, basic = authorization.partition(" ")
        known = urlsafe_b64decode(basic + "==").decode() if basic else ""
        if verifier != asked["code_challenge"] or known != f"{CLIENT}:{SECRET}":
            return 400, {"error": "invalid_grant"}
        at = int(time.time())
        claims = {"iss": self.issuer, "aud": CLIENT, "iat": at, "exp": at + 300, "nonce": asked["nonce"]}
        claims |= json.loads(asked["claims"]) | self.claims
        claims = {name: value for name, value in claims.items() if value is not None}
        token = jwt.encode(self.header, claims, self.signing)
        return 200, {"access_token": "a", "token_type": "Bearer", "expires_in": 300, "id_token": token}
