"""Timings as a user meets them, each beside its target: `make bench`.

Whole commands are timed as processes (best of several, so that a busy machine disturbs least), the solver's
certificate inside a warm process. Growth is shown as the ratio to the row before.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections import deque
from functools import partial
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from vigil_lang.diagnostics import Source
from vigil_lang.draft.prompting.vocabulary import describe
from vigil_lang.engines.index import RunIndex
from vigil_lang.engines.indexed import Judgement
from vigil_lang.engines.smt.encode import Encoding, event_names
from vigil_lang.engines.smt.solve import certify
from vigil_lang.ingest import read_records
from vigil_lang.lint.check import check_policy
from vigil_lang.runs import load_trace, read_trace
from vigil_lang.semantics.policy import load_policy, read_policy
from vigil_lang.syntax.scan import tokens
from vigil_lang.trace import Event, Trace, observe

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from vigil_lang.semantics.policy import Policy

ROOT = Path(__file__).parents[1]

FORMS = (
    "abs(Bash(command ~ /rm -rf .*{i}/))",
    'prec(Edit(file_path = x and file_path !~ "*.{i}" and status = ok), Read(file_path = x))',
    'resp(Write(file_path = x and file_path ~ "*{i}.py"), Test(target = x))',
    "bresp[20](Write(file_path = x and limit != {i}), Read(file_path = x))",
    'rslv(Test(target = x and target !~ "{i}" and status = error), Test(target = x and status = ok))',
    'until(Read(file_path ~ "*{i}.env"), Ask(), Send())',
    'atmost[500](Bash(command ~ "git push{i}*"))',
    'prec(Send(), Ask()) after Read(file_path ~ "*{i}")',
    "always (Edit(file_path = x and limit != {i}) implies earlier[50] Read(file_path = x) or later Test(target = x))",
    'prec(action in {{Write, Edit}} and file_path = x and not file_path ~ "*{i}.tmp", Read(file_path = x))',
)


COUNTED = {
    "since": "always Edit(file_path = x) implies not Ask() since Read(file_path = x)",
    "weak until": "always Read(file_path = x) implies not Ask() weak until Test(target = x)",
    "atmost, in a window": "atmost[500](Bash()) in 200 calls",
    "atmost, since a reset": "atmost[20](Edit()) since Ask()",
    "atmost, distinct values": "atmost[1000](Edit(), distinct file_path)",
    "budget": "budget[1000000](Read(), limit)",
    "budget, in a window": "budget[100000](Read(), limit) in 100 calls",
    "a view": "prec(Edit(file_path:base = x), Read(file_path:base = x))",
    "until, bound by what is forbidden": "until(Ask(), Bash(), Test(target = x))",
}


def policy_text(statements: int, first: int = 0) -> str:
    """Statements of every form, no two alike, nor like those that begin with another number."""
    bodies = (FORMS[i % len(FORMS)].format(i=first + i) for i in range(statements))
    return "policy bench\n\n" + "\n".join(f"statement S{i}: {body}" for i, body in enumerate(bodies)) + "\n"


def run_lines(events: int) -> list[str]:
    """A run that reads, edits, tests and asks, over a set of files that grows with it."""
    lines = []
    for i in range(events):
        path = f"/project/src/module_{i // 4}.py"
        action, args = (
            ("Read", {"file_path": path, "limit": 2000}),
            ("Edit", {"file_path": path, "old_string": "a" * 40, "new_string": "b" * 40}),
            ("Bash", {"command": f"pytest tests/test_{i}.py", "description": "run a test"}),
            ("Test", {"target": path}),
        )[i % 4]
        if i % 97 == 0:
            action, args = "Ask", {"question": "go on?"}
        status = "error" if i % 11 == 0 else "ok"
        lines.append(json.dumps({"action": action, "args": args, "status": status, "output": "done " * 20}))
    return lines


def certificate_trace(events: int) -> Trace:
    """Half the events validate a value of their own, half consume it; one was never validated."""
    found: list[Event] = []
    for i in range(events // 2):
        value = (f"artifact-{i}",)
        if i != events // 4:
            found.append(Event(f"e{len(found) + 1}", "validate", f"c{len(found)}", {"target": value}, "ok"))
        found.append(Event(f"e{len(found) + 1}", "warp", f"c{len(found)}", {"transform": value}, "ok"))
    return Trace(tuple(found))


def process(*args: str, repeat: int = 5) -> float:
    """Seconds of wall clock for a command, the best of several."""
    best = float("inf")
    for _ in range(repeat):
        started = time.perf_counter()
        subprocess.run(args, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        best = min(best, time.perf_counter() - started)
    return best


def row(what: str, seconds: float, target: float | None = None, note: str = "") -> None:
    """One line of the table."""
    mark = "" if target is None else f"target {target * 1000:7.0f} ms  {'ok  ' if seconds <= target else 'MISS'}"
    print(f"{what:<58}{seconds * 1000:8.1f} ms  {mark:<28}{note}")


def _counting() -> None:
    """Intervals, counts, sums and views: a verdict with its certificate grows with the run."""
    print("verdict and certificate of one statement, warm")
    traces = [
        read_trace([f"{line}\n".encode() for line in run_lines(events)], "r.jsonl", format="vigil")
        for events in (1_000, 10_000)
    ]
    for name, text in COUNTED.items():
        (statement,) = read_policy(Source("p.vgl", f"statement R: {text}")).statements
        spent = []
        for trace in traces:
            times = []
            for _ in range(3):
                started = time.process_time()
                judgement = Judgement(statement.requirement, RunIndex(trace))
                certify(Encoding(judgement), "R", {at for at, _ in judgement.violations()})
                times.append(time.process_time() - started)
            spent.append(min(times))
        row(f"{name}, 10,000 events", spent[1], None, f"{spent[1] / spent[0]:.1f} × 1,000 events (at most 12)")


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        vigil = (str(Path(sys.executable).parent / "vigil"),)
        bare = process(sys.executable, "-c", "pass", repeat=15)
        print("whole commands")
        row("a bare interpreter", bare)
        version = process(*vigil, "--version", repeat=15)
        row("vigil --version", version, 3 * bare, f"{version / bare:.1f} × a bare interpreter")
        (folder / "big.vgl").write_text(policy_text(200), encoding="utf-8")
        row("vigil check, 200 statements", process(*vigil, "check", str(folder / "big.vgl")), 0.3)
        (folder / "p.vgl").write_text(policy_text(20), encoding="utf-8")
        before = 0.0
        for events, target in ((100, 0.4), (1_000, 1.0), (10_000, None)):
            path = folder / f"{events}.jsonl"
            path.write_text("\n".join(run_lines(events)) + "\n", encoding="utf-8")
            args = (*vigil, "verify", str(folder / "p.vgl"), str(path), "--format", "json")
            seconds = process(*args, repeat=5 if events < 10_000 else 3)
            grown = f"{seconds / before:.1f} × the row before (at most 12)" if before else ""
            row(f"vigil verify, 20 statements, {events:,} events", seconds, target, grown)
            before = seconds
        _stages(folder)
        _linting(folder, *vigil)
    _policies()
    _recordings()
    _vocabulary()
    print("certificate of one value-bound prec with its minimal core, warm")
    policy = read_policy(Source("p.vgl", "statement R: prec(warp(transform = x, status = ok), validate(target = x))"))
    for events, target in ((1_000, 0.06), (10_000, 0.25)):
        trace = certificate_trace(events)
        times = []
        for _ in range(5):
            started = time.perf_counter()
            judgement = Judgement(policy.statements[0].requirement, RunIndex(trace))
            encoding = Encoding(judgement)
            encoded = time.perf_counter()
            certify(encoding, "R", {at for at, _ in judgement.violations()})
            times.append((time.perf_counter() - started, encoded - started))
        total, encode = min(times)
        row(f"{events:,} events", total, target, f"encoding {encode * 1000:.0f} ms, the rest Z3 and its text")
    _counting()
    from bench_gate import gate
    from bench_hook import hooks
    from bench_lsp import language_server  # late: both take names from here
    from bench_monitor import monitors

    gate()
    hooks()
    monitors()
    language_server()


def transcript_lines(uses: list[dict[str, Any]], calls: int) -> list[bytes]:
    """A Claude Code transcript of so many calls, which repeats the given ones, each with 6.5 kB of output."""
    lines = [json.dumps({"type": "system", "subtype": "init", "cwd": "/repo", "session_id": "s"}).encode() + b"\n"]
    for number in range(calls):
        use = {**uses[number % len(uses)], "id": f"toolu_{number}"}
        output = "a line of what the command printed\n" * 180
        result = {"type": "tool_result", "tool_use_id": use["id"], "content": output, "is_error": False}
        for kind, block in (("assistant", use), ("user", result)):
            message = {"id": f"msg_{number}", "role": kind, "content": [block]}
            lines.append(json.dumps({"type": kind, "session_id": "s", "message": message}).encode() + b"\n")
    return lines


def _example_calls() -> list[list[dict[str, Any]]]:
    """The calls of each example run of Claude Code."""
    found: list[list[dict[str, Any]]] = []
    for path in sorted((ROOT / "examples" / "skills").glob("*/*.jsonl")):
        uses: list[dict[str, Any]] = []
        for line in path.read_text(encoding="utf-8").splitlines():
            message = json.loads(line).get("message")
            content = message.get("content") if isinstance(message, dict) else None
            uses += [block for block in content or () if isinstance(block, dict) and block.get("type") == "tool_use"]
        if uses:
            found.append(uses)
    return found


def _policies(count: int = 500, statements: int = 20) -> None:
    """Reading and checking many policies inside a warm process, beside what only cutting them into tokens takes."""
    print("many policies, warm")
    sources = [Source(f"p{n}.vgl", policy_text(statements, n * statements)) for n in range(count)]
    scan = min(_seconds(partial(_drain, (tokens(s.text) for s in sources))) for _ in range(3))
    what = f"{count} policies of {statements} statements"
    row(f"tokens of {what}", scan)
    policies: list[Policy] = []
    read = _seconds(lambda: policies.extend(map(read_policy, sources)))
    row(f"read {what}", read, 2.4, f"{read / scan:.0f} × their tokens")
    check = _seconds(partial(_drain, map(check_policy, policies)))
    row(f"check {what}", check, 0.9, f"{check / scan:.0f} × their tokens")


def _recordings() -> None:
    """Reading and abstraction inside a warm process."""
    print("recordings, warm")
    runs = [transcript_lines(uses, 20) for uses in _example_calls()]
    times = [min(_seconds(partial(read_trace, run, "run.jsonl")) for _ in range(5)) for run in runs]
    size = median(sum(map(len, run)) for run in runs) / 1000
    note = f"slowest {max(times) * 1000:.0f} ms"
    row(f"abstraction, 20 calls, {size:.0f} kB, median of {len(runs)} runs", median(times), 0.05, note)
    many = transcript_lines([use for uses in _example_calls() for use in uses], 4000)
    events = [json.dumps({"action": "Read", "args": {"path": f"/a/{n}"}, "output": "x" * 400}) for n in range(60_000)]
    for title, data in (("claude-code", many), ("vigil", [line.encode() + b"\n" for line in events])):
        megabytes = sum(map(len, data)) / 1e6
        seconds = _seconds(partial(_drain, read_records(data, "run.jsonl")))
        row(f"reader alone, {title}, {megabytes:.0f} MB", seconds, megabytes / 20, f"{megabytes / seconds:.0f} MB/s")


def _vocabulary() -> None:
    """What a model that drafts is shown of a run: as much of a long one as of a short one (the paper's Figure 8)."""
    print("vocabulary of a run for drafting, warm")
    uses = [use for uses in _example_calls() for use in uses]
    mixed = [(read_trace(transcript_lines(uses, n), "run"), f"{n:,} calls of the examples") for n in (300, 3_000)]
    simple = [(read_trace(_encoded(run_lines(n)), "run"), f"{n:,} events of five tools") for n in (100, 1_000, 10_000)]
    for runs in (simple, mixed):
        before = 0
        for trace, what in runs:
            signature = observe([trace])
            seconds = min(_seconds(partial(describe, signature, [trace])) for _ in range(3))
            size = len(describe(signature, [trace]).text)
            grown = f", {size / before:.2f} × the row before (at most 1.1)" if before else ""
            row(what, seconds, 1.0, f"{size / 1000:.1f} kB{grown}")
            before = size


def _encoded(lines: list[str]) -> list[bytes]:
    return [line.encode() + b"\n" for line in lines]


def _drain(made: Iterable[object]) -> None:
    deque(made, maxlen=0)


def _seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def _linting(folder: Path, *vigil: str) -> None:
    """Rows for a folder of policies: nothing known of it, nothing changed, one file changed."""
    print("vigil lint, 500 policies of 20 statements, no runs")
    policies = folder / "policies"
    policies.mkdir()
    for n in range(500):
        (policies / f"p{n}.vgl").write_text(policy_text(20, 20 * n), encoding="utf-8")
    lint = (*vigil, "lint", str(policies))
    cold = process(*lint, "--no-cache", repeat=2)
    row("nothing known", cold, 3.0)
    process(*lint, repeat=1)
    warm = process(*lint)
    row("nothing changed", warm, 0.3, f"{cold / warm:.0f} × faster")
    with (policies / "p7.vgl").open("a", encoding="utf-8") as file:
        file.write("// changed\n")
    row("one file changed", process(*lint, repeat=1))


def _stages(folder: Path) -> None:
    """Where the time of the 10,000-event run goes."""
    clock = [time.perf_counter()]
    policy = load_policy(folder / "p.vgl")
    clock.append(time.perf_counter())
    trace = load_trace(folder / "10000.jsonl")
    clock.append(time.perf_counter())
    index, names = RunIndex(trace), event_names(trace)
    judgements = [(Judgement(s.requirement, index), s.name) for s in policy.statements]
    offending = [{at for at, _ in judgement.violations()} for judgement, _ in judgements]
    clock.append(time.perf_counter())
    encodings = [(Encoding(judgement, names, name=name), name) for judgement, name in judgements]
    clock.append(time.perf_counter())
    for (encoding, name), events in zip(encodings, offending, strict=True):
        certify(encoding, name, events)
    clock.append(time.perf_counter())
    parse, read, judge, encode, solve = (b - a for a, b in pairwise(clock))
    print(
        f"  of the last: policy {parse:.2f} s, run {read:.2f} s, verdicts {judge:.2f} s, "
        f"encoding {encode:.2f} s, text and Z3 {solve:.2f} s"
    )


if __name__ == "__main__":
    main()
