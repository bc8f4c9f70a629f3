"""`vigil hold`: what it prints for people and programs, and its exit statuses."""

from __future__ import annotations

import hashlib
import json
import sys
import threading
import time
from base64 import urlsafe_b64decode
from io import BytesIO, TextIOWrapper
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from holds_support import Call, Clock, World, create, key_file
from rich.cells import cell_len
from rich.console import Console

from vigil_lang.cli.hold_screen import _exactly
from vigil_lang.cli.main import run
from vigil_lang.diagnostics.visible import visible
from vigil_lang.gate.authority.keys import Key, verify
from vigil_lang.gate.canonical import canonical
from vigil_lang.gate.settings import read_settings

if TYPE_CHECKING:
    from pathlib import Path

NASTY = "\x1b[31m\x07\u202e\x9b"


class Result(NamedTuple):
    status: int
    out: str
    err: str


class Screen:
    """A state folder whose gate works in the real time, and `vigil hold` on it."""

    def __init__(
        self, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, more: str = ""
    ) -> None:
        self.capsys, self.monkeypatch = capsys, monkeypatch
        self.alice, self.org, self.stranger = Key.new(), Key.new(), Key.new()
        keys = {"alice": self.alice, "org": self.org, "stranger": self.stranger}
        self.keys = {name: str(key_file(folder, name, key)) for name, key in keys.items()}
        self.state = create(folder / "state")
        text = f'[holds]\napprovers = ["{self.alice.public}"]\norganisation = ["{self.org.public}"]\n{more}'
        self.state.settings.write_text(text)
        self.world = World(self.state, read_settings(self.state.settings).holds, Clock(int(time.time())))

    def __call__(self, *args: str) -> Result:
        self.monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(), encoding="utf-8"))
        self.capsys.readouterr()
        status = run(["hold", *args, "--state", str(self.state.path)])
        return Result(status, *self.capsys.readouterr())

    def json(self, *args: str) -> Any:
        result = self(*args, "--format", "json")
        assert result.status == 0
        return json.loads(result.out)


@pytest.fixture(autouse=True)
def _plain_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.delenv("VIGIL_KEY", raising=False)


