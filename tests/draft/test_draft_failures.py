"""What goes wrong with the API: what is made up for by asking again, and what a person is told of the rest (VGL612)."""

from __future__ import annotations

import email.utils
import json
import os
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from messages_api import REQUEST_ID, Breaks, Fails, Raw, Says

from vigil_lang.diagnostics import InputError
from vigil_lang.draft.api.client import Client, Message, Reply
from vigil_lang.draft.api.failures import LONGEST_WAIT, Failure
from vigil_lang.draft.api.models import ModelSettings, Prices

if TYPE_CHECKING:
    from messages_api import Answer, MessagesAPI

    from vigil_lang.diagnostics import Diagnostic

SETTINGS = ModelSettings("claude-test", prices=Prices(4, 20), retries=2, timeout=0.3)
GOOD = Says('{"answers": []}', input_tokens=50, output_tokens=7)
LONG = Says('{"answers": ["' + "long " * 40 + '"]}', input_tokens=60, output_tokens=900)
SCHEMA: dict[str, Any] = {
    "type": "object", "properties": {"answers": {"type": "string"}}, "required": ["answers"],
    "additionalProperties": False,
}  # fmt: skip
BOTH = pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])


class Asked:
    """A client whose pauses are not waited for but written down."""

    def __init__(self, settings: ModelSettings) -> None:
        self.pauses: list[float] = []
        self.said: list[str] = []
        self.client = Client(settings, pause=self.pauses.append, delayed=lambda why, _: self.said.append(why))

    def __call__(self) -> Reply:
        with self.client:
            return self.client.ask("system", [Message("user", "q")], SCHEMA, 2000)


def told(settings: ModelSettings, asked: Asked | None = None) -> Diagnostic:
    """What is said of a failure in the end."""
    with pytest.raises(InputError) as caught:
        (asked or Asked(settings))()
    (found,) = caught.value.diagnostics
    assert (found.code, found.severity) == ("VGL612", "error")
    assert caught.value.__cause__ is None
    return found


@BOTH
def test_what_may_pass_is_asked_again(messages_api: MessagesAPI, stream: bool) -> None:
    statuses = [408, 409, 429, 500, 502, 503, 504, 529]
    messages_api.script(*map(Fails, statuses), GOOD)
    asked = Asked(replace(SETTINGS, stream=stream, retries=len(statuses)))
    reply = asked()
    assert reply.text == GOOD.text
    assert (reply.usage.requests, reply.usage.retries) == (9, 8)
    # What failed by its status costs nothing.
    assert (reply.usage.input_tokens, reply.usage.output_tokens, reply.usage.estimated) == (50, 7, False)
    assert all(body == messages_api.asked[0] for body in messages_api.asked)
    assert all(0.75 * least <= pause <= least for pause, least in zip(asked.pauses, (1, 2, 4, 8, 16), strict=False))
    assert len(asked.said) == len(asked.pauses) == 8


@BOTH
@pytest.mark.parametrize("how", ["drop", "end", "error", "stall", "garbage", "ping"])
def test_a_reply_that_breaks_off_is_asked_for_again(messages_api: MessagesAPI, how: Any, stream: bool) -> None:
    """The SDK makes no retries once a reply has begun."""
    messages_api.script(Breaks(LONG, how, after=4), GOOD)
    reply = Asked(replace(SETTINGS, stream=stream))()
    assert reply.text == GOOD.text
    assert (reply.usage.requests, reply.usage.retries) == (2, 1)
    if how == "error" and not stream:
        assert not reply.usage.estimated
        return
    # Part of it may have to be paid for: as much as it could have had, for all that is known.
    assert reply.usage.estimated
    assert reply.usage.output_tokens == 2000 + 7


def test_the_input_of_a_stream_that_breaks_off_is_known(messages_api: MessagesAPI) -> None:
    messages_api.script(Breaks(replace(LONG, cache_read=500), "error", after=4), GOOD)
    usage = Asked(SETTINGS)().usage
    assert (usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens) == (60 + 50, 500, 0)


@BOTH
def test_a_connection_that_ends_before_a_word_is_made_again(messages_api: MessagesAPI, stream: bool) -> None:
    messages_api.script(Raw(status=None), replace(GOOD, delay=1.0), GOOD)
    asked = Asked(replace(SETTINGS, stream=stream))
    assert asked().usage.requests == 3
    assert "broke off" in asked.said[0]
    assert asked.said[1] == "the API did not answer for 0.3 seconds"


