"""Tools that a project describes: read like the shipped ones, and of those more may be said and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from abstraction_support import abstracted
from hypothesis import given
from hypothesis import strategies as st

from vigil_lang.abstraction.run import Options
from vigil_lang.abstraction.tools import named_tools
from vigil_lang.trace import Run, Trace
from vigil_lang.trace.record import Call
from vigil_lang.trace.unseen import calls_seen

if TYPE_CHECKING:
    from vigil_lang.trace import Event


def events(name: str, args: dict[str, Any], tables: dict[str, dict[str, Any]]) -> list[Event]:
    return abstracted([Call("t", name, args)], Options(tools=named_tools(tables)))


def test_a_command_line_of_an_own_tool_is_read() -> None:
    found = events("run", {"line": "git push --force"}, {"run": {"kinds": ["shell.run"], "shell": "line"}})
    assert [event.action for event in found] == ["run", "git"]
    assert "git.rewrite" in found[1].kinds
    assert calls_seen(Trace(tuple(found), Run("r"))).unseen == ()


def test_roles_code_and_kinds_of_an_own_tool() -> None:
    table = {"kinds": ["acme.pay"], "roles": {"amount": ["sum", "total"], "path": "file"}, "aliases": ["pay2"]}
    (event,) = events("pay2", {"total": 3, "file": "../a//b"}, {"pay": table})
    assert (event.kinds, event.args["amount"], event.args["path"]) == (("acme.pay",), ("3",), ("/a/b",))
    code = events(
        "py", {"src": "import os; os.remove('x')"}, {"py": {"kinds": ["code.run"], "code": {"python": "src"}}}
    )
    assert any("file.delete" in event.kinds for event in code)
    (sql,) = events("db", {"q": "DELETE FROM t"}, {"db": {"kinds": ["db.query"], "roles": {"query": "q"}}})
    assert "db.write" in sql.kinds
    assert "unresolved" not in sql.args


def test_what_an_own_tool_does_not_say_is_still_told() -> None:
    (event,) = events("run", {"line": "git push --force"}, {"run": {"kinds": ["acme.run"]}})
    assert calls_seen(Trace((event,), Run("r"))).unread == ("run",)


CALLS = [
    ("Bash", {"command": "rm -rf ~/x", "description": "git push"}),
    ("Read", {"file_path": "/a/.env"}),
    ("Write", {"file_path": "/a/b", "content": "x"}),
    ("Grep", {"path": "/a", "pattern": "x", "glob": "*.env"}),
    ("mcp__github__create_issue", {"title": "t", "body": "b", "repo": "r", "owner": "o"}),
    ("sql_query", {"query": "DROP TABLE t", "database": "d"}),
]
NAMES = st.sampled_from(["command", "description", "file_path", "content", "path", "pattern", "title", "query", "nope"])
TABLES = st.fixed_dictionaries(
    {},
    optional={
        "kinds": st.lists(st.sampled_from(["acme.x", "file.read", "user.ask", "shell.run"]), max_size=2),
        "roles": st.dictionaries(
            st.sampled_from(["path", "command", "query", "title", "text", "url"]), NAMES, max_size=3
        ),
        "effects": st.just({"path": "file.read"}),
        "shell": NAMES,
        "keeps": st.sampled_from(["nothing", "session"]),
        "code": st.just({"python": "description"}),
        "cwd": NAMES,
        "content": NAMES,
        "shows": st.booleans(),
        "set": st.just({"path": "/innocent"}),
    },
)


@pytest.mark.parametrize(("name", "args"), CALLS, ids=[name for name, _ in CALLS])
@given(table=TABLES)
def test_nothing_makes_a_shipped_tool_mean_less(name: str, args: dict[str, Any], table: dict[str, Any]) -> None:
    before, after = events(name, args, {}), events(name, args, {name: table, "other": {"aliases": [name], **table}})
    assert [event.action for event in after] == [event.action for event in before]
    for old, new in zip(before, after, strict=True):
        assert set(old.kinds) <= set(new.kinds)
        assert all(set(values) <= set(new.args.get(role, ())) for role, values in old.args.items())
