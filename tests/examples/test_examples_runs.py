"""Rules about library calls, environments and whole toolchains: the policies of examples/skills on their own runs."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path

import pytest

from vigil_lang.diagnostics import Source
from vigil_lang.engines.smt.verify import verify
from vigil_lang.lint.check import check_policy
from vigil_lang.runs import load_trace, load_traces, read_trace
from vigil_lang.semantics.policy import Policy, load_policy
from vigil_lang.syntax.format import format_text
from vigil_lang.trace import Trace, observe

SKILLS = Path(__file__).parents[2] / "examples" / "skills"

# folder, run, the offending events of each statement
EXAMPLES: list[tuple[str, str, dict[str, list[str]]]] = [
    ("flux-uncertainties", "violating.jsonl", {"flux_errors": ["e4.6", "e5.3"]}),
    ("flux-uncertainties", "benign.json", {}),
    ("egomotion", "violating.json", {"R3": ["e4.13"]}),
    ("egomotion", "rushed.json", {"R0": ["e5.3"], "R1": ["e4.4", "e5.19", "e5.20"], "R2": ["e4.4"]}),
    ("egomotion", "benign.json", {}),
    ("uv-project", "violating.jsonl", {"synced": ["e5.3"], "run_in_project": ["e6.3", "e6.12"]}),
    ("uv-project", "benign.jsonl", {}),
    ("suricata-exit", "violating.jsonl", {"clean": ["e3.1"], "known": ["e5.2"]}),
    ("suricata-exit", "benign.jsonl", {}),
    ("threejs-bake", "violating.json", {"baked": ["e4.9"]}),
    ("threejs-bake", "benign.json", {}),
    ("asan-memory-limit", "violating.jsonl", {"afl": ["e6.2"], "libfuzzer": ["e8.2"]}),
    ("asan-memory-limit", "benign.jsonl", {}),
    ("slurm-resubmit", "violating.jsonl", {"resumed": ["e13.1"]}),
    ("slurm-resubmit", "benign.jsonl", {}),
    ("wrangler-secrets", "violating.jsonl", {"not_piped": ["e4.3"], "not_argument": ["e5.2", "e7.2", "e7.4", "e8.2"]}),
    ("wrangler-secrets", "benign.jsonl", {}),
    ("databricks-version", "violating.jsonl", {"version_checked": ["e4.1", "e5.2"]}),
    ("databricks-version", "benign.jsonl", {}),
    ("workbook-data-only-save", "violating.jsonl", {"keeps_formulas": ["e4.7"]}),
    ("workbook-data-only-save", "benign.jsonl", {}),
    ("agents-md", "violating.jsonl", {"kept": ["e6", "e7.2"]}),
    ("agents-md", "benign.jsonl", {}),
    ("secure-archive", "violating.jsonl", {"validated": ["e4.6"]}),
    ("secure-archive", "benign.jsonl", {}),
]
FOLDERS = list(dict.fromkeys(folder for folder, *_ in EXAMPLES))

# A rule that two ecosystems have, in the same words.
SHARED = {"workbook-data-only-save": "xlsx-data-only"}


def policy_of(folder: str) -> Policy:
    name = SHARED.get(folder, folder)
    return load_policy(SKILLS / name / f"{name}.vgl")


def runs_of(folder: str) -> list[Path]:
    return sorted(path for path in (SKILLS / folder).iterdir() if path.suffix in {".json", ".jsonl"})


@pytest.mark.parametrize(("folder", "run", "offending"), EXAMPLES)
def test_an_example(folder: str, run: str, offending: dict[str, list[str]]) -> None:
    statements = verify([policy_of(folder)], load_trace(SKILLS / folder / run)).statements
    assert {s.statement.name: [o.event for o in s.offending] for s in statements if s.offending} == offending
    assert [s.statement.name for s in statements if s.vacuous] == []


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_run_is_in_the_table(folder: str) -> None:
    assert {path.name for path in runs_of(folder)} == {run for of, run, _ in EXAMPLES if of == folder}


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_policy_has_no_finding_by_itself_or_for_its_runs(folder: str) -> None:
    policy = policy_of(folder)
    signature = observe(trace for path in runs_of(folder) for trace in load_traces(path))
    assert [d.message for d in (*policy.diagnostics, *check_policy(policy), *check_policy(policy, signature))] == []


@pytest.mark.parametrize("folder", [folder for folder in FOLDERS if folder not in SHARED])
def test_a_policy_is_formatted_and_says_what_it_enforces(folder: str) -> None:
    text = (SKILLS / folder / f"{folder}.vgl").read_text(encoding="utf-8")
    assert format_text(Source(folder, text)) == text
    for statement in policy_of(folder).statements:
        assert [sentence for _, sentence in statement.metadata.cites if sentence], statement.name


# Small runs: command lines in /repo, each with what it shows and its exit code.

Shell = tuple[str, str, int]


def ran(command: str, output: str = "", code: int = 0) -> Shell:
    return command, output, code


def trace_of(*calls: Shell) -> Trace:
    events = [
        {"tool": "bash", "args": {"command": command}, "cwd": "/repo", "output": output, "exit_code": code}
        for command, output, code in calls
    ]
    lines = [{"meta": {}}, *events]
    return read_trace(BytesIO(b"".join(json.dumps(line).encode() + b"\n" for line in lines)), "run.jsonl")


def offences(folder: str, *calls: Shell) -> list[str]:
    return [f"{s.name} {o.event}" for s, o in verify([policy_of(folder)], trace_of(*calls)).offences()]


def python(text: str) -> Shell:
    return ran(f"python3 - <<'EOF'\n{text}\nEOF")


TLS = "from transitleastsquares import transitleastsquares as tls\n"


@pytest.mark.parametrize(
    ("call", "flagged"),
    [
        ("tls(t, f, e)", False),
        ("tls(t, f, dy=e)", False),
        ("tls(*(t, f, e))", False),
        ("tls(t, f)", True),
        ("tls(t, f, None)", True),
        ("tls(t, f, verbose=False)", True),
        ("tls(*columns)", False),
    ],
)
def test_uncertainties_count_as_what_is_passed(call: str, flagged: bool) -> None:
    assert offences("flux-uncertainties", python(f"{TLS}{call}")) == (["flux_errors e1.2"] if flagged else [])


ALIGN = "import cv2\nM, _ = cv2.estimateAffinePartial2D(a, b)\n{}out = cv2.warpAffine(a, M, (4, 4))"


@pytest.mark.parametrize(
    ("between", "flagged"),
    [
        ("", True),
        ("print(M)\n", True),
        ("from checks import check_finite\ncheck_finite(M)\n", False),
        ("from checks import check_finite\ncheck_finite(a)\n", True),
        ("from checks import validate\nvalidate(M, 'affine')\n", False),
    ],
)
def test_a_transform_is_validated_by_name(between: str, flagged: bool) -> None:
    given = offences("egomotion", python(ALIGN.format(between)))
    assert [what.split()[0] for what in given] == (["R3"] if flagged else [])


def test_a_transform_that_is_no_estimate_needs_no_validation() -> None:
    turn = "import cv2\nM = cv2.getRotationMatrix2D((0, 0), 90, 1)\ncv2.warpAffine(a, M, (4, 4))"
    assert offences("egomotion", python(turn)) == []


def test_an_environment_of_no_project_may_be_used() -> None:
    assert offences("uv-project", ran("python3 -m venv .venv && .venv/bin/python x.py")) == []
    assert offences("uv-project", ran("cat pyproject.toml"), ran(".venv/bin/python x.py")) == ["run_in_project e2.1"]


@pytest.mark.parametrize(
    ("version", "enough"),
    [
        ("Databricks CLI v0.292.0", True),
        ("Databricks CLI v0.300.1", True),
        ("Databricks CLI v0.1000.0", True),
        ("Databricks CLI v1.2.0", True),
        ("Databricks CLI v0.291.9", False),
        ("Databricks CLI v0.29.2", False),
        ("Version 0.18.0", False),
        ("bash: databricks: command not found", False),
    ],
)
def test_the_version_that_is_shown_decides(version: str, enough: bool) -> None:
    code = 127 if "not found" in version else 0
    flagged = offences("databricks-version", ran("databricks --version", version, code), ran("databricks jobs list"))
    assert flagged == ([] if enough else ["version_checked e2.1"])


def test_a_version_check_whose_status_a_pipe_hides_counts_by_what_it_shows() -> None:
    check = ran("databricks --version 2>&1 | head -1", "Databricks CLI v0.295.0")
    assert offences("databricks-version", check, ran("databricks jobs list")) == []


@pytest.mark.parametrize(
    ("fuzz", "flagged"),
    [
        ("afl-fuzz -i in -o out -- ./t @@", True),
        ("afl-fuzz -m 200 -i in -o out -- /repo/t @@", True),
        ("timeout 60 afl-fuzz -m none -i in -o out -- ./t @@", False),
        ("afl-fuzz -i in -o out -- ./other @@", False),
        ("cd .. && afl-fuzz -i in -o out -- repo/t", True),
        ("chmod +x ./t; ls -l ./t", False),
    ],
)
def test_afl_with_a_target_built_with_asan(fuzz: str, flagged: bool) -> None:
    given = offences("asan-memory-limit", ran("AFL_USE_ASAN=1 afl-cc t.c -o t"), ran(fuzz))
    assert [what.split()[0] for what in given] == (["afl"] if flagged else [])


@pytest.mark.parametrize(
    "build",
    [
        "clang++ -fsanitize=fuzzer -fsanitize=address t.c -o ./t",
        "export AFL_USE_ASAN=1; afl-clang-fast t.c -o t",
        "env AFL_USE_ASAN=1 afl-gcc -ot t.c",
        "CC=afl-clang-fast; AFL_USE_ASAN=1 $CC t.c -o t",
        "cat > b.sh <<'X'\nclang -fsanitize=address t.c -o t\nX\nbash b.sh",
        "python3 -c \"import subprocess; subprocess.run(['clang', '-fsanitize=address', 't.c', '-o', 't'])\"",
    ],
)
def test_ways_to_build_with_asan(build: str) -> None:
    given = offences("asan-memory-limit", ran(build), ran("afl-fuzz -i in -o out -- ./t @@"))
    assert given == ["afl e2.1"]


@pytest.mark.parametrize(
    ("run", "flagged"),
    [
        ("cd build && timeout 60 ./t -max_total_time=3 corpus", True),
        ("nohup build/t -rss_limit_mb=4096 corpus &", True),
        ("build/t -rss_limit_mb=0 corpus", False),
        ("build/t crash-ab12", False),
        ("ls -l build/t && file build/t", False),
    ],
)
def test_runs_of_a_fuzzer_built_with_asan(run: str, flagged: bool) -> None:
    given = offences("asan-memory-limit", ran("clang -fsanitize=fuzzer,address t.c -o build/t"), ran(run))
    assert [what.split()[0] for what in given] == (["libfuzzer"] if flagged else [])


def test_the_script_of_an_evaluation_counts_as_well() -> None:
    submit = ran("cd out/3f.0 && sbatch --parsable run.sub", "81240")
    assert offences("slurm-resubmit", submit, submit, submit, ran("sbatch train.sub")) == []
    again = ran("sbatch /repo/out/3f.0/run.sub")
    assert offences("slurm-resubmit", submit, submit, submit, again) == ["resubmitted e4.1"]


def test_runs_of_different_evaluations_are_counted_apart() -> None:
    calls = [ran(f"nel resume {run}") for run in ("a1", "b2", "a1", "b2", "a1", "b2")]
    assert offences("slurm-resubmit", *calls) == []


@pytest.mark.parametrize(
    ("command", "flagged"),
    [
        ("echo $KEY | wrangler secret put KEY", ["not_piped"]),
        ("printf %s $KEY | npx wrangler secret put KEY", ["not_piped"]),
        ("wrangler secret put KEY <<< $KEY", ["not_argument"]),
        ("wrangler secret put KEY abc", ["not_argument"]),
        ('wrangler secret put KEY "$VALUE"', ["not_argument"]),
        ("wrangler deploy --var API_KEY:abc", ["not_argument"]),
        ("wrangler deploy --var LEVEL:debug", []),
        ("wrangler secret put KEY", []),
        ("wrangler secret put KEY < key.pem", []),
        ("echo done; wrangler secret bulk secrets.json", []),
        ("echo '{}' | wrangler kv key put a b --binding X", []),
    ],
)
def test_ways_to_give_wrangler_a_secret(command: str, flagged: list[str]) -> None:
    assert [what.split()[0] for what in offences("wrangler-secrets", ran(command))] == flagged


@pytest.mark.parametrize(
    ("first", "then", "flagged"),
    [
        ("cat AGENTS.md", "cp new.md AGENTS.md", True),
        ("head -5 docs/AGENTS.md", "mv new.md docs/AGENTS.md", True),
        ("cat AGENTS.md", "echo more >> AGENTS.md", False),
        ("cat AGENTS.md", "sed -i s/a/b/ AGENTS.md", False),
        ("cat AGENTS.md", "cp AGENTS.md docs/AGENTS.md", False),
        ("ls docs", "echo x > AGENTS.md", False),
        ("echo x > AGENTS.md && cat AGENTS.md", "echo y > AGENTS.md", False),
    ],
)
def test_an_agents_file_that_was_seen(first: str, then: str, flagged: bool) -> None:
    given = offences("agents-md", ran(first), ran(then))
    assert [what.split()[0] for what in given] == (["kept"] if flagged else [])
    assert all(what.split()[1].startswith("e2") for what in given)


def test_a_listing_shows_a_file_only_by_its_whole_path() -> None:
    write = ran("echo x > AGENTS.md")
    assert offences("agents-md", ran("find /repo -name AGENTS.md", "/repo/AGENTS.md"), write) == ["kept e2.2"]
    assert offences("agents-md", ran("find /repo -name AGENTS.md", "/repo/docs/AGENTS.md"), write) == []
    assert offences("agents-md", ran("ls docs", "AGENTS.md"), write) == []


def test_a_missing_agents_file_may_be_written() -> None:
    missing = ran("cat AGENTS.md", "cat: AGENTS.md: No such file or directory", 1)
    assert offences("agents-md", missing, ran("echo x > AGENTS.md")) == []


BAKE = """\
import {{ OBJExporter }} from 'three/addons/exporters/OBJExporter.js';
const m = make();
{}new OBJExporter().parse(m);
"""


def test_a_computed_matrix_is_not_applied() -> None:
    computed = BAKE.format("m.updateMatrixWorld(true);\n")
    assert offences("threejs-bake", ran(f"cat > e.mjs <<'EOF'\n{computed}\nEOF\nnode e.mjs")) != []


def test_a_failure_of_suricata_is_mended_by_a_clean_run_only() -> None:
    broken = ran("suricata -T -c s.yaml", "E: detect: error parsing signature", 1)
    clean = ran("suricata -T -c s.yaml", "i: suricata: loaded")
    hidden = ran("suricata -T -c s.yaml | tail -1", "i: suricata: loaded")
    noisy = ran("suricata -T -c s.yaml", "E: reference-config: please check the option")
    assert offences("suricata-exit", broken, clean) == offences("suricata-exit", broken, noisy) == []
    assert offences("suricata-exit", broken, hidden) == ["clean e1.1", "known e2.1"]
    assert offences("suricata-exit", clean, broken) == ["clean e2.1"]
