"""One call of a hook as a process or the daemon gets it, and what is answered: plain data, fit for a socket."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import field

from vigil_lang.base.structs import Frozen

if TYPE_CHECKING:
    from collections.abc import Mapping


class Invocation(Frozen, frozen=True):
    """What a hook was called with: the arguments after `vigil hook`, all of standard input, folder, environment."""

    args: tuple[str, ...]
    stdin: bytes
    cwd: str
    env: Mapping[str, str] = field(default_factory=dict)


class Reply(Frozen, frozen=True):
    """What a hook writes to its streams, at once, and its exit status."""

    stdout: bytes = b""
    stderr: bytes = b""
    status: int = 0
