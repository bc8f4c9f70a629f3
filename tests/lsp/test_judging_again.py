"""What is remembered of how an older text fared on the runs changes no result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.lsp.test_recordings import run_text
from vigil_lang.diagnostics import Source
from vigil_lang.semantics.modules import FROM_DISK
from vigil_lsp.recordings.judging import Judging
from vigil_lsp.recordings.loading import RecordingCache, Runs
from vigil_lsp.recordings.run_sources import RunSources, TrackedPolicy

if TYPE_CHECKING:
    from pathlib import Path

    from vigil_lsp.recordings.judging import Counted

TEXT = """policy work
pattern bad = Send(to = "eve")
statement S: abs(bad)
statement T: abs(Send(to = "bob"))
statement U: prec(Fetch(of = x), Send(to = x))
"""


def test_results_are_those_of_a_text_judged_from_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(run_text(("Send", {"to": "eve"})))
    (tmp_path / "b.jsonl").write_text(run_text(("Send", {"to": "bob"}), ("Send", {"to": "ann"})))
    path, sources = (
        str(tmp_path / "p.vgl"),
        RunSources((str(tmp_path / "a.jsonl"),), benign=(str(tmp_path / "b.jsonl"),)),
    )
    runs, recordings = Runs(sources), RecordingCache()
    before: Counted | None = None

    def judged(text: str) -> set[str]:
        nonlocal before
        again, anew = (
            Judging(TrackedPolicy(path, text, sources, str(tmp_path)), Source(path, text), runs, known)
            for known in (before, None)
        )
        for judging in (again, anew):
            list(judging.steps(FROM_DISK))
        assert again.result() == anew.result()
        before = again.counted
        broken = {one.name for one in again.result().statements if one.violated}
        return broken | {finding.code for finding in again.result().findings}

    list(runs.load(recordings))
    moved = TEXT.replace("statement T", "// moved\nstatement T")
    renamed = TEXT.replace("statement S", "statement R")
    for text in (TEXT, moved, TEXT):
        assert judged(text) == {"S", "VGL331"}
    assert judged(renamed) == {"R", "VGL331"}
    assert judged(TEXT.replace('"eve"', '"bob"')) == {"VGL331"}
    (tmp_path / "a.jsonl").write_text(
        run_text(("Send", {"to": "bob"}), ("Fetch", {"of": "bob"}), ("Fetch", {"of": "eve"}))
    )
    list(runs.load(recordings))
    assert judged(TEXT.replace('"eve"', '"bob"')) == {"S", "T", "U", "VGL331"}
    assert judged(TEXT) == {"T", "U", "VGL331"}
