"""A call on one line: its action, its arguments cut to what there is room for, and how it ended."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rich.cells import cell_len

from vigil_lang.diagnostics.visible import visible
from vigil_lang.trace.signature import type_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from vigil_lang.trace import Event

_PLAIN_NAME = re.compile(r"[\w.-]+")
_VALUES_SHOWN = 4
_SHORTEST = 12


def call_text(event: Event, room: int, telling: Collection[str] = ()) -> str:
    """`warpAffine(file="a.png", transform="M") → ok` in about `room` cells.

    Long values are cut in the middle; those of the `telling` arguments only when cutting the others is not enough.
    """
    head, tail = f"{middle(event.action, room // 2)}(", f") → {event.status}"
    left = room - cell_len(head) - cell_len(tail)
    for limit, others in _limits(max(left, _SHORTEST)):
        parts = [_argument(name, texts, limit if name in telling else others) for name, texts in event.args.items()]
        if _width(parts) <= left:
            break
    else:
        while parts and _width([*parts, "…"]) > left:
            parts.pop()
        parts.append("…")
    return head + ", ".join(parts) + tail


def _limits(room: int) -> Iterator[tuple[int, int]]:
    """How long values may be, those of the telling arguments and the others, from generous to strict."""
    others = room
    while others > _SHORTEST:
        yield room, others
        others = others * 3 // 4
    while room > _SHORTEST:
        yield room, _SHORTEST
        room = room * 3 // 4
    yield _SHORTEST, _SHORTEST


def middle(text: str, room: int) -> str:
    """The text made visible, with `…` for its middle where it is longer than `room` cells."""
    if len(text) <= room and cell_len(shown := visible(text)) <= room:
        return shown
    first, last = room // 2, room - room // 2 - 1
    head = _take(map(visible, text[:room]), first)
    tail = _take(map(visible, reversed(text[-room:])), last)
    return "".join(head) + "…" + "".join(reversed(tail))


def _take(parts: Iterable[str], room: int) -> list[str]:
    taken: list[str] = []
    for part in parts:
        room -= cell_len(part)
        if room < 0:
            break
        taken.append(part)
    return taken


def _width(parts: list[str]) -> int:
    return sum(map(cell_len, parts)) + 2 * max(len(parts) - 1, 0)


def _argument(name: str, texts: tuple[str, ...], limit: int) -> str:
    plain = _PLAIN_NAME.fullmatch(name)
    label = f"{middle(name, 40) if plain else _quoted(name, 40)}="
    if len(texts) == 1:
        return label + _value(texts[0], limit)
    values = [_value(text, limit) for text in texts[:_VALUES_SHOWN]]
    if len(texts) > _VALUES_SHOWN:
        values.append(f"… {len(texts) - _VALUES_SHOWN} more")
    return f"{label}[{', '.join(values)}]"


def _value(text: str, limit: int) -> str:
    if len(text) <= limit and type_of(text) != "text":
        return text
    return _quoted(text, limit)


def _quoted(text: str, limit: int) -> str:
    shown = middle(text, limit).replace('"', '\\"')
    return f'"{shown}"'
