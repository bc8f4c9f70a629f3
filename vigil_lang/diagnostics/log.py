"""A log on GitHub, whose runner takes some lines for commands: no text of a policy or a run may be one."""

from __future__ import annotations

import re
from typing import IO, Any

# `::name …::` at the start of a line, and its older form `##[name …]` anywhere in one.
_COMMAND = re.compile(r"^(\s*):(?=:)|##(?=\[)", re.MULTILINE)


def harmless(text: str) -> str:
    """A text of which the runner takes no line for a command: ` : :name` and `## [name]`."""
    return _COMMAND.sub(lambda found: "## " if found[1] is None else f"{found[1]}: ", text)


class Log:
    """A stream of text that holds no commands; in all else the stream behind it."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write a text that begins a line."""
        return self._stream.write(harmless(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
