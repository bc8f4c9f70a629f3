"""A call on one line: its action, its arguments cut to what there is room for, and how it ended."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.text import Text

from vigil_lang.diagnostics.secrets import learn, masked, masked_with, masked_words
from vigil_lang.diagnostics.shorten import after, before, middle
from vigil_lang.diagnostics.visible import visible
from vigil_lang.trace.signature import type_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from vigil_lang.trace import Event
    from vigil_lang.verdict.spots import Spots

_PLAIN_NAME = re.compile(r"[\w.-]+")
_VALUES_SHOWN = 4
_SPOTS_SHOWN = 3
_SHORTEST = 12
_SPOT_STYLE = "underline"
# What a program's words are besides, and what a script's call is: its roles and its options say the same.
_WORDS = frozenset({"program", "argv", "argument", "flag", "file"})
# The call above says which script it is.
_OF_EACH = frozenset({"from_script"})
_OF_A_CALL = re.compile(r"function|nargs|keyword|inferred|unresolved|arg[0-9]+(\..*)?|.*\.(name|from)|of\..*")


def call_text(event: Event, room: int, telling: Collection[str] = (), spots: Spots | None = None) -> Text:
    """`warpAffine(file="a.png", transform="M") → ok` in about `room` cells.

    Long values are cut, those of the `telling` arguments only when cutting the others is not enough. What `spots`
    point at is kept, otherwise the beginning and the end.
    """
    learn(event.args)
    head, tail = f"{middle(event.action, room // 2)}(", f") → {event.status}"
    left = room - cell_len(head) - cell_len(tail)
    hidden = _hidden(event)
    for limit, others in _limits(max(left, _SHORTEST)):
        parts = [
            _argument(name, texts, limit if name in telling else others, spots or {})
            for name, texts in event.args.items()
            if name in telling or name not in hidden
        ]
        if _width(parts) <= left:
            break
    else:
        while parts and _width([*parts, Text("…")]) > left:
            parts.pop()
        parts.append(Text("…"))
    return Text.assemble(head, Text(", ").join(parts), tail)


def _hidden(event: Event) -> Collection[str]:
    """The arguments that are left out where the event has others."""
    hidden = _OF_EACH
    if "process.run" in event.kinds:
        hidden |= _WORDS
    elif "code.call" in event.kinds:
        hidden |= frozenset(filter(_OF_A_CALL.fullmatch, event.args))
    return hidden if event.args.keys() - hidden else _OF_EACH


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


def _width(parts: Sequence[Text]) -> int:
    return sum(part.cell_len for part in parts) + 2 * max(len(parts) - 1, 0)


def _argument(name: str, texts: tuple[str, ...], limit: int, spots: Spots) -> Text:
    label = middle(name, 40) if _PLAIN_NAME.fullmatch(name) else f'"{_escaped(middle(name, 40))}"'
    told = masked_words(name, texts[:_VALUES_SHOWN])
    values = [
        _value(shown, limit, spots.get((name, text), ()) if shown == masked(text) else ())
        for text, shown in zip(texts, told, strict=False)
    ]
    if len(texts) == 1:
        return Text.assemble(label, "=", values[0])
    if len(texts) > _VALUES_SHOWN:
        values.append(Text(f"… {len(texts) - _VALUES_SHOWN} more"))
    return Text.assemble(label, "=[", Text(", ").join(values), "]")


def _value(text: str, limit: int, marks: Sequence[tuple[int, int]]) -> Text:
    if len(text) <= limit and type_of(text) != "text":
        return Text(text)
    if not marks:
        return Text(f'"{_escaped(middle(text, limit))}"')
    text, marks = masked_with(text, marks)
    whole = len(text) <= limit and cell_len(visible(text)) <= limit
    windows = [(0, len(text))] if whole else _windows(text, limit, marks[:_SPOTS_SHOWN])
    shown = Text('"')
    for start, end in windows:
        shown.append("…" if start > 0 else "")
        _append(shown, text, start, end, marks)
    return shown.append("…" if windows[-1][1] < len(text) else "").append('"')


def _escaped(shown: str) -> str:
    return shown.replace('"', '\\"')


def _append(shown: Text, text: str, start: int, end: int, marks: Sequence[tuple[int, int]]) -> None:
    """Add a piece of the text, with what the marks cover told apart."""
    at = start
    for low, high in sorted(marks):
        low, high = max(low, at), min(high, end)
        if low < high:
            shown.append(_escaped(visible(text[at:low])))
            shown.append(_escaped(visible(text[low:high])), _SPOT_STYLE)
            at = high
    shown.append(_escaped(visible(text[at:end])))


def _windows(text: str, room: int, marks: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The pieces of a long value to show: its ends, and twice as much of what surrounds each mark."""
    length = len(text)
    unit = max(room // (2 * len(marks) + 2), _SHORTEST // 2)
    wanted = [(0, unit), (length - unit, length)]
    for start, end in marks:
        lead = max(unit - (end - start) // 2, 0)
        wanted.append((start - lead, start - lead + 2 * unit))
    windows: list[tuple[int, int]] = []
    for start, end in sorted((before(text, max(start, 0)), after(text, min(end, length))) for start, end in wanted):
        if windows and start <= windows[-1][1] + 1:
            windows[-1] = (windows[-1][0], max(windows[-1][1], end))
        else:
            windows.append((start, end))
    return windows
