"""What guards an agent, as files on this machine: no enforcement point lets its agent change these."""

from __future__ import annotations

import json
import os
import sys
import sysconfig
from typing import TYPE_CHECKING

from vigil_lang.base.resources import resource

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

INSTALLED = "installed"
"""The folder that says which settings of hosts we changed, a file each with its `path`; and of MCP clients."""
MCP = "mcp"
"""The folder of the state with what the proxy and its wrapping keep."""
_LONGEST = 64_000_000
_LIBRARIES = ("stdlib", "platstdlib", "purelib", "platlib")
"""Where our programs are made of: who changes these decides for them."""
_PYTHON = (sys.executable, os.path.join(sys.prefix, "pyvenv.cfg"))  # noqa: PTH118 - texts


def guarding_files(state: Path, more: Iterable[str]) -> tuple[str, ...]:
    """Absolute paths, as globs: the state folder, Vigil and its Python, the settings that it changed, and `more`."""
    own = [str(resource()), *(sysconfig.get_path(name) for name in _LIBRARIES)]
    paths = (str(state), *own, *_PYTHON, *_changed_settings(state), *more)
    return tuple(dict.fromkeys((*paths, f"{state}/**", *(f"{each}/**" for each in own))))


def _changed_settings(state: Path) -> Iterator[str]:
    try:
        kept = [each for folder in (state, state / MCP) for each in sorted((folder / INSTALLED).glob("*.json"))]
    except OSError:
        return
    for each in kept:
        try:
            with each.open("rb") as file:
                path = json.loads(file.read(_LONGEST))["path"]
        except (OSError, ValueError, LookupError, TypeError):
            continue  # it was never whole, or is no record of ours: nothing was changed by it
        if isinstance(path, str) and os.path.isabs(path):  # noqa: PTH117 - a text
            yield path
