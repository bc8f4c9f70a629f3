"""std.confirmation: what the user was asked, and what counts as a yes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from std_support import call, matches, policy, run

from vigil_lang.semantics.denotation import violations

if TYPE_CHECKING:
    from vigil_lang.trace import Event


def holds(pattern: str, event: Event) -> bool:
    return matches("std.confirmation", pattern, event)


def question(text: str, answer: str) -> Event:
    output = f'User has answered your questions: "{text}"="{answer}". You can now continue with these answers in mind.'
    return call("AskUserQuestion", questions=[{"question": text, "header": "Deploy"}], output=output)


def plan(text: str, output: str) -> Event:
    return call("ExitPlanMode", plan=text, output=output)


APPROVED = "User has approved your plan. You can now start coding."


@pytest.mark.parametrize(
    "event",
    [
        question("Deploy to production?", "Yes, go on"),
        question("Deploy to production?", "ok"),
        question("Deploy to production?", "Proceed"),
        plan("Deploy to production", APPROVED),
        call("chat", "user.message", text="yes please, production"),
    ],
)
def test_the_user_confirms(event: Event) -> None:
    assert holds("user_confirms", event)


@pytest.mark.parametrize(
    "event",
    [
        question("Deploy to production?", "No, do not proceed"),
        question("Deploy to production? Say yes or no", "staging only"),
        question("Deploy?", "yesterday's build"),
        call("AskUserQuestion", questions=[{"question": "Deploy?"}], status="error", output='"Deploy?"="Yes"'),
        plan("Deploy to production", "The agent proposed exiting plan mode but the user chose to stay in plan mode"),
        call("chat", "user.message", text="no"),
        call("chat", "user.message", text="I am not sure"),
        call("Bash", command="echo yes", output="yes"),
    ],
)
def test_the_user_does_not_confirm(event: Event) -> None:
    assert not holds("user_confirms", event)


def test_asking() -> None:
    assert holds("asks_user", question("Deploy?", "no"))
    assert holds('asks_about("production")', plan("Deploy to production", APPROVED))
    assert not holds('asks_about("production")', question("Deploy to staging?", "yes"))
    assert not holds("asks_user", call("chat", "user.message", text="Deploy?"))


def test_an_answer_is_an_answer_whatever_it_says() -> None:
    assert holds("user_answers", question("Deploy?", "no"))
    assert holds("user_answers", call("chat", "user.message", text="later"))


def test_what_was_agreed_to_is_what_is_done() -> None:
    rule = policy("""\
use std.confirmation: user_confirms_about

statement S: prec(mcp__cloud__deploy(target = x), user_confirms_about(x))
""")
    trace = run(
        question("Deploy to staging-7?", "Yes"),
        call("mcp__cloud__deploy", target="staging-7"),
        call("mcp__cloud__deploy", target="production"),
    )
    assert violations(rule.statements[0].requirement, trace) == [(2, {"x": "production"})]
