"""Several servers as one: their lists are joined, and names say whose each is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vigil_lang.points.mcp.messages import INVALID_PARAMS, METHOD_NOT_FOUND, Message, error, result
from vigil_lang.points.mcp.names import client_name, split_name
from vigil_lang.version import __version__

if TYPE_CHECKING:
    from vigil_lang.points.mcp.ends import Router, Server

_LISTS = {
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
}
_PAGES = 200
_INFO = {"name": "vigil-mcp-proxy", "version": __version__}


async def answer(router: Router, message: Message) -> Message:
    """The answer to a request that is no call of a tool."""
    method, params, number = message["method"], message.get("params", {}), message["id"]
    servers = [each for each in router.servers.values() if each.alive]
    if method == "initialize":
        router.initialized(message)
        return await _joined(router, servers, message)
    if method == "server/discover":
        return await _joined(router, servers, message)
    if method == "ping":
        return result(number, {})
    if method == "tools/list":
        tools = []
        for server in servers:
            tools += [_named(server, each) for each in await router.list_tools(server, params)]
        return result(number, _complete(params, {"tools": tools}))
    if method in _LISTS:
        return result(number, _complete(params, {_LISTS[method]: await _listed(router, servers, message)}))
    if method == "prompts/get":
        return await _of_prompt(router, message, params)
    if method == "completion/complete":
        return await _completed(router, servers, message)
    if method == "logging/setLevel":
        found = [await router.ask(server, method, params, number) for server in servers]
        return next((each for each in found if "result" in each), found[0])
    return await _first(router, servers, message)


def renamed(server: Server, message: Message) -> Message:
    """A notification of one server as the client of several gets it: whose log it is stands in its name."""
    params = message.get("params", {})
    if message["method"] == "notifications/message":
        logger = params.get("logger")
        name = server.name if not isinstance(logger, str) else f"{server.name}/{logger}"
        return {**message, "params": {**params, "logger": name}}
    return message


async def _joined(router: Router, servers: list[Server], message: Message) -> Message:
    """The answer to a handshake: what any of the servers can do. A server that refuses is left out."""
    found: list[tuple[Server, dict[str, Any]]] = []
    refused: Message | None = None
    for server in servers:
        answered = await router.ask(server, message["method"], message.get("params"), message["id"])
        if isinstance(answered.get("result"), dict):
            found.append((server, answered["result"]))
        else:
            refused = refused or answered
    if refused is not None and (not found or message["method"] == "server/discover"):
        return refused  # the client falls back to the older era, which all may speak
    if not found:
        return error(message["id"], INVALID_PARAMS, "no server answers")
    capabilities: dict[str, Any] = {}
    for server, each in found:
        server.capabilities = each.get("capabilities") or {}
        version = each.get("protocolVersion")
        server.version = version if isinstance(version, str) else server.version
        for name, value in server.capabilities.items():
            known = capabilities.setdefault(name, {})
            if isinstance(known, dict) and isinstance(value, dict):
                known.update(value)
    joined = {**found[0][1], "capabilities": capabilities, "serverInfo": _INFO}
    versions = [each["protocolVersion"] for _, each in found if isinstance(each.get("protocolVersion"), str)]
    if versions:
        joined["protocolVersion"] = router.version = min(versions)
    told = [f"{server.name}: {each['instructions']}" for server, each in found if each.get("instructions")]
    joined.pop("instructions", None)
    return result(message["id"], joined | ({"instructions": "\n\n".join(told)} if told else {}))


async def _listed(router: Router, servers: list[Server], message: Message) -> list[dict[str, Any]]:
    """A list of all servers, all pages of each."""
    member, found = _LISTS[message["method"]], []
    given = {name: value for name, value in message.get("params", {}).items() if name != "cursor"}
    for server in servers:
        cursor: object = None
        for _ in range(_PAGES):
            params = given if cursor is None else {**given, "cursor": cursor}
            page = (await router.ask(server, message["method"], params, message["id"])).get("result")
            if not isinstance(page, dict) or not isinstance(page.get(member), list):
                break
            for each in page[member]:
                found.append(_named(server, each) if member == "prompts" and isinstance(each, dict) else each)
            cursor = page.get("nextCursor")
            if not isinstance(cursor, str):
                break
    return found


async def _of_prompt(router: Router, message: Message, params: Message) -> Message:
    named = split_name(str(params.get("name")))
    server = None if named is None else router.servers.get(named[0])
    if named is None or server is None:
        return error(message["id"], INVALID_PARAMS, f"Unknown prompt: {str(params.get('name'))[:128]}")
    return await router.ask(server, message["method"], {**params, "name": named[1]}, message["id"])


async def _completed(router: Router, servers: list[Server], message: Message) -> Message:
    params = message.get("params", {})
    ref = params.get("ref")
    named = split_name(str(ref.get("name"))) if isinstance(ref, dict) and "name" in ref else None
    if named is None or not isinstance(ref, dict):
        return await _first(router, servers, message)
    server = router.servers.get(named[0])
    if server is None:
        return error(message["id"], INVALID_PARAMS, f"Unknown prompt: {str(ref.get('name'))[:128]}")
    return await router.ask(server, message["method"], {**params, "ref": {**ref, "name": named[1]}}, message["id"])


async def _first(router: Router, servers: list[Server], message: Message) -> Message:
    """The answer of the first server, in their order, that has one."""
    refused = error(message["id"], METHOD_NOT_FOUND, "Method not found")
    for server in servers:
        found = await router.ask(server, message["method"], message.get("params"), message["id"])
        if "result" in found:
            return found
        refused = found
    return refused


def _named(server: Server, each: dict[str, Any]) -> dict[str, Any]:
    return {**each, "name": client_name(server.name, str(each.get("name")))}


def _complete(params: Message, found: dict[str, Any]) -> dict[str, Any]:
    from vigil_lang.points.mcp.ends import era_of

    return found if era_of(params) is None else {"resultType": "complete", **found}
