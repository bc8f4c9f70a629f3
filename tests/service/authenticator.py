"""An authenticator and the browser before it, in software: passkeys that are made and used as WebAuthn says."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from hashlib import sha256
from secrets import token_bytes
from typing import Any, Literal, TypeAlias

import cbor2
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.hashes import SHA256

from vigil_lang.gate.canonical import base64url

Algorithm: TypeAlias = Literal["ES256", "EdDSA", "RS256"]
PRESENT, VERIFIED, ATTESTED = 0x01, 0x04, 0x40


class Passkey:
    """A key pair for one site."""

    def __init__(self, rp: str, algorithm: Algorithm = "ES256") -> None:
        self.rp = rp
        self.id = token_bytes(16)
        self.count = 0
        self._private = {
            "ES256": lambda: ec.generate_private_key(ec.SECP256R1()),
            "EdDSA": ed25519.Ed25519PrivateKey.generate,
            "RS256": lambda: rsa.generate_private_key(65537, 2048),
        }[algorithm]()

    @property
    def cose(self) -> bytes:
        """The public key as COSE writes it."""
        match self._private:
            case ec.EllipticCurvePrivateKey():
                numbers = self._private.public_key().public_numbers()
                found = {1: 2, 3: -7, -1: 1, -2: numbers.x.to_bytes(32), -3: numbers.y.to_bytes(32)}
            case ed25519.Ed25519PrivateKey():
                found = {1: 1, 3: -8, -1: 6, -2: self._private.public_key().public_bytes_raw()}
            case _:
                modulus = self._private.public_key().public_numbers().n
                found = {1: 3, 3: -257, -1: modulus.to_bytes(256), -2: b"\x01\x00\x01"}
        return cbor2.dumps(found, canonical=True)

    @property
    def name(self) -> str:
        return f"passkey:{base64url(self.cose)}"

    def sign(self, data: bytes) -> bytes:
        match self._private:
            case ec.EllipticCurvePrivateKey():
                return self._private.sign(data, ec.ECDSA(SHA256()))
            case ed25519.Ed25519PrivateKey():
                return self._private.sign(data)
            case _:
                return self._private.sign(data, padding.PKCS1v15(), SHA256())


@dataclass
class Assertion:
    """What an authenticator answers to a challenge."""

    authenticator_data: bytes
    client_data: bytes
    signature: bytes


@dataclass
class Browser:
    """A browser on a page of an origin, with an authenticator that has passkeys."""

    origin: str = "https://vigil.example"
    passkeys: list[Passkey] = field(default_factory=list)

    @property
    def host(self) -> str:
        return self.origin.split("//")[1].split(":")[0]

    def use(self, passkey: Passkey, challenge: bytes, /, *, flags: int = PRESENT | VERIFIED, **said: Any) -> Assertion:
        """An assertion over a challenge; `said` changes what the browser says."""
        passkey.count += 1
        data = sha256(passkey.rp.encode()).digest() + bytes([flags]) + passkey.count.to_bytes(4)
        client = {"type": "webauthn.get", "challenge": base64url(challenge), "origin": self.origin}
        text = json.dumps({**client, "crossOrigin": False, **said}).encode()
        return Assertion(data, text, passkey.sign(data + sha256(text).digest()))

    def create(self, options: dict[str, Any], algorithm: Algorithm = "ES256") -> dict[str, Any]:
        """`navigator.credentials.create`: a new passkey, as `PublicKeyCredential.toJSON` gives it."""
        public = options["publicKey"]
        assert {each["alg"] for each in public["pubKeyCredParams"]} >= {-7}
        passkey = Passkey(public["rp"]["id"], algorithm)
        self.passkeys.append(passkey)
        data = sha256(passkey.rp.encode()).digest() + bytes([PRESENT | VERIFIED | ATTESTED]) + bytes(4)
        data += bytes(16) + len(passkey.id).to_bytes(2) + passkey.id + passkey.cose
        client = {"type": "webauthn.create", "challenge": public["challenge"], "origin": self.origin}
        attestation = cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": data})
        response = {
            "clientDataJSON": base64url(json.dumps(client).encode()),
            "attestationObject": base64url(attestation),
            "transports": ["internal"],
        }
        return self._credential(passkey, response)

    def get(self, options: dict[str, Any], **said: Any) -> dict[str, Any]:
        """`navigator.credentials.get` with a passkey that is allowed, as `PublicKeyCredential.toJSON` gives it."""
        public = options["publicKey"]
        allowed = {each["id"] for each in public.get("allowCredentials", ())}
        fits = [each for each in self.passkeys if each.rp == public["rpId"]]
        passkey = next(each for each in fits if not allowed or base64url(each.id) in allowed)
        challenge = public["challenge"]
        found = self.use(passkey, b"", challenge=challenge, **said)
        response = {
            "clientDataJSON": base64url(found.client_data),
            "authenticatorData": base64url(found.authenticator_data),
            "signature": base64url(found.signature),
            "userHandle": None,
        }
        return self._credential(passkey, response)

    def _credential(self, passkey: Passkey, response: dict[str, Any]) -> dict[str, Any]:
        name = base64url(passkey.id)
        return {
            "id": name,
            "rawId": name,
            "type": "public-key",
            "response": response,
            "clientExtensionResults": {},
            "authenticatorAttachment": "platform",
        }
