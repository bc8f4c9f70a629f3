"""VGL703: a cited sentence with another temporal order (`before`, `at most three times`) than the statement's form."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from vigil_lang.diagnostics import Diagnostic, Edit, Fix, Note, Span
from vigil_lang.english.constraints import constraints
from vigil_lang.english.demanding import instructs
from vigil_lang.english.patterns import NEGATION
from vigil_lang.english.phrases import AT_A_TIME, EACH_TIME, forbids_outright
from vigil_lang.english.stems import meet
from vigil_lang.english.words import distinctive_words
from vigil_lang.lint.source import turned_round
from vigil_lang.lint.source.citations import documentation_of
from vigil_lang.lint.source.sequences import ALLOWED, ONLY_THEN, Sequence, sequences
from vigil_lang.semantics.forms import FORMS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.english.constraints import Temporal
    from vigil_lang.lint.source.citations import Citation
    from vigil_lang.lint.source.cited import Cited
    from vigil_lang.lint.source.reach import StatementReach
    from vigil_lang.lint.source.sequences import Sense
    from vigil_lang.lint.subject import Subject
    from vigil_lang.semantics.lower import Statement


_NEVER = re.compile(
    r"\W*(?:(?P<word>never|do not|don['’]t|must not|mustn['’]t|under no circumstances)\b"
    r"|(?:\w+ ){1,4}?(?P<passive>(?:must|may|shall|should) (?:not|never) be|"
    r"(?:is|are) (?:strictly )?(?:forbidden|prohibited|not (?:allowed|permitted))"
    r"|(?:is|are) never)\b|(?P<none>no) (?:\w+ ){1,3}?(?:is|are|may|must|shall) (?:ever |be )?\w+)",
    re.IGNORECASE,
)
_ASKING = frozenset({"user.ask", "user.message"})
_ASKED = re.compile(
    r"\b(?:ask\w*|confirm\w*|approv\w*|permi\w*|consent\w*|users?|human|review\w*|authori[sz]\w*|told|request\w*|"
    r"auto\w*|silent\w*|assum\w*|guess\w*|infer\w*|yourself|own|decid\w*|choos\w*|blindly|secretly)\b",
    re.IGNORECASE,
)
"""What speaks of somebody who is asked, or of what is done without: that may be done once somebody was."""


@dataclass(frozen=True, slots=True)
class _Mismatch:
    said: Temporal | Sequence
    help: str
    swapped: bool = False
    form: str | None = None


def find(subject: Subject) -> Iterator[Diagnostic]:
    """Statements whose form clearly does not fit what a sentence they cite says of time."""
    for citation in subject.cited.citations:
        if (word := _never(citation, subject.cited)) is not None:
            yield _asked_anyway(word, citation)
            continue
        said = [word for sentence in citation.sentences for word in constraints(sentence).temporal]
        reach = subject.cited.reach(citation.statement)
        if (turned := turned_round.find(citation, reach)) is not None:
            yield turned
            continue
        found = _mismatch(said, reach, citation) if said else _in_sequence(citation, reach)
        if found is not None:
            yield _finding(found, citation, reach)
    for statement in subject.policy.statements:
        if not statement.metadata.cites and statement.preset is not None:
            yield from _documented(statement, subject.cited)


def _documented(statement: Statement, cited: Cited) -> Iterator[Diagnostic]:
    """What the documentation says of the order of two things, where the form has both and another order."""
    documentation = documentation_of(statement)
    if documentation is None:
        return
    said = [word for sentence in documentation.sentences for word in constraints(sentence).temporal]
    if {word.order for word in said} not in ({"past"}, {"future"}):
        return
    reach = cited.reach(statement)
    found = _mismatch(said, reach, documentation)
    if found is None or _fix(found, documentation, reach) is None:
        return
    # `After the plan, write files.` may only allow it.
    if found.swapped or said[0].order == "past" or any(EACH_TIME.search(f"{one.word} {one.first}") for one in said):
        yield _finding(found, documentation, reach)


def _mismatch(said: list[Temporal], reach: StatementReach, citation: Citation) -> _Mismatch | None:
    by_order = {word.order: word for word in reversed(said)}
    orders, form, whole = set(by_order), citation.statement.preset, reach.whole
    counts = form is None or form.bound in ("count", "limit") or whole.compared or (form.only_forbids and whole.earlier)
    if "counted" in orders and not counts and not AT_A_TIME.search(citation.text):
        return _Mismatch(by_order["counted"], "a number of times is `atmost[n](…)`")
    if "bounded" in orders and form is not None and form.wanted and not whole.bounds:
        return _Mismatch(by_order["bounded"], "a limit on the time or the calls between two events is `bresp[…](…, …)`")
    if orders == {"past"}:
        return _past(by_order["past"], reach)
    if orders == {"future"}:
        return _future(by_order["future"], reach)
    forbidden = form is not None and form.only_forbids and not whole.bounds and not whole.earlier
    if orders == {"end"} and forbidden and not _is_carried(by_order["end"].word, reach):
        return _Mismatch(by_order["end"], "what holds at the end is `rslv(…, …)`, what must follow is `resp(…, …)`")
    return None


def _in_sequence(citation: Citation, reach: StatementReach) -> _Mismatch | None:
    """What a sentence without the usual words of order tells: what has to follow, or only which of two is the first."""
    form = citation.statement.preset
    if form is None or form.wanted not in ("guard", "response"):
        return None
    for said in (one for sentence in citation.sentences for one in sequences(sentence)):
        if said.sense == "past" and form.looks == "ahead":
            return _Mismatch(said, _ORDER["past"], form="prec")
        if said.sense == "future" and form.looks == "back":
            return _Mismatch(said, _ORDER["future"], form="resp")
        ordered = (said.then, said.first) if form.looks == "back" else (said.first, said.then)
        if _direction(*ordered, reach) == "swapped":
            return _Mismatch(said, _ORDER[said.sense], swapped=True)
    return None


_ORDER: Final[dict[Sense, str]] = {
    "past": "`prec(trigger, guard)`: what must come earlier stands second",
    "future": "`resp(trigger, response)`: what must follow stands second",
    "either": "what comes first is the guard of `prec(…, …)`, or the trigger of `resp(…, …)`",
}


def _never(citation: Citation, cited: Cited) -> str | None:
    """The word of a sentence that forbids outright, where the statement allows it once somebody was asked."""
    form = citation.statement.preset
    if form is None or form.wanted not in ("guard", "response") or cited.reach(citation.statement).whole.bounds:
        return None
    found = _NEVER.match(citation.text)
    if found is None or _ASKED.search(citation.text) or not all(map(forbids_outright, citation.sentences)):
        return None
    guard = cited.reach(citation.statement).part_reaches[form.roles.index(form.wanted)]
    asks = bool(guard.actions) and all(a in _ASKING or a.startswith(("confirm", "approv")) for a in guard.actions)
    several = len([one for one in cited.citations if one.statement is citation.statement]) > 1
    return found[found.lastgroup or "word"] if asks and not several else None


def _asked_anyway(word: str, citation: Citation) -> Diagnostic:
    form = citation.statement.syntax.form
    return Diagnostic.of(
        "VGL703",
        f"the sentence says `{word}` without an exception, and `{form.name}` allows it where somebody is asked",
        citation.statement.source,
        Span(form.span.start, form.span.start + len(form.name)),
        help="what is never allowed is `abs(…)`; cite the sentence with the exception if there is one",
        notes=(Note("the sentence", citation.statement.source, citation.place(word)),),
    )


def _past(said: Temporal, reach: StatementReach) -> _Mismatch | None:
    form, whole = reach.statement.preset, reach.whole
    if whole.later and not whole.earlier if form is None else form.looks == "ahead":
        if whole.earlier:
            return None  # with `after`, it speaks of both
        return _Mismatch(said, "what must come earlier is the guard of `prec(…, …)`", form="prec")
    if form is None:
        return None
    if form.only_forbids and not whole.earlier and said.word != "unless" and not _is_carried(said.first, reach):
        return _Mismatch(said, "what must come earlier is the guard of `prec(…, …)`")
    if form.looks == "back" and _direction(said.then, said.first, reach) == "swapped":
        return _Mismatch(said, "`prec(trigger, guard)`: what must come earlier stands second", swapped=True)
    return None


def _future(said: Temporal, reach: StatementReach) -> _Mismatch | None:
    form, whole = reach.statement.preset, reach.whole
    if whole.earlier and not whole.later if form is None else form.looks == "back":
        if EACH_TIME.search(f"{said.word} {said.first}") or _demands_next(said):
            return _Mismatch(
                said, "what must follow is the response of `resp(…, …)`", form=None if form is None else "resp"
            )
        if form is not None and _direction(said.then, said.first, reach) == "swapped":
            return _Mismatch(said, _ORDER["either"])  # whether the second may, or has to follow, is not certain
    asks = form is not None and form.wanted == "response"
    if form is not None and asks and _direction(said.first, said.then, reach) == "swapped":
        return _Mismatch(said, f"`{form.name}(trigger, response)`: what comes first stands first", swapped=True)
    return None


def _demands_next(said: Temporal) -> bool:
    """`After a deployment, run the tests`: the tests are to follow. With `once` a thing may be allowed from then on."""
    after = said.word in ("after", "following", "upon") and NEGATION.search(said.then) is None
    return after and ONLY_THEN.search(said.then) is None and ALLOWED.search(said.first) is None and instructs(said.then)


def _is_carried(earlier: str, reach: StatementReach) -> bool:
    """Whether the event itself may show what should have come earlier: `release(validated = false)`."""
    wanted = distinctive_words(earlier)
    return not wanted or meet(wanted, reach.words)


def _direction(first: str, second: str, reach: StatementReach) -> str:
    """Whether the form has two things in this order (`as said`), the other way round (`swapped`), or neither.

    What its words do not tell, other words for its kinds may.
    """
    if len(reach.parts) < 2:
        return ""
    one, two = distinctive_words(first), distinctive_words(second)
    one, two = one - two, two - one
    return _met(one, two, *reach.parts[:2]) or _met(one, two, *reach.parts_in_other_words[:2])


def _met(one: frozenset[str], two: frozenset[str], first: frozenset[str], second: frozenset[str]) -> str:
    straight = (meet(one, first), meet(two, second))
    crossed = (meet(one, second), meet(two, first))
    if straight == (True, True) and crossed == (False, False):
        return "as said"
    return "swapped" if crossed == (True, True) and straight == (False, False) else ""


def _finding(found: _Mismatch, citation: Citation, reach: StatementReach) -> Diagnostic:
    statement, form = citation.statement, citation.statement.syntax.form
    preset = statement.preset
    contrast = "asks for another order" if preset is None else preset.contrast
    what = "has it the other way round" if found.swapped else contrast
    span = statement.span if preset is None else Span(form.span.start, form.span.start + len(form.name))
    return Diagnostic.of(
        "VGL703",
        f"the {citation.of} says `{found.said.word}`, and `{form.name}` {what}",
        statement.source,
        span,
        help=found.help,
        fix=_fix(found, citation, reach),
        notes=(Note(f"the {citation.of}", statement.source, citation.place(found.said.word)),),
    )


def _fix(found: _Mismatch, citation: Citation, reach: StatementReach) -> Fix | None:
    """The form with its conditions where the sentence has them, if that is certain."""
    if isinstance(found.said, Sequence) and found.said.sense == "either":
        return None
    form, text = citation.statement.syntax.form, citation.statement.source.text
    if len(form.args) != 2 or (found.form is None and not found.swapped):
        return None
    name = found.form or form.name
    said = found.said
    wanted = (said.then, said.first) if FORMS[name].looks == "back" else (said.first, said.then)
    direction = _direction(*wanted, reach)
    if not direction:
        return None
    args = form.args if direction == "as said" else form.args[::-1]
    shown = ", ".join(text[arg.span.start : arg.span.end] for arg in args)
    bound = f"[{form.bound.raw}]" if form.bound is not None and name == form.name else ""
    written = f"{name}{bound}({shown})"
    if "\n" in written or len(written) > 160:
        return None if "\n" in written else Fix(f"write `{name}`", (Edit(form.span, written),))
    return Fix(f"write `{written}`", (Edit(form.span, written),))
