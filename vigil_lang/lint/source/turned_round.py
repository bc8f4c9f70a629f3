"""VGL703: a statement that says the opposite of its sentence: by its bound, its form, or its exception."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Diagnostic, Edit, Fix, Note, Span
from vigil_lang.english.constraints import constraints
from vigil_lang.english.patterns import NEGATION
from vigil_lang.english.phrases import forbids_outright
from vigil_lang.english.words import SECONDS
from vigil_lang.semantics import core
from vigil_lang.semantics.forms import FORMS

if TYPE_CHECKING:
    from vigil_lang.lint.source.citations import Citation
    from vigil_lang.lint.source.reach import StatementReach

_LEAST = re.compile(r"(?:at least|no (?:fewer|less) than|a minimum of|not less than)\b", re.IGNORECASE)
_MOST = re.compile(r"(?:at most|no more than|a maximum of|not more than|up to)\b", re.IGNORECASE)
_NEVER = re.compile(r"\W*(?:never|do not|don['’]t|must not|mustn['’]t)\b", re.IGNORECASE)
_EXCEPT = re.compile(
    r"\b(?P<word>except(?: for)?|other than|apart from|excluding)\s+(?:the |for )?[`\"'“]?(?P<name>[\w~*][\w./~*-]*\w)",
    re.IGNORECASE,
)
_PERMITS = re.compile(
    r"\b(?:may|can|could|allow\w*|permit\w*|free(?:ly)?|fine|safe|need\w*|optional\w*|skip\w*|exempt\w*)\b",
    re.IGNORECASE,
)
"""What says that something may be left out, or done: then it is the exception that a rule speaks of."""
_UNITS = {86_400: "d", 3_600: "h", 60: "m", 1: "s"}


def find(citation: Citation, reach: StatementReach) -> Diagnostic | None:
    """What is turned round; None where nothing certainly is."""
    return _count(citation) or _never(citation) or _exception(citation, reach) or _time(citation, reach)


def _said(citation: Citation, word: str, message: str, help_text: str, fix: Fix | None = None) -> Diagnostic:
    form, statement = citation.statement.syntax.form, citation.statement
    return Diagnostic.of(
        "VGL703",
        f"the sentence says `{word}`, and {message}",
        statement.source,
        Span(form.span.start, form.span.start + len(form.name)),
        help=help_text,
        fix=fix,
        notes=(Note("the sentence", statement.source, citation.place(word)),),
    )


def _count(citation: Citation) -> Diagnostic | None:
    """`atmost[2]` for at least two, and the other way round."""
    form, preset = citation.statement.syntax.form, citation.statement.preset
    if preset is None or preset.bound != "count" or form.bound is None:
        return None
    opposite = next(other for other in FORMS.values() if other.bound == "count" and other is not preset)
    looks, allows = (_LEAST, "no more") if preset.only_forbids else (_MOST, "no fewer")
    for sentence in citation.sentences:
        found = looks.search(sentence)
        if found is None or NEGATION.search(sentence):
            continue
        for number in constraints(sentence).numbers:
            at = sentence.find(number.word)
            if number.value != form.bound.raw or at > found.end() + 1 or at + len(number.word) < found.start():
                continue
            edit = Edit(Span(form.span.start, form.span.start + len(form.name)), opposite.name)
            fix = Fix(f"write `{opposite.name}`", (edit,)) if form.window is None and form.since is None else None
            help_text = f"that is `{opposite.name}[{form.bound.raw}](…)`"
            return _said(citation, found[0], f"`{form.name}` allows {allows}", help_text, fix)
    return None


def _never(citation: Citation) -> Diagnostic | None:
    """A number of times that is asked for of what never happens."""
    form, preset = citation.statement.syntax.form, citation.statement.preset
    found = _NEVER.match(citation.text)
    if preset is None or preset.bound != "count" or preset.only_forbids or form.bound is None or found is None:
        return None
    if not all(map(forbids_outright, citation.sentences)):
        return None
    never = next(other.name for other in FORMS.values() if other.forbids_outright)
    once = form.bound.raw == "1" and form.field is None
    behind = citation.statement.source.text.index("(", form.bound.span.end)
    edit = Edit(Span(form.span.start, behind), never)
    fix = Fix(f"write `{never}`", (edit,)) if once else None
    what = f"`{form.name}` asks for it"
    return _said(citation, found[0].strip(), what, f"what is never allowed is `{never}(…)`", fix)


def _exception(citation: Citation, reach: StatementReach) -> Diagnostic | None:
    """A statement that speaks of the exception alone."""
    found, form = _EXCEPT.search(citation.text), citation.statement.preset
    if found is None or form is None or _PERMITS.search(citation.text):
        return None
    if not (NEGATION.search(citation.text) if form.only_forbids else form.wanted):
        return None  # `edit anything except .env` has `.env` forbidden
    if reach.whole.negated or not re.search(r"[./~*]|[A-Z]{2}", found["name"]):
        return None
    name = found["name"].strip("*").lower()
    if len(name) < 3 or not any(name in text.lower() for text in reach.whole.tested):
        return None
    message = f"`{citation.statement.name}` speaks of `{found['name']}` alone"
    return _said(citation, found["word"], message, "what is left out is tested by `!=`, `!~` or `not`")


def _time(citation: Citation, reach: StatementReach) -> Diagnostic | None:
    """`bresp[5]` for five minutes: a number without a unit counts calls."""
    bounds = reach.whole.bounds
    if not bounds or any(isinstance(bound, core.Within) for bound in bounds):
        return None
    for number in (number for sentence in citation.sentences for number in constraints(sentence).numbers):
        seconds = SECONDS.get(number.unit)
        if seconds is None or not any(
            str(bound.count) == number.value for bound in bounds if not isinstance(bound, core.Within)
        ):
            continue
        unit, form = _UNITS.get(int(seconds)), citation.statement.syntax.form
        written = f"{number.value}{unit}"
        if unit is None:
            return None
        preset = citation.statement.preset
        at = form.bound if preset is not None and preset.bound == "calls or time" else form.window
        plain = at is not None and at.raw == number.value
        fix = Fix(f"write `{written}`", (Edit(at.span, written),)) if plain and at is not None else None
        return _said(
            citation,
            number.word,
            f"`{number.value}` without a unit is a number of calls",
            f"a time has its unit: `[{written}]`",
            fix,
        )
    return None