@pytest.fixture
def hold(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Screen:
    return Screen(tmp_path, capsys, monkeypatch)


def test_where_nothing_waits_it_says_so(hold: Screen) -> None:
    assert hold("list") == (0, "Nothing waits to be confirmed\n", "")
    assert hold.json("list") == {"schema": "vigil.holds/1", "holds": []}


@pytest.mark.parametrize("columns", [80, 120])
def test_the_list_fits_the_screen_and_is_safe_to_look_at(
    hold: Screen, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    names = [
        hold.world.ask(Call(agent="a" * 60, run=NASTY)).hold,
        hold.world.ask(Call(tool=f"pay.{NASTY}.{'long' * 50}", tier=3)).hold,
        hold.world.ask(Call(amount=5, layer="organisation", more=(f"another{NASTY}" * 9,))).hold,
    ]
    for args in (["list"], *(["show", name or ""] for name in names), ["list", "--all"]):
        result = hold(*args)
        assert (result.status, result.err) == (0, "")
        assert all(line.isprintable() and len(line) <= columns for line in result.out.splitlines())
    listed = hold("list").out
    assert [listed.index(name or "") for name in names] == sorted((listed.index(n or "") for n in names), reverse=True)
    assert hold("list", "--format", "json").out.isascii() or "\x1b" not in hold("list", "--format", "json").out


def test_a_hold_is_shown_with_its_action_in_full(hold: Screen) -> None:
    name = hold.world.ask(Call(more=("second",))).hold or ""
    shown = hold("show", name).out
    for part in ('"amount": 700', '"to": "acct_123"', "personal.transfer", "personal.second", " min"):
        assert part in shown
    hold.world.log.close()
    for path in hold.state.path.glob("args.sqlite*"):
        path.unlink()
    assert "not known any more" in hold("show", name).out
    assert "not known any more" in hold("list").out


@pytest.mark.parametrize("columns", [40, 80, 120])
def test_the_action_is_shown_with_each_of_its_characters(columns: int, capsys: pytest.CaptureFixture[str]) -> None:
    """Wrapped at words, a space at the edge would be gone: `rm DIR /` would look like `rm DIR/`."""
    console = Console(width=columns, file=sys.stdout)
    for length in range(columns):
        text = f"rm {'d' * length} /   x\u2028   y日本"
        _exactly(console, f'    "command": "{text}"')
        lines = capsys.readouterr().out.split("\n")
        assert "".join(line[6:] for line in lines) == f'"command": "{visible(text)}"'
        assert all(cell_len(line) <= columns for line in lines)


def test_an_approval_can_be_checked_by_who_reads_the_published_form(hold: Screen) -> None:
    name = hold.world.ask(Call()).hold or ""
    (listed,) = hold.json("list")["holds"]
    assert (listed["id"], listed["state"], listed["missing"]) == (name, "pending", 1)
    assert listed["action"] == Call().action
    approved = hold.json("approve", name, "--key", hold.keys["alice"])
    assert (approved["schema"], approved["state"], approved["uses"]) == ("vigil.hold/1", "approved", 1)
    (confirmation,) = approved["confirmations"]
    signed = {"binding": listed["binding"], "hold": name, "nonce": listed["nonce"], "expires": listed["expires"]}
    signature = urlsafe_b64decode(confirmation["signature"] + "==")
    assert confirmation["by"] == hold.alice.public
    assert verify(confirmation["by"], signature, hashlib.sha256(canonical(signed)).digest())
    assert hold.world.ask(Call()).mode == "pass"


@pytest.mark.parametrize("verb", ["approve", "deny", "cancel"])
def test_what_cannot_be_done_is_refused_with_status_2(hold: Screen, verb: str) -> None:
    name = hold.world.ask(Call()).hold or ""
    key = ["--key", hold.keys["alice"]] if verb != "cancel" else []
    assert hold(verb, "unknown", *key) == (2, "", "Error: there is no hold `unknown`\n")
    assert hold(verb, name, *key).status == 0
    again = hold(verb, name, *key)
    assert (again.status, again.out) == (2, "")
    assert "waits no more" in again.err


def test_a_key_that_may_not_confirm_is_refused(hold: Screen) -> None:
    name = hold.world.ask(Call(layer="organisation")).hold or ""
    for key in ("stranger", "alice"):
        for verb in ("approve", "deny"):
            refused = hold(verb, name, "--key", hold.keys[key])
            assert (refused.status, "none of the organisation's approvers" in refused.err) == (2, True)
    assert hold("approve", name, "--key", hold.keys["org"]).status == 0


def test_without_a_key_nothing_is_confirmed(hold: Screen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    name = hold.world.ask(Call()).hold or ""
    assert hold("approve", name).status == 2
    monkeypatch.setenv("VIGIL_KEY", hold.alice.pem().decode())
    assert hold("approve", name).status == 0


def test_several_are_confirmed_at_once_or_none_is(hold: Screen) -> None:
    names = [hold.world.ask(Call(amount=amount)).hold or "" for amount in (1, 2)]
    assert hold("approve", *names, "unknown", "--key", hold.keys["alice"]).status == 2
    assert [each["state"] for each in hold.json("list")["holds"]] == ["pending", "pending"]
    done = hold("approve", *names, "--key", hold.keys["alice"])
    assert (done.status, done.out.count("approved")) == (0, 2)
    assert hold.json("list")["holds"] == []
    assert len(hold.json("list", "--all")["holds"]) == 2


def test_a_release_is_for_a_time(hold: Screen) -> None:
    name = hold.world.ask(Call()).hold or ""
    for wrong in ("2h", "forever", "-1h", "0s", "1e3s"):
        assert hold("release", name, "--for", wrong, "--key", hold.keys["alice"]).status == 2
    assert hold("release", name, "--key", hold.keys["alice"]).status == 2
    released = hold("release", name, "--for", "30m", "--key", hold.keys["alice"])
    assert (released.status, "calls like this, before" in released.out) == (0, True)
    assert [hold.world.ask(Call(amount=amount)).mode for amount in (1, 2)] == ["pass", "pass"]
    assert "Calls like this, up to 1,000 times" in hold("show", name).out


def test_waiting_tells_by_its_status(hold: Screen) -> None:
    names = [hold.world.ask(Call(amount=amount)).hold or "" for amount in (1, 2, 3, 4)]
    hold.world.approve(hold.alice, names[0])
    hold.world.deny(hold.alice, names[1])
    hold.world.holds.cancel([names[2]], "not wanted")
    answers = [hold("wait", name, "--for", "0s") for name in names]
    assert [answer.status for answer in answers] == [0, 1, 1, 1]
    assert [answer.out.split()[1] for answer in answers] == ["approved", "denied", "cancelled", "pending"]
    assert hold("wait", "unknown").status == 2


def test_waiting_ends_when_somebody_answers(hold: Screen) -> None:
    name = hold.world.ask(Call()).hold or ""
    timer = threading.Timer(0.3, lambda: hold.world.again().approve(hold.alice, name))
    timer.start()
    began = time.monotonic()
    assert hold("wait", name, "--for", "30s").status == 0
    assert time.monotonic() - began < 10
    timer.join()


def test_a_quorum_says_what_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    hold = Screen(tmp_path, capsys, monkeypatch, "quorum = 2\nmax_uses = 3\n")
    name = hold.world.ask(Call()).hold or ""
    assert "2 of 2 confirmations missing" in hold("list").out
    assert "1 of 2 confirmations missing" in hold("approve", name, "--key", hold.keys["alice"]).out
    assert f"by {hold.alice.public}" in hold("show", name).out
    assert "up to 3 times" in hold("show", name).out
    assert "approved" in hold("approve", name, "--key", hold.keys["org"]).out


def test_what_ended_says_how(hold: Screen) -> None:
    names = [hold.world.ask(Call(amount=amount)).hold or "" for amount in (1, 2)]
    assert hold("cancel", names[0], "--why", "I found it").out == f"{names[0]}  cancelled I found it\n"
    hold("deny", names[1], "--key", hold.keys["alice"])
    assert f"denied: {hold.alice.public}" in hold("show", names[1]).out
    assert hold("list", "--all").out.startswith("Nothing waits to be confirmed\n\n")
    assert hold.json("show", names[0])["why"] == "I found it"


@pytest.mark.parametrize(("action", "shown"), [({"tool": "x", "input": [1]}, "x [1]"), (None, "not known any more")])
def test_a_call_that_is_no_event_is_shown_as_it_is(action: object, shown: str) -> None:
    from vigil_lang.gate.hold_words import one_line

    assert shown in one_line(action, 60).plain


def test_a_void_approval_says_why(hold: Screen) -> None:
    name = hold.world.ask(Call()).hold or ""
    hold.world.approve(hold.alice, name)
    hold.world.holds.void("mailer is revoked", lambda _: True)
    assert "It does not count any more: mailer is revoked" in hold("show", name).out


@pytest.mark.parametrize("spoil", ["missing", "open", "settings", "log"])
def test_a_state_that_cannot_be_read_is_status_2(hold: Screen, spoil: str, tmp_path: Path) -> None:
    name = hold.world.ask(Call()).hold or ""
    match spoil:
        case "missing":
            hold.state.path.rename(tmp_path / "elsewhere")
        case "open":
            hold.state.path.chmod(0o755)
        case "settings":
            hold.state.settings.write_text("[holds]\ntimeout = 0\n")
        case _:
            hold.state.log.write_bytes(b"{}\n")
    for args in (
        ["list"],
        ["show", name],
        ["wait", name],
        ["cancel", name],
        ["approve", name, "--key", hold.keys["alice"]],
    ):
        result = hold(*args)
        assert (result.status, result.out) == (2, "")
        assert result.err.startswith("Error: ")
