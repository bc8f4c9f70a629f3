"""The value of one setting, read by the kind of the setting."""

from __future__ import annotations

import glob
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vigil_lang.base.files import lies_in, project_root, real_path
from vigil_lang.config.select import is_selector
from vigil_lang.config.table import LEVELS, WORD, Key
from vigil_lang.diagnostics import Diagnostic, Edit, Fix, nearest
from vigil_lang.diagnostics.visible import visible
from vigil_lang.paths import parted

if TYPE_CHECKING:
    from collections.abc import Callable

    from vigil_lang.config.positions import Place
    from vigil_lang.diagnostics import Source

_SHOWN = 60
_ENOUGH = 50
"""Findings after which no more is said than that there is one."""

_NOUNS = {
    "paths": "a list of paths",
    "path": "a path",
    "globs": "a list of globs",
    "codes": "a list of codes",
    "share": "a share from 0 to 1",
    "percent": "a number from 0 to 100",
    "whole": "a whole number",
    "amount": "a number",
    "word": "a name without spaces",
    "bool": "`true` or `false`",
    "params": "a table of values",
    "codes by glob": "a table of lists of codes",
    "levels by code": "a table of levels",
}


@dataclass(slots=True)
class Values:
    """Reads values of one file; `folder` and `base` as in `read_settings`."""

    source: Source
    folder: Path
    base: str
    findings: list[Diagnostic] = field(default_factory=list)

    def read(self, key: Key, value: object, place: Place) -> object | None:
        """The value as `Settings` has it, without those parts that are not valid; None where nothing remains."""
        match key.kind:
            case "bool" if isinstance(value, bool):
                return value
            case "choice" if isinstance(value, str):
                return self._choice(value, key.choices, place, f"`{key.name}`")
            case "share" if _is_number(value):
                return self._number(key, value, 1, place)
            case "percent" if _is_number(value):
                return self._number(key, value, 100, place)
            case "whole" | "amount" if _is_number(value):
                return self._bounded(key, value, place)
            case "word" if isinstance(value, str):
                return self._word(key, value, place)
            case "path" if isinstance(value, str):
                return self._path(value, place)
            case "paths":
                return self._list(key, value, place, self._path)
            case "globs":
                return self._list(key, value, place, self._glob)
            case "codes":
                return self._list(key, value, place, self._code)
            case "params" if isinstance(value, dict):
                return self._params(value, place)
            case "codes by glob" if isinstance(value, dict):
                return self._codes_by_glob(key, value, place)
            case "levels by code" if isinstance(value, dict):
                return self._levels(value, place)
        self._wrong_type(key, value, place)
        return None

    def _fail(self, message: str, place: Place, help_text: str | None = None, fix: Fix | None = None) -> None:
        self.findings.append(Diagnostic.of("VGL005", message, self.source, place.value, help=help_text, fix=fix))

    def _wrong_type(self, key: Key, value: object, place: Place) -> None:
        wanted = f"one of {_list(key.choices)}" if key.kind == "choice" else _NOUNS[key.kind]
        fix = None
        if isinstance(value, str) and key.kind in ("paths", "globs", "codes"):
            start, end = place.value
            fix = Fix("make it a list", (Edit(place.value, f"[{self.source.text[start:end]}]"),), safe=True)
        self._fail(f"`{key.name}` is {wanted}, not {_described(value)}", place, fix=fix)

    def _list(
        self, key: Key, value: object, place: Place, read: Callable[[str, Place], str | None]
    ) -> tuple[str, ...] | None:
        if not isinstance(value, list):
            self._wrong_type(key, value, place)
            return None
        taken = []
        for index, item in enumerate(value):
            at = place.items[index] if index < len(place.items) else place
            if not isinstance(item, str):
                self._fail(f"`{key.name}` is {_NOUNS[key.kind]}, and {_described(item)} is none", at)
            elif (one := read(item, at)) is not None:
                taken.append(one)
        return tuple(taken)

    def _choice(self, value: str, choices: tuple[str, ...], place: Place, name: str) -> str | None:
        if value in choices:
            return value
        near = self._near(value, choices)
        help_text = f"did you mean `{near}`?" if near else None
        fix = Fix(f"write `{near}`", (Edit(place.value, f'"{near}"'),)) if near else None
        self._fail(f"{name} is one of {_list(choices)}, not `{_short(value)}`", place, help_text, fix)
        return None

    def _number(self, key: Key, value: Any, limit: int, place: Place) -> float | None:
        finite = not isinstance(value, Decimal) or value.is_finite()
        if finite and 0 <= value <= limit:
            return float(value)
        help_text = None
        if finite and limit == 1 and 1 < value <= 100:
            help_text = f"{value} percent is {Decimal(value) / 100}"
        self._fail(f"`{key.name}` is {_NOUNS[key.kind]}, not `{_short(str(value))}`", place, help_text)
        return None

    def _bounded(self, key: Key, value: Any, place: Place) -> int | float | None:
        """A number within the setting's bounds; a whole one may be written as `3.0`, as in JSON."""
        finite = not isinstance(value, Decimal) or value.is_finite()
        least, most = (Decimal(str(bound)) for bound in (key.least, key.most))  # `0.1` as it is written
        if finite and least <= value <= most and (key.kind == "amount" or value == int(value)):
            return int(value) if key.kind == "whole" else float(value)
        wanted = f"{_NOUNS[key.kind]} from {key.least:,} to {key.most:,}"
        self._fail(f"`{key.name}` is {wanted}, not `{_short(str(value))}`", place)
        return None

    def _word(self, key: Key, value: str, place: Place) -> str | None:
        if WORD.fullmatch(value):
            return value
        self._fail(f"`{key.name}` is {_NOUNS[key.kind]}, not `{_short(value)}`", place)
        return None

    def _code(self, value: str, place: Place) -> str | None:
        if is_selector(value):
            return value
        near = value.upper() if is_selector(value.upper()) else None  # near by digits is another code
        help_text = (
            f"did you mean `{near}`?" if near else "a code is `VGL` and three digits, a prefix the beginning of some"
        )
        fix = Fix(f"write `{near}`", (Edit(place.value, f'"{near}"'),)) if near else None
        self._fail(f"`{_short(value)}` is no code, and no code begins so", place, help_text, fix)
        return None

    def _path(self, value: str, place: Place) -> str | None:
        """A path or glob from the folder of the configuration, as seen from where loading started."""
        if not value or "\0" in value:
            self._fail("a path cannot be empty" if not value else "a path cannot hold a NUL character", place)
            return None
        if value.startswith("~"):
            message = f"`~` is not expanded in `{_short(value)}`"
            self._fail(message, place, "paths are taken from the folder of the configuration")
            return None
        if not self._stays(value):
            self._fail(f"`{_short(value)}` leads out of the project of the configuration", place)
            return None
        if not self.base or Path(value).is_absolute():
            return value
        return (glob.escape(self.base) if glob.has_magic(value) else self.base) + value

    def _stays(self, value: str) -> bool:
        """Whether a path lies in the project; of a glob its beginning, for what it finds is looked at when it does."""
        root = project_root(Path(real_path(self.folder)))
        start, rest = parted(value)
        return ".." not in rest and all(lies_in(self.folder / path, root) for path in (value, start))

    def _glob(self, value: str, place: Place) -> str | None:
        reason = None
        if not value.strip("/"):
            reason = "names nothing"
        elif ".." in value.split("/"):
            reason = "leads out of the folder of the configuration, where it matches nothing"
        elif "\\" in value:
            reason = "has a backslash"
        if reason is None:
            return value
        help_text = "folders are separated by `/`" if "backslash" in reason else None
        self._fail(f"the glob `{_short(value)}` {reason}", place, help_text)
        return None

    def _params(self, table: dict[str, object], place: Place) -> dict[str, object]:
        taken: dict[str, object] = {}
        for name, value in table.items():
            if all(map(_is_scalar, value if isinstance(value, list) else [value])):
                taken[name] = value
            else:
                at = place.members.get(name, place)
                self._fail(f"a param is a text, a number, a truth value or a list of them, not {_described(value)}", at)
        return taken

    def _codes_by_glob(self, key: Key, table: dict[str, object], place: Place) -> dict[str, tuple[str, ...]]:
        taken: dict[str, tuple[str, ...]] = {}
        for pattern, codes in table.items():
            at = place.members.get(pattern, place)
            inner = Key(f"{key.name}.{_short(pattern)}", "codes", "", "")
            read = self._list(inner, codes, at, self._code)
            where = type(at)(at.key, at.key)
            if (valid := self._glob(pattern, where)) is not None and read is not None:
                taken[valid] = read
        return taken

    def _levels(self, table: dict[str, object], place: Place) -> dict[str, str]:
        taken: dict[str, str] = {}
        for prefix, level in table.items():
            at = place.members.get(prefix, place)
            code = self._code(prefix, type(at)(at.key, at.key))
            if not isinstance(level, str):
                self._fail(f"a level is one of {_list(LEVELS)}, not {_described(level)}", at)
            elif (one := self._choice(level, LEVELS, at, "a level")) is not None and code is not None:
                taken[code] = one
        return taken

    def _near(self, value: str, names: tuple[str, ...]) -> str | None:
        if len(self.findings) > _ENOUGH:
            return None
        near = nearest(value[: 2 * _SHOWN], names, 1)
        return near[0] if near else None


def _is_number(value: object) -> bool:
    return isinstance(value, int | Decimal) and not isinstance(value, bool)


def _is_scalar(value: object) -> bool:
    if isinstance(value, Decimal):
        return value.is_finite()
    return isinstance(value, str | int)


def _described(value: object) -> str:
    """What a value is, in words."""
    match value:
        case bool():
            return f"`{str(value).lower()}`"
        case str():
            return "text"
        case list():
            return "a list"
        case dict():
            return "a table"
        case int() | Decimal():
            return "a number" if _is_scalar(value) else f"`{value}`"
        case _:
            return "a date or time"


def _short(text: str) -> str:
    return visible(text[:_SHOWN]) + ("…" if len(text) > _SHOWN else "")


def _list(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in names)
