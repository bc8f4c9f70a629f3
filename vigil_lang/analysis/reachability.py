"""What can occur within a signature: for a condition, whether some event of Σ may meet it and whether some may not.

Tests are taken one at a time, so a condition called possible may still be impossible; one called impossible
certainly is.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from vigil_lang.analysis.outside_signature import may_be_derived
from vigil_lang.base.recent import Recent
from vigil_lang.semantics import core
from vigil_lang.semantics.denotation import meets
from vigil_lang.semantics.text_patterns import predicate
from vigil_lang.trace.event import Event
from vigil_lang.trace.signature import type_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vigil_lang.semantics.text_patterns import Matcher
    from vigil_lang.trace import Action, Argument, Signature


class Can(NamedTuple):
    """Whether something can hold, and whether it can fail to."""

    hold: bool
    fail: bool


_REMEMBERED: Final = 2_000
"""Conditions."""

_EITHER, _NEVER = Can(True, True), Can(False, True)


@dataclass(frozen=True)
class Reachability:
    """What the events of a signature can be; what was asked last is remembered."""

    signature: Signature
    _known: Recent[core.Condition, Can] = field(default_factory=lambda: Recent(_REMEMBERED), repr=False)

    def body(self, theta: core.Theta) -> Can:
        """A temporal body, at some event of some run."""
        match theta:
            case core.Holds(condition):
                known = self._known.get(condition)
                if known is None:
                    cases = [self.condition(condition, *item) for item in self.signature.actions.items()]
                    if self.signature.origin == "declared":
                        cases.append(self.derived(condition))
                    known = Can(any(c.hold for c in cases), any(c.fail for c in cases))
                    self._known.put(condition, known)
                return known
            case core.Not(body):
                inner = self.body(body)
                return Can(inner.fail, inner.hold)
            case core.And(items):
                return _all([self.body(item) for item in items])
            case core.Or(items):
                return _any([self.body(item) for item in items])
            case core.Implies(left, right):
                return _any([self.body(core.Not(left)), self.body(right)])
            case core.Earlier(body) | core.Later(body) | core.Repeated(_, body):
                return Can(self.body(body).hold, True)
            case core.Since(left, _, _, True) | core.Until(left, _, _, True):
                return Can(True, self.body(left).fail)
            case core.Since(_, right) | core.Until(_, right):
                return Can(self.body(right).hold, True)
            case core.Clear(_, forbidden):
                return Can(True, self.body(forbidden).hold)
            case core.Exceeds() | core.Where() | core.Last():
                return _EITHER

    def condition(self, condition: core.Condition, name: str, action: Action) -> Can:
        """A condition, at an event of one action."""
        match condition:
            case core.NotC(body):
                inner = self.condition(body, name, action)
                return Can(inner.fail, inner.hold)
            case core.AndC(items):
                return _all([self.condition(item, name, action) for item in items])
            case core.OrC(items):
                return _any([self.condition(item, name, action) for item in items])
            case core.ActionIn(names):
                return Can(name in names or not names.isdisjoint(action.kinds), name not in names)
            case core.ActionMatches(matcher):
                test = predicate(matcher)
                return Can(test(name) or any(map(test, action.kinds)), not test(name))
            case core.StatusIs():
                return _EITHER
        if any(view.name == "count" for view in condition.field.views):
            return _EITHER  # of what is absent, too
        if condition.field.output:
            return Can(self._output(condition), True)
        argument = action.args.get(condition.field.name)
        if argument is None:
            return Can(action.open, True)
        return Can(can_satisfy(condition, argument), True)

    def derived(self, condition: core.Condition) -> Can:
        """A condition, at an event that is no call of a listed tool."""
        match condition:
            case core.NotC(body):
                inner = self.derived(body)
                return Can(inner.fail, inner.hold)
            case core.AndC(items):
                return _all([self.derived(item) for item in items])
            case core.OrC(items):
                return _any([self.derived(item) for item in items])
            case core.ActionIn(names):
                return Can(any(may_be_derived(name, self.signature) for name in names), True)
            case _:
                return _EITHER

    def _output(self, test: core.Test | core.Entry) -> bool:
        outputs = self.signature.outputs
        return outputs is None or _is_involved(test) or any(_satisfies(test, text) for text in outputs)


def can_satisfy(test: core.Test | core.Entry, argument: Argument) -> bool:
    """Whether some value of an argument may satisfy a test."""
    if _is_involved(test):
        return True
    if argument.values is not None:
        return isinstance(test, core.Has) or any(_satisfies(test, text) for text in argument.values)
    match test:
        case core.In(field, values, False) if not field.views:
            return any(may_be(text, argument) for text in values)
        case _:
            return True


def _is_involved(test: core.Test | core.Entry) -> bool:
    """Whether more comes into a test than one text and the variable that is compared with it."""
    match test:
        case core.Entry() | core.ComparesWith():
            return True
        case core.Equals(field) | core.Contains(field):
            return bool(field.views)
        case _:
            return False


def may_be(text: str, argument: Argument) -> bool:
    """Whether an argument may have a value, by its type; a text may look like a number, a number not like a text."""
    return not argument.types or "text" in argument.types or type_of(text) in argument.types


def matches_any(matcher: Matcher, texts: Iterable[str]) -> bool:
    """Whether some text matches."""
    return any(map(predicate(matcher), texts))


def _satisfies(test: core.Test | core.Entry, text: str) -> bool:
    """A test of one value; whatever a variable may stand for, the value itself will do."""
    event = Event("e", "", "e", {} if test.field.output else {test.field.name: (text,)}, output=text)  # type: ignore[union-attr]
    return meets(test, event, dict.fromkeys(core.variables_of(test), text))


def _all(parts: list[Can]) -> Can:
    return Can(all(p.hold for p in parts), any(p.fail for p in parts))


def _any(parts: list[Can]) -> Can:
    return Can(any(p.hold for p in parts), all(p.fail for p in parts))
