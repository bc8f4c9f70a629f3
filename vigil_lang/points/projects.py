"""Which policies the project of an agent names, and which files say so. Asked for when a run begins."""

from __future__ import annotations

import os
from pathlib import Path

from vigil_lang.base.files import is_file
from vigil_lang.diagnostics import InputError
from vigil_lang.points.policies import PoliciesUnknown
from vigil_lang.project.configuration import OWN, load
from vigil_lang.project.paths import TESTS, policy_paths


def project_policies(folder: str) -> tuple[str, ...]:
    """The policies that `[hook] policies` of the nearest configuration names: absolute paths, standard modules by name.

    Raises:
        PoliciesUnknown: the configuration or a path in it is at fault.
    """
    loaded = load(Path(folder))
    if loaded.broken:
        raise PoliciesUnknown(f"{_at(folder, loaded.path)}: {loaded.findings[0].message}")
    found: list[str] = []
    for given in loaded.settings.hook.policies:
        name = os.path.basename(given)  # noqa: PTH119 - texts as the settings have them
        path = os.path.normpath(os.path.join(folder, given))  # noqa: PTH118
        if name.startswith("std.") and not os.path.lexists(path):
            found.append(name)
            continue
        try:
            named = policy_paths([path], loaded.settings.excludes)
        except InputError as error:
            raise PoliciesUnknown(f"{_at(folder, loaded.path)}: {error.diagnostics[0].message}") from error
        found += [each for each in named if not each.endswith(TESTS)]
    return tuple(dict.fromkeys(found))


def configuration_files(folder: str) -> tuple[str, ...]:
    """The files upwards from a folder that say, or could say if they were written, which policies apply there.

    A `pyproject.toml` that says nothing for us is edited as ever.
    """
    here = Path(folder)
    found = [str(each / OWN) for each in (here, *here.parents) if is_file(each / OWN)]
    loaded = load(here).path
    named = [] if loaded is None else [os.path.normpath(here / loaded)]
    return tuple(dict.fromkeys((*found, *named, str(here / OWN))))


def _at(folder: str, path: Path | None) -> str:
    return os.path.normpath(os.path.join(folder, path or OWN))  # noqa: PTH118 - a text for a message
