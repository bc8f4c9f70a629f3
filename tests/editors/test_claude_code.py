"""The Claude Code plugin: its manifest, and the server that it starts."""

from __future__ import annotations

import json
import subprocess
import sys
from threading import Timer
from typing import TYPE_CHECKING, Any

from node_support import ROOT

import vigil_lang

if TYPE_CHECKING:
    from collections.abc import Callable

PLUGIN = ROOT / "lsp" / "editors" / "claude-code"
MANIFEST: dict[str, Any] = json.loads((PLUGIN / ".claude-plugin" / "plugin.json").read_text(encoding="utf-8"))
MARKET: dict[str, Any] = json.loads((PLUGIN / ".claude-plugin" / "marketplace.json").read_text(encoding="utf-8"))


def test_it_says_what_a_plugin_says() -> None:
    assert set(MANIFEST) == {"name", "version", "description", "author", "license", "keywords", "lspServers"}
    assert MANIFEST["version"] == vigil_lang.__version__
    (server,) = MANIFEST["lspServers"].values()
    # `restartOnCrash` and `maxRestarts`, though documented, keep some versions from loading the server.
    assert server == {"command": "vigil", "args": ["lsp"], "extensionToLanguage": {".vgl": "vigil"}}


def test_its_marketplace_offers_it() -> None:
    assert set(MARKET) == {"name", "description", "owner", "plugins"}
    (offered,) = MARKET["plugins"]
    assert offered["name"] == MANIFEST["name"]
    assert (PLUGIN / offered["source"]).resolve() == PLUGIN


def test_its_server_starts_and_finds_what_is_wrong() -> None:
    """What Claude Code sends: it opens the file that was written and waits to be sent findings."""
    (server,) = MANIFEST["lspServers"].values()
    uri = "file:///nowhere/p.vgl"
    text = "statement s: abs(write(\n"
    document = {"uri": uri, "languageId": server["extensionToLanguage"][".vgl"], "version": 1, "text": text}
    capabilities = {"textDocument": {"publishDiagnostics": {"relatedInformation": True}}}
    command = [sys.executable, "-m", "vigil_lang", *server["args"]]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        clock = Timer(60, process.kill)
        clock.start()
        say(process, "initialize", {"processId": None, "rootUri": None, "capabilities": capabilities}, number=1)
        assert heard(process, lambda m: m.get("id") == 1)["result"]["serverInfo"]["name"] == "vigil"
        say(process, "initialized", {})
        say(process, "textDocument/didOpen", {"textDocument": document})
        sent = heard(process, lambda m: m.get("method") == "textDocument/publishDiagnostics")["params"]
        assert (sent["uri"], [finding["code"] for finding in sent["diagnostics"]]) == (uri, ["VGL101"])
        say(process, "shutdown", None, number=2)
        heard(process, lambda m: m.get("id") == 2)
        say(process, "exit", None)
        assert process.wait() == 0
        clock.cancel()


def say(process: subprocess.Popen[bytes], method: str, params: object, number: int | None = None) -> None:
    message = {"jsonrpc": "2.0", "method": method, "params": params} | ({} if number is None else {"id": number})
    body = json.dumps(message).encode()
    assert process.stdin is not None
    process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
    process.stdin.flush()


def heard(process: subprocess.Popen[bytes], wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """The next message that is wanted; others are passed over."""
    assert process.stdout is not None
    while True:
        length = 0
        while (line := process.stdout.readline().strip()) != b"":
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        message = json.loads(process.stdout.read(length))
        if wanted(message):
            return message
