"""Chains of signed grants: what a chain has to be to count, and what it grants then."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple, Protocol, TypeAlias

import msgspec

from vigil_lang.diagnostics import InputError
from vigil_lang.gate.authority.dsse import Envelope, opened, pae
from vigil_lang.gate.authority.grants import grant_condition
from vigil_lang.gate.authority.keys import public_bytes, verify
from vigil_lang.gate.canonical import MAX_INTEGER
from vigil_lang.gate.strict_json import Malformed, read_json

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

PAYLOAD_TYPE = "application/vnd.vigil.grant+json"
MAX_LINKS = 8
MAX_BYTES = 65_536

Per: TypeAlias = Literal["run", "hour", "day"]
Whole: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=MAX_INTEGER)]
_Text: TypeAlias = Annotated[str, msgspec.Meta(min_length=1, max_length=256)]
_Digest: TypeAlias = Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f]{64}\Z")]

ProblemKind: TypeAlias = Literal[
    "format", "payload", "grant", "signature", "root", "issuer", "parent", "depth", "audience", "not_yet", "expired",
    "revoked", "until",
]  # fmt: skip
"""What keeps a chain from counting (docs/authority.md); `until` is for who is told that a limit is over."""


_FORGED = frozenset({"format", "payload", "signature", "root", "issuer", "parent"})
"""Kinds of problems that anybody can make."""


class Limits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How many calls a link lets pass in a run, an hour or a day, and until when (POSIX seconds)."""

    calls: Whole
    until: Whole
    per: Per


