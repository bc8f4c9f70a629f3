"""`vigil kill`: in force before anything is said, never just "done", and never lost."""

from __future__ import annotations

import json
import shutil
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from vigil_lang.cli.main import run
from vigil_lang.gate.authority.keys import Key, write_key
from vigil_lang.gate.kill_switch import KillSwitch
from vigil_lang.gate.log.log import Log
from vigil_lang.gate.revocation import Entry, Revocations, note_list
from vigil_lang.gate.settings import read_settings
from vigil_lang.gate.state import StateFolder
from vigil_lang.gate.storage.folder import FolderStorage
from vigil_lang.gate.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from vigil_lang.gate.revocation import Revoked

Kill = "Callable[..., tuple[int, dict[str, Any]]]"
DAY = 86400


class State:
    """What a gate writes into a state folder."""

    def __init__(self, folder: StateFolder) -> None:
        self.folder = StateFolder(folder.path)
        self.settings = read_settings(folder.settings)
        self.log = Log(FolderStorage(self.folder), self.settings.log)
        self.store = Store(FolderStorage(self.folder), self.log)

    def append(self, kind: str, **members: object) -> None:
        with self.folder.lock():
            self.log.refresh()
            self.store.catch_up()
            self.log.append(kind, members)
            self.store.catch_up()

    def note(self, revoked: Revoked) -> None:
        """As a gate does that sees a list."""
        with self.folder.lock():
            self.log.refresh()
            self.store.catch_up()
            note_list(revoked, self.log, self.store)

    def start(self, name: str, agent: str) -> None:
        self.append("run_start", run=name, agent=agent, policy_digest="p", authority_digest="a")

    def entries(self, kind: str) -> list[dict[str, Any]]:
        self.log.refresh()
        return [entry for _, entry in self.log.entries() if entry["kind"] == kind]

    def revoked(self) -> Any:
        return Revocations(FolderStorage(self.folder), self.settings.revocation).current(int(time.time()))


@pytest.fixture
def state(folder: StateFolder) -> State:
    return State(folder)


@pytest.fixture
def kill(folder: StateFolder, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, dict[str, Any]]]:
    """The verb, with its status and what it answers as JSON."""

    def call(*args: str) -> tuple[int, dict[str, Any]]:
        status = run(["kill", *args, "--state", str(folder.path), "--format", "json"])
        out = capsys.readouterr().out
        return status, json.loads(out) if out.startswith("{") else {}

    return call


def switch(state: State, wait: float = 0) -> KillSwitch:
    return KillSwitch(StateFolder(state.folder.path), state.settings, wait=wait)


# --- what it reports -----------------------------------------------------------------------------------------------


def test_kill_does_not_report_success_while_the_agent_runs(kill: Any, state: State) -> None:
    state.start("r1", "mailer")
    state.start("r2", "mailer")
    state.start("r3", "other")
    state.start("r4", "mailer")
    state.append("run_end", run="r4")
    status, told = kill("mailer")
    assert status == 1
    assert [(each["run"], each["state"]) for each in told["runs"]] == [("r1", "not_seen"), ("r2", "not_seen")]
    assert all(each["since"].endswith("Z") for each in told["runs"])
    assert state.revoked().agent("mailer")


def test_a_run_that_has_seen_the_list_has_acknowledged_it(kill: Any, state: State) -> None:
    state.start("r1", "mailer")

    def acknowledge() -> None:
        other = State(state.folder)
        while not other.revoked().agent("mailer"):
            time.sleep(0.01)
        other.append("acknowledged", run="r1", seq=other.revoked().seq)

    seeing = threading.Thread(target=acknowledge)
    seeing.start()
    found = switch(state, wait=30).revoke(Entry("agent", "mailer"), _key(state), DAY)
    seeing.join(30)
    assert [(each.run, each.acknowledged) for each in found.runs] == [("r1", 1)]
    assert found.everywhere
    status, told = kill("mailer")
    assert (status, told["runs"][0]["state"]) == (1, "not_seen")


