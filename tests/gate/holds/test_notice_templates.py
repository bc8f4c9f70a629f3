"""Slack, e-mail and the desktop: what an agent writes is text there, and decides nothing."""

from __future__ import annotations

import email
import json
import os
import re
import string
import sys
from email import policy
from html import unescape
from typing import TYPE_CHECKING, Any

import pytest
from holds_support import Call, World, create
from hypothesis import given, settings
from hypothesis import strategies as st
from test_outbox import Receiver, receiver  # noqa: F401, TC002 - a fixture

from vigil_lang.diagnostics.visible import visible
from vigil_lang.gate.notices import desktop, mail, slack
from vigil_lang.gate.notices import notice as notices
from vigil_lang.gate.notices.wording import details, headline, inert
from vigil_lang.gate.settings import Desktop, HoldSettings, Mail, Notify, Slack

if TYPE_CHECKING:
    from pathlib import Path

MAIL = Mail(command=("sendmail", "-i", "-t"), sender="vigil@example.org", to=("alice@example.org", "bob@example.org"))
LINK = "https://vigil.example.org/holds/k3w5h2qz7a"
HOSTILE = (
    "<!channel> <@U024BE7LH> <https://evil.example|Open the page>",
    "a\r\nBcc: victim@example.org\r\n\r\nbody",
    "=?utf-8?q?=0D=0ABcc:_victim@example.org?=",
    "`code` *bold* _it_ ~no~ :smile: @channel @here",
    "<b>bold</b> <a href='https://evil.example'>x</a> &amp; {title} {link}",
    "--urgency=critical",
    ".\nQUIT",
    "\u202eevil\u2066 \x1b[31m\x00",
    "https://evil.example/holds/1",
    "é" * 300,
    "%s {0} {told} \\N{BULLET} ${HOME} $(id) `id`",
)
TEXTS = st.one_of(
    st.sampled_from(HOSTILE), st.text(max_size=60), st.text("<>&|!@#{}=?\r\n:\\`*_~" + string.ascii_letters)
)


def notice(text: str, link: str | None = LINK) -> notices.Notice:
    """A notice that has a text of an agent's wherever one can be."""
    shown = notices.clipped(text)
    return {
        "schema": "vigil.notice/1",
        "event": "opened",
        "hold": "k3w5h2qz7a",
        "run": shown,
        "agent": shown,
        "tool": shown,
        "input": {notices.clipped(text, 60): shown},
        "reasons": [{"name": shown, "message": shown}],
        "confirm_by": "user",
        "missing": 1,
        "expires": 1_790_000_300,
        "to": [],
        "link": link,
        "text": shown,
    }


def mrkdwn(value: object) -> list[str]:
    """Every text of a message of Slack that Slack reads markup in."""
    match value:
        case {"type": "mrkdwn", "text": str(text)}:
            return [text]
        case dict():
            own = [value["text"]] if "blocks" in value else []
            return [*own, *(text for each in value.values() for text in mrkdwn(each))]
        case list():
            return [text for each in value for text in mrkdwn(each)]
        case _:
            return []


@given(TEXTS)
def test_slack_takes_nothing_that_an_agent_wrote_for_markup(text: str) -> None:
    message = slack.message(notice(text))
    for shown in mrkdwn(message):
        assert re.findall(r"<([^>]*)>", shown) in ([], [f"{LINK}|Open the page to confirm or deny"])
        assert re.sub(r"&(amp|lt|gt);", "", shown).count("&") == 0
    kinds = [block["type"] for block in message["blocks"]]
    assert kinds == ["header", "section", "section"]  # no button, no input, no menu
    assert len(message["blocks"][0]["text"]["text"]) <= slack.LONGEST_HEADER
    assert 0 < len(message["blocks"][1]["text"]["text"]) <= slack.LONGEST_SECTION
    assert json.loads(json.dumps(message)) == message


@pytest.mark.parametrize("text", HOSTILE)
def test_a_mail_of_hostile_texts_has_its_own_headers_alone(text: str) -> None:
    check_mail(text)


@given(TEXTS)
def test_a_mail_has_its_own_headers_alone(text: str) -> None:
    check_mail(text)


def check_mail(text: str) -> None:
    data = mail.message(MAIL, notice(text))
    found = email.message_from_bytes(data, policy=policy.default)
    assert sorted(found.keys()) == [
        "Auto-Submitted",
        "Content-Transfer-Encoding",
        "Content-Type",
        "Date",
        "From",
        "MIME-Version",
        "Message-ID",
        "Subject",
        "To",
    ]
    assert found.defects == []
    assert data.isascii()
    assert max(map(len, data.split(b"\n"))) <= 998
    assert b"\r" not in data  # what sendmail reads has the system's line ends
    assert [str(each) for each in found["To"].addresses] == list(MAIL.to)
    assert found["Message-ID"] == "<k3w5h2qz7a.opened@vigil.example.org>"
    subject = str(found["Subject"])
    assert visible(subject) == subject
    assert " ".join(subject.split()) == " ".join(headline(notice(text)).replace("=?", "= ?").split())
    body = found.get_content()
    first, _, rest = body.partition("\n")
    assert first == f"Open the page to confirm or deny: {LINK}"
    assert "://" not in rest
    assert rest.strip("\n").split("\n") == details(notice(text))


