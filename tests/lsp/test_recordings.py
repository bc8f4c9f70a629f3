"""The process that knows the runs: what it reads, what it says of policies, and how it ends."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from tests.security.planted import has_run, plant
from vigil_lang.base.processes import command
from vigil_lang.diagnostics import Diagnostic, Source, Span
from vigil_lang.project.settings import Lint, Settings
from vigil_lang.runs import read_trace
from vigil_lang.semantics import core
from vigil_lang.syntax import parse
from vigil_lang.trace import Action, Argument, Signature, observe
from vigil_lang.trace.samples import MAX_LENGTH, MAX_VALUES, Samples, sampled
from vigil_lsp.recordings import loading, reports
from vigil_lsp.recordings.loading import MAX_TEXT, shown_signature
from vigil_lsp.recordings.messages import Policies, Progress, Question, Rescan, RunsLoaded, frame
from vigil_lsp.recordings.process import REST, RecordingsProcess, Unanswered
from vigil_lsp.recordings.queries import answer_steps
from vigil_lsp.recordings.results import (
    ItemResult,
    Judged,
    Matches,
    RunResults,
    RunsSummary,
    located,
)
from vigil_lsp.recordings.run_sources import absolute, patterns_in, tracked_policy
from vigil_lsp.recordings.time_limit import TooLong, limited
from vigil_lsp.recordings.worker import Worker

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping, Sequence
    from pathlib import Path

    from vigil_lang.trace import Trace
    from vigil_lsp.recordings.cached_run import CachedRun
    from vigil_lsp.recordings.run_sources import TrackedPolicy

PATIENCE = 30


def run_text(*events: tuple[str, dict[str, Any]]) -> str:
    """A run in Vigil's own format."""
    lines: list[dict[str, Any]] = [{"vigil_trace": 1}]
    lines += [{"action": action, "args": args, "status": "ok"} for action, args in events]
    return "".join(json.dumps(line) + "\n" for line in lines)


def trace_of(*events: tuple[str, dict[str, Any]]) -> Trace:
    return read_trace([line.encode() + b"\n" for line in run_text(*events).splitlines()], "r.jsonl")


# --- which runs ---


def test_patterns_in_comments() -> None:
    text = 'let x = "// runs: a"\n// runs: runs/*.jsonl, b.jsonl\tc\n/// runs: no\n// run: no\nlet y = 3 //runs:d\n'
    found = list(patterns_in(text))
    assert [pattern for pattern, _ in found] == ["runs/*.jsonl", "b.jsonl", "c", "d"]
    assert [text[start:end] for _, (start, end) in found] == ["runs/*.jsonl", "b.jsonl", "c", "d"]
    assert list(patterns_in("statement S: abs(runs())")) == []


def test_paths_are_absolute_and_folders_no_globs() -> None:
    assert absolute("/w/a[b]", "runs/*.jsonl") == "/w/a[[]b]/runs/*.jsonl"
    assert absolute("/w/a[b]", "../r.jsonl") == "/w/r.jsonl"
    assert absolute("/w", "/r/*.jsonl") == "/r/*.jsonl"


def test_a_comment_takes_the_place_of_the_configuration() -> None:
    settings = Settings(runs=("all/*.jsonl",), signatures=("sig.json",), lint=Lint(benign=("good",)))
    plain = tracked_policy("/w/d/p.vgl", "", settings, "/w", "/w", shown=True)
    assert plain.sources.runs == ("/w/all/*.jsonl",)
    assert plain.sources.within == "/w"  # the project of the configuration
    own = tracked_policy("/w/d/p.vgl", "// runs: a.jsonl", settings, "/w", "/w", shown=True)
    assert own.sources.runs == ("/w/d/a.jsonl",)
    assert own.sources.within == "/w"
    assert own.comments == (Span(9, 16),)
    assert (own.sources.signatures, own.sources.benign) == (("/w/sig.json",), ("/w/good",))


def test_nothing_outside_the_workspace_is_read(tmp_path: Path) -> None:
    inside, outside = tmp_path / "w", tmp_path / "secret.jsonl"
    inside.mkdir()
    outside.write_text(run_text())
    (inside / "a.jsonl").write_text(run_text())
    (inside / "link.jsonl").symlink_to(outside)
    found = loading.find([str(inside / "*.jsonl"), str(outside), str(inside / "../secret.jsonl")], str(inside))
    assert found.files == [str(inside / "a.jsonl")]
    assert found.missing == [(at, "only what lies in the workspace folder is read") for at in (0, 1, 2)]
    assert loading.find([str(outside)]).files == [str(outside)]
    assert loading.find([str(inside / "b.jsonl"), "\0"]).missing[0][1].startswith("there is no file")


