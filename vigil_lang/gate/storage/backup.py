"""A backup of a gate is a state folder: it can be checked, and put in place again (docs/postgres.md)."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from vigil_lang.gate.holds import Holds
from vigil_lang.gate.log.log import Log
from vigil_lang.gate.log.reading import CannotRead, LogCopy
from vigil_lang.gate.log.side_store import SideStore
from vigil_lang.gate.log.verifying import verify
from vigil_lang.gate.settings import read_settings
from vigil_lang.gate.state import StateError, StateFolder
from vigil_lang.gate.storage.files import sync_folder
from vigil_lang.gate.storage.folder import FolderStorage
from vigil_lang.gate.storage.opening import open_storage
from vigil_lang.gate.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from vigil_lang.gate.storage.storage import Storage

RESTORED = "the log was restored from a backup"
"""Why holds and approvals of a restored log count no more."""

_OWN = ("gate.toml", "log.vkey", "revocations.seen", "mcp", "installed", "keys")
"""What a backup has of a node's folder as it is."""

_CACHES = ("index.sqlite", "index.sqlite-wal", "index.sqlite-shm", "frontier", "runs", "lock")
"""What is made anew of the log, and stands for no other one."""


def backup(folder: StateFolder, target: Path, *, keys: bool = True) -> int:
    """Write a backup of the gate of a state folder, whole or not at all; gives the number of its entries.

    Decisions go on meanwhile. It ends with a checkpoint. Without `keys` it has none: it can be checked, not restored.

    Raises:
        StateError: the state cannot be read, or something is in the way.
        OSError: it cannot be written.
    """
    settings = read_settings(folder.settings)
    if os.path.lexists(target):
        raise StateError(f"{target} is there already")
    storage = open_storage(folder, settings)
    try:
        log = Log(storage, settings.log)
        with storage.lock():
            log.refresh()
            if log.size:
                log.checkpoint()
            entries, end = log.size, log.place
        beside = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.absolute().parent))
        try:
            for name in _OWN if keys else _OWN[:-1]:
                _copy(folder.path / name, beside / name)
            _write_log(storage, StateFolder(beside), entries, end)
            beside.rename(target)
            sync_folder(target.absolute().parent)
        finally:
            shutil.rmtree(beside, ignore_errors=True)
    except (CannotRead, sqlite3.Error) as error:
        raise StateError(f"the state cannot be read: {error}") from error
    finally:
        storage.close()
    return entries


def _write_log(storage: Storage, copy: StateFolder, entries: int, end: int) -> None:
    """Write what a storage has of the first entries into a folder."""
    _write(copy.log, (line + b"\n" for line in storage.lines(0, end)))
    copy.checkpoints.mkdir(mode=0o700)
    newest = None
    for size, note in storage.checkpoints():
        if size <= entries:
            _write(copy.checkpoints / str(size), [note])
            newest = note
    if newest is not None:
        _write(copy.checkpoint, [newest])
    copy.policies.mkdir(mode=0o700)
    for digest, data in storage.bundles():
        _write(copy.policies / f"{digest}.json", [data])
    if storage.revocation_stamp() is not None:
        _write(copy.revocations, [storage.revocations()[1]])
    with closing(SideStore(copy.plain)) as side:
        side.put(storage.all_plain(entries))


def restore(source: Path, target: Path) -> int:
    """Put a backup in place: in a folder that is not there or empty, or in the place that the settings of a folder
    name, where its log is empty. Gives the number of its entries.

    What was approved and not used, and what waits, counts no more: what the backup does not know may have used it up.

    Raises:
        StateError: the backup is damaged or has no keys, there is a log already, or it is another one's.
        OSError: it cannot be written.
    """
    _check(source)
    is_new = not target.exists() or not any(target.iterdir())
    if is_new:
        _put_in_place(source, target)
    folder = StateFolder(target)
    settings = read_settings(folder.settings)
    if not is_new and settings.storage.postgres is None:
        raise StateError(f"{target} is there already")
    if folder.log_vkey.read_bytes() != (source / "log.vkey").read_bytes():
        raise StateError(f"the backup is one of another log than {folder.log_vkey} names")
    for name in _CACHES:
        _remove(target / name)
    with closing(FolderStorage(StateFolder(source))) as copy:
        copy.open_log()
        entries = sum(1 for _ in copy.lines(0, copy.look()[1]))
        if settings.storage.postgres is not None:
            _fill(folder, settings.storage.postgres, copy, entries)
    storage = open_storage(folder, settings)
    try:
        log = Log(storage, settings.log)
        holds = Holds(storage, log, Store(storage, log), settings.holds)
        holds.void(RESTORED, lambda _: True)
    finally:
        storage.close()
    return entries


def _fill(folder: StateFolder, conninfo: str, copy: FolderStorage, entries: int) -> None:
    from vigil_lang.gate.storage.postgres import PostgresStorage

    with closing(PostgresStorage(folder, conninfo)) as database:
        database.fill(copy, entries)


def _check(source: Path) -> None:
    """Refuse a backup that is damaged, or that nothing could be decided with."""
    if not (source / "keys" / "log.pem").is_file():
        raise StateError(f"{source} has no key of the log: it can be checked, not restored")
    audit = verify(LogCopy(source))
    if audit.problems:
        raise StateError(f"the backup {source} is damaged: {audit.problems[0].message}")


def _put_in_place(source: Path, target: Path) -> None:
    target.mkdir(mode=0o700, parents=True, exist_ok=True)
    for each in sorted(source.iterdir()):
        _copy(each, target / each.name)


def _copy(source: Path, target: Path) -> None:
    """Copy a file, or a folder of files, for the user alone; one that is missing is passed over.

    Links to files are followed, for secrets are mounted as such; in a folder, those to folders are not.
    """
    if source.is_dir():
        target.mkdir(mode=0o700)
        for each in sorted(source.iterdir()):
            if not (each.is_symlink() and each.is_dir()):
                _copy(each, target / each.name)
    elif source.is_file():
        _write(target, [source.read_bytes()])


def _write(path: Path, parts: Iterable[bytes] | Iterator[bytes]) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "wb") as stream:
        stream.writelines(parts)
        stream.flush()
        os.fsync(handle)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
