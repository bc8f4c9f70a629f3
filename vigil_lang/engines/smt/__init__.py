"""Judging with an SMT solver: everything that imports pysmt or Z3 is in here.

Z3 is made to load its library from its own package. By itself it looks into the working directory before that, and into
PATH for a name that its package lacks: a checkout with a `libz3.so` in it would have it run.
"""

from __future__ import annotations

import builtins
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any


class _Places(list[str]):
    """Folders to which z3 adds none when it is imported."""

    def extend(self, _: Any) -> None:
        """Leave out what PATH, PYTHONPATH and Z3_LIBRARY_PATH name."""


def _places() -> _Places:
    spec = find_spec("z3")
    packages = [Path(place).resolve() for place in (spec and spec.submodule_search_locations) or ()]
    found = [place for package in packages for place in (package / "lib", package)]
    return _Places(map(str, [*found, Path(sys.prefix, "lib")]))


builtins.Z3_LIB_DIRS = _places()  # type: ignore[attr-defined]
