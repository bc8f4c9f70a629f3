"""Invented events that meet a condition or just miss it, with readable values."""

from __future__ import annotations

import contextlib
import re
from itertools import islice
from typing import TYPE_CHECKING, Final, TypeAlias

from msgspec.structs import replace

from vigil_lang.analysis.preimages import preimages, without_entries
from vigil_lang.semantics import core, regex
from vigil_lang.semantics.denotation import Binding, meets
from vigil_lang.semantics.regex_reader import read
from vigil_lang.semantics.text_patterns import AnyOf, Glob, glob_parts, predicate
from vigil_lang.trace.event import Event
from vigil_lang.trace.values import canonical, number

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from vigil_lang.semantics.text_patterns import Matcher
    from vigil_lang.trace.event import Status

Asked: TypeAlias = tuple[core.Test, bool]
"""A test that is to hold or to fail."""

_WAYS: Final = 48
_TRIED: Final = 160
_ALTERNATIVES: Final = 12
_ACTIONS: Final = ("other", "another", "something")
_AROUND: Final = (("a ", " b"), ("", "a"), ("a", ""), ("", " b"), ("a ", ""), ("a", "b"))
_OTHERS: Final = ("other", "1", "another")
_PLACES = re.compile(r"\\[bB]|[\\^$()]")

FILLER: Final = Event("e", "other", "e", status="ok")
"""An event that no condition is likely to be about."""


def content(event: Event) -> object:
    """What conditions see of an event: all but its place in a run."""
    return event.action, event.kinds, tuple(sorted(event.args.items())), event.status, event.output


def distinct(events: Iterable[Event]) -> list[Event]:
    """Each event once, whatever its place in a run."""
    return list({content(event): event for event in events}.values())


def samples(condition: core.Condition, binding: Binding, wanted: bool = True) -> Iterator[Event]:
    """Different events that meet a condition under a binding (or do not); none if none is found."""
    seen: set[object] = set()
    flat = without_entries(condition)
    for case in _ways(flat, wanted, _numbered(core.tests(flat))):
        event = _event(case, binding)
        if (shown := content(event)) not in seen and meets(condition, event, binding) == wanted:
            seen.add(shown)
            yield event


def near_misses(condition: core.Condition, binding: Binding) -> Iterator[Event]:
    """Events that fail just one conjunct of a condition each."""
    items = condition.items if isinstance(condition, core.AndC) else (condition,)
    for at, item in enumerate(items):
        rest = (*items[:at], *items[at + 1 :])
        yield from islice(samples(core.AndC((*rest, core.NotC(item))), binding), 1)


def values_for(
    variable: str, tests: Sequence[core.Test], where: Sequence[core.Test] = (), missed: Sequence[core.Test] = ()
) -> tuple[str, str]:
    """Two values that a variable may well have, with what else is asked of it and of the fields that carry it.

    The second fails one of the tests of `where` that are to be `missed`, if there are any and one is found.
    """
    carriers = {t.field for t in tests if isinstance(t, core.Equals) and t.variable == variable}
    ground = [
        _plain(t) for t in tests if _field(t) in carriers and not isinstance(t, (*core.OF_VARIABLES, core.Has))
    ] + [t for t in where if _field(t) == core.Reads(variable) and not isinstance(t, core.OF_VARIABLES)]
    plain = [f"{variable}1", f"{variable}2"]
    if any(isinstance(t, core.ComparesWith) and variable in (t.variable, t.field.name) for t in (*tests, *where)):
        plain = ["10", "20"]
    guesses = list(dict.fromkeys([*plain, *(text for test in ground for text in _candidates(test, True))]))[:_TRIED]
    guesses.sort(key=lambda text: (-sum(_meets(t, text) for t in ground), not text))
    first, second = guesses[:2]
    if asked := [t for t in missed if _field(t) == core.Reads(variable) and not isinstance(t, core.OF_VARIABLES)]:
        others = dict.fromkeys([*(text for test in asked for text in _candidates(test, False)), *guesses])
        second = next((text for text in others if text and not all(_meets(t, text) for t in asked)), second)
    return first, second


