"""The configuration of an MCP client: each of its servers behind the proxy, and back again."""

from __future__ import annotations

import json
import os
import re
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vigil_lang.points.install import jsonc
from vigil_lang.points.mcp.names import server_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HEADERS = "VIGIL_MCP_HEADERS"
"""The variable of the proxy with the headers for `--url`, a JSON object: every user of a machine sees command lines."""

_TABLE = re.compile(r"^[ \t]*\[[ \t]*mcp_servers[ \t]*\.[ \t]*(?P<name>[\w-]+|\"[^\"\\]+\")[ \t]*\][ \t]*(?:#.*)?$")
_HEADER = re.compile(r"^[ \t]*\[")

_Rewritten = tuple[dict[str, Any] | None, str | None]
"""A server as it will stand, None where it stays; and why it stays, None where that needs no word."""


class NotWrapped(ValueError):
    """A configuration cannot be changed; the text says why."""


@dataclass(frozen=True, slots=True)
class Change:
    """A configuration before and after, the servers that changed, and what is to be known of the others.

    `secrets` are texts that are not to be shown.
    """

    before: str
    after: str
    servers: tuple[str, ...]
    remarks: tuple[str, ...]
    secrets: frozenset[str]


def wrap(path: str, text: str, program: tuple[str, ...], options: tuple[str, ...]) -> Change:
    """Put every server of a configuration behind `program OPTIONS…`; those that are stay as they are.

    Raises:
        NotWrapped: it has no servers, or cannot be read.
    """

    def behind(name: str, server: dict[str, Any]) -> _Rewritten:
        return _behind(name, server, program, options, is_gemini=_is_gemini(path))

    return _changed(path, text, behind)


def unwrap(path: str, text: str) -> Change:
    """Put the servers that are behind the proxy back as they were, but for white space and comments inside them.

    Raises:
        NotWrapped: as `wrap`.
    """

    def direct(name: str, server: dict[str, Any]) -> _Rewritten:  # noqa: ARG001 - as the other
        return _direct(server, is_gemini=_is_gemini(path)), None

    return _changed(path, text, direct)


def _is_gemini(path: str) -> bool:
    return os.path.basename(os.path.dirname(os.path.abspath(path))) == ".gemini"  # noqa: PTH100, PTH119, PTH120


def _changed(path: str, text: str, rewritten: Callable[[str, dict[str, Any]], _Rewritten]) -> Change:
    return (_changed_toml if path.endswith(".toml") else _changed_json)(text, rewritten)


# --- a server ---------------------------------------------------------------------------------------------------


def _behind(
    name: str, server: dict[str, Any], program: tuple[str, ...], options: tuple[str, ...], *, is_gemini: bool
) -> _Rewritten:
    if _own_arguments(server) is not None:
        return None, None
    start = [*program[1:], "mcp", "proxy", "--name", server_name(name), *options]
    command, args, url = server.get("command"), server.get("args", []), server.get("httpUrl", server.get("url"))
    if isinstance(command, str) and isinstance(args, list) and all(isinstance(arg, str) for arg in args):
        return _in_place(server, {"command": program[0], "args": [*start, "--", command, *args]}, ()), None
    if not isinstance(url, str):
        return None, f"{name}: neither `command` nor `url`"
    if server.get("type") == "sse" or (is_gemini and "httpUrl" not in server and "type" not in server):
        return None, f"{name}: the proxy does not speak the old HTTP+SSE transport"
    headers, env = server.get("headers", {}), server.get("env", {})
    if not isinstance(headers, dict) or not isinstance(env, dict):
        return None, f"{name}: `headers` or `env` is no object"
    new: dict[str, Any] = {"type": "stdio"} if "type" in server else {}
    new |= {"command": program[0], "args": [*start, "--url", url]}
    if headers:
        new["env"] = env | {HEADERS: json.dumps(headers)}
    return _in_place(server, new, ("url", "httpUrl", "headers")), None


def _direct(server: dict[str, Any], *, is_gemini: bool) -> dict[str, Any] | None:
    own = _own_arguments(server)
    if own is None:
        return None
    if "--" in own:
        command, *args = own[own.index("--") + 1 :]
        return _in_place(server, {"command": command} | ({"args": args} if args else {}), ("args",))
    new: dict[str, Any] = {"type": "http"} if "type" in server else {}
    new["httpUrl" if is_gemini and "type" not in server else "url"] = own[own.index("--url") + 1]
    env = dict(server.get("env", {}))
    if HEADERS in env:
        new["headers"] = json.loads(env.pop(HEADERS))
    found = _in_place(server, new, ("command", "args", "env"))
    return found | ({"env": env} if env else {})


def _own_arguments(server: dict[str, Any]) -> list[str] | None:
    """The arguments behind `mcp proxy` of a server that is behind the proxy; None for one that is not."""
    command, args = server.get("command"), server.get("args")
    if not isinstance(command, str) or not isinstance(args, list) or not all(isinstance(arg, str) for arg in args):
        return None
    for start in (["-I", "-m", "vigil_lang"], []):
        whole = [*start, "mcp", "proxy", "--name"]
        if args[: len(whole)] == whole and (start or os.path.basename(command) == "vigil"):  # noqa: PTH119
            rest = args[len(whole) + 1 :]
            if "--" in rest[:-1] or "--url" in rest[:-1]:
                return rest
    return None


