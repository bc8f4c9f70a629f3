"""Clients' configurations: each server behind the proxy, all else as it was, and the way back."""

from __future__ import annotations

import json
import sys
import tomllib
from typing import TYPE_CHECKING, Any

import pytest
from cli_support import called

from vigil_lang.points.install import jsonc
from vigil_lang.points.mcp.specs import specs_of
from vigil_lang.points.mcp.wrap import HEADERS, NotWrapped, unwrap, wrap

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = ("/opt/vigil/python", "-I", "-m", "vigil_lang")

CLAUDE = """{
  "mcpServers": {
    "files": {"command": "npx", "args": ["-y", "files", "--", "/tmp"], "env": {"KEY": "s3cret-env"}},
    "web": {
      "type": "http",
      "url": "https://example.com/mcp",
      "headers": {"Authorization": "Bearer s3cret-head"}
    }
  },
  "other": [1, 2]
}
"""
VSCODE = """{
\t// servers of the team
\t"inputs": [{"id": "k", "type": "promptString"}],
\t"servers": {
\t\t"plain": {"type": "stdio", "command": "plain"}, // the only one
\t},
}
"""
GEMINI = (
    '{"mcpServers": {"a": {"httpUrl": "http://localhost:1/mcp"}, "b": {"url": "http://localhost:1/sse"}}, "ui": {}}'
)
CODEX = """# mine
model = "gpt"   # kept

[mcp_servers.files]
command = "npx"
args = [
  "-y",
  "files", # why
]
env = { KEY = "s3cret-env" }

[mcp_servers."with space"]
command = 'plain'

[mcp_servers.remote]
url = "https://example.com/mcp"

[tui]
theme = "x"
"""
CASES = {".mcp.json": CLAUDE, "mcp.json": VSCODE, ".gemini/settings.json": GEMINI, "config.toml": CODEX}


@pytest.mark.parametrize("name", CASES)
def test_there_and_back(name: str) -> None:
    there = wrap(name, CASES[name], PROGRAM, ("--wait", "30s"))
    assert there.after != CASES[name]
    again = wrap(name, there.after, PROGRAM, ("--wait", "30s"))
    assert (again.after, again.servers) == (there.after, ())
    back = unwrap(name, there.after)
    assert read(name, back.after) == read(name, CASES[name])
    assert back.servers == there.servers
    assert unwrap(name, back.after).after == back.after


def read(name: str, text: str) -> Any:
    return tomllib.loads(text) if name.endswith(".toml") else jsonc.parse(text, comments=True).value


def test_what_a_server_is_behind_the_proxy() -> None:
    found = read(".mcp.json", wrap(".mcp.json", CLAUDE, PROGRAM, ()).after)["mcpServers"]
    start = ["-I", "-m", "vigil_lang", "mcp", "proxy", "--name"]
    args = [*start, "files", "--", "npx", "-y", "files", "--", "/tmp"]
    assert found["files"] == {"command": PROGRAM[0], "args": args, "env": {"KEY": "s3cret-env"}}
    assert found["web"]["args"] == [*start, "web", "--url", "https://example.com/mcp"]
    assert json.loads(found["web"]["env"][HEADERS]) == {"Authorization": "Bearer s3cret-head"}
    assert found["web"]["type"] == "stdio"


def test_comments_and_all_else_stay() -> None:
    after = wrap("mcp.json", VSCODE, PROGRAM, ()).after
    assert "// servers of the team" in after
    assert "// the only one" in after
    after = wrap("config.toml", CODEX, PROGRAM, ()).after
    kept = ("# mine", 'model = "gpt"   # kept', 'env = { KEY = "s3cret-env" }', '[tui]\ntheme = "x"')
    assert all(each in after for each in kept)


