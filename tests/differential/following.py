"""A monitor held against the denotation along a run, whatever comes of its calls and whenever."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from tests.differential.engines import by_index
from tests.differential.prefix_verdicts import (
    all_of_one,
    bounds,
    explore,
    keeps,
    looks_back_only,
    out_of_order,
    some_longer,
)
from vigil_lang.engines.interface import Outcome, Unjudged
from vigil_lang.engines.monitor import MonitorEngine
from vigil_lang.semantics import core, denotation
from vigil_lang.trace import Event, Trace

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

    from tests.differential.engines import Answer
    from vigil_lang.engines.interface import Breach, Owed, PrefixVerdict, Rule
    from vigil_lang.engines.monitor import RunMonitor
    from vigil_lang.semantics.core import Requirement

OUTPUTS = (None, "", "M", "7", "MN done", '{"q": "M", "n": 7}', '[{"q": "M", "n": 7}, {"q": "N", "n": 1.50}, "M"]')


def reads_output(requirement: Requirement) -> bool:
    """Whether a test reads what a call returned."""
    theta = requirement.theta
    tests = [test for held in core.conditions(theta) for test in core.tests(held.condition)]
    read = [t.field for t in tests if not isinstance(t, core.ActionIn | core.ActionMatches | core.StatusIs)]
    read += [b.distinct for b in core.bodies(theta) if isinstance(b, core.Repeated) and b.distinct is not None]
    read += [b.field for b in core.bodies(theta) if isinstance(b, core.Exceeds)]
    return any(field.output for field in read)


def may_be_refused(requirement: Requirement, events: Sequence[Event]) -> bool:
    """Whether a monitor may say that it cannot judge: a bound ahead, in a run out of order (spec 7.6)."""
    ahead = [b for b in core.bodies(requirement.theta) if isinstance(b, core.Later | core.Until)]
    return any(b.bound is not None for b in ahead) and out_of_order(events)


def fails(requirement: Requirement, events: Sequence[Event], at: int, binding: tuple[str | None, ...]) -> bool:
    """Whether Θ is false at an event under a binding."""
    bound_to = dict(zip(requirement.variables, binding, strict=True))
    return not denotation.holds(requirement.theta, Trace(tuple(events)), at, bound_to)


def check_close(rule: Rule, ended: Outcome | Unjudged, expected: Answer) -> None:
    """What a monitor says at the end is what every engine says of the run."""
    assert isinstance(ended, Outcome), ended
    assert ended.rule == rule
    assert tuple((v.event, v.binding) for v in ended.violations) == expected.offences
    assert ended.exercised == expected.exercised


def is_refused(rule: Rule, events: Sequence[Event], unjudged: Sequence[Unjudged], form: str | None) -> bool:
    """Whether a rule is not judged, as far as it may be left so."""
    for refused in unjudged:
        assert refused.why.strip()
        # Forms that policies have are followed whatever they say; a nest of `always` may come to be too large.
        assert form in ("always", None) or may_be_refused(rule.requirement, events), refused
    return bool(unjudged)


def check_prefix(
    rule: Rule,
    monitor: RunMonitor,
    events: Sequence[Event],
    said: Sequence[Breach],
    form: str | None,
    before: PrefixVerdict | None,
    random: Random,
) -> PrefixVerdict | None:
    """The verdict and what is owed after some events, all of which have ended; returns the verdict."""
    requirement = rule.requirement
    (verdict,) = monitor.verdicts()
    if verdict is None:  # what would take more than the limits allow is found out when it is asked for
        assert form is None
        return None
    assert before not in ("violated", "satisfied") or verdict == before, (before, verdict)
    if verdict in ("violated", "satisfied") and verdict != before:
        seen = explore(requirement, events, all_of_one(requirement, events))
        assert not seen.refutes(verdict), (verdict, seen)
        seen = explore(requirement, events, some_longer(requirement, events, random, 10))
        assert not seen.refutes(verdict), (verdict, seen)
    back = looks_back_only(requirement.theta)
    holds = not said if back else keeps(requirement, events)
    if verdict in ("pending", "holding"):
        assert (verdict == "holding") == holds, verdict
    if back or form == "until":
        # Violations stay (spec R7.11-2), so that the verdict is known at once.
        assert (verdict == "violated") == (not holds), verdict
    if said:
        assert verdict == "violated"
    if form is not None and verdict == "violated":
        assert said or form == "always"
    check_owed(requirement, monitor.pending(), events, said, form, verdict)
    return verdict


def check_owed(
    requirement: Requirement,
    owed: Sequence[Owed],
    events: Sequence[Event],
    said: Sequence[Breach],
    form: str | None,
    verdict: str,
) -> None:
    """What is owed is what would be missing were the run to stop now."""
    for debt in owed:
        assert debt.rule == 0
        assert events[debt.event].id == debt.id
        assert fails(requirement, events, debt.event, debt.binding), debt
        assert (debt.event, debt.binding) not in [(b.event, b.binding) for b in said], debt
    assert [debt.event for debt in owed] == sorted(debt.event for debt in owed)
    if form in ("resp", "rslv", "bresp", "atleast") and verdict == "pending":
        assert owed
    if form in ("resp", "rslv", "bresp"):
        missing = by_index(requirement, Trace(tuple(events))).offences
        breached = {b.event for b in said}
        for at, binding in missing:
            first = next((o for o, other in missing if other == binding and o not in breached), None)
            if at == first:
                assert (at, binding) in [(debt.event, debt.binding) for debt in owed], (at, binding)
    if form in ("prec", "abs", "atmost", "budget", "until"):
        assert not owed
    trace = Trace(tuple(events))
    bound = next((b.bound for b in core.bodies(requirement.theta) if isinstance(b, core.Later)), None)
    if form == "bresp" and bound is not None and bound.least == 0 and not out_of_order(events):
        for debt in owed:
            passed = denotation.distance(bound, trace, debt.event, len(events) - 1)
            assert passed is not None
            most = bound.microseconds if isinstance(bound, core.Within) else bound.count
            if most == core.FAR:
                continue
            assert type(debt.left) is type(bound), debt
            left = debt.left.microseconds if isinstance(debt.left, core.Within) else debt.left.count  # type: ignore[union-attr]
            assert left == most - passed, (debt, most, passed)


def check_said(requirement: Requirement, said: Sequence[Breach], events: Sequence[Event], expected: Answer) -> None:
    """What was reported on the way is what is wrong at the end."""
    places = [b.event for b in said]
    assert len(set(places)) == len(places), f"reported twice: {said}"
    for breach in said:
        assert breach.rule == 0
        assert events[breach.event].id == breach.id
        assert fails(requirement, events, breach.event, breach.binding), breach
    if looks_back_only(requirement.theta):
        assert tuple((b.event, b.binding) for b in said) == expected.offences
    else:
        assert {b.event for b in said} <= set(expected.events)


def follow(engine: MonitorEngine, trace: Trace, expected: Answer, form: str | None, random: Random) -> bool:
    """An engine of one rule along a run, event by event, each prefix judged; whether the rule was judged to the end."""
    (rule,) = engine.rules
    requirement, events = rule.requirement, trace.events
    monitor = engine.run()
    said: list[Breach] = []
    verdict = check_prefix(rule, monitor, (), said, form, None, random)
    for end, event in enumerate(events, 1):
        # A call that is refused leaves nothing.
        denied = replace(random.choice(events), id="denied", call="denied")
        monitor.propose([denied])
        progress = monitor.step([event])
        if is_refused(rule, events[:end], progress.unjudged, form):
            assert monitor.verdicts() == (None,)
            break
        said += progress.breaches
        if looks_back_only(requirement.theta):
            known = tuple(o for o in expected.offences if o[0] < end)
            assert tuple((b.event, b.binding) for b in said) == known, (said, known)
        verdict = check_prefix(rule, monitor, events[:end], said, form, verdict, random)
    else:
        (ended,) = monitor.close()
        if isinstance(ended, Unjudged):
            return not is_refused(rule, events, [ended], form)
        check_close(rule, ended, expected)
        check_said(requirement, said, events, expected)
        return True
    for event in events[end:]:
        progress = monitor.step([event])
        assert not progress.breaches, "a rule that cannot be judged says nothing"
    (ended,) = monitor.close()
    assert isinstance(ended, Unjudged)
    assert ended.why.strip()
    return False


def open_event(event: Event) -> Event:
    """An event whose call is in flight."""
    return replace(event, status="unknown", output=None)


def follow_in_flight(engine: MonitorEngine, trace: Trace, random: Random) -> None:
    """Whatever order calls end in, and whether or not the state is written down in between, nothing else is said."""
    events = trace.events
    monitor, whole = engine.run(), engine.run()
    said: list[Breach] = []
    expected: list[Breach] = []
    refused: set[int] = set()
    waiting: list[Event] = []
    begun = settled = 0
    while begun < len(events) or waiting:
        ended: list[Event] = []
        if waiting and (begun == len(events) or random.random() < 0.5):
            random.shuffle(waiting)
            count = random.randint(1, len(waiting))
            ended, waiting = waiting[:count], waiting[count:]
        new = list(events[begun : begun + random.randint(0 if ended else 1, 3)]) if begun < len(events) else []
        begun += len(new)
        if ended and random.random() < 0.5:
            progress = [monitor.step(ended)]
            ended = []
        else:
            progress = []
        if ended or new:
            if ended or random.random() < 0.5:
                progress.append(monitor.step([*ended, *new]))
            else:
                progress.append(monitor.step([open_event(event) for event in new], ended=False))
                waiting += new
        for one in progress:
            said += one.breaches
            refused |= {unjudged.rule for unjudged in one.unjudged}
        still = {event.id for event in waiting}
        while settled < begun and events[settled].id not in still:
            one = whole.step([events[settled]])
            settled += 1
            expected += one.breaches
            refused |= {unjudged.rule for unjudged in one.unjudged}
        left = [b for b in said if b.rule not in refused]
        assert by_rule(left) == by_rule([b for b in expected if b.rule not in refused])
        if not still:
            assert verdicts(monitor, refused) == verdicts(whole, refused)
            assert [o for o in monitor.pending() if o.rule not in refused] == [
                o for o in whole.pending() if o.rule not in refused
            ]
        if random.random() < 0.5:
            monitor = restored(engine, monitor)
    for one, other in zip(monitor.close(), whole.close(), strict=True):
        assert one == other or isinstance(one, Unjudged) or isinstance(other, Unjudged)
        if isinstance(one, Unjudged) != isinstance(other, Unjudged):
            at = (one if isinstance(one, Unjudged) else other).rule  # type: ignore[union-attr]
            assert bounds(engine.rules[at].requirement.theta), (one, other)


def by_rule(breaches: Sequence[Breach]) -> list[Breach]:
    """Breaches rule by rule, each rule's in the order reported."""
    return sorted(breaches, key=lambda breach: breach.rule)


