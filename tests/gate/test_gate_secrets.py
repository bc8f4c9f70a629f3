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
