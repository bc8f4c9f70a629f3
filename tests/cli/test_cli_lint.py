"""`vigil lint`: what it finds, mends, lets pass, and the exit status."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from cli_support import Vigil, Write

LONE = "statement R0: abs(deploy(env = production))\n"
CLEAN = 'statement R0: abs(deploy(env = "production"))\n'
EQUALS = 'statement R0: abs(deploy(env == "production"))\n'
RUN = '{"action":"deploy","args":{"env":"production"}}\n'


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of our own to be in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def put(**files: str) -> None:
    for name, text in files.items():
        path = Path(name.replace("__", "/").replace("_", "."))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


@pytest.mark.usefixtures("place")
class TestFinding:
    def test_a_folder_is_linted_where_none_is_named(self, vigil: Vigil) -> None:
        put(a_vgl=CLEAN, below__b_vgl=LONE)
        result = vigil("lint", "--format", "concise")
        assert result.status == 1
        assert result.out.startswith("below/b.vgl:1:32: VGL301 ")
        assert vigil("lint", "a.vgl").out == "1 policy linted, no findings\n"

    def test_the_status_follows_the_level(self, vigil: Vigil) -> None:
        put(a_vgl=LONE)
        assert vigil("lint", "a.vgl").status == 1
        assert vigil("lint", "a.vgl", "--fail-level", "error").status == 0
        assert vigil("lint", "a.vgl", "--fail-level", "never").status == 0
        put(vigil_toml='fail-level = "error"\n')
        assert vigil("lint", "a.vgl").status == 0
        assert vigil("lint", "a.vgl", "--isolated").status == 1
        assert vigil("lint", "a.vgl", "--fail-level", "warning").status == 1

    def test_sarif_fails_no_job_unless_asked(self, vigil: Vigil) -> None:
        put(a_vgl=LONE)
        result = vigil("lint", "a.vgl", "--format", "sarif")
        assert result.status == 0
        assert json.loads(result.out)["runs"][0]["results"][0]["ruleId"] == "VGL301"
        assert vigil("lint", "a.vgl", "--format", "sarif", "--fail-level", "warning").status == 1

    def test_codes_are_chosen(self, vigil: Vigil) -> None:
        put(a_vgl=LONE)
        assert vigil("lint", "a.vgl", "--ignore", "VGL301").status == 0
        assert vigil("lint", "a.vgl", "--select", "VGL4,vgl2").status == 0
        out = vigil("lint", "a.vgl", "--select", "VGL803", "--format", "concise").out
        assert out.startswith("a.vgl:1:11: VGL803 ")
        out = vigil("lint", "a.vgl", "--extend-select", "VGL8", "--format", "concise").out
        assert [line.split()[1] for line in out.splitlines()] == ["VGL802", "VGL803", "VGL301"]
        result = vigil("lint", "a.vgl", "--select", "VGL399")
        assert result.status == 2
        assert "There is no code 'VGL399'" in result.err

    def test_what_cannot_be_read_is_the_inputs_fault(self, vigil: Vigil) -> None:
        put(a_vgl=LONE)
        Path("b.vgl").write_bytes(b"statement R0: abs(x(a = \xff))")
        result = vigil("lint", "--format", "concise")
        assert result.status == 2
        assert [line.split()[1] for line in result.out.splitlines()] == ["VGL301", "VGL002"]
        assert vigil("lint", "missing.vgl").status == 2
        assert vigil("lint", "a.vgl", "--signature", "missing.json").status == 2
        assert vigil("lint", "a.vgl", "--baseline", "missing.json").status == 2

    def test_a_policy_comes_from_standard_input(self, vigil: Vigil) -> None:
        result = vigil("lint", "-", stdin=LONE.encode())
        assert result.status == 1
        assert "statement R0: abs(deploy(env = production))" in result.out
        result = vigil("lint", "-", "--diff", "--unsafe-fixes", stdin=LONE.encode())
        assert '+statement R0: abs(deploy(env = "production"))' in result.out
        assert vigil("lint", "-", "--fix", stdin=LONE.encode()).status == 2

    def test_the_command_line_comes_before_the_file(self, vigil: Vigil) -> None:
        put(a_vgl=LONE, vigil_toml='[lint]\nignore = ["VGL301"]\n')
        assert vigil("lint", "a.vgl").status == 0
        assert vigil("lint", "a.vgl", "--select", "VGL301").status == 1
        assert vigil("lint", "a.vgl", "--extend-select", "VGL301").status == 1
        assert vigil("lint", "a.vgl", "--select", "VGL301", "--ignore", "VGL301").status == 0

    def test_runs_give_the_vocabulary(self, vigil: Vigil) -> None:
        put(
            a_vgl="statement R0: prec(deploy(), run_test())\n", runs__run_jsonl=RUN + RUN.replace("deploy", "run_tests")
        )
        out = vigil("lint", "a.vgl", "--trace", "runs", "--format", "concise").out
        assert "VGL401" in out
        put(vigil_toml='runs = ["runs"]\n')
        assert vigil("lint", "a.vgl", "--format", "concise").out == out

    def test_a_setting_that_sets_nothing_is_refused(self, vigil: Vigil) -> None:
        put(a_vgl="param most: number = 6\n\nstatement R0: abs(deploy(n > most))\n")
        assert vigil("lint", "a.vgl", "--set", "most=7").status == 0
        result = vigil("lint", "a.vgl", "--set", "mots=7")
        assert result.status == 2
        assert "Did you mean 'most'?" in result.err


@pytest.mark.usefixtures("place")
class TestFixing:
    def test_safe_fixes_only_unless_asked(self, vigil: Vigil) -> None:
        text = LONE.rstrip() + "  // vigil: ignore[VGL302] nothing of the kind\n"
        put(a_vgl=text)
        result = vigil("lint", "a.vgl", "--fix")
        assert result.status == 1
        assert Path("a.vgl").read_text(encoding="utf-8") == LONE
        assert "1 finding fixed" in result.out
        assert "1 can be fixed with --fix --unsafe-fixes" in result.out
        result = vigil("lint", "a.vgl", "--fix", "--unsafe-fixes")
        assert result.status == 0
        assert result.out == "1 finding fixed\n1 policy linted, no findings\n"
        assert Path("a.vgl").read_text(encoding="utf-8") == CLEAN

    def test_a_difference_changes_nothing(self, vigil: Vigil) -> None:
        put(a_vgl=LONE, b_vgl=CLEAN)
        result = vigil("lint", "--diff", "--unsafe-fixes")
        assert result.status == 1
        assert result.out == (
            "--- a.vgl\n+++ a.vgl\n@@ -1 +1 @@\n"
            '-statement R0: abs(deploy(env = production))\n+statement R0: abs(deploy(env = "production"))\n'
        )
        assert Path("a.vgl").read_text(encoding="utf-8") == LONE
        assert vigil("lint", "--diff").status == 0

    def test_a_file_that_does_not_parse_is_mended(self, vigil: Vigil) -> None:
        put(a_vgl=EQUALS)
        assert vigil("lint", "a.vgl", "--fix", "--unsafe-fixes").status == 0
        assert Path("a.vgl").read_text(encoding="utf-8") == CLEAN

    def test_a_file_that_cannot_be_written_is_left(self, vigil: Vigil) -> None:
        put(a_vgl=LONE)
        Path("link.vgl").symlink_to("nowhere/a.vgl")
        assert vigil("lint", "link.vgl", "--fix").status == 2

    @pytest.mark.parametrize(
        "args",
        [
            ["--unsafe-fixes"],
            ["--fix", "--diff"],
            ["--fix", "--update-baseline", "--baseline", "b"],
            ["--watch", "--fix"],
            ["--update-baseline"],
            ["--statistics", "--format", "sarif"],
            ["--isolated", "--config", "x.toml"],
        ],
    )
    def test_calls_that_contradict_themselves(self, args: list[str], vigil: Vigil) -> None:
        put(a_vgl=CLEAN)
        assert vigil("lint", "a.vgl", *args).status == 2


@pytest.mark.usefixtures("place")
class TestLettingPass:
    def test_a_baseline_lets_old_findings_pass(self, vigil: Vigil) -> None:
        put(a_vgl=LONE)
        result = vigil("lint", "--baseline", "base.json", "--update-baseline")
        assert (result.status, result.out) == (0, "1 policy linted, no new findings\nlet pass: 1 by the baseline\n")
        put(a_vgl=LONE + LONE.replace("R0: abs(deploy", "R1: abs(publish"))
        put(vigil_toml='[lint]\nbaseline = "base.json"\n')
        result = vigil("lint", "--format", "concise")
        assert result.status == 1
        assert result.out.startswith("a.vgl:2:")
        assert len(result.out.splitlines()) == 1
        put(a_vgl=CLEAN)
        result = vigil("lint")
        assert result.status == 0
        assert "1 finding of the baseline is gone: --update-baseline forgets it" in result.out

    def test_comments_are_counted(self, vigil: Vigil) -> None:
        put(a_vgl=LONE.rstrip() + "  // vigil: ignore[VGL301] any\n")
        result = vigil("lint")
        assert (result.status, result.out) == (0, "1 policy linted, no findings\nlet pass: 1 by comments\n")
        assert vigil("lint", "--no-ignores").status == 1

    def test_folders_are_excluded_and_files_have_their_own_ignores(self, vigil: Vigil) -> None:
        put(drafts__a_vgl=LONE, vendor__a_vgl=LONE, b_vgl=LONE)
        put(vigil_toml='exclude = ["vendor/"]\n\n[lint.per-file-ignores]\n"drafts/" = ["VGL301"]\n')
        out = vigil("lint", "--format", "concise").out
        assert [line.split(":")[0] for line in out.splitlines()] == ["b.vgl"]
        assert vigil("lint", "vendor/a.vgl").status == 1

    def test_statistics_count_codes(self, vigil: Vigil) -> None:
        put(a_vgl=LONE + LONE.replace("R0: abs(deploy", "R1: abs(publish") + "statement R2: abs(x(a = 1 and a = 2))\n")
        result = vigil("lint", "--statistics")
        assert result.status == 1
        assert result.out.splitlines()[:2] == [
            "2  VGL301  a value variable occurs only once (2 with a fix)",
            "1  VGL302  a condition can never hold",
        ]
        codes = json.loads(vigil("lint", "--statistics", "--format", "json").out)["codes"]
        assert [(c["code"], c["count"]) for c in codes] == [("VGL301", 2), ("VGL302", 1)]


@pytest.mark.usefixtures("place")
class TestConfiguration:
    def test_a_broken_configuration_is_the_inputs_fault(self, vigil: Vigil) -> None:
        put(a_vgl=CLEAN, vigil_toml="[lint]\nselect = 3\n")
        result = vigil("lint")
        assert result.status == 2
        assert "VGL005" in result.err

    def test_an_unknown_key_is_said_beside(self, vigil: Vigil) -> None:
        put(a_vgl=CLEAN, vigil_toml="[lint]\nselekt = []\n")
        result = vigil("lint")
        assert result.status == 0
        assert "VGL006" in result.err
        assert "select" in result.err


def test_the_result_can_be_written_to_a_file(place: Path, vigil: Vigil) -> None:
    put(a_vgl=LONE)
    result = vigil("lint", "-o", "found.json", "--format", "json")
    assert (result.status, result.out) == (1, "")
    assert json.loads((place / "found.json").read_text(encoding="utf-8"))["findings"][0]["code"] == "VGL301"


@pytest.mark.usefixtures("place")
def test_a_rule_that_fails_is_the_tools_fault(vigil: Vigil, monkeypatch: pytest.MonkeyPatch) -> None:
    put(a_vgl=LONE)

    def fails(_: object) -> list[object]:
        raise RuntimeError("not made for this")

    from vigil_lang.lint.registry import all_rules
    from vigil_lang.lint.rule import Rule

    rules = (Rule(("VGL309",), fails), *all_rules())  # type: ignore[arg-type]
    monkeypatch.setattr("vigil_lang.lint.run.all_rules", lambda: rules)
    result = vigil("lint", "--no-cache", "--format", "concise")
    assert result.status == 3
    assert [line.split()[1] for line in result.out.splitlines()] == ["VGL902", "VGL301"]


@pytest.mark.usefixtures("place")
def test_the_cache_saves_the_work(
    tmp_path_factory: pytest.TempPathFactory, vigil: Vigil, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VIGIL_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
    put(a_vgl=LONE)
    first = vigil("lint")
    monkeypatch.setattr("vigil_lang.lint.batch._work", lambda *_: pytest.fail("it was linted again"))
    second = vigil("lint")
    assert (second.status, second.out) == (first.status, first.out)


@pytest.mark.processes
@pytest.mark.skipif(sys.platform == "win32", reason="interrupts are sent otherwise")
def test_watching_lints_again_when_a_file_changes(place: Path) -> None:
    put(a_vgl=LONE)
    call = [sys.executable, "-m", "vigil_lang", "lint", "--watch", "--format", "concise"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "PYTHONUNBUFFERED": "1"}

    def heed_interrupts() -> None:  # what runs in the background of a shell does not
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    with subprocess.Popen(
        call, stdout=subprocess.PIPE, text=True, env=environment, cwd=place, preexec_fn=heed_interrupts
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline().startswith("a.vgl:1:32: VGL301")
            assert process.stdout.readline().startswith("watching")
            put(a_vgl=EQUALS)
            assert "VGL101" in process.stdout.readline()
            assert process.stdout.readline().startswith("watching")
            process.send_signal(signal.SIGINT)
            assert process.wait(timeout=60) == 1
        finally:
            process.kill()


@pytest.mark.usefixtures("place")
class TestOtherVerbs:
    """What the configuration says holds for every verb that it concerns."""

    def test_params_are_those_of_the_configuration(self, vigil: Vigil) -> None:
        policy = "param most: number = 6\n\nstatement R0: abs(deploy(n > most))\n"
        put(a_vgl=policy, run_jsonl='{"action":"deploy","args":{"n":5}}\n')
        assert vigil("verify", "a.vgl", "run.jsonl").status == 0
        put(vigil_toml="params = {most = 4}\n")
        assert vigil("verify", "a.vgl", "run.jsonl").status == 1
        assert vigil("verify", "a.vgl", "run.jsonl", "--set", "most=5").status == 0
        assert vigil("verify", "a.vgl", "run.jsonl", "--isolated").status == 0
        script = vigil("compile", "a.vgl", "--length", "1").out
        assert script != vigil("compile", "a.vgl", "--length", "1", "--isolated").out

    def test_the_formatter_spells_and_passes_over_as_it_is_told(self, vigil: Vigil) -> None:
        text = "statement R0: always (a() implies earlier b())\n"
        put(a_vgl=text, vendor__a_vgl=text, vigil_toml='exclude = ["vendor/"]\n\n[fmt]\nspelling = "unicode"\n')
        assert vigil("fmt").status == 0
        assert "◇⁻" in Path("a.vgl").read_text(encoding="utf-8")
        assert Path("vendor/a.vgl").read_text(encoding="utf-8") == text
        assert vigil("fmt", "--ascii", "a.vgl").status == 0
        assert "earlier" in Path("a.vgl").read_text(encoding="utf-8")

    def test_checking_and_testing_pass_over_what_is_excluded(self, vigil: Vigil) -> None:
        put(vendor__a_vgl=LONE, vendor__a_test_vgl="", b_vgl=CLEAN, vigil_toml='exclude = ["vendor/"]\n')
        assert vigil("check", ".").status == 0
        assert vigil("check", "vendor/a.vgl").status == 1
        put(runs__run_jsonl=RUN)
        assert "vendor" not in vigil("verify", ".", "--format", "json").out
        assert vigil("verify", "vendor", "runs").status == 2


def test_runs_that_a_header_names_are_the_editors(vigil: Vigil, write: Write) -> None:
    """`// runs:` asks the language server; `lint` takes runs from the call, and one that cannot be read ends it."""
    run = write("bad.jsonl", "{\n")
    policy = write("a.vgl", "// runs: bad.jsonl\nstatement S: abs(send())\n")
    alone = vigil("lint", policy, "--isolated", "--no-cache")
    assert (alone.status, alone.err) == (0, "")
    given = vigil("lint", policy, "--trace", run, "--isolated", "--no-cache")
    assert given.status == 2
    assert f"{run}" in given.err
    assert "VGL601" in given.err
