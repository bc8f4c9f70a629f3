"""Which events meet a condition for some value of its variables, held against the denotation."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.strategies.core import conditions, patterns
from tests.strategies.policies import policies, policy_of
from tests.strategies.runs import runs, trace_of
from vigil_lang.base.recent import Recent
from vigil_lang.diagnostics import Source
from vigil_lang.engines.columns import MAX_TRIED, Columns, Numbers, places
from vigil_lang.engines.index import RunIndex
from vigil_lang.semantics import core, denotation
from vigil_lang.semantics.modules import FROM_DISK
from vigil_lang.semantics.policy import read_policy
from vigil_lang.syntax import tree
from vigil_lang.testing.expectations import answer
from vigil_lang.trace import Signature
from vigil_lang.trace.samples import Samples
from vigil_lsp.recordings.cached_run import CachedRun
from vigil_lsp.recordings.conditions import Meanings
from vigil_lsp.recordings.judging import Judging
from vigil_lsp.recordings.loading import Runs
from vigil_lsp.recordings.results import RunsSummary
from vigil_lsp.recordings.run_sources import RunSources, TrackedPolicy

if TYPE_CHECKING:
    from tests.strategies.runs import Line
    from vigil_lang.trace import Trace


def by_denotation(condition: core.Condition, trace: Trace) -> tuple[int, ...]:
    """The events that meet a condition under some binding, tried one by one."""
    requirement = core.Requirement(core.Holds(condition), core.variables_of(condition), None)
    bindings = list(denotation.bindings(requirement, trace))
    events = enumerate(trace.events)
    return tuple(at for at, event in events if any(denotation.meets(condition, event, b) for b in bindings))


@settings(max_examples=400, deadline=None)
@given(conditions(("x", "y"), 3) | patterns(("x", "y")), runs())
def test_events_that_meet_a_condition(condition: core.Condition, lines: list[Line]) -> None:
    trace = trace_of(lines)
    assert Columns(trace).events(condition) == by_denotation(condition, trace)


def read(text: str) -> Trace:
    """A run of actions `a` with the given arguments."""
    return trace_of([{"action": "a", "args": args} for args in json.loads(text)])


def test_a_variable_that_tests_share_has_one_value() -> None:
    columns = Columns(read('[{"f": "1", "g": "1"}, {"f": "1", "g": "2"}, {"f": ["1", "2"], "g": "2"}]'))
    f, g = core.Equals(core.Reads("f"), "x"), core.Equals(core.Reads("g"), "x")
    assert columns.events(core.AndC((f, g))) == (0, 2)
    assert columns.events(core.AndC((f, core.NotC(g)))) == (1, 2)
    assert columns.events(core.OrC((f, g))) == (0, 1, 2)
    assert columns.events(core.NotC(core.OrC((f, g)))) == (0, 1, 2)
    part = core.Contains(core.Reads("g"), "x")
    assert columns.events(core.AndC((f, part))) == (0, 2)


def test_a_variable_ranges_over_the_values_of_the_run() -> None:
    """What a view makes is one only where a test asks whether the variable equals it (spec 7.3, 7.12)."""
    columns = Columns(read('[{"f": ["M"], "g": ["M"]}, {"f": "3"}, {"f": "20"}]'))
    lower = core.Reads("f", views=(core.View("lower"),))
    part = core.Contains(lower, "x")
    assert columns.events(part) == (1, 2)
    assert columns.events(core.AndC((part, core.Equals(lower, "y")))) == (0, 1, 2)
    assert columns.events(core.ComparesWith(core.Reads("f"), "<", "x")) == (1,)
    assert columns.events(core.ComparesWith(core.Reads("f"), "<=", "x")) == (1, 2)
    between = core.AndC(tuple(core.ComparesWith(core.Reads(f), o, "x") for f, o in (("f", "<"), ("h", ">"))))
    assert Columns(read('[{"f": "1", "h": "4"}]')).events(between) == ()
    assert Columns(read('[{"f": "1", "h": "4"}, {"g": "2.5"}]')).events(between) == (0,)


def test_many_numbers_are_no_dearer_than_few() -> None:
    columns = Columns(read(json.dumps([{"f": str(number)} for number in range(2_000)])))
    assert columns.events(core.ComparesWith(core.Reads("f"), ">", "x")) == tuple(range(1, 2_000))


def test_what_would_take_too_long_is_not_counted() -> None:
    many = list(map(str, range(int(MAX_TRIED**0.5) + 1)))
    columns = Columns(read(json.dumps([{"f": many, "g": many}])))
    pairs = [core.Equals(core.Reads(field), x) for x in "xy" for field in "fg"]
    assert columns.events(core.AndC(tuple(pairs))) is None


def test_many_events_are_as_dear_as_one() -> None:
    texts = list(map(str, range(20)))
    columns = Columns(read(json.dumps([{"f": texts, "g": texts}] * 1_000)))
    f, g = ([core.Contains(core.Reads(field), x) for x in "xy"] for field in "fg")
    assert columns.events(core.AndC((*f, *g))) is None
    assert columns.events(core.AndC((f[0], g[1]))) == tuple(range(1_000))


@given(st.sets(st.integers(0, 300)))
def test_places_are_those_of_the_bits(found: set[int]) -> None:
    assert places(sum(1 << at for at in found)) == sorted(found)


def test_numbers_are_of_meanings() -> None:
    numbers = Numbers(2)
    one, other = core.Has(core.Reads("f")), core.Has(core.Reads("g"))
    known = numbers.of(one)
    assert numbers.of(core.Has(core.Reads("f"))) == known
    assert numbers.of(other) != known
    assert len({numbers.of(core.Has(core.Reads(name))) for name in "fghijklm"}) == 8
    assert numbers.of(one) not in {known, numbers.of(other)}


def test_what_was_used_lately_is_remembered() -> None:
    recent: Recent[int, int] = Recent(3)
    for number in range(20):
        recent.put(number, -number)
        assert recent.get(0) == 0
        assert len(recent) <= 6
    assert [recent.get(number) for number in (19, 18, 17, 5)] == [-19, -18, -17, None]
    assert recent.get(0) == 0


@settings(max_examples=100, deadline=None)
@given(policies(), runs())
def test_a_run_says_of_a_statement_what_tests_are_judged_by(text: str, lines: list[Line]) -> None:
    (statement,) = policy_of(text).statements
    trace = trace_of(lines)
    found, expected = CachedRun(trace).answer(statement), answer(statement, RunIndex(trace))
    assert [at for at, _, _ in found.offending] == [at for at, _ in expected.offending]
    assert [event for _, event, _ in found.offending] == [trace.events[at].id for at, _ in expected.offending]


def test_the_message_is_that_of_the_verdict() -> None:
    from vigil_lang.engines.smt.verify import verify

    text = '@message("{x}!")\nstatement S: prec(a(f = x), b(f = x))\nstatement T: until(a(f = x), b(), a(g = x))\n'
    policy = read_policy(Source("p.vgl", text))
    trace = read('[{"f": ["2", "1"]}, {"f": "3", "g": "1"}]')
    recorded = CachedRun(trace)
    for statement, verdict in zip(policy.statements, verify([policy], trace).statements, strict=True):
        expected = tuple((offence.index, offence.event, offence.message) for offence in verdict.offending)
        assert recorded.answer(statement).offending == expected
    assert recorded.answer(policy.statements[0]).offending[0] == (0, "e1", "2!")


def counted(text: str) -> dict[str, core.Condition]:
    """The conditions of a policy by how they are written."""
    policy = read_policy(Source("p.vgl", text))
    items = [item for item in policy.module.file.items if isinstance(item, tree.Pattern | tree.Statement)]
    meanings = Meanings(policy)
    return {text[span.start : span.end]: condition for item in items for span, condition in meanings.of(item)}


def test_every_condition_of_a_text_is_found() -> None:
    text = """let L = {1, 2}
