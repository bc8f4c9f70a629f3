"""Durations on the command line: `90s`, `10m`, `8h`, `30d`."""

from __future__ import annotations

import re
from typing import Any

import click

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_FORM = re.compile(r"([0-9]{1,9})([smhd])", re.ASCII)


class Duration(click.ParamType[int]):
    """A number of seconds, from 1 to ten years."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        found = _FORM.fullmatch(value)
        seconds = int(found[1]) * _UNITS[found[2]] if found else 0
        if not 1 <= seconds <= 3650 * 86400:
            self.fail(f"'{value}' is not a duration such as 90s, 10m, 8h or 30d, of at most ten years.", param, ctx)
        return seconds
