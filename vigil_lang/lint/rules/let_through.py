"""VGL336: expressions and globs of what may be used that let others through: `not host ~ /example\\.org/`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Diagnostic, Edit, Fix
from vigil_lang.lint.literal_texts import field_text, glob, held
from vigil_lang.lint.policy_parts import says_what_may_be
from vigil_lang.lint.regexes import regexes_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.lint.policy_parts import Use
    from vigil_lang.lint.subject import Subject
    from vigil_lang.syntax import tree

_PLAIN = re.compile(r"[A-Za-z0-9-]+(?:\\\.[A-Za-z0-9-]+)+")
"""A host as it stands in an expression."""
_ENDS = re.compile(r"(?:\$|\\z)\)*$")
_OPEN_BEFORE = re.compile(r"[A-Za-z0-9]")
_HOST_OF_A_GLOB = re.compile(r"(?P<host>(?:[a-z*]+://)?[^/]*\*[^/]*)(?:/|$)")
_NAME = re.compile(r"[A-Za-z0-9-]+\.[A-Za-z]{2,}")


def find(subject: Subject) -> Iterator[Diagnostic]:
    """The tests of hosts and addresses that may be, which more than those pass."""
    for use in subject.parts.uses:
        if "~" not in use.operator or use.field is None or use.through is not None:
            continue
        views = [view.name.text for view in use.field.views]
        if (views[-1:] == ["host"] or (use.field.name == "host" and not views)) and says_what_may_be(use):
            for regex in regexes_of(use.operand):
                yield from _host(use, regex, subject)
        elif use.field.name == "url" and not views and says_what_may_be(use):
            for string, _ in held(use, subject.policy.module):
                yield from _address(string, subject)


def _host(use: Use, regex: tree.Regex, subject: Subject) -> Iterator[Diagnostic]:
    behind, before = _ENDS.search(regex.raw) is None, _OPEN_BEFORE.match(regex.raw) is not None
    if (not behind and not before) or use.field is None:
        return
    fix = None
    if _PLAIN.fullmatch(regex.raw.removesuffix("$")):
        written = f"/(^|\\.){regex.raw.removesuffix('$')}$/{'i' if regex.ignore_case else ''}"
        fix = Fix(f"write `{written}`", (Edit(regex.span, written),))
    ends = "at neither end" if behind and before else "at its end" if behind else "at its start"
    anchored = f"is anchored {ends}" if behind and before else f"is not anchored {ends}"
    yield Diagnostic.of(
        "VGL336",
        f"this expression {anchored}: `{field_text(use.field)}` may have more than what it finds",
        subject.policy.module.source,
        regex.span,
        help="`^` is the start of a text and `$` its end: `/(^|\\.)a\\.example$/` is a host and what is below it",
        fix=fix,
    )


def _address(string: tree.String, subject: Subject) -> Iterator[Diagnostic]:
    text = glob(string)
    found = None if text is None else _HOST_OF_A_GLOB.match(text)
    if text is None or found is None or _NAME.search(found["host"]) is None:
        return
    if "://" not in text and "/" not in text:
        return  # `*.pdf`
    yield Diagnostic.of(
        "VGL336",
        f"a `*` matches `/`, too: `{text}` lets addresses of other hosts through",
        subject.policy.module.source,
        string.span,
        help='test the host alone: `url:host`, by a set such as `{"a.example", "*.a.example"}`',
    )