class Payload(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the envelope of a link holds. Times are POSIX seconds; keys are written `ed25519:…`."""

    v: Literal[1]
    iss: str
    sub: str
    aud: _Text
    grant: str
    limits: Limits
    nbf: Whole
    exp: Whole
    depth: Whole
    parent: _Digest | None
    nonce: _Text


class Link(NamedTuple):
    """A link of a chain: its id, hexadecimal SHA-256 of what is signed, and what it says."""

    id: str
    payload: Payload


class Problem(NamedTuple):
    """What keeps a chain from counting. `link` counts from 0, the root; None where it is the whole file."""

    link: int | None
    kind: ProblemKind
    message: str


class Chain(msgspec.Struct, frozen=True):
    """A chain as it was read. With problems it grants nothing.

    `links` are those that could be read; `digest` is the leaf's id, empty where it could not.
    """

    links: tuple[Link, ...]
    digest: str
    problems: tuple[Problem, ...] = ()

    @property
    def holder(self) -> str:
        """The key that acts under the chain; empty where the leaf could not be read."""
        return self.links[-1].payload.sub if self.digest else ""

    @property
    def grants(self) -> tuple[str, ...]:
        """The texts of its grants, each of which has to allow a call; none where there are problems."""
        return () if self.problems else tuple(link.payload.grant for link in self.links)

    @property
    def limits(self) -> tuple[Limits, ...]:
        """The limits of its links, all of which count; none where there are problems."""
        return () if self.problems else tuple(link.payload.limits for link in self.links)


class Revoked(Protocol):
    """What a revocation list says of a link, by its id, and of a public key."""

    def link(self, id: str, /) -> bool: ...  # noqa: A002 - what it is

    def key(self, public: str, /) -> bool: ...


class NothingRevoked:
    """Where no list is kept."""

    def link(self, id: str, /) -> bool:  # noqa: A002, ARG002
        """Never."""
        return False

    def key(self, public: str, /) -> bool:  # noqa: ARG002
        """Never."""
        return False


def verify_chain(data: bytes, roots: Collection[str], audience: str, at: int, revoked: Revoked | None = None) -> Chain:
    """Read a chain and find all that keeps it from counting for an audience at a moment, in POSIX seconds.

    `roots` are the keys whose word counts by itself. Whatever the bytes are, the answer is a chain.
    """
    try:
        envelopes = _array(read_json(data, MAX_BYTES))
    except Malformed as error:
        return Chain((), "", (Problem(None, "format", f"{error}"),))
    problems: list[Problem] = []
    links: list[Link | None] = []
    for place, value in enumerate(envelopes):
        try:
            envelope = opened(value)
            link = link_of(envelope)
        except _BadPayload as error:
            problems.append(Problem(place, "payload", f"{error}"))
            links.append(None)
        except Malformed as error:
            problems.append(Problem(place, "format", f"{error}"))
            links.append(None)
        else:
            before = links[-1] if links else None
            wrong = [*_alone(link, envelope, audience, at, revoked or NothingRevoked())]
            if place == 0:
                wrong += _as_root(link, roots)
            elif before is not None:
                wrong += _after(link, before)
            if _FORGED.isdisjoint([kind for kind, _ in wrong] + [each.kind for each in problems]):
                wrong += _of_grant(link.payload.grant)  # which takes the longest, and is for those who may sign
            problems += [Problem(place, kind, message) for kind, message in wrong]
            links.append(link)
    leaf = links[-1]
    return Chain(tuple(link for link in links if link is not None), leaf.id if leaf else "", tuple(problems))


class _BadPayload(Malformed):
    """An envelope's payload is none of a link."""


_Wrong: TypeAlias = tuple[ProblemKind, str]


def _array(value: object) -> list[object]:
    if not isinstance(value, list) or not value:
        raise Malformed("a chain is a JSON array of envelopes, the root's first")
    if len(value) > MAX_LINKS:
        raise Malformed(f"a chain has at most {MAX_LINKS} links")
    return value


def link_of(envelope: Envelope) -> Link:
    """The link that an envelope holds, by itself and without its signature.

    Raises:
        Malformed: it has another type, or its payload is none of a link.
    """
    if envelope.payload_type != PAYLOAD_TYPE:
        raise Malformed(f"the payload's type is not {PAYLOAD_TYPE}")
    try:
        value = read_json(envelope.payload, MAX_BYTES)
        payload = msgspec.convert(value, Payload, strict=True)
    except msgspec.ValidationError as error:
        raise _BadPayload(_of_member(error)) from None
    except Malformed as error:
        raise _BadPayload(f"the payload: {error}") from None
    for name in ("iss", "sub"):
        if public_bytes(getattr(payload, name)) is None:
            raise _BadPayload(f"`{name}` is no Ed25519 key as `ed25519:` and base64url")
    return Link(hashlib.sha256(pae(envelope.payload_type, envelope.payload)).hexdigest(), payload)


def _of_member(error: msgspec.ValidationError) -> str:
    message, _, place = str(error).partition(" - at `$.")
    return f"`{place.rstrip('`')}`: {message[:1].lower()}{message[1:]}" if place else message[:1].lower() + message[1:]


def _alone(link: Link, envelope: Envelope, audience: str, at: int, revoked: Revoked) -> Iterator[_Wrong]:
    """What is wrong with a link whatever stands beside it."""
    payload = link.payload
    signed = pae(envelope.payload_type, envelope.payload)
    if not any(verify(payload.iss, signature, signed) for signature in envelope.signatures):
        yield "signature", "no signature is its issuer's"
    if payload.aud != audience:
        yield "audience", "it is for another audience"
    if at < payload.nbf:
        yield "not_yet", f"it does not count before {payload.nbf}"
    if at >= payload.exp:
        yield "expired", f"it has not counted since {payload.exp}"
    if revoked.link(link.id):
        yield "revoked", "the link is revoked"
    for name, key in (("issuer", payload.iss), ("holder", payload.sub)):
        if revoked.key(key):
            yield "revoked", f"the key of its {name} is revoked"


def _of_grant(text: str) -> Iterator[_Wrong]:
    try:
        grant_condition(text)
    except InputError as error:
        first = error.diagnostics[0]
        line, column = first.source.position(first.span.start)
        yield "grant", f"its grant does not read: {first.message} (line {line}, column {column})"


def _as_root(link: Link, roots: Collection[str]) -> Iterator[_Wrong]:
    if link.payload.parent is not None:
        yield "parent", "the first link of a chain has no parent"
    if link.payload.iss not in roots:
        yield "root", "its issuer is none of the roots"


def _after(link: Link, before: Link) -> Iterator[_Wrong]:
    payload, parent = link.payload, before.payload
    if payload.parent != before.id:
        yield "parent", "its parent is not the link before it"
    if payload.iss != parent.sub:
        yield "issuer", "its issuer is not the holder of the link before it"
    if payload.depth >= parent.depth:
        yield "depth", "the link before it allows no link of this depth after it"
