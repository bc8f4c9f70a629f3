"""What a browser and a passkey are asked: to make a passkey, to sign in with one, to sign a person's word on holds."""

from __future__ import annotations

import json
import time
from secrets import token_bytes
from typing import TYPE_CHECKING, Any

from webauthn import (
    generate_authentication_options,
    generate_registration_options,
    options_to_json,
    verify_authentication_response,
    verify_registration_response,
)
from webauthn.helpers import base64url_to_bytes, decode_credential_public_key
from webauthn.helpers.cose import COSEAlgorithmIdentifier
from webauthn.helpers.decode_credential_public_key import DecodedEC2PublicKey, DecodedOKPPublicKey, DecodedRSAPublicKey
from webauthn.helpers.exceptions import WebAuthnException
from webauthn.helpers.structs import (
    AuthenticatorSelectionCriteria,
    PublicKeyCredentialDescriptor,
    ResidentKeyRequirement,
    UserVerificationRequirement,
)

from vigil_lang.gate.canonical import base64url
from vigil_lang.gate.passkeys import Ecdsa, Eddsa, NoAssertion, Rsa, cose_key, passkey_name, relying_parties
from vigil_lang.service.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vigil_lang.gate.people import Passkey, Person
    from vigil_lang.service.auth.authentication import Authentication

TICKET_SECONDS = 300
"""How long a question to a passkey is good for."""

_REGISTRATION, _SIGN_IN = "registration of a passkey", "sign-in by a passkey"
_NO_ANSWER = "this is no answer of a passkey"
_MAX_ID = 1400
_ALGORITHMS = [
    COSEAlgorithmIdentifier.ECDSA_SHA_256,
    COSEAlgorithmIdentifier.EDDSA,
    COSEAlgorithmIdentifier.RSASSA_PKCS1_v1_5_SHA_256,
]


def registration(auth: Authentication, person: Person, session: str) -> dict[str, Any]:
    """What a browser is asked to make a passkey: `{"publicKey": …, "ticket": …}`."""
    challenge = token_bytes(32)
    options = generate_registration_options(
        rp_id=auth.rp,
        rp_name="Vigil",
        user_id=person.id.encode(),
        user_name=person.name,
        challenge=challenge,
        timeout=TICKET_SECONDS * 1000,
        authenticator_selection=AuthenticatorSelectionCriteria(
            resident_key=ResidentKeyRequirement.REQUIRED, user_verification=UserVerificationRequirement.REQUIRED
        ),
        exclude_credentials=_descriptors(person.passkeys),
        supported_pub_key_algs=_ALGORITHMS,
    )
    said: dict[str, object] = {"challenge": base64url(challenge), "session": session}
    ticket = auth.sealer.sealed(_REGISTRATION, said, int(time.time()) + TICKET_SECONDS)
    return {"publicKey": json.loads(options_to_json(options)), "ticket": ticket}


def registered(auth: Authentication, origin: str, session: str, answer: Mapping[str, Any]) -> tuple[str, str]:
    """The name of a passkey that a browser made, and its credential's id.

    Raises:
        Refused: 400 it is no answer, 403 it does not answer the question of this session.
    """
    said = opened_ticket(auth, _REGISTRATION, answer)
    if said["session"] != session:
        raise Refused(403, "passkey", "this answers a question of another session")
    try:
        found = verify_registration_response(
            credential=credential_of(answer),
            expected_challenge=base64url_to_bytes(said["challenge"]),
            expected_rp_id=auth.rp,
            expected_origin=origin,
            require_user_verification=True,
            supported_pub_key_algs=_ALGORITHMS,
        )
        name = passkey_name(_key(found.credential_public_key))
        cose_key(name)
    except (WebAuthnException, NoAssertion) as error:
        raise Refused(403, "passkey", f"the passkey cannot be taken: {error}"[:300]) from None
    except Exception:  # the library lets errors of its parsers through
        raise Refused(400, "passkey", _NO_ANSWER) from None
    credential = base64url(found.credential_id)
    if len(credential) > _MAX_ID:
        raise Refused(400, "passkey", "the passkey's id is too long")
    return name, credential


def sign_in(auth: Authentication) -> dict[str, Any]:
    """What a browser is asked to sign in with whichever passkey of the page it has."""
    challenge = token_bytes(32)
    ticket = auth.sealer.sealed(_SIGN_IN, {"challenge": base64url(challenge)}, int(time.time()) + TICKET_SECONDS)
    return {"publicKey": asked(auth, challenge, ()), "ticket": ticket}


