"""What a conjunction asks of each field: a cheap comparison that settles most questions without a solver."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from msgspec.structs import replace

from vigil_lang.analysis.surely_satisfiable import LONGEST_TRIED, surely_satisfiable, unmarked
from vigil_lang.semantics import core
from vigil_lang.semantics.denotation import meets
from vigil_lang.semantics.matching_cost import is_laborious
from vigil_lang.semantics.text_patterns import AnyOf, Glob, glob_parts, predicate
from vigil_lang.trace.event import Event

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vigil_lang.semantics.text_patterns import Matcher

FieldTest: TypeAlias = (
    core.Has | core.In | core.Matches | core.Compares | core.Equals | core.Contains | core.ContainsText
)
FIELD_TESTS = (core.Has, core.In, core.Matches, core.Compares, core.Equals, core.Contains, core.ContainsText)
OF_A_VARIABLE = (core.Equals, core.Contains)
_LOWER: Final = {">", ">="}
MAX_CONJUNCTS: Final = 200
"""Conjuncts that are held against each other, each against each."""

_PLAIN: Final = core.Reads("k")
_ANY_RUN: Final = "\ufdd0"
_ANY_CHARACTER: Final = "\ufdd1"


class FieldConstraints(NamedTuple):
    """The conjuncts of a condition, sorted.

    `names` are those of which the action has one, None where any action will do; `fields` the tests by what they read,
    an argument by its name; `others` are the conjuncts that are no single test of one place, `loose` whether they may
    imply one.
    Some of the tests of a `joined` field are of variables. Of a `large` condition nothing is said.
    """

    names: frozenset[str] | None
    status: str | None
    fields: dict[str | core.Reads, list[FieldTest]]
    others: list[core.Condition]
    loose: bool
    joined: frozenset[str | core.Reads]
    large: bool = False


def field_constraints(condition: core.Condition) -> FieldConstraints:
    """A condition's conjuncts, nested conjunctions taken apart; of several sets of names one is kept as such."""
    names: frozenset[str] | None = None
    status: str | None = None
    fields: dict[str | core.Reads, list[FieldTest]] = {}
    others: list[core.Condition] = []
    waiting = [condition]
    count = 0
    while waiting:
        count += 1
        item = waiting.pop()
        if isinstance(item, core.AndC):
            waiting += item.items
        elif isinstance(item, core.ActionIn) and names is None:
            names = item.names
        elif isinstance(item, FIELD_TESTS):
            fields.setdefault(_place(item.field), []).append(item)
        elif isinstance(item, core.StatusIs) and status is None:
            status = item.status
        else:
            others.append(item)
    loose = bool(others) and not all(map(_denies, others))
    joined = frozenset(f for f, tests in fields.items() if any(isinstance(test, OF_A_VARIABLE) for test in tests))
    return FieldConstraints(names, status, fields, others, loose, joined, count > MAX_CONJUNCTS)


def _place(field: core.Reads) -> str | core.Reads:
    return field if field.output or field.views else field.name


def _denies(condition: core.Condition) -> bool:
    """Whether a condition says of one test that it fails."""
    return isinstance(condition, core.NotC) and not isinstance(condition.body, core.NotC | core.AndC | core.OrC)


def may_imply(
    left: FieldConstraints, right: FieldConstraints, *, renaming: Literal["left", "right"] | None = None
) -> bool:
    """Whether `left` may imply `right`; with `renaming`, after a choice of values for the variables of that one.

    A no overlooks a `left` that nothing meets, and tests that every value meets.
    """
    loose = left.loose
    if left.large or right.large:
        return False
    if right.names is not None and not loose and (left.names is None or not left.names <= right.names):
        return False
    if right.status is not None and right.status != left.status and not loose:
        return False
    for field, tests in () if loose else right.fields.items():
        known = left.fields.get(field)
        if known is None:
            return False
        if renaming and (field in left.joined or field in right.joined):
            if renaming == "right" and any(_met_without(left, known, test) for test in tests):
                return False
            continue
        if any(all(field_test_implies(k, test) is False for k in known) for test in tests):
            return False
    # A negated test of what `left` leaves open.
    if renaming != "left" and any(_met_besides(left, item) for item in right.others):
        return False
    return bool(left.others) or all(_spoken_of(item, left) for item in right.others)


def _met_without(left: FieldConstraints, known: list[FieldTest], asked: FieldTest) -> bool:
    """Whether an argument that is a list meets all tests of some, which may name variables, and not another one.

    Each is met by a value of its own that does not meet the other one; so is what all variables stand for.
    """
    if left.others or isinstance(asked, (core.Has, *OF_A_VARIABLE)) or not all(isinstance(k, str) for k in left.fields):
        return False
    for test in known:
        if isinstance(test, core.Contains | core.ContainsText):
            return False
        if not isinstance(test, core.Equals) and field_test_implies(test, asked) is not False:
            return False
    return not all(holds_of(asked, text) for text in _rather_not(asked) if text)


def _rather_not(test: FieldTest) -> Iterable[str]:
    """Texts that may not meet a test."""
    match test:
        case core.Matches(_, matcher, True):
            return _samples(matcher)
        case core.In(_, values, True):
            return values
        case _:
            return "a", _ANY_RUN


