"""Stored drafts: found again by what they were made of, whole or not at all, and readable by people."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from draft_samples import clause, draft

from vigil_lang.draft import store
from vigil_lang.draft.clause_result import Draft, Entry

if TYPE_CHECKING:
    from pathlib import Path

CLAUSES = [entry.clause for entry in draft().entries]
OF = store.made_of(CLAUSES, '{"actions":{}}', "p1", "claude-x", None)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache."""
    monkeypatch.setenv("VIGIL_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache" / "drafts"


def saved() -> Path:
    """The sample, stored."""
    place = store.save(OF, draft(), {"SKILL.md": b"# the document\n"})
    assert place is not None
    return place


def test_what_is_stored_is_found_again(folder: Path) -> None:
    place = saved()
    assert place == folder / f"{OF.key[:16]}.json"
    found = store.load(OF)
    assert found is not None
    assert found.path == place
    assert found.stored.answers == draft().answers.answers
    assert [(item.clause, item.cause, item.rounds) for item in found.stored.left] == [
        ("c6", "rejected", 3), ("c7", "missing", 3), ("c8", "refused", 1), ("c9", "cut", 1),
    ]  # fmt: skip
    assert found.stored.spent == store.Spent(4, 14_320, 1204, 0.0312)


def test_a_reply_that_was_cut_is_asked_for_again_at_greater_length() -> None:
    store.save(OF, draft(), {}, 4000)
    found = store.load(OF)
    assert found is not None
    assert store.tried(found.stored, 2, 4000)
    assert store.tried(found.stored, 2, 300)
    assert not store.tried(found.stored, 2, 4001)
    assert not store.tried(found.stored, 3, 4000)


@pytest.mark.parametrize(
    "other",
    [
        store.made_of(CLAUSES[:-1], '{"actions":{}}', "p1", "claude-x", None),
        store.made_of([replace(CLAUSES[0], text="Other."), *CLAUSES[1:]], '{"actions":{}}', "p1", "claude-x", None),
        store.made_of([replace(CLAUSES[0], lead="Never:"), *CLAUSES[1:]], '{"actions":{}}', "p1", "claude-x", None),
        store.made_of(CLAUSES, '{"actions":{"rm":{}}}', "p1", "claude-x", None),
        store.made_of(CLAUSES, '{"actions":{}}', "p2", "claude-x", None),
        store.made_of(CLAUSES, '{"actions":{}}', "p1", "claude-y", None),
        store.made_of(CLAUSES, '{"actions":{}}', "p1", "claude-x", "high"),
    ],
)
def test_whatever_the_answers_depend_on_makes_another_key(other: store.MadeOf) -> None:
    saved()
    assert other.key != OF.key
    assert store.load(other) is None
    assert OF.differences(other) != []


def test_where_the_documents_lie_makes_no_difference() -> None:
    moved = [replace(item, path="elsewhere/SKILL.md", line=item.line + 3) for item in CLAUSES]
    assert store.made_of(moved, '{"actions":{}}', "p1", "claude-x", None) == OF


def test_it_is_json_that_people_can_read() -> None:
    text = saved().read_text(encoding="utf-8")
    assert text.startswith('{\n  "schema": "vigil.stored-draft/1",\n')
    assert json.loads(text)["documents"]["SKILL.md"]
    assert text.endswith("}\n")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"not_normative"', '"unsupported"'),
        ('"claude-x"', '"claude-y"'),
        ("c1", "c2"),
        ("{", "["),
        ('"left"', '"lost"'),
    ],
)
def test_one_that_was_changed_is_as_good_as_none(old: str, new: str) -> None:
    place = saved()
    text = place.read_text(encoding="utf-8")
    assert old in text
    place.write_text(text.replace(old, new), encoding="utf-8")
    assert store.load(OF) is None
    assert store.every() == []


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"[" * 100_000, b"null", b'{"schema": 1}'])
def test_one_that_is_damaged_is_as_good_as_none(content: bytes) -> None:
    saved().write_bytes(content)
    assert store.load(OF) is None
    assert store.every() == []


def test_one_under_another_name_is_as_good_as_none(folder: Path) -> None:
    place = saved()
    other = store.made_of(CLAUSES, "", "p1", "claude-x", None)
    place.rename(folder / f"{other.key[:16]}.json")
    assert store.load(other) is None


def test_a_draft_that_the_budget_ended_is_not_kept(folder: Path) -> None:
    short = replace(draft(), entries=(Entry(clause(1, "Never."), "unsupported", (), "", "budget"),))
    assert store.save(OF, short, {}) is None
    assert list(folder.glob("*")) == []


def test_without_a_folder_nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIGIL_CACHE_DIR", "")
    assert store.save(OF, draft(), {}) is None
    assert store.keep_policy(OF, "policy a\n") is None
    assert (store.load(OF), store.every(), store.nearest(OF)) == (None, [], None)


def test_a_folder_that_others_can_write_to_is_not_trusted(folder: Path) -> None:
    saved()
    folder.parent.chmod(0o777)
    assert store.load(OF) is None


def test_the_policy_lies_beside_its_answers(folder: Path) -> None:
    place = store.keep_policy(OF, "policy a\n")
    assert place == folder / f"{OF.key[:16]}.vgl"
    assert place.read_text(encoding="utf-8") == "policy a\n"


def test_the_nearest_has_the_same_clauses_and_the_fewest_differences() -> None:
    for vocabulary, model in (("a", "claude-y"), ("b", "claude-x")):
        store.save(store.made_of(CLAUSES, vocabulary, "p1", model, None), draft(), {})
    store.save(store.made_of(CLAUSES[:2], "c", "p1", "claude-x", None), draft(), {})
    near = store.nearest(store.made_of(CLAUSES, "c", "p1", "claude-x", None))
    assert near is not None
    assert near.stored.made_of.vocabulary == store.made_of(CLAUSES, "b", "p1", "claude-x", None).vocabulary
    assert len(store.every()) == 3


def test_what_was_said_of_clauses_without_an_answer_is_said_again() -> None:
    saved()
    found = store.load(OF)
    assert found is not None
    anew = tuple(
        entry if entry.cause in (None, "model") else Entry(entry.clause, "unsupported", (), "", "missing")
        for entry in draft().entries
    )
    again = store.restored(Draft(anew, ("SKILL.md",)), found.stored)
    assert again.entries == draft().entries
    assert again.model == "claude-x"
    assert store.still_good(again, found.stored)


def test_an_answer_that_is_no_longer_acceptable_is_noticed() -> None:
    saved()
    found = store.load(OF)
    assert found is not None
    first, *rest = draft().entries
    worse = replace(draft(), entries=(Entry(first.clause, "unsupported", (), "", "rejected", ("VGL401 x",)), *rest))
    assert not store.still_good(worse, found.stored)