def verdicts(monitor: RunMonitor, refused: set[int]) -> list[PrefixVerdict | None]:
    """The verdicts of the rules that are judged."""
    return [verdict for rule, verdict in enumerate(monitor.verdicts()) if rule not in refused]


def restored(engine: MonitorEngine, monitor: RunMonitor) -> RunMonitor:
    """A monitor that was written down and read again."""
    state = monitor.snapshot()
    assert monitor.snapshot() == state, "to write a state down changes it"
    again = engine.restore(state)
    assert again.snapshot() == state
    assert again.verdicts() == monitor.verdicts()
    assert again.pending() == monitor.pending()
    return again


def follow_proposing(engine: MonitorEngine, trace: Trace, random: Random) -> None:
    """What is said of a call ahead is what is said when it has ended well, and to ask changes nothing."""
    events, monitor, silent = trace.events, engine.run(), engine.run()
    refused: set[int] = set()
    at = 0
    while at < len(events):
        end = at + 1
        while end < len(events) and events[end].call == events[at].call:
            end += 1
        strange = [replace(e, id=f"p{e.id}", call="p") for e in random.sample(events, min(len(events), 2))]
        for proposed in (events[at:end], strange):
            refused |= check_proposal(engine, monitor, proposed)
        for event in events[at:end]:
            one, other = monitor.step([event]), silent.step([event])
            assert one == other
            refused |= {unjudged.rule for unjudged in one.unjudged}
        assert monitor.snapshot() == silent.snapshot()
        at = end
    assert monitor.close() == silent.close()


