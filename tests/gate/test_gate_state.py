"""The state folder: whose it is, where it lies, and that one writes at a time."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from vigil_lang.gate import state
from vigil_lang.gate.settings import Settings, read_settings
from vigil_lang.gate.state import StateError, StateFolder, state_path

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "state"
    made.mkdir(mode=0o700)
    return made


def test_it_is_the_users_own_and_nobody_elses(folder: Path) -> None:
    assert StateFolder(folder).path == folder
    folder.chmod(0o750)
    with pytest.raises(StateError, match="others may look into the state folder"):
        StateFolder(folder)


def test_it_is_there_and_no_link(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(StateError, match="cannot be read: No such file"):
        StateFolder(tmp_path / "none")
    link = tmp_path / "link"
    link.symlink_to(folder)
    with pytest.raises(StateError, match="is no folder"):
        StateFolder(link)


def test_where_it_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("VIGIL_STATE", raising=False)
    assert state_path().name == "vigil"
    monkeypatch.setenv("VIGIL_STATE", str(tmp_path / "set"))
    assert state_path() == tmp_path / "set"
    assert state_path(str(tmp_path / "given")) == tmp_path / "given"


def test_one_at_a_time(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "LOCK_WAIT", 0.05)
    one, other = StateFolder(folder), StateFolder(folder)
    with one.lock():
        with one.lock():  # taken already
            pass
        with pytest.raises(StateError, match="locked"), other.lock():
            pass
    with other.lock():
        pass


def test_who_waits_gets_it(folder: Path) -> None:
    order: list[str] = []
    held, other = StateFolder(folder), StateFolder(folder)

    def wait() -> None:
        with other.lock():
            order.append("second")

    with held.lock():
        thread = threading.Thread(target=wait)
        thread.start()
        order.append("first")
    thread.join(timeout=10)
    assert order == ["first", "second"]


def test_a_lock_that_is_a_link_is_refused(folder: Path, tmp_path: Path) -> None:
    (folder / "lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StateError, match="cannot be opened"), StateFolder(folder).lock():
        pass
    assert not (tmp_path / "elsewhere").exists()


def test_settings_are_what_they_say_or_nothing(tmp_path: Path) -> None:
    file = tmp_path / "gate.toml"
    file.write_text("")
    assert read_settings(file) == Settings()
    assert read_settings(file).authority.mode == "chain"
    for text, why in [
        ("a = ", "not valid"),
        ("layer = 1", "unknown field `layer`"),
        ("[holds]\nquorum = 0", "quorum"),
        ("[holds]\napprovers = ['key']", "approvers"),
        ("[authority]\nmode = 'allow'", "mode"),
    ]:
        file.write_text(text)
        with pytest.raises(StateError, match=why):
            read_settings(file)
    with pytest.raises(StateError, match="cannot be read"):
        read_settings(tmp_path / "none.toml")
