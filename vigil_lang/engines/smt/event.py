"""One symbolic event: the parts of it that a condition can see, for the solver to choose.

A list makes an argument several texts. As many elements as tests can be asked to hold at once are enough: a test
that must fail is only made easier by leaving elements out. Patterns are uninterpreted: what the solver needs to know
of them, which can be met together and which texts meet them, is worked out before and given to it. So the encoding
may have events that do not exist, and lacks none that does.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from vigil_lang.engines.smt.outcomes import Part, is_in, outcomes
from vigil_lang.engines.smt.strings import literal
from vigil_lang.semantics import core
from vigil_lang.semantics.denotation import meets
from vigil_lang.semantics.matching_cost import is_laborious
from vigil_lang.semantics.regex import Unsupported
from vigil_lang.semantics.text_patterns import AnyOf, Expression, Glob, glob_parts
from vigil_lang.trace.event import Event
from vigil_lang.trace.values import number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from vigil_lang.engines.smt.outcomes import Texts
    from vigil_lang.semantics.text_patterns import Matcher

MAX_ELEMENTS = 8
"""Elements an argument may need; every test is tried on every one of them."""

MAX_SPELLED = 300
"""Characters of the texts of a set, beyond which it is known by those that stand for the others."""

Place: TypeAlias = core.Reads | None
"""Where a test looks: a field, or (None) the names of the action."""

_DECIMAL = Expression(r"^[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$")


def meeting(conjuncts: Sequence[core.Condition], *, lists: bool) -> list[str] | None:
    """A script that is `unsat` only if no event meets all conjuncts, each asserted under the name `c0`, `c1`, ….

    None when it would be too large. Without `lists` every argument has one value; the action's names are several.
    """
    conjuncts = [core.with_opaque_tests(conjunct) for conjunct in conjuncts]
    whole = core.AndC(tuple(conjuncts))
    if is_laborious(whole):
        return None
    tests = list(dict.fromkeys(t for t in core.tests(whole) if not isinstance(t, core.StatusIs)))
    counts: dict[Place, int] = {}
    for place in dict.fromkeys(map(_place, tests)):
        many = place is None or (lists and not place.output)
        counts[place] = max(1, _at_once(whole, place, True)) if many else 1
    if max(counts.values(), default=0) > MAX_ELEMENTS:
        return None
    event = _Event(tests, counts, lists)
    named = [f"(assert (! {event.condition(c)} :named c{at}))" for at, c in enumerate(conjuncts)]
    return [*event.lines(), *named]


def _place(test: core.Condition) -> Place:
    match test:
        case core.ActionIn() | core.ActionMatches() | core.StatusIs() | core.NotC() | core.AndC() | core.OrC():
            return None
        case _:
            return test.field


def _at_once(condition: core.Condition, place: Place, wanted: bool) -> int:
    """How many tests of a place can be asked to hold together."""
    match condition:
        case core.NotC(body):
            return _at_once(body, place, not wanted)
        case core.AndC(items) | core.OrC(items):
            counts = [_at_once(item, place, wanted) for item in items]
            return sum(counts) if isinstance(condition, core.AndC) == wanted else max(counts, default=0)
        case core.StatusIs():
            return 0
        case _:
            return int(wanted and _place(condition) == place)


@dataclass
class _Event:
    """The symbols of one event: elements and presence of each place, and one Boolean a test."""

    tests: Sequence[core.Test]
    counts: dict[Place, int]
    lists: bool
    _opaque: dict[object, str] = field(default_factory=dict)
    _told: dict[Texts, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._symbol = {test: f"t{at}" for at, test in enumerate(self.tests)}
        self._names = {place: f"f{at}" for at, place in enumerate(self.counts)}
        self._variables = {x: f"x{at}" for at, x in enumerate(core.variables_of(core.AndC(tuple(self.tests))))}
        self._parts = any(isinstance(t, core.Contains) for t in self.tests)
        self._kept = _representatives(self.tests, sum(self.counts.values()) + len(self._variables))
        limits = [t.number for t in self.tests if isinstance(t, core.Compares)]
        named = {text for test in self.tests for text in _texts(test)} if limits else set()
        self._texts = sorted(named & self._kept)
        known = [n for text in self._texts if (n := number(text)) is not None]
        # Only the order of numbers matters, so ranks stand for them: a literal may have thousands of digits.
        self._rank = {n: at for at, n in enumerate(sorted({*limits, *known}))}

    def condition(self, condition: core.Condition) -> str:
        """A condition over the tests' symbols."""
        match condition:
            case core.NotC(body):
                return f"(not {self.condition(body)})"
            case core.AndC(items):
                return f"(and true {' '.join(map(self.condition, items))})"
            case core.OrC(items):
                return f"(or false {' '.join(map(self.condition, items))})"
            case core.StatusIs(status):
                return f"is_{status}"
            case core.Entry():
                raise AssertionError(condition)  # `meeting` takes none
            case _:
                return self._symbol[condition]

    def lines(self) -> list[str]:
        """Declarations of every symbol, with what an event is and what each test says of it."""
        defined = [f"(define-fun {symbol} () Bool {self._test(test)})" for test, symbol in self._symbol.items()]
        numbers = list(self._numbers()) if self._rank else []
        together = list(self._together())
        facts = list(self._facts())
        return [
            "(declare-const is_ok Bool) (declare-const is_error Bool) (assert (not (and is_ok is_error)))",
            *(f"(declare-const {x} String)" for x in self._variables.values()),
            *(line for place in self.counts for line in self._declared(place)),
            *(f"(declare-fun {p} (String) Bool)" for p in (*self._opaque.values(), *self._told.values())),
            *numbers,
            *facts,
            *together,
            *defined,
        ]

    def _elements(self, place: Place) -> list[str]:
        return [f"{self._names[place]}_{at}" for at in range(self.counts[place])]

    def _declared(self, place: Place) -> Iterable[str]:
        name = self._names[place]
        yield from (f"(declare-const {element} String)" for element in self._elements(place))
        yield f"(declare-const {name}_here Bool) (declare-const {name}_some Bool)"
        if place is None:
            yield f"(assert {name}_some)"  # every action has a name
        elif self.lists and not place.output:
            yield f"(assert (=> {name}_some {name}_here))"  # the empty list is here without an element
        else:
            yield f"(assert (= {name}_some {name}_here))"

    def _numbers(self) -> Iterable[str]:
        yield "(declare-fun number (String) Real) (declare-fun is_number (String) Bool)"
        for text in self._texts:
            try:
                shown = literal(text)
            except Unsupported:
                continue
            value = number(text)
            if value is None:
                yield f"(assert (not (is_number {shown})))"
            else:
                yield f"(assert (and (is_number {shown}) (= (number {shown}) {self._rank[value]}.0)))"
        compared = {t.field for t in self.tests if isinstance(t, core.Compares)}
        for element in (e for place in self.counts if place in compared for e in self._elements(place)):
            yield f"(assert (=> (is_number {element}) {self._are(_DECIMAL, element)}))"

    def _facts(self) -> Iterator[str]:
        """What patterns say of the texts that have a name of their own."""
        for text in sorted(self._kept):
            try:
                shown = literal(text)
            except Unsupported:
                continue
            for texts, name in self._told.items():
                holds = f"({name} {shown})"
                yield f"(assert {holds if is_in(text, texts) else f'(not {holds})'})"

    def _together(self) -> Iterator[str]:
        """What the tests of one text can come to. Texts that a variable may make the same are looked at as one."""
        joined = {_place(t) for t in self.tests if isinstance(t, core.Equals | core.Contains)}
        groups = [list(joined), *([place] for place in self.counts if place not in joined)]
        for group in groups:
            asked = [texts for t in self.tests if _place(t) in group for texts in self._asked(t)]
            tests = list(dict.fromkeys(asked))
            elements = [element for place in group for element in self._elements(place)]
            for found in outcomes(tests):
                for element in elements:
                    terms = [self._are(tests[at], element) for at in found.tests]
                    yield f"(assert {_any_of(found.each, terms)})"

    def _asked(self, test: core.Test) -> Iterator[Texts]:
        """The texts that a test asks for."""
        match test:
            case core.In(_, values) | core.ActionIn(values):
                spelled = values if sum(map(len, values)) <= MAX_SPELLED else self._kept.intersection(values)
                if spelled:
                    yield spelled
            case core.Matches(_, matcher) | core.ActionMatches(matcher):
                yield _texts_of(matcher)
            case core.ContainsText(_, part) if part:
                yield Part(part)
            case core.Compares():
                yield _DECIMAL

    # --- tests ---

    def _test(self, test: core.Test) -> str:
        place = _place(test)
        name = self._names[place]
        if isinstance(test, core.Has):
            return f"{name}_here"
        return f"(and {name}_some (or {' '.join(self._holds(test, element) for element in self._elements(place))}))"

    def _holds(self, test: core.Test, text: str) -> str:
        """What a test says of one text."""
        match test:
            case core.In(_, values, negated):
                return self._unless(negated, self._among(text, values))
            case core.ActionIn(names):
                return self._among(text, names)
            case core.Matches(_, matcher, negated):
                return self._unless(negated, self._are(_texts_of(matcher), text))
            case core.ActionMatches(matcher):
                return self._are(_texts_of(matcher), text)
            case core.Compares(_, operator, limit):
                return f"(and (is_number {text}) ({operator} (number {text}) {self._rank[limit]}.0))"
            case core.Equals(_, x):
                return f"(= {text} {self._variables[x]})"
            case core.Contains(_, x):
                return f'(and (not (= {self._variables[x]} "")) (str.contains {text} {self._variables[x]}))'
            case core.ContainsText(_, part):
                return self._are(Part(part), text) if part else "false"
            case _:
                raise AssertionError(test)

    def _unless(self, negated: bool, term: str) -> str:
        return f"(not {term})" if negated else term

    def _among(self, text: str, values: Iterable[str]) -> str:
        return f"(or false {' '.join(self._is(text, value) for value in sorted(self._kept.intersection(values)))})"

    def _is(self, text: str, value: str) -> str:
        return self._exactly(value, text, lambda: f"(= {text} {literal(value)})")

    def _are(self, texts: Texts, text: str) -> str:
        """Whether a text is one of some."""
        match texts:
            case frozenset():
                return self._among(text, texts)
            case Part(part) if self._parts:
                return self._exactly(texts, text, lambda: f"(str.contains {text} {literal(part)})")
            case _:
                return f"({self._told.setdefault(texts, f'm{len(self._told)}')} {text})"

    def _exactly(self, meaning: object, text: str, spelled: Callable[[], str]) -> str:
        """The term, or where strings have none an uninterpreted test of the text, the same for the same meaning."""
        try:
            return spelled()
        except Unsupported:
            return f"({self._opaque.setdefault(meaning, f'p{len(self._opaque)}')} {text})"


