"""What a run is known to have in its files."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from vigil_lang.abstraction import files
from vigil_lang.abstraction.files import KnownFiles
from vigil_lang.abstraction.paths import is_below

if TYPE_CHECKING:
    from pathlib import Path


def test_a_text_is_known_until_it_changes_unseen() -> None:
    known = KnownFiles()
    known.put("/r/a.py", "x = 1\n")
    assert known.get("/r/a.py") == "x = 1\n"
    known.forget("/r/a.py")
    assert known.get("/r/a.py") is None


def test_a_replacement_is_followed_once_or_everywhere() -> None:
    known = KnownFiles()
    known.put("/a", "b b b")
    known.replace("/a", "b", "c", everywhere=False)
    assert known.get("/a") == "c b b"
    known.replace("/a", "b", "d", everywhere=True)
    assert known.get("/a") == "c d d"


def test_a_replacement_of_what_is_not_there_leaves_nothing_known() -> None:
    known = KnownFiles()
    known.put("/a", "b")
    known.replace("/a", "z", "c", everywhere=False)
    assert known.get("/a") is None
    known.replace("/never", "z", "c", everywhere=False)
    assert known.get("/never") is None


def test_room_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LARGEST", 10)
    monkeypatch.setattr(files, "MOST", 25)
    known = KnownFiles()
    known.put("/long", "x" * 11)
    assert known.get("/long") is None
    for name in "abc":
        known.put(f"/{name}", name * 10)
    assert [known.get(f"/{name}") for name in "abc"] == [None, "b" * 10, "c" * 10]
    known.put("/b", "short")
    known.put("/d", "d" * 10)
    assert known.get("/c") == "c" * 10


def test_skills_files_are_found_below_any_skills_folder(tmp_path: Path) -> None:
    script = tmp_path / "xlsx" / "recalc.py"
    script.parent.mkdir()
    script.write_text("print(1)\n")
    known = KnownFiles(tmp_path)
    assert known.get("/home/ann/.claude/skills/xlsx/recalc.py") == "print(1)\n"
    assert known.get("/home/ann/.claude/skills/xlsx/other.py") is None
    assert known.get("/root/recalc.py") is None
    known.put("/home/ann/.claude/skills/xlsx/recalc.py", "mine")
    assert known.get("/home/ann/.claude/skills/xlsx/recalc.py") == "mine"
    known.forget("/home/ann/.claude/skills/xlsx/recalc.py")
    assert known.get("/home/ann/.claude/skills/xlsx/recalc.py") is None


def test_nothing_outside_the_folder_is_read(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("key")
    folder = tmp_path / "skills"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path / "secret")
    (folder / "binary").write_bytes(b"\xff\xfe")
    known = KnownFiles(folder)
    assert known.get("/x/skills/../secret") is None
    assert known.get("/x/skills//" + str(tmp_path / "secret")) is None
    assert known.get("/x/skills/link") is None
    assert known.get("/x/skills/binary") is None
    assert known.get("/x/skills/") is None


def test_what_lies_below_a_file_that_is_forgotten_is_found_in_whatever_folder() -> None:
    rng = random.Random(7)
    for _ in range(300):
        files = KnownFiles()
        paths = {
            rng.choice(["", "/", "~/", "C:/", "./"]) + "/".join(rng.choices(["a", "b", "a.b"], k=rng.randint(1, 4)))
            for _ in range(12)
        }
        for path in paths:
            files._know(path, path)
        gone = rng.choice([*sorted(paths), ".", "/", "~", "a", "/a", "~/a/*", "/*", "*", "a/b*", "C:", "/a/b/*/c"])
        whole = gone.partition("*")[0].rpartition("/")[0] or "/" if "*" in gone else gone
        files.forget(gone)
        assert {path for path in paths - {gone} if files.get(path) is None} == {
            path for path in paths - {gone} if is_below(path, whole)
        }


@pytest.mark.parametrize("depth", [1, 3, 300])
@pytest.mark.parametrize("start", ["", "/", "~/"])
def test_a_folder_that_is_changed_changes_what_lies_below_however_deep(start: str, depth: int, tmp_path: Path) -> None:
    folders = [start + "/".join(["d"] * count) for count in range(1, depth + 1)]
    path = f"{folders[-1]}/skills/s/f"
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "f").write_text("shipped")
    for folder in (folders[0], folders[-1]):
        known = KnownFiles(tmp_path)
        assert known.expected(path) == "shipped"
        known.put(path, "x")
        known.put(f"{start}dd", "y")
        known.copy().forget(folder)
        assert known.get(path) == "x"
        known.forget(folder)
        assert (known.get(path), known.get(f"{start}dd")) == (None, "y")
        unread = KnownFiles(tmp_path)
        unread.forget(folder)
        assert unread.expected(path) is None
