"""The way back undoes what a run changed, and never what somebody else changed."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vigil_lang.points.checkpoints.history import History
from vigil_lang.points.checkpoints.model import CheckpointError, Kind
from vigil_lang.points.checkpoints.rollback import Plan, apply, last_way_back, plan

KINDS: tuple[Kind, ...] = ("git", "copy") if shutil.which("git") else ("copy",)
NAMES = ("a", "b", "d/a", "d/e/f", "ünï", "with space", "-x")


def contents(workspace: Path) -> dict[str, str]:
    return {
        str(path.relative_to(workspace)): f"-> {path.readlink()}" if path.is_symlink() else path.read_text("utf-8")
        for path in sorted(workspace.rglob("*"))
        if (path.is_symlink() or path.is_file()) and ".git" not in path.relative_to(workspace).parts
    }


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> Kind:
    return request.param  # type: ignore[no-any-return]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History(tmp_path / "state", "run/../1")


def put(workspace: Path, name: str, text: str | None) -> None:
    path = workspace / name
    if text is None:
        path.unlink(missing_ok=True)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def call(history: History, workspace: Path, kind: Kind, seq: int, **files: str | None) -> None:
    history.take_before(seq, f"call {seq}", workspace, kind)
    for name, text in files.items():
        put(workspace, name, text)
    history.take_after(f"call {seq}")


def restored(history: History, seq: int | None = None) -> Plan:
    found = plan(history, seq)
    apply(history, found)
    return found


def test_a_call_is_undone(history: History, workspace: Path, kind: Kind) -> None:
    put(workspace, "kept", "1")
    put(workspace, "gone", "2")
    call(history, workspace, kind, 5, kept="changed", gone=None, made="new")
    found = restored(history, 5)
    assert contents(workspace) == {"kept": "1", "gone": "2"}
    assert [change.path for change in found.changes] == ["gone", "kept", "made"]
    assert found.left == ()


def test_only_what_came_after_the_call_is_undone(history: History, workspace: Path, kind: Kind) -> None:
    call(history, workspace, kind, 1, a="1")
    call(history, workspace, kind, 2, a="2", b="2")
    call(history, workspace, kind, 3, b="3")
    restored(history, 2)
    assert contents(workspace) == {"a": "1"}
    restored(history)
    assert contents(workspace) == {}
    restored(history, last_way_back(history))
    assert contents(workspace) == {"a": "1"}


def test_what_the_user_did_meanwhile_stays(history: History, workspace: Path, kind: Kind) -> None:
    call(history, workspace, kind, 1, a="run", b="run", c="run")
    put(workspace, "a", "run and user")
    put(workspace, "mine", "user")
    call(history, workspace, kind, 2, b="run again")
    put(workspace, "c", None)
    found = restored(history, 1)
    assert contents(workspace) == {"a": "run and user", "mine": "user"}
    assert found.left == ("a", "c")


def test_what_the_run_did_to_a_change_of_the_users_goes(history: History, workspace: Path, kind: Kind) -> None:
    call(history, workspace, kind, 1, a="run")
    put(workspace, "a", "user")
    call(history, workspace, kind, 2, a="run again")
    found = restored(history, 1)
    assert contents(workspace) == {"a": "user"}
    assert found.left == ("a",)


def test_links_modes_and_folders(history: History, workspace: Path, kind: Kind) -> None:
    put(workspace, "dir/inner", "1")
    (workspace / "link").symlink_to("dir/inner")
    put(workspace, "tool", "#!/bin/sh\n")
    (workspace / "tool").chmod(0o750)
    history.take_before(1, "call 1", workspace, kind)
    shutil.rmtree(workspace / "dir")
    put(workspace, "dir", "a file now")
    (workspace / "link").unlink()
    put(workspace, "link/now", "a folder")
    (workspace / "tool").chmod(0o640)
    history.take_after("call 1")
    restored(history, 1)
    assert contents(workspace) == {"dir/inner": "1", "link": "-> dir/inner", "tool": "#!/bin/sh\n"}
    assert os.access(workspace / "tool", os.X_OK)
    assert not (workspace / "tool").stat().st_mode & 0o007


def test_nothing_is_written_through_a_link(history: History, workspace: Path, kind: Kind, tmp_path: Path) -> None:
    put(workspace, "d/a", "1")
    call(history, workspace, kind, 1, **{"d/a": "2"})
    outside = tmp_path / "outside"
    outside.mkdir()
    put(outside, "a", "2")
    found = plan(history, 1)
    shutil.rmtree(workspace / "d")
    (workspace / "d").symlink_to(outside)
    with pytest.raises(CheckpointError, match="changed since"):
        apply(history, found)
    found = plan(history, 1)
    apply(history, found)
    assert contents(outside) == {"a": "2"}
    assert found.left == ("d/a",)


def test_a_workspace_that_changed_since_the_plan_is_left_alone(history: History, workspace: Path, kind: Kind) -> None:
    call(history, workspace, kind, 1, a="run")
    found = plan(history, 1)
    put(workspace, "other", "user")
    with pytest.raises(CheckpointError, match="has changed since"):
        apply(history, found)
    assert contents(workspace) == {"a": "run", "other": "user"}


def test_the_repository_of_the_workspace_is_not_touched(history: History, workspace: Path, kind: Kind) -> None:
    (workspace / ".git" / "hooks").mkdir(parents=True)
    put(workspace, ".git/config", '[core]\n\tfsmonitor = touch /tmp/never\n[filter "x"]\n\tclean = false\n')
    put(workspace, ".gitattributes", "* filter=x\n")
    before = (workspace / ".git/config").read_text("utf-8")
    call(history, workspace, kind, 1, a="run")
    put(workspace, ".git/config", before + "# the run's\n")
    restored(history, 1)
    assert (workspace / ".git/config").read_text("utf-8") == before + "# the run's\n"
    assert not (workspace / "a").exists()


def test_a_call_that_is_not_over_is_the_runs(history: History, workspace: Path, kind: Kind) -> None:
    history.take_before(1, "call 1", workspace, kind)
    put(workspace, "a", "half")
    restored(history, 1)
    assert contents(workspace) == {}


def test_calls_at_once(history: History, workspace: Path, kind: Kind) -> None:
    history.take_before(1, "call 1", workspace, kind)
    put(workspace, "a", "1")
    history.take_before(2, "call 2", workspace, kind)
    put(workspace, "b", "2")
    history.take_after("call 1")
    put(workspace, "b", "3")
    history.take_after("call 2")
    restored(history, 1)
    assert contents(workspace) == {}


def test_calls_without_ids_and_the_end_of_a_turn(history: History, workspace: Path, kind: Kind) -> None:
    history.take_after(None)
    history.end_turn()
    assert history.taken == ()
    for seq in (1, 2, 3):
        history.take_before(seq, None, workspace, kind)
    put(workspace, "a", "run")
    history.take_after(None)
    history.take_after("another")
    history.end_turn()
    assert [(each.seq, each.when) for each in history.taken][3:] == [(1, "after"), (2, "after"), (3, "after")]
    put(workspace, "b", "user")
    restored(history, 1)
    assert contents(workspace) == {"b": "user"}


def test_a_run_without_checkpoints(history: History, workspace: Path, kind: Kind) -> None:
    with pytest.raises(CheckpointError, match="no checkpoint"):
        plan(history)
    history.take_before(7, "call 7", workspace, kind)
    with pytest.raises(CheckpointError, match="before the call 8"):
        plan(history, 8)


def test_a_damaged_list_is_told_and_a_torn_line_is_not(history: History, workspace: Path, kind: Kind) -> None:
    call(history, workspace, kind, 1, a="run")
    (file,) = (workspace.parent / "state").rglob("taken.jsonl")
    whole = file.read_bytes()
    file.write_bytes(whole + b'{"seq": 9')
    assert len(history.taken) == 2
    call(history, workspace, kind, 2, a="again")
    assert [each.seq for each in history.taken] == [1, 1, 2, 2]
    file.write_bytes(whole.replace(b'"seq"', b'"sex"'))
    with pytest.raises(CheckpointError, match="damaged"):
        plan(history, 1)


def test_a_damaged_content_changes_nothing(history: History, workspace: Path) -> None:
    put(workspace, "a", "1")
    call(history, workspace, "copy", 1, a="2")
    found = plan(history, 1)
    (change,) = found.changes
    assert change.before is not None
    content = change.before.content
    (place,) = (workspace.parent / "state").rglob(content[2:])
    place.write_bytes(b"another")
    with pytest.raises(CheckpointError, match="damaged"):
        apply(history, found)
    assert contents(workspace) == {"a": "2"}


def test_what_is_too_large_is_told(history: History, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vigil_lang.points.checkpoints.copies.MOST_FILES", 1)
    put(workspace, "a", "1")
    history.take_before(1, "call 1", workspace, "copy")
    put(workspace, "b", "1")
    with pytest.raises(CheckpointError, match="more than 1 files"):
        history.take_before(2, "call 2", workspace, "copy")


EDITS = st.dictionaries(st.sampled_from(NAMES), st.sampled_from(["0", "1", "2", None]), max_size=3)


def _joined(steps: list[tuple[bool, dict[str, str | None]]]) -> list[tuple[bool, dict[str, str | None]]]:
    """What others do between two checkpoints is one change: nobody looks meanwhile."""
    found: list[tuple[bool, dict[str, str | None]]] = []
    for ours, edits in steps:
        if found and not ours and not found[-1][0]:
            found[-1] = False, found[-1][1] | edits
        else:
            found.append((ours, edits))
    return found


@given(st.lists(st.tuples(st.booleans(), EDITS), min_size=1, max_size=6), st.data())
def test_what_others_wrote_is_never_lost(steps: list[tuple[bool, dict[str, str | None]]], data: st.DataObject) -> None:
    """Going back, each file is as the run found it, unless somebody else changed it after: then it is as they left it,
    but for what the run did to it later."""
    with TemporaryDirectory() as place:
        workspace, history = Path(place, "work"), History(Path(place, "state"), "run")
        workspace.mkdir()
        kind = data.draw(st.sampled_from(KINDS))
        steps = _joined(steps)
        before: list[dict[str, str]] = []
        for seq, (ours, edits) in enumerate(steps):
            before.append(contents(workspace))
            if ours:
                call(history, workspace, kind, seq, **edits)
            else:
                for name, text in edits.items():
                    put(workspace, name, text)
        before.append(contents(workspace))
        own = [seq for seq, (ours, _) in enumerate(steps) if ours]
        if not own:
            return
        seq = data.draw(st.sampled_from(own))
        restored(history, seq)
        expected: dict[str, str | None] = {}
        for name in NAMES:
            changed = [at for at in range(seq, len(steps)) if before[at].get(name) != before[at + 1].get(name)]
            others = [at for at in changed if not steps[at][0]]
            since = others[-1] + 1 if others else seq
            expected[name] = before[since].get(name)
        assert contents(workspace) == {name: text for name, text in expected.items() if text is not None}
