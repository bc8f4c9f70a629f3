"""Vigil's own traces are read into columns as they are read event by event, or left to the reader that does that."""

from __future__ import annotations

import json
import os
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.corpus.plain_traces import HOSTILE, compare, corpora
from tests.corpus.stores import recordings
from vigil_lang.corpus import parts, plain
from vigil_lang.corpus import recordings as reading
from vigil_lang.corpus.batch import Batch, Needs, gathered, joined
from vigil_lang.corpus.parts import PlainReader, Slow
from vigil_lang.corpus.reading import Reading
from vigil_lang.corpus.recordings import Recordings, slowly
from vigil_lang.runs import load_trace, load_traces

HEADER = b'{"vigil_trace":1,"run":"r","model":"m"}'
READ = b'{"action":"read","args":{"path":"/a","n":5},"status":"ok","time":"2026-01-05T10:00:00Z"}'
FETCH = b'{"action":"fetch","args":{"path":["/a","b"]},"status":"error","output":"done"}'


def trace(*lines: bytes) -> bytes:
    return b"".join(line + b"\n" for line in lines)


def test_odd_lines_are_read_alike(tmp_path: Path) -> None:
    """Among others, behind others and alone; all in one block, each of whose recordings has to be told apart."""
    contents = [trace(READ, FETCH)]
    for line in HOSTILE:
        contents += [trace(HEADER, READ, line, FETCH, HEADER, READ), trace(READ, FETCH) + line, trace(line)]
    counts = compare(tmp_path, contents, 1 << 20)
    assert counts["runs"] > len(HOSTILE)


@given(corpora, st.sampled_from((1, 150, 1 << 20)), st.sampled_from((1, 2)))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_both_readers_agree(tmp_path: Path, contents: list[bytes], block: int, jobs: int) -> None:
    """The same in `tests/corpus/plain_traces.py`, for as many cases as there is time for."""
    compare(tmp_path, contents, block, jobs)


@pytest.mark.parametrize(
    "line",
    [
        b"",
        READ,
        FETCH,
        b'{"action": "a", "args": {"n": 1.50, "m": [1, -0, 2e3, "x"], "deep": {"l": [[true], null]}}, "x": {"y": 1}}',
        b'{"action":"a","args":{"path":"say \\"x\\"\\n\\u00e9"},"output":"\\\\","kinds":["k","l"],"status":null}',
        b'{"action":"\xc3\xa9","args":{"n":1,"n":"x"},"time":1767600000.25}\r',
        b'{"action":"a","event":"x","call":"c"}',
        b'{"action":"user.message","args":{"text":"hello"},"time":"2026-01-05T10:00:00.5+02:00"}',
        b'{"action":"a","output":"' + b"ab" * 200 + b'"}',
        b'{"vigil_trace":1,"source":"\\u00e9","size":7.0,"beta":true,"cwd":"/repo","not_executed":1}',
        b'{"vigil_trace":1}',
    ],
)
def test_what_is_plain_is_read_into_columns(tmp_path: Path, line: bytes) -> None:
    """Else the fast reader would agree because it reads nothing."""
    counts = compare(tmp_path, [trace(HEADER, READ, line, READ), b"\xef\xbb\xbf" + trace(READ, line)[:-1]], 1 << 20)
    assert counts["declined"] == 0


def test_a_recording_is_cut_before_headers_and_read_in_threads(tmp_path: Path) -> None:
    lines = [*(trace(HEADER, READ, FETCH, READ) for _ in range(30)), trace(HEADER), trace(HEADER, READ)]
    with (
        mock.patch.object(plain, "read_rows", wraps=plain.read_rows) as read,
        mock.patch.object(parts, "read_rows", read),
    ):
        counts = compare(tmp_path, [b"".join(lines), *lines[:9]], 1_000, jobs=2)
    assert counts["declined"] == 0
    assert read.call_count > 10


@pytest.mark.parametrize("late", [b'{"action":7}', b'{"vigil_trace":2}', b'{"vigil_trace":1,"prompt":"do it"}', b'{"a'])
def test_what_goes_wrong_late_takes_nothing_back(tmp_path: Path, late: bytes) -> None:
    before = trace(HEADER, READ) * 20
    counts = compare(tmp_path, [before + trace(late, READ), trace(READ)], 200, jobs=2)
    assert counts["declined"] == 2
    assert counts["runs"] > 20


def test_what_was_read_behind_a_fault_is_dropped(tmp_path: Path) -> None:
    """Threads are ahead of what is known to be wrong."""
    runs = trace(HEADER, READ) * 20
    for late in (b'{"action":7}', b'{"vigil_trace":1,"prompt":"do it"}\n{"action":"a"}'):
        counts = compare(tmp_path, [trace(READ), runs + trace(late) + runs, trace(READ)], 200, jobs=2)
        assert counts["declined"] == 2