def test_what_cannot_lie_in_the_workspace_is_not_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside = tmp_path / "w[1]"
    (inside / "runs").mkdir(parents=True)
    (inside / "runs/a.jsonl").write_text(run_text())
    looked: list[list[str]] = []
    expanded = loading.trace_paths
    monkeypatch.setattr(loading, "trace_paths", lambda args, **how: looked.append(args) or expanded(args, **how))
    pattern = absolute(str(inside), "*/*.jsonl")
    found = loading.find(["/**/*.jsonl", str(tmp_path / "*/*.jsonl"), pattern], str(inside))
    assert found.files == [str(inside / "runs/a.jsonl")]
    assert [at for at, _ in found.missing] == [0, 1]
    assert looked == [[pattern]]


def test_a_policy_is_no_run(tmp_path: Path) -> None:
    for name in ("a.jsonl", "p.vgl", "vigil.toml"):
        (tmp_path / name).write_text("")
    found = loading.find([str(tmp_path / "*"), str(tmp_path / "p.vgl")])
    assert found.files == [str(tmp_path / "a.jsonl")]
    assert found.missing == [(1, "this matches no recording, only policies or configurations")]


def test_what_takes_too_long_to_find_is_looked_for_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.jsonl").write_text(run_text())
    looked: list[str] = []

    def expanded(args: list[str], refused: list[Diagnostic]) -> list[str]:  # noqa: ARG001
        looked.extend(args)
        while args == ["slow"]:
            pass
        return args

    monkeypatch.setattr(loading, "MAX_SECONDS", 0.1)
    monkeypatch.setattr(loading, "trace_paths", expanded)
    path, slow = str(tmp_path / "a.jsonl"), set[str]()
    for _ in range(2):
        found = loading.find(["slow", path], None, slow)
        assert (found.files, found.missing) == ([path], [(0, "finding the files that match this takes too long")])
    assert looked == ["slow", path, path]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")
def test_a_pipe_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    os.mkfifo(path)
    loaded = loading.RecordingCache().load(str(path))
    assert loaded.runs == ()
    assert [finding.message for finding in loaded.findings] == ["a pipe or a device is not followed in an editor"]


def test_a_limit_inside_another_leaves_it_as_it_was() -> None:
    def slept(seconds: float) -> None:
        with suppress(TooLong), limited(seconds):
            time.sleep(5)
        time.sleep(5)

    started = time.monotonic()
    with pytest.raises(TooLong), limited(0.3):
        slept(0.05)
    assert 0.25 < time.monotonic() - started < 2
    with limited(0.05):
        pass
    time.sleep(0.1)


def test_a_large_recording_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "MAX_BYTES", 1_000_000)
    path = tmp_path / "a.jsonl"
    path.write_text(run_text())
    with path.open("ab") as stream:
        stream.truncate(1_000_001)
    loaded = loading.RecordingCache().load(str(path))
    assert loaded.runs == ()
    assert [(f.code, f.severity) for f in loaded.findings] == [("VGL003", "warning")]
    assert "more than 1 MB" in loaded.findings[0].message


# --- samples and Σ ---


def test_samples_are_the_most_frequent_values() -> None:
    calls = [("Send", {"to": to}) for to in ("b", "a", "c", "c", "x" * (MAX_LENGTH + 1))]
    found = sampled([trace_of(*calls, ("Ask", {"to": ["a", "a"], "no": 1}))])
    assert found.arguments() == [("to", 6), ("no", 1)]
    assert found.arguments(["Ask"]) == [("no", 1), ("to", 1)]
    assert found.values("to") == [("a", 2), ("c", 2), ("b", 1)]
    assert found.values("to", ["Send"]) == [("c", 2), ("a", 1), ("b", 1)]
    assert found.values("to", ["Nobody"]) == []
    many = sampled([trace_of(*[("A", {"n": n}) for n in range(MAX_VALUES + 5)])])
    assert len(many.actions["A"].arguments["n"].values) == MAX_VALUES


def test_kinds_have_samples() -> None:
    lines = [b'{"vigil_trace":1}\n', b'{"action":"w","kinds":["file.write"],"args":{"path":"p"}}\n']
    found = sampled([read_trace(lines, "r.jsonl")])
    assert found.values("path", ["file.write"]) == [("p", 1)]


