"""Short names for what the tests of the kernel are made of."""

from __future__ import annotations

from typing import Any

from vigil_lang.gate.decide import Action, Authority, Broken, Decision, Rule, Table, Tier, decide
from vigil_lang.semantics import core
from vigil_lang.trace import Event

OPEN = Authority(open=True)
CALM = Tier()
ANY = core.AndC(())
IMPLIED = {"file.edit": frozenset({"file.write"}), "file.append": frozenset({"file.edit", "file.write"})}


def named(*names: str) -> core.ActionIn:
    """The event has one of these names."""
    return core.ActionIn(frozenset(names))


def is_in(field: str, *values: str) -> core.In:
    """Some value of the field is one of these."""
    return core.In(core.Reads(field), frozenset(values))


def event(*kinds: str, id: str = "e1", action: str = "tool", **args: Any) -> Event:  # noqa: A002 - as the field is called
    """An event of these kinds and arguments, as tuples of texts."""
    return Event(id, action, "c", {name: tuple(found) for name, found in args.items()}, kinds=kinds)


def act(*events: Event, **members: Any) -> Action:
    """An action of these events, at the time 100; its binding is `B`, its likeness `L`."""
    return Action(events, members.pop("context", {}), "B", "L", 100, **members)


def rule(
    name: str, asks: Any = "hold", layer: Any = "organisation", when: core.Condition = ANY, **members: Any
) -> Rule:
    """A rule that matches anything, if nothing else is said."""
    return Rule(name, layer, asks, when, **members)


def broken(name: str, asks: Any = "block", layer: Any = "organisation", **members: Any) -> Broken:
    """A statement that the action would violate."""
    return Broken(name, layer, asks, f"{name} is broken", **members)


def decided(
    action: Action, *rules: Rule, authority: Authority = OPEN, tier: Tier = CALM, approvals: Any = ()
) -> Decision:
    """What becomes of an action, by default under an open authority."""
    return decide(action, authority, tier, Table(rules, IMPLIED), approvals)


def speaks(decision: Decision) -> list[tuple[str, str, str | None]]:
    """The reasons, each as its key, what it asks for and what lifts it; without that of an open authority."""
    return [(each.key, each.asks, each.lifted) for each in decision.reasons if each.name != "open"]
