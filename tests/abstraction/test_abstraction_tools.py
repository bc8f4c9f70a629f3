"""Tools by name: what ships as data, and how a name finds it."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from vigil_lang.abstraction.tools import UNKNOWN, Tool, tool
from vigil_lang.base.resources import resource
from vigil_lang.trace.vocabulary import vocabulary

FIELDS = {
    "aliases", "kinds", "roles", "set", "effects", "shell", "keeps", "code", "cwd", "content", "replaces", "edits",
    "patch", "shows", "reads", "by",
}  # fmt: skip


def tables() -> list[tuple[str, dict[str, Any]]]:
    own = tomllib.loads(resource("stdlib", "tools", "harnesses.toml").read_text("utf-8"))
    servers = tomllib.loads(resource("stdlib", "tools", "mcp.toml").read_text("utf-8"))
    return [*own.items(), *((f"{s}.{name}", table) for s, tools in servers.items() for name, table in tools.items())]


@pytest.mark.parametrize(("name", "table"), tables(), ids=[name for name, _ in tables()])
def test_every_table_speaks_the_vocabulary(name: str, table: dict[str, Any]) -> None:
    words = vocabulary()
    for part in (table, *(v for values in table.get("by", {}).values() for v in values.values())):
        assert set(part) <= FIELDS
        assert set(part.get("kinds", ())) <= set(words.kinds)
        assert {*part.get("roles", ()), *part.get("set", ()), *part.get("effects", ())} <= set(words.roles)
        assert set(part.get("effects", {}).values()) <= set(words.kinds)
        assert part.get("keeps", "nothing") in ("project", "session", "nothing")
    assert table["kinds"], name


def test_no_name_means_two_things() -> None:
    own = tomllib.loads(resource("stdlib", "tools", "harnesses.toml").read_text("utf-8"))
    names = [each for name, table in own.items() for each in (name, *table.get("aliases", ()))]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("Bash", ("shell.run",)),
        ("Read", ("file.read",)),
        ("run_shell_command", ("shell.run",)),
        ("apply_patch", ("file.edit",)),
        ("mcp__github__create_issue", ("review.write",)),
        ("mcp__plugin_team_slack__slack_post_message", ("message.send",)),
        ("mcp__my_files__write_file", ("file.write",)),
        ("github-merge_pull_request", ("review.write", "git.merge")),
        ("mcp_filesystem_read_file", ("file.read",)),
        ("mcp__redis-prod__get", ("db.query",)),
        ("pay", ("payment.transfer",)),
        ("mcp__bank__transfer_funds", ("payment.transfer",)),
        ("mcp__stripe__create_refund", ("payment.refund",)),
        ("delete_customer", ("record.delete",)),
        ("mcp__crm__update_record", ("record.write",)),
        ("mcp__airtable__delete_records", ("record.delete",)),
    ],
)
def test_a_name_finds_its_tool(name: str, kinds: tuple[str, ...]) -> None:
    assert tool(name).kinds == kinds


@pytest.mark.parametrize("name", ["search", "mcp__crm__get", "get", "frobnicate", "mcp__crm__frobnicate_all", "", "-"])
def test_a_name_that_says_nothing_is_not_guessed(name: str) -> None:
    assert tool(name) == UNKNOWN


def test_an_argument_may_decide_what_a_tool_does() -> None:
    editor = tool("str_replace_based_edit_tool")
    assert editor.of({"command": "create"}).kinds == ("file.write",)
    assert editor.of({"command": "str_replace"}).replaces == (("old_str",), ("new_str",), ("all",))
    assert editor.of({"command": "view"}).shows
    assert editor.of({"command": ["view"]}) is editor
    assert tool("salesforce_dml_records").of({"operation": "delete"}).kinds == ("record.delete",)
    assert Tool().of({"command": "create"}) == UNKNOWN
