"""The words of a statement, in which the words of its cited sentence may have a counterpart."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from vigil_lang.english.words import content_words, parts_of, word_lists
from vigil_lang.lint.source.declared import declared_names
from vigil_lang.semantics import core
from vigil_lang.semantics.forms import counted_by
from vigil_lang.semantics.text_patterns import AnyOf, Glob, predicate
from vigil_lang.trace.vocabulary import vocabulary

if TYPE_CHECKING:
    from vigil_lang.semantics.lower import Statement
    from vigil_lang.semantics.modules import Module
    from vigil_lang.semantics.text_patterns import Matcher

_CLASSES = re.compile(r"\\[bBAzZsSdDwW]|\(\?[a-zA-Z]*:?|\\x\{?[0-9A-Fa-f]+\}?")
_SYNONYMS = word_lists("kinds")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


@dataclass(slots=True)
class Reach:
    """The texts of a statement, its patterns expanded.

    `actions` names actions; `names` are those the policy gives (patterns, sets, params, variables); `tested` are
    arguments and the values, globs and regular expressions they are held against. Documentation is no part of it.
    """

    actions: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    tested: list[str] = field(default_factory=list)
    matchers: list[Matcher] = field(default_factory=list)
    bounds: list[core.Calls | core.Steps | core.Within] = field(default_factory=list)
    tests: int = 0
    negated: bool = False
    compared: bool = False
    statuses: set[str] = field(default_factory=set)
    earlier: bool = False
    later: bool = False

    def all_texts(self) -> list[str]:
        """Actions, names and what is tested."""
        return [*self.actions, *self.names, *self.tested]


@dataclass
class StatementReach:
    """The reach of one statement, each view of it made when first asked for."""

    statement: Statement
    module: Module

    @cached_property
    def whole(self) -> Reach:
        """All of it."""
        found = Reach()
        theta, syntax = self.statement.requirement.theta, self.statement.syntax
        counted = None if self.statement.preset is None else counted_by(theta)
        if isinstance(theta, core.Implies) and counted is not None:
            _theta(theta.left, found)
            _theta(counted, found)  # the number as it is written: `atmost[3]` forbids the fourth
        else:
            _theta(theta, found)
        roots = (*syntax.form.args, syntax.form.since, syntax.after, syntax.where)
        found.names += declared_names([root for root in roots if root is not None], self.module)
        return found

    @cached_property
    def text(self) -> str:
        """Everything in it, in lower case."""
        return "\n".join(self.whole.all_texts()).lower()

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of everything in it."""
        return frozenset(part for text in self.whole.all_texts() for part in parts_of(text))

    @cached_property
    def tested(self) -> frozenset[str]:
        """The words of its arguments and of what these are held against."""
        return frozenset(part for text in self.whole.tested for part in parts_of(text))

    @cached_property
    def numbers(self) -> frozenset[Decimal]:
        """Every number in it."""
        found = (_decimal(n) for text in self.whole.all_texts() for n in _NUMBER.findall(text))
        return frozenset(n for n in found if n is not None) | {
            Decimal(bound.count) for bound in self.whole.bounds if not isinstance(bound, core.Within)
        }

    @cached_property
    def parts(self) -> tuple[frozenset[str], ...]:
        """The words of each condition of the form, in order."""
        return tuple(
            frozenset(part for text in one.all_texts() for part in parts_of(text)) for one in self.part_reaches
        )

    @cached_property
    def part_reaches(self) -> tuple[Reach, ...]:
        """The texts of each condition of the form, in order."""
        found = []
        holds = {h.span: h for h in core.conditions(self.statement.requirement.theta)}
        for arg in self.statement.syntax.form.args:
            one = Reach(names=declared_names([arg], self.module))
            if arg.span in holds:
                _condition(holds[arg.span].condition, one)
            found.append(one)
        return tuple(found)

    @cached_property
    def parts_in_other_words(self) -> tuple[frozenset[str], ...]:
        """The words of each condition, and those in which the vocabulary and documents speak of its kinds."""
        return tuple(
            words.union(*map(of_kind, one.actions)) for words, one in zip(self.parts, self.part_reaches, strict=True)
        )

    @property
    def has_second_condition(self) -> bool:
        """Whether it tells cases apart: by an order, a negation, or more than an action with one test."""
        whole = self.whole
        form = self.statement.preset
        return form is None or not form.only_forbids or whole.earlier or whole.later or whole.negated or whole.tests > 2

    def matches(self, text: str) -> bool:
        """Whether a pattern in it that does not match everything matches the text."""
        for matcher in self.whole.matchers:
            try:
                accepts = predicate(matcher)
            except ValueError:
                continue
            if accepts(text) and not accepts("") and not accepts("\x01"):
                return True
        return False


