"""VGL316: regular expressions that are found in no text: `$a`, `a^b`, `a\\bb`, `[^\\s\\S]`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Diagnostic
from vigil_lang.lint.regexes import regexes
from vigil_lang.semantics.regex_places import impasse, matches_nothing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.lint.subject import Subject
    from vigil_lang.semantics.regex import Assertion

_ASKED = {
    "text start": "the text must begin, and it has begun before",
    "line start": "a line must begin, and none does",
    "text end": "the text must end, and more must follow",
    "line end": "the line must end, and more of it must follow",
    "word boundary": "a word must begin or end, and none does",
    "no word boundary": "no word may begin or end, and one does",
}


def find(subject: Subject) -> Iterator[Diagnostic]:
    """The regular expressions whose language is empty."""
    for regex, node in regexes(subject):
        if matches_nothing(node):
            yield Diagnostic.of(
                "VGL316",
                "no text matches this regular expression",
                subject.policy.module.source,
                regex.span,
                help=_help(impasse(node), regex.raw),
            )


def _help(place: Assertion | None, raw: str) -> str | None:
    if place is None:
        return None
    written = raw[place.at : place.at + 2] if raw[place.at] == "\\" else raw[place.at]
    return f"where `{written}` stands {_ASKED[place.place]}"
