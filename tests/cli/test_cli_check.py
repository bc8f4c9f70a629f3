"""`vigil check`: findings, formats, levels, and the exit status."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from cli_support import DASHCAM, VIOLATING

if TYPE_CHECKING:
    from cli_support import Golden, Vigil, Write

from vigil_lang.diagnostics import CODES

WARNS = "statement A: abs(x(y = z))\n"  # the variable `z` occurs only once


def is_findings(found: dict[str, Any]) -> None:
    """Hold an object against `vigil.findings/1` (design, section 6)."""
    assert list(found) == ["schema", "findings"]
    assert found["schema"] == "vigil.findings/1"
    for finding in found["findings"]:
        assert set(finding) == {"code", "severity", "message", "help", "file", "start", "end", "fix"}
        assert finding["code"] in CODES
        assert finding["severity"] in ("error", "warning", "info")
        assert finding["message"]
        assert finding["help"] is None or isinstance(finding["help"], str)
        places = [finding["start"], finding["end"]]
        if finding["fix"] is not None:
            assert set(finding["fix"]) == {"title", "safe", "edits"}
            assert isinstance(finding["fix"]["safe"], bool)
            assert all(set(edit) == {"start", "end", "text"} for edit in finding["fix"]["edits"])
            places += [edit[end] for edit in finding["fix"]["edits"] for end in ("start", "end")]
        for place in places:
            assert set(place) == {"line", "column"}
            assert place["line"] >= 1
            assert place["column"] >= 1
        assert (finding["start"]["line"], finding["start"]["column"]) <= (
            finding["end"]["line"],
            finding["end"]["column"],
        )


def test_clean_policies_are_counted(vigil: Vigil, write: Write) -> None:
    result = vigil("check", DASHCAM)
    assert (result.status, result.out, result.err) == (0, "1 policy checked, no findings\n", "")
    result = vigil("check", DASHCAM, write("b.vgl"))
    assert result.out == "2 policies checked, no findings\n"


def test_a_policy_comes_from_standard_input(vigil: Vigil) -> None:
    result = vigil("check", "-", "--format", "concise", stdin=b"statement A: abs(")
    assert result.status == 1
    assert result.out.startswith("<stdin>:1:18: VGL101 ")


def test_a_standard_module_is_checked_by_its_name(vigil: Vigil) -> None:
    assert vigil("check", "std.files").status == 0


def test_a_file_that_does_not_parse_is_a_finding(vigil: Vigil, write: Write) -> None:
    # spec RC.4-3
    result = vigil("check", write("a.vgl", "statement A: abs("), DASHCAM)
    assert (result.status, result.err) == (1, "")
    assert "error[VGL101]" in result.out


@pytest.mark.parametrize(("level", "status"), [("error", 0), ("warning", 1), ("info", 1), ("never", 0)])
def test_the_fail_level_decides_on_the_status(vigil: Vigil, write: Write, level: str, status: int) -> None:
    # spec RC.4-1
    result = vigil("check", write("a.vgl", WARNS), "--fail-level", level)
    assert "VGL301" in result.out
    assert result.status == status


def test_the_status_of_an_error_below_every_level_is_clean(vigil: Vigil, write: Write) -> None:
    assert vigil("check", write("a.vgl", "statement A: abs("), "--fail-level", "never").status == 0


def test_json_is_the_published_form(vigil: Vigil, write: Write) -> None:
    policy = write("a.vgl", WARNS + "statement B: abs(undeclared_pattern(\nstatement A: abs(z())\nlet X = {a}\n")
    result = vigil("check", policy, "--format", "json")
    found = json.loads(result.out)
    is_findings(found)
    assert {f["code"] for f in found["findings"]} >= {"VGL101", "VGL202", "VGL301"}
    is_findings(json.loads(vigil("check", DASHCAM, "--format", "json").out))


def test_findings_are_in_the_order_of_the_files_and_their_lines(vigil: Vigil, write: Write) -> None:
    one, two = write("b.vgl", WARNS * 2), write("a.vgl", WARNS)
    lines = vigil("check", one, two, "--format", "concise").out.splitlines()
    places = [(line.split(":")[0], int(line.split(":")[1])) for line in lines]
    assert [name for name, _ in places] == sorted((name for name, _ in places), key=[str(one), str(two)].index)
    assert [n for name, n in places if name == str(one)] == sorted(n for name, n in places if name == str(one))


def test_what_is_wrong_with_a_shared_module_is_said_once(vigil: Vigil, write: Write) -> None:
    write("shared.vgl", "pattern p(x) = a(b = x) and c(\npattern q(x) = r(s = x)\n")
    for name in ("one.vgl", "two.vgl"):
        write(name, "use .shared: q\nstatement A: prec(q(x), q(x))\n")
    folder = write("three.vgl").parent
    lines = vigil("check", folder, "--format", "concise").out.splitlines()
    assert sum("shared.vgl" in line and "VGL101" in line for line in lines) == 1


def test_an_unreadable_file_does_not_hide_the_findings_of_others(vigil: Vigil, write: Write) -> None:
    result = vigil("check", write("a.vgl", b"\xff"), write("b.vgl", WARNS), "--format", "concise")
    assert result.status == 2
    assert "a.vgl:1:1: VGL002" in result.out
    assert "b.vgl:1:" in result.out


def test_names_are_checked_against_runs_and_signatures(vigil: Vigil, write: Write) -> None:
    policy = write("a.vgl", "statement A: abs(sample_vidoe(fps = 5))\n")
    saved = write("s.json", vigil("signature", VIOLATING, "--format", "json").out)
    tools = write("t.json", '{"tools":[{"name":"sample_vidoe","inputSchema":{"type":"object"}}]}')
    assert vigil("check", policy).status == 0
    for against in (["--trace", VIOLATING], ["--trace", "examples/dashcam"], ["--signature", saved]):
        result = vigil("check", policy, *against, "--format", "concise")
        assert result.status == 1
        assert "VGL401" in result.out
    assert "VGL401" not in vigil("check", policy, "--trace", VIOLATING, "--signature", tools, "--format", "concise").out


def test_extensions_are_reported_on_request(vigil: Vigil, write: Write) -> None:
    policy = write("a.vgl", "statement A: atmost[2](x())\n")
    assert vigil("check", policy).status == 0
    result = vigil("check", policy, "--core", "--fail-level", "info", "--format", "concise")
    assert result.status == 1
    assert "VGL501" in result.out


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--signature", "pyproject.toml"], "VGL6"),
        (["--trace", "nowhere.jsonl"], "there is no file or folder `nowhere.jsonl`"),
        (["--params", "README.md"], "the file is no valid TOML"),
        (["--params", "nowhere.toml"], "cannot read `nowhere.toml`"),
        (["--set", "nothing=1"], "no policy has a param 'nothing'"),
        (["--fail-level", "fatal"], "'fatal' is not one of"),
    ],
)
def test_bad_options_say_what_is_wrong(vigil: Vigil, args: list[str], message: str) -> None:
    result = vigil("check", DASHCAM, *args)
    assert (result.status, result.out) == (2, "")
    assert message in result.err


# --- parameters --------------------------------------------------------------------------------------------


def test_params_need_a_value_of_their_type(vigil: Vigil, write: Write) -> None:
    policy = write("a.vgl", "param names: set\nparam n: number = 1\nstatement A: abs(x(y in names, z < n))\n")
    assert vigil("check", policy).status == 1
    assert vigil("check", policy, "--set", "names=a, b").status == 0
    assert vigil("check", policy, "--set", "names=a", "--set", "n=2.5").status == 0
    result = vigil("check", policy, "--set", "names=a", "--set", "n=many")
    assert result.status == 1
    assert "VGL210" in result.out
    assert "Did you mean 'names'?" in vigil("check", policy, "--set", "name=a").err
    result = vigil("compile", policy, "--length", "2", "--set", "names=a", "--set", "n=1", "--set", "name=b")
    assert (result.status, "Did you mean 'names'?" in result.err) == (2, True)


def test_params_of_used_modules_can_be_set(vigil: Vigil, write: Write) -> None:
    write("shared.vgl", "param limit: number = 1\npattern p = x(y < limit)\n")
    policy = write("a.vgl", "use .shared: p\nstatement A: abs(p)\n")
    assert vigil("check", policy, "--set", "limit=2").status == 0


@pytest.mark.parametrize(
    ("text", "place"), [("a = \n", "p.toml:1:5"), ("a = 1\nb", "p.toml:2:2"), ("a = " + "[" * 3000, "p.toml:1:")]
)
def test_broken_toml_is_pointed_at(vigil: Vigil, write: Write, text: str, place: str) -> None:
    result = vigil("check", DASHCAM, "--params", write("p.toml", text))
    assert result.status == 2
    assert "VGL210" in result.err
    assert place in result.err


# --- what refusing calls can do ----------------------------------------------------------------------------

GATED = """\
statement first: prec(deploy(env = x), test(env = x))