def test_long_values_are_open_in_the_server() -> None:
    signature = observe([trace_of(("A", {"short": "s", "long": "x" * (MAX_TEXT + 1)}))])
    args = shown_signature(signature).actions["A"].args
    assert args["short"].values == {"s"}
    assert args["long"].values is None
    assert args["long"].types == {"text"}


# --- what is known of a newer text ---

OLD = "let a = 1\nstatement S: abs(A())\nstatement T: abs(B())\n"
SUMMARY = RunsSummary(7, Signature({"A": Action({"k": Argument(frozenset())})}, "observed"), Samples(), ())


def judged(text: str, **more: Any) -> Judged:
    """An answer in which the condition of each statement is met by as many events as tell where it stands."""
    items = []
    for item in parse(Source("p.vgl", text)).file.items:
        start, end = item.span
        at = text[start:end].find("abs(") + 4
        items.append(ItemResult(text[start:end], start, ((at, at + 3, start, 1),) if at > 3 else ()))
    return Judged("p.vgl", text, 7, tuple(items), **more)


def now(text: str, before: Judged, *, stale: bool = True) -> RunResults:
    source = Source("p.vgl", text)
    return located(SUMMARY, before, source, [item.span for item in parse(source).file.items], stale=stale)


def counts(text: str, before: Judged) -> Mapping[Span, Matches]:
    here = now(text, before).here
    assert here is not None
    return here.counts


def test_results_move_with_their_items() -> None:
    new = "// more\n" + OLD.replace("A()", "C()") + "statement T: abs(B())\n"
    at = new.index("B()")
    expected = {Span(at, at + 3): Matches(OLD.index("statement T"), 1)}
    assert counts(new, judged(OLD)) == expected
    assert now(new, judged(OLD), stale=False).matches(Span(at, at + 3)) == expected[Span(at, at + 3)]
    assert now(new, judged(OLD)).matches(Span(at, at + 3)) is None, "a module may be another one"


def test_items_that_are_the_same_are_taken_in_order() -> None:
    text = "statement T: abs(B())\n" * 2
    before = judged(text)
    first, second = text.index("B()") + 1, text.rindex("B()") + 1
    assert counts("\n" + text, before) == {
        Span(first, first + 3): Matches(0, 1),
        Span(second, second + 3): Matches(text.rindex("statement"), 1),
    }


def test_findings_move_with_their_items() -> None:
    span = Span(OLD.index("T: abs"), OLD.index("T: abs") + 1)
    finding = Diagnostic.of("VGL332", "never", Source("p.vgl", OLD), span)
    elsewhere = Diagnostic.of("VGL332", "there", Source("q.vgl", ""))
    before = judged(OLD, findings=(finding, elsewhere))
    new = OLD.replace("let a = 1\n", "")
    found = now(new, before).findings
    assert [new[f.span.start : f.span.end] for f in found if f.source.path == "p.vgl"] == ["T"]
    assert elsewhere in found
    assert now(OLD.replace("B()", "D()"), before).findings == (elsewhere,)


def test_findings_between_items_stay_where_the_text_is_as_it_was() -> None:
    text = "// runs: no\n" + OLD
    finding = Diagnostic.of("VGL001", "nothing", Source("p.vgl", text), Span(9, 11))
    before = judged(text, findings=(finding,))
    spans = {
        new: [f.span for f in now(new, before).findings] for new in (text, f"{text}// x", f"\n{text}", f"/{text}/")
    }
    assert list(spans.values()) == [[Span(9, 11)], [Span(9, 11)], [Span(10, 12)], []]


# --- the process ---


