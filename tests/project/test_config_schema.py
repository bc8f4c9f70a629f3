"""docs/vigil.schema.json is made of the table of settings, is a valid schema, and allows what is read.

After a change of the table: ``VIGIL_UPDATE=1 pytest tests/project``.
"""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from config_support import SETTINGS, in_toml
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft7Validator

from vigil_lang.diagnostics import CODES
from vigil_lang.project.configuration import load
from vigil_lang.project.schema import schema, schema_text
from vigil_lang.project.settings import Settings

STORED = Path(__file__).parents[2] / "docs" / "vigil.schema.json"


def test_the_stored_schema_is_the_tables() -> None:
    if os.environ.get("VIGIL_UPDATE"):
        STORED.write_text(schema_text(schema()), encoding="utf-8")
    assert STORED.read_text(encoding="utf-8") == schema_text(schema())


def test_it_is_a_schema_in_draft_07() -> None:
    Draft7Validator.check_schema(json.loads(STORED.read_text(encoding="utf-8")))


@pytest.mark.parametrize(("name", "about"), SETTINGS.items(), ids=SETTINGS)
def test_an_example_is_allowed_and_is_no_default(name: str, about: dict[str, Any], tmp_path: Path) -> None:
    text = f"{name} = {in_toml(about['examples'][0])}\n"
    (tmp_path / "vigil.toml").write_text(text, encoding="utf-8")
    loaded = load(tmp_path)
    assert loaded.findings == ()
    assert loaded.settings != Settings(folder=tmp_path)
    Draft7Validator(schema()).validate(tomllib.loads(text))


def test_every_setting_is_described() -> None:
    assert all(about["description"] and len(about["examples"]) == 1 for about in SETTINGS.values())


WRONG = [
    'runs = "runs/"',
    "runs = [3]",
    'runs = [""]',
    "params = {a = {b = 1}}",
    "params = {a = [[1]]}",
    'fail-level = "fatal"',
    "fail_level = 'error'",
    "lint = 3",
    'lint.select = ["E501"]',
    'lint.select = ["VGL999"]',
    'lint.select = ["vgl301"]',
    'lint.severity = {VGL301 = "off"}',
    'lint.severity = {X = "error"}',
    'lint.per-file-ignores = {"a" = "VGL3"}',
    "lint.benign-threshold = 1.5",
    "lint.benign-threshold = true",
    "lint.inline-ignores = 'no'",
    "test.fail-under = 101",
    "test.paths = 'x'",
    "fmt.spelling = 'ASCII'",
    "unknown = 1",
    "lint.unknown = 1",
]


@pytest.mark.parametrize("text", WRONG)
def test_the_schema_and_the_reader_refuse_the_same(text: str, tmp_path: Path) -> None:
    (tmp_path / "vigil.toml").write_text(text, encoding="utf-8")
    assert len(load(tmp_path).findings) == 1
    assert not Draft7Validator(schema()).is_valid(tomllib.loads(text))


def test_the_schema_and_the_reader_know_the_same_codes(tmp_path: Path) -> None:
    texts = ["ALL", *sorted({code[:size] for code in CODES for size in range(7)}), "VGL9999", "VGL99", "E", "all"]
    validator = Draft7Validator(schema())
    for text in texts:
        (tmp_path / "vigil.toml").write_text(f'lint.ignore = ["{text}"]\n', encoding="utf-8")
        assert validator.is_valid({"lint": {"ignore": [text]}}) == (not load(tmp_path).findings), text


scalars = st.one_of(
    st.sampled_from(["", "a", "runs/", "VGL3", "VGL301", "VGL999", "ALL", "error", "never", "unicode", "keep"]),
    st.sampled_from([0, 1, -1, 50, 101, 0.0, 0.5, 1.0, 1.5, 99.5, True, False]),
)
anything = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=2), st.dictionaries(st.sampled_from(["a", "VGL3", "select"]), inner, max_size=2)
    ),
    max_leaves=4,
)


@given(st.dictionaries(st.sampled_from([*SETTINGS, "lint.x", "y"]), anything, max_size=2))
def test_they_agree_on_any_values(settings: dict[str, Any]) -> None:
    text = "".join(f"{name} = {in_toml(value)}\n" for name, value in settings.items())
    with TemporaryDirectory() as folder:
        (Path(folder) / "vigil.toml").write_text(text, encoding="utf-8")
        findings = load(Path(folder)).findings
    assert Draft7Validator(schema()).is_valid(tomllib.loads(text)) == (not findings), text
