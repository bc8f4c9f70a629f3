"""Durations on the command line: `90s`, `10m`, `8h`, `30d`, `2w`."""

from __future__ import annotations

import re
from typing import Any

import click

_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604_800}
_FORM = re.compile(r"([0-9]{1,9})([smhdw]?)", re.ASCII)


class Duration(click.ParamType[int]):
    """A number of seconds, from `least` to ten years; with `bare` also written as a number alone."""

    name = "duration"

    def __init__(self, least: int = 1, *, bare: bool = False) -> None:
        self._least = least
        self._bare = bare

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        found = _FORM.fullmatch(value)
        if found and not found[2] and not self._bare:
            found = None
        seconds = int(found[1]) * _UNITS[found[2]] if found else 0
        if not found or not self._least <= seconds <= 3660 * 86400:
            self.fail(f"'{value}' is not a duration such as 90s, 10m, 8h, 30d or 2w, of at most ten years.", param, ctx)
        return seconds
