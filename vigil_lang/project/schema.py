"""The JSON Schema of `vigil.toml`, and of `[tool.vigil]`, for editors: docs/vigil.schema.json."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from vigil_lang.diagnostics import CODES
from vigil_lang.project.selection import ALL
from vigil_lang.project.settings import Configuration


def schema() -> dict[str, Any]:
    """A schema in draft 07 that allows what is read without a finding, as far as a schema can say it."""
    _, tables = msgspec.json.schema_components([Configuration], ref_template="#/definitions/{name}")
    top = {**tables.pop("Configuration"), "title": "Vigil"}
    return {"$schema": "http://json-schema.org/draft-07/schema#", **top, "definitions": {**tables, "code": _code()}}


def schema_text() -> str:
    """The schema as it is stored."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


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
