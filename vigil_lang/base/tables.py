"""The tables of TOML that ship: read from the form that they are kept in beside, where that is of the same text.

Python reads TOML slowly: what a hook needs took it a tenth of its time. `stdlib/tables.json` has each table with the
digest of its text; a text that was changed since is read itself. `tests/test_tables.py` remakes it.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import msgspec

from vigil_lang.base.resources import resource

KEPT = ("vocabulary.toml", "tools/harnesses.toml", "tools/mcp.toml")
"""The tables of `stdlib` that every hook needs."""


class Kept(msgspec.Struct, frozen=True):
    """A table and the SHA-256 of the text that it was read from."""

    sha256: str
    table: dict[str, Any]


def table(name: str) -> dict[str, Any]:
    """What a TOML file of `stdlib` says, one of `KEPT`.

    Raises:
        OSError: it is not there.
    """
    text = resource("stdlib", *name.split("/")).read_bytes()
    try:
        found = _DECODE(resource("stdlib", "tables.json").read_bytes())
        kept = msgspec.json.decode(found[name], type=Kept)
        if kept.sha256 == sha256(text).hexdigest():
            return kept.table
    except (OSError, LookupError, ValueError):  # it is another's, or damaged: the text says all of it
        pass
    return parsed(text)


def parsed(text: bytes) -> dict[str, Any]:
    """What a text of TOML says."""
    import tomllib

    return tomllib.loads(text.decode("utf-8"))


def kept_form() -> bytes:
    """What `stdlib/tables.json` has to be."""
    texts = {name: resource("stdlib", *name.split("/")).read_bytes() for name in KEPT}
    found = {name: Kept(sha256(text).hexdigest(), parsed(text)) for name, text in texts.items()}
    return msgspec.json.format(msgspec.json.encode(found), indent=1) + b"\n"


_DECODE = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