def check_proposal(engine: MonitorEngine, monitor: RunMonitor, proposed: Sequence[Event]) -> set[int]:
    """One proposal, nothing being in flight; the rules that could not be judged."""
    before = monitor.snapshot()
    well = [replace(event, status="ok", output=None) for event in proposed]
    ahead = monitor.propose(proposed)
    assert monitor.snapshot() == before
    assert monitor.propose(well) == ahead, "a call ahead is judged as if it succeeded"
    refused = {unjudged.rule for unjudged in ahead.unjudged}
    progress = engine.restore(before).step(well)
    refused |= {unjudged.rule for unjudged in progress.unjudged}
    for rule, written in enumerate(engine.rules):
        if rule in refused:
            continue
        said = [breach for breach in ahead.breaches if breach.rule == rule]
        if not reads_output(written.requirement):
            known = [breach for breach in progress.breaches if breach.rule == rule]
            assert said[: len(known)] == known, (proposed, said, known)
            if len(said) > len(known):
                check_last_chance(engine, before, well, rule, said)
        elif said:
            for output in OUTPUTS:
                other = engine.restore(before)
                # What an earlier step of the call would print guards nothing (docs/monitor.md).
                other.step([*well[:-1], replace(well[-1], output=output)])
                if any(isinstance(bound, core.Calls) for bound in bounds(written.requirement.theta)):
                    other.step([Event("next", "of no concern", "next", status="ok")])
                assert other.verdicts()[rule] in ("violated", None), (proposed, said, output)
    return refused


