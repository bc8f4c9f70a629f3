"""The MCP logs of Claude Desktop, `mcp-server-NAME.log` and `mcp.log`: messages behind a time and a server's name.

2026-01-05T10:00:05.000Z [files] [info] Message from client: {"method":"tools/call",…} { metadata: undefined }

Older versions write the level first, and may leave the name out. Between such lines stands what the server printed.
"""

from __future__ import annotations

import re
from itertools import chain, islice
from typing import TYPE_CHECKING

from vigil_lang.ingest.json_text import REFUSED, decode, encode
from vigil_lang.patterns import regex

if TYPE_CHECKING:
    from collections.abc import Iterator

_LEVEL = rb"\[(?:info|warn|error|debug)\]"
_NAME = rb"\[([^\]\r\n]{1,200})\]"
_LINE = regex(
    rb"(\d{4}-\d\d-\d\dT[0-9:.]{8,20}Z?) (?:" + _LEVEL + rb" (?:" + _NAME + rb" )?|" + _NAME + rb" " + _LEVEL + rb" )"
)
_MESSAGE = regex(rb"Message from (?:client|server): (\{.*?)(?: \{ metadata: undefined \})?\s*\Z", re.DOTALL)

_PRINTED = 20
"""Lines that a server may have printed before the first one of the log."""


def as_json_lines(lines: Iterator[bytes]) -> Iterator[bytes]:
    """The lines of such a log as JSON Lines, each in its place; other recordings as they are.

    What is no message becomes a blank line. A message that the log cut is a text, which no reader understands.
    """
    begun: list[bytes] = []
    for line in islice(lines, _PRINTED):
        begun.append(line)
        if _LINE.match(line):
            yield from map(_converted, chain(begun, lines))
            return
        if b"{" in line:
            break
    yield from chain(begun, lines)


def _converted(line: bytes) -> bytes:
    head = _LINE.match(line)
    found = _MESSAGE.match(line, head.end()) if head else None
    if head is None or found is None:
        return b"\n"
    time, server, message = head[1].decode(), (head[2] or head[3] or b"").decode("utf-8", "replace"), found[1]
    try:
        value = decode(message)
    except REFUSED:
        value = message.decode("utf-8", "replace")
    return encode({"timestamp": time, "server": server, "message": value}) + b"\n"