def _ways(condition: core.Condition, wanted: bool, known: dict[int, int]) -> list[list[Asked]]:
    """Up to `_WAYS` conjunctions of tests, each of which makes the condition hold (or fail)."""
    match condition:
        case core.NotC(body):
            return _ways(body, not wanted, known)
        case core.AndC(items) | core.OrC(items):
            if isinstance(condition, core.OrC) == wanted:
                return list(islice((way for item in items for way in _ways(item, wanted, known)), _WAYS))
            found: list[list[Asked]] = [[]]
            for item in items:
                both = (
                    [*before, *more]
                    for more in _ways(item, wanted, known)
                    for before in found
                    if _agree(before, more, known)
                )
                found = list(islice(both, _WAYS))
            return found
        case core.Entry():
            return [[]]  # there is none among these
        case _:
            return [[(condition, wanted)]]


def _agree(before: list[Asked], more: list[Asked], known: dict[int, int]) -> bool:
    """Whether no test is both to hold and to fail."""
    asked = {(known[id(test)], holds) for test, holds in before}
    return not any((known[id(test)], not holds) in asked for test, holds in more)


def _numbered(tests: list[core.Test]) -> dict[int, int]:
    """Equal tests have one number, by the identity of each: comparing them again and again would take long."""
    numbers: dict[core.Test, int] = {}
    return {id(test): numbers.setdefault(test, len(numbers)) for test in tests}


def _event(case: list[Asked], binding: Binding) -> Event:
    """A guess; the caller must check it."""
    status: Status = "ok"
    asked: dict[core.Reads, list[Asked]] = {}
    for test, wanted in case:
        match test:
            case core.ActionIn() | core.ActionMatches():
                pass
            case core.StatusIs(state):
                status = state if wanted else ("error" if state == "ok" else "ok")
            case _:
                asked.setdefault(test.field, []).append((_bound(test, binding), wanted))
    if all((core.StatusIs(state), False) in case for state in ("ok", "error")):
        status = "unknown"
    names = _names(case)
    args: dict[str, tuple[str, ...]] = {}
    output: str | None = None
    for field in dict.fromkeys(replace(field, views=()) for field in asked):
        seen = {read: tests for read, tests in asked.items() if replace(read, views=()) == field}
        found = [(read.views, value) for read, tests in seen.items() if (value := _value(tests)) is not None]
        texts = preimages(found)
        together = [one for tests in seen.values() for one in tests]
        fit = (text for text in texts if all(_meets(test, text) == wanted for test, wanted in together))
        text = next(fit, texts[0] if texts else None)
        if text is not None and field.output:
            output = text
        elif text is not None:
            args[field.name] = (text,)
    return Event("e", names[0], "e", args, status, output, tuple(names[1:]))


def _names(case: list[Asked]) -> list[str]:
    """The action's name, and kinds where no one name will do."""
    wanted = [t for t, holds in case if holds and isinstance(t, core.ActionIn | core.ActionMatches)]
    avoided = [t for t, holds in case if not holds and isinstance(t, core.ActionIn | core.ActionMatches)]
    guesses = list(dict.fromkeys([*(name for test in wanted for name in _actions(test)), *_ACTIONS]))[:_TRIED]
    free = [name for name in guesses if not any(_meets_action(test, name) for test in avoided)]
    one = [name for name in free if all(_meets_action(test, name) for test in wanted)]
    if one or not wanted:
        return [*one, *free, "unlike"][:1]
    each = (next((name for name in free if _meets_action(test, name)), "unlike") for test in wanted)
    return list(dict.fromkeys(each))


def _bound(test: core.Test, binding: Binding) -> core.Test:
    """The test with the variable's value in its place."""
    match test:
        case core.Equals(field, x):
            value = binding.get(x)
            return core.In(field, frozenset() if value is None else frozenset({value}))
        case core.Contains(field, x):
            return core.ContainsText(field, binding.get(x) or "")
        case core.ComparesWith(field, operator, x):
            limit = number(binding.get(x) or "")
            return core.In(field, frozenset()) if limit is None else core.Compares(field, operator, limit)
        case _:
            return test


