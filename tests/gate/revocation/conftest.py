"""A state folder with a key that revokes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from vigil_lang.gate.authority.keys import Key, write_key
from vigil_lang.gate.log.log import create_log
from vigil_lang.gate.state import StateFolder

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def key() -> Key:
    return Key.new()


@pytest.fixture
def folder(tmp_path: Path, key: Key) -> StateFolder:
    place = tmp_path / "state"
    place.mkdir(mode=0o700)
    made = StateFolder(place)
    create_log(made)
    write_key(key, str(made.keys / "revoker.pem"))
    made.settings.write_text(f'[revocation]\nkeys = ["{key.public}"]\n\n[authority.chains]\nmailer = "/nowhere"\n')
    return made