@dataclass
class Watched:
    """A client of the process, with what it was told."""

    recordings: RecordingsProcess
    folder: Path
    failures: list[str]
    progress: list[Progress]
    files: list[set[str]]
    news: asyncio.Event = field(default_factory=asyncio.Event)

    def say(self, text: str, name: str = "p.vgl", **settings: Any) -> TrackedPolicy:
        """Tell it of one policy."""
        given = {"runs": ("runs/*.jsonl",), **settings}
        told = tracked_policy(
            str(self.folder / name), text, Settings(**given), str(self.folder), str(self.folder), shown=True
        )
        self.recordings.update([told])
        return told

    def known(self, text: str, name: str = "p.vgl") -> RunResults | None:
        source = Source(str(self.folder / name), text)
        return self.recordings.known(source, [item.span for item in parse(source).file.items])

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until something holds that news may change."""
        end = time.monotonic() + PATIENCE
        while not holds():
            assert time.monotonic() < end, "it never came"
            self.news.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self.news.wait(), 0.5)

    async def answered(self, text: str, name: str = "p.vgl", **settings: Any) -> RunResults:
        """What is known of a text, once all of it is."""
        self.say(text, name, **settings)
        await self.until(lambda: (found := self.known(text, name)) is not None and not found.stale)
        found = self.known(text, name)
        assert found is not None
        return found

    @property
    def process(self) -> asyncio.subprocess.Process:
        assert self.recordings._process is not None
        return self.recordings._process


@asynccontextmanager
async def watched(folder: Path) -> AsyncIterator[Watched]:
    """A process for a folder with two runs."""
    (folder / "runs").mkdir()
    (folder / "runs/a.jsonl").write_text(run_text(("Ask", {"to": "ann"}), ("Send", {"to": "ann"})))
    (folder / "runs/b.jsonl").write_text(run_text(("Send", {"to": "eve"}), ("Send", {"to": "bob"})))
    found = Watched(None, folder, [], [], [])  # type: ignore[arg-type]  # it needs the callbacks below

    def then(take: Callable[[Any], object]) -> Callable[[Any], None]:
        def told(value: Any) -> None:
            take(value)
            found.news.set()

        return told

    recordings = found.recordings = RecordingsProcess()
    recordings.on_results = then(lambda _: None)
    recordings.on_loaded = then(found.files.append)
    recordings.on_progress = then(found.progress.append)
    recordings.on_failure = then(found.failures.append)
    try:
        yield found
    finally:
        await found.recordings.stop()


POLICY = 'statement S: abs(Send(to = "eve"))\nstatement T: prec(Send(to = x), Ask(to = x))\nstatement U: abs(Drop())\n'


async def test_what_runs_say_of_a_policy(tmp_path: Path) -> None:
    async with watched(tmp_path) as here:
        found = await here.answered(POLICY)
        assert [(run.name, run.events) for run in found.runs] == [("", 2), ("", 2)]
        assert {name: (len(r.violated), r.runs, r.exercised) for name, r in found.statements.items()} == {
            "S": (1, 2, 2),
            "T": (1, 2, 2),
            "U": (0, 2, 0),
        }
        assert found.statements["T"].violated == (str(tmp_path / "runs/b.jsonl"),)
        (view,) = await here.recordings.events(str(tmp_path / "runs/b.jsonl"))
        at_fault = [one for one in view.events if "T" in [note.statement for note in one.violates]]
        assert [(one.index, one.id) for one in at_fault] == [(0, "e1"), (1, "e2")]
        assert found.signature.actions.keys() == {"Ask", "Send"}
        at = POLICY.index("Send(to = x)")
        assert found.matches(Span(at, at + len("Send(to = x)"))) == Matches(3, 2)
        assert [f.code for f in found.findings] == ["VGL332"]
        assert here.progress[-1].done
        assert here.files == [{str(tmp_path / "runs/a.jsonl"), str(tmp_path / "runs/b.jsonl")}]


async def test_a_changed_text_and_a_changed_run(tmp_path: Path) -> None:
    async with watched(tmp_path) as here:
        await here.answered(POLICY)
        changed = POLICY.replace("Drop()", "Send()").replace('"eve"', '"bob"')
        here.say(changed)
        older = here.known(changed)
        assert older is not None
        assert older.stale
        found = await here.answered(changed)
        assert len(found.statements["U"].violated) == 2
        (tmp_path / "runs/b.jsonl").unlink()
        (tmp_path / "runs/c.jsonl").write_text("{broken\n")
        here.recordings.refresh()
        await here.until(lambda: (now := here.known(changed)) is not None and not now.stale and len(now.runs) == 1)
        (path, findings), *_ = [found for found in here.recordings.recordings().items() if found[1]]
        assert path == str(tmp_path / "runs/c.jsonl")
        assert findings[0].code.startswith("VGL6")


async def test_the_process_is_told_of_a_text_when_nobody_types_any_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the last text alone; at once where somebody waits for what it says, or something else is said to it."""

    async with watched(tmp_path) as here:
        await here.answered(POLICY)
        told: list[object] = []
        monkeypatch.setattr(here.recordings, "_write", told.append)

        def typed(how: str) -> TrackedPolicy:
            told.clear()
            last = [here.say(f"{POLICY}// {how}{letters}") for letters in ("", "a", "ab")][-1]
            assert told == []
            assert not here.recordings.is_judged(last.path, last.text or "")
            return last

        def told_of(last: TrackedPolicy) -> bool:
            return isinstance(first := told[0], Policies) and first.policies == (last,)

        last = typed("rests")
        await asyncio.sleep(2 * REST)
        assert told_of(last)
        last = typed("waits")
        await here.recordings.news(0.0)
        assert told_of(last)
        last = typed("asks")
        here.recordings.refresh()
        assert told_of(last)
        assert told[1:] == [Rescan()]
        await asyncio.sleep(2 * REST)
        assert len(told) == 2, "it is not told twice"


