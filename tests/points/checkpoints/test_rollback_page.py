"""docs/rollback.md: its screens are what a run that was played shows (`VIGIL_UPDATE=1` writes them anew)."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from cli_support import called

from vigil_lang.points.hook import Gates, handle
from vigil_lang.points.invocation import Invocation

if TYPE_CHECKING:
    import pytest

FILE = Path(__file__).parents[3] / "docs" / "rollback.md"
PAGE = FILE.read_text(encoding="utf-8")
SCREEN = re.compile(r"^```console\n\$ (vigil .*?)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
RULES = """policy rules

/// Tests run before anything is pushed.
statement tested: prec(git.push(), test.run())

/// What is built is tested.
statement built: resp(code.build(), test.run())
"""


def shown(screen: str, folder: Path) -> str:
    """What is the same each time, and does not rest on how long the name of a folder is."""
    screen = screen.replace(str(folder / "work"), "WORK").replace(f"{folder}/", "")
    screen = re.sub(r"(?:/|…)\S*?/login\.c", "WORK/login.c", screen)
    return re.sub(r", (?:now|[\dmin s]+ ago)", ", 2 s ago", re.sub(r"\d\d:\d\d:\d\d", "09:05:00", screen))


def test_the_screens_are_what_the_commands_print(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (tmp_path / "rules.vgl").write_text(RULES, encoding="utf-8")
    (work / "login.c").write_text("int main() { return 1; }", encoding="utf-8")
    state = tmp_path / "state"
    monkeypatch.setenv("VIGIL_STATE", str(state))
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)
    gates = Gates()
    args = ("--host", "claude", "--policy", str(tmp_path / "rules.vgl"), "--state", str(state), "--checkpoint", "copy")

    def hook(run: str, event: str, call: int, tool: str, given: dict[str, str], **more: object) -> str:
        payload = {"session_id": run, "cwd": str(work), "hook_event_name": event, "transcript_path": ""}
        payload |= {"tool_name": tool, "tool_input": given, "tool_use_id": f"t{call}", **more}  # type: ignore[dict-item]
        reply = handle(Invocation(args, json.dumps(payload).encode(), str(work), {}), gates)
        assert (reply.status, reply.stderr) == (0, b"")
        return reply.stdout.decode()

    calls: list[tuple[str, str, dict[str, str]]] = [
        ("docs", "Bash", {"command": "ls"}),
        ("fix-login", "Read", {"file_path": str(work / "login.c")}),
        ("fix-login", "Bash", {"command": "git push origin main"}),
        ("fix-login", "Bash", {"command": "pytest -q"}),
        ("fix-login", "Write", {"file_path": str(work / "login.c"), "content": "int main() {}"}),
        ("fix-login", "Bash", {"command": "gcc -o login login.c"}),
    ]
    for number, (run, tool, given) in enumerate(calls):
        if hook(run, "PreToolUse", number, tool, given):
            continue
        if tool == "Write":
            Path(given["file_path"]).write_text(given["content"], encoding="utf-8")
            (work / "notes.txt").write_text("the run's", encoding="utf-8")
        hook(run, "PostToolUse", number, tool, given, tool_response={"stdout": "", "stderr": "", "interrupted": False})
    (work / "notes.txt").write_text("a user's", encoding="utf-8")
    printed = []
    for command, _ in SCREEN.findall(PAGE):
        result = called(*command.split()[1:])
        assert (result.status in (0, 1), result.err) == (True, "")
        printed.append(shown(result.out, tmp_path))
    if os.environ.get("VIGIL_UPDATE"):
        screens = iter(printed)
        FILE.write_text(SCREEN.sub(lambda m: f"```console\n$ {m[1]}\n{next(screens)}```", PAGE), encoding="utf-8")
    else:
        assert [screen.split() for screen in printed] == [screen.split() for _, screen in SCREEN.findall(PAGE)]
    assert (work / "login.c").read_text(encoding="utf-8") == "int main() { return 1; }"
    assert (work / "notes.txt").read_text(encoding="utf-8") == "a user's"
