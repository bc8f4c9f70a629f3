"""What others check without the folder: a proof that the log has an entry, and a witness's word that it only grew."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from vigil_lang.base.files import read_bytes
from vigil_lang.gate.log.key_chain import signed_by
from vigil_lang.gate.log.notes import MAX_NOTE, Note, NoteError, VerifierKey
from vigil_lang.gate.log.reading import CannotRead, LogCopy, Signed, read_small, reason, signed
from vigil_lang.gate.log.tree import consistency_proof, consistent, inclusion_proof, leaf_hash, root_of
from vigil_lang.gate.state import StateError, StateFolder
from vigil_lang.gate.storage.files import replace
from vigil_lang.gate.storage.folder import FolderStorage

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from vigil_lang.gate.log.notes import Signer

PROOF_HEADER = "c2sp.org/tlog-proof@v1"


class Inconsistent(Exception):
    """The log is not what it was: a finding, not an error. The text says what differs."""


class Proof(NamedTuple):
    """That a log has an entry at a place (c2sp.org/tlog-proof): the path to the root of a checkpoint."""

    seq: int
    path: tuple[bytes, ...]
    note: Note

    def __str__(self) -> str:
        path = "".join(f"{base64.b64encode(step).decode()}\n" for step in self.path)
        return f"{PROOF_HEADER}\nindex {self.seq}\n{path}\n{self.note}"


def prove(log: LogCopy, seq: int) -> Proof:
    """A proof that a log has an entry, by its newest checkpoint.

    Raises:
        CannotRead: it has no such entry, no checkpoint covers it yet, or something cannot be read.
        Inconsistent: the log is not the one that the checkpoint covers.
    """
    found = log.newest()
    if seq >= found.checkpoint.size:
        raise CannotRead(f"the newest checkpoint covers {found.checkpoint.size:,} entries: none of them is {seq}")
    leaves = _covered(log, found)
    return Proof(seq, tuple(inclusion_proof(seq, leaves)), found.note)


class Seen(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a witness saw of a log last: its key, the size and the root."""

    vkey: str
    size: int
    root: str


class Witness:
    """A witness: its key, and a file outside the logs' folders in which it remembers what it saw of each log.

    Raises:
        CannotRead: the file cannot be read.
    """

    def __init__(self, signer: Signer, memory: Path) -> None:
        self._signer = signer
        self._memory = memory
        try:
            self._seen = msgspec.json.decode(read_small(memory), type=dict[str, Seen])
        except FileNotFoundError:
            self._seen = {}
        except (OSError, ValueError) as error:
            raise CannotRead(f"what the witness remembers, {memory}, cannot be read: {reason(error)}") from None

    def cosign(self, log: LogCopy, at: int, key: VerifierKey | None = None) -> Signed:
        """The newest checkpoint with this witness's cosignature, at a time in POSIX seconds.

        It is remembered before anyone has the cosignature. `key` is the log's: it is needed the first time, unless the
        folder is trusted to name it.

        Raises:
            Inconsistent: the log did not only grow since, or is not what it signed; nothing is cosigned.
            CannotRead: something cannot be read.
        """
        found = log.newest()
        known = self._seen.get(found.checkpoint.origin)
        key = self._key(log, key, known)
        try:
            if found.checkpoint.origin != key.name or not found.note.signed_by(key):
                raise Inconsistent(f"the newest checkpoint is not signed by {key.name}")
        except NoteError as error:
            raise Inconsistent(str(error)) from None
        size = found.checkpoint.size
        if known is not None and size < known.size:
            raise Inconsistent(f"the newest checkpoint covers {size:,} entries; {known.size:,} were seen before")
        leaves = _covered(log, found)
        if known is not None and known.size:
            old = base64.b64decode(known.root)
            path = consistency_proof(known.size, leaves)
            if not consistent(known.size, size, old, found.checkpoint.root, path):
                raise Inconsistent(f"the log is not the one whose first {known.size:,} entries were seen before")
        now = log.key()
        if now != key and signed_by(found.note, now):  # the log was rotated to it: both have signed
            key = now
        self._seen[key.name] = Seen(str(key), size, base64.b64encode(found.checkpoint.root).decode())
        try:
            replace(self._memory, msgspec.json.format(msgspec.json.encode(self._seen), indent=1) + b"\n")
        except OSError as error:
            raise CannotRead(f"what the witness remembers, {self._memory}, cannot be written: {error}") from None
        mine = self._signer.key
        others = tuple(each for each in found.note.signatures if (each.name, each.key_id) != (mine.name, mine.id))
        note = Note(found.note.text, (*others, self._signer.cosign(found.note.text, at)))
        return Signed(found.checkpoint, note)

    def _key(self, log: LogCopy, given: VerifierKey | None, known: Seen | None) -> VerifierKey:
        try:
            remembered = None if known is None else VerifierKey.parse(known.vkey)
        except NoteError as error:
            raise CannotRead(f"what the witness remembers of the log is damaged: {error}") from None
        if given is not None and remembered is not None and given != remembered:
            raise Inconsistent("the log had another key when it was seen before")
        return given or remembered or log.key()


def add_cosignature(folder: StateFolder, found: Signed) -> None:
    """Put a checkpoint with a further cosignature in the place of the one that is there.

    Raises:
        StateError: it cannot be written, or is not the checkpoint of that size.
    """
    size = found.checkpoint.size
    with folder.lock():
        try:
            there = signed(read_small(folder.checkpoints / str(size)))
            if there.note.text != found.note.text:
                raise StateError(f"checkpoints/{size} is another checkpoint")
            new = [each for each in found.note.signatures if each not in there.note.signatures]
            replaced = {(each.name, each.key_id) for each in new}
            kept = [each for each in there.note.signatures if (each.name, each.key_id) not in replaced]
            FolderStorage(folder).publish(size, str(Note(there.note.text, (*kept, *new))))
        except (OSError, NoteError) as error:
            raise StateError(f"checkpoints/{size} cannot be written: {reason(error)}") from error


def _covered(log: LogCopy, found: Signed) -> Sequence[bytes]:
    """The hashes of the leaves that a checkpoint covers.

    Raises:
        CannotRead: the log cannot be read.
        Inconsistent: it is not the one that the checkpoint covers.
    """
    leaves: list[bytes] = []
    before: bytes | None = None
    for line in log.lines():
        if len(leaves) == found.checkpoint.size:
            break
        if before is not None:
            leaves.append(leaf_hash(before))
        before = line
    if len(leaves) < found.checkpoint.size:
        raise Inconsistent(f"the log has {len(leaves):,} entries, its checkpoint covers {found.checkpoint.size:,}")
    if root_of(leaves) != found.checkpoint.root:
        raise Inconsistent(f"the log is not the one that its checkpoint of {found.checkpoint.size:,} entries covers")
    return leaves


def any_key(text: str) -> VerifierKey:
    """A verifier key as it is given on a command line: itself, or a file that holds one.

    Raises:
        CannotRead: it is neither.
    """
    try:
        return VerifierKey.parse(text)
    except NoteError as error:
        try:
            return VerifierKey.parse(read_bytes(text, MAX_NOTE).decode())
        except OSError:
            raise CannotRead(f"{error}; and there is no file of this name") from None
        except (NoteError, ValueError) as inner:
            raise CannotRead(f"the file {text} holds no verifier key: {inner}") from None
