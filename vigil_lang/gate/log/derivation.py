"""Deciding again: what the kernel is given is recorded, and what it answers has to be what was recorded.

The inputs of a decision lie in the side store, the policies that were in force in `policies/DIGEST.json`.
"""

from __future__ import annotations

from collections import OrderedDict
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from vigil_lang.base.files import read_bytes
from vigil_lang.gate.canonical import digest
from vigil_lang.gate.decide import Action, Approval, Authority, Tier, decide
from vigil_lang.patterns import regex

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from vigil_lang.gate.decide import Decision, Reason, Table
    from vigil_lang.semantics.core import Condition

MAX_BUNDLE = 64_000_000
"""Bytes of the largest policy bundle that is read."""

_MEMORY = 4096
_ENCODE = msgspec.json.Encoder(order="deterministic").encode
_DIGEST = regex(r"[0-9a-f]{64}")


class CannotDerive(Exception):
    """A decision cannot be derived again: its policies are missing, or its inputs are none. The text says why."""


class KernelInputs(NamedTuple):
    """What the kernel is given, but for the policies."""

    action: Action
    authority: Authority
    tier: Tier
    approvals: tuple[Approval, ...]


def read_bundle(policies: Path, digest: str) -> bytes:
    """The policies that a digest stands for, from a folder whose content nobody vouches for.

    Raises:
        OSError, ValueError: they cannot be read, or are others.
    """
    if not _DIGEST.fullmatch(digest):
        raise ValueError("it is no digest")
    data = read_bytes(policies / f"{digest}.json", MAX_BUNDLE)
    if sha256(data).hexdigest() != digest:
        raise ValueError("the file has another digest than its name")
    return data


def inputs_json(given: KernelInputs, grants: Sequence[str], request: object, who: object) -> dict[str, Any]:
    """What is recorded of a decision's inputs: `grants` are the texts of the authority's grants, `request` is the
    action as it was asked for."""
    action: dict[str, Any] = msgspec.to_builtins(given.action)
    authority: dict[str, Any] = msgspec.to_builtins(msgspec.structs.replace(given.authority, grants=()))
    return {
        **_untagged(action),
        "action": request,
        "who": who,
        "broken": [_untagged(each) for each in action["broken"]],
        "authority": {**_untagged(authority), "grants": list(grants)},
        "tier": _untagged(msgspec.to_builtins(given.tier)),
        "approvals": [_untagged(msgspec.to_builtins(each)) for each in given.approvals],
    }


def inputs_of(recorded: Mapping[str, Any], grant: Callable[[str], Condition]) -> KernelInputs:
    """What the kernel was given; `grant` reads the text of a grant.

    Raises:
        CannotDerive: it is not what `inputs_json` makes.
    """
    try:
        authority = dict(recorded["authority"])
        grants = tuple(map(grant, authority.pop("grants")))
        members = {name: recorded[name] for name in Action.__struct_fields__ if name in recorded}
        return KernelInputs(
            msgspec.convert(members, Action),
            msgspec.structs.replace(msgspec.convert(authority, Authority), grants=grants),
            msgspec.convert(recorded["tier"], Tier),
            tuple(msgspec.convert(each, Approval) for each in recorded["approvals"]),
        )
    except Exception as error:  # whoever wrote it, the answer is that nothing can be derived of it
        raise CannotDerive(f"its recorded inputs are none: {type(error).__name__}: {error}") from error


def reason_json(reason: Reason) -> dict[str, Any]:
    """A reason as entries have it."""
    return _untagged(msgspec.to_builtins(reason))