async def test_a_policy_is_opened_that_was_on_disk_before(tmp_path: Path) -> None:
    async with watched(tmp_path) as here:
        await here.answered(POLICY)
        path, folder = str(tmp_path / "new.vgl"), str(tmp_path)
        open_one = here.recordings._tracked_policies[str(tmp_path / "p.vgl")]
        settings = Settings(runs=("runs/*.jsonl",))
        for text in (None, POLICY):
            newer = tracked_policy(path, text, settings, folder, folder, shown=text is not None)
            here.recordings.update([open_one, newer])
        await here.until(lambda: (now := here.known(POLICY, "new.vgl")) is not None and not now.stale)


async def test_a_module_that_is_missing_is_waited_for(tmp_path: Path) -> None:
    async with watched(tmp_path) as here:
        text = "use .lib\nstatement S: abs(bad())\n"
        await here.answered(text)
        (tmp_path / "lib.vgl").write_text('pattern bad = Send(to = "eve")\n')
        here.recordings.refresh()
        await here.until(lambda: len(here.known(text).statements["S"].violated) == 1)  # type: ignore[union-attr]


async def test_a_module_that_is_closed_counts_as_it_is_on_disk(tmp_path: Path) -> None:
    async with watched(tmp_path) as here:
        (tmp_path / "lib.vgl").write_text('pattern bad = Send(to = "nobody")\n')
        text, folder, settings = "use .lib\nstatement S: abs(bad())\n", str(tmp_path), Settings(runs=("runs/*.jsonl",))
        own = tracked_policy(str(tmp_path / "p.vgl"), text, settings, folder, folder, shown=True)
        module = 'pattern bad = Send(to = "eve")\n'
        other = tracked_policy(str(tmp_path / "lib.vgl"), module, Settings(), folder, folder, shown=True)

        def broken() -> int:
            found = here.known(text)
            return len(found.statements["S"].violated) if found is not None and "S" in found.statements else -1

        here.recordings.update([own, other])
        await here.until(lambda: broken() == 1)
        here.recordings.update([own])
        await here.until(lambda: broken() == 0)


def judging(folder: Path, runs: str) -> tuple[Worker, Callable[[str], Judged]]:
    """A worker for a run, and what it says of a text of one policy."""
    (folder / "r.jsonl").write_text(runs)
    sent: list[object] = []
    worker = Worker(sent.append)

    def said(text: str) -> Judged:
        sent.clear()
        settings = Settings(runs=("r.jsonl",))
        worker.take(
            Policies((tracked_policy(str(folder / "p.vgl"), text, settings, str(folder), str(folder), shown=True),))
        )
        while worker.busy:
            worker.step()
        return [message for message in sent if isinstance(message, Judged)][-1]

    return worker, said


def test_what_is_sent_of_a_policy_is_small(tmp_path: Path) -> None:
    """All of it is sent after each change: it must not grow with the events at fault."""
    _, said = judging(tmp_path, run_text(*[("Send", {"to": f"person {n}"}) for n in range(5_000)]))
    text = "".join(f"statement S{n}: abs(Send(n != {n}, to = x))\nstatement T{n}: abs(Send())\n" for n in range(10))
    found = said(text)
    assert [len(statement.violated) for statement in found.statements] == [0, 1] * 10
    assert len(frame(found)) < 10_000


EDITED = """
pattern told(x) = Send(to = x)
statement S: abs(told("eve"))
statement T: prec(told(x), Ask(to = x))
statement U: resp(Ask(to = x, status = error), told(x))
statement V: abs[9](told("ann"))
"""


def test_what_is_remembered_of_a_text_changes_nothing_of_the_next(tmp_path: Path) -> None:
    """After each edit the results are those of a process that has just started."""
    runs = run_text(("Ask", {"to": "ann"}), ("Send", {"to": "ann"}), ("Send", {"to": "eve"}))
    edits = [
        EDITED,
        EDITED.replace("error", "ok"),
        EDITED.replace("Send", "Ask"),
        EDITED.replace("Ask", "Send"),
        f"// moved\n{EDITED}",
        EDITED.replace("statement T", "statement W"),
        EDITED.replace('"eve"', '"nobody"'),
        EDITED.replace("prec(told", "prec((told"),
        f'{EDITED}statement X: resp(Drop(to = "x"), Ask())\n',
        EDITED.replace("pattern told", "pattern gone"),
        EDITED,
    ]
    _, said = judging(tmp_path, runs)
    for text in edits:
        _, anew = judging(tmp_path, runs)
        now, fresh = said(text), anew(text)
        assert [now.items, now.statements, now.findings] == [fresh.items, fresh.statements, fresh.findings], text
    assert {found.code for found in said(EDITED).findings} == {"VGL332"}


