"""What the Messages API refuses of a request by its form, as far as drafting can get it wrong."""

from __future__ import annotations

from typing import Any

_MEMBERS = {"model", "max_tokens", "messages", "system", "stream", "output_config"}
_KEYWORDS = {
    "type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf", "description",
    "title", "$defs", "$ref", "minItems",
}  # fmt: skip
_EFFORTS = ("low", "medium", "high", "xhigh", "max")
_MOST_BREAKPOINTS = 4


def fault(body: dict[str, Any], *, counting: bool = False) -> str | None:
    """Why the API would refuse a request, or None. A request that counts tokens has no `max_tokens`."""
    members = _MEMBERS - {"max_tokens", "stream"} if counting else _MEMBERS
    if unknown := sorted(set(body) - members):
        return f"{unknown[0]}: Extra inputs are not permitted"
    if missing := [name for name in ("model", "messages", *(() if counting else ("max_tokens",))) if name not in body]:
        return f"{missing[0]}: Field required"
    if not counting and body["max_tokens"] < 1:
        return "max_tokens: must be at least 1"
    return _messages(body) or _output(body.get("output_config", {}))


def _messages(body: dict[str, Any]) -> str | None:
    roles = [message["role"] for message in body["messages"]]
    if not roles or roles[0] != "user" or not set(roles) <= {"user", "assistant"}:
        return "messages: the first message must be of the user"
    if roles[-1] != "user":
        return "messages: This model does not support assistant message prefill"
    system = body.get("system", [])
    blocks = list(system) if isinstance(system, list) else []
    for message in body["messages"]:
        content = message["content"]
        blocks += content if isinstance(content, list) else []
        if not content:
            return "messages: all messages must have non-empty content"
    if any(block["type"] == "text" and not block["text"].strip() for block in blocks):
        return "messages: text content blocks must contain non-whitespace text"
    if sum("cache_control" in block for block in blocks) > _MOST_BREAKPOINTS:
        return "A maximum of 4 blocks with cache_control may be provided"
    return None


def _output(config: dict[str, Any]) -> str | None:
    if "effort" in config and config["effort"] not in _EFFORTS:
        return f"output_config.effort: {config['effort']!r} is not one of {', '.join(_EFFORTS)}"
    if "format" not in config:
        return None
    if config["format"].get("type") != "json_schema":
        return "output_config.format.type: must be json_schema"
    schema = config["format"]["schema"]
    return _schema(schema, schema.get("$defs", {}), ())


def _schema(schema: dict[str, Any], definitions: dict[str, Any], within: tuple[str, ...]) -> str | None:
    if unknown := sorted(set(schema) - _KEYWORDS):
        return f"output_config.format.schema: For '{schema.get('type')}' type, property '{unknown[0]}' is not supported"
    if schema.get("minItems", 0) not in (0, 1):
        return "output_config.format.schema: For 'array' type, 'minItems' values other than 0 or 1 are not supported"
    if "$ref" in schema:
        name = schema["$ref"].removeprefix("#/$defs/")
        if name in within:
            return "output_config.format.schema: Circular reference detected"
        return _schema(definitions[name], definitions, (*within, name))
    if schema.get("type") == "object":
        if schema.get("additionalProperties") is not False:
            return "output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly false"
        if set(schema["required"]) != set(schema["properties"]):
            return "output_config.format.schema: every property is to be required"
    parts = [*schema.get("properties", {}).values(), *schema.get("anyOf", ())]
    parts += [schema["items"]] if "items" in schema else []
    return next((wrong for part in parts if (wrong := _schema(part, definitions, within)) is not None), None)
