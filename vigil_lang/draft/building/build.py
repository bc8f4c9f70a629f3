"""From the intermediate form to syntax: a drafted requirement becomes a statement's tree, never text pasted together.

What is no statement is refused with a message for whoever drafted it. Names are not resolved here and meaning is not
judged: the checker and the linter do that.
"""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING

from vigil_lang.diagnostics.secrets import find
from vigil_lang.draft.building import operands
from vigil_lang.draft.building.conditions import Builder
from vigil_lang.draft.building.operands import KEYWORDS, Unbuildable, raw, readable
from vigil_lang.semantics.forms import FORMS
from vigil_lang.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from vigil_lang.draft.clause_result import Clause, Requirement

__all__ = ["Unbuildable", "statement", "statement_name"]

PARTS = {name: ("trigger", "guard", "forbidden")[: len(form.terms)] for name, form in FORMS.items()}
"""The conditions of each form, in their order; in the intermediate form their names are the same for all."""

_WIDTH = 96
_MAX_NAME = 40
_NAMED_BY = 4
BOUND = r"[1-9][0-9]{0,8}(?:ms|s|m|h|d)?"
"""What a bound looks like, as a regular expression."""

LIMIT = r"[0-9]{1,15}(?:\.[0-9]{1,9})?"
"""What the limit of a budget looks like."""

_BOUND = re.compile(BOUND)
_STATEMENT_NAME = re.compile(r"[A-Z]+[0-9]+[a-z]?|[a-z][a-z0-9]*(?:_[a-z0-9]+)*")
_WORD = re.compile(r"[a-z0-9]+")
_IGNORE_COMMENT = re.compile(r"vigil\s*:\s*ignore", re.IGNORECASE)
_IDLE_WORDS = """
a an and are as at be before after by do does for from if in into is it its must not never always of on only or should
shall that the them then this to use with you your will all any every each has have make sure
"""
_IDLE = frozenset(_IDLE_WORDS.split())
"""Words that say little in a name."""


def statement(requirement: Requirement, name: str, citations: Sequence[tuple[str, str]]) -> tree.Statement:
    """The statement that a requirement describes (section 4.1), without spans.

    `citations` are pairs of a file and a sentence, each a `@source`; what the requirement `says` is its documentation.

    Raises:
        Unbuildable: a part is missing or too much, or cannot be written in the language; the message says which.
    """
    if not _STATEMENT_NAME.fullmatch(name) or name in KEYWORDS:
        raise Unbuildable(f"`{name}` is no name for a statement")
    form = requirement.form
    conditions = {
        "trigger": requirement.trigger,
        "guard": requirement.guard,
        "forbidden": requirement.forbidden,
    }
    for part, condition in conditions.items():
        if condition is None and part in PARTS[form]:
            raise Unbuildable(f"{part}: `{form}` needs one, and there is none")
        if condition is not None and part not in PARTS[form]:
            raise Unbuildable(f"{part}: `{form}` has no such part")
    builder = Builder(requirement)
    args = [builder.condition(condition, part) for part, condition in conditions.items() if condition is not None]
    counting = requirement.counting
    kind = FORMS[form].bound
    whole = tree.Form(
        form,
        tuple(args),
        bound=_bound(requirement) if kind != "limit" else None,
        limit=_limit(requirement) if kind == "limit" else None,
        field=_counted(requirement),
        window=_window(requirement),
        since=None if counting is None or counting.since is None else builder.condition(counting.since, "since"),
    )
    return tree.Statement(
        tree.Name(name),
        whole,
        None if requirement.after is None else builder.condition(requirement.after, "after"),
        None if requirement.where is None else builder.condition(requirement.where, "where"),
        tuple(_source(file, sentence) for file, sentence in citations),
        _documentation(requirement.says),
    )


def _bound(requirement: Requirement) -> tree.Bound | None:
    form, bound = requirement.form, requirement.bound
    kind = FORMS[form].bound
    if kind == "none":
        if bound is not None:
            raise Unbuildable(f"bound: `{form}` has none")
        return None
    counts = "a count such as `3`" if kind == "count" else "a number of calls such as `3`"
    if bound is None:
        raise Unbuildable(f"bound: `{form}` needs one, {counts}")
    readable(bound, "bound")
    if not _BOUND.fullmatch(bound) or (kind == "count" and not bound.isdecimal()):
        wanted = counts if kind == "count" else f"{counts} or a duration such as `30s`"
        raise Unbuildable(f"bound: `{bound}` is none for `{form}`, which takes {wanted}")
    return tree.Bound(bound)


