"""Texts cut to a length, the one way: with `…` for what is left out, and never within a secret, or a name if it can be.

A secret that a cut would fall into is left out whole: half of one could not be told from another text, nor be masked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.diagnostics.secrets import TAG, find, masked
from vigil_lang.diagnostics.visible import escaped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.text import Text

_NAME = 24
"""Code points of a name that is left out rather than cut."""

_ROOM = 12
"""Code points below which a part of a name is better than none."""


def cut(text: str, most: int) -> str:
    """The beginning of a text, in at most so many code points."""
    return text if len(text) <= most else f"{text[: before(text, most - 1)].rstrip()}…"


def cut_middle(text: str, most: int) -> str:
    """The beginning and the end of a text, in at most so many code points."""
    if len(text) <= most:
        return text
    first, last = most // 2, most - most // 2 - 1
    return f"{text[: before(text, first)]}…{text[after(text, len(text) - last) :]}"


def middle(text: str, room: int) -> str:
    """The text as `visible` has it, with `…` for its middle where it is longer than `room` cells."""
    from rich.cells import cell_len

    text = masked(text)
    if len(text) <= room and cell_len(shown := escaped(text)) <= room:
        return shown
    first, last = room // 2, room - room // 2 - 1
    spare = room + _NAME
    head = _taken([escaped(part) for part in _parts(text[:spare])], first)
    tail = _taken([escaped(part) for part in reversed(_parts(text[-spare:]))], last)
    return "".join(head) + "…" + "".join(reversed(tail))


def before(text: str, at: int) -> int:
    """The last place up to `at` where a text may be cut."""
    return _out_of_secrets(text, _whole_names(text, at))[0]


def after(text: str, at: int) -> int:
    """The first place from `at` on where a text may be cut."""
    rest = text[max(at - 1, 0) :][::-1]
    return _out_of_secrets(text, len(text) - _whole_names(rest, len(text) - at))[1]


def fit(line: Text, width: int) -> None:
    """Cut a line of a screen, which is fit for one, to so many cells."""
    from rich.cells import cell_len

    if cell_len(line.plain) <= width:
        return
    kept = _taken(_parts(line.plain), width - 1)
    line.right_crop(len(line.plain) - len("".join(kept)))
    line.append("…")


def _out_of_secrets(text: str, at: int) -> tuple[int, int]:
    """Where a text may end, and where it may begin, that is cut at a place: neither in a secret or the tag of one, nor
    between a secret and what tells that it is one."""
    for start, end, _, sign, told in find(text):
        if sign < at < told:
            return min(start, at), max(end, at)
    near = max(at - _NAME, 0)
    for tag in TAG.finditer(text, near, at + _NAME):
        if tag.start() < at < tag.end():
            return tag.span()
    return at, at


def _parts(text: str) -> list[str]:
    """The characters of a masked text, each tag being one."""
    parts: list[str] = []
    at = 0
    for tag in TAG.finditer(text):
        parts += [*text[at : tag.start()], tag[0]]
        at = tag.end()
    return [*parts, *text[at:]]


def _taken(parts: list[str], room: int) -> list[str]:
    """The first parts that fit into so many cells."""
    from rich.cells import cell_len

    used = count = 0
    while count < len(parts) and used + cell_len(parts[count]) <= room:
        used += cell_len(parts[count])
        count += 1
    return parts[: _whole_names(parts, count)]


def _whole_names(parts: Sequence[str], count: int) -> int:
    """How many of the first parts stay, so many at most, if no name is cut: a long one is, or most of a text."""
    kept = end = count
    while count - kept <= _NAME and _cuts_a_name(parts, kept):
        kept -= 1
    while end - kept <= _NAME and _cuts_a_name(parts, end):
        end += 1
    return count if count < _ROOM or 3 * kept < count or end - kept > _NAME else kept


def _cuts_a_name(parts: Sequence[str], at: int) -> bool:
    return 0 < at < len(parts) and _is_name(parts[at - 1]) and _is_name(parts[at])


def _is_name(character: str) -> bool:
    return len(character) == 1 and (character.isalnum() or character in "_-")
