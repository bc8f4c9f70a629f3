"""Rotating the key of a log: it goes on under a new one, and who has either key can follow to the other.

An entry `log_key` names the new key. The checkpoint behind it is signed by both: by the old one, so that who knows that
one learns the new one; by the new one, so that who knows that one learns that all before is the same log. Whoever is
interrupted leaves a log that both keys sign, until the rotation is done again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from vigil_lang.gate.log.kinds import LOG_KEY
from vigil_lang.gate.log.log import new_key, signer_of
from vigil_lang.gate.log.notes import VerifierKey
from vigil_lang.gate.state import StateError
from vigil_lang.gate.storage.files import read, replace

if TYPE_CHECKING:
    from vigil_lang.gate.log.log import Log
    from vigil_lang.gate.state import StateFolder
    from vigil_lang.gate.storage.storage import Storage


class Rotated(NamedTuple):
    """The old key, the new one, and the number of entries that the checkpoint covers which both have signed."""

    before: VerifierKey
    key: VerifierKey
    size: int


def prepare(folder: StateFolder) -> VerifierKey:
    """Make the next key, `keys/log.next.pem`, where there is none: it signs nothing before the log is rotated to it.

    Raises:
        StateError: it cannot be read or written.
    """
    try:
        name = _known(folder).name
        found = signer_of(folder.next_log_key, name) or new_key(folder.next_log_key, name)
    except (OSError, ValueError) as error:
        raise StateError(f"the next key of the log cannot be made: {error}") from error
    return found.key


def rotate(log: Log, storage: Storage) -> Rotated:
    """Have the log go on under its next key, which is made where it was not prepared, and forget the old one.

    What was interrupted is ended.

    Raises:
        StateError: the log cannot be read or written; run again, it is ended.
    """
    folder = storage.folder
    try:
        with storage.lock():
            log.refresh()
            before, key = _known(folder), prepare(folder)
            if key == before:  # it was interrupted after `log.vkey`
                folder.next_log_key.replace(folder.log_key)
                return Rotated(before, key, log.signed_to)
            if key not in [each.key for each in log.signers()]:
                log.checkpoint()
                log.append(LOG_KEY, {"key": str(key), "before": str(before)})
            log.checkpoint()
            size = log.size
        # The new key is in the log for good: only now the old one is forgotten.
        replace(folder.log_vkey, f"{key}\n".encode())
        folder.next_log_key.replace(folder.log_key)
        log.keys_changed()
    except (OSError, ValueError) as error:
        raise StateError(f"the key of the log cannot be rotated: {error}") from error
    return Rotated(before, key, size)


def _known(folder: StateFolder) -> VerifierKey:
    return VerifierKey.parse(read(folder.log_vkey, 10_000).decode())