pattern p(x, y) = action in {a} and f = x and (g contains y or not has h)
pattern q(n) = amount < n
pattern r(t) = name ~ t
statement S: always (p(v, "w") and status = ok) implies earlier[2] (a(k in L) or later b())
statement T: abs(nobody(x)) after a()
"""
    assert list(counted(text)) == [
        "action in {a} and f = x and (g contains y or not has h)", "action in {a}", "f = x",
        "(g contains y or not has h)", "g contains y", "not has h", "has h", "name ~ t",
        '(p(v, "w") and status = ok)', 'p(v, "w")', "status = ok", "a(k in L)", "k in L", "b()", "a()",
    ]  # fmt: skip


def test_parameters_stand_for_one_value_each() -> None:
    found = counted("pattern p(x) = f = x and g = x\npattern q(x) = p(x) and h != x\n")
    x = core.Equals(core.Reads("f"), "x"), core.Equals(core.Reads("g"), "x")
    assert found["f = x and g = x"] == core.AndC(x)
    assert found["h != x"] == core.Has(core.Reads("h"))


EDITS = (
    "let L = {1, 2}\n", "let L = {1}\n", "pattern p(x) = a(f = x) and g in L\n", "pattern p(x) = a(g = x)\n",
    "pattern q = p(y) or b()\n", "pattern q = b()\n", "statement S: abs(q)\n", "statement T: prec(p(x), b(f = x))\n",
    "statement T: prec(a(f in L), q)\n", "statement U: abs(not q)\n", "param L: set = {7}\n",
    '@message("one")\nstatement V: abs(b())\n', '@message("two")\nstatement V: abs(b())\n',
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.lists(st.lists(st.sampled_from(EDITS), max_size=6).map("".join), min_size=2, max_size=4), runs())
def test_what_is_remembered_of_older_texts_changes_nothing(texts: list[str], lines: list[Line]) -> None:
    held = Runs(RunSources(("r.jsonl",)))
    held.recorded = (CachedRun(trace_of(lines)),)
    held.summary = RunsSummary(1, Signature({}, "observed"), Samples(), ())
    before = None
    for text in texts:
        source, tracked = Source("p.vgl", text), TrackedPolicy("p.vgl", text, held.sources, ".", shown=True)
        fresh, remembering = Judging(tracked, source, held), Judging(tracked, source, held, before)
        for judging in (fresh, remembering):
            list(judging.steps(FROM_DISK))
            assert judging.complete
        assert remembering.result() == fresh.result()
        before = remembering.counted
