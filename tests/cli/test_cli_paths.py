"""What path arguments stand for."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from vigil_lang.cli.options import complete
from vigil_lang.diagnostics import InputError
from vigil_lang.project.paths import policy_paths, split, trace_paths

if TYPE_CHECKING:
    from pathlib import Path

    from cli_support import Vigil, Write


@pytest.fixture
def project(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with policies and runs, some of them hidden."""
    for name in ("b.vgl", "a.vgl", "sub/deep/c.vgl", ".hidden/d.vgl", ".e.vgl", "notes.txt", "sub/r.jsonl", "s.json"):
        write(name)
    write("runs/claude-code.txt")
    write("s.json", '{"messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]}')
    write("package.json", '{"name": "no-run"}')
    monkeypatch.chdir(tmp_path)
    return tmp_path


def fault(*args: str) -> tuple[str, str | None]:
    with pytest.raises(InputError) as caught:
        split(args)
    (found,) = caught.value.diagnostics
    assert found.code == "VGL001"
    return found.message, found.help


@pytest.mark.usefixtures("project")
def test_a_folder_gives_its_files_in_order_without_the_hidden() -> None:
    assert policy_paths(["."]) == ["./a.vgl", "./b.vgl", "./sub/deep/c.vgl"]
    assert trace_paths(["."]) == ["./s.json", "./sub/r.jsonl"]


@pytest.mark.usefixtures("project")
def test_what_is_named_is_taken_whatever_its_name() -> None:
    assert policy_paths(["notes.txt", "-"]) == ["notes.txt", "-"]
    assert trace_paths(["runs/claude-code.txt", ".hidden/d.vgl"]) == ["runs/claude-code.txt", ".hidden/d.vgl"]


@pytest.mark.usefixtures("project")
def test_a_quoted_glob_is_what_the_shell_would_have_made_of_it() -> None:
    assert policy_paths(["*.vgl"]) == ["a.vgl", "b.vgl"]
    assert policy_paths(["**/*.vgl"]) == ["a.vgl", "b.vgl", "sub/deep/c.vgl"]
    assert trace_paths(["runs/*.txt"]) == ["runs/claude-code.txt"]
    assert policy_paths(["su*"]) == ["sub/deep/c.vgl"]


def test_a_file_whose_name_looks_like_a_glob_is_that_file(project: Path, write: Write) -> None:
    write("[ab].vgl")
    assert policy_paths(["[ab].vgl"]) == ["[ab].vgl"]
    assert project.joinpath("[ab].vgl").exists()


def test_each_file_once_in_the_order_of_the_arguments(project: Path) -> None:
    (project / "link.vgl").symlink_to("a.vgl")
    assert policy_paths(["b.vgl", "./b.vgl", str(project / "a.vgl"), "link.vgl", "-", "-"]) == [
        "b.vgl",
        str(project / "a.vgl"),
        "-",
    ]


def test_links_do_not_lead_in_circles(project: Path) -> None:
    (project / "sub" / "again").symlink_to(project)
    assert policy_paths(["sub"]) == ["sub/deep/c.vgl"]


@pytest.mark.usefixtures("project")
def test_policies_and_runs_are_told_apart() -> None:
    assert split(["sub", "a.vgl", "notes.txt", "-", "std.files"]) == (
        ["sub/deep/c.vgl", "a.vgl", "std.files"],
        ["sub/r.jsonl", "notes.txt", "-"],
    )


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(
    ("arg", "message", "help_text"),
    [
        ("nothing.vgl", "there is no file or folder `nothing.vgl`", None),
        ("sub/deep/d.vgl", "there is no file or folder `sub/deep/d.vgl`", "did you mean `sub/deep/c.vgl`?"),
        ("no/such/folder/x.vgl", "there is no file or folder `no/such/folder/x.vgl`", None),
        ("", "there is no file or folder ``", None),
        ("*.nope", "nothing matches `*.nope`", None),
        ("run*", "nothing that matches `run*` is a file", None),
        ("runs", "no policy and no run in `runs`", None),
        ("std.filez", "there is no standard module `std.filez`", "did you mean `std.files`?"),
        ("a\0b", "a path cannot hold a NUL character", None),
    ],
)
def test_an_argument_that_stands_for_nothing_says_so(arg: str, message: str, help_text: str | None) -> None:
    assert fault(arg) == (message, help_text)


def test_a_folder_that_cannot_be_read_says_so(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: str) -> None:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr("os.scandir", refuse)
    assert fault(str(project)) == (f"cannot read `{project}`: permission denied", None)


def test_completion_offers_standard_modules_and_leaves_files_to_the_shell() -> None:
    def offered(text: str) -> list[tuple[str, str]]:
        return [(item.value, item.type) for item in complete(None, None, text)]  # type: ignore[arg-type]

    assert ("std.files", "plain") in offered("std.")
    assert offered("std.zzz") == [("std.zzz", "file")]
    assert offered("exa") == [("exa", "file")]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_pipe_in_a_folder_is_passed_over(vigil: Vigil, write: Write) -> None:
    folder = write("a.vgl").parent
    os.mkfifo(folder / "b.vgl")
    os.mkfifo(folder / "b_test.vgl")
    assert vigil("lint", folder, "--no-cache").status == 0
    assert vigil("check", folder).status == 0
