"""A real Neovim, without a screen, on a copy of the example: what somebody at the keyboard sees and gets.

`tests/editors/install.py nvim` fetches one where the system has none that is new enough; `make test` calls it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from install import EDITORS, ROOT, Unavailable, find

EXAMPLE = ROOT / "examples" / "dashcam"
SECONDS = 240
"""For everything; a step that waits for more than thirty seconds gives up and says so."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the example."""
    found = tmp_path_factory.mktemp("neovim").resolve() / "dashcam"
    shutil.copytree(EXAMPLE, found)
    return found


@pytest.fixture(scope="module")
def seen(folder: Path) -> dict[str, Any]:
    """What a Neovim saw at each step of neovim.lua."""
    try:
        neovim = find("nvim")
    except Unavailable as error:
        pytest.skip(str(error))
    home = folder.parent / "home"
    written = folder.parent / "seen.json"
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "NVIM", "VIM"))},
        **{f"XDG_{kind}_HOME": str(home / kind.lower()) for kind in ("CONFIG", "DATA", "STATE", "CACHE")},
        "VIGIL_SEEN": str(written),
        "VIGIL_COMMAND": json.dumps([sys.executable, "-m", "vigil_lang", "lsp"]),
        "VIGIL_NEOVIM": str(ROOT / "lsp" / "editors" / "neovim"),
        "LC_ALL": "C.UTF-8",
    }
    command = [neovim, "--headless", "-i", "NONE", "-u", Path(__file__).with_name("neovim.lua"), "dashcam.vgl"]
    try:
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
        )
        said = done.stdout + done.stderr
    except subprocess.TimeoutExpired as error:
        said = f"no end after {SECONDS} s; {error.stdout!r} {error.stderr!r}"
    logs = "\n".join(path.read_text(errors="replace")[-3_000:] for path in home.rglob("*.log"))
    assert written.exists(), f"Neovim wrote nothing: {said}\n{logs}"
    found: dict[str, Any] = json.loads(written.read_text(encoding="utf-8"))
    assert "problem" not in found, f"{found['problem']}\nseen: {json.dumps(found, indent=1)}\n{said}\n{logs}"
    return found


def policy(*changes: tuple[str, str]) -> str:
    """The example's policy with replacements, as Neovim gives its lines."""
    text = (EXAMPLE / "dashcam.vgl").read_text(encoding="utf-8").removesuffix("\n")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return text


def test_a_policy_starts_the_server(seen: dict[str, Any], folder: Path) -> None:
    assert seen["attach"]["filetype"] == "vigil"
    assert seen["attach"]["commentstring"] == "// %s"
    assert Path(seen["attach"]["root"]) == folder


def test_what_the_server_leaves_out_has_colours(seen: dict[str, Any]) -> None:
    colours = seen["colours"]
    keywords = ("policy dashcam", "pattern consumes", "statement R3", "in {", "and")
    assert {colours[word] for word in keywords} <= {"Keyword", "Statement"}
    assert colours["prec"] == colours["abs("] == "Statement"
    assert colours["/// "] in ("Comment", "Special", "SpecialComment")
    assert (colours["SKILL.md"], colours["{x}` was"], colours["@source"]) == ("String", "Special", "PreProc")
    assert colours["="] == "Operator"
    assert colours["consumes(x) = "] == "", "names are the server's"


def test_a_slip_of_the_pen_is_found(seen: dict[str, Any]) -> None:
    found = {(each["code"], each["text"]) for each in seen["typo"]}
    assert ("VGL402", "transfrom") in found
    assert ("VGL401", "warpPerspective") in found, "what else there is to say stays shown"
    message = next(each["message"] for each in seen["typo"] if each["code"] == "VGL402")
    assert message.splitlines()[0].startswith("`warpAffine` has no argument `transfrom`")


def test_the_fix_is_taken(seen: dict[str, Any]) -> None:
    assert seen["fix"] == policy()


def test_hover_says_what_a_form_means(seen: dict[str, Any]) -> None:
    assert "prec" in seen["hover"]
    assert "□" in seen["hover"]


def test_completion_offers_forms(seen: dict[str, Any]) -> None:
    assert seen["completion"]["words"] == ["abs"]
    assert seen["completion"]["line"] == "statement T: abs(forbidden)", "the snippet is put in"


def test_rename(seen: dict[str, Any]) -> None:
    assert seen["rename"] == policy(("consumes(", "applies("))


def test_definition(seen: dict[str, Any]) -> None:
    assert seen["definition"].startswith("pattern applies(x) = ")


def test_format(seen: dict[str, Any]) -> None:
    assert seen["format"] == policy(("consumes(", "applies("))


def test_semantic_tokens(seen: dict[str, Any]) -> None:
    assert seen["tokens"] == {"type": "function", "start": len("pattern "), "stop": len("pattern applies")}


def test_inlay_hints_show_matches(seen: dict[str, Any]) -> None:
    """One warp in the two runs each consumes a transform."""
    assert any("2 events" in hint for hint in seen["hints"]), seen["hints"]


def test_lenses_show_verdicts(seen: dict[str, Any]) -> None:
    assert sum("violated in 1 of 2 runs" in title for title in seen["lenses"]) == 1, seen["lenses"]


def test_verdicts_stand_at_the_ends_of_lines(seen: dict[str, Any]) -> None:
    """At once after an edit nothing is known, where the marks have moved to; then it is said anew."""
    found = seen["verdicts"]
    assert found["before"]["R3"] == "✗|✗ violated in 1 of 2 runs"
    assert set(found["edited"].values()) == {"?|? …"}
    assert found["after"] == found["before"]
    assert found["edited"].keys() == found["before"].keys()


def test_a_slip_in_the_configuration_is_found(seen: dict[str, Any]) -> None:
    assert seen["configuration"]["text"] == '"file.raed"'
    assert "did you mean `file.read`?" in seen["configuration"]["message"]


def test_the_server_complains_of_nothing(seen: dict[str, Any]) -> None:
    assert not [line for line in seen["quiet"].splitlines() if "ERROR" in line or "Traceback" in line]


def test_the_editor_was_installed_here_or_is_the_systems() -> None:
    """Where this project fetched one, its own folder has it: nothing is left behind elsewhere."""
    if not (EDITORS / "bin" / "nvim").exists():
        pytest.skip("tests/editors/install.py fetched none")
    assert find("nvim") == EDITORS / "bin" / "nvim"
