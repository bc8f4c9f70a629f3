"""The descriptions of libraries that are shipped are whole: every kind and role of theirs is in the vocabulary."""

from __future__ import annotations

import re
import tomllib

import pytest

from vigil_lang.abstraction.scripts.libraries import is_standard, libraries
from vigil_lang.base.resources import resource
from vigil_lang.trace.vocabulary import vocabulary

SPAWNS = ("", "command", "line", "words", "vector", "spread", "method")


@pytest.mark.parametrize("language", ["python", "javascript"])
def test_every_entry_is_of_the_vocabulary(language: str) -> None:
    library, known = libraries(language), vocabulary()
    for owner in library.owners():
        for name, entry in library.table(owner).items():
            if isinstance(entry, str):
                assert library.find(entry) is not None or entry in library.owners(), (owner, name)
                continue
            roles = {role for _, role in entry.args if role} | {entry.this} - {""} | set(entry.const)
            instead = {kind for kinds in entry.instead.values() for kind in kinds.split()}
            assert set(entry.kinds) | set(entry.effects.values()) | instead <= set(known.kinds), (owner, name)
            assert set(entry.instead) <= {name for name, _ in entry.args}, (owner, name)
            assert not entry.method or set(entry.method.split()) <= {"GET", "POST", "PUT"}, (owner, name)
            assert roles <= set(known.roles), (owner, name, roles)
            assert set(entry.effects) <= roles | {"archive"}, (owner, name)
            assert entry.spawn in SPAWNS
            assert not entry.sql or entry.sql in roles


@pytest.mark.parametrize("language", ["python", "javascript"])
def test_no_table_or_function_is_described_twice(language: str) -> None:
    text = resource("stdlib", "libraries", f"{language}.toml").read_text(encoding="utf-8")
    data = tomllib.loads(text)
    assert list(data) == re.findall(r'^\["(.+)"\]$', text, re.MULTILINE)
    for owner, table in data.items():
        names = [n for names in table for n in names.split()]
        assert len(names) == len(set(names)), owner


def test_a_function_is_found_by_any_of_its_names() -> None:
    python = libraries("python")
    assert python.canonical("openpyxl.workbook.Workbook") == "openpyxl.Workbook"
    found = python.find("shutil.copy2")
    assert found is not None
    assert (found.name, found.kinds, found.args) == (
        "shutil.copy2",
        ("file.copy",),
        (("src", "source"), ("dst", "target")),
    )
    assert python.find("nowhere.f") is None


def test_what_is_standard() -> None:
    assert is_standard("os.path.join", "python")
    assert is_standard("print", "python")
    assert not is_standard("numpy.load", "python")
    assert is_standard("fs.rmSync", "javascript")
    assert not is_standard("three.Mesh", "javascript")
