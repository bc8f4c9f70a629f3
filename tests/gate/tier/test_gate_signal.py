"""`vigil gate signal`: a number goes into the log, or the call is at fault."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from vigil_lang.cli.main import run
from vigil_lang.gate.authority.keys import Key, write_key
from vigil_lang.gate.canonical import canonical
from vigil_lang.gate.log.log import create_log
from vigil_lang.gate.state import StateFolder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

KEY = Key.new()


@pytest.fixture
def folder(tmp_path: Path) -> StateFolder:
    place = tmp_path / "state"
    place.mkdir(mode=0o700)
    made = StateFolder(place)
    create_log(made)
    made.settings.write_text(f'[tier.sources.local]\n[tier.sources.remote]\nkey = "{KEY.public}"\n')
    return made


@pytest.fixture
def signal(folder: StateFolder, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, Any]]:
    def call(*args: str) -> tuple[int, Any]:
        status = run(["gate", "signal", *args, "--state", str(folder.path), "--format", "json"])
        out = capsys.readouterr().out
        return status, json.loads(out) if out.startswith("{") else None

    return call


def logged(folder: StateFolder) -> list[dict[str, Any]]:
    return [json.loads(line) for line in folder.log.read_text(encoding="utf-8").splitlines()]


def test_a_signal_is_an_entry_of_the_log(signal: Any, folder: StateFolder) -> None:
    status, told = signal("r1", "--source", "local", "--score", "0.8", "--for", "90s")
    assert (status, told["schema"], told["seq"], told["tier"], told["known"]) == (0, "vigil.signal/1", 0, 2, False)
    (entry,) = logged(folder)
    assert {name: entry[name] for name in ("kind", "run", "source", "score", "until")} == {
        "kind": "signal", "run": "r1", "source": "local", "score": 0.8, "until": told["until"],
    }  # fmt: skip


def test_a_source_with_a_key_signs(signal: Any, folder: StateFolder, tmp_path: Path) -> None:
    write_key(KEY, str(tmp_path / "key.pem"))
    status, told = signal("r1", "--source", "remote", "--score", "1", "--key", str(tmp_path / "key.pem"))
    assert (status, told["tier"]) == (0, 3)
    (entry,) = logged(folder)
    assert entry["by"] == KEY.public
    assert set(entry["signed"]) == {"v", "run", "source", "score", "issued", "until"}
    assert canonical(entry["signed"])


@pytest.mark.parametrize(
    "args",
    [
        ("r1", "--source", "nobody", "--score", "1"),
        ("r1", "--source", "local", "--score", "nan"),
        ("r1", "--source", "local", "--score", "-1"),
        ("r1", "--source", "local", "--score", "high"),
        ("r1", "--source", "local", "--score", "1", "--for", "soon"),
        ("r1", "--source", "local", "--score", "1", "--for", "0s"),
        ("r1", "--source", "local", "--score", "1", "--for", "99999d"),
        ("", "--source", "local", "--score", "1"),
        ("r1", "--score", "1"),
        ("r1", "--source", "remote", "--score", "1", "--key", "/nowhere"),
    ],
)
def test_what_is_no_signal_is_bad_input_and_leaves_no_entry(
    args: tuple[str, ...], signal: Any, folder: StateFolder
) -> None:
    assert signal(*args) == (2, None)
    assert logged(folder) == []


def test_another_key_does_not_speak_for_a_source(signal: Any, folder: StateFolder, tmp_path: Path) -> None:
    write_key(Key.new(), str(tmp_path / "other.pem"))
    assert signal("r1", "--source", "remote", "--score", "0", "--key", str(tmp_path / "other.pem")) == (2, None)
    assert logged(folder) == []


def test_a_folder_that_is_none_is_bad_input(tmp_path: Path) -> None:
    args = ["gate", "signal", "r1", "--source", "local", "--score", "1", "--state", str(tmp_path / "nowhere")]
    assert run(args) == 2
