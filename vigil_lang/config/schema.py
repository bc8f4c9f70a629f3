"""The JSON Schema of `vigil.toml`, and of `[tool.vigil]`, for editors: docs/vigil.schema.json."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from vigil_lang.config.select import ALL
from vigil_lang.config.settings import Settings
from vigil_lang.config.table import KEYS, LEVELS, SECTIONS, WORD, Key
from vigil_lang.diagnostics import CODES

if TYPE_CHECKING:
    from collections.abc import Mapping

_CODE = {"$ref": "#/definitions/code"}
_PATH = {"type": "string", "minLength": 1}


def schema() -> dict[str, Any]:
    """A schema in draft 07 that allows what is read without a finding, as far as a schema can say it."""
    properties = {key.name: _property(key) for key in KEYS if not key.parts[0]}
    for section, doc in SECTIONS.items():
        inner = {key.parts[1]: _property(key) for key in KEYS if key.parts[0] == section}
        properties[section] = {"description": doc, **_table(inner)}
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Vigil",
        "description": "Settings of Vigil: vigil.toml, or the table tool.vigil of pyproject.toml.",
        **_table(properties),
        "definitions": {"code": _code()},
    }


def schema_text() -> str:
    """The schema as it is stored."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


def default(key: Key) -> object:
    """What counts where a setting is not given, as JSON; None stands for nothing."""
    section, name = key.parts
    holder = getattr(Settings(), section) if section else Settings()
    value = getattr(holder, name.replace("-", "_"))
    return list(value) if isinstance(value, tuple) else value


def _table(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": False, "properties": properties}


def _property(key: Key) -> dict[str, Any]:
    value = default(key)
    return {
        "description": key.doc,
        **_type(key),
        **({} if value is None else {"default": value}),
        "examples": [_example(key)],
    }


def _type(key: Key) -> Mapping[str, Any]:
    match key.kind:
        case "bool":
            return {"type": "boolean"}
        case "choice":
            return {"type": "string", "enum": list(key.choices)}
        case "share":
            return {"type": "number", "minimum": 0, "maximum": 1}
        case "percent":
            return {"type": "number", "minimum": 0, "maximum": 100}
        case "whole" | "amount":
            kind = "integer" if key.kind == "whole" else "number"
            return {"type": kind, "minimum": key.least, "maximum": key.most}
        case "word":
            return {"type": "string", "pattern": f"^{WORD.pattern}$"}
        case "path":
            return _PATH
        case "paths" | "globs":
            return {"type": "array", "items": _PATH}
        case "codes":
            return {"type": "array", "items": _CODE}
        case "codes by glob":
            return {"type": "object", "additionalProperties": {"type": "array", "items": _CODE}}
        case "levels by code":
            level = {"type": "string", "enum": list(LEVELS)}
            return {"type": "object", "propertyNames": _CODE, "additionalProperties": level}
        case "params":
            scalar = {"type": ["string", "number", "boolean"]}
            return {"type": "object", "additionalProperties": {"anyOf": [scalar, {"type": "array", "items": scalar}]}}


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


def _example(key: Key) -> object:
    import tomllib

    value: object = tomllib.loads(f"x = {key.example}", parse_float=Decimal)["x"]
    return float(value) if isinstance(value, Decimal) else value
