"""VGL703: a statement that says the opposite of its sentence: by its bound, its form, or its exception."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Diagnostic, Edit, Fix, Note, Span
from vigil_lang.english.constraints import constraints
from vigil_lang.english.patterns import NEGATION
from vigil_lang.english.phrases import forbids_outright
from vigil_lang.english.stems import meet
from vigil_lang.english.words import NUMBERS, SECONDS, distinctive_words, parts_of
from vigil_lang.lint.source.reach import of_kind
from vigil_lang.semantics import core
from vigil_lang.semantics.forms import FORMS
from vigil_lang.syntax import tree

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
_NAMED = r"[`\"'“]?(?P<name>[\w~*./][\w./~*-]*[\w*/])[`\"'”]?"
_ONLY_THERE = re.compile(
    rf"\W*(?:(?P<only>only) (?!if\b|when\b)[^,;:]*?|"
    rf"(?:[\w-]+ ){{1,4}}?(?P<must>(?:must|may|shall|should) only) [^,;:]*?|"
    rf"(?P<always>always) (?:use|run|write|call|read|connect)\b[^,;:]*?|"
    rf"(?:[\w-]+ ){{1,4}}?(?P<place>(?:must|shall) be) \w+ (?:under|in|inside|within|into|below|to|with|from|via) )"
    rf"\s?{_NAMED}\W*$",
    re.IGNORECASE,
)
"""What a sentence says is the only thing, or the only place, by the name at its end."""
_LONGEST = 400
"""Characters of a sentence that is looked at for a name at its end."""
_CONDITION = re.compile(
    r"\b(?:if|when|whenever|unless|until|after|before|once|except|without|with (?:an? )?(?:approv|permi)\w*)\b",
    re.IGNORECASE,
)
_OPPOSITE = {"~": "!~", "=": "!=", "in": "not in"}
_LAST = re.compile(r"\b(?:within|in|among|during) the last (?P<number>\w+)(?: \w+)?", re.IGNORECASE)
_IN_BETWEEN = re.compile(
    r"^\W*(?:never|do not|don['’]t|no|must not)\s+(?P<what>[^,;]{3,80}?)\s+between\s+(?P<begin>[^,;]{3,60}?)\s+and\s",
    re.IGNORECASE,
)
_FEWER = re.compile(r"(?:fewer|less) than\b", re.IGNORECASE)
_UNITS = {86_400: "d", 3_600: "h", 60: "m", 1: "s"}


def find(citation: Citation, reach: StatementReach) -> Diagnostic | None:
    """What is turned round; None where nothing certainly is."""
    return (
        _count(citation)
        or _never(citation)
        or _exception(citation, reach)
        or _allowed(citation, reach)
        or _time(citation, reach)
        or _distance(citation)
        or _other_unit(citation, reach)
        or _fewer(citation)
        or _either(citation)
        or _between(citation)
    )


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


def _allowed(citation: Citation, reach: StatementReach) -> Diagnostic | None:
    """`abs(file.write(path ~ "/srv/app/*"))` for a sentence that says where files are written."""
    form = citation.statement.preset
    if form is None or not form.forbids_outright or reach.whole.negated or reach.whole.earlier or reach.whole.later:
        return None
    if (
        len(citation.sentences) != 1
        or len(citation.text) > _LONGEST
        or _CONDITION.search(citation.text)
        or NEGATION.search(citation.text)
    ):
        return None
    found = _ONLY_THERE.match(citation.sentences[0])
    name = "" if found is None else found["name"].strip("*/").lower()
    if found is None or len(name) < 2 or not any(name in text.lower() for text in reach.whole.tested):
        return None
    word = next(found[group] for group in ("only", "must", "always", "place") if found[group])
    fix = None if found["always"] else _negated(citation, name)
    help_text = "anything else is tested by `!~`, `!=` or `not`"
    if found["always"]:
        help_text = "what is always to be done is no condition of `abs(…)`, which says what never happens"
    return _said(citation, word, f"`{citation.statement.name}` forbids exactly that", help_text, fix)


def _negated(citation: Citation, name: str) -> Fix | None:
    """`!~` for `~`, where one test names what is allowed."""
    waiting: list[tree.Expr] = list(citation.statement.syntax.form.args)
    tests: list[tree.Test] = []
    while waiting:
        match waiting.pop():
            case tree.Test() as test:
                tests.append(test)
            case tree.Apply(_, args):
                waiting += [a for a in args or () if not isinstance(a, tree.String | tree.Number | tree.Boolean)]
            case tree.And(items):
                waiting += items
            case _:
                return None
    text = citation.statement.source.text
    named = [t for t in tests if name in text[t.operand.span.start : t.operand.span.end].lower()]
    if len(named) != 1 or (sign := _OPPOSITE.get(named[0].operator)) is None:
        return None
    between = Span(named[0].field.span.end, named[0].operand.span.start)
    return Fix(f"write `{sign}`", (Edit(between, f" {sign} "),))


def _distance(citation: Citation) -> Diagnostic | None:
    """`earlier[5..]` for the last five: a range without an end begins there."""
    start, end = citation.statement.syntax.form.span
    text = citation.statement.source.text[start:end]
    said = _LAST.search(citation.text)
    number = "" if said is None else str(NUMBERS.get(said["number"].lower(), said["number"]))
    found = re.search(rf"\[({re.escape(number)})(?:ms|s|m|h|d)?\.\.\]", text) if number else None
    if said is None or found is None:
        return None
    edit = Edit(Span(start + found.start(), start + found.end()), found[0].replace("..", ""))
    what = f"`{found[0]}` is that far away or farther"
    fix = Fix(f"write `{edit.text}`", (edit,))
    return _said(citation, said[0], what, f"`{edit.text}` is at most that far away", fix)


def _other_unit(citation: Citation, reach: StatementReach) -> Diagnostic | None:
    """`[5m]` for five hours."""
    waits = {bound.microseconds for bound in reach.whole.bounds if isinstance(bound, core.Within)}
    for number in (number for sentence in citation.sentences for number in constraints(sentence).numbers):
        seconds = SECONDS.get(number.unit)
        if seconds is None or int(seconds) not in _UNITS or not number.value.isdigit():
            continue
        said = int(number.value) * int(seconds) * 1_000_000
        other = next(
            (u for s, u in _UNITS.items() if int(number.value) * s * 1_000_000 in waits and s != seconds), None
        )
        if said not in waits and other is not None:
            meant = f"{number.value}{_UNITS[int(seconds)]}"
            return _said(citation, number.word, f"the bound is `{number.value}{other}`", f"that time is `{meant}`")
    return None


def _fewer(citation: Citation) -> Diagnostic | None:
    """`atmost[3]` for fewer than three."""
    form, preset = citation.statement.syntax.form, citation.statement.preset
    if preset is None or preset.bound != "count" or not preset.only_forbids or form.bound is None:
        return None
    for number in (number for sentence in citation.sentences for number in constraints(sentence).numbers):
        if _FEWER.match(number.word) and number.value == form.bound.raw and int(number.value) > 1:
            meant = str(int(number.value) - 1)
            return _said(
                citation,
                number.word,
                f"`{form.name}[{number.value}]` allows {number.value}",
                f"that is `{form.name}[{meant}](…)`",
                Fix(f"write `{meant}`", (Edit(form.bound.span, meant),)),
            )
    return None


def _either(citation: Citation) -> Diagnostic | None:
    """`prec(c(), a() or b())` for a sentence that has both come before."""
    form, preset = citation.statement.syntax.form, citation.statement.preset
    if preset is None or preset.looks != "back" or preset.wanted != "guard" or len(form.args) != 2:
        return None
    guard = form.args[1]
    if not isinstance(guard, tree.Or) or len(guard.items) != 2 or re.search(r"\bor\b", citation.text, re.IGNORECASE):
        return None
    names = [
        item.name.text for item in guard.items if isinstance(item, tree.Apply) and isinstance(item.name, tree.Name)
    ]
    said = [word for sentence in citation.sentences for word in constraints(sentence).temporal if word.order == "past"]
    if len(names) != 2 or len(said) != 1 or NEGATION.search(citation.text):
        return None
    halves = re.split(r"\s+and\s+", said[0].first)
    words = [distinctive_words(half) for half in halves]
    kinds = [frozenset(parts_of(name)) | of_kind(name) for name in names]
    if len(halves) != 2 or not any(
        meet(words[a], kinds[0]) and meet(words[b], kinds[1]) and not meet(words[a], kinds[1])
        for a, b in ((0, 1), (1, 0))
    ):
        return None
    text = citation.statement.source.text
    trigger, one, other = (text[e.span.start : e.span.end] for e in (form.args[0], *guard.items))
    meant = f"always {trigger} implies earlier {one} and earlier {other}"
    return _said(citation, "and", f"one of two is enough for `{form.name}`", f"both are asked for by `{meant}`")


def _between(citation: Citation) -> Diagnostic | None:
    """`always c() implies not a() since x()` for no x between an a and a c."""
    said, body = _IN_BETWEEN.search(citation.text), citation.statement.syntax.form.args[0]
    match body:
        case tree.Implies(_, tree.Interval("since", _, _, tree.Not(tree.Apply() as barred), tree.Apply() as since)):
            pass
        case _:
            return None
    if said is None or not isinstance(barred.name, tree.Name) or not isinstance(since.name, tree.Name):
        return None
    begin, forbidden = distinctive_words(said["begin"]), distinctive_words(said["what"])
    one, other = (frozenset(parts_of(name)) | of_kind(name) for name in (barred.name.text, since.name.text))
    if not (meet(begin, one) and meet(forbidden, other)) or meet(begin, other) or meet(forbidden, one):
        return None
    text = citation.statement.source.text
    first, second = (text[e.span.start : e.span.end] for e in (since, barred))
    written = f"not {first} since {second}"
    interval = body.right
    fix = Fix(f"write `{written}`", (Edit(interval.span, written),))
    what = f"`since` asks for `{since.name.text}` before, and for no `{barred.name.text}` after it"
    return _said(citation, "between", what, f"what must not be in between stands first: `{written}`", fix)


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
