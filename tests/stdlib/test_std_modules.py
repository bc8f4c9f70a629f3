"""Every standard module is documented, formatted, free of findings, and loaded by its name."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from vigil_lang.cli.test import command
from vigil_lang.lint.check import check_policy
from vigil_lang.semantics.modules import standard_modules
from vigil_lang.semantics.policy import load_policy, policy_source
from vigil_lang.syntax.format import format_text

MODULES = standard_modules()


def test_the_modules() -> None:
    assert MODULES == [
        "std.approvals",
        "std.artifacts",
        "std.confirmation",
        "std.database",
        "std.files",
        "std.git",
        "std.guard",
        "std.payments",
        "std.provenance",
        "std.pull_requests",
        "std.secrets",
    ]


@pytest.mark.parametrize("name", MODULES)
def test_a_module_is_named_documented_and_formatted(name: str) -> None:
    source = policy_source(name)
    file = load_policy(name).module.file
    assert file.name is not None
    assert file.name.text == name
    assert file.doc
    assert [item.span for item in file.items if not item.doc and hasattr(item, "name")] == []
    assert format_text(source) == source.text


@pytest.mark.parametrize("name", MODULES)
def test_a_module_is_free_of_findings(name: str) -> None:
    policy = load_policy(name)
    assert [d.message for d in (*policy.diagnostics, *check_policy(policy))] == []


@pytest.mark.parametrize("name", MODULES)
def test_a_module_has_tests_that_pass(name: str) -> None:
    result = CliRunner().invoke(command, [name], standalone_mode=False)
    assert result.exception is None
    assert result.return_value == 0, result.output


def test_only_the_guard_has_statements() -> None:
    assert [name for name in MODULES if load_policy(name).statements] == ["std.guard"]
    assert 5 <= len(load_policy("std.guard").statements) <= 10
