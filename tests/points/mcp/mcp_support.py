"""A client for tests, which speaks lines of JSON."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
RAW = [sys.executable, "-I", "-S", str(HERE / "raw_server.py")]
PROXY = [sys.executable, "-m", "vigil_lang", "mcp", "proxy"]
MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
}
POLICY = """\
policy p

/// Deleting everything is never wanted.
rule no_delete: when mcp__raw__delete_all() then block

/// Somebody confirms payments.
rule pays: when mcp__raw__pay() then hold
"""


class Wire:
    """A program that speaks lines of JSON."""

    def __init__(self, argv: list[str], env: dict[str, str] | None = None) -> None:
        self.process = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **(env or {})},
        )
        self.lines: queue.Queue[Any] = queue.Queue()
        self.errors: list[str] = []
        threading.Thread(target=self._read, daemon=True).start()
        threading.Thread(target=self._hear, daemon=True).start()
        self._count = 0

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            with suppress(ValueError):  # as clients do with what is no message
                found = json.loads(line)
                if isinstance(found, dict):
                    self.lines.put(found)
        self.lines.put(None)

    def _hear(self) -> None:
        assert self.process.stderr
        for line in self.process.stderr:
            self.errors.append(line.decode())

    def send(self, message: dict[str, Any] | bytes) -> None:
        assert self.process.stdin
        data = message if isinstance(message, bytes) else json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(data + b"\n")
        self.process.stdin.flush()

    def next(self, timeout: float = 20) -> Any:
        return self.lines.get(timeout=timeout)

    def ask(self, method: str, params: dict[str, Any] | None = None, *, modern: bool = False, **meta: Any) -> Any:
        """The answer to a request; what else comes before it is dropped."""
        self._count += 1
        params = dict(params or {})
        if modern or meta:
            params["_meta"] = {**(MODERN if modern else {}), **meta}
        self.send({"id": self._count, "method": method, "params": params})
        while (found := self.next()) is not None:
            if found.get("id") == self._count and "method" not in found:
                return found
        raise AssertionError(f"no answer: {''.join(self.errors)}")

    def call(self, name: str, *, modern: bool = False, **arguments: Any) -> Any:
        return self.ask("tools/call", {"name": name, "arguments": arguments}, modern=modern)

    def initialize(self, **capabilities: Any) -> Any:
        found = self.ask(
            "initialize",
            {
                "protocolVersion": "2025-11-25",
                "capabilities": capabilities,
                "clientInfo": {"name": "test", "version": "1"},
            },
        )
        self.send({"method": "notifications/initialized"})
        return found

    def close(self, timeout: float = 20) -> int:
        assert self.process.stdin
        self.process.stdin.close()
        try:
            return self.process.wait(timeout)
        finally:
            self.process.kill()


def text_of(answer: Any) -> str:
    return str(answer["result"]["content"][0]["text"])
