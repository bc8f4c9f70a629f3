"""Codex CLI, measured on 0.169.0: it obeys a denial with a reason, and makes the call on any unknown member."""

from __future__ import annotations

import os
import stat
import time
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from vigil_lang.ingest import codex_outputs
from vigil_lang.ingest.content import obj
from vigil_lang.ingest.json_text import REFUSED, decode
from vigil_lang.points.hosts.host import Heard, Host, under, upwards

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vigil_lang.points.invocation import Reply
    from vigil_lang.trace.record import Result

_TELLING = frozenset({"PreToolUse", "PostToolUse", "UserPromptSubmit", "SessionStart"})
_TAIL = 262_144
"""Bytes from the end of a rollout in which a command's end is looked for."""
_PATIENCE, _PAUSE = 0.05, 0.005


class Codex(Host):
    """Codex CLI. It asks nobody, and goes on for ever while a hook blocks the end of a turn."""

    name = "codex"

    def settings_files(self, folder: str, env: Mapping[str, str]) -> tuple[str, ...]:
        home = under(env.get("CODEX_HOME"), "hooks.json", "config.toml", "sessions", "sessions/**") or under(
            env.get("HOME"), ".codex/hooks.json", ".codex/config.toml", ".codex/sessions", ".codex/sessions/**"
        )
        return (*home, *upwards(folder, ".codex/hooks.json", ".codex/config.toml"), "/etc/codex/requirements.toml")

    def read(self, payload: dict[str, Any]) -> Heard:
        heard = super().read(payload)
        if heard.kind != "after" or heard.result is None or heard.result.status != "unknown":
            return heard
        ended = _of_rollout(heard.transcript, heard.call.key) if heard.call and heard.call.key else None
        if ended is None:
            return heard
        known = replace(heard.result, status=ended.status, exit_code=ended.exit_code, executed=ended.executed)
        return replace(heard, result=known)

    def tell(self, heard: Heard, text: str) -> Reply:
        return super().tell(heard, text) if heard.event in _TELLING else self.nothing(heard)


HOST = Codex()


def _of_rollout(path: str | None, call: str) -> Result | None:
    """How a command ended, by the file that Codex writes of the session; it may be written a little later."""
    end = time.monotonic() + _PATIENCE
    while path is not None:
        try:
            data = _tail(path)
        except OSError:
            return None
        found = [ended for line in data.splitlines() if (ended := _command(line, call)) is not None]
        if found:  # who else wrote of it does not decide
            return found[0] if all(each == found[0] for each in found) else None
        if time.monotonic() > end:
            break
        time.sleep(_PAUSE)
    return None


def _tail(path: str) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise OSError("no file")
        file.seek(max(0, found.st_size - _TAIL))
        return file.read(_TAIL)


def _command(line: bytes, call: str) -> Result | None:
    if b"CommandExecution" not in line or call.encode("utf-8", "replace") not in line:
        return None
    try:
        payload = obj(obj(decode(line)).get("payload"))
    except REFUSED:
        return None
    item = obj(payload.get("item"))
    if payload.get("type") != "item_completed" or item.get("type") != "CommandExecution" or item.get("id") != call:
        return None
    return codex_outputs.ended(item)