def _value(tests: list[Asked]) -> str | None:
    """A text that makes the tests of one field come out as wanted; None where the field is better left out."""
    candidates = (text for test, wanted in tests for text in _candidates(test, wanted))
    for text in islice(dict.fromkeys((*candidates, *_OTHERS)), _TRIED):
        if all(_meets(_plain(test), text) == wanted for test, wanted in tests):
            return text
    return None


def _plain(test: core.Test) -> core.Test:
    """A test of what the views of its field make, as a test of a text."""
    if isinstance(test, core.ActionIn | core.ActionMatches | core.StatusIs) or not test.field.views:
        return test
    return replace(test, field=replace(test.field, views=()))


def _candidates(test: core.Test, wanted: bool) -> Iterable[str]:
    """Texts that a test is likely to hold of, or just to fail of."""
    match test:
        case core.In(_, values, negated):
            within = sorted(values)[:8]
            return within if negated != wanted else [*_neighbours(within), *_OTHERS]
        case core.Matches(_, matcher, negated):
            return matching(matcher) if negated != wanted else [*_OTHERS, *matching(matcher)]
        case core.Compares(_, _, limit):
            return (canonical(limit), canonical(limit + 1), canonical(limit - 1))
        case core.ContainsText(_, text):
            return (f"see {text}", text) if wanted and text else _OTHERS
        case _:
            return _OTHERS


def _neighbours(values: Iterable[str]) -> list[str]:
    """Numbers beside numbers."""
    numbers = [n for value in values if (n := number(value)) is not None and abs(n.adjusted()) < 30]
    return [canonical(n + 1) for n in numbers]


def matching(matcher: Matcher) -> list[str]:
    """Texts that a pattern is likely to match."""
    if isinstance(matcher, AnyOf):
        return [text for one in matcher.matchers[:_ALTERNATIVES] for text in matching(one)]
    if isinstance(matcher, Glob):
        parts = glob_parts(matcher.pattern)
        fills = ("a", "b", "", "1")
        guesses = ["".join(text if kind == "text" else fill for kind, text in parts) for fill in fills]
    else:
        plain = _PLACES.sub("", matcher.pattern)
        guesses = [plain]
        with contextlib.suppress(regex.Unsupported):
            node = read(matcher.pattern, ignore_case=matcher.ignore_case)
            guesses += [regex.sample(each) for each in _alternatives(node)[:_ALTERNATIVES]]
        guesses += [other for text in guesses for other in (text.upper(), text.lower())]
        guesses += [f"{before}{text}{after}" for text in guesses for before, after in _AROUND]
    return [text for text in dict.fromkeys(guesses) if predicate(matcher)(text)]


def _alternatives(node: regex.Node) -> list[regex.Node]:
    """The expression with each of the alternatives that it, or the first part of it that has some, may be."""
    match node:
        case regex.Choice(items):
            return [each for item in items for each in _alternatives(item)]
        case regex.Sequence(items):
            for at, item in enumerate(items):
                several = _alternatives(item)
                if len(several) > 1:
                    return [regex.Sequence((*items[:at], each, *items[at + 1 :])) for each in several]
            return [node]
        case regex.Repeat(body, least) if least > 0 or isinstance(body, regex.Choice | regex.Sequence):
            return [node, *_alternatives(body)] if len(_alternatives(body)) > 1 else [node]
        case _:
            return [node]


def _actions(test: core.ActionIn | core.ActionMatches) -> list[str]:
    return sorted(test.names) if isinstance(test, core.ActionIn) else matching(test.matcher)


def _meets_action(test: core.Test, name: str) -> bool:
    return meets(test, Event("e", name, "e"), {})


def _field(test: core.Test) -> core.Reads | None:
    return None if isinstance(test, core.ActionIn | core.ActionMatches | core.StatusIs) else test.field


def _meets(test: core.Test, text: str) -> bool:
    """What a test without variables says of one text, where a field carries it."""
    field = _field(test)
    args: dict[str, tuple[str, ...]] = {} if field is None or field.output else {field.name: (text,)}
    return meets(test, Event("e", "", "e", args, output=text), {})
