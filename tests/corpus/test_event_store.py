"""A store is the same whatever happened while it was made, and holds all that a policy can test."""

from __future__ import annotations

import json
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING
from unittest import mock

import pytest
from cli_support import called

from tests.corpus.stores import content, recordings
from vigil_lang.base.outputs import replacing
from vigil_lang.corpus import store
from vigil_lang.corpus.batch import Needs
from vigil_lang.corpus.reading import Reading
from vigil_lang.corpus.store import MARKER, NoStore, Store, make_store
from vigil_lang.runs import load_traces

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from vigil_lang.trace import Event

EXAMPLES = sorted(str(path) for path in Path("examples/skills").rglob("*.jsonl"))[::5]


def told(event: Event) -> tuple[object, ...]:
    """All that a policy can test of an event."""
    return (
        event.id,
        event.call,
        event.action,
        event.kinds,
        event.args,
        event.status,
        event.output,
        event.time,
    )


def test_nothing_that_a_policy_can_test_is_lost(tmp_path: Path) -> None:
    assert not make_store(str(tmp_path / "s"), EXAMPLES, Reading()).bad
    source = Store(str(tmp_path / "s"))
    (batch,) = source.batches(Needs(frozenset({"path"}), output=True))
    originals = [trace for path in EXAMPLES for trace in load_traces(path)]
    assert batch.runs["path"].to_list() == [trace.run.path for trace in originals]
    for row, trace in zip(batch.runs.iter_rows(named=True), originals, strict=True):
        again = source.trace(row)
        assert list(map(told, again.events)) == list(map(told, trace.events))
        assert again.call_index == trace.call_index
        assert (again.run.name, again.run.cwd, again.run.source) == (trace.run.name, trace.run.cwd, trace.run.source)


def test_a_second_run_makes_nothing_and_more_recordings_cost_themselves(tmp_path: Path) -> None:
    paths = recordings(tmp_path, 9, events=200, wide=500)
    first = make_store(str(tmp_path / "s"), paths, Reading(), jobs=1)
    assert first.made > 1
    assert not first.kept
    before = content(tmp_path / "s")
    again = make_store(str(tmp_path / "s"), paths, Reading(), jobs=1)
    assert (again.made, again.kept) == (0, first.made)
    assert content(tmp_path / "s") == before
    more = make_store(str(tmp_path / "s"), [*paths, *recordings(tmp_path, 1, events=4, name="z")], Reading(), jobs=1)
    assert more.made == 1
    assert more.runs == first.runs + 1
    fewer = make_store(str(tmp_path / "s"), paths, Reading(), jobs=1)
    assert content(tmp_path / "s") == before
    assert fewer.runs == first.runs


def test_bad_recordings_are_listed_and_keep_nothing_back(tmp_path: Path) -> None:
    paths = recordings(tmp_path, 2)
    broken = tmp_path / "broken.jsonl"
    broken.write_text('{"action": "a"}\n{"action": 7}\n')
    out = called("abstract", *paths, broken, "--format", "parquet", "-o", tmp_path / "s")
    assert out.status == 0
    assert "broken.jsonl: `action` must be a string" in out.err
    assert "2 runs" in out.err
    assert json.loads((tmp_path / "s" / "manifest.json").read_text())["unreadable"][0][0] == str(broken)
    out = called("abstract", *paths, broken, "--format", "parquet", "-o", tmp_path / "s", "--strict")
    assert out.status == 2
    out = called("scan", "examples/dashcam/dashcam.vgl", tmp_path / "s")
    assert out.status == 2
    assert "1 not readable" in out.out


def test_no_folder_of_somebody_elses_becomes_a_store(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    out = called("abstract", *recordings(tmp_path, 1), "--format", "parquet", "-o", tmp_path / "mine")
    assert out.status == 2
    assert "is no store" in out.err
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["letter.txt"]


@pytest.mark.parametrize("harm", ["manifest", "schema", "part", "unfinished"])
def test_a_store_that_is_not_whole_is_no_store(tmp_path: Path, harm: str) -> None:
    folder = tmp_path / "s"
    make_store(str(folder), recordings(tmp_path, 1), Reading())
    manifest = folder / "manifest.json"
    match harm:
        case "manifest":
            manifest.write_text("{")
        case "schema":
            manifest.write_text(manifest.read_text().replace("vigil.store/1", "vigil.store/9"))
        case "unfinished":
            manifest.unlink()
        case _:
            next(p for p in (folder / "parts").iterdir() if "runs" not in p.name).write_bytes(b"PAR1")
    out = called("scan", "examples/dashcam/dashcam.vgl", folder)
    assert out.status == 2, out
    assert "Traceback" not in out.err
    assert str(folder) in out.err


def test_without_outputs_what_tests_them_is_refused(tmp_path: Path) -> None:
    policy = tmp_path / "p.vgl"
    policy.write_text('policy p\nstatement S: abs(fetch(output contains "x"))\nstatement T: abs(fetch())\n')
    paths = recordings(tmp_path, 1)
    out = called("abstract", *paths, "--format", "parquet", "-o", tmp_path / "s", "--outputs", "digest")
    assert out.status == 0
    out = called("scan", policy, tmp_path / "s")
    assert out.status == 2
    assert "S tests them" in out.err
    assert called("scan", policy, tmp_path / "s", "--statement", "T").status == 1


def test_work_that_ends_at_any_moment_goes_on_to_the_same_store(tmp_path: Path) -> None:
    """Before and after each file is there. Processes are killed in `tests/corpus/store_kills.py`, a hundred times."""
    paths = recordings(tmp_path, 3, events=20, wide=10)
    with mock.patch.object(store, "_PART_FILES", 1):
        make_store(str(tmp_path / "whole"), paths, Reading(), jobs=1)
        expected = content(tmp_path / "whole")
        for moment in range(2 * len(expected)):
            folder = tmp_path / f"s{moment}"
            with mock.patch.object(store, "replacing", _ending(moment)), pytest.raises(KeyboardInterrupt):
                make_store(str(folder), paths, Reading(), jobs=1)
            assert content(folder).items() <= expected.items()
            (folder / ".vigil-half").write_bytes(b"half")  # as a kill leaves it
            if (folder / "parts").exists():
                (folder / "parts" / ".vigil-half").write_bytes(b"half")
            again = make_store(str(folder), paths, Reading(), jobs=1)
            assert again.kept == max(0, moment - 1) // 4
            assert content(folder) == expected


def _ending(moment: int) -> Callable[[str], AbstractContextManager[IO[bytes]]]:
    """In place of `replacing`: it ends all work before one of the files is there, or just behind that."""
    count = -1

    @contextmanager
    def write(path: str) -> Iterator[IO[bytes]]:
        nonlocal count
        with replacing(path) as stream:
            yield stream
            count += 1
            if count == moment:
                raise KeyboardInterrupt
        count += 1
        if count == moment:
            raise KeyboardInterrupt

    return write


def test_a_store_is_told_by_its_marker(tmp_path: Path) -> None:
    (tmp_path / MARKER).write_text("")
    with pytest.raises(NoStore, match="was not finished"):
        Store(str(tmp_path))
