"""The keys that signed a log, one after the other: from the one that an auditor trusts, as far as the log leads.

An entry `log_key` names the key that signs from there on. It is believed forward where a checkpoint behind it is signed
by both keys, and backward where the later key signed it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from vigil_lang.gate.log.notes import NoteError, VerifierKey

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vigil_lang.gate.log.notes import Note


class Term(NamedTuple):
    """A key, and the sizes of the checkpoints that it signs alone: more than `start`, and at most `end`."""

    key: VerifierKey
    start: int
    end: int | None

    def covers(self, size: int) -> bool:
        """Whether a checkpoint of a size has to be signed by this key."""
        return (self.start == 0 or size > self.start) and (self.end is None or size <= self.end)


class Rotation(NamedTuple):
    """An entry `log_key`: its number, the old key and the new one."""

    seq: int
    before: VerifierKey
    key: VerifierKey

    @classmethod
    def of(cls, seq: int, entry: Mapping[str, object]) -> Rotation:
        """As an entry has it.

        Raises:
            NoteError: it names no keys, or one of another log.
        """
        found = cls(seq, VerifierKey.parse(str(entry.get("before"))), VerifierKey.parse(str(entry.get("key"))))
        if found.before.name != found.key.name:
            raise NoteError("the new key is one of another log")
        return found


def terms(trusted: VerifierKey, rotations: Sequence[Rotation], notes: Sequence[tuple[int, Note]]) -> list[Term]:
    """The keys to believe, in order, where one is trusted. `notes` has checkpoints that fit the log, by size."""
    before: list[Rotation] = []
    after: list[Rotation] = []
    key = trusted
    for each in rotations:
        if each.before == key and _both(each, notes):
            after.append(each)
            key = each.key
    key = trusted
    for each in reversed(rotations):
        if each.key == key and any(size > each.seq and signed_by(note, key) for size, note in notes):
            before.append(each)
            key = each.before
    every = [*reversed(before), *after]
    keys = [*(each.before for each in every), every[-1].key if every else trusted]
    starts = [0, *(each.seq for each in every)]
    ends = [*(each.seq for each in every), None]
    return [Term(*each) for each in zip(keys, starts, ends, strict=True)]


def _both(rotation: Rotation, notes: Sequence[tuple[int, Note]]) -> bool:
    """Whether a checkpoint behind a rotation is signed by the old key and by the new one."""
    return any(
        size > rotation.seq and signed_by(note, rotation.before) and signed_by(note, rotation.key)
        for size, note in notes
    )


def signed_by(note: Note, key: VerifierKey) -> bool:
    """Whether a key signed a note; a signature that does not verify is none."""
    try:
        return note.signed_by(key)
    except NoteError:
        return False