@given(TEXTS)
def test_the_desktop_is_given_whole_arguments(text: str) -> None:
    command = ("notify-send", "--app-name=Vigil", "{title}", "{markup}", "-open", "{link}", "{text}")
    name, app, title, markup, flag, link, plain = desktop.filled(command, notice(text))
    assert (name, app, flag, link) == ("notify-send", "--app-name=Vigil", "-open", LINK)
    assert (title, plain) == (headline(notice(text)), "\n".join(details(notice(text))))
    assert title.startswith("Waits to be confirmed: ")
    assert plain.startswith("Action: ")
    assert not set("<>") & set(markup)
    assert unescape(markup) == plain or "&" in plain
    assert "\0" not in title + plain


@given(TEXTS)
def test_what_an_agent_wrote_makes_no_link(text: str) -> None:
    assert not [line for line in (headline(notice(text)), *details(notice(text))) if "://" in line]
    assert inert(inert(text)) == inert(text)


@settings(max_examples=30)
@given(st.text(max_size=30))
def test_an_address_that_is_none_is_refused_or_is_one(text: str) -> None:
    given_ = Mail(command=("x",), sender="a@example.org", to=(text,))
    try:
        data = mail.message(given_, notice("x"))
    except ValueError:
        return
    assert len(email.message_from_bytes(data, policy=policy.default)["To"].addresses) == 1


def test_without_a_page_the_verb_is_named() -> None:
    told = notice("x", None)
    assert "vigil hold show k3w5h2qz7a" in slack.message(told)["blocks"][2]["text"]["text"]
    assert b"vigil hold show k3w5h2qz7a" in mail.message(MAIL, told)
    assert desktop.filled(("{link}",), told) == [""]


# --- the ways -------------------------------------------------------------------------------------------------------


def told(tmp_path: Path, how: Notify) -> World:
    """A world that told of one hold, asked for in hostile words."""
    world = World(create(tmp_path / "state"), HoldSettings(), notified=how)
    world.holds.origin = "https://vigil.example.org"
    world.ask(Call(agent=HOSTILE[1], more=HOSTILE))
    for thread in world.holds.tell():
        thread.join()
    world.holds.close()
    return world


def reading(path: Path) -> tuple[str, ...]:
    return sys.executable, "-c", f"import sys; open({str(path)!r}, 'wb').write(sys.stdin.buffer.read())"


def test_slack_is_told(tmp_path: Path, receiver: Receiver) -> None:  # noqa: F811
    (tmp_path / "address").write_text(f"{receiver.url}\n")
    world = told(tmp_path, Notify(slack=Slack(os.fspath(tmp_path / "address"))))
    ((headers, body),) = receiver.received
    message: dict[str, Any] = json.loads(body)
    assert message["blocks"][0]["type"] == "header"
    assert "webhook-signature" not in headers  # what would verify it is not there
    assert world.kinds()[-1] == "told"


@pytest.mark.parametrize("address", ["http://hooks.example.org/T0/secret", "https://hooks.example.org/T0/se cret", ""])
def test_the_address_of_slack_is_told_to_nobody(tmp_path: Path, address: str, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "address").write_text(address)
    world = told(tmp_path, Notify(slack=Slack(os.fspath(tmp_path / "address"))))
    assert world.kinds()[-1] == "fault"
    assert "cret" not in world.folder.log.read_text() + caplog.text


def test_mail_is_sent_by_a_command(tmp_path: Path) -> None:
    way = Mail(command=reading(tmp_path / "mail"), sender=MAIL.sender, to=MAIL.to)
    assert told(tmp_path, Notify(mail=way)).kinds()[-1] == "told"
    found = email.message_from_bytes((tmp_path / "mail").read_bytes(), policy=policy.default)
    assert found["Bcc"] is None
    assert re.search(
        r"Open the page to confirm or deny: https://vigil\.example\.org/holds/\w{10}\n", found.get_content()
    )


def test_an_address_that_is_none_is_a_fault(tmp_path: Path) -> None:
    way = Mail(command=reading(tmp_path / "mail"), sender="nobody", to=MAIL.to)
    world = told(tmp_path, Notify(mail=way))
    assert world.kinds()[-1] == "fault"
    assert not (tmp_path / "mail").exists()


def test_the_desktop_is_told_by_a_command(tmp_path: Path) -> None:
    code = f"import json, sys; json.dump(sys.argv[1:], open({str(tmp_path / 'shown')!r}, 'w'))"
    way = Desktop((sys.executable, "-c", code, "{title}", "{markup}", "{link}"))
    assert told(tmp_path, Notify(desktop=way)).kinds()[-1] == "told"
    title, markup, link = json.loads((tmp_path / "shown").read_text())
    assert title.startswith("Waits to be confirmed: payment.transfer of a")
    assert "&lt;!channel&gt;" in markup
    assert link.startswith("https://vigil.example.org/holds/")
