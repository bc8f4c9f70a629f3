"""`vigil scan`: what its user sees, and what other programs read."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from unittest import mock

import duckdb
import polars as pl
import pytest
from cli_support import DASHCAM, REPAIRED, VIOLATING, called

from tests.corpus.stores import recordings
from vigil_lang.corpus import parts

POLICY = """policy p
/// Nothing is fetched.
statement no_fetch: abs(fetch())
statement read_first: prec(write(path = x), read(path = x))
statement never: prec(launch(), count_down())
"""


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    path = tmp_path / "p.vgl"
    path.write_text(POLICY)
    return path


def scanned(*args: str | Path) -> dict[str, object]:
    out = called("scan", *args, "--format", "json")
    assert out.status in (0, 1), out.err
    found = json.loads(out.out)
    assert isinstance(found, dict)
    return found


def test_the_answer_has_the_form_that_programs_rely_on() -> None:
    # spec RC.8-1
    found = scanned(DASHCAM, VIOLATING, REPAIRED)
    assert found["schema"] == "vigil.scan/1"
    assert (found["runs"], found["events"]) == (2, 18)
    statements = {s["name"]: s for s in found["statements"]}  # type: ignore[attr-defined]
    assert {k: statements["R3"][k] for k in ("violated_runs", "offending_events", "vacuous_runs")} == {
        "violated_runs": 1,
        "offending_events": 1,
        "vacuous_runs": 0,
    }
    (one,) = found["violations"]  # type: ignore[misc]
    assert (one["run"], one["name"], one["events"]) == (VIOLATING, "R3", ["e5"])


def test_a_person_sees_the_table_the_trend_and_a_witness(tmp_path: Path, policy: Path) -> None:
    paths = recordings(tmp_path, 4)
    out = called("scan", policy, *paths, "--by", "model")
    assert out.status == 1
    lines = out.out.splitlines()
    assert lines[0] == "4 runs · 20 events · 4 runs unsafe (100 %)"
    assert re.search(r"^✗ no_fetch +4 +100 % +4 +0 +2026-01-01 +2026-01-04$", out.out, re.M)
    assert re.search(r"^○ never +0 +0 % +0 +4$", out.out, re.M)
    assert re.search(r"^  a +2 +2 +2$", out.out, re.M)
    assert "e3  `fetch()` must not happen" in out.out
    assert "r000.jsonl" in out.out
    assert "no_fetch" in called("scan", policy, *paths, "--witnesses", "0").out


def test_each_engine_says_the_same_of_recordings_and_of_a_store(tmp_path: Path, policy: Path) -> None:
    # spec RC.8-2
    paths = recordings(tmp_path, 4)
    called("abstract", *paths, "--format", "parquet", "-o", tmp_path / "s")
    expected = scanned(policy, *paths)
    for engine in ("polars", "duckdb", "monitor"):
        assert scanned(policy, tmp_path / "s", "--engine", engine) == expected, engine


def test_formats(tmp_path: Path, policy: Path) -> None:
    paths = recordings(tmp_path, 3)
    out = called("scan", policy, *paths, "--format", "csv")
    assert out.out.splitlines()[0] == "run,group,policy,name,index,event,time,known"
    assert len(out.out.splitlines()) == 1 + 9
    out = called("scan", policy, *paths, "--format", "parquet", "-o", tmp_path / "o.parquet")
    assert out.status == 1
    assert pl.read_parquet(tmp_path / "o.parquet").height == 9
    out = called("scan", policy, *paths, "--format", "markdown")
    assert "| `no_fetch` | 3 | 100 % | 3 | 0 | 2026-01-01 | 2026-01-03 |" in out.out
    assert "| `2026-01-02` | 1 | 1 | 1 |" in out.out
    assert called("scan", policy, *paths, "--format", "parquet").status == 2


def test_the_page_needs_nothing_else_and_escapes_what_runs_say(tmp_path: Path, policy: Path) -> None:
    strange = tmp_path / "a<script>b.jsonl"
    strange.write_text(Path(recordings(tmp_path, 2)[0]).read_text())
    out = called("scan", policy, strange, tmp_path / "r001.jsonl", "--format", "html").out
    assert out.count("<svg") == 2
    assert "<script" not in out
    assert "a&lt;script&gt;b.jsonl" in out
    assert "prefers-color-scheme:dark" in out
    assert "http" not in re.sub(r"http-equiv", "", out)


def test_what_a_baseline_knows_does_not_count(tmp_path: Path, policy: Path) -> None:
    # spec RC.8-3
    paths = recordings(tmp_path, 2)
    known = tmp_path / "known.json"
    assert called("scan", policy, *paths, "--baseline", known, "--update-baseline").status == 0
    out = called("scan", policy, *paths, "--baseline", known)
    assert out.status == 0
    assert "0 new" in out.out
    out = called("scan", policy, *paths, *recordings(tmp_path, 1, name="z"), "--baseline", known)
    assert out.status == 1
    assert "1 new" in out.out
    known.write_text("{}")
    assert called("scan", policy, *paths, "--baseline", known).status == 2
    known.write_text("{")
    assert called("scan", policy, *paths, "--baseline", known).status == 2
    assert called("scan", policy, *paths, "--update-baseline").status == 2


def test_plans_and_queries(policy: Path) -> None:
    out = called("scan", policy, VIOLATING, "--explain")
    assert out.status == 0
    assert "3 of 3 statements over columns, by polars" in out.out
    assert "each text x of path" in out.out
    policy.write_text(
        POLICY + "statement alone: atmost[1](read(), distinct path) in 1h\nstatement sum: budget[1](read(), n)\n"
    )
    out = called("scan", policy, VIOLATING, "--explain", "--engine", "duckdb")
    assert "alone  run by run: it counts different values within a window" in out.out
    assert "sum  run by run: it adds up decimal numbers" in out.out
    for dialect in ("duckdb", "postgresql", "spark"):
        text = called("scan", policy, VIOLATING, "--sql", dialect).out
        assert "-- sum has no query: it adds up" in text
        assert ("STRING" in text) == (dialect == "spark")
    with duckdb.connect() as connection:
        for statement in called("scan", policy, VIOLATING, "--sql", "duckdb").out.split(";"):
            if re.sub(r"--.*", "", statement).strip():
                connection.execute(statement)


def test_an_interrupt_keeps_what_was_done(tmp_path: Path, policy: Path) -> None:
    paths = recordings(tmp_path, 3)
    whole = parts.read_rows

    def interrupted(data: bytes, *how: Any) -> object:
        if b"r2" in data:
            raise KeyboardInterrupt
        return whole(data, *how)

    with (
        mock.patch.object(parts, "BLOCK", 1),
        mock.patch.object(parts, "read_rows", interrupted),
        mock.patch("vigil_lang.corpus.scanning.CHUNK_EVENTS", 1),
    ):
        out = called("scan", policy, *paths, "--format", "json")
    assert out.status == 2
    assert "interrupted: this is what 2 runs say" in out.err
    found = json.loads(out.out)
    assert found["interrupted"]
    assert found["runs"] == 2
    assert found["statements"][0]["violated_runs"] == 2


def test_what_costs_too_much_is_not_judged_and_never_passes_for_kept(tmp_path: Path) -> None:
    policy = tmp_path / "p.vgl"
    policy.write_text('policy p\nstatement S: abs(a(f:json("x") = "1"))\n')
    run = tmp_path / "r.jsonl"
    deep = "[" * 100_000
    run.write_text(json.dumps({"action": "a", "args": {"f": deep}}) + "\n")
    for engine in ("polars", "duckdb", "monitor"):
        out = called("scan", policy, run, "--engine", engine)
        assert out.status == 2, engine
        assert "`S` is not judged" in out.err
        assert "1 run not judged" in out.out


@pytest.mark.parametrize(
    ("args", "told"),
    [
        ([VIOLATING], "There is no policy"),
        ([DASHCAM], "There is no run"),
        ([DASHCAM, VIOLATING, "--by", "moon"], "no run has a field `moon`"),
        ([DASHCAM, VIOLATING, "--skills", "nowhere"], "there is no folder"),
        ([DASHCAM, VIOLATING, "--engine", "spark"], "reads a store"),
        ([DASHCAM, VIOLATING, "--statement", "R9"], "No policy has a statement"),
    ],
)
def test_calls_at_fault(args: list[str], told: str) -> None:
    out = called("scan", *args)
    assert out.status == 2
    assert told in out.err


def test_without_the_extra_the_message_names_it() -> None:
    with mock.patch.dict("sys.modules", {"polars": None}):
        out = called("scan", DASHCAM, VIOLATING)
        assert out.status == 2
        assert 'pip install "vigil-lang[scan]"' in out.err


def test_abstract_names_the_extra_too(tmp_path: Path) -> None:
    with mock.patch.dict("sys.modules", {"vigil_lang.cli.scan_screen": None}):
        out = called("abstract", VIOLATING, "--format", "parquet", "-o", tmp_path / "s")
        assert out.status == 2
        assert 'pip install "vigil-lang[scan]"' in out.err
        assert not (tmp_path / "s").exists()


DECLARED = """data = "{data}"
[columns]
run = "session"
order = "n"
action = "tool"
status = "state"
time = "at"
call = "call"
output = "out"
[args]
path = "file"
amount = "amount"
[header]
model = "model"
[status]
ok = ["success"]
"""


def rows() -> list[dict[str, object]]:
    """Two runs, interleaved and out of order, with numbers as numbers."""
    found: list[dict[str, object]] = []
    for number in range(40):
        found.append(
            {
                "session": number % 2,
                "n": 40 - number,
                "tool": ("write", "read", "fetch")[number % 3] if number % 5 else "user.message",
                "state": ("success", "failed")[number % 4 == 0],
                "at": 1767600000 + (40 - number) // 4,
                "call": f"c{(40 - number) // 6}",
                "out": f"out {number}" if number % 2 else None,
                "file": f"/f{number % 4}",
                "amount": number / 2,
                "model": "m",
            }
        )
    return found


@pytest.mark.parametrize("kind", ["parquet", "csv", "database"])
def test_a_declared_table_is_judged_as_the_same_recordings(tmp_path: Path, policy: Path, kind: str) -> None:
    policy.write_text(
        POLICY + "statement small: abs(write(amount > 15.5))\nstatement soon: bresp[1](fetch(), write())\n"
    )
    table = pl.DataFrame(rows())
    if kind == "parquet":
        table.write_parquet(tmp_path / "t.parquet", row_group_size=7)
    elif kind == "csv":
        table.write_csv(tmp_path / "t.csv")
    else:
        with duckdb.connect(str(tmp_path / "t.db")) as connection:
            connection.register("t", table.to_arrow())
            connection.execute("CREATE TABLE events AS SELECT * FROM t")
    declared = DECLARED.format(data=f"t.{kind}")
    if kind == "database":
        declared = declared.replace('data = "t.database"', 'database = "t.db"\ntable = "events"')
    (tmp_path / "s.toml").write_text(declared)
    paths = []
    for session in (0, 1):
        lines = []
        for row in sorted((r for r in rows() if r["session"] == session), key=lambda r: str(r["n"]).zfill(3)):
            line = {"action": row["tool"], "call": row["call"], "time": row["at"], "output": row["out"]}
            line["args"] = {"path": row["file"], "amount": row["amount"]}
            line["status"] = "ok" if row["state"] == "success" else "unknown"
            lines.append(json.dumps(line))
        path = tmp_path / f"{session}.jsonl"
        path.write_text("\n".join(lines) + "\n")
        paths.append(path)
    with mock.patch("vigil_lang.corpus.declared.BATCH_EVENTS", 5):
        found = scanned(policy, tmp_path / "s.toml", "--by", "model")
    expected = scanned(policy, *paths)
    counts = ("name", "violated_runs", "offending_events", "vacuous_runs", "first_seen", "last_seen")
    assert [{k: s[k] for k in counts} for s in found["statements"]] == [  # type: ignore[attr-defined]
        {k: s[k] for k in counts}
        for s in expected["statements"]  # type: ignore[attr-defined]
    ]
    assert [v["events"] for v in found["violations"]] == [v["events"] for v in expected["violations"]]  # type: ignore[attr-defined]
    assert found["groups"] == [{"group": "m", "runs": 2}]
    assert "#0" in called("scan", policy, tmp_path / "s.toml").out
    assert scanned(policy, tmp_path / "s.toml", "--engine", "monitor")["violations"] == found["violations"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "declares no store"),
        ('data = "t.parquet"\n[columns]\nrun = "session"\naction = "tool"\n', "t.parquet"),
        ('data = "t.csv"\n[columns]\nrun = "session"\naction = "nothing"\n', "there is no column `nothing`"),
        ('database = "t.db"\n[columns]\nrun = "session"\naction = "tool"\n', "declares no store"),
    ],
)
def test_declarations_at_fault(tmp_path: Path, policy: Path, text: str, told: str) -> None:
    (tmp_path / "t.csv").write_text("session,tool\n1,read\n")
    (tmp_path / "s.toml").write_text(text)
    out = called("scan", policy, tmp_path / "s.toml")
    assert out.status == 2
    assert told in out.err


def test_what_no_column_holds_is_told(tmp_path: Path, policy: Path) -> None:
    (tmp_path / "t.csv").write_text("session,tool\n1,write\n")
    (tmp_path / "s.toml").write_text('data = "t.csv"\n[columns]\nrun = "session"\naction = "tool"\n')
    out = called("scan", policy, tmp_path / "s.toml")
    assert "`read_first` tests `path`, which no column holds: taken as absent" in out.err


def test_runs_of_one_recording_are_told_apart_and_explained(tmp_path: Path, policy: Path) -> None:
    lines = []
    for number in range(3):
        lines.append(json.dumps({"vigil_trace": 1, "run": "same#1", "model": f"m{number}", "beta": True, "size": 7.0}))
        lines.append(json.dumps({"action": "fetch" if number == 1 else "read", "args": {"path": f"/{number}"}}))
    path = tmp_path / "many#.jsonl"
    path.write_text("\n".join(lines) + "\n")
    out = called("scan", policy, path, "--by", "model")
    assert out.status == 1
    assert re.search(r"^  m1 +1 +1$", out.out, re.M)
    assert '▶ e1  fetch(path="/1")' in out.out
    (again,) = {json.dumps(scanned(policy, path, "--by", "beta")["groups"])}
    assert again == '[{"group": "true", "runs": 3}]'
