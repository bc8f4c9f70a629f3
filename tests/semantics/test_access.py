"""Modules as an editor holds them: texts that are not stored, parsed with a memory, instead of what the disk has."""

from __future__ import annotations

from pathlib import Path

import pytest

from vigil_lang.base.files import read_source
from vigil_lang.diagnostics import Diagnostic, InputError, Source
from vigil_lang.semantics import core
from vigil_lang.semantics.modules import Access, standard_path
from vigil_lang.semantics.policy import Policy, read_policy
from vigil_lang.syntax import Parsed, parse
from vigil_lang.syntax.memory import Memory

ROOT = Path(__file__).parents[2]
SHIPPED = [path for folder in ("stdlib", "examples") for path in sorted((ROOT / folder).rglob("*.vgl"))]

MAIN = "use .one\n\nstatement S: abs(p)\n"


class Editor:
    """Open documents by path, over the disk."""

    def __init__(self, **documents: str) -> None:
        self.documents = {str(Path(name).resolve()): text for name, text in documents.items()}
        self.memories: dict[str, Memory] = {}
        self.reads: list[str] = []
        self.parsed: list[str] = []

    def read(self, path: str, limit: int) -> Source:
        self.reads.append(path)
        return Source(path, self.documents[path]) if path in self.documents else read_source(path, limit)

    def parse(self, source: Source) -> Parsed:
        self.parsed.append(source.path)
        return parse(source, self.memories.setdefault(source.path, Memory()))

    def is_file(self, path: Path) -> bool:
        return str(path) in self.documents or path.is_file()

    def policy(self, path: Path, text: str = MAIN) -> Policy:
        return read_policy(Source(str(path), text), access=Access(self.read, self.parse, self.is_file))


def forbidden(policy: Policy) -> list[core.Condition]:
    assert not policy.errors
    return [holds.condition for s in policy.statements for holds in core.conditions(s.requirement.theta)]


def action(name: str) -> core.Condition:
    return core.ActionIn(frozenset({name}))


def test_an_open_document_stands_for_its_file(tmp_path: Path) -> None:
    (tmp_path / "one.vgl").write_text("pattern p = stored()\n", encoding="utf-8")
    open_one = {str(tmp_path / "one.vgl"): "pattern p = typed()\n"}
    assert forbidden(Editor(**open_one).policy(tmp_path / "main.vgl")) == [action("typed")]
    assert forbidden(Editor().policy(tmp_path / "main.vgl")) == [action("stored")]
    assert forbidden(read_policy(Source(str(tmp_path / "main.vgl"), MAIN))) == [action("stored")]


def test_a_document_that_was_never_stored_is_a_module(tmp_path: Path) -> None:
    editor = Editor(**{str(tmp_path / "one.vgl"): "pattern p = typed()\n"})
    assert forbidden(editor.policy(tmp_path / "main.vgl")) == [action("typed")]
    assert [d.code for d in Editor().policy(tmp_path / "main.vgl").errors] == ["VGL207", "VGL201"]


def test_what_is_wrong_in_an_open_document_is_found_there(tmp_path: Path) -> None:
    path = str(tmp_path / "one.vgl")
    policy = Editor(**{path: "pattern p = a()\n\nlet X = {\n"}).policy(tmp_path / "main.vgl")
    assert [(d.code, d.source.path) for d in policy.errors] == [("VGL101", path)]


def test_a_document_that_cannot_be_read_is_a_finding(tmp_path: Path) -> None:
    def refuse(path: str, limit: int) -> Source:
        raise InputError([Diagnostic.of("VGL003", f"more than {limit}", Source(path, ""))])

    access = Access(read=refuse, is_file=lambda path: path.name == "one.vgl")
    policy = read_policy(Source(str(tmp_path / "main.vgl"), MAIN), access=access)
    assert [(d.code, d.message) for d in policy.errors] == [
        ("VGL201", "no pattern named `p` is declared"),
        ("VGL003", "more than 8000000"),
    ]


def test_standard_modules_are_the_same_for_everybody(tmp_path: Path) -> None:
    text = "use std.files: writes\n\nstatement S: abs(writes(x))\n"
    editor = Editor(**{str(standard_path("std.files").resolve()): "pattern writes(x) = other(f = x)\n"})
    policy, plain = editor.policy(tmp_path / "main.vgl", text), read_policy(Source(str(tmp_path / "main.vgl"), text))
    assert editor.reads == []
    assert editor.parsed == [str(tmp_path / "main.vgl")]
    assert policy.module.uses[0][1] is plain.module.uses[0][1]
    assert forbidden(policy) == forbidden(plain)


def test_a_project_cannot_be_left_through_documents(tmp_path: Path) -> None:
    folder = tmp_path / "inner"
    folder.mkdir()
    (folder / "one.vgl").symlink_to(tmp_path / "outside.vgl")
    editor = Editor(**{str(tmp_path / "outside.vgl"): "pattern p = a()\n"})
    assert [d.code for d in editor.policy(folder / "main.vgl").errors] == ["VGL208", "VGL201"]


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_policies_read_the_same_after_edits(path: Path) -> None:
    editor = Editor()
    text = path.read_text(encoding="utf-8")
    for changed in (text, text[: len(text) // 2], f"// above\n{text}", text.replace("(", "((", 1), text):
        plain = read_policy(Source(str(path), changed))
        assert told(editor.policy(path, changed)) == told(plain)


def told(policy: Policy) -> list[object]:
    """A policy with the places of what it says; modules are compared by who they are."""
    conditions = [(s, h) for s in policy.statements for h in core.conditions(s.requirement.theta)]
    return [
        [(s.name, s.requirement, s.syntax, s.span, s.metadata, s.params) for s in policy.statements],
        [(h.role, h.span, s.label(h)) for s, h in conditions],
        policy.diagnostics,
        policy.module.file,
        list(policy.module.own),
        list(policy.module.imported),
    ]
