"""VGL328: a field is compared with a value that its view never gives: `url:host = "A.io"`, `path:ext = ".py"`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Diagnostic, Edit, Fix
from vigil_lang.lint.literal_texts import texts, value
from vigil_lang.semantics.text_patterns import quote
from vigil_lang.semantics.views import gives

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.lint.subject import Subject

_TOLD = {
    "lower": "gives texts in lower case",
    "host": "gives a host alone, in lower case",
    "base": "gives the last part of a path, without a slash",
    "dir": "gives a path without a slash at its end",
    "ext": "gives what follows the last dot, without the dot",
    "length": "gives a number",
    "count": "gives a number",
}


def find(subject: Subject) -> Iterator[Diagnostic]:
    """The values that are compared for equality with a field that never has them."""
    for use in subject.parts.uses:
        if use.field is None or not use.field.views or use.operator not in ("=", "!=", "in", "not in"):
            continue
        view = use.field.views[-1].name.text
        for string in texts(use.operand):
            text = value(string)
            if text is None or gives(view, text):
                continue
            meant = text.removeprefix(".") if view == "ext" else text.lower()
            fix = None
            if gives(view, meant):
                fix = Fix(f"write `{quote(meant)}`", (Edit(string.span, quote(meant)),))
            yield Diagnostic.of(
                "VGL328",
                f"`:{view}` never gives {quote(text)}",
                subject.policy.module.source,
                string.span,
                help=f"`:{view}` {_TOLD[view]}",
                fix=fix,
            )
