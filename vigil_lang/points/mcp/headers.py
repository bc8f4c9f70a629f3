"""The HTTP headers of a message to a server behind a URL, by the package mcp."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcp.shared.inbound import (
    MCP_METHOD_HEADER,
    MCP_NAME_HEADER,
    MCP_PROTOCOL_VERSION_HEADER,
    NAME_BEARING_METHODS,
    encode_header_value,
    find_invalid_x_mcp_header,
    mcp_param_headers,
    x_mcp_header_map,
)

from vigil_lang.points.mcp.ends import era_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vigil_lang.points.mcp.messages import Message


def headers_of(
    method: str | None, params: Message | None, version: str | None, tools: Mapping[str, dict[str, Any]]
) -> dict[str, str]:
    """What the transport of a message's era wants: of the stateless one its version, method, name and parameters; of
    the handshake one the `version` that was agreed on."""
    params = params or {}
    era = era_of(params)
    if era is None or method is None:
        return {} if version is None or method == "initialize" else {MCP_PROTOCOL_VERSION_HEADER: version}
    found = {MCP_PROTOCOL_VERSION_HEADER: era, MCP_METHOD_HEADER: method}
    name = params.get(NAME_BEARING_METHODS.get(method, ""))
    if isinstance(name, str):
        found[MCP_NAME_HEADER] = encode_header_value(name)
    if method == "tools/call" and isinstance(name, str) and name in tools:
        schema, arguments = tools[name].get("inputSchema"), params.get("arguments") or {}
        if find_invalid_x_mcp_header(schema) is None:
            found |= mcp_param_headers(x_mcp_header_map(schema), arguments)
    return found
