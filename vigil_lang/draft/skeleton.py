"""Drafting without a model: the clauses as commented statements to fill in, and as a document to fill in."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Source
from vigil_lang.draft.building.build import statement_name
from vigil_lang.draft.building.compose import harmless, policy_name
from vigil_lang.draft.clause_result import Answer, PolicyDocument
from vigil_lang.draft.reports.not_taken import by_reason
from vigil_lang.english.constraints import Temporal, constraints
from vigil_lang.english.demanding import unlabelled
from vigil_lang.english.languages import is_english
from vigil_lang.english.patterns import NEGATION, TIME
from vigil_lang.english.sentences import CODE
from vigil_lang.english.words import NUMBERS
from vigil_lang.semantics.text_patterns import quote
from vigil_lang.syntax.format import format_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vigil_lang.draft.clause_result import Clause, Other
    from vigil_lang.draft.clauses import Clauses
    from vigil_lang.english.patterns import Order

_HEAD = """\
/// The clauses of {documents}, to be filled in.
///
/// Each is a comment with its place and a statement. Its form is guessed from words such as `before` and `never`; where
/// no word tells it, that is said, and `abs` stands there for whatever fits, `atleast[1]` for a step.
/// To keep a statement, take the `//` away before `@source` and `statement`, and write conditions in the place of
/// `trigger()`, `guard()` and the like. What was not taken for an obligation is listed at the end, with the reason.
policy {name}
"""
_NOT_YET = "not drafted yet"
_GUARD = "prec(trigger(), guard())"
_RESPONSE = "resp(trigger(), response())"
_NEVER = "abs(trigger())"
_FORBIDDEN_AFTER = "abs(forbidden()) after trigger()"
_FORMS: tuple[tuple[Order, str], ...] = (
    ("counted", "atmost[{}](trigger())"),
    ("bounded", "bresp[{}](trigger(), response())"),
    ("past", _GUARD),
    ("future", _RESPONSE),
    ("end", "rslv(trigger(), resolution())"),
)
_PLACE = re.compile(r"(\w+)\(\)")
_GUARDED = re.compile(
    r"first(?:ly)?\b|(?:ask|ensure|make|be sure|take care|verify|confirm|check|double-check|requires?|only)\b|"
    r".*\b(?:required|approval)\b",
    re.IGNORECASE,
)
"""Words of obligations that ask for something to be there first."""

_FORBIDS = re.compile(
    r"never|do(?:es)? not|don['’]t|not|no|must not|forbidden|prohibited|avoid|banned|(?:[\w-]+ ){0,2}anti-?patterns?"
    r"|what not to \w+|.*\bto avoid|(?:avoid|skip)\b.*|[❌🚫⛔✗✘]",
    re.IGNORECASE,
)
"""The word of a clause that forbids, be it that of a heading, a column, a lead or the sign before an item."""
_MOST = re.compile(
    rf"\b(?:more than|at most|over|exceed(?:ing)?|up to|a maximum of) (0*[1-9]\d{{0,8}}|{'|'.join(NUMBERS)}) "
    rf"(?!(?:[a-z-]+ )?(?:{TIME}|%|percent|[kmgt]i?b|bytes?|characters?|lines?|rows?|tokens?)\b)(?:[a-z-]+ )?[a-z]+s\b",
    re.IGNORECASE,
)
_LIMITED = re.compile(
    r"\b(?:limit|cap|restrict)(?:p?ed)? (?:\w+ ){0,3}?(?:to|at) "
    rf"(0*[1-9]\d{{0,8}}|{'|'.join(NUMBERS)})\b"
    rf"(?! (?:{TIME}|%|percent|[kmgt]i?b|bytes?|characters?|lines?|rows?|tokens?)\b)",
    re.IGNORECASE,
)
_LEAST = re.compile(
    rf"\b(?:at least|no (?:fewer|less) than|a minimum of) (0*[1-9]\d{{0,8}}|{'|'.join(NUMBERS)})(?: times)?\b"
    r"(?! \w+s\b)",
    re.IGNORECASE,
)
_TOTAL = re.compile(
    r"\b(?:in total|altogether|in all|overall|combined|cumulative\w*|"
    r"(?:total|sum)(?: \w+)? (?:of|must|stays|remains|does|may))\b",
    re.IGNORECASE,
)
_SPENT = re.compile(
    r"(?:\b(?:more than|at most|over|exceed(?:ing)?|above|up to|below|under|within|a maximum of)|[$€£]) ?[$€£]?"
    r"(\d{1,3}(?:,\d{3}){1,4}|\d{1,12})(\.\d{1,9})?(?!\w|[.,]\d)",
    re.IGNORECASE,
)
_SPENDING = re.compile(
    r"[$€£]|\b(?:dollars?|usd|euros?|eur|cents?|credits?|tokens?|[kmgt]i?b|bytes?|spend\w*|pay\w*|costs?|transfer\w*|"
    r"amounts?|budget)\b",
    re.IGNORECASE,
)
_WINDOW = re.compile(
    rf"\b(?:per|an?|each|every|in|within|in any|during)(?: an?)?(?: (?P<many>\d{{1,9}}|{'|'.join(NUMBERS)}))? ?"
    r"(?P<unit>seconds?|minutes?|hours?|days?|weeks?)\b|\b(?P<often>hourly|daily|weekly)\b",
    re.IGNORECASE,
)
"""A time in which something is counted: `per hour`, `within 10 minutes`."""

_EACH_OPEN = re.compile(r"\b(?:every|each|all|any|opened|started|created)\b", re.IGNORECASE)
_PLAIN = tuple(
    (re.compile(words, re.IGNORECASE), negated, form)
    for words, negated, form in (
        (r"\b(?:twice|(?:again|the same [^.;]{1,40} again))[.!]*$|\bmore than once\b", True, "atmost[1](trigger())"),
        (r"\b(?:exactly|at most|only) once\b", False, "atmost[1](trigger())"),
        (r"^(?:while|during|as long as)\b", True, "until(trigger(), resolution(), forbidden())"),
        (r"^(?:after|once)\b", True, _FORBIDDEN_AFTER),
        (r"\bfirst(?:[.!]*$|[,;]| (?:and|to|whether|if|that)\b)", False, _GUARD),
        (r"^after\b[^,:]* (?:ask|stop|escalate|give up|roll back)\b", False, _RESPONSE),
        (r"\b(?:in|at) the end[.!]*$|\b(?:finally|eventually)\b", False, "rslv(trigger(), resolution())"),
        (
            r"\bafterwards[.!]*$|\bmust be (?:cleaned up|closed|freed|released|removed|shut down|stopped)\b",
            False,
            "resp(trigger(), response())",
        ),
    )
)
"""Words that tell a form, with whether the sentence has to be a prohibition for that."""

_RELATED = tuple(
    (re.compile(words, re.IGNORECASE), negated, form)
    for words, negated, form in (
        (r"^(?P<then>.+?),? (?P<word>without) (?P<first>(?!\W*--?\w).+)$", True, _GUARD),
        (r"^(?P<then>.+?) (?:(?:is|are|be) )?(?:always )?(?P<word>preceded by) (?P<first>.+)$", False, _GUARD),
        (r"^(?P<first>.+?) (?P<word>precedes?) (?P<then>.+)$", False, _GUARD),
        (r"^(?P<first>.+?) (?:(?:is|are|be) )?(?:always )?(?P<word>followed by) (?P<then>.+)$", False, _RESPONSE),
        (
            r"^(?P<then>.+?) (?P<word>needs?|requires?|goes through|waits? for) "
            r"(?P<first>(?:an?|the|one|two|three)\b.+)$",
            False,
            _GUARD,
        ),
    )
)
"""Words that tell a form and what in it stands before and after, with the same."""

_PROPERTY = re.compile(
    r"\b(?:arguments?|comments?|encryption|extensions?|flags?|headers?|index(?:es)?|limits?|names?|options?|parameters?|"
    r"passwords?|prefix(?:es)?|quotes?|suffix(?:es)?|time-?outs?|types?|units?)\b",
    re.IGNORECASE,
)
"""What something is or has, rather than what is done before it: `never run it without a limit`."""

_ITEM = "item"
"""What stands for the item of a list in words of order."""

_CHECKED = re.compile(r"(?:before|prior to)\b", re.IGNORECASE)
_ABSENT = re.compile(r"no\b", re.IGNORECASE)
"""How a list of things to check begins (`Before writing:`), and an item of it that names what is not to be there."""

_AMOUNT = re.compile(rf"\b(\d{{1,9}}|{'|'.join(NUMBERS)}|an?)\b[ -]?(\w*)", re.IGNORECASE)
_UNITS = (
    ("step", ""),
    ("ms", "ms"),
    ("milli", "ms"),
    ("s", "s"),
    ("m", "m"),
    ("h", "h"),
    ("d", "d"),
)


def policy(clauses: Clauses, name: str) -> str:
    """A policy file without statements: each clause is a comment with its place and a statement in comments.

    It is accepted as it is, and parses with all its statements uncommented.
    """
    count = len(clauses.documents)
    documents = f"`{harmless(clauses.documents[0], 80)}`" if count == 1 else f"{count} documents"
    head = _HEAD.format(documents=documents, name=policy_name(name))
    taken: set[str] = set()
    blocks = [head.rstrip("\n")]
    for number, clause in enumerate(clauses.clauses, 1):
        statement = statement_name("", clause, taken)
        taken.add(statement)
        blocks.append("\n".join(f"// {line}" for line in _block(number, clause, statement)))
    if clauses.others:
        blocks.append("\n".join(_not_taken(clauses.others)))
    return format_text(Source("<skeleton>", "\n\n".join(blocks) + "\n"))


def _not_taken(others: Sequence[Other]) -> Iterator[str]:
    """Comments that list what is no clause, under the reasons: whoever fills in the rest sees what is missing."""
    yield "// Not taken for obligations:"
    for title, listed in by_reason(others):
        yield "//"
        yield f"// {title[0].upper()}{title[1:]}:"
        for other in listed:
            yield f"// - {harmless(other.path, 80)}:{other.line}: {harmless(other.text, 90)}"


def document(clauses: Clauses) -> PolicyDocument:
    """The intermediate form with no clause drafted yet, each with its sentence, to be filled in."""
    return PolicyDocument(
        tuple(Answer(clause.id, "unsupported", reason=_NOT_YET, sentence=clause.text) for clause in clauses.clauses)
    )


def filled_in(document: PolicyDocument) -> PolicyDocument:
    """A document without the answers that nobody has written yet: a placeholder answers for no clause."""
    return PolicyDocument(
        tuple(
            answer
            for answer in document.answers
            if (answer.outcome, answer.reason.strip()) != ("unsupported", _NOT_YET)
        )
    )


def _block(number: int, clause: Clause, statement: str) -> Iterator[str]:
    heading = f", {harmless(clause.headings[-1], 80)}" if any(clause.headings[-1:]) else ""
    yield f"{number}. {harmless(clause.path, 80)}:{clause.line}{heading}"
    if clause.lead:
        yield f"under: {harmless(clause.lead, 120)}"
    if clause.parts:
        yield f"parts: {harmless('; '.join(clause.parts), 300)}"
    if not clause.word:
        english = is_english(clause.text)
        yield "nothing says that it binds" if english else "not in English: whether it binds is not known"
    if clause.hostile:
        yield f"Beware: {harmless(clause.hostile, 120)}."
    form, said = guess(clause)
    if form == _NEVER and not _forbids(clause):
        yield "  form: not told by any word"
    if said is not None and said.first and said.then:
        # What comes later is the trigger of `prec`, and what is forbidden from then on; else what comes first is first.
        parts = (said.then, said.first) if form in (_GUARD, _FORBIDDEN_AFTER) else (said.first, said.then)
        for part, text in zip(_PLACE.findall(form), parts, strict=False):
            yield f"  {part}: {harmless(text.rstrip('.;: '), 100)}"
    yield f"@source({quote(clause.path)}, {quote(clause.text)})"
    yield f"statement {statement}: {form}"


def guess(clause: Clause) -> tuple[str, Temporal | None]:
    """The form that the words of a clause speak for, with names to replace, and the words of order it is guessed by."""
    said = _said(clause)
    if (counted := _counted(clause.text, frozenset(said))) is not None:
        return counted, None
    for order, form in _FORMS:
        word = said.get(order)
        bound = None if word is None else _bound(form, word.word)
        if word is None or bound is None:
            continue
        if order == "future" and NEGATION.search(word.then):
            return _FORBIDDEN_AFTER, word
        return form.format(bound), word
    text = clause.text
    if (related := _related(text)) is not None:
        return related
    if (plain := _plain(text)) is not None:
        return plain, None
    if not clause.word and is_english(text) and NEGATION.search(text) is None:
        return "atleast[1](counted())", None
    guarded = _GUARDED.match(clause.word) and not NEGATION.search(text) and not _FORBIDS.fullmatch(clause.word)
    return (_GUARD if guarded else _NEVER), None


def _counted(text: str, orders: frozenset[Order]) -> str | None:
    """What a sentence asks for in the run, adds up, or counts in a window: `at least once`, `in total`, `per hour`."""
    if orders <= {"end"} and NEGATION.search(text) is None:
        if (least := _LEAST.search(text)) is not None:
            return f"atleast[{_number(least[1])}](counted())"
        if re.search(r"\bbefore the end\b", text, re.IGNORECASE) and not _EACH_OPEN.search(text):
            return "atleast[1](counted())"
    window = _window(text)
    spent = _SPENT.search(text)
    if spent is not None and _TOTAL.search(text) and _SPENDING.search(text):
        return f"budget[{spent[1].replace(',', '')}{spent[2] or ''}](trigger(), amount){window}"
    most = _MOST.search(text)
    return f"atmost[{_number(most[1])}](trigger()){window}" if most is not None and window else None


def _window(text: str) -> str:
    """The window that a sentence counts in, as it stands behind a form; empty where it has none."""
    found = _WINDOW.search(text)
    if found is None:
        return ""
    unit = "day" if found["often"] == "daily" else (found["often"] or found["unit"]).lower()
    many = _number(found["many"] or "1") * (7 if unit.startswith("week") else 1)
    return f" in {many}{'d' if unit.startswith('week') else unit[0]}" if many else ""


def _number(word: str) -> int:
    return NUMBERS.get(word.lower()) or (1 if word.lower() in ("a", "an") else int(word))


def _plain(text: str) -> str | None:
    """The form that a plain word speaks for: `first`, `twice`, `in the end`, `more than 10 emails`."""
    if (found := _MOST.search(text) or _LIMITED.search(text)) is not None:
        return f"atmost[{_number(found[1])}](trigger())"
    negated = NEGATION.search(text) is not None
    return next((form for words, wants, form in _PLAIN if wants in (None, negated) and words.search(text)), None)


def _related(text: str) -> tuple[str, Temporal] | None:
    """The form of a sentence that sets two things in relation: `no release without a tag`."""
    negated = NEGATION.search(text) is not None
    for words, wants, form in _RELATED:
        found = words.search(text) if negated == wants else None
        if found is None or (wants and _PROPERTY.search(found["first"])):
            continue
        order: Order = "past" if form == _GUARD else "future"
        return form, Temporal(
            found["word"].lower(), order, re.sub(r" first[.!]*$", "", found["first"]).strip(), found["then"].strip()
        )
    return None


def _forbids(clause: Clause) -> bool:
    """Whether the words of a clause say that something must not be."""
    said = f"{clause.word} {clause.context} {clause.text}"
    return NEGATION.search(said) is not None or _FORBIDS.fullmatch(clause.word) is not None


def _said(clause: Clause) -> dict[Order, Temporal]:
    """The words of order of a clause; if it has none, those of what it is the other half of."""
    text = clause.text
    # What stands before a colon, a dash or a semicolon is seldom a part of the order.
    clipped = [part.strip() for part in text.split(";")] if ";" in text else []
    parts = dict.fromkeys((*clipped, unlabelled(text), text))
    texts = list(parts) + ([re.sub(r"\s*[()]\s*", ", ", text)] if "(" in text else [])
    found = next(filter(None, ([*_ordered(part)] for part in texts)), None) or [*_of_context(clause)]
    return {word.order: word for word in reversed(found)}


def _ordered(text: str) -> Iterator[Temporal]:
    """The words of order of a text, each part with the code that stands in it."""
    masked, codes = CODE.sub("`…`", text), CODE.findall(text)

    def whole(part: str) -> str:
        at = masked.find(part)
        if at < 0:
            return part
        rest = iter(codes[masked[:at].count("`…`") :])
        return re.sub("`…`", lambda _: next(rest), part)

    return (replace(word, first=whole(word.first), then=whole(word.then)) for word in constraints(text).temporal)


def _of_context(clause: Clause) -> Iterator[Temporal]:
    """The words of order of the lead or the heading that a clause completes, which then stands for a part of them."""
    context, text = clause.context.removesuffix(":"), clause.text
    absent = _CHECKED.match(context) and _ABSENT.match(text)  # what is not there is seen to first, not forbidden
    whole = tuple(word for word in constraints(context).temporal if word.first and word.then)
    for word in whole or constraints(f"{context}, {_ITEM}").temporal if context else ():
        first, then = (text if part.endswith(_ITEM) else part for part in (word.first, word.then))
        if whole:  # `Before a release, do:`, `Do these before a release:`
            first, then = (text, then) if word.order == "past" else (first, text)
        if word.order == "past" and text == first and NEGATION.search(text) and not absent:
            first, then = then, first
        yield replace(word, first=first, then=then)


def _bound(form: str, words: str) -> str | None:
    """What stands in a form's brackets; empty where it has none, None where the words tell nothing that can."""
    if "[" not in form:
        return ""
    found = _AMOUNT.search(words)
    if found is None or found[2].lower().startswith("week"):
        return None
    value, unit = _number(found[1]), found[2].lower()
    short = next((short for begin, short in _UNITS if unit.startswith(begin)), "")
    return f"{value}{short if form.startswith('bresp') else ''}" if value else None
