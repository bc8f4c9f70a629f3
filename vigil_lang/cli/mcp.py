"""`vigil mcp`: a proxy in front of MCP servers, the tools it pinned, and configurations of clients."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from vigil_lang.cli.exit_codes import CLEAN, FINDINGS
from vigil_lang.cli.gate import StateFault, state_option
from vigil_lang.cli.output import console, output_options
from vigil_lang.cli.point_options import point_options

if TYPE_CHECKING:
    from vigil_lang.points.gates import GateLike
    from vigil_lang.points.mcp.keeper import Confirming
    from vigil_lang.points.mcp.pins import Pin
    from vigil_lang.points.mcp.specs import ServerSpec

TOKEN = "VIGIL_MCP_TOKEN"


@click.group("mcp", no_args_is_help=True)
def command() -> None:
    """Stand between an MCP client and its servers, and decide about each call of a tool.

    It sees the tools of those servers only: the shell and the files of an agent are for its host's hook (`vigil hook`).
    """


@command.command(
    "proxy",
    short_help="Serve MCP servers; the gate decides about each call.",
    context_settings={"ignore_unknown_options": False},
)
@click.argument("argv", metavar="[-- SERVER ARGS...]", nargs=-1)
@click.option("--url", metavar="URL", help="The server is behind a URL (streamable HTTP).")
@click.option("--header", "header", multiple=True, metavar="NAME=VALUE", help="A header for --url (repeatable).")
@click.option(
    "--server",
    "servers",
    multiple=True,
    metavar="NAME=COMMAND|FILE",
    help="One of several servers: a command line or URL; or a JSON file with `mcpServers` (repeatable).",
)
@click.option("--name", metavar="NAME", help="What policies call the server; by default from its command or URL.")
@click.option("--http", metavar="HOST:PORT", help="Serve over HTTP, on loopback unless VIGIL_MCP_TOKEN is set.")
@click.option("--run", "run_name", metavar="NAME", help="The run's name; by default each session is one.")
@point_options
@click.option(
    "--elicitation-confirms",
    "key_file",
    metavar="KEY",
    help="What the client's user answers confirms what is held, signed with this key of an approver.",
)
@state_option
def proxy(
    argv: tuple[str, ...],
    url: str | None,
    header: tuple[str, ...],
    servers: tuple[str, ...],
    name: str | None,
    http: str | None,
    policies: tuple[str, ...],
    agent: str | None,
    run_name: str | None,
    wait: int,
    observe: bool,
    key_file: str | None,
    state: str | None,
) -> int:
    """Serve what an MCP server serves; each call of a tool is made only if it passes.

    Exit status: 0 the client is gone; 1 the server is; 2 the call is at fault; 3 the proxy failed.
    """
    from secrets import token_hex

    from vigil_lang.points.mcp.proxy import Given, serve_stdio

    specs = _specs(argv, url, header, servers, name)
    gate = _gate(state)
    given = Given(
        specs,
        agent or "mcp",
        run_name,
        tuple(map(_policy, policies)),
        wait,
        observe,
        _confirming(key_file, gate),
    )
    run = f"mcp-{token_hex(8)}"
    if http is None:
        return _served(serve_stdio(gate, given, run))
    _need_package()
    from vigil_lang.points.mcp.http import serve_http

    host, port = _address(http)
    return _served(serve_http(gate, given, run, host, port, os.environ.get(TOKEN)))


def _served(work: Any) -> int:
    from vigil_lang.gate.state import StateError

    try:
        return int(asyncio.run(work))
    except StateError as error:
        raise StateFault(str(error)) from error


def _gate(state: str | None) -> GateLike:
    from vigil_lang.gate.state import StateError, state_path
    from vigil_lang.points.gates import gate_at

    try:
        return gate_at(state_path(state))
    except (StateError, OSError) as error:
        raise StateFault(str(error)) from error


def _specs(
    argv: tuple[str, ...], url: str | None, header: tuple[str, ...], servers: tuple[str, ...], name: str | None
) -> list[ServerSpec]:
    import json
    import shlex

    from vigil_lang.base.files import read_source
    from vigil_lang.points.mcp.names import is_server_name, server_name
    from vigil_lang.points.mcp.specs import ServerSpec, specs_of

    if sum(map(bool, (argv, url, servers))) != 1:
        raise click.UsageError("name one server (`-- SERVER ARGS...` or --url URL), or several by --server")
    if name is not None and (not is_server_name(name) or servers):
        raise click.UsageError("--name is for one server: letters, digits, `-` and single `_` between them")
    if argv:
        return [ServerSpec(name or server_name(Path(argv[0]).stem), argv)]
    if url:
        _need_package()
        return [ServerSpec(name or server_name(_host(url)), url=_checked_url(url), headers=_headers(header))]
    found: list[ServerSpec] = []
    for each in servers:
        label, mark, rest = each.partition("=")
        if mark and is_server_name(label):
            remote = rest.startswith(("http://", "https://"))
            found.append(ServerSpec(label, url=rest) if remote else ServerSpec(label, tuple(shlex.split(rest))))
            continue
        try:
            found += specs_of(json.loads(read_source(each).text))
        except ValueError as error:
            raise StateFault(f"{each}: {error}") from error
    names = [spec.name for spec in found]
    if len(set(names)) < len(names):
        raise click.UsageError("two servers have one name")
    for spec in found:
        if spec.url is not None:
            _need_package()
            _checked_url(spec.url)
        elif not spec.command:
            raise click.UsageError(f"the server {spec.name} has no command")
    return found


def _host(url: str) -> str:
    from urllib.parse import urlsplit

    return urlsplit(url).hostname or "server"


def _checked_url(url: str) -> str:
    from urllib.parse import urlsplit

    try:
        found = urlsplit(url)
        good = found.scheme in ("http", "https") and bool(found.hostname)
    except ValueError:
        good = False
    if not good:
        raise click.UsageError("a URL begins with http:// or https:// and names a host")
    return url


def _headers(given: tuple[str, ...]) -> dict[str, str]:
    import json

    from vigil_lang.points.mcp.wrap import HEADERS

    found: dict[str, str] = {}
    if HEADERS in os.environ:
        try:
            kept = json.loads(os.environ[HEADERS])
        except ValueError:
            kept = None
        if not isinstance(kept, dict) or not all(isinstance(text, str) for text in kept.values()):
            raise click.UsageError(f"{HEADERS} is a JSON object with texts")
        found |= kept
    for each in given:
        name, mark, value = each.partition("=")
        if not mark or not name:
            raise click.UsageError("--header is NAME=VALUE")
        found[name] = value
    return found


def _need_package() -> None:
    from importlib.util import find_spec

    if find_spec("mcp") is None:
        raise StateFault('HTTP needs the package mcp: pip install "vigil-lang[mcp]"')


def _address(text: str) -> tuple[str, int]:
    import ipaddress

    host, _, port = text.rpartition(":")
    host = host.strip("[]")
    if not host or not port.isdecimal() or int(port) > 65535:
        raise click.UsageError("--http is HOST:PORT")
    try:
        loopback = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        loopback = False
    if not loopback and not os.environ.get(TOKEN):
        raise click.UsageError(f"--http on another address than loopback needs a token in {TOKEN}")
    return host, int(port)


def _confirming(key_file: str | None, gate: GateLike) -> Confirming | None:
    if key_file is None:
        return None
    from vigil_lang.gate.authority.keys import load_key
    from vigil_lang.gate.gate import Gate

    if not isinstance(gate, Gate):
        raise StateFault("--elicitation-confirms is for a gate in its own state folder; here a service decides")
    holds, key = gate.holds, load_key(key_file)
    if key.public not in (*gate.settings.holds.approvers, *gate.settings.holds.organisation):
        raise StateFault(f"the key {key.public} is none of an approver that the settings name under [holds]")

    def confirmed(hold: str, approve: bool) -> None:
        if approve:
            holds.approve(holds.signed([hold], key))
        else:
            holds.deny(holds.signed_denials([hold], key))

    return confirmed


@command.command("pins", short_help="List the pinned tools, and what changed.")
@click.argument("server", required=False)
@state_option
@output_options("human", "json")
def pins(server: str | None, state: str | None, format: str) -> int:  # noqa: A002 - the option's name
    """List the tools whose descriptions are pinned, and what changed.

    Exit status: 0; 1 where one changed and waits to be accepted; 2 the state cannot be read.
    """
    from vigil_lang.diagnostics.visible import safe_json, visible
    from vigil_lang.gate.state import StateError, StateFolder, state_path
    from vigil_lang.points.mcp.pins import Pins, hidden

    try:
        found = [pin for pin in Pins(StateFolder(state_path(state)).path).all() if server in (None, pin.server)]
    except StateError as error:
        raise StateFault(str(error)) from error
    if format == "json":
        click.echo(safe_json({"schema": "vigil.pins/1", "pins": [_json(pin) for pin in found]}))
    else:
        screen = console()
        for pin in found:
            unseen = hidden(pin.offered or pin.definition)
            mark = "changed" if pin.is_changed else "accepted" if pin.accepted else "pinned"
            screen.print(f"{mark:9} {visible(pin.server)} {visible(pin.tool)}  {pin.digest[:12]}", highlight=False)
            if unseen:
                screen.print(f"          characters that nobody sees: {unseen}", highlight=False)
            if pin.is_changed:
                for text in _difference(pin):
                    screen.print(f"          {text}", highlight=False, markup=False)
        if not found:
            screen.print("no tools are pinned")
    return FINDINGS if any(pin.is_changed for pin in found) else CLEAN


@command.command("accept", short_help="Accept what changed about a tool.")
@click.argument("server")
@click.argument("tool", required=False)
@state_option
def accept(server: str, tool: str | None, state: str | None) -> int:
    """Accept what SERVER says now of TOOL, or of all its tools that changed.

    Exit status: 0 done; 1 nothing changed; 2 the state cannot be read or written.
    """
    from vigil_lang.diagnostics.visible import visible
    from vigil_lang.gate.state import StateError, StateFolder, state_path
    from vigil_lang.points.mcp.pins import Pins

    try:
        found = Pins(StateFolder(state_path(state)).path).accept(server, tool)
    except StateError as error:
        raise StateFault(str(error)) from error
    for pin in found:
        click.echo(f"accepted {visible(pin.server)} {visible(pin.tool)}")
        for text in _difference(pin):
            click.echo(f"  {text}")
    if not found:
        click.echo("nothing changed that could be accepted")
    return CLEAN if found else FINDINGS


def _json(pin: Pin) -> dict[str, Any]:
    from vigil_lang.points.mcp.pins import hidden

    return {
        "server": pin.server,
        "tool": pin.tool,
        "digest": pin.digest,
        "since": pin.since,
        "state": "changed" if pin.is_changed else "accepted" if pin.accepted else "pinned",
        "definition": pin.definition,
        "offered": pin.offered,
        "hidden": hidden(pin.offered or pin.definition),
    }


def _difference(pin: Pin) -> list[str]:
    """The members that changed, each old and new on a line."""
    from vigil_lang.diagnostics.visible import safe_json

    offered = pin.offered or {}
    names = [name for name in {**pin.definition, **offered} if pin.definition.get(name) != offered.get(name)]
    lines = []
    for name in names:
        lines += [f"- {name}: {safe_json(pin.definition.get(name))}", f"+ {name}: {safe_json(offered.get(name))}"]
    return lines


@command.command("wrap", short_help="Put a client's MCP servers behind the proxy.")
@click.argument("config")
@click.option("--undo", is_flag=True, help="Give back what was there.")
@click.option("--dry-run", is_flag=True, help="Show the change only.")
@point_options
@state_option
def wrap(
    config: str,
    undo: bool,
    dry_run: bool,
    policies: tuple[str, ...],
    agent: str | None,
    wait: int,
    observe: bool,
    state: str | None,
) -> int:
    """Put each MCP server in a client's configuration behind the proxy, and show the change.

    CONFIG is .mcp.json, mcp.json, settings.json or ~/.claude.json (`mcpServers`, or `servers` of VS Code), or Codex's
    config.toml. What is behind the proxy already stays as it is.

    Exit status: 0 done, or nothing to do; 2 the file cannot be read or written.
    """
    import sys
    from dataclasses import replace

    from vigil_lang.diagnostics.visible import visible
    from vigil_lang.gate.state import StateError, state_path
    from vigil_lang.points.install.registration import Unusable
    from vigil_lang.points.install.settings_file import Change, Kept, read
    from vigil_lang.points.mcp.wrap import NotWrapped, unwrap
    from vigil_lang.points.mcp.wrap import wrap as wrapped
    from vigil_lang.points.own_files import MCP

    options = [word for each in policies for word in ("--policy", _policy(each))]
    options += [
        word
        for name, value in (("--agent", agent), ("--wait", f"{wait}s" if wait else None))
        if value
        for word in (name, value)
    ]
    options += ["--observe"] if observe else []
    named = state or os.environ.get("VIGIL_STATE")  # the client may start the proxy with another environment
    options += ["--state", str(Path(named).absolute())] if named else []
    path, own = Path(config).absolute(), state_path(state) / MCP
    try:
        text = read(path)
        if text is None:
            raise StateFault(f"{config}: there is no such file")
        is_ours, before = Kept(own).before(path, text)
        if undo:
            change = unwrap(config, text)
            if is_ours and before is not None:
                change = replace(change, after=before)
        else:
            change = wrapped(config, text, (sys.executable, "-I", "-m", "vigil_lang"), tuple(options))
        if not dry_run and change.after != text:
            _gate(state)
            own.mkdir(mode=0o700, exist_ok=True)
            original = change.after if undo else before if is_ours else text
            Kept(own).apply(Change(path, text, change.after), original)
    except (NotWrapped, Unusable, StateError, OSError) as error:
        raise StateFault(f"{config}: {error}") from error
    for shown in _diff(change, config):
        click.echo(shown)
    for remark in change.remarks:
        click.echo(f"left as it is: {visible(remark)}")
    if change.after == text:
        click.echo("nothing to change")
    return CLEAN


def _policy(given: str) -> str:
    return given if given.startswith("std.") else str(Path(given).absolute())


def _diff(change: Any, shown: str) -> list[str]:
    """A change as a diff, without the values of headers and variables."""
    import difflib
    import json

    from vigil_lang.diagnostics.visible import visible

    texts = [change.before, change.after]
    for secret in sorted(change.secrets, key=len, reverse=True):
        forms = {secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]}
        for form in sorted(forms, key=len, reverse=True):
            texts = [text.replace(f'"{form}"', '"…"') for text in texts]
    lines = difflib.unified_diff(texts[0].splitlines(), texts[1].splitlines(), shown, shown, lineterm="")
    return [visible(line) for line in lines]