@on_violation(hold)
statement a_name_that_takes_more_room: always deploy() implies earlier review() and later smoke_test()

statement hidden: abs(read(output contains "SECRET"))

statement never: abs(action in {})
"""


@pytest.mark.parametrize("width", [80, 120])
def test_enforce_says_of_each_statement_what_a_gate_can_do(
    width: int, vigil: Vigil, write: Write, golden: Golden, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    result = vigil("check", write("gate.vgl", GATED), "--enforce")
    assert result.status == 1  # VGL302: nothing violates `never`
    said = result.out[result.out.index("1 error") :]
    golden(f"enforce-{width}.txt", said)
    assert all(len(line) <= width for line in said.splitlines())


def test_enforce_names_the_policies_where_there_are_several(vigil: Vigil, write: Write) -> None:
    paths = [
        write("a.vgl", "statement A: abs(x())\n"),
        write("b.vgl", "policy b\n"),
        write("c.vgl", "statement C: resp(x(), y())\n"),
    ]
    result = vigil("check", *paths, "--enforce")
    assert result.status == 0
    assert [line for line in result.out.splitlines() if line.endswith(".vgl:")] == [f"{paths[0]}:", f"{paths[2]}:"]


def test_enforce_as_json(vigil: Vigil, write: Write) -> None:
    """RC.2-3"""
    policy = write("gate.vgl", GATED)
    result = vigil("check", policy, "--enforce", "--format", "json")
    assert result.status == 1
    found = json.loads(result.out)
    assert list(found) == ["schema", "statements", "findings"]
    assert found["schema"] == "vigil.enforce/1"
    is_findings({"schema": "vigil.findings/1", "findings": found["findings"]})
    first, second, third, last = found["statements"]
    assert first == {
        "policy": str(policy), "name": "first", "form": "prec", "on_violation": "block", "kinds": ["preventable"],
        "parts": [
            {
                "kind": "preventable", "conditions": ["deploy(env = x)"],
                "message": "can be prevented: refuse the call that meets `deploy(env = x)` and would violate it",
            }
        ],
    }  # fmt: skip
    assert second["on_violation"] == "hold"
    assert second["kinds"] == ["preventable", "owed"]
    assert [part["conditions"] for part in second["parts"]] == [["deploy()"], ["smoke_test()"]]
    assert third["kinds"] == ["reportable"]
    assert (last["kinds"], last["parts"]) == ([], [])


def test_enforce_has_two_formats(vigil: Vigil, write: Write) -> None:
    result = vigil("check", write("gate.vgl", GATED), "--enforce", "--format", "sarif")
    assert (result.status, result.out) == (2, "")
    assert "--enforce is written as human or json, not as sarif." in result.err
