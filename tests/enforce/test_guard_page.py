"""docs/guard.md and docs/monitor.md: each of their programs is complete and runs, and they are linked."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [(ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("guard.md", "monitor.md")]
PROGRAMS = [p for page in PAGES for p in re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)]


@pytest.mark.parametrize("program", PROGRAMS, ids=range(1, len(PROGRAMS) + 1))
def test_a_program_runs(program: str) -> None:
    exec(compile(program, "docs", "exec"), {"__name__": "__main__"})


def test_the_page_is_linked() -> None:
    for page in ("README.md", "docs/api.md"):
        assert "guard.md)" in (ROOT / page).read_text(encoding="utf-8")
    for name in ("guard.md", "follow.md", "replay.md"):
        assert "monitor.md)" in (ROOT / "docs" / name).read_text(encoding="utf-8")
