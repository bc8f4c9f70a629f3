"""A model is asked by the real SDK, over a loopback connection: what is sent, and what comes of the answer."""

from __future__ import annotations

import ast
import threading
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from messages_api import KEY, REQUEST_ID, Says

from vigil_lang.draft.api.client import Client, Message
from vigil_lang.draft.api.models import ModelSettings, Prices

if TYPE_CHECKING:
    from messages_api import MessagesAPI

PACKAGE = Path(__file__).parents[2] / "vigil_lang"
SETTINGS = ModelSettings("claude-test", prices=Prices(4, 20), retries=0)
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"answers": {"type": "array", "items": {"type": "string"}}},
    "required": ["answers"],
    "additionalProperties": False,
}
BOTH = pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])


@BOTH
def test_a_reply_is_what_the_model_said(messages_api: MessagesAPI, stream: bool) -> None:
    text = '{"answers": ["größer", "\\ud83d\\ude00", "a\\nb"]}'
    messages_api.script(Says(text, thinking="let me see", pieces=7, input_tokens=90, output_tokens=41))
    told: list[int] = []
    with Client(replace(SETTINGS, stream=stream)) as client:
        reply = client.ask("be brief", [Message("user", "what?")], SCHEMA, 2000, told.append)
    assert (reply.text, reply.stop, reply.model, reply.request_id) == (text, "end_turn", "claude-test", REQUEST_ID)
    assert told == sorted(told)
    assert told[-1] == len(text) + (len("let me see") if stream else 0)
    assert (reply.usage.requests, reply.usage.retries) == (1, 0)
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (90, 41)
    assert not reply.usage.estimated
    assert reply.usage == client.usage


@BOTH
def test_what_is_sent_is_the_question_and_nothing_else(messages_api: MessagesAPI, stream: bool) -> None:
    messages_api.script('{"answers": []}')
    with Client(replace(SETTINGS, stream=stream, effort="high")) as client:
        client.ask("system", [Message("user", "clause", before="vocabulary")], SCHEMA, 2000)
    (body,) = messages_api.asked
    cached = {"cache_control": {"type": "ephemeral"}}
    assert body == {
        "model": "claude-test",
        "max_tokens": 2000,
        "stream": stream,
        "system": [{"type": "text", "text": "system", **cached}],
        "messages": [
            {
                "role": "user",
                "content": [{"type": "text", "text": "vocabulary", **cached}, {"type": "text", "text": "clause"}],
            }
        ],
        "output_config": {"format": {"type": "json_schema", "schema": SCHEMA}, "effort": "high"},
    }
    assert messages_api.requests[0].headers["authorization"] == f"Bearer {KEY}"


def test_a_conversation_goes_on(messages_api: MessagesAPI) -> None:
    messages_api.script('{"answers": []}')
    turns = [Message("user", "one"), Message("assistant", "two"), Message("user", "three")]
    with Client(SETTINGS) as client:
        client.ask("system", turns, SCHEMA, 2000)
    (body,) = messages_api.asked
    assert messages_api.texts(body) == ["one", "two", "three"]
    assert [m["role"] for m in body["messages"]] == ["user", "assistant", "user"]
    # The first turn alone is worth caching: it is that of all rounds.
    assert [["cache_control" in b for b in m["content"]] for m in body["messages"]] == [[True], [False], [False]]


def test_an_empty_turn_and_what_cannot_be_sent_make_no_request_wrong(messages_api: MessagesAPI) -> None:
    messages_api.script('{"answers": []}')
    turns = [Message("user", "a \ud800 b"), Message("assistant", " "), Message("user", "again")]
    with Client(SETTINGS) as client:
        client.ask("system", turns, SCHEMA, 2000)
    assert messages_api.texts(messages_api.asked[0]) == ["a ? b", "again"]


