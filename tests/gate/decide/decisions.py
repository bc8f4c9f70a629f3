"""Cases drawn from small domains, so that matches, unknowns, relaxations and lifted holds are frequent."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

from vigil_lang.gate.decide import Action, Approval, Authority, Broken, Rule, Table, Tier
from vigil_lang.semantics import core
from vigil_lang.semantics.text_patterns import AnyOf, Expression, Glob
from vigil_lang.trace import Event

if TYPE_CHECKING:
    from random import Random

KINDS = ("file.write", "file.edit", "net.send", "process.run", "shell.run", "code.call")
IMPLIED = {"file.edit": frozenset({"file.write"}), "code.call": frozenset({"net.send"})}
TOOLS = ("edit", "send", "net.send")
FIELDS = ("path", "to", "amount", "body")
VALUES = ("1", "5", "7", "a", "ab", "x/a", "", "\ud800", '{"path": "a"}', '{"path": ["1", "x/a"]}', "1" * 40)
CONTEXT = ("context.tier", "context.agent", "context.hour", "context.violates")
NAMES = ("R1", "R2", "R3")
LAYERS = ("organisation", "default", "personal")
MATCHERS = (Glob("x/*"), Glob("a"), Glob("?"), Expression("a"), AnyOf((Glob("1"), Expression("b"))))
VIEWS: tuple[tuple[core.View, ...], ...] = (
    (core.View("json", "path"),),
    (core.View("member", "path"),),
    (core.View("base"),),
    (core.View("ext"),),
    (core.View("json", "path"), core.View("count")),
    (core.View("json", "path"), core.View("ext")),
    (core.View("count"), core.View("json", "path")),
)


class Case(NamedTuple):
    """What a decision is given."""

    action: Action
    authority: Authority
    tier: Tier
    rules: tuple[Rule, ...]
    approvals: tuple[Approval, ...]


def some_of(random: Random, of: tuple[Any, ...], most: int) -> tuple[Any, ...]:
    return tuple(random.choice(of) for _ in range(random.randint(0, most)))


def field(random: Random) -> core.Reads:
    if random.random() < 0.25:
        return core.Reads(random.choice(CONTEXT))
    views = random.choice(VIEWS) if random.random() < 0.2 else ()
    return core.Reads(random.choice(FIELDS), random.random() < 0.03, views)


def some_test(random: Random) -> core.Condition:
    where = field(random)
    match random.randrange(9):
        case 0 | 1:
            return core.ActionIn(frozenset(random.sample((*KINDS, *TOOLS), random.randint(1, 3))))
        case 2:
            return core.ActionMatches(random.choice((Glob("file.*"), Glob("*"), Expression("send"))))
        case 3:
            return core.Has(where) if random.random() < 0.8 else core.StatusIs("ok")
        case 4 | 5:
            values = VALUES if not where.name.startswith("context.") else ("0", "2", "R1", "default.R2", "me")
            return core.In(where, frozenset(random.sample(values, 3)), random.random() < 0.3)
        case 6:
            return core.Matches(where, random.choice(MATCHERS), random.random() < 0.3)
        case 7:
            return core.Compares(where, random.choice(("<", "<=", ">", ">=")), Decimal(random.choice((1, 2, 5))))
        case _:
            return core.ContainsText(where, random.choice(("a", "x", "")))


def condition(random: Random, depth: int = 3) -> core.Condition:
    chosen = random.random()
    if depth == 0 or chosen < 0.35:
        return some_test(random)
    if chosen < 0.45:
        return core.NotC(condition(random, depth - 1))
    if chosen < 0.48:
        return core.Entry(field(random), condition(random, depth - 1))
    items = tuple(condition(random, depth - 1) for _ in range(random.choice((0, 1, 2, 2, 2, 3))))
    return core.AndC(items) if chosen < 0.8 else core.OrC(items)


def simple(random: Random) -> core.Condition:
    """Of the kind that a rule has: what it is about, and at most one test."""
    about = core.ActionIn(frozenset(random.sample((*KINDS, *TOOLS), random.randint(1, 4))))
    return about if random.random() < 0.5 else core.AndC((about, some_test(random)))


def some_condition(random: Random) -> core.Condition:
    return simple(random) if random.random() < 0.6 else condition(random)


def event(random: Random, at: int) -> Event:
    ids = ("e1", "e2", "e1.1", "e1.2", "e3")
    name = ids[at] if random.random() < 0.9 else random.choice(ids)
    kinds = random.choice(((), ("shell.run",), tuple(random.sample(KINDS, random.randint(1, 3)))))
    args = {name: some_of(random, VALUES, 2) for name in FIELDS if random.random() < 0.7}
    if random.random() < 0.08:
        args["unresolved"] = ("command",)
    return Event(name, random.choice(TOOLS), "c", args, kinds=kinds)


def rule(random: Random, layer: str, name: str) -> Rule:
    relaxes = some_of(random, NAMES, 2) if random.random() < (0.15 if layer == "default" else 0.6) else ()
    return Rule(
        name,
        layer,  # type: ignore[arg-type]
        random.choice(("pass", "pass", "hold", "hold", "hold", "block") if not relaxes else ("pass", "pass", "hold")),
        some_condition(random),
        record=some_of(random, (*FIELDS, *CONTEXT), 1),
        relaxes=relaxes,
        delegable=random.random() < 0.5,
    )


def case(random: Random) -> Case:
    """A case; most of what stands in the way is rare, so that a single reason often decides."""
    rare = random.random() < 0.15
    events = tuple(
        event(random, at) for at in range(random.choice((0, 1, 1, 1, 2, 2, 3)) if rare else random.choice((1, 1, 2, 3)))
    )
    broken = tuple(
        Broken(
            random.choice(NAMES),
            random.choice(LAYERS),  # type: ignore[arg-type]
            random.choice(("warn", "hold", "hold", "block")),
            "",
            event=random.choice((None, "e1", "e2", "e9")),
            delegable=random.random() < 0.5,
        )
        for _ in range(random.choice((0, 0, 0, 1, 1, 2)))
    )
    context = {"context.agent": ("me",)} if random.random() < 0.8 else {}
    if random.random() < 0.3:
        context["context.hour"] = random.choice((("9",), (), ("1", "7")))
    action = Action(events, context, "B", "L", 100, broken, ("fault",) if rare and random.random() < 0.2 else ())
    authority = Authority(
        tuple(some_condition(random) for _ in range(random.choice((0, 1, 1, 2)))),
        random.random() < 0.4,
        *(("x",) if rare and random.random() < 0.2 else () for _ in range(4)),
    )
    tier = Tier(random.choice((0, 0, 0, 1, 2, 3, *((4,) if rare else ()))), ("old",) if random.random() < 0.1 else ())
    named = [(layer, name) for layer in LAYERS for name in NAMES]
    rules = tuple(rule(random, layer, name) for layer, name in random.sample(named, random.choice((0, 1, 2, 2, 3, 5))))
    keys = (
        *(f"{layer}.{name}" for layer, name in named),
        "authority.outside",
        "authority.limit",
        "tier.tier",
        "revocation.stale",
    )
    approvals = tuple(
        Approval(
            f"h{at}",
            random.choice(("B", "B", "B", "L", "other")),
            keys if random.random() < 0.5 else tuple(random.sample(keys, 9)),
            random.choice(("user", "organisation", "organisation")),
            random.choice((200, 200, 200, 101, 100, 99)),
            random.choice((0, 1, 1, 5)),
        )
        for at in range(random.choice((0, 1, 1, 2, 3)))
    )
    return Case(action, authority, tier, rules, approvals)


def table(one: Case) -> Table:
    return Table(one.rules, IMPLIED)
