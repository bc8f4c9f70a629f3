"""docs/gate-rules.md: its policies are free of findings, its tests pass, what it imports comes out as it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from vigil_lang.cli.test import command
from vigil_lang.diagnostics import Source
from vigil_lang.gate.importing import KINDS, import_rules_text
from vigil_lang.lint.rule_layers import default_layer
from vigil_lang.lint.run import Plan, lint
from vigil_lang.syntax.format import format_text

TEXT = (Path(__file__).parents[2] / "docs" / "gate-rules.md").read_text(encoding="utf-8")
BLOCKS = dict(re.findall(r"^```(\w+ \w+(?: [\w.]+)?)\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE))


@pytest.mark.parametrize("name", ["vgl as org.vgl", "vgl as personal.vgl", "vgl imported"])
def test_a_policy_is_formatted_and_free_of_findings(name: str) -> None:
    source = Source("<stdin>", BLOCKS[name])
    assert format_text(source) == source.text
    assert [d.message for d in lint(source, Plan()).findings] == []


def test_its_tests_pass(tmp_path: Path) -> None:
    for name in ("org.vgl", "org_test.vgl"):
        (tmp_path / name).write_text(BLOCKS[f"vgl as {name}"], encoding="utf-8")
    result = CliRunner().invoke(command, [str(tmp_path)], standalone_mode=False)
    assert result.return_value == 0, result.output
    test = BLOCKS["vgl as org_test.vgl"]
    assert format_text(Source("org_test.vgl", test)) == test


def test_what_is_imported_comes_out_as_it_says() -> None:
    assert import_rules_text(Source("rules.yaml", BLOCKS["yaml as rules.yaml"])) == BLOCKS["vgl imported"]


def test_it_names_every_type_and_every_param_that_it_sets() -> None:
    assert [name for name in KINDS if f"`{name}`" not in TEXT] == []
    given = re.findall(r"^(\w+) = ", TEXT[TEXT.index("[params]") :], re.MULTILINE)
    assert set(given) <= default_layer().declared
