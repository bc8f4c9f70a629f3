"""The decision a second time: written from spec.md 10.4 alone, slow and without a table, to hold the kernel to.

Rules are asked of every event, one after the other; conditions are worked out by one recursive function. What decides
is written as the section says it: quantifiers over events, rules and approvals.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from vigil_lang.semantics import core
from vigil_lang.semantics.text_patterns import predicate
from vigil_lang.semantics.views import members, viewed
from vigil_lang.trace.values import number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vigil_lang.gate.decide import Action, Approval, Authority, Broken, Decision, Rule, Tier
    from vigil_lang.trace import Event

Answer = bool | None
Implied = dict[str, frozenset[str]]
HARMLESS_ALONE = ("process.run", "code.call")


class Said(NamedTuple):
    """What the kernel's decision is compared in."""

    mode: str
    reasons: frozenset[tuple[Any, ...]]
    approvals: frozenset[str]
    record: dict[str, frozenset[str]]


# --- conditions ---------------------------------------------------------------------------------------------


def conjunction(answers: list[Answer]) -> Answer:
    return False if False in answers else None if None in answers else True


def negation(answer: Answer) -> Answer:
    return None if answer is None else not answer


def disjunction(answers: list[Answer]) -> Answer:
    return True if True in answers else None if None in answers else False


def over(answers: list[Answer] | None, all_values: bool) -> Answer:
    """What the answers for each value of a field come to."""
    if answers is None:
        return None
    if not all_values:
        return disjunction(answers)
    if answers and all(answer is True for answer in answers):
        return True
    return False if all(answer is False for answer in answers) else None


def texts(field: core.Reads, args: Mapping[str, Any], context: Mapping[str, Any]) -> list[str] | None:
    """The values of a field; None where they are not known."""
    if field.output:
        return None
    if field.name.startswith("context."):
        return list(viewed(field.views, context[field.name])) if field.name in context else None
    if field.name not in args:
        return None
    found = args[field.name]
    left = list(field.views)
    while any(view.name in ("json", "member") for view in left):
        found = viewed([left.pop(0)], found)
        if not found and not any(view.name in ("json", "member") for view in left):
            return None
    return list(viewed(left, found))


def one_text(test: Any, text: str) -> Answer:
    try:
        match test:
            case core.In():
                return (text not in test.values) if test.negated else (text in test.values)
            case core.Matches():
                return (not predicate(test.matcher)(text)) if test.negated else predicate(test.matcher)(text)
            case core.ContainsText():
                return test.text != "" and test.text in text
            case core.Compares():
                value = number(text)
                if value is None:
                    return None
                return {
                    "<": value < test.number,
                    "<=": value <= test.number,
                    ">": value > test.number,
                    ">=": value >= test.number,
                }[test.operator]
    except Exception:
        return None
    raise AssertionError(test)


def truth(
    condition: Any,
    names: Sequence[str],
    spoken_of: Sequence[str],
    args: Mapping[str, Any],
    context: Mapping[str, Any],
    all_values: bool,
) -> Answer:
    """A condition of an event with these names; `spoken_of` are those of them that an allowing condition speaks of."""
    match condition:
        case core.ActionIn() | core.ActionMatches():
            try:
                fits = [
                    name in condition.names
                    if isinstance(condition, core.ActionIn)
                    else predicate(condition.matcher)(name)
                    for name in names
                ]
            except Exception:
                return None
            if any(fit and name in spoken_of for fit, name in zip(fits, names, strict=True)):
                return True
            return None if any(fits) else False
        case core.StatusIs():
            return None
        case core.NotC():
            return negation(truth(condition.body, names, spoken_of, args, context, all_values))
        case core.AndC():
            return conjunction([truth(c, names, spoken_of, args, context, all_values) for c in condition.items])
        case core.OrC():
            return disjunction([truth(c, names, spoken_of, args, context, all_values) for c in condition.items])
    try:
        if isinstance(condition, core.Has):
            field = condition.field
            if field.output:
                return None
            where = context if field.name.startswith("context.") else args
            return len(viewed(field.views, where.get(field.name, ()))) > 0 if field.views else field.name in where
        values = texts(condition.field, args, context)
        if isinstance(condition, core.Entry):
            entries = None if values is None else [members(text) for text in values]
            answers = (
                None
                if entries is None
                else [
                    None if entry is None else truth(condition.body, names, spoken_of, entry, context, all_values)
                    for entry in entries
                ]
            )
            return over(answers, all_values)
    except Exception:
        return None
    if isinstance(condition, core.Compares) and not values:
        return None
    return over(None if values is None else [one_text(condition, text) for text in values], all_values)


# --- events -------------------------------------------------------------------------------------------------


def things(event: Event, implied: Implied) -> list[set[str]]:
    """The things that an event is, each with the names under which it may be allowed."""

    def implies(one: str, other: str) -> bool:
        return other in implied.get(one, ())

    most_exact = [
        kind for kind in event.kinds if all(not implies(other, kind) or implies(kind, other) for other in event.kinds)
    ]
    telling = [kind for kind in most_exact if kind not in HARMLESS_ALONE]
    chosen = telling if telling else most_exact
    if not chosen:
        return [{event.action}]
    return [{event.action, kind} | {k for k in event.kinds if implies(kind, k)} for kind in chosen]


def context_of(event: Event, action: Action, tier: Tier) -> dict[str, tuple[str, ...]]:
    context = dict(action.context)
    context["context.tier"] = (str(tier.level),) if tier.level in (0, 1, 2, 3) else ()
    violates: list[str] = []
    for broken in action.broken:
        if broken.event is None or broken.event == event.id:
            violates += [broken.name, f"{broken.layer}.{broken.name}"]
    context["context.violates"] = tuple(violates)
    return context