def _met_besides(left: FieldConstraints, condition: core.Condition) -> bool:
    """Whether a list that meets `left` may have one more value, one that a condition says it does not have."""
    if left.loose or not isinstance(condition, core.NotC):
        return False
    body = condition.body
    if (
        not isinstance(body, core.In | core.Matches | core.Compares)
        or body.field.output
        or body.field.views
        or not surely_satisfiable(body)
    ):
        return False
    denied = [item.body for item in left.others if isinstance(item, core.NotC)]
    beside = [test for test in denied if isinstance(test, FIELD_TESTS) and test.field == body.field]
    return not beside or (
        len(beside) == 1 and not isinstance(beside[0], OF_A_VARIABLE) and field_test_implies(body, beside[0]) is False
    )


def _spoken_of(condition: core.Condition, left: FieldConstraints) -> bool:
    match condition:
        case core.NotC(core.ActionIn() | core.ActionMatches()):
            return left.names is not None
        case core.NotC(core.StatusIs()):
            return left.status is not None
        case core.NotC(body) if isinstance(body, FIELD_TESTS):
            return _place(body.field) in left.fields
        case core.NotC(core.AndC() | core.OrC()) | core.OrC():
            return True
        case core.ActionIn() | core.ActionMatches():
            return left.names is not None
        case _:
            return True


def field_test_implies(known: FieldTest, asked: FieldTest) -> bool | None:
    """Whether a test of a field implies another of the same field, whatever its values; None where that is hard to say.

    A yes is certain. A no overlooks tests that nothing meets, tests that every value meets, and what other tests of
    the field add.
    """
    if isinstance(asked, core.Has):
        return True
    if isinstance(asked, core.Matches) and is_laborious(core.AndC((known, asked))):
        return None
    # By type first: this is asked of every two statements that speak of the same action.
    match known:
        case core.In(_, values, False):
            if isinstance(asked, core.In) and not asked.negated:
                return values <= asked.values
            return not isinstance(asked, OF_A_VARIABLE) and all(holds_of(asked, text) for text in values)
        case core.In(_, values):
            return asked.values <= values if isinstance(asked, core.In) and asked.negated else None
        case core.Equals() | core.Contains():
            return type(known) is type(asked) and known.variable == asked.variable
        case core.Matches():
            return _matching(known, asked)
        case core.Compares():
            return _comparing(known, asked) if isinstance(asked, core.Compares) else None
        case core.ContainsText(_, text):
            if isinstance(asked, core.ContainsText):
                return bool(text) and bool(asked.text) and asked.text in text
            return None if isinstance(asked, core.Matches) and text and holds_of(asked, text) else False
        case _:
            return False


def _matching(known: core.Matches, asked: FieldTest) -> bool | None:
    if isinstance(asked, core.Matches) and known.negated == asked.negated:
        if known.matcher == asked.matcher:
            return True
        narrow, wide = (asked.matcher, known.matcher) if known.negated else (known.matcher, asked.matcher)
        if isinstance(narrow, Glob) and isinstance(wide, Glob):
            return _within(narrow.pattern, wide.pattern)
    if isinstance(asked, OF_A_VARIABLE):
        return False
    if known.negated:
        return None
    return None if all(holds_of(asked, text) for text in _samples(known.matcher)) else False


def _comparing(known: core.Compares, asked: core.Compares) -> bool:
    lower = known.operator in _LOWER
    if lower != (asked.operator in _LOWER):
        return False
    if known.number == asked.number:
        return len(known.operator) <= len(asked.operator)
    return (known.number > asked.number) == lower


def holds_of(test: FieldTest, text: str) -> bool:
    """A test without variables, of one text that its field has, through its views where it has some."""
    return meets(replace(test, field=_PLAIN), Event("e", "", "e", {_PLAIN.name: (text,)}), {})


@lru_cache(maxsize=4096)
def _within(narrow: str, wide: str) -> bool | None:
    """Whether one glob matches all texts that another matches; None where that is hard to say.

    It does if it matches the other with characters for wildcards that it does not have itself: then its own `*` stand
    for them, and for whatever else may be there.
    """
    if "?" in wide or _ANY_RUN in wide or _ANY_CHARACTER in wide:
        return None
    return predicate(Glob(wide))(_filled(narrow))


@lru_cache(maxsize=4096)
def _filled(pattern: str) -> str:
    """A glob with the characters that stand for its wildcards."""
    wildcards = {"*": _ANY_RUN, "?": _ANY_CHARACTER}
    return "".join([wildcards.get(kind, text) for kind, text in glob_parts(pattern)])


@lru_cache(maxsize=4096)
def _samples(matcher: Matcher) -> tuple[str, ...]:
    """Texts that a pattern matches; none for an expression whose texts are not so cheap to guess.

    They are what is left of an expression without the marks of a word in it, and a glob with its wildcards filled in.
    """
    if isinstance(matcher, AnyOf):
        return tuple([text for one in matcher.matchers for text in _samples(one)])
    if len(matcher.pattern) > LONGEST_TRIED:
        return ()
    found = [unmarked(matcher.pattern)]
    if isinstance(matcher, Glob):
        parts = glob_parts(matcher.pattern)
        found = ["".join(text if kind == "text" else fill for kind, text in parts) for fill in ("a", "/0")]
    return tuple(filter(predicate(matcher), found))