def test_an_acknowledgement_of_an_older_list_is_none(kill: Any, state: State) -> None:
    state.start("r1", "mailer")
    kill("mailer")
    state.append("acknowledged", run="r1", seq=1)
    status, told = kill("--agent", "another")
    assert (status, told["runs"], told["seq"]) == (0, [], 2)
    status, told = kill("--all")
    assert (status, told["runs"][0]["state"], told["seq"]) == (1, "not_seen", 3)


def test_nobody_is_waited_for_where_no_run_is_live(kill: Any, state: State) -> None:
    status, told = kill("--all")
    assert (status, told["runs"], told["revoked"]) == (0, [], [{"kind": "all", "name": "*"}])
    assert state.revoked().everyone


def test_a_list_is_an_entry_of_the_log(kill: Any, state: State) -> None:
    kill("--agent", "mailer")
    (entry,) = state.entries("revocation")
    now = state.revoked()
    assert {name: entry[name] for name in now.members()} == now.members()


# --- what a name means ---------------------------------------------------------------------------------------------


def test_a_name_is_an_agent_or_a_run_that_is_known(kill: Any, state: State) -> None:
    state.start("r1", "writer")
    assert kill("mailer")[1]["kind"] == "agent"  # the settings name it
    assert kill("writer")[1]["kind"] == "agent"
    assert kill("r1")[1]["kind"] == "run"
    assert kill(Key.new().public)[1]["kind"] == "key"
    assert kill("0" * 64)[1]["kind"] == "link"


def test_an_unknown_or_ambiguous_name_revokes_nothing(kill: Any, state: State) -> None:
    state.start("same", "same")
    for name in ("same", "nobody", "ed25519", "0" * 63):
        assert kill(name) == (2, {})
    assert state.revoked().seq == 0
    assert kill("--agent", "same")[1]["kind"] == "agent"
    assert kill("--run", "same")[1]["kind"] == "run"


def test_a_key_or_link_that_nothing_can_have_is_not_told_as_revoked(kill: Any, state: State) -> None:
    key = Key.new().public
    for args in ((key[:-1],), ("--public-key", key[:-1]), ("--public-key", key[8:]), ("--link", "0" * 63)):
        assert kill(*args) == (2, {})
    assert state.revoked().seq == 0
    assert kill("--public-key", key)[1]["kind"] == "key"


@pytest.mark.parametrize("args", [(), ("mailer", "--all"), ("--agent", "a", "--run", "b"), ("--agent", ""), ("",)])
def test_one_thing_is_revoked_at_a_time(args: tuple[str, ...], kill: Any, state: State) -> None:
    assert kill(*args) == (2, {})
    assert state.revoked().seq == 0


def test_names_are_data_on_the_screen(folder: StateFolder, state: State, capsys: pytest.CaptureFixture[str]) -> None:
    state.start("\x1b[31mr\u202e1\n", "evil\x1b]0;x\x07")
    assert run(["kill", "evil\x1b]0;x\x07", "--state", str(folder.path)]) == 1
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert "\x07" not in shown
    assert "\u202e" not in shown
    assert len(shown.splitlines()) == 2
    run(["kill", "no\x1bbody", "--state", str(folder.path)])
    assert "\x1b" not in capsys.readouterr().err


# --- what it changes -----------------------------------------------------------------------------------------------


def test_kill_adds_to_what_is_revoked_and_undo_takes_one_back(kill: Any, state: State) -> None:
    kill("mailer")
    kill("--run", "r9")
    assert state.revoked().agent("mailer")
    assert state.revoked().run("r9")
    status, told = kill("mailer", "--undo")
    assert (status, told["revoked"], told["seq"]) == (0, [{"kind": "run", "name": "r9"}], 3)
    assert kill("mailer", "--undo") == (2, {})
    assert state.revoked().seq == 3


