"""docs/eval.md: its commands print what it shows, with the files that it writes down; and it has every option."""

from __future__ import annotations

import re
import shutil
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from jsonschema import Draft7Validator

from vigil_lang.cli.eval import command
from vigil_lang.evaluation.corpus import LAYOUTS, corpus_schema

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.cli.cli_support import Result

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "eval.md").read_text(encoding="utf-8")
FILES = re.findall(r"^```\w+ (\S+)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
SCREENS = re.findall(r"^```console\n\$ vigil (.*?)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
STATUSES = (0, 1, 0, 1)
OWN = {"--color", "--show-secrets", "--config", "--isolated", "--output", "--help"}
"""Options of every verb."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("screen", "status"), list(zip(SCREENS, STATUSES, strict=True)), ids=[line for line, _ in SCREENS]
)
def test_the_screen_is_what_the_command_prints(
    screen: tuple[str, str],
    status: int,
    vigil: Callable[..., Result],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    (tmp_path / ".git").mkdir()
    for name, text in FILES:
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    line, shown = screen
    result = vigil(*line.split())
    assert (result.out, result.err, result.status) == (shown, "", status)
    if "-o" in line.split():
        assert (tmp_path / "results.md").read_text(encoding="utf-8").startswith("## `Rules of skills`")


def test_the_page_has_every_option_key_and_layout() -> None:
    options = {option for each in command.params for option in each.opts if option.startswith("--")} - OWN
    assert {option for option in options if option not in PAGE} == set()
    keys = {*corpus_schema()["properties"], *corpus_schema()["definitions"]["Group"]["properties"]}
    assert {key for key in keys if f"`{key}`" not in PAGE and f"[{key}]" not in PAGE} == set()
    assert {layout for layout in LAYOUTS if f"| `{layout}` |" not in PAGE} == set()


def test_a_part_of_a_corpus_is_right() -> None:
    (part,) = re.findall(r"^```toml\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    Draft7Validator(corpus_schema()).validate(tomllib.loads(part))
    assert part in (ROOT / "examples" / "eval" / "corpus.toml").read_text(encoding="utf-8")


def test_it_is_linked() -> None:
    for page in ("README.md", "docs/benchmarks.md", "CHANGELOG.md"):
        assert "eval.md" in (ROOT / page).read_text(encoding="utf-8"), page
