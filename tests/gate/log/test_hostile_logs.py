"""Whoever wrote the folder: an audit ends with an answer, never with a traceback, and never waits for ever."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from log_support import BUNDLE, derivation, filled, new_folder, opened

from vigil_lang.base import files
from vigil_lang.gate.log.export import ocsf, otel, sentence
from vigil_lang.gate.log.reading import LogCopy
from vigil_lang.gate.log.verifying import verify
from vigil_lang.gate.state import StateError

if TYPE_CHECKING:
    from pathlib import Path

    from log_support import Vigil

    from vigil_lang.gate.state import StateFolder

VERBS = (["verify"], ["show"], ["replay"], ["export"], ["prove", "0"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
NAMES = ("reasons", "mode", "approvals", "record", "agent", "run", "revoked", "policy_digest", "user", "message")
KINDS = ("decision", "outcome", "revocation", "signal", "approval", "fault", "run_start", "other")


@pytest.fixture
def folder(tmp_path: Path) -> StateFolder:
    return filled(tmp_path / "state", entries=8)


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(KINDS), st.dictionaries(st.sampled_from(NAMES), JSON))
def test_whatever_an_entry_has_can_be_said_and_exported(kind: str, members: dict[str, Any]) -> None:
    entry = {"v": 1, "at": "2026-09-21T14:13:20.001000Z", "kind": kind, **members}
    assert isinstance(sentence(entry), str)
    json.dumps([*ocsf([(0, entry)], "log"), *otel([(0, entry)], "log")])


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(st.sampled_from(NAMES), JSON), JSON | st.dictionaries(st.sampled_from(
    ("action", "events", "context", "broken", "faults", "authority", "tier", "approvals", "at", "binding", "likeness")
), JSON))  # fmt: skip
def test_whatever_a_decision_has_it_is_derived_or_told(
    tmp_path_factory: pytest.TempPathFactory, members: dict[str, Any], inputs: Any
) -> None:
    folder = new_folder(tmp_path_factory.mktemp("log") / "state")
    log = opened(folder)
    with folder.lock():
        log.append("decision", {"run": "r1", **members}, {"/inputs": inputs})
    log.close()
    audit = verify(LogCopy(folder.path), derivation=derivation(folder.path))
    assert {each.kind for each in audit.problems} <= {"unreadable", "decision"}
    assert audit.problems


@pytest.mark.parametrize("what", ["pipe", "folder", "link", "noise", "nothing"])
@pytest.mark.parametrize(
    "name", ["log.jsonl", "log.vkey", "args.sqlite", "index.sqlite", "checkpoint", f"policies/{BUNDLE}.json"]
)
def test_files_that_are_none(
    vigil: Vigil, folder: StateFolder, name: str, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = folder.path / name
    path.unlink()
    match what:
        case "pipe":
            monkeypatch.setattr(files, "_PATIENCE", 0.01)
            os.mkfifo(path)
        case "folder":
            path.mkdir()
        case "link":
            path.symlink_to("/dev/zero")
        case "noise":
            path.write_bytes(os.urandom(4096))
    for verb in VERBS:
        result = vigil("audit", *verb, "--state", folder.path)
        assert result.status in (0, 1, 2), result.err
    if name in ("log.jsonl", "log.vkey", "checkpoint"):
        assert vigil("audit", "verify", "--state", folder.path).status != 0


def test_a_side_store_that_is_more_than_a_table(folder: StateFolder) -> None:
    with closing(sqlite3.connect(folder.plain)) as found, found:
        found.execute("ALTER TABLE plain RENAME TO other")
        endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x FROM n) SELECT x, x, x, x FROM n"
        found.execute(f"CREATE VIEW plain(seq, path, salt, value) AS {endless}")
    (problem,) = verify(LogCopy(folder.path)).problems
    assert (problem.kind, "more than tables" in problem.message) == ("side", True)


def test_a_side_store_whose_rows_are_of_other_types(folder: StateFolder) -> None:
    folder.plain.unlink()
    with closing(sqlite3.connect(folder.plain)) as found, found:
        found.execute("CREATE TABLE plain(seq, path, salt, value)")
        found.execute("INSERT INTO plain VALUES (1, '/inputs', 'text', 7)")
    (problem,) = verify(LogCopy(folder.path)).problems
    assert (problem.kind, "types" in problem.message) == ("side", True)


def test_a_log_that_took_the_place_of_the_open_one(folder: StateFolder) -> None:
    log = opened(folder)
    data = folder.log.read_bytes()
    folder.log.unlink()
    with pytest.raises(StateError, match="cannot be read"):
        log.refresh()
    folder.log.write_bytes(data)
    folder.log.chmod(0o600)
    with pytest.raises(StateError, match="was replaced"):
        log.refresh()


def test_a_line_that_is_too_long(folder: StateFolder) -> None:
    with folder.log.open("ab") as stream:
        stream.write(b"x" * 18_000_000)
    audit = verify(LogCopy(folder.path))
    assert (audit.cannot_judge, audit.problems[0].message) == (True, "a line of the log has more than 16,000,000 bytes")


def test_deep_nesting_is_a_bad_line(folder: StateFolder) -> None:
    with folder.log.open("ab") as stream:
        stream.write(b'{"v":1,"at":"2027-01-01T00:00:00.000000Z","kind":' + b"[" * 100_000 + b"]" * 100_000 + b"}\n")
    assert verify(LogCopy(folder.path)).cannot_judge
    with pytest.raises(StateError, match="is damaged"):
        opened(folder)
