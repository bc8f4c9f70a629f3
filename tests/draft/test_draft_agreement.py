"""What two sets of statements say of runs: the comparison behind `vigil draft --eval`, and how well it tells."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from msgspec.structs import replace

from vigil_lang.diagnostics import Source
from vigil_lang.draft.evaluation.agreement import compare, judge, same_as_written, trials
from vigil_lang.draft.evaluation.generated_runs import generated
from vigil_lang.draft.evaluation.gold import Gold, find
from vigil_lang.draft.evaluation.plausible_events import Plausible
from vigil_lang.engines.index import RunIndex
from vigil_lang.semantics import core
from vigil_lang.semantics.lower import Statement
from vigil_lang.semantics.policy import read_policy
from vigil_lang.testing.mutants import mutants
from vigil_lang.trace.event import Event, Trace

GOLD = Path(__file__).parents[2] / "examples" / "gold"


def statements(*forms: str) -> list[Statement]:
    text = "".join(f"statement s{at}: {form}\n" for at, form in enumerate(forms))
    policy = read_policy(Source("rules.vgl", text))
    assert not policy.errors
    return list(policy.statements)


def agreement(gold: list[Statement], other: list[Statement]) -> str:
    return compare(gold, other, trials(gold, other, (), "seed", 90)).agreement


@pytest.mark.parametrize(
    ("gold", "other", "expected"),
    [
        # the same in other words
        ("prec(write(path = x), read(path = x))", "prec(write(path = y), read(path = y))", "agree"),
        ("abs(a(k = 1) and m = 2)", "abs(m = 2 and a(k = 1))", "agree"),
        ("abs(a(not has k))", "always a() implies has k", "agree"),
        ("prec(a(), b())", "always a() implies earlier b()", "agree"),
        ("atmost[2](a(k = x))", "atmost[2](a(k = y))", "agree"),
        ("abs(run(command ~ /rm -rf/))", 'abs(run(command ~ "*rm -rf*"))', "agree"),
        # one step apart
        ("prec(write(path = x), read(path = x))", "prec(write(has path), read())", "too weak"),
        ("prec(write(has path), read())", "prec(write(path = x), read(path = x))", "too strict"),
        ("prec(a(), b(status = ok))", "prec(a(), b())", "too weak"),
        ("prec(a(), b())", "prec(a(), b(not status = error))", "too strict"),
        ("atmost[3](a())", "atmost[4](a())", "too weak"),
        ("atmost[40](a())", "atmost[39](a())", "too strict"),
        ("bresp[3](a(), b())", "bresp[4](a(), b())", "too weak"),
        ("bresp[30s](a(), b())", "bresp[20s](a(), b())", "too strict"),
        ("resp(a(), b())", "rslv(a(), b())", "too weak"),
        ("abs(a(k in {1, 2, 3}))", "abs(a(k in {1, 2}))", "too weak"),
        ("abs(a(k != 1))", "abs(a(not k = 1))", "both"),
        ("abs(a(n >= 10))", "abs(a(n > 10))", "too weak"),
        ('abs(write(path ~ "*/a/*.md"))', 'abs(write(path ~ "*/a/?.md"))', "too weak"),
        ("abs(a(k ~ /^v[0-9]+$/))", "abs(a(k ~ /^v[0-9]+/))", "too strict"),
        ("abs(a()) after b()", "abs(a())", "too strict"),
        ("until(a(k = x), b(), c(k = x))", "until(a(k = x), b(k = x), c(k = x))", "too strict"),
        ("abs(a())", "abs(b())", "both"),
        # between two limits, and beyond what a short run shows
        ("abs(sample(temperature > 0.7))", "abs(sample(temperature >= 1))", "too weak"),
        ("abs(a(n > 3))", "abs(a(n >= 4))", "too weak"),
        ("bresp[100](a(), b())", "bresp[200](a(), b())", "too weak"),
        ("atmost[100](a())", "atmost[101](a())", "too weak"),
        # one event that meets two conditions, a value inside another, a list without values
        ("rslv(a(p = x), b(p = x))", "resp(a(p = x), b(p = x) or a(p = x))", "too strict"),
        ("prec(a(), b())", "always a() implies earlier b() or b()", "too weak"),
        ("abs(a(t contains x)) after b(output = x)", "abs(a(t = x)) after b(output = x)", "too weak"),
        ('abs(a(p ~ "*"))', "abs(a(has p))", "too strict"),
        # what every run has together: kinds that others imply, a program's name, a tool and its kind
        ("abs(scancel())", 'abs(job.cancel(program = "scancel"))', "agree"),
        ("abs(rm(path ~ /x/))", 'abs(process.run(program = "rm", path ~ /x/))', "agree"),
        ("abs(rm(path ~ /x/))", "abs(file.delete(path ~ /x/))", "too strict"),
        ("abs(Bash(command ~ /x/))", "abs(shell.run(command ~ /x/))", "agree"),
        ("abs(file.write(path ~ /x/))", "abs(action in {file.write, file.edit} and path ~ /x/)", "agree"),
        ('abs(nel(subcommand = "a"))', 'abs(process.run(program = "nel", subcommand = "a"))', "agree"),
        # the same verdict, another event: a trigger is at fault where the other blames what came too late
        ("until(a(), b(), c())", "always c() implies not earlier a() or earlier b()", "both"),
    ],
)
def test_two_statements(gold: str, other: str, expected: str) -> None:
    assert agreement(statements(gold), statements(other)) == expected


def test_sets_of_statements_are_compared_as_a_whole() -> None:
    both = statements("abs(a())", "abs(b())")
    assert agreement(both, statements("abs(b() or a())")) == "agree"
    assert agreement(both, statements("abs(b())")) == "too weak"
    assert agreement(both, statements("abs(b())", "abs(a())")) == "agree"
    assert same_as_written(both, statements("abs(b())", "abs(a())"))
    assert not same_as_written(both, statements("abs(b() or a())"))


def test_what_no_run_breaks_is_unclear() -> None:
    empty, other = statements("abs(a(k = 1 and not k = 1))"), statements("abs(a(k = 2 and not k = 2))")
    result = compare(empty, other, trials(empty, other, (), "seed"))
    assert (result.agreement, result.breaking, result.differing, result.witness) == ("unclear", 0, 0, None)


def test_what_is_written_alike_agrees_though_no_run_breaks_it() -> None:
    long = statements("atmost[999](a())")
    result = compare(long, long, trials(long, long, (), "seed", 30))
    assert (result.agreement, result.breaking, result.proved) == ("agree", 0, True)


def test_the_witness_is_a_short_run_with_opposite_verdicts() -> None:
    gold, other = statements("prec(a(), b())"), statements("prec(a(), c())")
    result = compare(gold, other, trials(gold, other, (), "seed"))
    assert result.witness is not None
    assert bool(result.witness.gold) != bool(result.witness.other)
    assert len(result.witness.run.events) == 2
    assert 0 < result.opposed <= result.differing < result.runs


def test_runs_are_made_anew_the_same_and_in_number() -> None:
    gold, other = statements("prec(write(path = x), read(path = x))"), statements("abs(write())")
    runs = trials(gold, other, (), "seed")
    assert runs == trials(gold, other, (), "seed")
    assert runs != trials(gold, other, (), "another")
    assert len(generated([[gold[0].requirement]], (), "seed")) >= 200
    assert {event.id for run in runs for event in run.events[:1]} == {"e1"}


@pytest.mark.parametrize(
    ("made", "action", "kinds", "args"),
    [
        (Event("e", "git.push", "e", {"program": ("git",)}), "git",
         {"process.run", "git.push", "net.upload", "net.request"}, {"program": ("git",), "subcommand": ("push",)}),
        (Event("e", "process.run", "e", {"program": ("rm",)}), "rm", {"process.run", "file.delete"},
         {"program": ("rm",)}),
        (Event("e", "ourtool", "e"), "ourtool", {"process.run"}, {"program": ("ourtool",)}),
        (Event("e", "file.write", "e", {"program": ("cp",)}), "file.write", {"file.write"}, {"program": ("cp",)}),
        (Event("e", "file.append", "e"), "file.append", {"file.append", "file.edit", "file.write"}, {}),
        (Event("e", "shell.run", "e"), "Bash", {"shell.run"}, {}),
        (Event("e", "open", "e"), "open", set(), {}),
        (Event("e", "deploy", "e"), "deploy", set(), {}),
    ],
)  # fmt: skip
def test_made_up_events_are_such_as_runs_have(
    made: Event, action: str, kinds: set[str], args: dict[str, tuple[str, ...]]
) -> None:
    """A name that was recorded as that of a tool is none of a program, whatever the catalogue knows."""
    conditions = [
        holds.condition
        for statement in statements("abs(ourtool(flag = 1))", "abs(Bash(command ~ /x/))", "abs(git(subcommand = 1))")
        for holds in core.conditions(statement.requirement.theta)
    ]
    found = Plausible(conditions, [Trace((Event("e1", "open", "c1"),))]).event(made)
    assert (found.action, set(found.kinds), found.args) == (action, kinds, args)


def test_recorded_values_are_lent_to_the_runs() -> None:
    gold = next(gold for gold in golds() if gold.policy.name == "inject-files")
    packed = [s for s in gold.policy.statements if s.name == "archives_validated"]
    runs = generated([[s.requirement for s in packed]], gold.runs, "seed")
    assert any(e.values("path") == ("/repo/report.csv",) for run in runs for e in run.events)
    assert max(len(run.events) for run in runs) > 3


# --- how well it tells ---------------------------------------------------------------------------------------------


def turned(node: core.Condition) -> core.Condition:
    """The condition with its operands the other way round and other names for the variables."""
    match node:
        case core.AndC(items) | core.OrC(items):
            return replace(node, items=tuple(turned(item) for item in reversed(items)))
        case core.NotC(body):
            return core.NotC(turned(body))
        case core.Equals(field, x) | core.Contains(field, x):
            return type(node)(field, f"the_{x}")
        case core.ComparesWith(field, operator, x):
            return core.ComparesWith(field, operator, f"the_{x}")
        case _:
            return node


def turned_where(theta: core.Theta) -> core.Theta:
    """The body with other names for the variables in its `where`."""
    match theta:
        case core.Where(condition):
            named = core.mapped_tests(condition, lambda test: replace(test, field=core.Reads(f"the_{test.field.name}")))
            return replace(theta, condition=turned(named))
        case core.And(items):
            return core.And(tuple(map(turned_where, items)))
        case core.Not(body):
            return core.Not(turned_where(body))
        case core.Implies(left, right):
            return core.Implies(turned_where(left), turned_where(right))
        case _:
            return theta


def renamed(statement: Statement) -> Statement:
    def changed(theta: core.Theta) -> core.Theta:
        return turned_where(core.mapped(theta, lambda holds: replace(holds, condition=turned(holds.condition))))

    old = statement.requirement
    theta = changed(old.theta)
    trigger = None if old.trigger is None else changed(old.trigger)
    requirement = core.Requirement(theta, core.variables_of(theta), trigger)
    return Statement(statement.name, statement.form, requirement, statement.syntax, statement.source)


@cache
def golds() -> tuple[Gold, ...]:
    return find(str(GOLD)).gold


@pytest.mark.unmeasured
def test_gold_statements_agree_with_themselves_under_other_names_and_in_another_order() -> None:
    every = [(gold, statement) for gold in golds() for statement in gold.policy.statements]
    for gold, statement in every[::9]:
        other = renamed(statement)
        assert same_as_written([statement], [other]), statement.name
        runs = generated([[statement.requirement], [other.requirement]], gold.runs, statement.name, 80)
        assert compare([statement], [other], runs).agreement == "agree", statement.name


def test_mutants_of_gold_statements_are_told_apart() -> None:
    """By made-up runs alone: the search that looks for one run on purpose is left out."""
    tried, missed = 0, []
    for gold in golds():
        for mutant in mutants([gold.policy])[0][::36]:
            pair = mutant.mutated[0]
            sides = [[pair.statement.requirement], [pair.mutant.requirement]]
            runs = map(RunIndex, generated(sides, gold.runs, pair.statement.name))
            judged = (judge([pair.statement], [pair.mutant], run) for run in runs)
            tried += 1
            if all(each.gold == each.other for each in judged):
                missed.append(f"{gold.policy.name}: {pair.statement.name}, {mutant.told}")
    print(f"\n{tried - len(missed)} of {tried} mutants of gold statements are told apart; not: {missed}")
    assert tried >= 9
    assert not missed


def test_a_whole_recording_is_no_obstacle() -> None:
    gold, other = statements("abs(a())"), statements("abs(a(status = ok) or a(not status = ok))")
    run = Trace(())
    assert compare(gold, other, [run]).agreement == "unclear"
    assert generated([[gold[0].requirement]], [run], "seed", 30)
