"""docs/deployment.md: the tests, verbs, files and links that it names are there."""

from __future__ import annotations

import re
from pathlib import Path

from vigil_lang.cli.gate import command
from vigil_lang.gate.settings import Settings

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "deployment.md").read_text(encoding="utf-8")


def test_each_test_that_it_names_is_there() -> None:
    files = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py")}
    named = re.findall(r"`(test_\w+\.py)`((?:,? `test_\w+`)*)", PAGE)
    assert len(named) > 15
    for file, tests in named:
        assert file in files
        for test in re.findall(r"`(test_\w+)`", tests):
            assert f"def {test}(" in files[file], (file, test)


def test_each_part_that_may_be_down_was_tried() -> None:
    (table,) = re.findall(r"^\| what \| what happens .*?\n\n", PAGE, re.DOTALL | re.MULTILINE)
    rows = table.splitlines()[2:]
    assert len([row for row in rows if row.startswith("|")]) >= 10
    assert [row for row in rows if row.startswith("|") and "test_" not in row] == []


def test_each_verb_and_file_that_it_names_is_there() -> None:
    assert [verb for verb in re.findall(r"vigil gate ([a-z-]+)", PAGE) if verb not in command.commands] == []
    for link in re.findall(r"\]\(([^)#]+)", PAGE):
        assert (ROOT / "docs" / link).exists(), link
    for table, name in re.findall(r"`(\w+)\.(\w+)`", PAGE):
        if table in Settings.__struct_fields__ and name not in ("vkey", "pem"):  # settings, no files
            assert name in type(getattr(Settings(), table)).__struct_fields__
