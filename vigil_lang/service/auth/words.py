"""What a person says of holds with a passkey: the challenge is what is signed, her answer becomes `Signed` words."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Literal

from vigil_lang.gate.confirmation import signed_approval, signed_denial, wrong_signature
from vigil_lang.gate.holds import RELEASE_USES, HoldError, Signed
from vigil_lang.gate.passkeys import MAX_BATCH, challenge_of, is_made_for, word_of
from vigil_lang.service.auth import ceremonies
from vigil_lang.service.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vigil_lang.gate.people import Person
    from vigil_lang.service.auth.principal import Principal
    from vigil_lang.service.service import Service

_WORDS = "word on holds"


async def challenge(
    service: Service,
    principal: Principal,
    holds: Sequence[str],
    what: Literal["approve", "deny"],
    *,
    release: int | None = None,
) -> dict[str, Any]:
    """What a browser asks a passkey: `{"publicKey": {…}, "ticket": "…"}`.

    `publicKey` is for `navigator.credentials.get`, as `PublicKeyCredential.parseRequestOptionsFromJSON` reads it; the
    ticket goes to `confirmed`. `release` is so many seconds from now.

    Raises:
        Refused: 400 a hold twice or too many, 403 she has no passkey or may not, 404 a hold is not there, 409 one waits
            no more.
        StateError: nothing can be judged.
    """
    if not 1 <= len(holds) <= MAX_BATCH or len(set(holds)) < len(holds):
        raise Refused(400, "holds", f"a passkey signs for 1 to {MAX_BATCH} different holds at once")
    person = await _person(service, principal)
    if not person.passkeys:
        raise Refused(403, "no_passkey", "add a passkey first: people confirm and deny with one")
    gate = service.gate
    until = None if release is None else gate.holds.now() + release
    uses = gate.holds.uses if until is None else RELEASE_USES
    said: dict[str, object] = {
        "session": principal.session,
        "what": what,
        "holds": [*holds],
        "uses": uses,
        "end": until,
    }
    digests = await service.run(lambda: _digests(service, said))
    ticket = service.auth.sealer.sealed(_WORDS, said, int(time.time()) + ceremonies.TICKET_SECONDS)
    return {"publicKey": ceremonies.asked(service.auth, challenge_of(digests), person.passkeys), "ticket": ticket}


async def confirmed(service: Service, principal: Principal, answer: Mapping[str, Any]) -> list[Signed]:
    """The words in an answer `{"ticket": "…", "credential": {…}}`, for `Holds.approve` or `Holds.deny`.

    `credential` is what `PublicKeyCredential.toJSON` gives.

    Raises:
        Refused: 400 it is no such answer, 403 it does not answer the challenge of this session, 404 or 409 as for
            `challenge`.
        StateError: nothing can be judged.
    """
    auth = service.auth
    person = await _person(service, principal)
    said = ceremonies.opened_ticket(auth, _WORDS, answer)
    if said["session"] != principal.session:
        raise Refused(403, "passkey", "this answers a question of another session")
    credential = ceremonies.credential_of(answer)
    name = ceremonies.credential_id(credential)
    passkey = next((each for each in person.passkeys if each.credential == name), None)
    if passkey is None:
        raise Refused(403, "passkey", "this passkey is not yours")
    digests = await service.run(lambda: _digests(service, said))
    client = ceremonies.response_bytes(credential, "clientDataJSON")
    word = word_of(
        ceremonies.response_bytes(credential, "authenticatorData"),
        client,
        ceremonies.response_bytes(credential, "signature"),
        digests if len(digests) > 1 else None,
    )
    names: list[str] = said["holds"]
    batch = names if len(names) > 1 else []
    wrong = wrong_signature(passkey.key, word, digests[0], names[0], batch)
    if wrong is None and not (is_made_for(word, auth.rp) and ceremonies.is_own_origin(auth, client)):
        wrong = "it was made on another page"
    if wrong is not None:
        raise Refused(403, "passkey", f"the passkey's answer does not count: {wrong}")
    return [Signed(each, passkey.key, word, said["uses"], said["end"]) for each in names]


async def _person(service: Service, principal: Principal) -> Person:
    """Who asks, with her passkeys."""
    name = principal.person
    person = None if name is None else await service.run(lambda: service.auth.membership.person(name))
    if person is None:
        raise Refused(403, "passkey", "only a person who signed in confirms or denies with a passkey")
    if not person.may("approver"):
        raise Refused(403, "role", "this is for the role approver")
    return person


def _digests(service: Service, said: Mapping[str, Any]) -> list[bytes]:
    """What is signed of each hold, in their order."""
    holds, found = service.gate.holds, []
    with holds.transaction():
        for name in said["holds"]:
            try:
                hold = holds.get(name)
            except HoldError as error:
                raise Refused(404, "unknown", str(error)) from None
            if hold.state != "pending" or holds.now() >= hold.expires:
                raise Refused(409, "hold", f"the hold `{name}` waits no more")
            if said["what"] == "deny":
                found.append(signed_denial(hold.opened))
            else:
                found.append(signed_approval(hold.opened, uses=said["uses"], release=said["end"]))
    return found