@BOTH
@pytest.mark.parametrize("stop", ["end_turn", "max_tokens", "refusal", "model_context_window_exceeded", "pause_turn"])
def test_why_the_model_stopped_is_the_callers_to_judge(messages_api: MessagesAPI, stop: str, stream: bool) -> None:
    messages_api.script(Says('{"answers": ["cut o', stop=stop, output_tokens=2000))
    with Client(replace(SETTINGS, stream=stream)) as client:
        reply = client.ask("system", [Message("user", "q")], SCHEMA, 2000)
    assert (reply.stop, reply.text, reply.usage.output_tokens) == (stop, '{"answers": ["cut o', 2000)
    assert len(messages_api.asked) == 1


@BOTH
def test_a_refusal_may_come_without_a_word(messages_api: MessagesAPI, stream: bool) -> None:
    messages_api.script(Says("", stop="refusal", refused="it could do harm"))
    with Client(replace(SETTINGS, stream=stream)) as client:
        reply = client.ask("system", [Message("user", "q")], SCHEMA, 2000)
    assert (reply.stop, reply.text, reply.refused) == ("refusal", "", "it could do harm")


def test_a_reply_has_no_more_tokens_than_the_settings_allow(messages_api: MessagesAPI) -> None:
    messages_api.script("{}", "{}")
    with Client(replace(SETTINGS, max_tokens=3000)) as client:
        client.ask("system", [Message("user", "q")], SCHEMA, 64_000)
        client.ask("system", [Message("user", "q")], SCHEMA, 1500)
    assert [body["max_tokens"] for body in messages_api.asked] == [3000, 1500]


def test_what_requests_cost_is_summed_up(messages_api: MessagesAPI) -> None:
    messages_api.script(
        Says("{}", input_tokens=1000, output_tokens=500, cache_write=2000),
        Says("{}", input_tokens=100, output_tokens=700, cache_read=2000),
    )
    with Client(SETTINGS) as client:
        assert client.usage.cost == 0.0
        first = client.ask("system", [Message("user", "q")], SCHEMA, 2000).usage
        second = client.ask("system", [Message("user", "q")], SCHEMA, 2000).usage
    # 1000 at 4, 2000 written to the cache at 5, 500 at 20; 100 at 4, 2000 read from it at 0.4, 700 at 20.
    assert first.cost == pytest.approx(0.004 + 0.010 + 0.010)
    assert second.cost == pytest.approx(0.0004 + 0.0008 + 0.014)
    total = client.usage
    assert total.cost == pytest.approx((first.cost or 0) + (second.cost or 0))
    assert (total.requests, total.input_tokens, total.output_tokens) == (2, 1100, 1200)
    assert (total.cache_read_tokens, total.cache_write_tokens) == (2000, 2000)
    assert total.seconds > 0


def test_without_prices_there_is_no_cost(messages_api: MessagesAPI) -> None:
    messages_api.script("{}")
    with Client(replace(SETTINGS, prices=None)) as client:
        assert client.ask("system", [Message("user", "q")], SCHEMA, 2000).usage.cost is None
        assert client.usage.cost is None
    assert messages_api.counted == []


def test_threads_may_share_a_client(messages_api: MessagesAPI) -> None:
    messages_api.script(lambda body: Says(messages_api.texts(body)[0], delay=0.02))
    replies: dict[int, str] = {}
    with Client(SETTINGS) as client:

        def ask(number: int) -> None:
            replies[number] = client.ask("system", [Message("user", f"q{number}")], SCHEMA, 2000).text

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert replies == {number: f"q{number}" for number in range(6)}
    assert client.usage.requests == 6


def test_one_module_alone_knows_the_sdk() -> None:
    """And it imports it late, so that nothing but asking a model needs it. The MCP proxy asks servers by HTTP, too."""
    importing = set()
    for path in PACKAGE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if "anthropic" in text or "httpx2" in text else ():
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if any(name.split(".")[0] in ("anthropic", "httpx2") for name in names):
                importing.add(path.relative_to(PACKAGE).as_posix())
    assert importing == {"draft/api/client.py", "points/mcp/remote.py"}
