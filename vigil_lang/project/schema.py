"""The JSON Schema of `vigil.toml`, and of `[tool.vigil]`, for editors: docs/vigil.schema.json."""

from __future__ import annotations

import json
from inspect import cleandoc
from typing import TYPE_CHECKING, Any

import msgspec

from vigil_lang.diagnostics import CODES
from vigil_lang.project.selection import ALL
from vigil_lang.project.settings import Configuration

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vigil_lang.project.settings import Table


def schema() -> dict[str, Any]:
    """The schema of the configuration."""
    return schema_of(Configuration, "Vigil", {"code": _code()})


def schema_of(table: type[Table], title: str, definitions: Mapping[str, Any]) -> dict[str, Any]:
    """A schema in draft 07 that allows what is read without a finding, as far as a schema can say it."""
    _, tables = msgspec.json.schema_components([table], ref_template="#/definitions/{name}")
    for each in tables.values():
        if "description" in each:  # the docstring of a table, which not every msgspec takes from its indentation
            each["description"] = cleandoc(each["description"])
    top = {**tables.pop(table.__name__), "title": title}
    return {"$schema": "http://json-schema.org/draft-07/schema#", **top, "definitions": {**tables, **definitions}}


def schema_text(found: Mapping[str, Any]) -> str:
    """A schema as it is stored."""
    return json.dumps(found, indent=2, ensure_ascii=False) + "\n"


def _code() -> dict[str, Any]:
    """Codes, with what each means for editors that show it, and the beginnings of some."""
    summaries = {ALL: "every code but VGL501", **{code.id: code.summary for code in CODES.values()}}
    prefixes = sorted({code[:size] for code in CODES for size in (3, 4, 5)})
    return {
        "description": "A code, the beginning of some (VGL3), or ALL.",
        "type": "string",
        "anyOf": [
            {"enum": list(summaries), "x-taplo": {"docs": {"enumValues": list(summaries.values())}}},
            {"pattern": f"^({'|'.join(prefixes)})$"},
        ],
    }
