"""Which events a verdict rests on where outputs were cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from vigil_lang.abstraction.bounded_output import bounded
from vigil_lang.diagnostics import Source
from vigil_lang.engines.smt.verify import verify
from vigil_lang.semantics.policy import read_policy
from vigil_lang.semantics.truncated_output import rests_on_cut
from vigil_lang.trace import Event, Trace

CUT = {"truncated": 100}


def run(*events: Event) -> Trace:
    return Trace(events)


def event(name: str, output: str | None = "seen", *, cut: bool = True, action: str = "Bash", **args: str) -> Event:
    values: dict[str, tuple[str, ...]] = {name: (value,) for name, value in args.items()}
    return Event(name, action, name, values, "ok", output, extra=CUT if cut else {})


def resting(form: str, *events: Event) -> tuple[str, ...]:
    """The events that a statement's verdict rests on."""
    policy = read_policy(Source("p.vgl", f"statement A: {form}"))
    assert not policy.errors
    (statement,) = policy.statements
    return rests_on_cut(statement.requirement, run(*events))


# --- which events ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "statement",
    [
        'abs(output contains "x")',
        'abs(output ~ "*x*")',
        "abs(output ~ /x/)",
        'abs(output !~ "*x*")',
        'abs(output = "x")',
        'abs(output in {"x", "y"})',
        "abs(output < 3)",
        'abs(not output contains "x")',
        'abs(Bash(output contains "x"))',
        'abs(Bash(output contains "x" or status = ok and output = "y"))',
        'abs(output contains "x" and not status = error)',
        'prec(Write(), Bash(output contains "x"))',
        'resp(Bash(output contains "x"), Write())',
        'always not output contains "x"',
        "prec(Write(path = p), output contains p)",
        "always (output = x implies earlier path = x)",
        'abs(has output:json("total"))',
        'abs(output:json("total") > 500)',
        'abs(output with (total = 3 and note = "x"))',
        "abs(output >= x) after path = x",
        "atmost[2](Bash(), distinct output)",
        'budget[100](Bash(), output:json("cost"))',
        "always not repeated[2](Bash(), distinct output:lower)",
    ],
)
def test_a_condition_on_the_output_rests_on_what_was_cut(statement: str) -> None:
    assert resting(statement, event("a"), event("b", cut=False), event("c")) == ("a", "c")


@pytest.mark.parametrize(
    "statement",
    [
        "abs(Bash())",
        'abs(Bash(path = "x"))',
        'abs(Bash(input.output = "x"))',
        'abs(Write(output contains "x"))',
        'abs(output contains "x" and status = error)',
        'abs(output contains "x" and not status = ok)',
        'abs(Write(output = "x") or Read(output = "y"))',
        'abs(output contains "x" and action = Write)',
        'abs(output contains "x" or action = Bash)',  # it is met, whatever the output was
        'prec(Bash(), Write(output contains "x"))',
    ],
)
def test_a_condition_that_is_decided_otherwise_does_not(statement: str) -> None:
    assert resting(statement, event("a")) == ()


def test_what_the_other_arguments_decide_is_decided() -> None:
    statement = 'abs(Bash(command ~ "make*", output contains "x"))'
    assert resting(statement, event("a", command="make all"), event("b", command="ls"), event("c")) == ("a",)


def test_an_output_that_was_not_cut_is_known() -> None:
    statement = 'abs(output contains "x")'
    assert resting(statement, event("a", cut=False)) == ()
    for whole in (None, 0, False):
        assert resting(statement, replace(event("a"), extra={"truncated": whole})) == ()


def test_a_variable_may_have_any_value() -> None:
    statement = "prec(Bash(path = p, output contains p), Write(path = p))"
    assert resting(statement, event("a", path="x"), event("b", action="Write", path="x")) == ("a",)


# --- in a verdict ------------------------------------------------------------------------------------------


def verdict(statements: str, trace: Trace) -> dict[str, tuple[str, ...]]:
    policy = read_policy(Source("p.vgl", statements))
    return {found.name: found.truncated for found in verify([policy], trace).statements}


def test_each_statement_says_what_it_rests_on() -> None:
    statements = (
        'statement A: abs(output contains "x")\nstatement B: abs(Bash())\nstatement C: abs(Bash(output = "y"))\n'
    )
    trace = run(event("a", action="Write"), event("b"), event("c", cut=False))
    assert verdict(statements, trace) == {"A": ("a", "b"), "B": (), "C": ("b",)}


def test_the_published_form_names_them_only_where_there_are_some() -> None:
    policy = read_policy(Source("p.vgl", 'statement A: abs(output contains "x")\nstatement B: abs(Bash())\n'))
    one, other = verify([policy], run(event("a"))).to_json()["statements"]
    assert one["truncated"] == ["a"]
    assert "truncated" not in other


@given(
    st.text("xab", max_size=12).map(lambda text: text.replace("a", "a" * 60).replace("b", "b" * 60)),
    st.sampled_from(
        ['output contains "x"', 'not output contains "x"', 'output ~ "*x*" and Bash()', "Write() or Bash()"]
    ),
)
def test_a_verdict_that_cutting_changes_says_so(output: str, condition: str) -> None:
    policy = read_policy(Source("p.vgl", f"statement A: abs({condition})"))
    whole = run(Event("a", "Bash", "a", {}, "ok", output))
    kept, cut = bounded(output, 256)
    short = run(Event("a", "Bash", "a", {}, "ok", kept, extra={"truncated": cut} if cut else {}))
    (of_whole,), (of_short,) = (verify([policy], trace).statements for trace in (whole, short))
    assert of_whole.verdict == of_short.verdict or of_short.truncated == ("a",)
    assert of_whole.truncated == ()
