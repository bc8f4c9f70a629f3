"""Labels: which runs a row names, and what rows say together."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from vigil_lang.evaluation.labels import Label, LabelRow, Labels, matcher


def labels(*rows: tuple[str, Label]) -> Labels:
    return Labels.of(LabelRow(run, label, {}, f"l:{n}") for n, (run, label) in enumerate(rows))


def test_a_row_names_a_run_by_whole_components_with_or_without_extension() -> None:
    found = labels(("b/run", "violating"))
    assert [
        found.say(path) is not None for path in ("a/b/run.jsonl", "b/run", "a/b/run/c.txt", "b/running", "run")
    ] == [
        True,
        True,
        True,
        False,
        False,
    ]
    assert labels(("r.jsonl#7", "benign")).say("x/r.jsonl#7") is not None
    assert labels(("r.jsonl#7", "benign")).say("x/r.jsonl#77") is None


def test_rows_that_agree_say_what_they_say_and_others_nothing() -> None:
    agreed = labels(("a", "benign"), ("a.jsonl", "benign")).say("a.jsonl")
    assert agreed is not None
    assert (agreed.label, agreed.why) == ("benign", "")
    contradicted = labels(("a", "benign"), ("a.jsonl", "excluded")).say("a.jsonl")
    assert contradicted is not None
    assert (contradicted.label, contradicted.why) == (
        None,
        "its labels contradict each other: benign (l:0), excluded (l:1)",
    )


def test_where_takes_whole_values_of_members_that_are_there() -> None:
    matches = matcher({"suite": "s*", "task": "?"})
    assert matches({"suite": "slack", "task": "1", "more": "x"})
    assert not matches({"suite": "a slack", "task": "1"})
    assert not matches({"suite": "slack", "task": "12"})
    assert not matches({"suite": "slack"})
    assert matcher({})({})


@given(st.lists(st.sampled_from(["violating", "benign", "excluded"]), max_size=4), st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_nothing(said: list[Label], random: object) -> None:
    rows = [("a", label) for label in said]
    again = sorted(rows, key=lambda _: random.random())  # type: ignore[attr-defined]
    one, other = labels(*rows).say("a"), labels(*again).say("a")
    assert (one is None) == (other is None) == (not said)
    assert one is None or other is None or one.label == other.label == (said[0] if len(set(said)) == 1 else None)
