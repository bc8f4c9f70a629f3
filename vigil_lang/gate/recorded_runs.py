"""Statements along recorded runs, for the replay of a log: what each call would have violated, judged anew."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from vigil_lang.gate.following import begun, proposed
from vigil_lang.gate.layers import policies_of
from vigil_lang.gate.log.derivation import CannotDerive, read_bundle

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from vigil_lang.gate.following import LiveRun
    from vigil_lang.gate.layers import LayeredPolicies


class RecordedRuns:
    """Follows runs of a log by the policies that are kept in a folder, each read once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: dict[str, LayeredPolicies | str] = {}

    def follow(self, _run: str) -> RecordedRun:
        """What follows one run."""
        return RecordedRun(self)

    def policies(self, digest: str) -> LayeredPolicies:
        """The policies of a digest.

        Raises:
            CannotDerive: they are not there, or mean something else to this version.
        """
        found = self._known.get(digest)
        if found is None:
            try:
                found = policies_of(read_bundle(self._folder, digest))
            except (OSError, ValueError) as error:
                found = f"its statements cannot be followed: {error}"
            self._known[digest] = found
        if isinstance(found, str):
            raise CannotDerive(found)
        return found


class RecordedRun:
    """One run, taken in entry by entry; policies that change in its midst judge it from its beginning."""

    def __init__(self, runs: RecordedRuns) -> None:
        self._runs = runs
        self._entries: list[tuple[int, Mapping[str, Any], Any]] = []
        self._live: LiveRun | None = None
        self._digest = ""

    def proposed(self, policy_digest: str, inputs: Mapping[str, Any]) -> list[dict[str, Any]]:
        """What a call would violate, as the recorded inputs have it in `broken`.

        Raises:
            CannotDerive: the policies are not there, or the run did not begin in the log.
        """
        policies = self._runs.policies(policy_digest)
        live = self._followed(policies, policy_digest)
        proposal = live.propose(*proposed(inputs))
        own = frozenset(event.id for event in proposal.events)
        found: list[dict[str, Any]] = msgspec.to_builtins([policies.broken(each, own) for each in proposal.broken])
        for each in found:
            del each["is"]
        return found

    def happened(self, seq: int, entry: Mapping[str, Any], value: Any) -> None:
        """An entry of the run, with its plain value (None where it has none, or that was deleted)."""
        self._entries.append((seq, entry, value))
        if self._live is not None:
            self._live.take_in(seq, entry, value)

    def _followed(self, policies: LayeredPolicies, digest: str) -> LiveRun:
        if self._live is None or digest != self._digest:
            if not self._entries or self._entries[0][1]["kind"] != "run_start":
                raise CannotDerive("the log does not have the beginning of its run")
            (first, start, _), *others = self._entries
            self._live, self._digest = begun(policies, first, start), digest
            for seq, entry, value in others:
                self._live.take_in(seq, entry, value)
        return self._live
