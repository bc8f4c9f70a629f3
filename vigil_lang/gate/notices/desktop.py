"""A notice as the arguments of a command that shows notifications on a desktop."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

from vigil_lang.gate.notices.wording import details, headline

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vigil_lang.gate.notices.notice import Notice

_PLACE = re.compile(r"\{(title|text|markup|link)\}")


def filled(command: Sequence[str], told: Notice) -> list[str]:
    """The command with what is told in its arguments. `{markup}` is the text for those who read markup in it, as
    notify-send does. No text begins with a `-`, and what stands in one is not filled in again."""
    text = "\n".join(details(told))
    link = told["link"] or ""
    values = {"title": headline(told), "text": text, "markup": escape(text, quote=False), "link": link}
    return [_PLACE.sub(lambda found: values[found[1]], each) for each in command]