def _limit(requirement: Requirement) -> tree.Number:
    if requirement.bound is None:
        raise Unbuildable(f"bound: `{requirement.form}` needs a number, how much may be spent")
    if not re.fullmatch(LIMIT, readable(requirement.bound, "bound")):
        raise Unbuildable(f"bound: `{requirement.bound}` is no amount such as `1000` or `2.50`")
    return operands.limit(requirement.bound)


def _counted(requirement: Requirement) -> tree.Field | None:
    """The field that a budget adds up, or whose distinct values are counted."""
    kind = FORMS[requirement.form].bound
    counting = requirement.counting
    if counting is not None and kind not in ("count", "limit"):
        raise Unbuildable(f"counting: `{requirement.form}` counts nothing")
    if counting is None or not counting.field:
        if kind == "limit":
            raise Unbuildable(f"counting: `{requirement.form}` needs a `field`, whose numbers are added up")
        return None
    return tree.Field(raw(readable(counting.field, "the field that is counted")))


def _window(requirement: Requirement) -> tree.Bound | None:
    counting = requirement.counting
    if counting is None:
        return None
    if requirement.form == "atleast" and (counting.window is not None or counting.since is not None):
        raise Unbuildable("counting: `atleast` counts in the whole run, in no window and since no event")
    if counting.window is None:
        return None
    readable(counting.window, "the window")
    if not _BOUND.fullmatch(counting.window):
        raise Unbuildable(f"counting: `{counting.window}` is no window: that is `20`, in calls, or a time such as `1h`")
    return tree.Bound(f"{counting.window} calls" if counting.window.isdecimal() else counting.window)


def _source(file: str, sentence: str) -> tree.Annotation:
    # Half a surrogate pair is no character, and nothing that a string can hold.
    texts = (re.sub("[\ud800-\udfff]", "\ufffd", text) for text in (file, sentence))
    return tree.Annotation(tree.Name("source"), tuple(tree.String(raw(text)) for text in texts))


def _documentation(says: str) -> str | None:
    text = " ".join(says.split())
    readable(text, "says")
    if _IGNORE_COMMENT.search(text):
        raise Unbuildable("says: it reads like a comment that suppresses findings")
    return "\n".join(textwrap.wrap(text, _WIDTH, break_on_hyphens=False)) or None


def statement_name(wanted: str, clause: Clause, taken: Collection[str]) -> str:
    """A name for a statement about a clause: as wanted if that is one, else after the sentence; numbered if taken."""
    name = wanted if len(wanted) <= _MAX_NAME else ""
    if not _STATEMENT_NAME.fullmatch(name) or name in KEYWORDS:
        name = _slug(wanted, every=True) or _slug(_unsecret(clause.text)) or clause.id
    if name not in taken:
        return name
    number = 2
    while f"{name}_{number}" in taken:
        number += 1
    return f"{name}_{number}"


def _unsecret(text: str) -> str:
    """A text without its secrets: a name is shown where nothing tells any longer that it is one."""
    parts, at = [], 0
    for start, end, *_ in find(text):
        parts.append(text[at:start])
        at = end
    return "".join((*parts, text[at:]))


def _slug(text: str, *, every: bool = False) -> str:
    """A name of the words of a text, or of the first that say something; empty where they make none."""
    import unicodedata

    plain = unicodedata.normalize("NFKD", text[: operands.MAX_VALUE]).encode("ascii", "ignore").decode()
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", plain).lower().replace("'", "")
    words = _WORD.findall(apart)
    chosen = words if every else [word for word in words if word not in _IDLE][:_NAMED_BY] or words[:_NAMED_BY]
    while chosen and (chosen[0][0].isdigit() or len("_".join(chosen)) > _MAX_NAME):
        chosen = chosen[1:] if chosen[0][0].isdigit() else chosen[:-1]
    name = "_".join(chosen)
    return "" if name in KEYWORDS else name
