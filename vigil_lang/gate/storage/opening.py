"""The storage that the settings name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.gate.storage.folder import FolderStorage

if TYPE_CHECKING:
    from vigil_lang.gate.settings import Settings
    from vigil_lang.gate.state import StateFolder
    from vigil_lang.gate.storage.storage import Storage


def open_storage(folder: StateFolder, settings: Settings) -> Storage:
    """The storage of a gate.

    Raises:
        StateError: it is a database that cannot be opened.
    """
    if settings.storage.postgres is None:
        return FolderStorage(folder, settings.log.durability)
    from vigil_lang.gate.storage.postgres import PostgresStorage

    return PostgresStorage(folder, settings.storage.postgres)
