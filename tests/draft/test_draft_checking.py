"""A drafted statement is checked by itself: against the signature, the runs, its sentence, and its own text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from draft_requirements import any_of, arg, called, clause, hostile_requirements, requirements
from hypothesis import HealthCheck, given, settings

from vigil_lang import Event, Trace
from vigil_lang.analysis.counterexample import counterexample
from vigil_lang.diagnostics import Source
from vigil_lang.draft.checks.acceptance import Accepted, judged
from vigil_lang.draft.checks.statement_check import MAX_PROBLEMS, MAX_STATEMENTS, Checks
from vigil_lang.draft.clause_result import Answer, Condition, Requirement
from vigil_lang.draft.clause_result import Test as Asked
from vigil_lang.semantics.policy import read_policy
from vigil_lang.syntax import parse
from vigil_lang.syntax.print import to_text
from vigil_lang.trace import Signature, observe
from vigil_lang.trace.signature import Action, Argument

if TYPE_CHECKING:
    from pathlib import Path

    from vigil_lang.draft.checks.statement_check import Checked


def event(at: int, action: str, kind: str = "", **args: str) -> Event:
    given = {name: (value,) for name, value in args.items()}
    return Event(f"e{at}", action, f"e{at}", given, "ok", None, (kind,) if kind else ())


RUN = Trace((event(1, "pytest", "test.run"), event(2, "deploy", env="prod", count="3"), event(3, "deploy", env="dev")))
BAD = Trace((event(1, "deploy", env="prod", count="9"),))
IDLE = Trace((event(1, "ls", "dir.list", path="/work"),))
RUNS = (RUN, BAD, IDLE)
DECLARED = Signature(
    {"deploy": Action({"env": Argument(frozenset({"text"}), values=frozenset({"prod", "dev"}))})}, "declared"
)
NO_DEPLOYMENT = "Never deploy."


def never(action: str, *tests: Asked) -> Requirement:
    return Requirement("never_so", "", "abs", any_of(called(action, *tests)))


def before(action: str, guard: str) -> Requirement:
    return Requirement("first", "", "prec", any_of(called(action)), any_of(called(guard)))


def check(
    sentence: str,
    *wanted: Requirement,
    signature: Signature | None = None,
    runs: tuple[Trace, ...] = RUNS,
) -> Checked:
    return Checks(signature or observe(RUNS), runs).check(wanted, clause(sentence))


def test_a_statement_is_judged_on_the_runs() -> None:
    (one,) = check("Run the tests before you deploy.", before("deploy", "test.run")).drafted
    assert (one.run_counts.runs, one.run_counts.exercised, one.run_counts.violated) == (3, 2, 1)
    (one,) = check("Run the tests before you deploy.", before("deploy", "test.run"), runs=()).drafted
    assert (one.run_counts.runs, one.run_counts.exercised, one.run_counts.violated) == (0, 0, 0)
    (one,) = check(NO_DEPLOYMENT, never("deploy"), runs=(RUN, BAD)).drafted
    assert one.notes == ("every run breaks it",)


# --- what cannot be grounded ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "sentence", "requirement"),
    [
        ("VGL401", NO_DEPLOYMENT, never("depoly")),
        ("VGL401", NO_DEPLOYMENT, never("launch_rocket")),
        ("VGL401", "Test before you deploy.", before("deploy", "smoke_test")),
        ("VGL402", "Never deploy to a region.", never("deploy", arg("region", "is", "eu"))),
        ("VGL403", "Never deploy to more than 3.", never("deploy", arg("env", ">", "3"))),
        ("VGL404", "Never deploy to `prod`.", never("deploy", arg("count", "is", "prod"))),
    ],
)
def test_unknown_names_and_types_are_refused(code: str, sentence: str, requirement: Requirement) -> None:
    found = check(sentence, requirement)
    assert found.drafted == ()
    assert any(code in problem for problem in found.problems)


def test_a_variable_that_nothing_binds_is_refused_with_how_to_bind_it() -> None:
    found = check(NO_DEPLOYMENT, never("deploy", arg("env", "mentions", "x")))
    assert found.drafted == ()
    assert found.problems == (
        "nothing binds `x`: in what is forbidden, `contains` gives it no value (VGL320); bind it by `=` in what is "
        'forbidden or at an event before, as in `after output = x`; a text is written `"x"`',
    )


def test_kinds_need_not_have_been_seen_nor_values() -> None:
    (one,) = check("Never delete files.", never("file.delete")).drafted
    assert one.run_counts.exercised == 0
    (one,) = check("Never deploy to `stage`.", never("deploy", arg("env", "is", "stage"))).drafted
    assert one.statement.name.text == "never_so"
    assert check("Ask the user before you deploy.", before("deploy", "user.ask")).drafted


def test_values_count_where_they_were_declared() -> None:
    found = check("Never deploy to `stage`.", never("deploy", arg("env", "is", "stage")), signature=DECLARED, runs=())
    assert any("VGL405" in problem for problem in found.problems)
    assert check(
        "Never deploy to `prod`.", never("deploy", arg("env", "is", "prod")), signature=DECLARED, runs=()
    ).drafted


def test_no_value_of_a_run_is_in_what_goes_back_to_a_model() -> None:
    secret = Trace((event(1, "deploy", env="sk-live-51Jx", key="hunter2"),))
    signature = observe([secret])
    for wanted in (
        never("deploy", arg("env", "is", "other")),
        never("deploy", arg("env", "glob", "zz*")),
        never("deploy", arg("env", ">", "3")),
        never("deploy", arg("kee", "is", "other")),
        never("deplo", arg("env", "regex", "^x")),
        before("deploy", "nothing"),
    ):
        found = Checks(signature, (secret,)).check([wanted], clause("Never deploy to `other` before nothing."))
        assert "sk-live" not in str(found.problems)
        assert "hunter2" not in str(found.problems)


# --- against the sentence ------------------------------------------------------------------------------------------


def test_a_number_of_the_sentence_must_be_in_a_statement() -> None:
    found = check("Never deploy more than 3 of them.", never("deploy"))
    assert any("VGL70" in text for text in found.problems) or found.doubts


def test_what_no_statement_has_of_a_sentence_is_refused() -> None:
    found = check("Never deploy to `prod`.", never("deploy", arg("env", "is", "dev")))
    assert any("VGL702" in problem for problem in found.problems)


def test_statements_of_one_clause_share_its_names_and_limits() -> None:
    sentence = "Never deploy to `prod`, and test a failed build again before you deploy to `dev`."
    prod = never("deploy", arg("env", "is", "prod"))
    dev = Requirement(
        "again",
        "",
        "prec",
        any_of(called("deploy", arg("env", "is", "dev"))),
        any_of(called("test.run", Asked("status", "is", values=("ok",)))),
    )
    both = check(sentence, prod, dev)
    assert len(both.drafted) == 2
    assert not any("`prod`" in doubt.message or "`dev`" in doubt.message for doubt in both.doubts)
    alone = check(sentence, prod)
    assert alone.problems or alone.doubts


def test_an_order_that_the_sentence_has_the_other_way_round_is_refused() -> None:
    found = check(
        "Run the tests before you deploy.",
        Requirement("x", "", "resp", any_of(called("deploy")), any_of(called("test.run"))),
    )
    assert any("VGL703" in problem for problem in found.problems)


def test_a_doubt_goes_back_once_and_is_then_a_remark() -> None:
    sentence = "Do not deploy to `prod` or `stage`."
    answer = Answer("c1", "statements", statements=(never("deploy", arg("env", "is", "prod")),))
    checks = Checks(observe(RUNS), RUNS)
    first = judged(answer, clause(sentence), checks, ())
    assert isinstance(first, tuple)
    assert "VGL702" in first[0]
    again = judged(answer, clause(sentence), checks, first)
    assert isinstance(again, Accepted)
    assert any("VGL702" in note for note in again.statements[0].notes)
    assert isinstance(judged(answer, clause(sentence), checks), Accepted)


def test_documents_are_found_from_where_the_policy_will_be(tmp_path: Path) -> None:
    (tmp_path / "SKILL.md").write_text("# Skill\n\nNever deploy.\n", encoding="utf-8")
    checks = Checks(observe(RUNS), RUNS, str(tmp_path / "policy.vgl"))
    assert checks.check([never("deploy")], clause(NO_DEPLOYMENT)).drafted
    other = checks.check([never("deploy")], clause("Never deploy on Friday."))
    assert any("VGL704" in problem for problem in other.problems)
    assert checks.check([never("deploy")], clause(NO_DEPLOYMENT, path="gone.md")).drafted


# --- limits --------------------------------------------------------------------------------------------------------


def test_statements_are_bounded_in_size_and_number() -> None:
    wide = never("deploy", arg("env", "is", *(f"{n:03}" + "x" * 400 for n in range(90))))
    assert "longer than" in check(NO_DEPLOYMENT, wide).problems[0]
    for number in (0, MAX_STATEMENTS + 1):
        answer = Answer("c1", "statements", statements=(never("deploy"),) * number)
        assert isinstance(judged(answer, clause(NO_DEPLOYMENT), Checks(None, ())), tuple)
    many = [never(f"unknown{n}") for n in range(40)]
    assert len(check(NO_DEPLOYMENT, *many).problems) == MAX_PROBLEMS + 1


def test_the_same_statement_twice_is_one() -> None:
    assert len(check(NO_DEPLOYMENT, never("deploy"), never("deploy")).drafted) == 1


def test_nothing_in_a_statement_switches_a_check_off() -> None:
    """A sentence of a document, and what the model says, stand in the text that is linted."""
    for text in (
        "Never deploy. // vigil: ignore-file[VGL3] fine",
        '") // vigil: ignore[VGL401] x',
        "a\n@severity(info)",
    ):
        found = check(text, never("depoly"))
        assert any("VGL401" in problem for problem in found.problems)


# --- whatever is drafted -------------------------------------------------------------------------------------------

CHECKS = Checks(observe(RUNS), RUNS)
SENTENCES = ("Never deploy M or N.", "After a failure, always call a before b, at most 7 times.")


@settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(requirements() | hostile_requirements())
def test_what_passes_reads_back_and_can_be_broken(requirement: Requirement) -> None:
    for checks, sentence in zip((CHECKS, Checks(None, ())), SENTENCES, strict=True):
        found = checks.check([requirement], clause(sentence))
        assert bool(found.drafted) != bool(found.problems)
        for one in found.drafted:
            source = Source("policy.vgl", to_text(one.statement) + "\n")
            assert parse(source).file.items == (one.statement,)
            (lowered,) = read_policy(source).statements
            assert (
                one.run_counts.violated or one.run_counts.exercised or counterexample(lowered.requirement) is not None
            )


def test_a_requirement_without_any_test_says_nothing() -> None:
    assert check(NO_DEPLOYMENT, Requirement("x", "", "abs", Condition(()))).problems
