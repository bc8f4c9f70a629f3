"""`[tools]`: the project's own tools reach every verb that reads runs, and what is wrong with them is said."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from vigil_lang.cli.main import run
from vigil_lang.project.configuration import load

if TYPE_CHECKING:
    from pathlib import Path

TABLE = """\
[tools.run_shell]
shell = "command"

[tools.db]
code = { sql = ["statement", "sql"] }
roles = { amount = "sum" }
"""
RUN = [
    {"role": "user", "content": "go"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": "a",
                "type": "function",
                "function": {"name": "run_shell", "arguments": json.dumps({"command": "git push --force"})},
            }
        ],
    },
    {"role": "tool", "tool_call_id": "a", "content": "ok"},
]
TESTS = """\
use .p

test "t" {
    calls in "/repo" {
        run_shell(command = "git push --force") -> ok
    }
    expect no_push violated at e1.1
}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "p.vgl").write_text("statement no_push: abs(git.push(force = true))\n", encoding="utf-8")
    (tmp_path / "p_test.vgl").write_text(TESTS, encoding="utf-8")
    (tmp_path / "run.json").write_text(json.dumps(RUN), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_verb_takes_them(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["verify", "p.vgl", "run.json"]) == 0
    told = " ".join(capsys.readouterr().err.split())
    assert "1 call of `run_shell` carries what looks like a command and is not read" in told
    assert run(["verify", "--strict", "p.vgl", "run.json"]) == 1
    assert run(["test", "p_test.vgl"]) == 2
    (folder / "vigil.toml").write_text(TABLE, encoding="utf-8")
    capsys.readouterr()
    assert run(["verify", "p.vgl", "run.json", "--format", "json"]) == 1
    assert "not read" not in capsys.readouterr().err
    assert run(["test", "p_test.vgl"]) == 0
    assert run(["lint", "p_test.vgl", "--no-cache"]) == 0
    assert run(["verify", "--isolated", "p.vgl", "run.json"]) == 0
    capsys.readouterr()
    assert run(["abstract", "run.json"]) == 0
    assert '"git.push"' in capsys.readouterr().out
    assert run(["abstract", "--isolated", "run.json"]) == 0
    assert '"git.push"' not in capsys.readouterr().out


def test_what_runs_something_has_its_kind(folder: Path) -> None:
    (folder / "vigil.toml").write_text(TABLE, encoding="utf-8")
    tools = load(folder).settings.known_tools
    assert tools["run_shell"].kinds == ("shell.run",)
    assert (tools["db"].kinds, tools["db"].roles) == (
        ("db.query",),
        {"amount": ("sum",), "query": ("statement", "sql")},
    )
    assert not tools["db"].code


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[tools.Bash]\nshell = "x"\n', "`Bash` is a shipped tool: `shell` of it cannot be set"),
        ('[tools.x]\nkinds = ["Bad"]\n', 'an item of `tools.x.kinds` is a kind, not `"Bad"`'),
        ('[tools.x]\nkinds = "a.b"\n', '`tools.x.kinds` is a list of kinds, not `"a.b"`'),
        ('[tools.x]\nroles = {unresolved = "a"}\n', "`tools.x.roles` is a role, not `unresolved`"),
        ("[tools.x]\nshell = 3\n", "`tools.x.shell` is the name of an argument, or a list of names, not `3`"),
        ("[tools.x]\nshell = []\n", "`tools.x.shell` is the name of an argument, or a list of names, not a list"),
        ('[tools.x]\nkeeps = "all"\n', '`tools.x.keeps` is one of `project`, `session`, `nothing`, not `"all"`'),
        ('[tools.x]\ncode = {cobol = "a"}\n', "`tools.x.code` is one of `python`, `javascript`, `sql`, not `cobol`"),
        ("[tools]\nx = 3\n", "`tools.x` is a table, not `3`"),
        ("tools = 3\n", "`tools` is a table of tables, not `3`"),
        ("[tools.x]\nnope = 1\n", "there is no setting `tools.x.nope`"),
    ],
)
def test_what_is_wrong_is_said(folder: Path, text: str, said: str) -> None:
    (folder / "vigil.toml").write_text(text, encoding="utf-8")
    (found,) = load(folder).findings
    assert found.message == said


def test_more_may_be_said_of_a_shipped_tool(folder: Path) -> None:
    (folder / "vigil.toml").write_text('[tools.Bash]\nkinds = ["acme.x"]\nroles = {path = "a"}\n', encoding="utf-8")
    assert load(folder).findings == ()


def test_what_a_tool_does_to_a_path_is_a_step_though_the_tool_has_no_kind(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = '[tools.run_shell]\neffects = { target = "file.write" }\nroles = { target = "command" }\n'
    (folder / "vigil.toml").write_text(table, encoding="utf-8")
    assert run(["abstract", "run.json"]) == 0
    assert '"event":"e1.1","call":"a","action":"file.write"' in capsys.readouterr().out.replace('": "', '":"')
