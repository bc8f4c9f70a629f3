"""The decision (spec.md, section 12): everything that speaks to an action, and the greatest of what it asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from vigil_lang.gate.decide.conditions import CONTEXT, Facts
from vigil_lang.gate.decide.model import Decision, Reason

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vigil_lang.gate.decide.model import Action, Approval, Asks, Authority, Layer, Mode, Rule, Tier, Who
    from vigil_lang.gate.decide.table import Compiled, Context, Table
    from vigil_lang.trace import Event

WEIGHT: dict[Asks, int] = {"pass": 0, "warn": 1, "hold": 2, "block": 3}
_MODES: tuple[Mode, ...] = ("pass", "pass", "hold", "block")


def decide(
    action: Action, authority: Authority, tier: Tier, rules: Table, approvals: Sequence[Approval] = ()
) -> Decision:
    """What becomes of an action: the greatest of all that is asked for.

    An approval lifts holds, never a block, and only all of them together. The same arguments give the same answer.
    """
    context: Context = {**action.context, f"{CONTEXT}tier": (str(tier.level),)}
    found = _Matches(action, rules, context)
    reasons = [
        *_of_revocations(authority),
        *(_fault(name, why) for name, why in _faults(action)),
        *_of_authority(authority, action, rules, context),
        *(Reason("tier", "hold", "tier", doubt) for doubt in tier.doubts),
        *found.of_statements(),
        *found.of_rules(),
    ]
    mode = _MODES[max((WEIGHT[each.asks] for each in reasons if each.lifted is None), default=0)]
    used: tuple[str, ...] = ()
    if mode == "hold":
        lifted = [_lifted(each, action, approvals) for each in reasons]
        if all(each.asks != "hold" or each.lifted is not None for each in lifted):
            used = tuple(
                dict.fromkeys(new.lifted or "" for old, new in zip(reasons, lifted, strict=True) if old != new)
            )
            mode, reasons = "pass", lifted
    reasons.sort(key=lambda each: (each.lifted is not None, -WEIGHT[each.asks]))
    return Decision(mode, tuple(reasons), used, found.record())


def _fault(name: str, why: str) -> Reason:
    return Reason("fault", "block", name, why)


def _of_revocations(authority: Authority) -> Iterator[Reason]:
    for what in authority.revoked:
        yield Reason("revocation", "block", "revoked", what)
    for why in authority.stale:
        yield Reason("revocation", "hold", "stale", why, who="organisation")


def _faults(action: Action) -> Iterator[tuple[str, str]]:
    for why in action.faults:
        yield "state", why
    if not action.events:
        yield "action", "nothing is known of what the action does"


def _of_authority(authority: Authority, action: Action, rules: Table, context: Context) -> Iterator[Reason]:
    for why in authority.refused:
        yield Reason("authority", "block", "refused", why)
    for what in authority.exhausted:
        yield Reason("authority", "hold", "limit", what)
    if authority.open:
        yield Reason("authority", "pass", "open", "authority is open: any action is granted")
        return
    try:
        outside = (
            list(action.events) if not authority.grants else rules.outside(authority.grants, action.events, context)
        )
    except Exception as error:  # whatever a grant does, the answer is a decision
        yield _fault("authority", f"a grant cannot be evaluated: {type(error).__name__}")
        return
    if outside:
        shown = ", ".join(f"`{event.action}` ({event.id})" for event in outside[:5])
        more = f" and {len(outside) - 5} more" if len(outside) > 5 else ""
        yield Reason("authority", "hold", "outside", f"the authority does not grant {shown}{more}")


def _lifted(reason: Reason, action: Action, approvals: Sequence[Approval]) -> Reason:
    """A hold that an approval lifts; any other reason as it is."""
    if reason.asks != "hold" or reason.lifted is not None:
        return reason
    for each in approvals:
        meant = each.covers in (action.binding, action.likeness) and reason.key in each.reasons
        if meant and each.uses > 0 and action.at < each.expires and (reason.who == "user" or each.by == "organisation"):
            return replace(reason, lifted=each.hold)
    return reason


class _Matches:
    """The rules that match an action, event by event, and what relaxes them."""

    def __init__(self, action: Action, rules: Table, context: Context) -> None:
        self._action = action
        self._context = context
        self._at: dict[str, list[tuple[Rule, Event]]] = {}
        """By layer and name, the events at which a rule matches."""
        self._unknown: dict[str, tuple[Rule, str]] = {}
        self._relaxed: dict[tuple[str, str], str] = {}
        """What relaxes a name of the default layer at an event."""
        self._order: list[Rule] = []
        for event in action.events:
            for compiled in rules.of(event.names()):
                self._ask(compiled, event, rules)

    def _ask(self, compiled: Compiled, event: Event, rules: Table) -> None:
        rule = compiled.rule
        key = f"{rule.layer}.{rule.name}"
        try:
            answer = compiled.asked(Facts(event.names(), event.args, self._context))
            allowed = bool(rule.relaxes) and rules.covers(compiled.allows, event, self._action.events, self._context)
            why = "it tests what the action does not tell"
        except Exception as error:  # a rule that cannot be evaluated blocks, whatever the reason
            answer, allowed, why = None, False, type(error).__name__
        if answer is None and rule.asks != "pass":
            self._unknown.setdefault(key, (rule, f"`{rule.name}` cannot be evaluated for `{event.action}`: {why}"))
        if answer:
            if key not in self._at:
                self._order.append(rule)
            self._at.setdefault(key, []).append((rule, event))
        if allowed and rule.layer != "default":
            for name in rule.relaxes:
                self._relaxed.setdefault((name, event.id), key)

    def of_rules(self) -> Iterator[Reason]:
        """What the rules ask for; a rule that cannot be evaluated blocks."""
        for rule, why in self._unknown.values():
            yield Reason("fault", "block", rule.name, why, rule.layer, rule.at)
        for rule in self._order:
            at = [event.id for _, event in self._at[f"{rule.layer}.{rule.name}"]]
            lifted = self._relaxer(rule.layer, rule.name, at)
            who = _who(rule.layer, rule.delegable)
            yield Reason("rule", rule.asks, rule.name, rule.message, rule.layer, rule.at, who, lifted)

    def of_statements(self) -> Iterator[Reason]:
        """What the statements ask for that the action would violate."""
        every = [event.id for event in self._action.events]
        for one in self._action.broken:
            lifted = self._relaxer(one.layer, one.name, every if one.event is None else [one.event])
            who = _who(one.layer, one.delegable)
            yield Reason("statement", one.asks, one.name, one.message, one.layer, one.at, who, lifted)

    def _relaxer(self, layer: Layer, name: str, at: list[str]) -> str | None:
        """What relaxes a rule of the default layer at all of these events."""
        if layer != "default" or not at or not all((name, event) in self._relaxed for event in at):
            return None
        return self._relaxed[name, at[0]]

    def record(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """What the rules that match have recorded: the values of arguments and of the context, by name."""
        found: dict[str, dict[str, None]] = {}
        for rule in self._order:
            for _, event in self._at[f"{rule.layer}.{rule.name}"]:
                for name in rule.record:
                    where = self._context if name.startswith(CONTEXT) else event.args
                    found.setdefault(name, {}).update(dict.fromkeys(where.get(name, ())))
        return tuple((name, tuple(values)) for name, values in sorted(found.items()))


def _who(layer: Layer, delegable: bool) -> Who:
    return "organisation" if layer == "organisation" and not delegable else "user"