def matches(rule: Rule, event: Event, action: Action, tier: Tier) -> Answer:
    names = [event.action, *event.kinds]
    return truth(rule.condition, names, names, event.args, context_of(event, action, tier), False)


def allowed(condition: Any, event: Event, action: Action, tier: Tier, implied: Implied) -> bool:
    """Whether a condition allows everything that an event is."""
    if "unresolved" in event.args:
        return False
    names = [event.action, *event.kinds]
    return all(
        truth(condition, names, sorted(thing), event.args, context_of(event, action, tier), True) is True
        for thing in things(event, implied)
    )


def granted(event: Event, action: Action, authority: Authority, tier: Tier, implied: Implied) -> bool:
    if authority.open:
        return True
    if not authority.grants:
        return False
    others = set(event.kinds) - {"shell.run", *HARMLESS_ALONE}
    steps = [other for other in action.events if other.id.startswith(event.id + ".")]
    if "shell.run" in event.kinds and not others and steps and "unresolved" not in event.args:
        return True
    return all(allowed(grant, event, action, tier, implied) for grant in authority.grants)


# --- the decision -------------------------------------------------------------------------------------------


def decide(
    action: Action,
    authority: Authority,
    tier: Tier,
    rules: Sequence[Rule],
    implied: Implied,
    approvals: Sequence[Approval],
) -> Said:
    """The mode, every reason without its wording, the approvals that are used, and what is recorded."""
    asked: list[tuple[str, str, str, str | None, str, bool]] = []  # kind, asks, name, layer, who, relaxed

    def relaxed_at(name: str, event: Event) -> bool:
        return any(
            rule.layer in ("organisation", "personal")
            and name in rule.relaxes
            and allowed(rule.condition, event, action, tier, implied)
            for rule in rules
        )

    def who(of: Rule | Broken) -> str:
        return "organisation" if of.layer == "organisation" and not of.delegable else "user"

    asked += [("revocation", "block", "revoked", None, "user", False) for _ in authority.revoked]
    asked += [("revocation", "hold", "stale", None, "organisation", False) for _ in authority.stale]
    asked += [("fault", "block", "state", None, "user", False) for _ in action.faults]
    if len(action.events) == 0:
        asked.append(("fault", "block", "action", None, "user", False))
    if tier.level not in (0, 1, 2, 3):
        asked.append(("fault", "block", "tier", None, "user", False))
    asked += [("authority", "block", "refused", None, "user", False) for _ in authority.refused]
    asked += [("authority", "hold", "limit", None, "user", False) for _ in authority.exhausted]
    if authority.open:
        asked.append(("authority", "pass", "open", None, "user", False))
    if not all(granted(event, action, authority, tier, implied) for event in action.events):
        asked.append(("authority", "hold", "outside", None, "user", False))
    asked += [("tier", "hold", "tier", None, "user", False) for _ in tier.doubts]
    for broken in action.broken:
        at = [event for event in action.events if broken.event is None or broken.event == event.id]
        relaxed = broken.layer == "default" and bool(at) and all(relaxed_at(broken.name, event) for event in at)
        asked.append(("statement", broken.asks, broken.name, broken.layer, who(broken), relaxed))
    record: dict[str, set[str]] = {}
    for rule in rules:
        answers = [matches(rule, event, action, tier) for event in action.events]
        if None in answers and rule.asks != "pass":
            asked.append(("fault", "block", rule.name, rule.layer, "user", False))
        if True in answers:
            at = [event for event, answer in zip(action.events, answers, strict=True) if answer is True]
            relaxed = rule.layer == "default" and all(relaxed_at(rule.name, event) for event in at)
            asked.append(("rule", rule.asks, rule.name, rule.layer, who(rule), relaxed))
            for name in rule.record:
                for event in at:
                    source = context_of(event, action, tier) if name.startswith("context.") else event.args
                    record.setdefault(name, set()).update(source.get(name, ()))

    def lifting(kind: str, name: str, layer: str | None, confirmed_by: str) -> str | None:
        for approval in approvals:
            if approval.covers != action.binding and approval.covers != action.likeness:
                continue
            if f"{layer}.{name}" not in approval.reasons and (layer or f"{kind}.{name}" not in approval.reasons):
                continue
            if approval.uses < 1 or action.at >= approval.expires:
                continue
            if confirmed_by == "organisation" and approval.by != "organisation":
                continue
            return approval.hold
        return None

    weights = [each[1] for each in asked if not each[5]]
    lifts = [
        lifting(kind, name, layer, by) if asks == "hold" and not relaxed else None
        for kind, asks, name, layer, by, relaxed in asked
    ]
    mode = "block" if "block" in weights else "hold" if "hold" in weights else "pass"
    all_lifted = all(
        lift is not None for lift, each in zip(lifts, asked, strict=True) if each[1] == "hold" and not each[5]
    )
    used = [lift for lift in lifts if lift is not None] if mode == "hold" and all_lifted else []
    if used:
        mode = "pass"
    reasons = frozenset(
        (*each[:5], each[5] or (bool(used) and lift is not None)) for each, lift in zip(asked, lifts, strict=True)
    )
    return Said(mode, reasons, frozenset(used), {name: frozenset(values) for name, values in record.items()})


def said(decision: Decision) -> Said:
    """A decision of the kernel in the same form."""
    return Said(
        decision.mode,
        frozenset((e.kind, e.asks, e.name, e.layer, e.who, e.lifted is not None) for e in decision.reasons),
        frozenset(decision.approvals),
        {name: frozenset(values) for name, values in decision.record},
    )