def test_what_can_be_read_only_once_is_not_opened(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    paths = [str(pipe), "-", "/dev/stdin", "a\0b"]
    with mock.patch.object(parts, "opened", side_effect=AssertionError):
        assert list(PlainReader(Reading(), None, 1).read(paths)) == [Slow(path) for path in paths]


def test_a_long_run_is_left_to_the_other_reader(tmp_path: Path) -> None:
    with mock.patch.object(parts, "MOST", 500):
        counts = compare(tmp_path, [trace(*[READ] * 20), trace(READ)], 100)
    assert counts["declined"] == 2


def test_lines_that_have_all_another_shape_are_left_to_the_other_reader(tmp_path: Path) -> None:
    lines = [b'{"action":"a","args":{"x%d":1}}' % number for number in range(40)]
    with mock.patch.object(plain, "FEW", 10):
        counts = compare(tmp_path, [trace(*lines), trace(*[READ] * 9)], 1 << 20)
    assert counts["declined"] == 2
    assert counts["runs"] == 2


def test_no_file_and_no_plain_one_are_left_to_the_other_reader(tmp_path: Path) -> None:
    other = tmp_path / "other.jsonl"
    other.write_bytes(trace(b'{"tool":"a"}'))
    paths = [str(tmp_path / "missing"), str(tmp_path), str(other)]
    assert list(PlainReader(Reading(), None, 1).read(paths)) == [Slow(path) for path in paths]
    own = tmp_path / "own.jsonl"
    own.write_bytes(trace(READ))
    assert list(PlainReader(Reading("codex"), None, 1).read([str(own)])) == [Slow(str(own))]
    (batch,) = PlainReader(Reading("vigil"), None, 1).read([str(own)])
    assert isinstance(batch, Batch)


def test_runs_without_events_are_runs_where_that_is_allowed(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(trace(HEADER, HEADER, READ, b'{"vigil_trace":1,"records":3,"not_understood":2}', READ))
    for allow in (False, True):
        how = Reading(allow_empty=allow)
        (found,) = PlainReader(how, None, 1).read([str(path)])
        expected = slowly([Slow(str(path))], how)
        assert isinstance(found, Batch)
        assert (found.runs.height, len(found.bad)) == ((3, 0) if allow else (1, 2))
        assert found.runs.equals(expected.runs)
        assert found.frame.equals(expected.frame)
        assert found.bad == expected.bad


@pytest.mark.processes
def test_readers_take_turns_and_order_stays(tmp_path: Path) -> None:
    """Two recordings of another format between plain ones, read in worker processes."""
    paths = recordings(tmp_path, 5)
    for number in (1, 3):
        line = json.dumps({"tool": "fetch", "args": {"path": f"/{number}"}})
        Path(paths[number]).write_text(f"{line}\n{line}\n")
    needs = Needs(frozenset({"path"}))
    with mock.patch.object(reading, "WORTH_A_PROCESS", 100), mock.patch.object(reading, "TASK_FILES", 1):
        batches = list(Recordings(paths, Reading(), 2).batches(needs))
    assert [path for batch in batches for path in batch.runs["path"]] == paths
    assert [batch.args is None for batch in batches] == [False, True, False, True, False]
    assert [batch.frame.height for batch in gathered(batches, 1_000)] == [5, 2, 5, 2, 5]


def test_arguments_of_one_text_and_of_several_are_joined(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(trace(READ))
    (tmp_path / "b").write_bytes(trace(FETCH, b'{"action":"a"}'))
    needs = Needs(frozenset({"path"}))
    batches = [*Recordings([str(tmp_path / "a")], Reading()).batches(needs)]
    batches += Recordings([str(tmp_path / "b")], Reading()).batches(needs)
    with mock.patch("vigil_lang.corpus.batch.BYTES", 1):
        assert len(list(gathered(batches, 1_000))) == 2
    args = joined(batches).args
    assert args is not None
    assert args["path"].to_list() == [["/a"], ["/a", "b"], None]


def test_one_run_is_read_back_as_it_was(tmp_path: Path) -> None:
    """Of a recording that is plain, of one that is only up to there, and of one that is not plain at all."""
    plain_one, broken, other = (tmp_path / name for name in ("a#b.jsonl", "b.jsonl", "c.jsonl"))
    runs = trace(HEADER, READ) * 9 + trace(HEADER, FETCH, READ) + trace(HEADER)
    plain_one.write_bytes(runs)
    broken.write_bytes(runs + trace(b'{"action":7}'))
    other.write_bytes(trace(b'{"tool":"a"}'))
    paths = [str(plain_one), str(broken), str(other)]
    with mock.patch.object(parts, "BLOCK", 300):
        source = Recordings(paths, Reading(), 1)
        for path in paths:
            for run in slowly([Slow(path)], Reading()).runs["path"]:
                assert source.trace({"path": run}) == next(t for t in load_traces(path) if t.run.path == run)
        lonely = tmp_path / "d.jsonl"
        lonely.write_bytes(trace(READ))
        assert Recordings([str(lonely)], Reading()).trace({"path": str(lonely)}) == load_trace(lonely)
