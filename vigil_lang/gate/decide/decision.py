"""The decision (spec.md, section 10.4): everything that speaks to an action, and the greatest of what it asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec.structs import replace

from vigil_lang.gate.decide.conditions import Facts, ask
from vigil_lang.gate.decide.model import Decision, Reason
from vigil_lang.gate.decide.table import covers, shell_told_by_steps
from vigil_lang.semantics.context_fields import CONTEXT, VIOLATES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vigil_lang.gate.decide.model import Action, Approval, Asks, Authority, Broken, Mode, Rule, Tier, Who
    from vigil_lang.gate.decide.table import Table

WEIGHT: dict[Asks, int] = {"pass": 0, "warn": 1, "hold": 2, "block": 3}
_MODES: tuple[Mode, ...] = ("pass", "pass", "hold", "block")
_TIERS = range(4)


def decide(
    action: Action, authority: Authority, tier: Tier, rules: Table, approvals: Sequence[Approval] = ()
) -> Decision:
    """What becomes of an action: the greatest of all that is asked for.

    An approval lifts holds, never a block, and only all of them together. The same arguments give the same answer.
    """
    try:
        return _decided(action, authority, tier, rules, approvals)
    except Exception as error:  # whatever it is given, the answer is a decision
        return Decision("block", (_fault("gate", f"the action cannot be judged: {type(error).__name__}"),))


def _decided(action: Action, authority: Authority, tier: Tier, rules: Table, approvals: Sequence[Approval]) -> Decision:
    facts = _facts(action, tier)
    found = _Matches(action, facts, rules)
    reasons = [
        *_of_revocations(authority),
        *_of_faults(action, tier),
        *_of_authority(authority, action, facts, rules),
        *(Reason("tier", "hold", "tier", doubt) for doubt in tier.doubts),
        *found.of_statements(),
        *found.of_rules(),
    ]
    mode = _mode(reasons)
    used: tuple[str, ...] = ()
    if mode == "hold":
        lifted = [_lifted(each, action, approvals) for each in reasons]
        if _mode(lifted) == "pass":
            used = tuple(
                dict.fromkeys(new.lifted or "" for old, new in zip(reasons, lifted, strict=True) if new is not old)
            )
            mode, reasons = "pass", lifted
    reasons.sort(key=lambda each: (each.lifted is not None, -WEIGHT[each.asks]))
    return Decision(mode, tuple(reasons), used, found.record())


def _mode(reasons: Sequence[Reason]) -> Mode:
    return _MODES[max((WEIGHT[each.asks] for each in reasons if each.lifted is None), default=0)]


def _facts(action: Action, tier: Tier) -> list[Facts]:
    """What conditions are asked of, event by event: `context.violates` has the names of the statements it breaks."""
    level = (str(tier.level),) if tier.level in _TIERS else ()
    context = {**action.context, f"{CONTEXT}tier": level, VIOLATES: ()}
    found = []
    for event in action.events:
        broken = [one for one in action.broken if one.event in (None, event.id)]
        names = dict.fromkeys(name for one in broken for name in (one.name, f"{one.layer}.{one.name}"))
        at = {**context, VIOLATES: tuple(names)} if names else context
        found.append(Facts(event.names(), event.names(), event.args, at))
    return found


def _fault(name: str, why: str) -> Reason:
    return Reason("fault", "block", name, why)


def _of_revocations(authority: Authority) -> Iterator[Reason]:
    for what in authority.revoked:
        yield Reason("revocation", "block", "revoked", what)
    for why in authority.stale:
        yield Reason("revocation", "hold", "stale", why, who="organisation")


def _of_faults(action: Action, tier: Tier) -> Iterator[Reason]:
    for why in action.faults:
        yield _fault("state", why)
    if not action.events:
        yield _fault("action", "nothing is known of what the action does")
    if tier.level not in _TIERS:
        yield _fault("tier", "the detection tier is none of 0 to 3")


def _of_authority(authority: Authority, action: Action, facts: list[Facts], rules: Table) -> Iterator[Reason]:
    for why in authority.refused:
        yield Reason("authority", "block", "refused", why)
    for what in authority.exhausted:
        yield Reason("authority", "hold", "limit", what)
    if authority.open:
        yield Reason("authority", "pass", "open", "authority is open: any action is granted")
        return
    try:
        outside = _outside(authority, action, facts, rules)
    except Exception as error:  # what a grant says is not known
        yield _fault("authority", f"a grant cannot be evaluated: {type(error).__name__}")
        return
    if outside:
        more = f" and {len(outside) - 5} more" if len(outside) > 5 else ""
        yield Reason("authority", "hold", "outside", f"the authority does not grant {', '.join(outside[:5])}{more}")


def _outside(authority: Authority, action: Action, facts: list[Facts], rules: Table) -> list[str]:
    """The events that some grant does not allow; a shell line is allowed where its steps are."""
    found = []
    for event, known in zip(action.events, facts, strict=True):
        claims = [] if shell_told_by_steps(event, action.events) else rules.claims(event)
        if not authority.grants or not all(covers(allows, claims, known) for allows in authority.allowing):
            found.append(f"`{event.action}` ({event.id})")
    return found


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
    """The rules that match an action, and what relaxes rules of the default layer; events and rules by their places."""

    def __init__(self, action: Action, facts: list[Facts], rules: Table) -> None:
        self._action = action
        self._facts = facts
        self._rules = rules.rules
        self._at: dict[int, list[int]] = {}
        """By rule, the events at which it matches."""
        self._unknown: dict[int, str] = {}
        """By rule, what it cannot be evaluated for."""
        self._relaxed: dict[tuple[str, int], str] = {}
        """By name and event, what relaxes that rule or statement there."""
        for at, event in enumerate(action.events):
            for place, (rule, matches, relaxing) in rules.of(facts[at].names).items():
                answer = ask(matches, facts[at])
                if answer:
                    self._at.setdefault(place, []).append(at)
                elif answer is None and rule.asks != "pass":
                    self._unknown.setdefault(
                        place, f"`{event.action}` ({event.id}) does not tell what `{rule.name}` asks"
                    )
                if relaxing and covers(relaxing, rules.claims(event), facts[at]):
                    for name in rule.relaxes:
                        self._relaxed.setdefault((name, at), f"{rule.layer}.{rule.name}")

    def of_rules(self) -> Iterator[Reason]:
        """What the rules ask for; a rule that cannot be evaluated blocks."""
        for place, why in sorted(self._unknown.items()):
            rule = self._rules[place]
            yield Reason("fault", "block", rule.name, why, rule.layer, rule.at)
        for place, at in sorted(self._at.items()):
            yield self._reason("rule", self._rules[place], at)

    def of_statements(self) -> Iterator[Reason]:
        """What the statements ask for that the action would violate."""
        for one in self._action.broken:
            at = [place for place, event in enumerate(self._action.events) if one.event in (None, event.id)]
            yield self._reason("statement", one, at)

    def _reason(self, kind: Literal["rule", "statement"], of: Rule | Broken, at: list[int]) -> Reason:
        """A reason; one of the default layer is lifted where something relaxes it at each event that it is about."""
        relaxed = [self._relaxed.get((of.name, place)) for place in at] if of.layer == "default" else []
        lifted = ", ".join(dict.fromkeys(each for each in relaxed if each)) if relaxed and all(relaxed) else None
        who: Who = "organisation" if of.layer == "organisation" and not of.delegable else "user"
        return Reason(kind, of.asks, of.name, of.message, of.layer, of.at, who, lifted)

    def record(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """What the rules that match have recorded: the values of arguments and of the context, by name."""
        found: dict[str, dict[str, None]] = {}
        for place, at in sorted(self._at.items()):
            for name in self._rules[place].record:
                for facts in (self._facts[each] for each in at):
                    where = facts.context if name.startswith(CONTEXT) else facts.args
                    found.setdefault(name, {}).update(dict.fromkeys(where.get(name, ())))
        return tuple((name, tuple(values)) for name, values in sorted(found.items()))
