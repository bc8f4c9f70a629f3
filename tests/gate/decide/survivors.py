"""Whether every mutant that survived is one that docs/gate-kernel.md explains: the end of `make mutants`."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "gate-kernel.md"


def diff(name: str) -> str:
    """What a mutant changes: the line that it puts in place of another, or takes away."""
    shown = subprocess.run([MUTMUT, "show", name], capture_output=True, text=True, check=True).stdout
    changed = sorted(line for line in shown.splitlines() if re.match(r"\+(?!\+\+)|-(?!--)", line))
    return next((line[1:].strip() for line in changed), name)


MUTMUT = str(Path(sys.executable).parent / "mutmut")

if __name__ == "__main__":
    told = subprocess.run([MUTMUT, "results"], capture_output=True, text=True, check=True).stdout
    alive = re.findall(r"(\S+): (?!killed)(\w[\w ]*)", told)
    page = PAGE.read_text(encoding="utf-8")
    unexplained = [(name, state, line) for name, state in alive if f"`{(line := diff(name))}`" not in page]
    for name, state, line in unexplained:
        print(f"{name} {state}: {line}")
    print(f"{len(alive)} mutants live, {len(unexplained)} of them unexplained")
    sys.exit(1 if unexplained else 0)
