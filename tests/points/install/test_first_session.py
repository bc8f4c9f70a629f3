"""docs/first-session.md shows a session as it is: `vigil init` and the answers of the hook that it registers.

`VIGIL_UPDATE=1 pytest tests/points/install/test_first_session.py` records it anew, as an asciicast and as a picture.
"""

from __future__ import annotations

import html
import json
import os
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from vigil_lang.points.install.hosts import HOSTS
from vigil_lang.points.install.registration import standing

if TYPE_CHECKING:
    import pytest
    from conftest import World

IMAGES = Path(__file__).parents[3] / "docs" / "images"
WIDTH = 100
STEPS = (
    "git status",
    "git push origin main",
    "git push origin main",
    "git push --force origin main",
    "rm .claude/settings.json vigil.toml",
)


def recorded(world: World, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The lines of a session, without what differs from one to the next."""
    (world.home / ".claude").mkdir()
    state = world.home / ".local" / "state" / "vigil"
    monkeypatch.setenv("VIGIL_STATE", str(state))
    lines = ["$ vigil init"]
    assert world.vigil("init") == 0
    lines += capsys.readouterr().out.partition("\nTry it")[0].rstrip().splitlines()
    text = (world.home / ".claude" / "settings.json").read_text("utf-8")
    hook = next(each.hook for each in standing(HOSTS["claude"], text) if each.event == "PreToolUse")
    for number, command in enumerate(STEPS):
        payload = {
            "hook_event_name": "PreToolUse",
            "session_id": "first",
            "cwd": str(world.project),
            "tool_name": "Bash",
            "tool_use_id": f"toolu_{number}",
            "tool_input": {"command": command},
        }
        done = subprocess.run(
            [hook["command"], *hook["args"]], input=json.dumps(payload), capture_output=True, text=True, check=True
        )
        lines += ["", f"● Bash({command})"]
        said = json.loads(done.stdout)["reason"] if done.stdout else "(the call is made)"
        lines += wrapped(said)
        if found := re.search(r"held, (\w+),", said):
            lines += ["", f"$ vigil hold approve {found[1]}"]
            assert world.vigil("hold", "approve", found[1]) == 0
            lines += capsys.readouterr().out.rstrip().splitlines()
    session = "\n".join(lines)
    for found in re.findall(r"held, (\w+),", session):
        session = session.replace(found, "k3v7q2m9xa")
    session = session.replace(str(world.home), "~")
    session = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)? UTC", "2026-01-05 10:05 UTC", session)
    session = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "2026-01-05T10:05:00Z", session)
    return [line.rstrip() for line in session.splitlines()]


def wrapped(text: str) -> list[str]:
    lines = [""]
    for word in text.split():
        if len(lines[-1]) + len(word) > WIDTH - 8:
            lines.append("")
        lines[-1] += f"{' ' * bool(lines[-1])}{word}"
    return [f"  {'└' if not at else ' '} {line}" for at, line in enumerate(lines)]


def cast(lines: list[str]) -> str:
    """An asciicast, version 2: commands are typed, and answers follow."""
    header = {"version": 2, "width": WIDTH, "height": 40, "title": "Vigil: a first session"}
    events, time = [json.dumps(header)], 0.5
    for line in lines:
        time += 1.2 if line.startswith(("$", "●")) else 0.1
        events.append(json.dumps([round(time, 2), "o", f"{line}\r\n"], ensure_ascii=False))
    return "\n".join(events) + "\n"


def picture(lines: list[str]) -> str:
    """The session as a picture."""
    rows = []
    for at, line in enumerate(lines):
        colour = "#7ee787" if line.startswith("$") else "#79c0ff" if line.startswith("●") else "#e6edf3"
        rows.append(f'<text x="16" y="{32 + at * 20}" fill="{colour}" xml:space="preserve">{html.escape(line)}</text>')
    width, height = WIDTH * 8 + 48, len(lines) * 20 + 32
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        'font-family="ui-monospace, monospace" font-size="13">\n'
        f'<rect width="{width}" height="{height}" rx="8" fill="#0d1117"/>\n' + "\n".join(rows) + "\n</svg>\n"
    )


def test_the_recording_is_current(
    world: World, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = recorded(world, capsys, monkeypatch)
    session = "\n".join(lines)
    assert "no_force_push" in session
    assert "registration_protected" in session
    assert session.count("(the call is made)") == 2
    for name, text in {"first-session.cast": cast(lines), "first-session.svg": picture(lines)}.items():
        if os.environ.get("VIGIL_UPDATE"):
            (IMAGES / name).write_text(text, encoding="utf-8")
        assert (IMAGES / name).read_text("utf-8") == text, "it is recorded anew as said above"