def test_answers_about_older_texts_are_forgotten(tmp_path: Path) -> None:
    worker, said = judging(tmp_path, run_text(("Send", {"to": "ann"})))
    for number in range(300):
        assert len(said(f'statement S: abs(Send(to = "ann{number}"))\n').statements) == 1
    (run,) = worker._state.all_recorded()
    assert len(run._answers) <= 102
    assert len(said('statement S: abs(Send(to = "ann"))\n').statements[0].violated) == 1


def test_the_timeline_of_a_long_run_counts_all_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reports, "MAX_LINES", 2)
    worker, said = judging(tmp_path, run_text(*[("Send", {"n": n}) for n in range(5)]))
    said("statement S: abs(Send())\n")
    *_, found = answer_steps(Question(1, "timeline", (str(tmp_path / "r.jsonl"),)), worker._state)
    assert "\n\n5 events, 5 at fault.\n\n" in found.text
    assert found.text.count("**violates**") == 2
    assert found.text.endswith("\n\nAnd 3 more events.\n")


def test_a_condition_that_takes_too_long_leaves_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from vigil_lsp.recordings import judging as counting

    counted = counting.matches

    def matches(condition: core.Condition, runs: Sequence[CachedRun]) -> Matches | None:
        if core.variables_of(condition):
            raise TooLong("this takes too long")
        return counted(condition, runs)

    monkeypatch.setattr(counting, "matches", matches)
    _, said = judging(tmp_path, run_text(("Send", {"to": "ann"})))
    found = said("pattern p(x) = Send(to = x)\nstatement S: abs(Send())\n")
    assert [item.counts for item in found.items] == [(), ((17, 23, 1, 1),)]
    assert [len(statement.violated) for statement in found.statements] == [1]


def test_a_policy_that_cannot_be_judged_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from vigil_lsp.recordings import judging as counting

    def too_long(*_: object, **__: object) -> None:
        raise TooLong("this takes too long")

    _, said = judging(tmp_path, run_text(("Send", {"to": "ann"})))
    monkeypatch.setattr(counting, "lowered", too_long)
    found = said("statement S: abs(Send())\n")
    assert (found.text, found.statements) == ("statement S: abs(Send())\n", ())


async def test_an_open_module_counts_as_it_is_in_the_editor(tmp_path: Path) -> None:
    async with watched(tmp_path) as here:
        (tmp_path / "lib.vgl").write_text('pattern bad = Send(to = "nobody")\n')
        text = "use .lib\nstatement S: abs(bad)\n"
        assert (await here.answered(text)).statements["S"].violated == ()
        settings = Settings(runs=("runs/*.jsonl",))
        folder = str(tmp_path)
        module = 'pattern bad = Send(to = "eve")\n'
        here.recordings.update(
            [
                tracked_policy(str(tmp_path / "p.vgl"), text, settings, folder, folder, shown=True),
                tracked_policy(str(tmp_path / "lib.vgl"), module, settings, folder, folder, shown=True),
            ]
        )
        await here.until(lambda: (now := here.known(text)) is not None and len(now.statements["S"].violated) == 1)


async def test_rules_that_ask_runs_can_be_ignored_and_configured(tmp_path: Path) -> None:
    async with watched(tmp_path) as here:
        text = "// vigil: ignore[VGL332] it is for later\nstatement U: abs(Drop())\nstatement V: abs(Drop())\n"
        found = await here.answered(text)
        assert [text[f.span.start : f.span.end] for f in found.findings] == ["V"]
        found = await here.answered(text, lint=Lint(severity={"VGL332": "error"}, benign=("runs/b.jsonl",)))
        assert [f.severity for f in found.findings] == ["error"]
        found = await here.answered(POLICY, lint=Lint(ignore=("VGL332",), benign=("runs/b.jsonl",)))
        assert {(f.code, POLICY[f.span.start]) for f in found.findings} == {("VGL331", "S"), ("VGL331", "T")}