@BOTH
def test_the_last_failure_is_told_when_no_retries_are_left(messages_api: MessagesAPI, stream: bool) -> None:
    messages_api.script(Fails(529), Fails(500, "strange\x1b[31m things"), Fails(529))
    found = told(replace(SETTINGS, stream=stream))
    assert found.message == "the API is overloaded (after 3 attempts)"
    assert found.help == f"the API knows the request as {REQUEST_ID}"
    assert found.source.path == messages_api.url
    assert len(messages_api.asked) == 3


def test_without_retries_there_is_one_attempt(messages_api: MessagesAPI) -> None:
    messages_api.script(Fails(503, "no room"))
    assert told(replace(SETTINGS, retries=0)).message == "the API fails with status 503: no room"


def waits() -> list[tuple[dict[str, str], float, float]]:
    """Headers as of now, and how long they ask to wait, at least and at most."""
    return [
        ({"retry-after": "7"}, 7, 7),
        ({"retry-after": "0"}, 0, 0),
        ({"retry-after": "-3"}, 0, 0),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5, 1.5),
        ({"retry-after": email.utils.formatdate(time.time() + 100, usegmt=True)}, 1, 101),
        ({"retry-after": email.utils.formatdate(time.time() - 100, usegmt=True)}, 0, 0),
        ({"retry-after": "nan"}, 20, 30),
        ({"retry-after": "soon"}, 20, 30),
        ({"retry-after": "Wed, 21 Oct 99999 07:28:00 GMT"}, 20, 30),
        ({"retry-after": "Wed, 99 Oct 2026 07:28:00 GMT"}, 20, 30),
        ({"retry-after": str(LONGEST_WAIT)}, LONGEST_WAIT, LONGEST_WAIT),
    ]


def test_the_api_says_how_long_to_wait(messages_api: MessagesAPI) -> None:
    told_to = waits()
    messages_api.script(*[Fails(429, headers=headers) for headers, _, _ in told_to], GOOD)
    asked = Asked(replace(SETTINGS, retries=len(told_to)))
    asked()
    for (headers, least, most), pause in zip(told_to, asked.pauses, strict=True):
        assert least <= pause <= most, headers


def test_nobody_is_made_to_wait_for_very_long(messages_api: MessagesAPI) -> None:
    messages_api.script(Fails(429, headers={"retry-after": "3600"}))
    found = told(SETTINGS)
    assert found.message == "the API takes no more requests for now"
    assert "the API asks to wait for 3600 seconds" in (found.help or "")


def test_the_api_says_whether_to_ask_again(messages_api: MessagesAPI) -> None:
    messages_api.script(Fails(400, headers={"x-should-retry": "true"}), GOOD)
    assert Asked(SETTINGS)().usage.retries == 1
    messages_api.script(Fails(529, headers={"x-should-retry": "false"}), GOOD)
    assert told(SETTINGS).message == "the API is overloaded"


def test_a_limit_of_spending_does_not_pass_by_waiting(messages_api: MessagesAPI) -> None:
    error = {"type": "rate_limit_error", "message": "too much", "details": {"error_code": "ramp_limit_exceeded"}}
    spent = {**error, "details": {"error_code": "enforced_spend_limit_reached"}}
    messages_api.script(Raw(json.dumps({"type": "error", "error": error}).encode(), 429), GOOD)
    assert Asked(SETTINGS)().usage.retries == 1
    messages_api.script(Raw(json.dumps({"type": "error", "error": spent}).encode(), 429), GOOD)
    assert told(SETTINGS).message == "the account's limit of spending is reached: too much"


def test_pauses_grow_up_to_half_a_minute() -> None:
    failure = Failure("", again=True)
    pauses = [[failure.pause(attempt) for _ in range(20)] for attempt in range(1, 12)]
    for attempt, tried in enumerate(pauses):
        assert all(0.75 * min(2**attempt, 30) <= seconds <= min(2**attempt, 30) for seconds in tried)
    assert len(set(pauses[0])) > 1


AT_ONCE: list[tuple[Answer, str]] = [
    (Fails(400, "prompt is too long: 2000000 tokens"), "the API refuses the request: prompt is too long: 2000000"),
    (Fails(401, "invalid"), "the API does not accept the key"),
    (Fails(402, "no credit"), "the account cannot pay for the request: no credit"),
    (Fails(403, "not for you"), "the key does not allow the request: not for you"),
    (Fails(404, "model: claude-test"), "the API has no model `claude-test`, or is not at this address: model: cl"),
    (Fails(413, "too large"), "the request is larger than the API takes"),
    (Fails(418, "a teapot"), "the API fails with status 418: a teapot"),
    (Fails(307, "over there", headers={"location": "/elsewhere"}), "the address answers with a redirection (statu"),
    (Raw(b"<html>\n" + b"log in " * 99, 200, "text/html"), "what came back (text/html) is no message of the API: "),
    (
        Raw(b"<h1>\nbad  gateway</h1>" + b"." * 999, 418, "text/html"),
        "the API fails with status 418: <h1> bad",
    ),
    (Raw(b"", 400), "the API refuses the request: "),
    (Raw(b'{"error": {"message": ["no", "text"]}}', 400), "the API refuses the request: ['no', 'text']"),
]


