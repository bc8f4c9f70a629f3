"""Pinned descriptions: what a server says of a tool is kept at first sight, and a change waits for a person."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from vigil_lang.base.outputs import write_private
from vigil_lang.gate.state import StateError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

_PINNED = ("name", "title", "description", "inputSchema", "outputSchema", "annotations")
"""What a model or a client goes by."""

_MOST = 50_000
_MAX_BYTES = 64_000_000


class Pin(msgspec.Struct, frozen=True):
    """A tool as it was first seen or last accepted, and as its server describes it now where that differs.

    Times are POSIX seconds.
    """

    server: str
    tool: str
    digest: str
    definition: dict[str, Any]
    since: int
    accepted: bool = False
    offered: dict[str, Any] | None = None

    @property
    def is_changed(self) -> bool:
        """Whether the server describes it otherwise now."""
        return self.offered is not None


@dataclass(frozen=True, slots=True)
class Sighting:
    """What came of looking at a tool: its pin, and whether it is new, or newly changed."""

    pin: Pin
    is_new: bool = False
    is_news: bool = False


class Pins:
    """The pins in a state folder; several processes may have one each.

    Raises:
        StateError: of each method: they cannot be read or written.
    """

    def __init__(self, state: Path) -> None:
        self._folder = state / "mcp"
        self._path = self._folder / "pins.json"
        self._seen: tuple[int, int, int] | None = None
        self._pins: dict[tuple[str, str], Pin] = {}

    def all(self) -> list[Pin]:
        """All pins, by server and tool."""
        self._refresh()
        return [self._pins[key] for key in sorted(self._pins)]

    def get(self, server: str, tool: str) -> Pin | None:
        """The pin of a tool, None where it was never seen."""
        self._refresh()
        return self._pins.get((server, tool))

    def look(self, server: str, definitions: Iterable[dict[str, Any]]) -> list[Sighting]:
        """Compare what a server says of its tools with what is pinned; what is new is pinned."""
        definitions = list(definitions)
        self._refresh()
        found = [self._sighted(server, each) for each in definitions]
        if any(each.is_new or each.is_news or self._pins.get(_key(each.pin)) != each.pin for each in found):
            with self._writing():
                found = [self._sighted(server, each) for each in definitions]
                for each in found:
                    self._pins[_key(each.pin)] = each.pin
                if len(self._pins) > _MOST:
                    raise StateError(f"more than {_MOST:,} tools are pinned")
        return found

    def accept(self, server: str, tool: str | None = None) -> list[Pin]:
        """A person accepts what a server says now of a tool, or of all its tools that changed; gives their old pins."""
        self._refresh()
        with self._writing():
            chosen = [
                pin
                for pin in self._pins.values()
                if pin.server == server and pin.offered is not None and tool in (None, pin.tool)
            ]
            for pin in chosen:
                assert pin.offered is not None
                self._pins[_key(pin)] = Pin(
                    pin.server, pin.tool, digest_of(pin.offered), pin.offered, int(time.time()), accepted=True
                )
        return chosen

    def _sighted(self, server: str, definition: dict[str, Any]) -> Sighting:
        kept = {name: definition[name] for name in _PINNED if name in definition}
        tool, digest = str(definition.get("name")), digest_of(kept)
        pin = self._pins.get((server, tool))
        if pin is None:
            return Sighting(Pin(server, tool, digest, kept, int(time.time())), is_new=True)
        if pin.digest == digest:
            return Sighting(pin if pin.offered is None else msgspec.structs.replace(pin, offered=None))
        news = pin.offered is None or digest_of(pin.offered) != digest
        return Sighting(msgspec.structs.replace(pin, offered=kept), is_news=news)

    def _refresh(self) -> None:
        try:
            status = self._path.stat()
            seen = (status.st_ino, status.st_mtime_ns, status.st_size)
            if seen == self._seen:
                return
            if status.st_size > _MAX_BYTES:
                raise StateError(f"the pins in {self._path} are too many")
            pins = msgspec.json.decode(self._path.read_bytes(), type=list[Pin])
        except FileNotFoundError:
            self._pins, self._seen = {}, None
        except (OSError, msgspec.DecodeError, msgspec.ValidationError) as error:
            raise StateError(f"the pins in {self._path} cannot be read: {error}") from error
        else:
            self._pins, self._seen = {_key(pin): pin for pin in pins}, seen

    @contextmanager
    def _writing(self) -> Iterator[None]:
        from vigil_lang.diagnostics import InputError

        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            lock = os.open(self._folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise StateError(f"the pins in {self._folder} cannot be written: {error.strerror}") from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self._refresh()
            before = dict(self._pins)
            yield
            if before != self._pins:
                write_private(str(self._path), msgspec.json.encode(list(self._pins.values())), replace=True)
                status = self._path.stat()
                self._seen = (status.st_ino, status.st_mtime_ns, status.st_size)
        except (InputError, OSError) as error:
            self._seen = None
            raise StateError(f"the pins in {self._path} cannot be written: {error}") from error
        finally:
            os.close(lock)


def digest_of(definition: dict[str, Any]) -> str:
    """SHA-256 of a definition, in hexadecimal, whatever the order of its members."""
    return hashlib.sha256(json.dumps(definition, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def as_pinned(definition: dict[str, Any], pin: Pin) -> dict[str, Any]:
    """What a client is shown of a tool that changed: what it goes by is as it was pinned."""
    return {name: value for name, value in definition.items() if name not in _PINNED} | pin.definition


def hidden(definition: dict[str, Any]) -> str | None:
    """The characters in a definition that nobody sees, as `U+202E U+200B`; None where there are none."""
    text = json.dumps(definition, ensure_ascii=False)
    if text.isascii():
        return None
    found = sorted({letter for letter in text if _is_unseen(letter)})
    return " ".join(f"U+{ord(letter):04X}" for letter in found[:8]) or None


def _is_unseen(letter: str) -> bool:
    import unicodedata

    code = ord(letter)
    return unicodedata.category(letter) in ("Cf", "Cc", "Co", "Cs") or 0xFE00 <= code <= 0xFE0E or code >= 0xE0000


def _key(pin: Pin) -> tuple[str, str]:
    return (pin.server, pin.tool)
