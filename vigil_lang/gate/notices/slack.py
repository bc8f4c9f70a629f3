"""A notice as a message of Slack (Block Kit), for an incoming webhook.

Texts of others stand in `plain_text` alone, where nothing is markup: no mention, no link. The fallback, which is
markup, has Slack's three characters escaped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vigil_lang.diagnostics.shorten import cut
from vigil_lang.gate.notices.wording import details, headline, place

if TYPE_CHECKING:
    from vigil_lang.gate.notices.notice import Notice

LONGEST_HEADER = 150
LONGEST_SECTION = 3000
"""Characters that Slack takes in a header and in a section."""


def escaped(text: str) -> str:
    """A text that mrkdwn takes for nothing but text."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def message(told: Notice) -> dict[str, Any]:
    """The body of the request. The link is a link, no button: nothing is decided in Slack."""
    link = place(told)
    shown = f"<{escaped(link)}|Open the page to confirm or deny>" if told["link"] else f"`{link}`"
    return {
        "text": f"{escaped(headline(told))} {escaped(link)}",
        "unfurl_links": False,
        "unfurl_media": False,
        "blocks": [
            {"type": "header", "text": _plain(headline(told), LONGEST_HEADER)},
            {"type": "section", "text": _plain("\n".join(details(told)), LONGEST_SECTION)},
            {"type": "section", "text": {"type": "mrkdwn", "text": shown, "verbatim": True}},
        ],
    }


def _plain(text: str, longest: int) -> dict[str, Any]:
    return {"type": "plain_text", "text": cut(text, longest), "emoji": False}
