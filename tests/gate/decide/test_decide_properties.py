"""What holds of every decision, tried on generated cases; and that the naive decision is the same."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from tests.gate.decide.decisions import IMPLIED, LAYERS, NAMES, Case, case, rule, some_condition, table
from tests.gate.decide.long_run_decide import run
from vigil_lang.gate.decide import Decision, Table, decide
from vigil_lang.gate.decide.decision import WEIGHT
from vigil_lang.semantics import core

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vigil_lang.gate.decide import Rule

pytestmark = pytest.mark.slow

COUNT = 1_500
ROOT = Path(__file__).parents[3]


def cases(seed: int, count: int = COUNT) -> Iterator[tuple[Random, Case]]:
    random = Random(seed)
    for _ in range(count):
        yield random, case(random)


def of(one: Case, rules: Sequence[Rule] | None = None, **changed: Any) -> Decision:
    """What becomes of a case, with other rules or arguments than its own."""
    given = {"authority": one.authority, "tier": one.tier, "approvals": one.approvals, **changed}
    return decide(one.action, rules=table(one) if rules is None else Table(rules, IMPLIED), **given)


def weight(decision: Decision) -> int:
    return WEIGHT[decision.mode]


def standing(decision: Decision, *layers: str) -> int:
    """The most that reasons of some layers ask for and that nothing lifts."""
    return max((WEIGHT[e.asks] for e in decision.reasons if e.layer in layers and not e.lifted), default=0)


def test_the_naive_decision_is_the_same_and_everything_comes_up() -> None:
    counts = run(5_000, seed=11)
    least = {
        "pass": 1_000,
        "hold": 1_000,
        "block": 1_000,
        "fault": 500,
        "rule relaxed": 50,
        "statement relaxed": 20,
        "passes by 1 approvals": 300,
        "passes by 2 approvals": 5,
        "authority allows": 300,
        "held for the organisation": 200,
        "records": 1_000,
    }
    assert {name: counts[name] for name, count in least.items() if counts[name] < count} == {}


def test_the_same_arguments_give_the_same_bytes() -> None:
    for _, one in cases(1, 500):
        assert repr(of(one)) == repr(of(one))


PRINTED = """
import hashlib
from random import Random
from tests.gate.decide.decisions import case, table
from vigil_lang.gate.decide import decide
random, seen = Random(2), hashlib.sha256()
for _ in range(400):
    one = case(random)
    seen.update(ascii(decide(one.action, one.authority, one.tier, table(one), one.approvals)).encode())
print(seen.hexdigest())
"""


def test_the_bytes_do_not_depend_on_how_texts_are_hashed() -> None:
    found = {
        subprocess.run(
            [sys.executable, "-c", PRINTED],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "2", "4000000000")
    }
    assert len(found) == 1


def test_a_rule_more_that_relaxes_nothing_never_lowers_the_mode() -> None:
    raised = 0
    for random, one in cases(3):
        taken = {(each.layer, each.name) for each in one.rules}
        free = [(layer, name) for layer in LAYERS for name in NAMES if (layer, name) not in taken]
        more = replace(rule(random, *random.choice(free)), relaxes=())
        place = random.randint(0, len(one.rules))
        before, after = of(one), of(one, (*one.rules[:place], more, *one.rules[place:]))
        assert weight(after) >= weight(before)
        raised += weight(after) > weight(before)
    assert raised > 100


def test_a_personal_rule_more_never_lowers_what_the_organisation_asks_for() -> None:
    """Nor what its own layer asks for: only of the default layer it may relax a rule."""
    lowered = 0
    for random, one in cases(4):
        more = replace(rule(random, "personal", "new"), relaxes=NAMES)
        before, after = of(one, approvals=()), of(one, (*one.rules, more), approvals=())
        assert standing(after, "organisation") >= standing(before, "organisation")
        assert standing(after, "personal") >= standing(before, "personal")
        others = [
            [each for each in found.reasons if each.layer != "default" and each.name != "new"]
            for found in (before, after)
        ]
        assert others[0] == others[1]
        lowered += standing(after, "default") < standing(before, "default")
    assert lowered > 25


def test_order_and_grouping_of_rules_do_not_matter() -> None:
    for random, one in cases(5):
        rules = random.sample(one.rules, len(one.rules))
        first, second = of(one), of(one, rules)
        assert first.mode == second.mode
        assert set(first.approvals) == set(second.approvals)
        assert {(e.key, e.asks, e.lifted is None) for e in first.reasons} == {
            (e.key, e.asks, e.lifted is None) for e in second.reasons
        }


def test_without_relaxing_and_approvals_the_layers_are_joined() -> None:
    """The mode under rules of several layers is the greatest of those under each: a semilattice."""
    for random, one in cases(6):
        rules = [replace(each, relaxes=()) for each in one.rules]
        cut = random.randint(0, len(rules))
        parts = [of(one, part, approvals=()) for part in (rules[:cut], rules[cut:])]
        assert weight(of(one, rules, approvals=())) == max(map(weight, parts))
        renamed = [replace(each, name=f"{each.name}again") for each in rules]
        assert of(one, rules + renamed, approvals=()).mode == of(one, rules, approvals=()).mode


def test_an_approval_lowers_no_block_and_makes_nothing_but_a_pass_of_a_hold() -> None:
    for _, one in cases(7):
        before, after = of(one, approvals=()), of(one)
        assert (before.mode, after.mode) in {("pass", "pass"), ("hold", "hold"), ("hold", "pass"), ("block", "block")}
        assert (after.mode == before.mode) == (after == before)
        assert bool(after.approvals) == (after.mode != before.mode)
        held = {each.hold: each for each in one.approvals}
        for each in after.reasons:
            if each.lifted in held:
                used = held[each.lifted]
                assert each.asks == "hold"
                assert each.key in used.reasons
                assert each.who == "user" or used.by == "organisation"


def test_a_conjunct_more_in_the_authority_grants_no_more() -> None:
    narrowed = 0
    for random, one in cases(8):
        grants = one.authority.grants or (core.AndC(()),)
        some = replace(one.authority, grants=grants, open=False)
        more = some_condition(random)
        at = random.randrange(len(grants))
        inside = (*grants[:at], core.AndC((grants[at], more)), *grants[at + 1 :])
        before = of(one, authority=some, approvals=())
        for narrower in ((*grants, more), (more, *grants), inside):
            after = of(one, authority=replace(some, grants=narrower), approvals=())
            assert weight(after) >= weight(before)
            narrowed += len(after.reasons) > len(before.reasons)
        twice = of(one, authority=replace(some, grants=grants * 2), approvals=())
        assert twice == before
    assert narrowed > 250


def test_an_event_more_lowers_nothing_but_what_is_relaxed_or_broken() -> None:
    """A call that does something besides is not better for it."""
    for random, one in cases(9):
        rules = [replace(each, relaxes=()) for each in one.rules]
        extra = case(random).action.events
        bare = one._replace(action=replace(one.action, broken=()))
        longer = bare._replace(
            action=replace(bare.action, events=(*bare.action.events, *(e for e in extra if "." not in e.id)))
        )
        if one.action.events:
            assert weight(of(longer, rules, approvals=())) >= weight(of(bare, rules, approvals=()))
