"""A checkout that somebody has filled with what Python, pip and libraries look for where they are started."""

from __future__ import annotations

import shutil
import subprocess
import sys
from importlib.metadata import packages_distributions
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_LIBRARY = """\
#include <stdio.h>
__attribute__((constructor)) static void begin(void) {
    FILE *file = fopen("%s", "a");
    fputs("a library\\n", file);
    fclose(file);
}
"""


def plant(checkout: Path) -> Path:
    """Fill a checkout; the file, outside of it, in which each thing that is run leaves its name."""
    told = checkout.parent / f"{checkout.name} has run.txt"
    names = {*sys.stdlib_module_names, *packages_distributions(), "sitecustomize", "usercustomize", "setup"}
    for name in sorted(names):
        if name.isidentifier():
            _write(checkout / f"{name}.py", name, told)
    for package in ("vigil_lang", "vigil_lsp", "multiprocessing", "json", "pip", "venv", "z3"):
        (checkout / package).mkdir()
        for part in ("__init__", "__main__"):
            _write(checkout / package / f"{part}.py", package, told)
    (checkout / "planted.pth").write_text(f"import sys; open({str(told)!r}, 'a').write('pth')\n", encoding="utf-8")
    for name in ("pip.conf", "pip.ini", "setup.cfg", "requirements.txt"):
        (checkout / name).write_text("[global]\nno-index = true\n", encoding="utf-8")
    compiler = shutil.which("cc")
    if compiler is not None:
        source = checkout.parent / "library.c"
        source.write_text(_LIBRARY % told, encoding="utf-8")
        library = checkout / "libz3.so"
        subprocess.run([compiler, "-shared", "-fPIC", "-o", str(library), str(source)], check=True, timeout=60)
        for name in ("libz3.so.5.4", "libz3.dylib", "libz3.dll"):
            shutil.copy(library, checkout / name)
    return told


def _write(path: Path, name: str, told: Path) -> None:
    path.write_text(f"with open({str(told)!r}, 'a') as told:\n    print({name!r}, file=told)\n", encoding="utf-8")


def has_run(told: Path) -> list[str]:
    """The names of what was run."""
    return told.read_text(encoding="utf-8").splitlines() if told.exists() else []
