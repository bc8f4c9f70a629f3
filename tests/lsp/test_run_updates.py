"""What the client is told while runs are read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from lsp_session import PROFILES
from lsprotocol import types

if TYPE_CHECKING:
    from conftest import Alone


async def test_progress_begins_and_ends(alone: Alone) -> None:
    session = await alone(PROFILES[0], begin=False)
    session.write("vigil.toml", 'runs = ["*.jsonl"]\n')
    session.write("a.jsonl", json.dumps({"action": "Send", "args": {"to": "a"}}) + "\n")
    session.write("b.jsonl", json.dumps({"action": "Read", "args": {"file": "b"}}) + "\n")
    await session.begin()
    await session.open("statement S: abs(Send())\n")
    reports = session.client.progress_reports

    def over() -> bool:
        return any(isinstance(last, types.WorkDoneProgressEnd) for each in reports.values() for last in each[-1:])

    assert await session.until(over)
    (shown,) = reports.values()
    assert isinstance(shown[0], types.WorkDoneProgressBegin)
    assert shown[0].title == "Reading recorded runs"
    assert {type(each) for each in shown[1:-1]} <= {types.WorkDoneProgressReport}
