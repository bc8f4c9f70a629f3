"""Texts are read within limits, and only from what has an end."""

from __future__ import annotations

import os
import re
import sys
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from vigil_lang.base import files
from vigil_lang.base.files import lies_in, open_input, read_bytes, read_source, real_path, standard_input
from vigil_lang.diagnostics import InputError

ROOT = Path(__file__).parents[1]


def test_a_text_is_read_up_to_its_limit(tmp_path: Path) -> None:
    place = tmp_path / "a.vgl"
    place.write_bytes(b"x" * 100)
    assert read_source(str(place), 100).text == "x" * 100
    with pytest.raises(InputError, match=r"VGL003 the file has more than 99 bytes"):
        read_source(str(place), 99)
    assert len(read_bytes(place, 10)) == 11


def test_every_text_has_a_limit(tmp_path: Path) -> None:
    place = tmp_path / "sparse"
    with place.open("wb") as stream:
        stream.truncate(1 << 40)
    with pytest.raises(InputError, match=r"VGL003 the file has more than 16,000,000 bytes"):
        read_source(str(place))


@pytest.mark.parametrize(("path", "reason"), [("/dev/zero", "it is a device, not a file"), ("/", "Is a directory")])
def test_what_is_no_file_is_not_opened(path: str, reason: str) -> None:
    before = os.dup(0)
    os.close(before)
    with pytest.raises(OSError, match=reason):
        open_input(path)
    after = os.dup(0)
    os.close(after)
    assert after == before, "it is closed again"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_pipe_waits_for_its_writer_a_while(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_PATIENCE", 0.01)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="it is a pipe that nobody writes to"):
        open_input(tmp_path / "pipe")


def test_standard_input_is_no_device(monkeypatch: pytest.MonkeyPatch) -> None:
    with Path("/dev/zero").open(encoding="utf-8") as zeros:
        monkeypatch.setattr(sys, "stdin", zeros)
        with pytest.raises(OSError, match="it is a device, not a file"):
            standard_input()
    with Path(os.devnull).open(encoding="utf-8") as nothing:
        monkeypatch.setattr(sys, "stdin", nothing)
        assert standard_input().read() == b""
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(b"text")))
    assert read_bytes("-") == b"text"


@pytest.mark.parametrize(
    "path", ["\0", "a\0b", "\ud800", "a" * 5_000, "", "loop", "loop/x", "a/../b", "/proc/self/mem/x"]
)
def test_every_path_has_a_real_one(path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("loop").symlink_to("loop")
    for given in (path, Path(path)):
        assert real_path(given)
    assert not lies_in(path, Path("/elsewhere"))
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert real_path(path)


def test_all_links_are_followed_by_one_function() -> None:
    """The others raise for what a repository, a client or a program can hand over: NULs, and links to themselves."""
    apart = {
        "vigil_lang/base/files.py": "it is that function",
        "vigil_lang/base/cache.py": "only of folders that the user names; every failure means that there is none",
        "vigil_lang/base/processes.py": "before anything is imported, only of what `sys.path` has",
        "vigil_lang/base/resources.py": "our own files",
        "vigil_lang/points/daemon/wire.py": "before anything is imported, only of the state folder",
        "vigil_lang/engines/smt/__init__.py": "our own packages",
    }
    found = set()
    for path in (path for folder in ("vigil_lang", "lsp/vigil_lsp") for path in (ROOT / folder).rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if re.search(r"os\.path\.realpath\(|import realpath|(?<!resource\(\"stdlib\", \"std\"\))\.resolve\(\)", text):
            found.add(path.relative_to(ROOT).as_posix())
    assert found == set(apart)