def _in_place(server: dict[str, Any], new: dict[str, Any], gone: tuple[str, ...]) -> dict[str, Any]:
    """A server with new members where the old ones stood, and without some."""
    found: dict[str, Any] = {}
    for name, value in server.items():
        if name in new:
            found[name] = new[name]
        elif name in gone:
            found |= {each: new[each] for each in new if each not in server}
        else:
            found[name] = value
    return found | new


# --- JSON -------------------------------------------------------------------------------------------------------


def _changed_json(text: str, rewritten: Callable[[str, dict[str, Any]], _Rewritten]) -> Change:
    try:
        root = jsonc.parse(text, comments=True)
    except jsonc.NotJson as error:
        raise NotWrapped(f"it is no JSON: {error}, in line {text.count(chr(10), 0, error.at) + 1}") from error
    tables = list(_tables(root))
    if not tables:
        raise NotWrapped("it has no `mcpServers` (or `servers`, as VS Code has it)")
    after, names, remarks = text, [], []
    secrets: set[str] = set()
    every = [(name, node) for table in tables for name, node in table.members.items()]
    for name, node in sorted(every, key=lambda each: -each[1].start):  # from the end, so that places stay
        if not isinstance(node.value, dict):
            remarks.append(f"{name}: it is no object")
            continue
        secrets |= _secrets(node.value)
        found, remark = rewritten(name, node.value)
        if remark is not None:
            remarks.append(remark)
        if found is not None:
            secrets |= _secrets(found)
            after = jsonc.replaced(after, node, found)
            names.append(name)
    return Change(text, after, tuple(reversed(names)), tuple(reversed(remarks)), frozenset(secrets))


def _tables(root: jsonc.Node) -> Iterator[jsonc.Node]:
    """The objects with servers: those of the user, of VS Code, and of each project in Claude's own file."""
    places = [("mcpServers",), ("servers",), ("mcp", "servers")]
    projects = root.members.get("projects")
    places += [("projects", name, "mcpServers") for name in (projects.members if projects else ())]
    for place in places:
        node: jsonc.Node | None = root
        for name in place:
            node = None if node is None else node.members.get(name)
        if node is not None and isinstance(node.value, dict):
            yield node


def _secrets(server: dict[str, Any]) -> set[str]:
    """What is not shown of a server: the values of its headers and variables."""
    found = set()
    for name in ("headers", "env", "http_headers"):
        table = server.get(name)
        if isinstance(table, dict):
            found |= {value for value in table.values() if isinstance(value, str) and value}
    return found


# --- TOML, as Codex has it --------------------------------------------------------------------------------------


def _changed_toml(text: str, rewritten: Callable[[str, dict[str, Any]], _Rewritten]) -> Change:
    servers = _toml(text).get("mcp_servers")
    if not isinstance(servers, dict) or not servers:
        raise NotWrapped("it has no `[mcp_servers.NAME]`")
    after, names, remarks = text, [], []
    secrets: set[str] = set()
    for name, server in servers.items():
        if not isinstance(server, dict):
            continue
        secrets |= _secrets(server)
        if "url" in server:
            remarks.append(f"{name}: a server behind a URL stays as it is; put it behind the proxy by hand")
            continue
        found, remark = rewritten(name, server)
        if remark is not None:
            remarks.append(remark)
        if found is None:
            continue
        after = _with_command(after, name, found)
        names.append(name)
        if _toml(after)["mcp_servers"].get(name) != found:
            raise NotWrapped(f"the table of {name} is written in a way that is not changed here")
    return Change(text, after, tuple(names), tuple(remarks), frozenset(secrets))


def _toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise NotWrapped(f"it is no TOML: {error}") from error


def _with_command(text: str, name: str, server: dict[str, Any]) -> str:
    """The text with the command and arguments of a server; all else of it stays as it stands."""
    lines = text.splitlines(keepends=True)
    starts = [at for at, each in enumerate(lines) if (m := _TABLE.match(each.rstrip("\r\n"))) and _bare(m) == name]
    if len(starts) != 1:
        raise NotWrapped(f"the table of {name} is written in a way that is not changed here")
    end = next((at for at in range(starts[0] + 1, len(lines)) if _HEADER.match(lines[at])), len(lines))
    newline = "\r\n" if lines[starts[0]].endswith("\r\n") else "\n"
    at, wanted = starts[0] + 1, {name: server[name] for name in ("command", "args") if name in server}
    while at < end:
        key = re.match(r"[ \t]*(command|args)[ \t]*=", lines[at])
        if key is None:
            at += 1
            continue
        size = _assignment(lines, at, end)
        new = [f"{key[0]} {_toml_value(wanted.pop(key[1]))}{newline}"] if key[1] in wanted else []
        lines[at : at + size] = new
        end -= size - len(new)
        at += len(new)
    if wanted.get("args"):
        lines.insert(starts[0] + 1, f"args = {_toml_value(wanted['args'])}{newline}")
    return "".join(lines)


def _bare(found: re.Match[str]) -> str:
    return found["name"].strip('"')


def _assignment(lines: list[str], at: int, end: int) -> int:
    """How many lines an assignment has."""
    for size in range(1, end - at + 1):
        try:
            tomllib.loads("".join(lines[at : at + size]))
        except ValueError:
            continue
        return size
    raise NotWrapped("a value has no end")


def _toml_value(value: str | list[str]) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_toml_value, value))}]"
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else f"\\U{ord(c):08X}" for c in escaped) + '"'
