"""What must not change an answer: facts about the language that hold on runs too long for the denotation."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from tests.differential.engines import by_solver
from tests.differential.shapes import FORMS, preset, requirement_of
from vigil_lang.trace import Event, Trace

if TYPE_CHECKING:
    from vigil_lang.semantics.core import Requirement

SEEDS = range(4)
UNBOUNDED = [form for form in FORMS if not form.startswith("bresp")]
ACTIONS = ("use", "check", "drop", "begin", "other")


def random_run(seed: int, size: int = 150, values: int = 12) -> Trace:
    """A run in which calls have one to three events, values meet often, and time goes by unevenly."""
    random, time, call = Random(seed), 0, 0
    events = []
    for at in range(size):
        call += random.random() < 0.7
        time += random.choice((0, 200_000, 1_000_000, 9_000_000))
        args = {name: (f"v{random.randrange(values)}",) for name in "fghk" if random.random() < 0.9}
        status, output = random.choice(("ok", "error")), random.choice((None, "", "v1 v2"))
        events.append(Event(f"e{at}", random.choice(ACTIONS), f"c{call}", args, status, output, (), time))
    return Trace(tuple(events))


def offenders(requirement: Requirement, trace: Trace) -> list[str]:
    """The ids of the offending events."""
    return [trace.events[at].id for at in by_solver(requirement, trace).events]


def cases(forms: list[str] | dict[str, str]) -> pytest.MarkDecorator:
    """Each form, plain and scoped."""
    shapes = [(form, scoped) for form in forms for scoped in (False, True)]
    return pytest.mark.parametrize(("form", "scoped"), shapes, ids=[f + " after" * s for f, s in shapes])


@pytest.mark.parametrize("seed", SEEDS)
@cases(UNBOUNDED)
def test_an_event_that_no_condition_mentions_changes_nothing(form: str, scoped: bool, seed: int) -> None:
    requirement, trace = preset(form, scoped=scoped), random_run(seed)
    before = by_solver(requirement, trace)
    stranger = Event("new", "unheard.of", "new call", {"f": ("v1",), "new": ("v1",)}, "ok", "v1")
    assert by_solver(requirement, Trace((*trace.events, stranger))) == before
    middle = Trace((*trace.events[:70], stranger, *trace.events[70:]))
    assert offenders(requirement, middle) == [trace.events[at].id for at in before.events]


@pytest.mark.parametrize("seed", SEEDS)
@cases(FORMS)
def test_renaming_values_renames_them_in_the_answer(form: str, scoped: bool, seed: int) -> None:
    requirement, trace = preset(form, scoped=scoped), random_run(seed)
    names = {value: f"w{len(trace.values) - at}|é" for at, value in enumerate(trace.values)}
    events = [
        replace(event, args={name: tuple(names[v] for v in texts) for name, texts in event.args.items()})
        for event in trace.events
    ]
    before, after = by_solver(requirement, trace), by_solver(requirement, Trace(tuple(events)))
    expected = tuple((at, tuple(v and names[v] for v in binding)) for at, binding in before.offences)
    assert (after.offences, after.exercised) == (expected, before.exercised)


@pytest.mark.parametrize("seed", SEEDS)
@cases(["abs", "prec", "atmost"])
def test_what_an_unbounded_past_has_condemned_stays_condemned(form: str, scoped: bool, seed: int) -> None:
    """For the forms that look back, the verdict on an event does not depend on what follows it."""
    requirement, trace = preset(form, scoped=scoped), random_run(seed)
    half = Trace(trace.events[:75])
    full = by_solver(requirement, trace).offences
    assert by_solver(requirement, half).offences == tuple(o for o in full if o[0] < 75)


AS_BODIES = {
    "abs({t})": "always not ({t})",
    "prec({t}, {g})": "always ({t} implies earlier {g})",
    "resp({t}, {g})": "always ({t} implies later {g})",
    "bresp[3]({t}, {g})": "always ({t} implies later[3] {g})",
    "bresp[10s]({t}, {g})": "always ({t} implies later[10s] {g})",
    "rslv({t}, {g})": "always ({t} implies {g} or later ({g} or {t}))",
    "prec({t}, {g}) after {b}": "always ({t} and earlier {b} implies earlier {g})",
    "resp({t}, {g}) after {b}": "always ({t} and earlier {b} implies later {g})",
    "abs({t}) after {b}": "always not ({t} and earlier {b})",
}
PATTERNS = (
    {"t": "use()", "g": "check()", "b": "begin()"},
    {"t": "use(f = x)", "g": "check(g = x)", "b": "begin(k = x)"},
    {"t": "use(f = x, g = y)", "g": "check(f = x, g = y)", "b": "begin(f = y)"},
    {"t": "use(f = x) and not g = x", "g": "(check(g = x) or status = error)", "b": "has output"},
    {"t": "(use(output contains x, f = x))", "g": "check(g = x)", "b": "begin()"},
)


@pytest.mark.parametrize("patterns", PATTERNS, ids=[p["t"] for p in PATTERNS])
@pytest.mark.parametrize("form", AS_BODIES)
def test_a_form_is_its_body_under_always(form: str, patterns: dict[str, str]) -> None:
    preset_form, body = requirement_of(form.format(**patterns)), requirement_of(AS_BODIES[form].format(**patterns))
    for seed in SEEDS:
        trace = random_run(seed, 60)
        expected, found = by_solver(preset_form, trace), by_solver(body, trace)
        assert found.events == expected.events
        if preset_form.variables == body.variables:
            assert found.offences == expected.offences
