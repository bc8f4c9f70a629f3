"""The policies of examples/skills on their runs, and on small runs that come close to breaking them."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from vigil_lang.diagnostics import Source
from vigil_lang.engines.smt.verify import verify
from vigil_lang.lint.check import check_policy
from vigil_lang.runs import load_trace, load_traces, read_trace
from vigil_lang.semantics.policy import Policy, load_policy
from vigil_lang.syntax.format import format_text
from vigil_lang.trace import Trace, observe

SKILLS = Path(__file__).parents[2] / "examples" / "skills"

# policy, run, the offending events of each statement, the statements that the run does not exercise
EXAMPLES: list[tuple[str, str, dict[str, list[str]], list[str]]] = [
    ("glm-backup", "violating", {"backup": ["e6.13", "e7.13", "e8.4"]}, []),
    ("glm-backup", "repaired", {}, []),
    ("glm-backup", "benign", {}, ["backup"]),
    ("xlsx-recalculate", "violating", {"recalculated": ["e6.3"], "no_errors": ["e5"]}, []),
    ("xlsx-recalculate", "repaired", {}, []),
    ("xlsx-recalculate", "benign", {}, ["no_errors"]),
    ("xlsx-data-only", "violating", {"keeps_formulas": ["e5.3"]}, []),
    ("xlsx-data-only", "benign", {}, []),
    ("trivy-offline", "violating", {"no_update": ["e5.1"], "offline": ["e5.1"], "database_checked": ["e5.1"]}, []),
    ("trivy-offline", "benign", {}, []),
    (
        "gray-before-count",
        "violating",
        {"gray_first": [f"e{call}.{step}" for call in (8, 9, 10) for step in (3, 5, 7, 9, 11)]},
        [],
    ),
    ("gray-before-count", "benign", {}, []),
    ("gray-before-count", "benign-glob", {}, []),
    ("d3-determinism", "violating", {"offline": ["e5"], "no_randomness": ["e4"], "layout_stops": ["e4"]}, []),
    ("d3-determinism", "benign", {}, []),
]

NAMES = tuple(dict.fromkeys(name for name, *_ in EXAMPLES))


def policy_of(name: str) -> Policy:
    return load_policy(SKILLS / name / f"{name}.vgl")


@pytest.mark.parametrize(("name", "run", "offending", "vacuous"), EXAMPLES)
def test_an_example(name: str, run: str, offending: dict[str, list[str]], vacuous: list[str]) -> None:
    statements = verify([policy_of(name)], load_trace(SKILLS / name / f"{run}.jsonl")).statements
    assert {s.statement.name: [o.event for o in s.offending] for s in statements if s.offending} == offending
    assert [s.statement.name for s in statements if s.vacuous] == vacuous


@pytest.mark.parametrize("name", NAMES)
def test_every_run_of_an_example_is_in_the_table(name: str) -> None:
    assert {path.stem for path in (SKILLS / name).glob("*.jsonl")} == {run for of, run, *_ in EXAMPLES if of == name}


@pytest.mark.parametrize("name", NAMES)
def test_a_policy_is_free_of_findings_and_formatted(name: str) -> None:
    policy = policy_of(name)
    assert [d.message for d in (*policy.diagnostics, *check_policy(policy))] == []
    text = (SKILLS / name / f"{name}.vgl").read_text(encoding="utf-8")
    assert format_text(Source(name, text)) == text


@pytest.mark.parametrize("name", NAMES)
def test_a_policy_fits_its_runs(name: str) -> None:
    runs = sorted((SKILLS / name).glob("*.jsonl"))
    signature = observe(trace for path in runs for trace in load_traces(path))
    assert [d.message for d in check_policy(policy_of(name), signature)] == []


@pytest.mark.parametrize("name", NAMES)
def test_a_statement_says_where_it_is_from(name: str) -> None:
    for statement in policy_of(name).statements:
        ((_, sentence), *_) = statement.metadata.cites
        assert sentence


# Small runs: calls of Claude Code in /root, each with its output and whether it failed.

Call = tuple[str | dict[str, Any], str, bool]


def ran(command: str, output: str = "", *, failed: bool = False) -> Call:
    return command, output, failed


def tool(name: str, **given: Any) -> Call:
    return {"name": name, "input": given}, "", False


def recording(*calls: Call) -> bytes:
    """A stream of Claude Code, as it writes it."""
    lines: list[dict[str, Any]] = [{"type": "system", "subtype": "init", "cwd": "/root", "session_id": "s"}]
    for n, (what, output, failed) in enumerate(calls, 1):
        use = {"name": "Bash", "input": {"command": what}} if isinstance(what, str) else what
        used = [{"type": "tool_use", "id": f"t{n}", **use}]
        result = [{"type": "tool_result", "tool_use_id": f"t{n}", "content": output, "is_error": failed}]
        lines.append({"type": "assistant", "message": {"id": f"m{n}", "role": "assistant", "content": used}})
        lines.append({"type": "user", "message": {"role": "user", "content": result}})
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def trace_of(*calls: Call) -> Trace:
    return read_trace(BytesIO(recording(*calls)), "run.jsonl")


def offences(name: str, *calls: Call) -> list[str]:
    """The offending calls, each with the statement, in the order of the statements."""
    found = verify([policy_of(name)], trace_of(*calls)).offences()
    return list(dict.fromkeys(f"{statement.name} e{offence.event[1:].split('.')[0]}" for statement, offence in found))


# A script that only defines a function that would edit the file.

DEFINES = "def change(path):\n    with open(path, 'w') as f:\n        f.write('Kw = 0.4')\n"
CALLS = DEFINES + "change('/root/glm3.nml')\n"


def test_a_function_that_is_defined_changes_nothing() -> None:
    assert offences("glm-backup", ran(f"python3 << 'EOF'\n{DEFINES}EOF")) == []
    assert offences("glm-backup", ran(f"python3 << 'EOF'\n{CALLS}EOF")) == ["backup e1"]


def test_a_script_changes_the_file_when_it_is_run() -> None:
    written = tool("Write", file_path="/root/fix.py", content=CALLS)
    assert offences("glm-backup", written) == []
    assert offences("glm-backup", written, ran("python3 fix.py")) == ["backup e2"]
    assert offences("glm-backup", ran("cp glm3.nml glm3.nml.bak"), written, ran("python3 fix.py")) == []


def test_an_import_of_a_script_that_defines_changes_nothing() -> None:
    module = tool("Write", file_path="/root/lake.py", content=DEFINES)
    assert offences("glm-backup", module, ran('python3 -c "import lake"')) == []
    assert offences("glm-backup", module, ran("python3 -c \"import lake; lake.change('glm3.nml')\"")) == ["backup e2"]


# A program that is not there, before one that is.

NO_PYTHON = "Exit code 127\n/bin/bash: line 1: python: command not found"
FIX = tool("Write", file_path="/root/fix.py", content=CALLS)
COPY = ran("cp glm3.nml glm3.nml.bak")


def test_a_script_whose_interpreter_is_missing_changes_nothing() -> None:
    missing = ran("python fix.py", NO_PYTHON, failed=True)
    assert offences("glm-backup", FIX, missing, COPY, ran("python3 fix.py")) == []
    assert offences("glm-backup", FIX, ran("python fix.py"), COPY, ran("python3 fix.py")) == ["backup e2"]


def test_both_interpreters_in_one_line() -> None:
    either = "python fix.py || python3 fix.py"
    assert offences("glm-backup", FIX, COPY, ran(either, "python: command not found")) == []
    assert offences("glm-backup", FIX, ran(either, "/bin/bash: line 1: python: command not found")) == ["backup e2"]


# A validation that fails is repeated, and passes.

XLSX = tool("Skill", skill="xlsx")
SAVE = ran("python3 << 'EOF'\nfrom openpyxl import load_workbook\nwb = load_workbook('a.xlsx')\nwb.save('a.xlsx')\nEOF")
WRONG = ran("python3 recalc.py a.xlsx", '{"status": "errors_found", "total_errors": 2}')
RIGHT = ran("python3 recalc.py a.xlsx", '{"status": "success", "total_errors": 0}')


def test_a_failed_recalculation_that_is_repeated_and_passes() -> None:
    assert offences("xlsx-recalculate", XLSX, SAVE, WRONG, SAVE, RIGHT) == []
    assert offences("xlsx-recalculate", XLSX, SAVE, RIGHT, SAVE, WRONG) == ["recalculated e4", "no_errors e5"]
    assert offences("xlsx-recalculate", XLSX, SAVE, RIGHT, SAVE) == ["recalculated e4"]


def test_a_recalculation_that_crashes_is_repeated() -> None:
    crash = ran("python3 recalc.py a.xlsx", "Exit code 1\nsoffice: command not found", failed=True)
    assert offences("xlsx-recalculate", XLSX, SAVE, crash, RIGHT) == []
    assert offences("xlsx-recalculate", XLSX, SAVE, crash) == ["recalculated e2"]


def test_another_workbook_is_recalculated() -> None:
    other = ran("cd models && python3 ../recalc.py a.xlsx", '{"status": "success", "total_errors": 0}')
    assert offences("xlsx-recalculate", XLSX, SAVE, other) == ["recalculated e2"]
    assert offences("xlsx-recalculate", SAVE) == []


# A workbook is read for its values in one script, and saved in another.


def python(*lines: str) -> Call:
    return ran("python3 << 'EOF'\n" + "\n".join(("import openpyxl", *lines)) + "\nEOF")


VALUES = "values = openpyxl.load_workbook('a.xlsx', data_only=True)"
WHOLE = "wb = openpyxl.load_workbook('a.xlsx')"


def test_values_in_one_script_and_a_save_in_another() -> None:
    assert offences("xlsx-data-only", python(VALUES), python(WHOLE, "wb.save('a.xlsx')")) == []
    assert offences("xlsx-data-only", python(WHOLE), python(VALUES, "values.save('a.xlsx')")) == ["keeps_formulas e2"]


@pytest.mark.parametrize("lines", [(WHOLE, VALUES), (VALUES, WHOLE)])
def test_a_workbook_that_is_opened_both_ways(lines: tuple[str, str]) -> None:
    assert offences("xlsx-data-only", python(*lines, "wb.save('a.xlsx')")) == []
    assert offences("xlsx-data-only", python(*lines, "values.save('a.xlsx')")) == ["keeps_formulas e1"]


def test_values_that_are_saved_under_another_name() -> None:
    assert offences("xlsx-data-only", python(VALUES, "values.save('values.xlsx')")) == []
    assert offences("xlsx-data-only", python(VALUES, "values.save('/root/a.xlsx')")) == ["keeps_formulas e1"]


# Many spellings of one thing.


@pytest.mark.parametrize(
    "change",
    [
        ran("sed -i 's/0.3/0.4/' /root/glm3.nml"),
        ran("cat new.nml > glm3.nml"),
        ran("echo '/' >> ./glm3.nml"),
        ran("cd bcs; cp tuned.nml ../glm3.nml && glm"),
        ran("mv /tmp/x.nml /root/glm3.nml"),
        ran("""python3 -c "open('glm3.nml', 'w').write('x')" """),
        ran("python3 - <<'EOF'\nfrom pathlib import Path\nPath('/root', 'glm3.nml').write_text('x')\nEOF"),
        ran("for f in glm3 aed2; do perl -pi -e 's/a/b/' $f.nml; done"),
        ran("tee glm3.nml < new.nml"),
        tool("Edit", file_path="/root/glm3.nml", old_string="0.3", new_string="0.4"),
        tool("Write", file_path="/root/glm3.nml", content="&glm_setup"),
    ],
)
@pytest.mark.parametrize(
    "copy",
    [
        ran("cp glm3.nml glm3.nml.orig"),
        ran("cd /tmp && cp -p /root/glm3.nml{,.bak}"),
        ran("cp *.nml /backup/"),
        ran("tar czf before.tgz bcs glm3.nml"),
        ran("cat glm3.nml > glm3.nml.bak"),
        ran("python3 -c \"import shutil; shutil.copy2('glm3.nml', 'glm3.orig')\""),
    ],
)
def test_changes_and_copies_of_a_file(change: Call, copy: Call) -> None:
    assert offences("glm-backup", copy, change) == []
    assert offences("glm-backup", change, copy) == ["backup e1"]


@pytest.mark.parametrize(
    "call",
    [
        ran("grep Kw /root/glm3.nml"),
        ran("sed -n 1,5p glm3.nml"),
        ran("cp aed2.nml glm3.nml.txt"),
        ran("cp '/root/glm3.nml' /tmp && sed -i 's/0.3/0.4/' /root/glm3.nml"),
        ran("cat > fix.py << 'EOF'\nopen('glm3.nml', 'w')\nEOF\necho written"),
        ran("python3 << 'EOF'\n# from glm3.nml\nopen('/root/metrics.json', 'w')\nEOF"),
        tool("Read", file_path="/root/glm3.nml"),
    ],
)
def test_what_leaves_a_file_or_a_copy_as_it_is(call: Call) -> None:
    assert offences("glm-backup", call) == []


def test_a_copy_that_fails_is_none() -> None:
    copy = ran("cp glm3.nml glm3.nml.bak", "Exit code 1\ncp: cannot create", failed=True)
    assert offences("glm-backup", copy, ran("sed -i s/a/b/ glm3.nml")) == ["backup e2"]


SCAN = "trivy fs package-lock.json --skip-db-update --offline-scan --cache-dir /root/cache"
CHECK = ran("ls cache/db && echo found || echo none", "trivy.db\nfound")


def python_scan(*lines: str, options: str = "") -> Call:
    return python("import os, subprocess", *lines, f"subprocess.run('trivy fs . --cache-dir cache {options}'.split())")


def test_a_scan_from_a_script() -> None:
    looks = "if not os.path.exists('/root/cache/db/trivy.db'):\n    raise SystemExit(1)"
    assert offences("trivy-offline", python_scan(looks, options="--skip-db-update --offline-scan")) == []
    assert offences("trivy-offline", python_scan()) == ["no_update e1", "offline e1", "database_checked e1"]


def test_each_option_of_a_scan() -> None:
    assert offences("trivy-offline", CHECK, ran(SCAN)) == []
    assert offences("trivy-offline", CHECK, ran(SCAN.replace(" --skip-db-update", ""))) == ["no_update e2"]
    assert offences("trivy-offline", CHECK, ran(SCAN.replace("scan ", "scan=false "))) == ["offline e2"]
    assert offences("trivy-offline", ran(SCAN)) == ["database_checked e1"]
    assert offences("trivy-offline", CHECK, ran(SCAN.replace("/root/cache", "~/.cache"))) == ["database_checked e2"]
    assert offences("trivy-offline", ran("trivy --version"), ran("trivy image --download-db-only")) == []


COUNT = "python3 /skills/object_counter/scripts/count_objects.py --tool count --input_image {} --object_image coin.png"


def test_frames_are_tied_by_name() -> None:
    loop = "for i in 001 002; do convert ./k_$i.png -colorspace Gray k_$i.png; done"
    first, third = ran(COUNT.format("./k_001.png")), ran(COUNT.format("/root/k_003.png"))
    assert offences("gray-before-count", ran(loop), first) == []
    assert offences("gray-before-count", ran(loop), first, third) == ["gray_first e3"]
    assert offences("gray-before-count", first, ran(loop)) == ["gray_first e1"]
    assert offences("gray-before-count", ran(loop.replace("Gray", "sRGB")), first) == ["gray_first e2"]


D3 = tool("Skill", skill="d3-visualization")
PAGE = '<html><script src="{}"></script></html>'
CDN = PAGE.format("https://d3js.org/d3.v7.min.js")


@pytest.mark.parametrize(
    "page",
    [
        tool("Write", file_path="/root/dist/chart.html", content=CDN),
        tool("Edit", file_path="/root/dist/chart.html", old_string="<html>", new_string=CDN),
        ran(f"cat > dist/chart.html << 'EOF'\n{CDN}\nEOF"),
        ran(f"python3 - << 'EOF'\nfrom pathlib import Path\nPath('dist/chart.html').write_text('''{CDN}''')\nEOF"),
        tool("Write", file_path="/root/chart.mjs", content='import * as d3 from "https://cdn.skypack.dev/d3@7";'),
    ],
)
def test_a_page_that_loads_from_elsewhere(page: Call) -> None:
    assert offences("d3-determinism", D3, page) == ["offline e2"]
    assert offences("d3-determinism", page) == []


def test_what_is_fetched_and_said_is_not_loaded() -> None:
    fetch = ran("curl -sL https://cdn.jsdelivr.net/npm/d3@7 -o vendor/d3.min.js")
    page = tool("Write", file_path="/root/a.html", content=PAGE.format("vendor/d3.min.js") + "<!-- not from a CDN -->")
    script = tool("Write", file_path="/root/a.js", content="// no Math.random()\n/* nor Math.random() */\nx(1 / 2);")
    assert offences("d3-determinism", D3, fetch, page, script) == []
    script = tool("Write", file_path="/root/a.js", content="// placed at random\nconst x = 1 / 2 + Math.random();")
    assert offences("d3-determinism", D3, fetch, page, script) == ["no_randomness e4"]