def test_what_cannot_be_behind_the_proxy_is_told() -> None:
    gemini = wrap("/home/x/.gemini/settings.json", GEMINI, PROGRAM, ())
    assert gemini.servers == ("a",)
    assert gemini.remarks == ("b: the proxy does not speak the old HTTP+SSE transport",)
    assert len(wrap("config.toml", CODEX, PROGRAM, ()).remarks) == 1


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.json", "{"),
        ("a.json", "{}"),
        ("a.json", "[]"),
        ("a.json", '{"mcpServers": []}'),
        ("a.json", '{"mcpServers": {"a": 1}, "mcpServers": {}}'),
        ("c.toml", "x = "),
        ("c.toml", "x = 1"),
        ("c.toml", 'mcp_servers = { a = { command = "x" } }'),
        ("c.toml", 'mcp_servers.a.command = "x"'),
    ],
)
def test_what_is_not_changed(name: str, text: str) -> None:
    with pytest.raises(NotWrapped):
        wrap(name, text, PROGRAM, ())


def test_strange_values_stay() -> None:
    for value in (1, None, "x", [], {"command": 1}, {"command": "a", "args": "b"}, {"url": 5}):
        text = json.dumps({"mcpServers": {"a": value}})
        found = wrap("a.json", text, PROGRAM, ())
        assert found.after == text
        assert found.remarks


def test_the_verb_writes_and_gives_back_to_the_letter(tmp_path: Path, state: Path) -> None:
    for name, text in CASES.items():
        config = tmp_path / name
        config.parent.mkdir(exist_ok=True)
        config.write_text(text)
        given = ["mcp", "wrap", str(config), "--state", str(state)]
        assert called(*given, "--dry-run").status == 0
        assert config.read_text() == text
        done = called(*given)
        assert done.status == 0, done.err
        assert config.read_text() != text
        assert "s3cret" not in done.out + done.err
        assert sys.executable in done.out
        assert "nothing to change" in called(*given).out
        assert called(*given, "--undo").status == 0
        assert config.read_text() == text
        assert not (tmp_path / f"{name}.bak").exists()


def test_what_somebody_changed_meanwhile_stays(tmp_path: Path, state: Path) -> None:
    config = tmp_path / ".mcp.json"
    config.write_text(CLAUDE)
    called("mcp", "wrap", str(config), "--state", str(state))
    config.write_text(config.read_text().replace("[1, 2]", "[3]"))
    called("mcp", "wrap", str(config), "--state", str(state), "--undo")
    assert json.loads(config.read_text()) == json.loads(CLAUDE) | {"other": [3]}


@pytest.mark.processes
def test_the_proxy_finds_the_state_that_the_environment_named(
    tmp_path: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client starts it with an environment of its own."""
    config = tmp_path / ".mcp.json"
    config.write_text(CLAUDE)
    monkeypatch.setenv("VIGIL_STATE", str(state))
    assert called("mcp", "wrap", str(config)).status == 0
    args = json.loads(config.read_text())["mcpServers"]["files"]["args"]
    assert args[args.index("--state") + 1] == str(state)


def test_bad_files_are_the_callers_fault(tmp_path: Path, state: Path) -> None:
    for text in (b"{", b"\xff", b"{}"):
        (tmp_path / "x.json").write_bytes(text)
        done = called("mcp", "wrap", str(tmp_path / "x.json"), "--state", str(state))
        assert done.status == 2
        assert "Traceback" not in done.err
    assert called("mcp", "wrap", str(tmp_path / "none.json"), "--state", str(state)).status == 2


@pytest.mark.parametrize(
    "found",
    [
        None,
        {},
        {"mcpServers": {}},
        {"mcpServers": {"a__b": {"command": "x"}}},
        {"mcpServers": {"a_": {"command": "x"}}},
        {"mcpServers": {"a": 1}},
        {"mcpServers": {"a": {}}},
        {"mcpServers": {"a": {"command": "x", "url": "y"}}},
        {"mcpServers": {"a": {"command": ["x"]}}},
        {"mcpServers": {"a": {"command": "x", "args": [1]}}},
        {"mcpServers": {"a": {"command": "x", "env": {"k": 1}}}},
        {"mcpServers": {"a": {"type": "sse", "url": "http://x"}}},
    ],
)
def test_servers_that_are_none(found: Any) -> None:
    with pytest.raises(ValueError, match=r"has|is|needs|speaks|called|are"):
        specs_of(found)


def test_specs_do_not_show_secrets() -> None:
    spec = specs_of(json.loads(CLAUDE))
    assert "s3cret" not in repr(spec)