def check_last_chance(
    engine: MonitorEngine, state: bytes, proposed: Sequence[Event], rule: int, said: Sequence[Breach]
) -> None:
    """What is violated once a call is over, since whatever comes is of another call."""
    assert any(isinstance(bound, core.Calls) for bound in bounds(engine.rules[rule].requirement.theta)), said
    for action in ("of no concern", *sorted({event.action for event in proposed})):
        monitor = engine.restore(state)
        monitor.step(proposed)
        monitor.step([Event("next", action, "next", status="ok")])
        assert monitor.verdicts()[rule] in ("violated", None), said


def propose_beside_calls_in_flight(engine: MonitorEngine, events: Sequence[Event], flying: int) -> None:
    """The last event is proposed while some before it are in flight, each a call of its own.

    However these end, and if they never come to be: it is said to break the rule if it does in all of these cases, and
    only if it does in some.
    """
    (rule,) = engine.rules
    if len(events) <= flying or reads_output(rule.requirement):
        return
    done, waiting, proposed = events[: -1 - flying], events[-1 - flying : -1], replace(events[-1], status="ok")
    monitor = engine.run()
    monitor.step(done)
    if waiting:
        monitor.step([open_event(event) for event in waiting], ended=False)
    ahead = monitor.propose([proposed])
    assert len(set(ahead.breaches)) == len(ahead.breaches)
    seen = []
    for ends in _ends(waiting):
        other = engine.run()
        other.step([*done, *ends])
        seen.append(any(b.id == proposed.id for b in other.step([replace(proposed, output=None)]).breaches))
    said = any(b.id == proposed.id for b in ahead.breaches)
    assert said or not all(seen), "it breaks the rule in any case"
    assert not said or any(seen), "it breaks the rule in no case"


def _ends(waiting: Sequence[Event]) -> list[list[Event]]:
    """How calls in flight may turn out, each by itself; they may never happen."""
    found: list[list[Event]] = [[]]
    for event in waiting:
        kinds = [[], *([replace(event, status=status, output=None)] for status in ("ok", "error", "unknown"))]
        found = [[*before, *one] for before in found for one in kinds]
    return found


def follow_together(rules: Sequence[Rule], trace: Trace) -> None:
    """Rules followed together say what each says alone."""
    together = MonitorEngine(rules).run()
    alone = [MonitorEngine([rule]).run() for rule in rules]
    for event in trace.events:
        ahead, aheads = together.propose([event]), [monitor.propose([event]) for monitor in alone]
        progress, steps = together.step([event]), [monitor.step([event]) for monitor in alone]
        for whole, parts in ((ahead, aheads), (progress, steps)):
            for rule, part in enumerate(parts):
                assert [b for b in whole.breaches if b.rule == rule] == [replace_rule(b, rule) for b in part.breaches]
                assert {u.rule for u in whole.unjudged if u.rule == rule} == {rule for _ in part.unjudged}
        assert together.verdicts() == tuple(verdict for monitor in alone for verdict in monitor.verdicts())
        assert together.pending() == tuple(
            owed._replace(rule=rule) for rule, monitor in enumerate(alone) for owed in monitor.pending()
        )
    for rule, (one, monitor) in enumerate(zip(together.close(), alone, strict=True)):
        (other,) = monitor.close()
        assert one == (other._replace(rule=rule) if isinstance(other, Unjudged) else other)


def replace_rule(breach: Breach, rule: int) -> Breach:
    """A breach under another place of its rule."""
    return breach._replace(rule=rule)
