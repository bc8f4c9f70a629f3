"""docs/configuration.md has every setting as the table has it, and its example does what it shows.

After a change of the table: ``VIGIL_UPDATE=1 pytest tests/project``.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from config_support import in_toml, properties
from spec_blocks import blocks

from vigil_lang.base.resources import resource
from vigil_lang.cli.main import run
from vigil_lang.project.validate import tables

if TYPE_CHECKING:
    import pytest

PAGE = Path(__file__).parents[2] / "docs" / "configuration.md"
MADE = re.compile(r"(?<=<!-- made from vigil_lang/project/settings.py -->\n).*?(?=<!-- end -->)", re.DOTALL)


def written() -> str:
    parts = []
    for name, table in tables().items():
        parts += [f"\n## `[{name}]`\n\n{table.__doc__}\n"] if name else ["\n## At the top\n"]
        parts.append("\n| setting | | by default | for example |\n|---|---|---|---|\n")
        for setting, about in properties(name).items():
            usual = "" if about["default"] in (None, (), {}) else f"`{json.dumps(about['default'])}`"
            row = (f"`{setting}`", about["description"], usual, f"`{in_toml(about['examples'][0])}`")
            parts.append(f"| {' | '.join(row)} |\n")
    return "".join(parts) + "\n"


def test_the_page_has_every_setting() -> None:
    text = PAGE.read_text(encoding="utf-8")
    if os.environ.get("VIGIL_UPDATE"):
        PAGE.write_text(MADE.sub(lambda _: written(), text), encoding="utf-8")
        text = PAGE.read_text(encoding="utf-8")
    found = MADE.search(text)
    assert found is not None
    assert found[0] == written()


def test_the_example_does_what_it_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    found = blocks(PAGE)
    for block in found:
        if block.args[:1] == ("as",):
            path = tmp_path / block.args[1]
            path.parent.mkdir(exist_ok=True)
            path.write_text(block.text, encoding="utf-8")
    (console,) = (block.text for block in found if block.kind == "console")
    command, _, screen = console.partition("\n")
    assert run(command.removeprefix("$ vigil ").split()) == 1
    assert capsys.readouterr().out == screen


def test_the_same_settings_may_stand_in_pyproject(tmp_path: Path) -> None:
    from vigil_lang.project.configuration import load

    (own,) = (block.text for block in blocks(PAGE) if block.args == ("as", "vigil.toml"))
    (tmp_path / "vigil.toml").write_text(own, encoding="utf-8")
    alone = load(tmp_path)
    (tmp_path / "vigil.toml").unlink()
    shared = own.replace("[lint]", "[tool.vigil.lint]").replace("[test]", "[tool.vigil.test]")
    (tmp_path / "pyproject.toml").write_text(f"[tool.vigil]\n{shared}", encoding="utf-8")
    assert load(tmp_path).settings == alone.settings
    assert not alone.findings
    assert tomllib.loads(own)


def test_the_schema_is_where_the_page_says() -> None:
    assert resource("vigil.schema.json").is_file()
