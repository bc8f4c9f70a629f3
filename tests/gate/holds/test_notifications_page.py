"""docs/notifications.md: its settings are settings, its notice is one, and its receiver verifies what is sent."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from holds_support import Call, World, create
from test_outbox import SECRET, Receiver, receiver  # noqa: F401 - a fixture

from vigil_lang.gate import notify, settings
from vigil_lang.gate.notices import notice as notices
from vigil_lang.gate.notices import outbox
from vigil_lang.gate.settings import HoldSettings, Notify

PAGE = (Path(__file__).parents[3] / "docs" / "notifications.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def test_the_settings_are_settings_and_all_of_them(tmp_path: Path) -> None:
    first, *others = blocks("toml")
    for text in (first, *others):
        (tmp_path / "gate.toml").write_text(text)
        found = settings.read_settings(tmp_path / "gate.toml").notify
        assert notify.ways(found)
    (tmp_path / "gate.toml").write_text(first)
    assert notify.ways(settings.read_settings(tmp_path / "gate.toml").notify) == notify.WAYS
    assert [name for name in Notify.__struct_fields__ if not re.search(rf"{name} = |\[notify\.{name}\]", PAGE)] == []
    assert re.search(r"`secret = (\[.*?\])`", PAGE)


def test_the_notice_is_as_it_is_shown(tmp_path: Path) -> None:
    world = World(create(tmp_path / "state"), HoldSettings())
    world.holds.origin = "https://vigil.example.org"
    name = world.ask(Call()).hold or ""
    (shown,) = blocks("json")
    assert world.holds.notice("opened", name) == json.loads(shown.replace("k3w5h2qz7a", name))


def test_the_receiver_verifies_what_is_sent(tmp_path: Path, receiver: Receiver) -> None:  # noqa: F811
    (program,) = blocks("python")
    names: dict[str, Any] = {}
    exec(compile(program, "notifications.md", "exec"), names)  # the page's own program
    (tmp_path / "secret").write_bytes(SECRET)
    world = World(
        create(tmp_path / "state"),
        HoldSettings(),
        notified=Notify(webhook=receiver.url, secret=str(tmp_path / "secret")),
    )
    world.ask(Call())
    for thread in world.holds.tell():
        thread.join()
    ((headers, body),) = receiver.received
    assert names["is_vigil"](headers, body, SECRET.decode())
    assert not names["is_vigil"](headers, body + b" ", SECRET.decode())


def test_the_numbers_are_those_of_the_code() -> None:
    assert (notify.SECONDS, notices.LONGEST_TEXT, notices.MOST, notify.GONE) == (10.0, 200, 20, 410)
    assert (outbox.CLAIM, outbox.SHORTEST_PAUSE, outbox.LONGEST_PAUSE) == (20, 2.0, 60.0)
    for named in ("10 seconds", "200\ncharacters", "20 arguments", "410 Gone", "for 20 seconds", "30 to 60"):
        assert named in PAGE
