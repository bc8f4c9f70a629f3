"""VGL328: a field is held against what its view never gives: `url:host = "A.io"`, `text:lower contains "DROP"`.

Or a path in JSON begins with the sign for the whole, as in other notations: `output:json("$.total")`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Diagnostic, Edit, Fix
from vigil_lang.lint.literal_texts import glob, held, value
from vigil_lang.semantics.text_patterns import quote
from vigil_lang.semantics.views import gives
from vigil_lang.syntax import tree

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
_NEVER_PART = {"lower": "", "host": "/", "base": "/\\", "ext": "./\\"}
"""Signs that stand nowhere in what a view gives; of the first two no capital letter does either."""
_HIDDEN = frozenset(
    {
        "bashrc", "curlrc", "dockerignore", "editorconfig", "env", "envrc", "gitattributes", "gitconfig", "gitignore",
        "htpasswd", "netrc", "npmrc", "pgpass", "profile", "pypirc", "ssh", "vimrc", "zshrc",
    }
)  # fmt: skip
"""Files that have a dot before their names."""
_FEW = 5
"""Characters that an address has at least."""
_ROOT = re.compile(r"\$(?:\.|(?=\[)|$)")
_OF_A_REGEX = re.compile(r"\\.|\[(?:\\.|[^\]])*\]")
"""What stands in a regular expression for something else than its own letters."""
_OPEN = re.compile(r"\||\(\?|\)[?*{]")
"""What leaves open which letters there are: alternatives, flags, and groups that may be absent."""


def find(subject: Subject) -> Iterator[Diagnostic]:
    """The values, and the parts of values, that a field never has as its last view gives it."""
    for use in subject.parts.uses:
        if use.field is None or not use.field.views:
            continue
        view = use.field.views[-1].name.text
        yield from _of_json(use.field, subject)
        if use.field.name == "recipient" and view == "length" and isinstance(use.operand, tree.Number):
            yield from _counted(use.field, use.operand, subject)
        if use.operator in ("~", "!~") and isinstance(use.operand, tree.Regex):
            if view == "lower" and _has_capitals(use.operand):
                yield _finding(view, f"/{use.operand.raw}/", use.operand, None, subject)
            continue
        for string, replaceable in held(use, subject.policy.module):
            text = glob(string) if "~" in use.operator else value(string)
            if text is None or _may_be(view, text, use.operator):
                continue
            meant = text.removeprefix(".") if view == "ext" else text.lower()
            hidden = view == "ext" and text[:1] == "." and meant in _HIDDEN
            certain = replaceable and not hidden and _may_be(view, meant, use.operator) and "\\" not in text
            yield _finding(view, text, string, meant if certain else None, subject, hidden=hidden)
    for _, has in subject.parts.has:
        yield from _of_json(has.field, subject)


def _counted(field: tree.Field, number: tree.Number, subject: Subject) -> Iterator[Diagnostic]:
    """`recipient:length > 3`: no name is that short."""
    if not number.raw.isdigit() or int(number.raw) > _FEW:
        return
    view = field.views[-1]
    yield Diagnostic.of(
        "VGL328",
        "`:length` counts the characters of each `recipient`",
        subject.policy.module.source,
        view.span,
        help="how many there are is `recipient:count`",
        fix=Fix("write `count`", (Edit(view.name.span, "count"),)),
    )


def _may_be(view: str, text: str, operator: str) -> bool:
    """Whether a view may give a text, or one with this text or glob in it."""
    if operator in ("=", "!=", "in", "not in"):
        return gives(view, text)
    if operator not in ("~", "!~", "contains") or view not in _NEVER_PART:
        return True
    if operator != "contains":
        text = re.sub(r"\\([*?\\])", r"\1", text)
    return not set(text) & set(_NEVER_PART[view]) and (view not in ("lower", "host") or text == text.lower())


def _has_capitals(regex: tree.Regex) -> bool:
    """Whether each text that a regular expression matches has a capital letter in it."""
    letters = _OF_A_REGEX.sub("", regex.raw)
    return not regex.ignore_case and not _OPEN.search(letters) and re.search(r"[A-Z](?![?*{])", letters) is not None


def _finding(
    view: str, text: str, place: tree.String | tree.Regex, meant: str | None, subject: Subject, *, hidden: bool = False
) -> Diagnostic:
    fix = None if meant is None else Fix(f"write `{quote(meant)}`", (Edit(place.span, quote(meant)),))
    also = f"; of `{text}` it gives nothing, which is `:base = {quote(text)}`" if hidden else ""
    return Diagnostic.of(
        "VGL328",
        f"`:{view}` never gives {quote(text) if isinstance(place, tree.String) else f'what `{text}` matches'}",
        subject.policy.module.source,
        place.span,
        help=f"`:{view}` {_TOLD[view]}{also}",
        fix=fix,
    )


def _of_json(field: tree.Field, subject: Subject) -> Iterator[Diagnostic]:
    for view in field.views:
        argument = view.argument
        if view.name.text != "json" or not isinstance(argument, tree.String):
            continue
        path = value(argument)
        if path is None or (root := _ROOT.match(path)) is None:
            continue
        meant = quote(path[root.end() :])
        yield Diagnostic.of(
            "VGL328",
            f"`:json({quote(path)})` looks for a member called `$`",
            subject.policy.module.source,
            argument.span,
            help=f"a path begins with a member of the whole: `:json({meant})`",
            fix=Fix(f"write `{meant}`", (Edit(argument.span, meant),)),
        )
