"""VGL323: globs and regular expressions that match every text: `path ~ "*"`, `command ~ /.*/`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Diagnostic, Edit, Fix
from vigil_lang.lint.deletion import without
from vigil_lang.lint.literal_texts import field_text, glob, glob_of, texts
from vigil_lang.lint.policy_parts import way_to
from vigil_lang.lint.regexes import read, regexes_of
from vigil_lang.semantics.regex_places import matches_everything
from vigil_lang.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.lint.policy_parts import Use
    from vigil_lang.lint.subject import Subject

_NAMED = re.compile(r"`([^`\s][^`]{0,60})`|\"([^\"\s][^\"]{0,60})\"|“([^”]{1,60})”|'([A-Za-z0-9_./*-]{2,60})'(?!\w)")


def find(subject: Subject) -> Iterator[Diagnostic]:
    """The patterns that take anything. `!~` with one never holds, which is VGL302."""
    for use in subject.parts.uses:
        if use.operator == "~" and (how := matches_all(use, subject)):
            yield _finding(use, how, subject)


def matches_all(use: Use, subject: Subject) -> str | None:
    """`text` where what stands after `~` matches every text, `line` where every text of one line."""
    operand = use.operand
    for regex in regexes_of(operand):
        node = read(regex.raw, regex.ignore_case)
        if node is not None and (found := matches_everything(node)):
            return found
    if isinstance(operand, tree.SetUnion):
        return "text" if any(text and not text.strip("*") for text in map(glob, texts(operand))) else None
    text = glob_of(use, subject.policy.module)
    return "text" if text and not text.strip("*") else None


def _finding(use: Use, how: str, subject: Subject) -> Diagnostic:
    field = use.field
    kinds = {tree.Regex: "this regular expression", tree.SetUnion: "a pattern of this set"}
    shown = kinds.get(type(use.operand), "this glob")
    every = "every text" if how == "text" else "every text of one line"
    message = f"{shown} matches {every}"
    named = _named(use)
    if named is not None:
        message += f", and the sentence names `{named}`"
    if field is None:
        help_text = "an event always has an action: leave the test out, or name what is meant"
    elif use.through:
        help_text = f"`has {field_text(field)}` says that there is one; or name what is meant"
    else:
        help_text = f"write `has {field_text(field)}` if any value will do, or name what is meant"
    source, span = subject.policy.module.source, use.operand.span
    return Diagnostic.of("VGL323", message, source, span, help=help_text, fix=_fix(use, how, subject))


def _fix(use: Use, how: str, subject: Subject) -> Fix | None:
    """`has` holds of an empty list too, and the glob does not: only the output is never a list."""
    if use.through is not None:
        return None
    if use.field is not None:
        written = f"has {field_text(use.field)}"
        safe = use.field.kind == "output" and how == "text"
        return Fix(f"write `{written}`", (Edit(use.expr.span, written),), safe=safe)
    if how != "text":
        return None
    way = way_to(use.item, use.expr)
    inside = len(way) > 1 and isinstance(way[-2], tree.And)
    return without(subject.policy.module.source, way[-2], use.expr) if inside else None


def _named(use: Use) -> str | None:
    """What the sentence that a statement enforces names in quotes."""
    if not isinstance(use.item, tree.Statement):
        return None
    for note in use.item.annotations:
        match note.name.text, note.args:
            case "source", (_, tree.String(raw)):
                found = _NAMED.search(raw.replace('\\"', '"'))
                if found is not None:
                    return next(group for group in found.groups() if group is not None)
    return None
