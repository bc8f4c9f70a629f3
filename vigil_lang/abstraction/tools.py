"""What a tool call is an instance of, by the tool's name: `stdlib/tools/*.toml` as data.

A name may be a tool's own (`Bash`), or carry the MCP server it belongs to (`mcp__github__create_issue`,
`github-create_issue`).
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from msgspec import field
from msgspec.structs import replace

from vigil_lang.base.structs import Frozen
from vigil_lang.base.tables import table
from vigil_lang.patterns import regex

if TYPE_CHECKING:
    from collections.abc import Mapping

_MCP = regex(
    r"mcp__(?P<server>.+?)__(?P<tool>.+)|mcp_(?P<one>[^_]+)_(?P<its>.+)|MCP:(?:(?P<named>[^:]+):)?(?P<plain>.+)"
)
_NOT_IN_A_NAME = regex(r"[^A-Za-z0-9]+")


class Tool(Frozen, frozen=True):
    """One table of the data; see the head of `harnesses.toml` for what the fields mean."""

    kinds: tuple[str, ...] = ()
    roles: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Role → names of arguments that may hold it, the first present one counts."""
    set: dict[str, str] = field(default_factory=dict)
    effects: dict[str, str] = field(default_factory=dict)
    shell: tuple[str, ...] = ()
    keeps: str = ""
    code: dict[str, tuple[str, ...]] = field(default_factory=dict)
    cwd: tuple[str, ...] = ()
    content: tuple[str, ...] = ()
    replaces: tuple[tuple[str, ...], ...] = ()
    edits: str = ""
    patch: tuple[str, ...] = ()
    shows: bool = False
    reads: str = ""
    by: dict[str, dict[str, Tool]] = field(default_factory=dict)
    adds: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Roles as in `roles` whose values stand beside those that the call has anyway."""
    is_shipped: bool = False

    @property
    def described(self) -> frozenset[str]:
        """The arguments of which something is said."""
        one_by_one = (self.shell, self.cwd, self.content, self.patch)
        return frozenset({self.edits}.union(*self.roles.values(), *self.code.values(), *self.replaces, *one_by_one))

    def of(self, args: dict[str, Any]) -> Tool:
        """The tool as it is with these arguments."""
        for name, values in self.by.items():
            value = args.get(name)
            if isinstance(value, str) and value in values:
                return values[value]
        return self


UNKNOWN = Tool()


@lru_cache(maxsize=4096)
def tool(name: str) -> Tool:
    """The tool of this name, `UNKNOWN` where the data has none."""
    own, servers = _tables()
    if name in own:
        return own[name]
    match = _MCP.fullmatch(name)
    if match:
        server = match["server"] or match["one"] or match["named"] or ""
        its = match["tool"] or match["its"] or match["plain"]
    else:
        server, _, its = name.rpartition("-")
        server, its = (server, its) if server else ("", name)
    told = _NOT_IN_A_NAME.sub("", server).lower()
    for known, tools in servers.items():
        if told and known in told and its in tools:
            return tools[its]
    # A name of one plain word (`get`, `search`) says nothing without its server.
    if "_" in its or its != its.lower():
        for tools in servers.values():
            if its in tools:
                return tools[its]
        if match and its in own:
            return own[its]
    return UNKNOWN


@cache
def _tables() -> tuple[dict[str, Tool], dict[str, dict[str, Tool]]]:
    """The harnesses' tools by name, and those of MCP servers by server and name."""
    own, servers = table("tools/harnesses.toml"), table("tools/mcp.toml")
    by_server = {server: named_tools(tools, shipped=True) for server, tools in servers.items()}
    return named_tools(own, shipped=True), by_server


def with_own(shipped: Tool, own: Tool | None) -> Tool:
    """A tool as a project knows it: of a shipped one, the project can say more and nothing else."""
    if own is None or not shipped.is_shipped:
        return own or shipped
    kinds = tuple(dict.fromkeys((*shipped.kinds, *own.kinds)))
    return replace(shipped, kinds=kinds, adds=own.roles)


def named_tools(tables: Mapping[str, Mapping[str, Any]], *, shipped: bool = False) -> dict[str, Tool]:
    """Tables of the data, or of a project's settings, as tools by name and alias."""
    found: dict[str, Tool] = {}
    for name, given in tables.items():
        made = read_tool(given, shipped=shipped)
        found.update(dict.fromkeys([name, *given.get("aliases", ())], made))
    return found


def read_tool(table: Mapping[str, Any], *, shipped: bool = False) -> Tool:
    """A table of the data as a tool. What differs by an argument's value is laid over what does not."""
    by = {
        name: {value: read_tool({**table, "by": {}, **differs}, shipped=shipped) for value, differs in values.items()}
        for name, values in table.get("by", {}).items()
    }
    return Tool(
        tuple(table.get("kinds", ())),
        {role: _names(given) for role, given in table.get("roles", {}).items()},
        table.get("set", {}),
        table.get("effects", {}),
        _names(table.get("shell", ())),
        table.get("keeps", ""),
        {language: _names(given) for language, given in table.get("code", {}).items()},
        _names(table.get("cwd", ())),
        _names(table.get("content", ())),
        tuple(_names(given) for given in table.get("replaces", ())),
        table.get("edits", ""),
        _names(table.get("patch", ())),
        table.get("shows", False),
        table.get("reads", ""),
        by,
        is_shipped=shipped,
    )


def _names(given: str | list[str] | tuple[str, ...]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)