async def test_a_pattern_that_names_nothing_is_found_in_its_comment(tmp_path: Path) -> None:
    async with watched(tmp_path) as here:
        text = "statement U: // runs: runs/a.jsonl, none/*.jsonl\n    abs(Ask())\n"
        found = await here.answered(text)
        assert [(f.code, f.severity, text[f.span.start : f.span.end]) for f in found.findings] == [
            ("VGL001", "warning", "none/*.jsonl")
        ]
        assert len(found.runs) == 1


async def test_a_comment_that_names_an_unreadable_run_is_told_of(tmp_path: Path) -> None:
    async with watched(tmp_path) as here:
        (tmp_path / "bad.jsonl").write_text("{\n", encoding="utf-8")
        text = "// runs: runs/a.jsonl bad.jsonl\nstatement U: abs(Ask())\n"
        found = await here.answered(text)
        (said,) = [one for one in found.findings if one.code == "VGL001"]
        assert text[said.span.start : said.span.end] == "bad.jsonl"
        assert said.message.startswith("this recording cannot be read: `bad.jsonl`: ")
        assert (len(found.runs), found.unreadable) == (1, 1)


async def test_a_run_that_is_not_there_is_counted_as_one_that_cannot_be_read(tmp_path: Path) -> None:
    async with watched(tmp_path) as here:
        text = "// runs: runs/a.jsonl gone.jsonl none/*.jsonl nothing\nstatement U: abs(Ask())\n"
        found = await here.answered(text)
        said = [text[one.span.start : one.span.end] for one in found.findings if one.code == "VGL001"]
        assert said == ["gone.jsonl", "none/*.jsonl", "nothing"]
        assert (len(found.runs), found.unreadable) == (1, 1)  # a glob or a folder may be about none


async def test_a_comment_that_names_nothing_is_told_of_between_items_too(tmp_path: Path) -> None:
    async with watched(tmp_path) as here:
        found = await here.answered("// runs: /**/*.jsonl\nstatement U: abs(Ask())\n")
        assert [(f.code, f.message, f.span) for f in found.findings] == [
            ("VGL001", "only what lies in the workspace folder is read", Span(9, 20))
        ]


def test_runs_that_cannot_be_read_are_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def too_long(_: object) -> None:
        raise TooLong("this takes too long")

    monkeypatch.setattr(loading, "observe", too_long)
    (tmp_path / "a.jsonl").write_text(run_text(("Ask", {})))
    sent: list[object] = []
    working = Worker(sent.append)
    folder = str(tmp_path)
    settings = Settings(runs=("*.jsonl",))
    working.take(Policies((tracked_policy(str(tmp_path / "p.vgl"), POLICY, settings, folder, folder, shown=True),)))
    while working.busy:
        working.step()
    (told,) = [message for message in sent if isinstance(message, RunsLoaded)]
    assert (told.summary.runs, told.summary.unread) == ((), (("runs", 0, "this takes too long"),))
    working.look()
    assert not working.busy


async def test_documents(tmp_path: Path) -> None:
    async with watched(tmp_path) as here:
        await here.answered(POLICY)
        path, runs = str(tmp_path / "p.vgl"), tmp_path / "runs"
        witness = await here.recordings.witness(path, "T")
        assert witness.startswith("# `T`: violated in 1 run\n")
        assert f"[`e1`]({(runs / 'b.jsonl').as_uri()}#L2)" in witness
        assert f"[`p.vgl:2`]({(tmp_path / 'p.vgl').as_uri()}#L2)" in witness
        assert (await here.recordings.witness(path, "U")).startswith("# `U`: not violated\n")
        explained = await here.recordings.explanation(path, "T")
        assert "Whenever `Send(to = x)` happens, `Ask(to = x)` must have happened before." in explained
        assert "∀ x. □ Send(to = x) ⇒ ◇⁻ Ask(to = x)" in explained
        assert "met by 3 events of 2 runs" in explained
        timeline = await here.recordings.timeline(str(runs / "b.jsonl"))
        assert [len(event.violates) for event in timeline.run.events] == [2, 1]
        assert [event.line for event in timeline.run.events] == [2, 3]
        assert timeline.text.count("**violates**") == 3
        (view,) = await here.recordings.events(str(runs / "a.jsonl"))
        assert [[said.statement for said in event.mentions] for event in view.events] == [["T"], ["T"]]
        only = here.recordings.witness(path, "T", str(runs / "none.jsonl"))
        for wrong in (only, here.recordings.witness(path, "None"), here.recordings.timeline("/nowhere.jsonl")):
            with pytest.raises(Unanswered):
                await wrong