def test_at_once_from_several_places_none_is_lost(state: State) -> None:
    names = [f"agent{number}" for number in range(6)]

    def revoke(name: str) -> None:
        switch(State(state.folder)).revoke(Entry("agent", name), _key(state), DAY)

    threads = [threading.Thread(target=revoke, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert [name for name in names if not state.revoked().agent(name)] == []
    assert state.revoked().seq == len(names)
    assert sorted(entry["seq"] for entry in state.entries("revocation")) == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("undo", [False, True])
def test_a_gate_that_notes_a_list_before_its_author_does_changes_nothing(
    undo: bool, state: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A gate that watches acknowledges a list at once, and may be first at the log."""
    state.start("r1", "mailer")
    author = switch(state)
    author.revoke(Entry("run", "r1"), _key(state), DAY)
    publish = author._publish

    def seen_at_once(*args: Any, **more: Any) -> Any:
        found = publish(*args, **more)
        state.note(found)
        state.append("acknowledged", run="r1", seq=found.seq)
        return found

    monkeypatch.setattr(author, "_publish", seen_at_once)
    author.revoke(Entry("run", "r1") if undo else Entry("agent", "mailer"), _key(state), DAY, undo=undo)
    assert state.revoked().seq == 2
    assert state.revoked().run("r1") is not undo
    assert [entry["seq"] for entry in state.entries("revocation")] == [1, 2]


def test_what_others_log_before_a_kill_is_logged_is_not_written_over(
    state: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    author = switch(state)
    opened = author._opened

    @contextmanager
    def overtaken() -> Iterator[Any]:
        with opened() as found:
            state.start("r1", "mailer")
            yield found

    monkeypatch.setattr(author, "_opened", overtaken)
    assert author.revoke(Entry("agent", "mailer"), _key(state), DAY).fault is None
    log = State(state.folder)
    log.append("run_end", run="r1")
    assert [entry["kind"] for _, entry in log.log.entries()][-3:] == ["run_start", "revocation", "run_end"]


def test_kills_and_undoes_at_once_beside_a_gate_that_notes_them(state: State) -> None:
    names = [f"agent{number}" for number in range(4)]
    over = threading.Event()

    def note() -> None:
        seen = State(state.folder)
        while not over.is_set():
            seen.note(seen.revoked())

    def revoke(name: str) -> None:
        own = switch(State(state.folder))
        for undo in (False, True, False, True):
            own.revoke(Entry("agent", name), _key(state), DAY, undo=undo)
            assert state.revoked().agent(name) is not undo

    with ThreadPoolExecutor() as pool:
        noting = pool.submit(note)
        revoking = [pool.submit(revoke, name) for name in names]
        try:
            for each in revoking:
                each.result(60)
        finally:
            over.set()
        noting.result(60)
    assert state.revoked().list.revoked == ()
    assert sorted(entry["seq"] for entry in state.entries("revocation")) == [*range(1, 17)]


def test_only_keys_of_the_settings_revoke(kill: Any, state: State, tmp_path: Path) -> None:
    write_key(Key.new(), str(tmp_path / "other.pem"))
    assert kill("mailer", "--key", str(tmp_path / "other.pem")) == (2, {})
    assert kill("mailer", "--key", str(tmp_path / "nowhere.pem")) == (2, {})
    assert state.revoked().seq == 0


def test_the_key_may_come_from_the_environment(kill: Any, folder: StateFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    own = folder.keys / "revoker.pem"
    monkeypatch.setenv("VIGIL_KEY", own.read_text())
    own.unlink()
    assert kill("mailer")[0] == 0


def test_settings_without_a_key_say_so(folder: StateFolder, kill: Any, capsys: pytest.CaptureFixture[str]) -> None:
    folder.settings.write_text("")
    assert kill("--agent", "mailer") == (2, {})
    run(["kill", "--all", "--state", str(folder.path)])
    assert "names no key that may revoke" in capsys.readouterr().err


# --- when things are broken ----------------------------------------------------------------------------------------


def test_a_damaged_log_does_not_keep_an_agent_alive(kill: Any, folder: StateFolder, state: State) -> None:
    state.start("r1", "mailer")
    folder.log.write_bytes(b"{}\n")
    status, told = kill("--agent", "mailer")
    assert status == 3
    assert told["fault"]
    assert State.revoked(state).agent("mailer")


def test_a_locked_folder_does_not_keep_an_agent_alive(state: State, monkeypatch: pytest.MonkeyPatch, kill: Any) -> None:
    monkeypatch.setattr("vigil_lang.gate.state.LOCK_WAIT", 0.2)
    with StateFolder(state.folder.path).lock():
        status, told = kill("--agent", "mailer")
    assert status == 3
    assert "locked" in told["fault"]
    assert state.revoked().agent("mailer")


def test_what_was_revoked_is_taken_from_the_log_where_the_list_is_missing(kill: Any, state: State) -> None:
    kill("mailer")
    state.folder.revocations.unlink()
    assert state.revoked().fault
    status, told = kill("--run", "r9")
    assert (status, told["seq"]) == (0, 2)
    assert state.revoked().agent("mailer")
    assert state.revoked().fault is None


def test_nothing_is_guessed_where_neither_the_list_nor_the_log_tells(kill: Any, state: State) -> None:
    kill("mailer")
    state.folder.revocations.write_bytes(b"garbage")
    state.folder.log.write_bytes(b"")
    state.folder.index.unlink()
    assert kill("--run", "r9") == (2, {})
    assert state.revoked().fault


def test_an_older_list_that_was_put_back_with_what_was_seen_is_outdone(kill: Any, state: State) -> None:
    """Who restores both files is found out by the log, which knows what runs have acknowledged."""
    state.start("r1", "other")
    kill("--agent", "harmless")
    older = state.folder.path / "older"
    shutil.copy2(state.folder.revocations, older)
    kill("mailer")
    state.append("acknowledged", run="r1", seq=2)
    older.rename(state.folder.revocations)
    (state.folder.path / "revocations.seen").unlink()
    assert not state.revoked().agent("mailer")
    status, told = kill("--run", "r9")
    assert (status, told["seq"]) == (0, 3)
    assert {(each["kind"], each["name"]) for each in told["revoked"]} == {
        ("agent", "harmless"), ("agent", "mailer"), ("run", "r9"),
    }  # fmt: skip


def test_undo_is_obeyed_where_an_older_list_was_put_back(kill: Any, state: State) -> None:
    kill("--agent", "mailer")
    older = state.folder.path / "older"
    shutil.copy2(state.folder.revocations, older)
    kill("--agent", "other")
    older.rename(state.folder.revocations)
    (state.folder.path / "revocations.seen").unlink()
    status, told = kill("--agent", "mailer", "--undo")
    assert (status, told["seq"], told["revoked"]) == (0, 3, [{"kind": "agent", "name": "other"}])


def test_a_folder_that_is_none_is_bad_input(tmp_path: Path) -> None:
    assert run(["kill", "--all", "--state", str(tmp_path / "nowhere")]) == 2


# --- what hangs on it ----------------------------------------------------------------------------------------------


def test_pending_holds_and_unused_approvals_are_void(kill: Any, state: State) -> None:
    opened = {"id": "h1", "nonce": "n", "expires": int(time.time()) + 300, "confirm_by": "user", "quorum": 1}
    reason = {"kind": "rule", "asks": "hold", "name": "big", "message": "", "layer": "personal"}
    state.start("r1", "mailer")
    state.start("r2", "other")
    for number, (name, agent) in enumerate([("r1", "mailer"), ("r2", "other")], 1):
        state.append(
            "decision", run=name, agent=agent, mode="hold", reasons=[reason], approvals=[], binding=f"b{number}",
            likeness="l", revocations=0, links=[], hold={**opened, "id": f"h{number}"}, authority_digest="none",
        )  # fmt: skip
    _, told = kill("mailer")
    assert told["void"] == ["h1"]
    (entry,) = state.entries("cancellation")
    assert entry["hold"] == "h1"
    state.store.catch_up()
    assert [hold.id for hold in state.store.holds("pending")] == ["h2"]


def _key(state: State) -> Key:
    from vigil_lang.gate.authority.keys import load_key

    return load_key(state.folder.keys / "revoker.pem")
