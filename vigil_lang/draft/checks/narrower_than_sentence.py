"""Whether a statement is narrower than its sentence: whether it looks for something that the sentence does not name.

A test narrows what a statement speaks of unless each event of the action has what it asks for, or the sentence itself
names it. What headings and leads name narrows, too: they stand above many clauses. That cannot be decided for good (a
sentence may mean what it does not name), so it is told to the reviewer, and never passed over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.draft.checks.cases import patterns, says_nothing
from vigil_lang.draft.checks.mentions import mentions
from vigil_lang.draft.checks.topics import CARRIERS, all_words_of, kinds_of, speaks_of
from vigil_lang.engines import wording
from vigil_lang.semantics import core
from vigil_lang.semantics.text_patterns import AnyOf, Expression
from vigil_lang.trace.vocabulary import vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vigil_lang.draft.checks.cases import Asked
    from vigil_lang.draft.checks.mentions import Mentions
    from vigil_lang.draft.checks.sentence_content import Said
    from vigil_lang.semantics.text_patterns import Matcher
    from vigil_lang.trace import Signature

_FLAGS = frozenset({"true", "false"})
_TELLING_WHAT = frozenset({"program", "subcommand", "function"})
"""Roles that say what is done, in words that are those for the action, too."""


def actions_of(way: Sequence[Asked]) -> frozenset[str]:
    """The actions that a case names."""
    return frozenset[str]().union(*(test.names for test, wanted in way if wanted and isinstance(test, core.ActionIn)))


def widest(ways: Sequence[Sequence[Asked]]) -> list[Sequence[Asked]]:
    """The cases that are not part of another, wider one."""
    return [way for way in ways if not any(set(other) < set(way) for other in ways)]


def narrower(
    way: Sequence[Asked], said: Said, signature: Signature | None, *, only_forbids: bool = False
) -> Iterator[str]:
    """The tests of a case that the sentence does not ask for, as they are written.

    What a form `only_forbids` is forbidden however the call ends, so that a status narrows it.
    """
    actions = actions_of(way)
    known = mentions(said.own_text, all_words_of(actions, signature))
    named = [test for test, wanted in way if wanted and isinstance(test, core.ActionIn)]
    for one in named:
        if not _is_asked_for(one, named, said, signature):
            yield _names(one.names)
    for test, wanted in way:
        if wanted and not _is_named(test, actions, known, said, only_forbids):
            yield shown(test)


def impossible(way: Sequence[Asked], signature: Signature | None) -> tuple[str, str] | None:
    """Two kinds of a case that no event is known to have together."""
    known = vocabulary()
    named = [test.names for test, wanted in way if wanted and isinstance(test, core.ActionIn)]
    for at, some in enumerate(named):
        for others in named[at + 1 :]:
            if not all(name in known.kinds and name not in CARRIERS for name in some | others):
                continue
            if not any(_together(one, other, signature) for one in some for other in others):
                return min(some), min(others)
    return None


def unbound(way: Sequence[Asked], signature: Signature | None) -> Iterator[tuple[str, str]]:
    """Roles that a variable is read from, and a kind that does not have them: nothing is ever bound."""
    known = vocabulary()
    actions = actions_of(way)
    if not actions or not actions.issubset(known.kinds) or actions & CARRIERS:
        return
    seen = {
        argument
        for action in (signature.actions.values() if signature is not None else ())
        if actions & set(action.kinds)
        for argument in action.args
    }
    roles = {role for name in known.closed(actions) for role in known.kinds[name].roles}
    program = known.kinds["process.run"].roles
    for test, wanted in way:
        if wanted and isinstance(test, core.Equals | core.Contains) and not test.field.output:
            name = test.field.name
            if name in known.roles and name not in seen | roles and name not in program:
                yield name, min(actions)


def _together(one: str, other: str, signature: Signature | None) -> bool:
    known = vocabulary()
    if one in known.closed([other]) or other in known.closed([one]):
        return True
    return signature is not None and any({one, other} <= set(action.kinds) for action in signature.actions.values())


def _is_asked_for(test: core.ActionIn, named: Sequence[core.ActionIn], said: Said, signature: Signature | None) -> bool:
    """Whether the sentence asks for one of some actions: beside another test, or as a tool that has a kind besides."""
    if test.names & CARRIERS or any(speaks_of(said.context, name, signature) for name in test.names):
        kinds = vocabulary().kinds
        tools = [name for name in test.names if name not in kinds and kinds_of(name, signature)]
        return len(tools) < len(test.names) or any(said.names(name) for name in tools)
    return len(named) < 2


def _is_named(test: core.Test, actions: frozenset[str], known: Mentions, said: Said, only_forbids: bool) -> bool:
    """Whether the sentence names what a test looks for, or each event of the action has it."""
    match test:
        case core.Has(field):
            roles = {role for name in actions for role in _roles(name)}
            return (field.name in roles or known.has_name(field.name)) and not field.views
        case core.In(field, values, False):
            if values <= _FLAGS and known.has_name(field.name):
                return True
            if field.name in _TELLING_WHAT and any(said.own.has(value) for value in values):
                return True
            return any(_is_value(value, known, said) for value in values)
        case core.Matches(_, matcher, False):
            return says_nothing(matcher) or known.meets(matcher)
        case core.ContainsText(_, text):
            return known.meets_part(text)
        case core.Compares(_, operator, number):
            return said.has_threshold(operator, number, free=False)
        case core.StatusIs():
            return not only_forbids
        case _:
            return True


def _is_value(value: str, known: Mentions, said: Said) -> bool:
    return known.has_value(value) or said.is_number(value)


def _roles(name: str) -> tuple[str, ...]:
    known = vocabulary()
    return tuple(role for kind in known.closed([name]) if kind in known.kinds for role in known.kinds[kind].roles)


def shown(test: core.Test) -> str:
    """A test as it is written in the policy, more or less."""
    match test:
        case core.ActionIn(names):
            return _names(names)
        case core.ActionMatches(matcher):
            return f"action ~ {_pattern(matcher)}"
        case core.Has(field):
            return f"has {wording.named(field)}"
        case core.In(field, values, negated):
            sign = ("!=" if negated else "=") if len(values) == 1 else ("not in" if negated else "in")
            return f"{wording.named(field)} {sign} {_listed(values)}"
        case core.Matches(field, matcher, negated):
            return f"{wording.named(field)} {'!~' if negated else '~'} {_pattern(matcher)}"
        case core.ContainsText(field, text):
            return f"{wording.named(field)} contains {text}"
        case core.Compares(field, operator, number):
            return f"{wording.named(field)} {operator} {number}"
        case core.StatusIs(status):
            return f"status = {status}"
        case core.Equals(field, variable) | core.Contains(field, variable):
            return f"{wording.named(field)} = {variable}"
        case core.ComparesWith(field, operator, variable):
            return f"{wording.named(field)} {operator} {variable}"


def _names(names: frozenset[str]) -> str:
    return f"action {'=' if len(names) == 1 else 'in'} {_listed(names)}"


def _listed(values: frozenset[str]) -> str:
    some = sorted(values)
    return some[0] if len(some) == 1 else "{" + ", ".join(some[:3]) + (", …}" if some[3:] else "}")


def _pattern(matcher: Matcher) -> str:
    if isinstance(matcher, AnyOf):
        return _listed(frozenset(patterns(matcher)))
    return f"/{matcher.pattern}/" if isinstance(matcher, Expression) else f'"{matcher.pattern}"'
