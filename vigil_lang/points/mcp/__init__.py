"""The MCP proxy: it stands between a client and its MCP servers, and asks the gate about each call of a tool."""
