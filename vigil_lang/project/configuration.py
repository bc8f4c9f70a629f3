"""Finding the configuration of a project and loading it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vigil_lang.base.files import is_file, lies_in, read_source, real_path
from vigil_lang.base.structs import Frozen
from vigil_lang.diagnostics import Diagnostic, InputError, Source
from vigil_lang.project.settings import Settings

if TYPE_CHECKING:
    from vigil_lang.project.positions import Place

OWN, SHARED = "vigil.toml", "pyproject.toml"
_TABLE = ("tool", "vigil")


class Loaded(Frozen, frozen=True):
    """The settings, the file they come from (None where there is none), and what is wrong with it.

    Where something is wrong `settings` has the rest; an error among `findings` means that it must not be used.
    """

    settings: Settings
    path: Path | None = None
    findings: tuple[Diagnostic, ...] = ()

    @property
    def broken(self) -> bool:
        """Whether the configuration cannot be used."""
        return any(found.severity == "error" for found in self.findings)


def load(start: Path, explicit: Path | None = None) -> Loaded:
    """The configuration that counts in a folder: the given file, else the nearest one upwards from there.

    That is a `vigil.toml` or a `pyproject.toml` with `[tool.vigil]`, the former where both are in one folder.
    """
    if explicit is not None:
        return _load(start / explicit, str(explicit), start) or _no_table(start / explicit, str(explicit))
    for folder in (here := Path(os.path.abspath(start)), *here.parents):  # noqa: PTH100 - links are kept
        for name in (OWN, SHARED):
            path = folder / name
            if not is_file(path):
                continue
            if not lies_in(path, Path(real_path(folder))):
                return _led_out(path, _seen(path, start))
            if (loaded := _load(path, _seen(path, start), start)) is not None:
                return loaded
    return Loaded(Settings(folder=start))


def _load(path: Path, shown: str, start: Path) -> Loaded | None:
    """What a file sets; None for a pyproject.toml that has nothing for us."""
    # Late: without a configuration nothing of this costs start-up time.
    from vigil_lang.project.toml import MAX_BYTES

    try:
        text = read_source(str(path), MAX_BYTES).text
    except InputError as error:
        return Loaded(Settings(folder=path.parent), Path(shown), error.diagnostics)
    return loaded_from(text, path, start, shown)


def loaded_from(text: str, path: Path, start: Path, shown: str | None = None) -> Loaded | None:
    """What a file would set with this text, as seen from a folder; None for a pyproject.toml that has nothing for us.

    `shown` is what findings call it.
    """
    from vigil_lang.project.toml import read_toml
    from vigil_lang.project.validate import validate

    shown = shown or _seen(path, start)
    try:
        source = Source(shown, text)
        if path.name == SHARED and _TABLE[1] not in source.text:
            return None  # and whether it is valid is not ours to say
        whole = read_toml(source)
        found = _table(*whole) if path.name == SHARED else whole
        if found is None:
            return None
        data, place = found
        if not isinstance(data, dict):
            message = "`tool.vigil` is a table: write `[tool.vigil]`"
            raise InputError([Diagnostic.of("VGL005", message, source, place.key)])
    except InputError as error:
        return Loaded(Settings(folder=path.parent), Path(shown), error.diagnostics)
    base = _seen(path, start)[: -len(path.name)]
    settings, findings = validate(data, place, source, path.parent, base)
    return Loaded(settings, Path(shown), tuple(findings))


def _table(data: Any, place: Place) -> tuple[Any, Place] | None:
    """`[tool.vigil]` of a pyproject.toml."""
    for name in _TABLE:
        if not isinstance(data, dict) or name not in data:
            return None
        data, place = data[name], place.members.get(name, place)
    return data, place


def _no_table(path: Path, shown: str) -> Loaded:
    found = Diagnostic.of("VGL005", f"`{shown}` has no table `[tool.vigil]`", Source(shown, ""))
    return Loaded(Settings(folder=path.parent), Path(shown), (found,))


def _led_out(path: Path, shown: str) -> Loaded:
    message = f"the link `{shown}` leads out of its folder"
    help_text = "`--config` takes it, if that is meant; `--isolated` does without"
    found = Diagnostic.of("VGL005", message, Source(shown, ""), help=help_text)
    return Loaded(Settings(folder=path.parent), Path(shown), (found,))


def _seen(path: Path, start: Path) -> str:
    """The path as seen from `start`."""
    try:
        return os.path.relpath(path, start)
    except ValueError:  # another drive
        return str(path)
