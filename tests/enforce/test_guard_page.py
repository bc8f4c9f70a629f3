"""docs/guard.md: each of its programs is complete and runs, and it is linked."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "guard.md").read_text(encoding="utf-8")
PROGRAMS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("program", PROGRAMS, ids=range(1, len(PROGRAMS) + 1))
def test_a_program_runs(program: str) -> None:
    exec(compile(program, "docs/guard.md", "exec"), {"__name__": "__main__"})


def test_the_page_is_linked() -> None:
    for page in ("README.md", "docs/api.md"):
        assert "guard.md)" in (ROOT / page).read_text(encoding="utf-8")
