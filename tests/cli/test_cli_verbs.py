"""The smaller verbs and the group itself."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from cli_support import FIXTURES, VIOLATING

from vigil_lang.cli.main import VERBS
from vigil_lang.diagnostics import CODES
from vigil_lang.trace.signature_file import signature_from_json
from vigil_lang.version import __version__

if TYPE_CHECKING:
    from pathlib import Path

    from cli_support import Golden, Vigil, Write


# --- the group ---------------------------------------------------------------------------------------------


def test_help_lists_the_verbs_and_the_exit_statuses(vigil: Vigil, golden: Golden) -> None:
    result = vigil("--help")
    assert (result.status, result.err) == (0, "")
    golden("help.txt", result.out)


@pytest.mark.parametrize("verb", sorted(VERBS))
def test_every_verb_has_help(vigil: Vigil, verb: str) -> None:
    result = vigil(verb, "--help")
    assert result.status == 0
    assert result.out.startswith(f"Usage: vigil {verb} ")


def test_the_version_is_printed(vigil: Vigil) -> None:
    assert vigil("--version").out == f"vigil {__version__}\n"


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ([], "Usage: vigil"),
        (["verfy"], "No such verb 'verfy'. Did you mean 'verify'?"),
        (["zzz"], "No such verb 'zzz'."),
        (["--nope"], "No such option"),
        (["check", "--nope", "x"], "No such option"),
        (["\x1b[31m\n"], "No such verb '\\x1b[31m"),
    ],
)
def test_a_call_that_makes_no_sense_has_status_2(vigil: Vigil, args: list[str], message: str) -> None:
    result = vigil(*args)
    assert (result.status, result.out) == (2, "")
    assert message in result.err
    assert "\x1b" not in result.err


def test_a_fault_of_the_tool_is_one_message_and_status_3(vigil: Vigil, monkeypatch: pytest.MonkeyPatch) -> None:
    # spec RC.4-1
    def fail(*_: object) -> None:
        raise ValueError("broken\x1b[31m")

    monkeypatch.setattr("vigil_lang.signatures.load_signature", fail)
    result = vigil("signature", VIOLATING)
    assert (result.status, result.out) == (3, "")
    assert "vigil: internal error: ValueError: broken\\x1b[31m\n" in result.err
    monkeypatch.setenv("VIGIL_DEBUG", "1")
    with pytest.raises(ValueError, match="broken"):
        vigil("signature", VIOLATING)


def test_an_interrupted_call_says_so(vigil: Vigil, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("vigil_lang.signatures.load_signature", interrupt)
    result = vigil("signature", VIOLATING)
    assert result.status == 2
    assert result.err == "vigil: interrupted\n"


# --- explain -----------------------------------------------------------------------------------------------


def test_explain_lists_every_code(vigil: Vigil) -> None:
    out = vigil("explain").out
    assert all(f"{code.id}  {code.severity}" in out and code.summary in out for code in CODES.values())


@pytest.fixture
def page(write: Write, monkeypatch: pytest.MonkeyPatch) -> str:
    """The page of one code."""
    text = "# VGL201: a name is not declared\n\n```vgl\nstatement A: abs(p(x))\n```\n\n- **Fix** it. [bold]\n"
    path = write("VGL201.md", text)
    monkeypatch.setattr("vigil_lang.cli.explain.resource", lambda *_: path)
    return text


@pytest.mark.parametrize("code", ["VGL201", "vgl201", "201"])
def test_explain_prints_the_page_of_a_code(vigil: Vigil, page: str, code: str) -> None:
    result = vigil("explain", code)
    assert (result.status, result.out) == (0, page)


def test_explain_renders_the_page_on_a_terminal(
    vigil: Vigil, page: str, golden: Golden, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "```" in page
    monkeypatch.setattr("vigil_lang.cli.explain._on_terminal", lambda: True)
    shown = vigil("explain", "VGL201").out
    golden("explain.txt", "".join(f"{line.rstrip()}\n" for line in shown.splitlines()))


@pytest.mark.parametrize(("code", "hint"), [("VGL21", "VGL2"), ("zzz", "vigil explain lists all of them")])
def test_explain_knows_what_may_have_been_meant(vigil: Vigil, code: str, hint: str) -> None:
    result = vigil("explain", code)
    assert result.status == 2
    assert f"There is no code '{code}'" in result.err
    assert hint in result.err


# --- signature ---------------------------------------------------------------------------------------------


def test_a_signature_is_a_table(vigil: Vigil, golden: Golden) -> None:
    result = vigil("signature", VIOLATING, f"{FIXTURES}/tour.jsonl")
    assert (result.status, result.err) == (0, "")
    golden("signature.txt", result.out)


def test_a_signature_is_saved_as_json(vigil: Vigil, tmp_path: Path) -> None:
    target = tmp_path / "s.json"
    assert vigil("signature", VIOLATING, "-o", target).out == ""
    saved = signature_from_json(json.loads(target.read_text(encoding="utf-8")))
    assert "warpAffine" in saved.actions
    printed = vigil("signature", target, "--format", "json").out
    assert json.loads(printed) == json.loads(target.read_text(encoding="utf-8"))


def test_tools_of_a_server_get_the_names_a_host_gives_them(vigil: Vigil, write: Write) -> None:
    schema = '{"type":"object","properties":{"state":{"enum":["open","closed"]}},"additionalProperties":true}'
    tools = write("t.json", f'{{"tools":[{{"name":"list","inputSchema":{schema}}},{{"name":"ping"}}]}}')
    result = vigil("signature", tools, VIOLATING, "--server", "my server", "--format", "json")
    actions = json.loads(result.out)["actions"]
    assert {"mcp__my_server__list", "mcp__my_server__ping", "warpAffine"} <= set(actions)
    table = vigil("signature", tools).out
    assert "2 actions, declared in 1 source" in table
    assert "closed, open" in table


def test_a_signature_of_nothing_says_so(vigil: Vigil) -> None:
    assert vigil("signature", "-", "--allow-empty").out == "0 actions, observed in 1 source\n"
    assert vigil("signature", "missing").status == 2


# --- completion and demo -----------------------------------------------------------------------------------


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_call_vigil(vigil: Vigil, shell: str) -> None:
    result = vigil("completion", shell)
    assert result.status == 0
    assert f"_VIGIL_COMPLETE={shell}_complete" in result.out


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("vigil ver", ["verify"]),
        ("vigil rep", ["replay"]),
        ("vigil explain vgl60", ["VGL601", "VGL605"]),
        ("vigil check std.fi", ["std.files"]),
    ],
)
def test_shells_are_told_what_fits(
    vigil: Vigil, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: str, offered: list[str]
) -> None:
    monkeypatch.setenv("_VIGIL_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))
    with pytest.raises(SystemExit) as leave:
        vigil()
    assert leave.value.code == 0
    out = capsys.readouterr().out
    assert all(f"plain,{word}\n" in out for word in offered)


def test_the_demo_shows_verdicts_and_ends_well(vigil: Vigil, golden: Golden) -> None:
    result = vigil("demo")
    assert (result.status, result.err) == (0, "")
    assert "✗ R3" in result.out
    assert "▶ e5  warpAffine(" in result.out
    assert result.out.count("\nsafe  ") == 2
    golden("demo.txt", result.out)
