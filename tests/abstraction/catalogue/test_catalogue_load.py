"""How programs are looked up, and how little is read for it."""

from __future__ import annotations

import pytest

from vigil_lang.abstraction.catalogue import program
from vigil_lang.abstraction.catalogue.load import key_of, sections


@pytest.mark.parametrize(
    ("called", "name"),
    [
        ("cp", "cp"),
        ("gcp", "cp"),
        ("[", "test"),
        ("[[", "test"),
        (".", "source"),
        ("python3", "python"),
        ("python3.11", "python"),
        ("clang-14", "gcc"),
        ("git.exe", "git"),
        ("/home/ann/.venv/bin/python3", "python"),
        ("node_modules/.bin/eslint", "eslint"),
        ("/usr/bin/test", "test"),
        ("C:\\Tools\\Git\\bin\\git.exe", "git"),
        ("./afl-fuzz", "afl-fuzz"),
        ("./mvnw", "mvn"),
        ("./manage.py", "django-admin"),
        ("../node_modules/.bin/tsc", "tsc"),
        ("/opt/trivy/trivy", "trivy"),
        ("@biomejs/biome", "biome"),
    ],
)
def test_names_of_a_program(called: str, name: str) -> None:
    found = program(called)
    assert found is not None
    assert found.name == name


@pytest.mark.parametrize(
    "called",
    [
        "",
        "no-such-program",
        "./test",
        "./install",
        "src/sort",
        "/",
        "3",
        "../-",
        "./build",
        "tools/convert",
        "./python3.11",
    ],
)
def test_what_the_catalogue_does_not_have(called: str) -> None:
    assert program(called) is None


def test_a_program_is_read_once() -> None:
    assert program("sed") is program("gsed")


def test_subcommands_by_name_and_alias() -> None:
    git = program("git")
    assert git is not None
    assert git.commands is not None
    assert git.commands["push"].kinds == ("git.push",)
    assert git.commands["stage"] is git.commands["add"] or git.commands["stage"].name == "add"
    stash = git.commands["stash"].commands
    assert stash is not None
    assert "pop" in stash
    assert "push" in stash
    assert "nonsense" not in git.commands
    assert len(list(git.commands)) == len(git.commands)
    with pytest.raises(KeyError):
        git.commands["nonsense"]


def test_options_of_one_name_are_one_option() -> None:
    rm = program("rm")
    assert rm is not None
    assert rm.options["-r"] is rm.options["--recursive"]
    assert rm.options["-r"].takes == "nothing"


def test_headers() -> None:
    text = '# comment\n[a]\nx = ["["]\n[a.commands.b]\n["c.d"]\n[e.commands."f.g".roles]\n'
    assert [header for header, _ in sections(text)] == ["a", "a.commands.b", '"c.d"', 'e.commands."f.g".roles']
    assert key_of('"c.d"') == ("c.d",)
    assert key_of("a.commands.b") == ("a", "b")
    assert key_of("a.commands.b.commands.c.roles") == ("a", "b", "c")
    assert key_of('e.commands."f.g".roles') == ("e", "f.g")
    assert key_of("a.roles") == ("a",)