async def test_tests_are_run(tmp_path: Path) -> None:
    (tmp_path / "p.vgl").write_text(POLICY)
    tests = 'use .p\ntest "good" { run { Ask() } expect S satisfied }\ntest "bad" { run { Ask() } expect S violated }\n'
    (tmp_path / "p_test.vgl").write_text(tests)
    async with watched(tmp_path) as here:
        found = await here.recordings.tests(str(tmp_path / "p_test.vgl"))
        assert found.text.startswith("# Tests: 1 failed, 1 passed\n")
        assert [(tests[start:end], message) for (start, end), message in found.unmet] == [
            ("S", "bad: `S` is satisfied, not violated")
        ]
        one = await here.recordings.tests(str(tmp_path / "p_test.vgl"), "good")
        assert one.text.startswith("# Tests: 1 passed\n")
        assert one.unmet == ()


async def test_it_is_started_once_more_when_it_dies_and_then_given_up(tmp_path: Path) -> None:
    async with watched(tmp_path) as here:
        await here.answered(POLICY)
        here.process.kill()
        await here.until(lambda: here.recordings._process is None or here.process.returncode is not None)
        changed = POLICY.replace("eve", "bob")
        assert len((await here.answered(changed)).statements["S"].violated) == 1
        assert here.failures == []
        here.process.kill()
        await here.until(lambda: bool(here.failures))
        assert "ended twice" in here.failures[0]
        for text in (POLICY, changed):
            lost = here.known(text)
            assert lost is not None
            assert lost.lost
            assert (lost.statement("S"), lost.findings) == (None, ()), "it would be of old runs for ever"
        assert here.known(POLICY, "other.vgl") is None
        with pytest.raises(Unanswered):
            await here.recordings.witness(str(tmp_path / "p.vgl"), "S")
        here.recordings.restart()
        assert here.known(POLICY) is None
        assert (await here.answered(POLICY)).statements.keys() == {"S", "T", "U"}
        assert len(here.failures) == 1


async def test_what_a_second_process_says_takes_the_place_of_what_the_first_said(tmp_path: Path) -> None:
    async with watched(tmp_path) as here:
        await here.answered(POLICY)
        source = Source(str(tmp_path / "p.vgl"), POLICY)
        items = [item.span for item in parse(source).file.items]

        def broken() -> int:
            found = here.recordings.known(source, items)
            return len(found.statements["S"].violated) if found is not None else -1

        assert broken() == 1
        (tmp_path / "runs/b.jsonl").write_text(run_text(("Send", {"to": "bob"}), ("Send", {"to": "bob"})))
        here.process.kill()
        await here.until(lambda: broken() == 0)


async def test_it_does_not_start_without_runs(tmp_path: Path) -> None:
    async with watched(tmp_path) as here:
        here.say(POLICY, runs=())
        assert here.recordings._task is None
        assert here.known(POLICY) is None


async def _process(folder: Path) -> asyncio.subprocess.Process:
    """The process by itself."""
    return await asyncio.create_subprocess_exec(
        *command("vigil_lsp.recordings.worker"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=folder,
    )


async def test_it_ends_with_its_input_and_reads_nothing_in_the_working_folder(tmp_path: Path) -> None:
    told = plant(tmp_path)
    process = await _process(tmp_path)
    assert process.stdin is not None
    process.stdin.write(frame(Question(1, "timeline", ("/nowhere",))))
    process.stdin.close()
    assert await asyncio.wait_for(process.wait(), PATIENCE) == 0
    assert has_run(told) == []


async def test_it_ends_with_its_input_while_it_works(tmp_path: Path) -> None:
    lines = [{"vigil_trace": 1}, *({"action": "A", "args": {"n": n}} for n in range(120_000))]
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    process = await _process(tmp_path)
    assert process.stdin is not None
    process.stdin.write(frame(Question(1, "views", (str(path),))))
    await process.stdin.drain()
    await asyncio.sleep(0.5)
    process.stdin.close()
    assert process.stdout is not None
    answered = await asyncio.wait_for(process.stdout.read(), PATIENCE)
    assert await asyncio.wait_for(process.wait(), PATIENCE) == 0
    assert answered == b"", "the answer is not waited for"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the process is looked into from inside")
async def test_what_prints_does_not_get_between_the_messages() -> None:
    program = (
        "import os, vigil_lsp.recordings.worker as w\n"
        "i, o = w._own_streams()\nprint('noise', flush=True)\nos.system('echo noise')\n"
        "o.write(b'frame' + i.read())\no.flush()\n"
    )
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", program),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate(b"!")
    assert out == b"frame!"
    assert err.split() == [b"noise", b"noise"]
