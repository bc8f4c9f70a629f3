"""A server for tests, of both eras: `python scripted_server.py [MODE]` on standard streams."""

from __future__ import annotations

import sys

import anyio
from mcp.server.mcpserver import Context, MCPServer

server = MCPServer("scripted")


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool()
def fail(why: str) -> str:
    """Fail."""
    raise ValueError(why)


@server.tool()
async def count(n: int, ctx: Context) -> str:
    """Count, with progress."""
    for at in range(n):
        await ctx.report_progress(at, n, f"at {at}")
    return "counted"


@server.tool()
async def sleep(seconds: float) -> str:
    """Sleep."""
    await anyio.sleep(seconds)
    return "slept"


@server.tool()
def delete_all(path: str) -> str:
    """Delete all."""
    return f"deleted {path}"


@server.tool()
def pay(amount: int) -> str:
    """Pay."""
    return f"paid {amount}"


@server.resource("note://{name}")
def note(name: str) -> str:
    """A note."""
    return f"note {name}"


@server.resource("fixed://one")
def fixed() -> str:
    """A fixed one."""
    return "one"


@server.prompt()
def greet(name: str) -> str:
    """Greet."""
    return f"Hello {name}"


if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1] == "http":
        server.run("streamable-http", port=int(sys.argv[2]))
    else:
        server.run()
