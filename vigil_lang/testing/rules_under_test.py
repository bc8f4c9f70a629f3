"""Rules of a gate as tests see them: what each makes of a run, call by call, as the gate would (spec D.3)."""

from __future__ import annotations

from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING

from msgspec.structs import replace

from vigil_lang.gate.decide.conditions import Facts, ask, compiled, every, some
from vigil_lang.gate.decide.table import Table, covers, shell_told_by_steps
from vigil_lang.semantics import core
from vigil_lang.semantics.context_fields import CONTEXT, VIOLATES
from vigil_lang.semantics.lower import Statement
from vigil_lang.syntax import tree
from vigil_lang.trace import Trace
from vigil_lang.trace.values import number
from vigil_lang.trace.vocabulary import vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from vigil_lang.semantics.gate_rules import GateRule
    from vigil_lang.semantics.policy import Policy
    from vigil_lang.trace import Event


class RuleUnderTest(Statement, frozen=True, eq=False, kw_only=True):
    """A rule in the place of a statement: `abs` of its condition, which its parts and their changes are found in."""

    rule: GateRule

    @property
    def condition(self) -> core.Condition:
        """What the rule, or a mutant of it, asks of an event."""
        return core.conditions(self.requirement.theta)[0].condition


def under_test(policy: Policy) -> tuple[Statement, ...]:
    """A policy's statements, and its rules as such."""
    return (*policy.statements, *map(of_rule, policy.rules))


def of_rule(rule: GateRule) -> RuleUnderTest:
    """A rule as a statement that forbids what it matches."""
    when = rule.syntax.when
    theta = core.Not(core.Holds(rule.condition, "forbidden", when.span))
    form = tree.Form("abs", (when,), span=when.span)
    syntax = tree.Statement(rule.syntax.name, form, span=rule.syntax.span)
    requirement = core.Requirement(theta, (), None)
    return RuleUnderTest(rule.name, "abs", requirement, syntax, rule.source, rule.metadata, rule.params, rule=rule)


def asked_of(rule: RuleUnderTest, trace: Trace) -> tuple[list[int], list[int]]:
    """The events that a rule matches, and those for which the gate could not tell.

    A rule that passes matches what it covers: its condition holds for certain, and of all that the event is. The events
    carry the fields of the context as arguments.
    """
    found: list[int] = []
    unknown: list[int] = []
    at = 0
    for _, group in groupby(trace.events, key=lambda event: event.call):
        events = tuple(group)
        for event in events:
            answer = (
                _covers(rule.condition, event, events) if rule.rule.then == "pass" else _holds(rule.condition, event)
            )
            if answer is None:
                unknown.append(at)
            elif answer:
                found.append(at)
            at += 1
    return found, unknown


def _holds(condition: core.Condition, event: Event) -> bool | None:
    names = event.names()
    return ask(compiled(condition, some), Facts(names, names, event.args, _context(event)))


def _covers(condition: core.Condition, event: Event, events: tuple[Event, ...]) -> bool:
    claims = [] if shell_told_by_steps(event, events) else _table().claims(event)
    return covers(compiled(condition, every), claims, Facts(event.names(), (), event.args, _context(event)))


@cache
def _table() -> Table:
    return Table(implied={kind.name: frozenset(kind.implies) for kind in vocabulary().kinds.values()})


def _context(event: Event) -> dict[str, tuple[str, ...]]:
    return {name: values for name, values in event.args.items() if name.startswith(CONTEXT)}


def in_context(trace: Trace, context: Mapping[str, tuple[str, ...]], broken: Iterable[tuple[str, int]] = ()) -> Trace:
    """The run with the fields of the context on each event; `broken` are the statements violated, and where."""
    violated: dict[int, list[str]] = {}
    for name, at in broken:
        violated.setdefault(at, []).append(name)
    told = {f"{CONTEXT}tier": ("0",), **context}
    events = [
        replace(event, args={**event.args, **told, VIOLATES: tuple(violated.get(at, ()))})
        for at, event in enumerate(trace.events)
    ]
    return Trace(tuple(events), trace.run)


def taken_apart(trace: Trace) -> tuple[Trace, dict[str, object]] | None:
    """A run without the fields of the context, and these as a test sets them; None where no test can set them so."""
    contexts = {tuple(sorted(_context(event).items())) for event in trace.events}
    if len(contexts) > 1:
        return None
    found: dict[str, tuple[str, ...]] = dict(*contexts)
    if found.pop(VIOLATES, ()):
        return None
    settings = {name: [_plain(text) for text in values] for name, values in found.items()}
    events = [
        replace(event, args={name: texts for name, texts in event.args.items() if not name.startswith(CONTEXT)})
        for event in trace.events
    ]
    one_by_one = {name: values[0] if len(values) == 1 else values for name, values in settings.items()}
    return Trace(tuple(events), trace.run), one_by_one


def _plain(text: str) -> object:
    return text if number(text) is None else number(text)
