"""docs/api.md: its examples run, in order, are type-checked as a file of the tests, and all names are on it."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import vigil_lang

if TYPE_CHECKING:
    import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
EXAMPLES = Path(__file__).with_name("api_examples.py")
HEAD = '''"""The examples of docs/api.md, for the type checker: made from the page."""

# ruff: noqa: PT017

from __future__ import annotations

'''


def program() -> str:
    return "\n".join(re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE))


def test_the_examples_are_those_that_are_type_checked() -> None:
    if os.environ.get("VIGIL_UPDATE"):
        EXAMPLES.write_text(HEAD + program(), encoding="utf-8")
    assert EXAMPLES.read_text(encoding="utf-8") == HEAD + program()


def test_the_examples_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    names: dict[str, object] = {}
    exec(compile(program(), "docs/api.md", "exec"), names)
    assert names["message"]  # the last example ran


def test_all_names_are_on_the_page_and_no_other() -> None:
    table = PAGE.partition("## All names")[2]
    cells = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    named = {name for cell in cells for name in re.findall(r"`(\w+)", cell)}
    assert named == set(vigil_lang.__all__)


def test_the_page_is_linked() -> None:
    assert "(docs/api.md)" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert (ROOT / "vigil_lang" / "py.typed").is_file()
