"""The settings as the JSON Schema has them, and values as TOML writes them."""

from __future__ import annotations

import json
import re
from typing import Any

from vigil_lang.project.schema import schema
from vigil_lang.project.validate import tables

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def properties(table: str) -> dict[str, Any]:
    """What the schema says of the settings of a table."""
    whole = schema()
    found = whole["definitions"][tables()[table].__name__] if table else whole
    return {name: about for name, about in found["properties"].items() if "$ref" not in about}


SETTINGS = {f"{table}.{name}".lstrip("."): about for table in tables() for name, about in properties(table).items()}
"""What the schema says of each setting, by its name from the top of the file."""


def in_toml(value: Any) -> str:
    """A value of JSON as TOML."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(name)} = {in_toml(inner)}" for name, inner in value.items()) + "}"
    return f"[{', '.join(map(in_toml, value))}]" if isinstance(value, list) else json.dumps(value)


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else json.dumps(name)
