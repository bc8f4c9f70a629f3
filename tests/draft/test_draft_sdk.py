"""What the SDK lacks, and `vigil_lang.draft.api` therefore does itself: what passes here no more may be left to it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import anthropic
import httpx2
import pytest
from messages_api import Breaks, Fails, Raw, Says

if TYPE_CHECKING:
    from messages_api import MessagesAPI

LONG = Says('{"answers": ["' + "long " * 40 + '"]}')
REQUEST: dict[str, Any] = {
    "model": "claude-test", "max_tokens": 100, "messages": [{"role": "user", "content": "q"}],
}  # fmt: skip


def test_it_retries_nothing_once_a_stream_began(messages_api: MessagesAPI) -> None:
    messages_api.script(Breaks(LONG, "error", after=4), LONG)
    client = anthropic.Anthropic(max_retries=2)
    with client.messages.stream(**REQUEST) as stream, pytest.raises(anthropic.APIStatusError) as caught:
        stream.until_done()
    assert caught.value.status_code == 200, "the status of the reply, not that of the error"
    assert len(messages_api.asked) == 1


def test_it_takes_a_stream_that_ends_early_for_a_message(messages_api: MessagesAPI) -> None:
    messages_api.script(Breaks(LONG, "end", after=4))
    with anthropic.Anthropic().messages.stream(**REQUEST) as stream:
        assert stream.get_final_message().stop_reason is None


def test_it_takes_the_page_of_a_proxy_for_a_stream_without_events(messages_api: MessagesAPI) -> None:
    messages_api.script(Raw(b"<html>log in</html>", 200, "text/html"))
    with anthropic.Anthropic().messages.stream(**REQUEST) as stream:
        assert list(stream) == []


def test_it_waits_as_long_as_pings_come(messages_api: MessagesAPI) -> None:
    messages_api.script(Breaks(LONG, "ping", seconds=1.0))
    began = time.monotonic()
    with anthropic.Anthropic(timeout=0.3).messages.stream(**REQUEST) as stream, pytest.raises(httpx2.HTTPError):
        stream.until_done()
    assert time.monotonic() - began >= 1.0


def test_it_waits_for_an_hour_if_told_to_and_for_a_while_if_told_not_to(
    messages_api: MessagesAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept: list[float] = []
    monkeypatch.setattr(time, "sleep", slept.append)
    messages_api.script(*[Fails(429, headers={"retry-after": wait}) for wait in ("3600", "0")], LONG)
    anthropic.Anthropic(max_retries=2).messages.create(**REQUEST)
    assert slept[0] == 3600
    assert slept[1] > 0