@BOTH
def test_what_does_not_pass_is_told_at_once(messages_api: MessagesAPI, stream: bool) -> None:
    messages_api.script(*[answer for answer, _ in AT_ONCE])
    with Client(replace(SETTINGS, stream=stream)) as client:
        for number, (_, message) in enumerate(AT_ONCE, 1):
            with pytest.raises(InputError) as caught:
                client.ask("system", [Message("user", "q")], SCHEMA, 2000)
            (found,) = caught.value.diagnostics
            assert found.message.startswith(message)
            assert len(found.message) < 400
            assert len(messages_api.asked) == number
        assert client.usage.cost == 0


NO_MESSAGES = [
    b"",
    b"null",
    b"[]",
    b'"text"',
    b'{"type": "message"}',
    b'{"model": "m", "content": null, "usage": {}}',
    b'{"model": "m", "content": [], "usage": {}}',
    b'{"model": "m", "content": [{"type": "text", "text": 3}], "usage": {}, "stop_reason": "end_turn"}',
    b'event: message_start\ndata: {"type": "message_start", "message": null}\n\n',
    b'event: content_block_delta\ndata: {"type": "content_block_delta", "delta": {"text": 1}}\n\n',
    b'event: message_stop\ndata: {"type": "message_stop"}\n\n',
    b'event: error\ndata: {"type": "error"}\n\n',
    b"event: message_start\ndata: \xff\xfe\n\n",
    b"\xff\xfe\xff",
    b'{"model": "m", "content": [], "usage": {"input_tokens": -1000000000}, "stop_reason": "end_turn"}',
    b'{"model": "m", "content": [], "usage": {"output_tokens": 1e30}, "stop_reason": "end_turn"}',
]


@BOTH
def test_what_is_no_message_is_none(messages_api: MessagesAPI, stream: bool) -> None:
    kind = "text/event-stream" if stream else "application/json"
    with Client(replace(SETTINGS, stream=stream, retries=1), pause=lambda _: None) as client:
        for body in NO_MESSAGES:
            messages_api.script(*[Raw(body, 200, kind)] * 2)
            with pytest.raises(InputError) as caught:
                client.ask("system", [Message("user", "q")], SCHEMA, 2000)
            (found,) = caught.value.diagnostics
            assert found.message.startswith(f"what came back ({kind}) is no message of the API: "), body
            assert found.message.endswith("(after 2 attempts)")


def test_events_that_are_not_known_are_passed_over(messages_api: MessagesAPI) -> None:
    message = {"model": "m", "content": [], "usage": {"input_tokens": 3, "output_tokens": 1}}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": message},
        {"type": "a_new_event", "more": {"than": "is known"}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "a_new_delta", "thing": 3}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "{}"}},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 5}},
        {"type": "message_stop"},
    ]
    nothing = "event: nothing\n\n: a comment\n\n"
    body = nothing + "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events)
    messages_api.script(Raw(body.encode(), 200, "text/event-stream"))
    reply = Asked(SETTINGS)()
    assert (reply.text, reply.usage.input_tokens, reply.usage.output_tokens) == ("{}", 3, 5)


def test_an_error_within_a_stream_that_does_not_pass_is_told(messages_api: MessagesAPI) -> None:
    messages_api.script(Breaks(LONG, "error", type="invalid_request_error"))
    found = told(SETTINGS)
    assert found.message == "the API refuses the request: Overloaded"


def test_ctrl_c_ends_the_request_and_leaves_it_accounted_for(messages_api: MessagesAPI) -> None:
    messages_api.script(Breaks(LONG, "stall", after=5))
    with Client(replace(SETTINGS, timeout=5)) as client:

        def interrupt(characters: int) -> None:
            if characters:
                raise KeyboardInterrupt

        began = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            client.ask("system", [Message("user", "q")], SCHEMA, 2000, interrupt)
        assert time.monotonic() - began < 4
        assert (client.usage.requests, client.usage.output_tokens, client.usage.estimated) == (1, 2000, True)