def difference(entry: Mapping[str, Any], derived: Decision) -> str | None:
    """In what an entry differs from the decision that was derived again, None where it does not."""
    if entry.get("mode") != derived.mode:
        return f"it says {_shown(entry.get('mode'))}, and its inputs give {derived.mode}"
    reasons = [reason_json(each) for each in derived.reasons]
    recorded = entry.get("reasons")
    if not isinstance(recorded, list) or len(recorded) != len(reasons):
        return f"it does not give the {len(reasons)} reasons that its inputs give"
    for at, (told, found) in enumerate(zip(recorded, reasons, strict=True)):
        right = isinstance(told, dict) and {"kind", "asks", "name"} <= told.keys()
        if not right or any(found.get(name, value) != value for name, value in told.items() if name != "is"):
            return f"reason {at} is not the one that its inputs give, {found['kind']} {found['name']}"
    if (entry.get("approvals") or []) != list(derived.approvals):
        return "it does not rest on the approvals that its inputs give"
    if (entry.get("record") or {}) != {name: list(values) for name, values in derived.record}:
        return "it does not record what its inputs give"
    return None


def misstated(entry: Mapping[str, Any], recorded: Mapping[str, Any]) -> str | None:
    """What an entry says of its action that its recorded inputs do not, None where nothing."""
    tier = recorded.get("tier")
    told = {
        "action_digest": digest(recorded.get("action")),
        "binding": recorded.get("binding"),
        "likeness": recorded.get("likeness"),
        "tier": tier.get("level") if isinstance(tier, dict) else None,
    }
    wrong = next((name for name, value in told.items() if entry.get(name) != value), None)
    return None if wrong is None else f"its `{wrong}` is not that of its inputs"


class Derivation:
    """Derives decisions again with the policies that are kept in a folder.

    `rules_of_bundle` makes rules of what a file of it holds, `grant` a condition of the text of a grant; both are
    asked once for each, and may raise anything.
    """

    def __init__(
        self, policies: Path, rules_of_bundle: Callable[[bytes], Table], grant: Callable[[str], Condition]
    ) -> None:
        self._policies = policies
        self._rules_of_bundle = rules_of_bundle
        self._read_grant = grant
        self._tables: dict[str, Table | CannotDerive] = {}
        self._grants: OrderedDict[str, Condition] = OrderedDict()
        self._known: OrderedDict[bytes, Decision] = OrderedDict()

    def derived(self, policy_digest: object, recorded: Mapping[str, Any]) -> Decision:
        """The decision that recorded inputs lead to under some policies.

        Raises:
            CannotDerive: the policies are not there or cannot be used, or it is no recording of inputs.
        """
        table = self._table(policy_digest)
        given = inputs_of(recorded, self._grant)
        key = self._key(policy_digest, recorded)
        found = self._known.get(key)
        if found is None:
            found = decide(given.action, given.authority, given.tier, table, given.approvals)
            self._known[key] = found
            if len(self._known) > _MEMORY:
                self._known.popitem(last=False)
        return found

    def _key(self, policy_digest: object, recorded: Mapping[str, Any]) -> bytes:
        """The digest of all that a decision depends on; the time does so only where there are approvals."""
        left_out = {"action", "who"} if recorded["approvals"] else {"action", "who", "at"}
        members = {name: value for name, value in recorded.items() if name not in left_out}
        return sha256(_ENCODE([policy_digest, members])).digest()

    def _table(self, policy_digest: object) -> Table:
        if not isinstance(policy_digest, str):
            raise CannotDerive("it does not say which policies were in force")
        found = self._tables.get(policy_digest)
        if found is None:
            try:
                found = self._rules_of_bundle(read_bundle(self._policies, policy_digest))
            except Exception as error:  # the policies are data of the folder, which is not trusted
                found = CannotDerive(f"its policies, {policy_digest}, cannot be used: {error}")
            self._tables[policy_digest] = found
        if isinstance(found, CannotDerive):
            raise found
        return found

    def _grant(self, text: str) -> Condition:
        found = self._grants.get(text)
        if found is None:
            found = self._grants[text] = self._read_grant(text)
            if len(self._grants) > _MEMORY:
                self._grants.popitem(last=False)
        return found


def _untagged(node: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in node.items() if name != "is"}


def _shown(value: object) -> str:
    return value[:20] if isinstance(value, str) else "no mode"
