"""Keys are shown nowhere: not in messages, not in what the SDK logs, and they come from no configuration."""

from __future__ import annotations

import base64
import io
import logging
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from messages_api import KEY, Breaks, Fails, Raw, Says

from vigil_lang.diagnostics import InputError
from vigil_lang.draft.api.client import Client, Message
from vigil_lang.draft.api.discretion import DiscreetLogs, Secrets, secrets
from vigil_lang.draft.api.models import ModelSettings
from vigil_lang.project.settings import Draft

if TYPE_CHECKING:
    from messages_api import MessagesAPI

HEADER, PASSWORD = "Basic aGVhZGVyLXNlY3JldA==", "pass/word%of-a-url"

ASKING = """
import sys
from vigil_lang.diagnostics import InputError
from vigil_lang.draft.api.client import Client, Message
from vigil_lang.draft.api.models import ModelSettings
from vigil_lang.project.settings import Draft
schema = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
for stream in (True, False):
    with Client(ModelSettings("claude-test", stream=stream, retries=1, timeout=2),
                pause=lambda _: None, delayed=lambda why, _: print(why)) as client:
        for _ in range(5):
            try:
                print(client.ask("system", [Message("user", "a question")], schema, 2000).text)
            except InputError as error:
                print(error, error.diagnostics)
"""


def test_no_key_is_in_what_is_printed_or_logged(messages_api: MessagesAPI) -> None:
    echo = f"wrong: {KEY} or {HEADER} or {PASSWORD} of {messages_api.url}"
    whole = [Says("the reply"), Fails(401, echo), Fails(529, echo), Fails(400, echo)]
    broken = [Raw(echo.encode(), 200, "text/html"), Breaks(Says("long " * 50)), Says("the reply")]
    messages_api.script(*whole, *broken, *whole, *broken)
    environment = {**os.environ, "ANTHROPIC_LOG": "debug", "ANTHROPIC_CUSTOM_HEADERS": f"x-proxy: {HEADER}\nx-a: b"}
    done = subprocess.run(
        [sys.executable, "-c", ASKING], env=environment, capture_output=True, text=True, check=True, timeout=60
    )
    for secret in (KEY, HEADER, HEADER.split()[1], base64.b64encode(KEY.encode()).decode()):
        assert secret not in done.stdout + done.stderr
    assert "Encountered Exception" in done.stderr or "HTTP Response" in done.stderr
    assert "the reply" in done.stdout
    assert done.stdout.count("[hidden]") >= 6
    assert messages_api.requests[0].headers["x-proxy"] == HEADER


def test_credentials_within_a_base_url_are_hidden(messages_api: MessagesAPI) -> None:
    host = messages_api.url.removeprefix("http://")
    logged = io.StringIO()
    handler = logging.StreamHandler(logged)
    logger = logging.getLogger("httpx2")
    logger.addHandler(handler)
    before = logger.level
    logger.setLevel(logging.DEBUG)
    try:
        settings = ModelSettings("claude-test", base_url=f"http://somebody:pass%2Fword%25of-a-url@{host}", retries=0)
        with pytest.raises(InputError) as caught, Client(settings) as client:
            client.ask("system", [Message("user", "q")], {}, 2000)
    finally:
        logger.setLevel(before)
        logger.removeHandler(handler)
    (found,) = caught.value.diagnostics
    assert found.source.path == messages_api.url
    assert "/v1/messages" in logged.getvalue()
    assert "[hidden]" in logged.getvalue()
    for text in (str(caught.value), str(found), logged.getvalue()):
        assert "pass%2Fword" not in text
        assert PASSWORD not in text
        assert "somebody" not in text


def test_a_token_in_the_path_of_an_address_is_hidden() -> None:
    hidden = secrets("https://gateway.example/tok-SECRET12/v1/messages", [])
    assert hidden.hide("no such page: /tok-SECRET12/v1/messages") == "no such page: /[hidden]/v1/messages"


@pytest.mark.parametrize("before", range(280, 420, 7))
def test_a_key_is_not_shown_in_part_where_a_message_is_cut(before: int, messages_api: MessagesAPI) -> None:
    messages_api.script(Fails(400, "x" * before + " " + KEY))
    with pytest.raises(InputError) as caught, Client(ModelSettings("claude-test", retries=0)) as client:
        client.ask("system", [Message("user", "q")], {}, 2000)
    assert KEY[:5] not in str(caught.value.diagnostics)
    assert len(caught.value.diagnostics[0].message) < 450


@pytest.mark.parametrize("key", ["sk-ant-abc\n", "sk-ant\tabc", "schlüssel-ä", "sk-ant-\x00"])
@pytest.mark.usefixtures("messages_api")
def test_a_key_that_cannot_be_sent_is_not_shown(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if "\0" in key:
        monkeypatch.delenv("ANTHROPIC_API_KEY")
        monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "authorization: Bearer sk-ant-\x01")
    else:
        monkeypatch.setenv("ANTHROPIC_API_KEY", key)
    with pytest.raises(InputError) as caught:
        Client(ModelSettings("claude-test"))
    (found,) = caught.value.diagnostics
    assert "characters that cannot be sent" in found.message
    assert key.strip() not in str(found)
    assert "sk-ant" not in str(found)


def test_a_key_may_come_by_a_header(messages_api: MessagesAPI, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", f"Authorization: Bearer {KEY}")
    messages_api.script("{}")
    with Client(ModelSettings("claude-test", retries=0)) as client:
        schema = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
        assert client.ask("system", [Message("user", "q")], schema, 2000).text == "{}"


def test_the_longest_secret_goes_first() -> None:
    hidden = Secrets(["abcdef", "abcdefghi", "short"])
    assert hidden.hide("abcdefghi abcdef short") == "[hidden] [hidden] short"


def test_secrets_of_an_address() -> None:
    hidden = secrets("https://me%40there:p%20ssword@host/?token=tok%2Fen1", ["the-key", None])
    said = "me%40there me@there p%20ssword p ssword tok/en1 the-key host"
    assert hidden.hide(said) == "[hidden] [hidden] [hidden] [hidden] [hidden] [hidden] host"


def test_logs_are_left_as_they_were() -> None:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    logger = logging.getLogger("anthropic")
    logger.addHandler(handler)
    logs = DiscreetLogs(Secrets(["secret"]))
    try:
        logs.attach()
        try:
            raise ValueError("a secret")
        except ValueError:
            logger.warning("this %s", "secret", exc_info=True)
        logs.detach()
        logger.warning("no %s", "secret")
    finally:
        logger.removeHandler(handler)
    first, _, last = stream.getvalue().strip().rpartition("\n")
    assert "secret" not in first
    assert "ValueError: a [hidden]" in first
    assert last == "no secret"


def test_neither_a_key_nor_an_address_is_a_setting() -> None:
    """A configuration may come with the document that is not trusted, and would say where the key is sent."""
    names = " ".join(Draft.__struct_encode_fields__)
    assert not any(word in names for word in ("key", "token ", "url", "host", "header", "proxy"))
