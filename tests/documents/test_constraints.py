"""What limits a sentence: words, numbers, names, and an order in time."""

from __future__ import annotations

import pytest

from vigil_lang.english.constraints import constraints


@pytest.mark.parametrize(
    ("sentence", "limits"),
    [
        (
            "Bulk modifications without explicit user confirmation are forbidden.",
            ["bulk", "without explicit user confirmation"],
        ),
        ("Never mail external or third-party recipients.", ["external", "third-party"]),
        ("Do not send more than 3 messages.", ["more than 3"]),
        ("Never write to production unless asked.", ["to production", "unless"]),
        ("Deploy only after the tests, except on Friday.", ["only after", "except"]),
        ("Never overwrite an existing report (all of them, in bulk).", ["existing"]),
        ("Every report must be signed by the same person.", ["every report must", "the same person"]),
        ('Print "existing bulk runs" and `external`.', []),
        ("Exceptions are raised at the same time.", []),
        ("Retry at most 3 times.", []),
        ("Set the batch size; poll until SUCCESS/FAILED; escape external input.", []),
        ("Never batch delete events.", ["batch delete"]),
    ],
)
def test_limiting_words(sentence: str, limits: list[str]) -> None:
    assert sorted(limit.word.lower() for limit in constraints(sentence).limits) == sorted(limits)


@pytest.mark.parametrize(
    ("sentence", "numbers"),
    [
        ("The rate must be fps = 6.", [("6", "")]),
        ("Wait at most ten minutes, or 1,000 calls.", [("10", "minutes"), ("1000", "calls")]),
        ("Never upload more than 20 MB.", [("20", "mb")]),
        ("Use port 8080.", [("8080", "")]),
        ("Ask the 5 questions on each of the 3 remote hosts.", []),
        ("It takes about 20 minutes, see section 3 and step 2 of v1.2.3 (or 7).", []),
        ("On 2026-01-05 at 10:30, ISO-8601, item #4, 1D, 30-80 lines.", []),
    ],
)
def test_numbers(sentence: str, numbers: list[tuple[str, str]]) -> None:
    assert [(number.value, number.unit) for number in constraints(sentence).numbers] == numbers


@pytest.mark.parametrize(
    ("sentence", "names"),
    [
        ("Always back up `glm3.nml` first.", ("glm3.nml",)),
        ("Never call `git push --force <remote>`.", ("git", "--force")),
        ("The status must be 'pending' or \"on hold\".", ("pending", "on hold")),
        ("Don't touch AGENTS.md or docs/*.toml, it's the user's.", ("AGENTS.md", "docs/*.toml")),
        ("Requires version 0.292.0 or v2 (`x`).", ("0.292.0", "v2")),
        ("If it is outdated (< v0.292.0), stop.", ("v0.292.0",)),
        ("Use `<path>` and `…`.", ()),
        ("Never name a region such as `eu-1` or `us-2`; ask for `--region`.", ("--region",)),
    ],
)
def test_names(sentence: str, names: tuple[str, ...]) -> None:
    assert constraints(sentence).names == names


@pytest.mark.parametrize(
    ("sentence", "orders"),
    [
        ("Validate the file before release.", [("past", "before", "Validate the file", "release.")]),
        ("Before scanning, refresh it.", [("past", "before", "refresh it.", "scanning")]),
        ("Never release before it is signed.", [("past", "before", "it is signed.", "Never release")]),
        ("Ship it only after a review.", [("past", "only after", "a review.", "Ship it")]),
        ("Do not ship until it is signed.", [("past", "until", "it is signed.", "Do not ship")]),
        ("After each commit, run the tests.", [("future", "after", "each commit", "run the tests.")]),
        ("Run the tests after each commit.", [("future", "after each", "commit.", "Run the tests")]),
        ("Once signed, it can be shipped.", []),
        ("Poll until it is done.", []),
        ("Before finishing, run the tests.", [("end", "before finishing", "", "")]),
        ("Before submitting a job, run the tests.", [("past", "before", "run the tests.", "submitting a job")]),
        ("Run the tests before each submission.", [("past", "before", "Run the tests", "each submission.")]),
        ("Do not finish before the linter succeeds.", [("end", "not finish before", "", "")]),
        ("You must not stop until the tests pass.", [("end", "not stop until", "", "")]),
        ("Never declare success without running it.", [("end", "never declare success without", "", "")]),
        ("Don't mark a task as complete until it runs.", [("end", "don't mark a task as complete until", "", "")]),
        ("Stop only after the tests pass.", [("end", "stop only after", "", "")]),
        ("Never stop the server before a backup.", [("past", "before", "a backup.", "Never stop the server")]),
        ("Don't call the API before you sign in.", [("past", "before", "you sign in.", "Don't call the API")]),
        ("Answer within 5 minutes.", [("bounded", "within 5 minutes", "", "")]),
        ("Retry at most three times.", [("counted", "at most three times", "", "")]),
    ],
)
def test_orders(sentence: str, orders: list[tuple[str, str, str, str]]) -> None:
    assert [(t.order, t.word, t.first, t.then) for t in constraints(sentence).temporal] == orders
