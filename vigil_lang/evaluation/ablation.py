"""What a verdict rests on, by taking parts of it away (paper, section 7.3, Table II).

The policies stay as they are written, where the paper has a model write them anew for each configuration:

- without `arguments`, calls and their steps carry no values: a condition that tests one is met by no event. What was
  said (messages), outputs and statuses stay;
- without `structure`, a statement knows single events only: one that asks for something earlier or later forbids what
  would have asked for it, whatever the values are that it shares; `after`, bounds and counts are forgotten. A statement
  that is about no single event says nothing;
- without `steps`, a call is what the harness recorded: no programs of its command line, no effects of its scripts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from msgspec.structs import replace

from vigil_lang.engines.interface import Rule
from vigil_lang.semantics import core
from vigil_lang.semantics.range_restriction import unbound
from vigil_lang.trace.event import MESSAGES, Trace

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence, Set

    from vigil_lang.semantics.policy import Policy

Part: TypeAlias = Literal["arguments", "structure", "steps"]
PARTS: tuple[Part, ...] = get_args(Part)


def ablated_rules(policies: Iterable[Policy], without: Set[Part]) -> list[Rule]:
    """What runs are judged by."""
    found = [Rule(statement.name, statement.requirement) for policy in policies for statement in policy.statements]
    if "structure" not in without:
        return found
    return [Rule(name, single) for name, requirement in found if (single := single_event(requirement)) is not None]


def ablated_trace(trace: Trace, without: Set[Part]) -> Trace:
    """What is judged."""
    events = trace.events
    if "steps" in without:
        first: dict[str, str] = {}
        for event in events:
            first.setdefault(event.call, event.id)
        events = tuple(event for event in events if first[event.call] == event.id)
    if "arguments" in without:
        events = tuple(event if event.action in MESSAGES else replace(event, args={}) for event in events)
    return trace if events == trace.events else Trace(events, trace.run)


def single_event(requirement: core.Requirement) -> core.Requirement | None:
    """The requirement as a filter on single events has it; None where it is about no single event.

    What is about single events already stays. Of the others, whatever meets the part of the trigger that is about the
    event itself is a violation; tests of values that only other events give are forgotten with these.
    """
    if _is_single(requirement.theta):
        return requirement
    body = requirement.trigger or core.negated(requirement.theta)
    items = [item for item in (body.items if isinstance(body, core.And) else (body,)) if _is_single(item)]
    about: list[core.Theta] = [item for item in items if not isinstance(item, core.Where)]
    while about:
        theta = _forbidding(about)
        loose = set(unbound(core.Requirement(theta, core.variables_of(theta), None)))
        if not loose:
            break
        about = [kept for item in about if (kept := _without(item, loose)) is not None]
    else:
        return None
    known = {*core.variables_of(theta)}
    on_values = [i for i in items if isinstance(i, core.Where) and known.issuperset(core.variables_of(i))]
    theta = _forbidding([*about, *on_values])
    return core.Requirement(theta, core.variables_of(theta), None)


def _forbidding(bodies: Sequence[core.Theta]) -> core.Theta:
    return core.Not(core.And(tuple(bodies)) if bodies[1:] else bodies[0])


def _without(body: core.Theta, variables: Set[str]) -> core.Theta | None:
    """A body without what it says of some variables; None where nothing else is left."""
    if variables.isdisjoint(core.variables_of(body)):
        return body
    match body:
        case core.Holds(core.AndC(items)):
            kept = tuple(item for item in items if variables.isdisjoint(core.variables_of(item)))
            return core.Holds(core.AndC(kept), body.role, body.span) if kept else None
        case _:
            return None


def _is_single(theta: core.Theta) -> bool:
    """Whether a body says of an event nothing but what it is."""
    return all(isinstance(body, _SINGLE) for body in core.bodies(theta))


_SINGLE = (core.Holds, core.Where, core.Not, core.And, core.Or, core.Implies)


def parts_of(given: Sequence[str]) -> list[frozenset[Part]]:
    """Configurations from texts such as `arguments` and `arguments,steps`, each once, in their order.

    Raises:
        ValueError: a text names something else; the message says what there is.
    """
    found: dict[frozenset[Part], None] = {}
    for text in given:
        names = [name.strip() for name in text.split(",")]
        unknown = [name for name in names if name not in PARTS]
        if unknown:
            raise ValueError(f"there is no part '{unknown[0]}': there are {', '.join(PARTS)}")
        found[frozenset(name for name in PARTS if name in names)] = None
    return list(found)


def name_of(without: Set[Part]) -> str:
    """`without arguments, steps`."""
    return f"without {', '.join(name for name in PARTS if name in without)}"
