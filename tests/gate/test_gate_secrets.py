"""What the gate shows of actions has no secret in it: screens, answers, notices, and what a hook says."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from cli_support import called
from test_cli_why import Play

from tests.strategies.secret_texts import samples
from vigil_lang.gate.hold_words import one_line
from vigil_lang.gate.notices.notice import clipped
from vigil_lang.points.words import _part
from vigil_lang.service.page import texts
from vigil_lang.service.page.rendering import shown

if TYPE_CHECKING:
    from pathlib import Path

    from gate_support import World


@pytest.mark.parametrize("seed", [3, 4])
def test_what_is_shown_of_runs(world: World, seed: int) -> None:
    play = Play(world)
    of = [each for each in samples(seed) if "\n" not in each.text and "'" not in each.text]
    for at, each in enumerate(of):
        play.shell(f"echo {each.text} && git push", f"c{at}")
    whole = ""
    for words in (
        ("runs",), ("runs", "r 1"), ("runs", "r 1", "--format", "json"), ("why", "r 1"),
        ("why", "r 1", "--format", "json"), ("why", "r 1", "c3"), ("audit", "show"),
        ("audit", "show", "--format", "json"), ("hold", "list"),
        ("hold", "list", "--format", "json", "--all"),
    ):  # fmt: skip
        result = called(*words, "--state", world.state)
        out = result.out + result.err
        assert [each.kind for each in of if any(part in out for part in each.parts())] == [], words
        whole += called(*words, "--state", world.state, "--show-secrets").out
    assert any(each.drawn in whole for each in of)


def test_what_pages_notices_and_hooks_say() -> None:
    for each in samples(8):
        value = {"command": f"{'word ' * 200}{each.text}", "nested": {each.text: [each.text]}, "text": each.text}
        told = [
            *(str(line) for part in texts.parts(value) for row in part for line in row.lines),
            *(str(shown(f"{'word ' * before}{each.text}{' word' * 300}", 300)) for before in range(0, 60, 3)),
            *(clipped(f"{'x ' * before}{each.text}", 60) for before in range(30)),
            *(_part(f"{'x ' * before}{each.text}") for before in range(0, 150, 4)),
            clipped(value), str(shown(json.dumps(value))), one_line({"tool": "t", "input": value}, 80).plain,
            one_line({"tool": "t", "input": [value]}, 80).plain,
        ]  # fmt: skip
        assert [text for text in told if any(part in text for part in each.parts())] == []


def test_what_its_name_tells_is_a_secret_is_one_wherever_it_is_said(tmp_path: Path) -> None:
    """A binding stands in messages without the name of the argument that it was read from."""
    secret, state, workspace = "Zx8Yw7Vu6Ts5", tmp_path / "state", tmp_path / "shop"
    workspace.mkdir()
    rules, policy, request = tmp_path / "rules.vgl", tmp_path / "p.vgl", tmp_path / "request.json"
    rules.write_text("policy rules\nrule r:\n    when connect() then hold\n    record password\n", encoding="utf-8")
    policy.write_text('policy p\n@message("not {x}, nor ({x})")\nstatement s: abs(connect(p = x))\n', encoding="utf-8")
    called("gate", "init", "--state", state, "--workspace", workspace, "--organisation", rules, "--open")
    values = {"p": secret, "password": secret}
    asked = {"run": "r", "agent": "a", "action": {"tool": "connect", "input": values}}
    request.write_text(json.dumps(asked), encoding="utf-8")
    hold = json.loads(called("gate", "decide", request, "--state", state).out)["hold"]["id"]
    for words in (
        ("gate", "decide", request, "--explain"), ("hold", "list"), ("hold", "show", hold), ("audit", "show"),
        ("audit", "show", "--format", "json"), ("why", "r"), ("why", "r", "--format", "json"),
    ):  # fmt: skip
        result = called(*words, "--state", state)
        assert secret not in result.out + result.err, words
    payload = {"session_id": "s", "cwd": str(workspace), "hook_event_name": "PreToolUse", "tool_use_id": "t1"}
    told = called(
        "hook", "--host", "claude", "--state", state, "--policy", policy,
        stdin=json.dumps({**payload, "tool_name": "connect", "tool_input": values}).encode(),
    )  # fmt: skip
    assert "must not" in told.out or "nor (" in told.out
    assert secret not in told.out + told.err
