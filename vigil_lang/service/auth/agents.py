"""Sessions of agents: who proves that it has its key gets a token for one run, and nobody has a shared secret."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from vigil_lang.gate.authority.chain import MAX_BYTES, verify_chain
from vigil_lang.gate.authority.keys import public_bytes
from vigil_lang.gate.authority.proof import WINDOW, is_proof, signed_part
from vigil_lang.gate.canonical import NotCanonical, canonical
from vigil_lang.gate.request import MAX_NAME
from vigil_lang.service.auth.authentication import AGENT_SECONDS
from vigil_lang.service.errors import Refused

if TYPE_CHECKING:
    from starlette.requests import Request

    from vigil_lang.gate.authority.chain import Chain
    from vigil_lang.gate.gate import Gate
    from vigil_lang.service.auth.authentication import Authentication

_Name = Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_NAME)]


class SessionRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What an agent sends to begin a session in a run. `signature` (base64url) is what its `key` made of the canonical
    JSON of {run, agent, chain, audience, at, nonce}, `chain` being the id of the chain's last link there, or null.

    `audience` is the log's origin, `at` POSIX seconds; `chain` has the envelopes of the chain that it acts under.
    """

    run: _Name
    agent: _Name
    audience: Annotated[str, msgspec.Meta(max_length=256)]
    at: int
    nonce: Annotated[str, msgspec.Meta(min_length=16, max_length=128)]
    key: Annotated[str, msgspec.Meta(max_length=60)]
    signature: Annotated[str, msgspec.Meta(max_length=100)]
    chain: Annotated[list[Any], msgspec.Meta(min_length=1, max_length=8)] | None = None


class SessionAnswer(msgspec.Struct, frozen=True):
    """The token of a session, for `Authorization: Bearer`, and until when it is good (POSIX seconds)."""

    token: str
    expires_at: int


class SessionAbout(msgspec.Struct, frozen=True):
    """What an agent has to know before it proves who it is: the audience, and the service's time (POSIX seconds)."""

    audience: str
    at: int


async def begin(gate: Gate, auth: Authentication, request: Request, asked: SessionRequest) -> SessionAnswer:
    """A session of an agent.

    Raises:
        Refused: 403, the proof is none, is too old, was used before, or its key may not act for the agent; 429.
        StateError: nothing can be judged.
    """
    auth.attempts.check(f"agent at {auth.address(request)} {asked.key}")
    try:
        chain, data = await auth.run(lambda: _judged(gate, auth, asked))
        if chain is None and gate.settings.service.agents.get(asked.agent) != asked.key:
            raise Refused(403, "proof", "the settings do not name this key for the agent, and it has no chain")
        session = await auth.change(
            lambda: auth.membership.begin_agent(asked.run, asked.agent, asked.key, asked.nonce, data, AGENT_SECONDS)
        )
    except Refused as error:
        raise await auth.refusal(request, "proof", error.message, who=asked.agent) from None
    return SessionAnswer(auth.agent_token(session), session.until)


def _judged(gate: Gate, auth: Authentication, asked: SessionRequest) -> tuple[Chain | None, bytes | None]:
    """The chain that an agent presented, and its bytes, where the proof is right."""
    at = int(time.time())
    if asked.audience != auth.audience:
        raise Refused(403, "proof", "the proof is for another gate")
    if abs(at - asked.at) > WINDOW:
        raise Refused(403, "proof", f"the proof is more than {WINDOW} s away from the gate's clock")
    named = gate.settings.service.agents.get(asked.agent)
    if public_bytes(asked.key) is None or named not in (None, asked.key):
        raise Refused(403, "proof", "the key is none, or not the one that the settings name for the agent")
    chain, data = None, None
    revoked = gate.revoked()
    if asked.chain is not None:
        try:
            data = canonical(asked.chain)
        except NotCanonical:
            raise Refused(403, "proof", "the chain is none") from None
        if len(data) > MAX_BYTES:
            raise Refused(403, "proof", "the chain is too long")
        chain = verify_chain(data, gate.settings.authority.roots, auth.audience, at, revoked)
        if chain.problems:
            raise Refused(403, "proof", f"the chain does not count: {chain.problems[0].message}")
        if chain.holder != asked.key:
            raise Refused(403, "proof", "the chain is another key's")
    try:
        leaf = None if chain is None else chain.digest
        signed = signed_part(asked.run, asked.agent, leaf, asked.audience, asked.at, asked.nonce)
    except NotCanonical:
        raise Refused(403, "proof", "the names have no canonical form") from None
    if not is_proof(asked.key, asked.signature, signed):
        raise Refused(403, "proof", "the signature is not one of the key over this proof")
    gone = revoked.reasons(asked.agent, asked.run, [asked.key], [])
    if gone or revoked.fault:
        raise Refused(403, "proof", "; ".join(gone) or str(revoked.fault))
    return chain, data