def _texts_of(matcher: Matcher) -> Texts:
    """What a pattern matches; a glob without a wildcard is one text, `*a*` says what is inside."""
    assert not isinstance(matcher, AnyOf)  # `meeting` takes none
    if not isinstance(matcher, Glob):
        return matcher
    match glob_parts(matcher.pattern):
        case ():
            return frozenset({""})
        case (("text", text),):
            return frozenset({text})
        case (("*", _), ("text", part), ("*", _)):
            return Part(part)
        case _:
            return matcher


def _any_of(each: Iterable[tuple[bool, ...]], terms: Sequence[str]) -> str:
    """That some terms come to one of several outcomes."""
    signed = [[t if holds else f"(not {t})" for t, holds in zip(terms, one, strict=True)] for one in each]
    return "(or " + " ".join(f"(and {' '.join(one)})" for one in signed) + ")"


def _representatives(tests: Sequence[core.Test], most: int) -> frozenset[str]:
    """The texts the tests name whole, of those that all tests treat alike no more than an event can have at once.

    Elements of one set mostly differ in nothing but themselves. An event with others of them has a counterpart with
    these: values that differ are taken to values that differ. That does not hold where one may contain another.
    """
    texts = sorted({text for test in tests for text in _texts(test)})
    if any(isinstance(t, core.Contains) for t in tests):
        return frozenset(texts)
    ground = [t for t in tests if not isinstance(t, core.Equals | core.Has)]
    alike: dict[tuple[bool, ...], list[str]] = {}
    for text in texts:
        alike.setdefault(tuple([_is_met(t, text) for t in ground]), []).append(text)
    return frozenset(text for group in alike.values() for text in group[:most])


def _is_met(test: core.Test, text: str) -> bool:
    """What a test without variables says of one text, wherever it looks."""
    event = Event("e", text, "e", {} if _place(test) is None else {test.field.name: (text,)}, output=text)  # type: ignore[union-attr]
    return meets(test, event, {})


def _texts(test: core.Test) -> Iterable[str]:
    """The texts a test names whole."""
    match test:
        case core.In(_, values) | core.ActionIn(values):
            return values
        case core.Matches(_, matcher) | core.ActionMatches(matcher):
            texts = _texts_of(matcher)
            return texts if isinstance(texts, frozenset) else ()
        case _:
            return ()
