"""Signals: a number from 0 to 1 that a registered source says of a run, and how long it counts. Never a text."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import msgspec

from vigil_lang.diagnostics.visible import visible
from vigil_lang.gate.authority.dsse import opened, pae
from vigil_lang.gate.authority.keys import verify
from vigil_lang.gate.canonical import NotCanonical, base64url, canonical
from vigil_lang.gate.strict_json import Malformed, read_json

if TYPE_CHECKING:
    from vigil_lang.gate.settings import Source, TierSettings

PAYLOAD_TYPE = "application/vnd.vigil.signal+json"
"""The DSSE payload type of a signed signal."""

SKEW = 60
"""Seconds by which the clock of a source that signs may differ; an older signal is a replayed one."""

MAX_BYTES = 10_000
"""Bytes of the longest envelope of a signal."""

LONGEST_NAME = 512
"""Characters of the longest name of a run."""


class Refused(ValueError):
    """A signal that does not count: its source is unknown, it is not signed as it must be, or it is none."""


class Signal(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a source says of a run: `at` in microseconds since 1970, `until` when it counts in POSIX seconds.

    `score` is None where the source failed: it raised, hung, or answered something else than a number.
    """

    run: str
    source: str
    score: float | None
    at: int
    until: int

    def __post_init__(self) -> None:
        if self.score is not None and not 0 <= self.score <= 1:
            raise ValueError("a score is a number from 0 to 1")

    def members(self) -> dict[str, Any]:
        """What the log's `signal` entry says, beside the time that it is stamped with."""
        return {name: value for name, value in msgspec.to_builtins(self).items() if name != "at"}


class Signed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The payload of a signed signal, in its canonical form. `issued` and `until` are in POSIX seconds."""

    v: int
    run: str
    source: str
    score: float
    issued: int
    until: int


def local_signal(settings: TierSettings, run: str, source: str, score: float, seconds: int | None, at: int) -> Signal:
    """A signal that somebody on this machine gives. It counts for so many seconds, at most for the source's window.

    Raises:
        Refused: the source is not registered or has a key, the score is no number from 0 to 1, or the name of the run
            is empty, too long or no text that can be hashed.
    """
    registered = _registered(settings, source)
    if registered.key is not None:
        raise Refused(f"the source `{visible(source)}` has a key: its signals have to be signed with it")
    return _signal(registered, run, source, score, registered.window if seconds is None else seconds, at)


def signed_payload(run: str, source: str, score: float, seconds: int, at: int) -> bytes:
    """The payload that a source with a key signs.

    Raises:
        Refused: the name of the run has no canonical form, or the score is not finite.
    """
    try:
        return canonical(msgspec.to_builtins(Signed(1, run, source, float(score), at, at + seconds)))
    except NotCanonical as error:
        raise Refused(f"the signal cannot be signed: {error}") from error


def signed_members(settings: TierSettings, envelope: bytes, at: int) -> dict[str, Any]:
    """What the log's `signal` entry says of a signal in a DSSE envelope, its signature included: with these members
    alone anybody can verify it again, and nothing else of the envelope enters.

    Raises:
        Refused: the envelope or its payload is none, or the payload is not in its canonical form; the source is not
            registered, has no key or has not signed; the signal was not made within the last `SKEW` seconds.
    """
    try:
        held = opened(read_json(envelope, MAX_BYTES))
        given = msgspec.json.decode(held.payload, type=Signed)
        same = canonical(msgspec.to_builtins(given)) == held.payload
    except (Malformed, msgspec.MsgspecError, NotCanonical, UnicodeDecodeError, RecursionError) as error:
        raise Refused("this is no signed signal") from error
    if held.payload_type != PAYLOAD_TYPE or given.v != 1 or not same:
        raise Refused("this is no signed signal of version 1 in its canonical form")
    key = _registered(settings, given.source).key
    signed = pae(held.payload_type, held.payload)
    found = next((each for each in held.signatures if key is not None and verify(key, each, signed)), None)
    if key is None or found is None:
        raise Refused(f"the signal is not signed with the key of the source `{visible(given.source)}`")
    if abs(at - given.issued) > SKEW:
        raise Refused(f"the signal was not made within the last {SKEW} s")
    signal = _signal(
        settings.sources[given.source], given.run, given.source, given.score, given.until - given.issued, given.issued
    )
    return {**signal.members(), "by": key, "signed": msgspec.to_builtins(given), "signature": base64url(found)}


def failed(settings: TierSettings, run: str, source: str, at: int) -> Signal:
    """That a registered source could not say anything."""
    return Signal(run, source, None, at * 1_000_000, at + _registered(settings, source).window)


def _registered(settings: TierSettings, source: str) -> Source:
    found = settings.sources.get(source)
    if found is None:
        raise Refused(f"the source `{visible(source[:LONGEST_NAME])}` is not registered in the settings")
    return found


def _signal(registered: Source, run: str, source: str, score: float, seconds: int, at: int) -> Signal:
    if not run or len(run) > LONGEST_NAME or any("\ud800" <= letter <= "\udfff" for letter in run):
        raise Refused(f"the name of a run has 1 to {LONGEST_NAME} whole characters")
    if not math.isfinite(score) or not 0 <= score <= 1:
        raise Refused("a score is a number from 0 to 1")
    if seconds <= 0:
        raise Refused("a signal counts for at least one second")
    return Signal(run, source, float(score), at * 1_000_000, at + min(seconds, registered.window))
