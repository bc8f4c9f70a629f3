"""Values in full: an action's arguments, or an entry, line by line and in parts that a page has room for."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from vigil_lang.diagnostics.secrets import masked_value
from vigil_lang.service.page.rendering import shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from markupsafe import Markup

PART = 40_000
"""Bytes of a part, as it is sent."""

_LONG = 2000
"""Characters of a value that others are not hidden behind."""

_LINE = 1000
"""Characters of a line that is not cut in two."""


class Row(NamedTuple):
    """A named value. `form` says how its lines are to be read: a text as it is (`text`), or JSON (`json`)."""

    name: str
    form: str
    lines: list[Markup]


def parts(value: Mapping[str, Any]) -> list[list[Row]]:
    """Named values in parts, at least one; a row that a part has no room for goes on in the next."""
    found: list[list[Row]] = [[]]
    used = 0
    for name, each in masked_value(dict(value)).items():
        form, lines = _lines(each)
        row: Row | None = None
        head = len(shown(name).encode())
        for line in lines:
            size = len(line.encode()) + 20
            if used and used + size > PART:
                found.append([])
                used, row = 0, None
            if row is None:
                row = Row(name, form, [])
                found[-1].append(row)
                used += head + 60
            row.lines.append(line)
            used += size
    return found


def _lines(value: object) -> tuple[str, Iterator[Markup]]:
    if isinstance(value, str):
        if "\n" in value.rstrip("\n") and value.isprintable() is False:
            return "text", _pieces(value.split("\n"), ends=True)
        return "json", _pieces([json.dumps(value, ensure_ascii=False)])
    return "json", _pieces(json.dumps(value, ensure_ascii=False, indent=2).split("\n"))


def _pieces(lines: list[str], *, ends: bool = False) -> Iterator[Markup]:
    for at, line in enumerate(lines):
        text = line
        while len(text) > _LINE:
            yield shown(text[:_LINE], _LINE)
            text = text[_LINE:]
        yield shown(text + ("\n" if ends and at < len(lines) - 1 else ""), _LINE + 1)


def of_action(action: object) -> dict[str, Any]:
    """The arguments of an action by their names, or its events: what is long comes behind the others."""
    if not isinstance(action, dict):
        return {}
    given = action.get("input", action.get("events", action))
    if not isinstance(given, dict):
        return {"steps": given}
    return dict(sorted(given.items(), key=lambda each: len(str(each[1])) > _LONG))