@lru_cache(maxsize=4096)
def of_kind(name: str) -> frozenset[str]:
    """Other words for a kind of the vocabulary: those of its summary, and those in which documents speak of it."""
    kind = vocabulary().kinds.get(name)
    return _SYNONYMS.get(name, frozenset()) | (frozenset() if kind is None else content_words(kind.summary))


@lru_cache(maxsize=4096)
def _decimal(text: str) -> Decimal | None:
    try:
        return Decimal(text[:40]).normalize()
    except InvalidOperation:
        return None


def _theta(theta: core.Theta, found: Reach) -> None:
    match theta:
        case core.Holds(condition):
            _condition(condition, found)
        case core.Not(body):
            found.negated |= not isinstance(body, core.Holds | core.And | core.Repeated | core.Exceeds)
            _theta(body, found)
        case core.Earlier(body, bound) | core.Later(body, bound):
            found.earlier |= isinstance(theta, core.Earlier)
            found.later |= isinstance(theta, core.Later)
            if bound is not None:
                found.bounds.append(bound)
            _theta(body, found)
        case core.Since(left, right, bound) | core.Until(left, right, bound):
            found.earlier |= isinstance(theta, core.Since)
            found.later |= isinstance(theta, core.Until)
            if bound is not None:
                found.bounds.append(bound)
            _theta(left, found)
            _theta(right, found)
        case core.Repeated(body=body, bound=bound, reset=reset) | core.Exceeds(body=body, bound=bound, reset=reset):
            if isinstance(theta, core.Exceeds):
                found.compared = True
                found.tested += (*_read(theta.field), str(theta.limit))
            else:
                found.bounds.append(core.Calls(theta.count))
                found.tested += () if theta.distinct is None else _read(theta.distinct)
            if bound is not None:
                found.bounds.append(bound)
            if reset is not None:
                found.earlier = True
                _theta(reset, found)
            _theta(body, found)
        case core.Where(condition):
            _condition(condition, found)
        case core.And(items) | core.Or(items):
            for item in items:
                _theta(item, found)
        case core.Implies(left, right):
            _theta(left, found)
            _theta(right, found)
        case core.Clear(left, right):
            found.later = True
            _theta(left, found)
            _theta(right, found)


def _condition(condition: core.Condition, found: Reach) -> None:
    match condition:
        case core.AndC(items) | core.OrC(items):
            for item in items:
                _condition(item, found)
            return
        case core.NotC(core.StatusIs(status)):
            found.negated = True
            found.tests += 1
            found.statuses.add("ok" if status == "error" else "error")
            found.tested += ("status", status)
            return
        case core.NotC(body):
            found.negated = True
            _condition(body, found)
            return
    found.tests += 1
    match condition:
        case core.ActionIn(names):
            found.actions += sorted(names)
        case core.ActionMatches(matcher):
            found.actions.append(literal(matcher))
        case core.StatusIs(status):
            found.statuses.add(status)
            found.tested += ("status", status)
        case core.Has(reads):
            found.tested += _read(reads)
        case core.In(reads, values, negated):
            found.negated |= negated
            found.tested += (*_read(reads), *sorted(values))
        case core.Matches(reads, matcher, negated):
            found.negated |= negated
            found.matchers.append(matcher)
            found.tested += (*_read(reads), literal(matcher))
        case core.Compares(reads, _, number):
            found.compared = True
            found.tested += (*_read(reads), str(number))
        case core.ComparesWith(reads, _, variable):
            found.compared = True
            found.tested += _read(reads)
            found.names.append(variable)
        case core.Equals(reads, variable) | core.Contains(reads, variable):
            found.tested += _read(reads)
            found.names.append(variable)
        case core.ContainsText(reads, text):
            found.tested += (*_read(reads), text)
        case core.Entry(reads, body):
            found.tested += _read(reads)
            _condition(body, found)


def _read(reads: core.Reads) -> list[str]:
    """The name of what is read, and what its views look for."""
    found = [reads.name]
    for view in reads.views:
        found += [view.name, view.path]
        if view.expression is not None:
            found.append(literal(view.expression))
    return [text for text in found if text]


def literal(matcher: Matcher) -> str:
    """A glob or regular expression with its signs taken away, as far as they hide what it is about."""
    if isinstance(matcher, Glob):
        return matcher.pattern
    if isinstance(matcher, AnyOf):
        return " ".join(map(literal, matcher.matchers))
    return re.sub(r"\\(.)", r"\1", _CLASSES.sub(" ", matcher.pattern))