async def signed_in(auth: Authentication, origin: str, answer: Mapping[str, Any]) -> tuple[Person, str]:
    """The person whose passkey answered, and the proof of it, which is good once.

    Raises:
        Refused: 400 it is no answer, 403 it does not answer the question, or the passkey is nobody's.
        StateError: nothing can be judged.
    """
    said = opened_ticket(auth, _SIGN_IN, answer)
    credential = credential_of(answer)
    name = credential_id(credential)
    auth.attempts.check(f"passkey {name}")
    known = await auth.run(lambda: auth.membership.with_credential(name))
    if known is None:
        raise Refused(403, "passkey", "nobody here has this passkey")
    person, passkey = known
    try:
        verify_authentication_response(
            credential=dict(credential),
            expected_challenge=base64url_to_bytes(said["challenge"]),
            expected_rp_id=auth.rp,
            expected_origin=origin,
            credential_public_key=cose_key(passkey.key),
            credential_current_sign_count=0,
            require_user_verification=True,
        )
    except WebAuthnException as error:
        raise Refused(403, "passkey", f"the passkey did not sign in: {error}"[:300]) from None
    except Exception:  # the library lets errors of its parsers through
        raise Refused(400, "passkey", _NO_ANSWER) from None
    return person, said["challenge"]


def asked(auth: Authentication, challenge: bytes, passkeys: Sequence[Passkey]) -> dict[str, Any]:
    """What a browser asks a passkey to sign: one of some, or any of the page's."""
    options = generate_authentication_options(
        rp_id=auth.rp,
        challenge=challenge,
        timeout=TICKET_SECONDS * 1000,
        allow_credentials=_descriptors(passkeys),
        user_verification=UserVerificationRequirement.REQUIRED,
    )
    found: dict[str, Any] = json.loads(options_to_json(options))
    return found


def credential_id(credential: Mapping[str, Any]) -> str:
    """The id of the credential that an answer is of.

    Raises:
        Refused: 400, it has none.
    """
    found = credential.get("id")
    if not isinstance(found, str) or not found or len(found) > _MAX_ID or credential.get("rawId") != found:
        raise Refused(400, "passkey", _NO_ANSWER)
    return found


def response_bytes(credential: Mapping[str, Any], name: str) -> bytes:
    """Bytes in the response of an answer.

    Raises:
        Refused: 400, it has none.
    """
    response = credential.get("response")
    found = response.get(name) if isinstance(response, dict) else None
    try:
        if isinstance(found, str) and found.isascii() and len(found) < 20_000:
            return base64url_to_bytes(found)
    except ValueError:
        pass
    raise Refused(400, "passkey", _NO_ANSWER)


def credential_of(answer: Mapping[str, Any]) -> dict[str, Any]:
    """The credential in an answer.

    Raises:
        Refused: 400, there is none.
    """
    found = answer.get("credential")
    if not isinstance(found, dict):
        raise Refused(400, "passkey", _NO_ANSWER)
    return found


def opened_ticket(auth: Authentication, purpose: str, answer: Mapping[str, Any]) -> dict[str, Any]:
    """What the ticket in an answer says.

    Raises:
        Refused: 403, it is none of the purpose, or its time is over.
    """
    ticket = answer.get("ticket")
    said = auth.sealer.opened(purpose, ticket, int(time.time())) if isinstance(ticket, str) else None
    if said is None:
        raise Refused(403, "passkey", "the question was not asked here, or too long ago: try again")
    return said


def is_own_origin(auth: Authentication, client_data: bytes) -> bool:
    """Whether a browser says that it was on a page of this service."""
    try:
        origin = json.loads(client_data)["origin"]
    except (ValueError, KeyError, TypeError):
        return False
    if auth.settings.origin is not None:
        return bool(origin == auth.settings.origin.rstrip("/"))
    return isinstance(origin, str) and relying_parties(origin)[:1] == ["localhost"]


def _descriptors(passkeys: Sequence[Passkey]) -> list[PublicKeyCredentialDescriptor]:
    return [PublicKeyCredentialDescriptor(id=base64url_to_bytes(each.credential)) for each in passkeys]


def _key(cose: bytes) -> Ecdsa | Eddsa | Rsa:
    """A key that an authenticator made, of the kinds that a passkey is named by."""
    match decode_credential_public_key(cose):
        case DecodedEC2PublicKey(x=x, y=y, crv=1):
            return Ecdsa(x, y)
        case DecodedOKPPublicKey(x=x, crv=6):
            return Eddsa(x)
        case DecodedRSAPublicKey(n=n, e=b"\x01\x00\x01"):
            return Rsa(n.lstrip(b"\x00"))
        case _:
            raise NoAssertion("its key is of another kind")
