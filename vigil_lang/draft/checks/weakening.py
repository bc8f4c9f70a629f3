"""Statements that only weaken, refused whoever drafted them: what can be broken by no run, or asks for hardly anything.

A drafted statement stands for a clause. One that lets pass what the clause forbids is worse than none, since the
clause counts as enforced. Three ways lead there: the events it speaks of are made fewer (an exception, a threshold, a
status, an `after` that the clause knows nothing of), what it asks for is made easier to come by (a guard that nearly
every event meets), or it holds of every run (see `breakable`). What is taken out of a clause has to be named by its
own sentence; what stands elsewhere in the document takes nothing out of it. What may be right and may be wrong is told
to the reviewer.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from vigil_lang.documents.lexicon import NEGATION
from vigil_lang.draft.checks.cases import Asked, TooMany, cases, is_telling, meets_most
from vigil_lang.draft.checks.said import Said
from vigil_lang.semantics import core

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vigil_lang.draft.checks.said import Wording
    from vigil_lang.draft.model import Clause
    from vigil_lang.semantics.lower import Statement
    from vigil_lang.trace import Signature

NARROWING: Final = frozenset({"trigger", "forbidden", "scope"})
"""Roles of conditions that a statement speaks of: the fewer events meet them, the less it says."""

_EXCEPTING: Final = re.compile(
    r"\b(?:unless|except\w*|other than|apart from|outside|beyond|besides|only|without|lack\w*|missing|instead of|"
    r"exclud\w*|(?:anything|anywhere|everything|nothing|any \w+|all \w+) (?:but|else)|elsewhere|leav(?:e|ing)|"
    r"skip\w*|omit\w*|forget\w*|bypass\w*|not (?:in|under|on|from|part|listed|within|below|inside|named|called)|"
    r"stay within|(?:un|non-?)\w{4,})\b",
    re.IGNORECASE,
)
_DEMANDING: Final = re.compile(
    r"\b(?:always|(?:must|should|shall|may only|can only)(?! (?:not|never)\b)|use(?! no\b)|require[sd]?)\b",
    re.IGNORECASE,
)
_ORDERED: Final = re.compile(
    r"\b(?:after\w*|once|when\w*|if|while|during|following|since|as soon as|upon|already|previous\w*|then|until|from|"
    r"subsequent\w*|having|has been|have been)\b",
    re.IGNORECASE,
)
_OUTCOME: Final = re.compile(
    r"\b(?:un)?(?:fail\w*|error\w*|succe\w*|pass(?:es|ed|ing)?|complet\w*|crash\w*|broke\w*|reject\w*|den(?:y|ied|ies)|"
    r"exit\w*|status\w*|result\w*|finish\w*|work(?:s|ed)?)\b",
    re.IGNORECASE,
)
_SAME: Final = re.compile(
    r"\b(?:same|own|itself|themselves|equal\w*|identical|in place|onto|another|other|different\w*|overwrit\w*)\b",
    re.IGNORECASE,
)
_AT_ONCE: Final = re.compile(r"\b(?:immediate\w*|right away|directly|at once|next|straight)\b", re.IGNORECASE)
_SHORT_FLAG: Final = re.compile(r"-\w")
_FLAG_VALUES: Final = frozenset({"true", "false"})
_SOON = 3
_UNITS = ((86_400_000_000, "d"), (3_600_000_000, "h"), (60_000_000, "m"), (1_000_000, "s"), (1_000, "ms"))


class Weakness(NamedTuple):
    """In what a statement says less than its clause, in words for whoever drafted it; or may do so, if not certain."""

    text: str
    certain: bool = True


def weaknesses(statement: Statement, clause: Clause, signature: Signature | None) -> Iterator[Weakness]:
    """In what a statement says less than the clause it stands for."""
    said = Said.of(clause)
    for holds in core.conditions(statement.requirement.theta):
        try:
            ways = cases(holds.condition)
        except TooMany:
            yield Weakness(f"{holds.role}: the condition has too many cases to be understood; split or simplify it")
            continue
        if holds.role in NARROWING:
            yield from _narrowed(holds.role, ways, statement.form, said)
        else:
            yield from _widened(holds.role, ways, said, signature)
    if statement.syntax.after is not None and not _ORDERED.search(said.text):
        yield Weakness("after: nothing in the clause says that it holds only after something")
    yield from _bounds(statement.requirement.theta, said)


# --- what is spoken of ---------------------------------------------------------------------------------------------


def _narrowed(role: str, ways: Sequence[Sequence[Asked]], form: str, said: Said) -> Iterator[Weakness]:
    tests = list(dict.fromkeys(asked for way in ways for asked in way))
    for test, wanted in tests:
        match test:
            case core.Compares(_, _, number) if not said.has_number(number):
                yield Weakness(f"{role}: the clause has no number {number}")
            case core.StatusIs(status) if not _may_look_at_status(role, form, status, wanted, said):
                told = f"{role}: the clause says nothing of how a call ends; leave the status out, or say `not error`"
                yield Weakness(told)
            case core.Equals(_, variable) | core.Contains(_, variable) if not wanted and not _SAME.search(said.text):
                yield Weakness(f"{role}: it takes out the object `{variable}`, and the clause takes out none")
    if form == "abs" and any(not _says_anything(way, said) for way in ways):
        yield Weakness(f"{role}: nearly any event meets it; name the action that is forbidden")
    out = {asked: taken for asked in tests if (taken := _taken_out(*asked))}
    yield from _exceptions(role, form, out, said)
    only = [text for asked in tests for text in _looked_for(*asked) if not _is_flag(asked[0], text)]
    if only and not any(map(said.names, only)):
        yield Weakness(f"{role}: it speaks of {_shown(only)} alone, which the clause does not name", certain=False)
    for way in ways:
        yield from _twice(role, way, said)


def _says_anything(way: Sequence[Asked], said: Said) -> bool:
    """Whether a case tells what is forbidden: by what an event is or is not, or by an argument that is named."""
    return any(
        isinstance(test, core.StatusIs)
        or is_telling(test, wanted)
        or _taken_out(test, wanted)
        or (isinstance(test, core.Has) and said.own.has(test.field.name))
        for test, wanted in way
    )


def _may_look_at_status(role: str, form: str, status: str, wanted: bool, said: Said) -> bool:
    """Whether a status may limit what is spoken of. That a call did not fail may: then it did something at all.

    What follows a call may well be asked for where it is known to have succeeded.
    """
    follows = role == "scope" or (role == "trigger" and form in ("resp", "bresp", "rslv"))
    harmless = (status, wanted) == ("error", False) or (follows and (status, wanted) == ("ok", True))
    return harmless or _OUTCOME.search(said.text) is not None


def _exceptions(role: str, form: str, out: dict[Asked, list[str]], said: Said) -> Iterator[Weakness]:
    """What is wrong with tests that take events out for what they are."""
    own, excepting = said.own, None
    if prohibits := _prohibits(said.sentence):
        excepting = _EXCEPTING.search(said.sentence)
        own = said.after(excepting.start()) if excepting else own  # what is excepted comes after the word
    unsaid = {asked: [text for text in taken if not _is_said(asked[0], text, own)] for asked, taken in out.items()}
    named = any(len(unsaid[asked]) < len(taken) for asked, taken in out.items())
    for (test, wanted), taken in out.items():
        unnamed = unsaid[test, wanted]
        if _FLAG_VALUES.issuperset(taken) and own.has(_field(test)):
            unnamed = []  # `verified = true`: the argument's name says what is taken out
        if named:  # `-S` beside `--sign`
            unnamed = [text for text in unnamed if not _SHORT_FLAG.fullmatch(text)]
        if unnamed:
            # What must always be there is asked for by forbidding the rest, and may go by other words.
            demanded = form == "abs" and role == "forbidden" and not prohibits and len(out) == 1
            lacks = "except" if excepting else "name"
            told = f"{role}: it takes out {_shown(unnamed)}, which the sentence does not {lacks}"
            yield Weakness(told if demanded else f"{told}; an exception must be in it", certain=not demanded)
        elif prohibits and excepting is None and role != "scope":
            told = f"{role}: it takes out {_shown(taken)}, and the sentence has no `unless`, `only` or the like"
            yield Weakness(told)


def _is_said(test: core.Test, text: str, own: Wording) -> bool:
    """Whether a clause itself speaks of what a test takes out by a name, a value or a pattern."""
    return own.has(text) if isinstance(test, core.ActionIn | core.Has) else own.has_value(text)


def _prohibits(sentence: str) -> bool:
    """Whether a sentence forbids something, rather than to demand it and to say then what it is good for."""
    negation, demand = NEGATION.search(sentence), _DEMANDING.search(sentence)
    return negation is not None and (demand is None or negation.start() < demand.start())


def _field(test: core.Test) -> str:
    return "" if isinstance(test, core.ActionIn | core.ActionMatches | core.StatusIs) else test.field.name


def _is_flag(test: core.Test, text: str) -> bool:
    return text in _FLAG_VALUES and isinstance(test, core.In)


def _taken_out(test: core.Test, wanted: bool) -> list[str]:
    """The values, names or patterns by which a test takes events out; none where it does not."""
    match test:
        case core.In(_, values, negated) if negated == wanted:
            return sorted(values)
        case core.Matches(_, matcher, negated) if negated == wanted:
            return [matcher.pattern]
        case core.ActionIn(names) if not wanted:
            return sorted(names)
        case core.ActionMatches(matcher) if not wanted:
            return [matcher.pattern]
        case core.ContainsText(_, text) if not wanted:
            return [text]
        case core.Has(field) if not wanted:
            return [field.name]
        case _:
            return []


def _looked_for(test: core.Test, wanted: bool) -> list[str]:
    """The values that a test of an argument or the output looks for."""
    match test:
        case core.In(_, values, False) if wanted:
            return sorted(values)
        case core.Matches(_, matcher, False) if wanted:
            return [matcher.pattern]
        case core.ContainsText(_, text) if wanted:
            return [text]
        case core.Has(field) if wanted:
            return [field.name]
        case _:
            return []


def _twice(role: str, way: Sequence[Asked], said: Said) -> Iterator[Weakness]:
    """Two arguments of one event that must be the same object, where nothing says so."""
    found: dict[str, set[core.Reads]] = {}
    for test, wanted in way:
        if wanted and isinstance(test, core.Equals):
            found.setdefault(test.variable, set()).add(test.field)
    for variable, fields in found.items():
        if len(fields) > 1 and not _SAME.search(said.text):
            told = f"{role}: only events with `{variable}` in two places count, and the clause says nothing of that"
            yield Weakness(told)


# --- what is asked for ---------------------------------------------------------------------------------------------


def _widened(role: str, ways: Sequence[Sequence[Asked]], said: Said, signature: Signature | None) -> Iterator[Weakness]:
    telling = [[test for test, wanted in way if is_telling(test, wanted)] for way in ways]
    if any(not tests for tests in telling) or any(meets_most(way, signature) for way in ways):
        yield Weakness(f"{role}: nearly any event meets it; name the action that is asked for")
        return
    alternatives = dict.fromkeys(name for tests in telling for name in _alternatives(tests))
    named = [name for name in alternatives if said.names(name, signature)]
    beside = [name for name in alternatives if name not in named]
    if named and beside:
        told = f"{role}: beside {_shown(named)}, which the clause names, {_shown(beside)} will do"
        yield Weakness(told, certain=False)


def _alternatives(tests: Sequence[core.Test]) -> list[str]:
    """The actions that a case may be; where it names none, what its tests look for."""
    actions = [test for test in tests if isinstance(test, core.ActionIn)]
    if actions:
        return [name for test in actions for name in sorted(test.names)]
    return [text for test in tests for text in _looked_for(test, True)]


def _shown(texts: Sequence[str]) -> str:
    return ", ".join(f"`{text}`" for text in texts[:3]) + (", …" if len(texts) > 3 else "")


# --- how much ------------------------------------------------------------------------------------------------------


def _bounds(theta: core.Theta, said: Said) -> Iterator[Weakness]:
    match theta:
        case core.Implies(_, core.Later(_, core.Calls(count))):
            if not said.has_number(count) and not (count <= _SOON and _AT_ONCE.search(said.text)):
                yield Weakness(f"bound: the clause has no number {count}")
        case core.Implies(_, core.Later(_, core.Within(microseconds))):
            if not any(microseconds % unit == 0 and said.has_number(microseconds // unit) for unit, _ in _UNITS):
                yield Weakness(f"bound: the clause has no such time as {_duration(microseconds)}")
        case core.Implies(_, core.Not(core.Repeated(count))) if not said.has_number(count):
            yield Weakness(f"bound: the clause has no number {count}")


def _duration(microseconds: int) -> str:
    return next(f"{microseconds // size}{unit}" for size, unit in _UNITS if microseconds % size == 0)