@pytest.mark.parametrize(
    "proxy", ["socks5://127.0.0.1:9", "gopher://me:proxy-password@127.0.0.1", "http://127.0.0.1:port"]
)
@pytest.mark.usefixtures("messages_api")
def test_a_proxy_that_cannot_be_used_is_told(proxy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", proxy)
    found = told(SETTINGS)
    assert found.message.startswith("the API cannot be asked: ")
    assert "proxy-password" not in str(found)


def test_certificates_that_cannot_be_read_are_told(
    messages_api: MessagesAPI, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "none.pem").write_text("no certificate", encoding="utf-8")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "none.pem"))
    assert "cannot be asked" in told(SETTINGS).message
    assert messages_api.requests == []


def test_a_token_that_cannot_be_had_is_told(messages_api: MessagesAPI, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a federation of identities, which the SDK asks for one when a request is made."""
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    monkeypatch.setenv("ANTHROPIC_FEDERATION_RULE_ID", "fdrl_test")
    monkeypatch.setenv("ANTHROPIC_ORGANIZATION_ID", "org_test")
    monkeypatch.setenv("ANTHROPIC_IDENTITY_TOKEN_FILE", "no-such-file")
    assert told(SETTINGS).message.startswith("the key cannot be had: ")
    assert messages_api.requests == []


def test_a_client_that_is_closed_waits_for_nothing(messages_api: MessagesAPI) -> None:
    """Another thread may have given up."""
    messages_api.script(Fails(529, headers={"retry-after": "60"}), GOOD)
    client: Client

    def give_up(*_: object) -> None:
        threading.Timer(0.05, client.close).start()

    client = Client(SETTINGS, delayed=give_up)
    began = time.monotonic()
    with pytest.raises(InputError):
        client.ask("system", [Message("user", "q")], SCHEMA, 2000)
    assert time.monotonic() - began < 20
    assert len(messages_api.asked) == 1


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("http://127.0.0.1:9", "there is no connection to the API: "),
        ("http://no-such-host.invalid", "there is no connection to the API: "),
        ("https://127.0.0.1:{port}", "there is no secure connection to the API: "),
        ("ftp://127.0.0.1", "the base URL is no address of HTTP"),
        ("127.0.0.1", "the base URL is no address of HTTP"),
        ("", "the base URL is no address of HTTP"),
        ("http://", "the base URL is no address of HTTP"),
        ("http://127.0.0.1:port", "the API cannot be asked: "),
        ("http://a\x00b", "the API cannot be asked: "),
    ],
)
def test_an_address_without_an_api_is_told(messages_api: MessagesAPI, url: str, message: str) -> None:
    settings = replace(SETTINGS, base_url=url.replace("{port}", messages_api.url.rpartition(":")[2]))
    with pytest.raises(InputError) as caught:
        Asked(settings)()
    (found,) = caught.value.diagnostics
    assert found.code == "VGL612"
    assert found.message.startswith(message)
    assert "ANTHROPIC_BASE_URL" in (found.help or "") or "SSL_CERT_FILE" in (found.help or "")


def test_without_a_key_nothing_is_sent(messages_api: MessagesAPI, monkeypatch: pytest.MonkeyPatch) -> None:
    for key in (None, ""):
        monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
        if key is not None:
            monkeypatch.setenv("ANTHROPIC_API_KEY", key)
        found = told(SETTINGS, None)
        assert found.message == "there is no key for the API"
        assert "set ANTHROPIC_API_KEY" in (found.help or "")
    assert messages_api.requests == []


@pytest.mark.usefixtures("messages_api")
def test_a_wrong_key_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-another")
    found = told(SETTINGS)
    assert found.message == "the API does not accept the key"
    assert "ANTHROPIC_API_KEY" in (found.help or "")


def test_no_profile_in_the_home_folder_is_needed_or_in_the_way(
    messages_api: MessagesAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = Path(os.environ["HOME"])
    folder = home / "Anthropic" if sys.platform == "win32" else home / ".config" / "anthropic"
    folder.mkdir(parents=True)
    (folder / "active_config").write_text("broken", encoding="utf-8")
    messages_api.script(GOOD)
    assert Asked(SETTINGS)().text == GOOD.text
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    assert told(SETTINGS).message.startswith("the key cannot be had: ")


WITHOUT = """
import sys
sys.modules["anthropic"] = None
from vigil_lang.diagnostics import InputError
from vigil_lang.draft.api.client import Client
from vigil_lang.draft.api.models import ModelSettings
try:
    Client(ModelSettings("claude-test"))
except InputError as error:
    print(error, error.diagnostics[0].help)
"""


def test_without_the_sdk_it_is_said_what_to_install() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=True)
    assert "VGL612" in done.stdout
    assert 'pip install "vigil-lang[draft]"' in done.stdout
