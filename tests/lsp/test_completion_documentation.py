"""Completion in comments and of sentences, and what is told of an candidate."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from lsp_completing import complete, importable, known, read
from lsp_positions import marked

from vigil_lang.documents.library import Library
from vigil_lsp.completing.comments import in_comment
from vigil_lsp.completing.documentation import documentation
from vigil_lsp.completing.place import comment_at

if TYPE_CHECKING:
    from vigil_lsp.completing.candidate import Candidate

_PAGE = Path(__file__).with_name("completions.md").read_text(encoding="utf-8")
_POLICY, _TESTED = re.findall(r"```vgl\n(.*?)```", _PAGE, re.DOTALL)


# --- comments, documents -----------------------------------------------------------------------------------


def _in_comment(text: str) -> tuple[str, list[Candidate]] | None:
    plain, spans = marked(text)
    reading = read(plain)
    comment = comment_at(reading.tokens, spans[0][0])
    assert comment is not None
    runs = ["runs/a.jsonl", "runs/b.jsonl", "c.jsonl", "with space.jsonl"]
    found = in_comment(comment, spans[0][0], reading.policy.diagnostics, lambda: runs)
    return None if found is None else (plain[found[0].start : found[0].end], found[1])


def test_codes_of_an_ignore_comment() -> None:
    found = _in_comment("// vigil: ignore[VGL2«»]\nlet A = {b}\n\nstatement S: abs(a())")
    assert found is not None
    assert found[0] == "VGL2"
    candidates = sorted(found[1], key=lambda candidate: candidate.group)
    assert candidates[0].label == "VGL205"
    assert "VGL101" not in [candidate.label for candidate in candidates]
    more = _in_comment("// vigil: ignore[VGL301, «»")
    assert more is not None
    assert more[0] == ""


def test_recordings_of_a_runs_comment() -> None:
    found = _in_comment("// runs: c.jsonl ru«»ns")
    assert found is not None
    assert found[0] == "runs"
    assert [candidate.label for candidate in found[1]] == [
        "runs/*.jsonl",
        "*.jsonl",
        "runs/a.jsonl",
        "runs/b.jsonl",
        "c.jsonl",
    ]


def test_what_a_comment_can_begin_with() -> None:
    found = _in_comment("// vi«»")
    assert found is not None
    assert found[0] == "vi"
    assert [(candidate.label, candidate.text) for candidate in found[1]] == [
        ("vigil: ignore", "vigil: ignore[]"),
        ("runs:", "runs: "),
    ]


@pytest.mark.parametrize("text", ["// vigil: ignore[VGL301] be«»cause", "// text «»", "/// runs: «»\nlet A = {b}"])
def test_nothing_elsewhere_in_comments(text: str) -> None:
    assert _in_comment(text) is None


def test_sentences_that_nobody_cites_come_first(tmp_path: Path) -> None:
    page = '# Rules\n\nThe run must use 6 fps. It is fast. Never push "by force". Masks must be checked.\n'
    (tmp_path / "SKILL.md").write_text(page)
    path = str(tmp_path / "p.vgl")
    found = complete(
        '@source("SKILL.md", "«»")\nstatement S: abs(a())',
        path=path,
        library=Library(),
        citations=lambda: [(path, "SKILL.md", "The run must use 6 fps.")],
    )
    assert [(candidate.raw, candidate.detail) for candidate in found.candidates] == [
        ('Never push \\"by force\\".', "says “never”"),
        ("Masks must be checked.", "says “must”"),
        ("The run must use 6 fps.", "says “must”, is cited already"),
    ]
    named = complete('@source("«»")', path=path, documents=lambda: ["SKILL.md", "a/b.md"])
    assert named.labels == ['"SKILL.md"', '"a/b.md"']


# --- documentation -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("about", "said"),
    [
        (("form", "prec"), "prec(ψ, ψ′) = □ (ψ ⇒ ◇⁻ψ′)"),
        (("keyword", "CONTAINS", "contains"), "The text holds the value somewhere."),
        (("keyword", "IN", "in"), "One of the values of a set."),
        (("keyword", "INSIDE", "in"), "The folder that the calls start in."),
        (("level", "hold"), "`hold`: a gate asks somebody first."),
        (("annotation", "severity"), "how a violation is reported"),
        (("action", "Bash"), "- `timeout`: 5 events, `30`"),
        (("action", "file.edit"), "It is also `file.write`."),
        (("argument", "command", "Bash"), "- `git status` (5 events)"),
        (("name", "consumes"), "pattern consumes(x) = Write(file_path = x)\n```\n\nConsumes x."),
        (("import", ".shared", "shell"), "pattern shell(x) = Bash(command = x)\n```\n\nRuns it."),
        (("module", "std.more"), "It declares `tells_user`, `TELLERS`."),
        (("code", "VGL301"), "a value variable occurs only once"),
        (("statement", "R1", "/nowhere/p_test.vgl"), "statement R1: prec("),
    ],
)
def test_documentation(about: tuple[str, ...], said: str) -> None:
    modules = [read(_POLICY).module, read(_TESTED, "/nowhere/p_test.vgl").module]
    told = documentation(about, modules, known(), importable())
    assert told is not None
    assert said in told


@pytest.mark.parametrize("about", [(), ("name", "nothing"), ("form", "x"), ("module",), ("a", "b", "c"), ("code", "x")])
def test_no_documentation_for_what_is_not_there(about: tuple[str, ...]) -> None:
    assert documentation(about, [read(_POLICY).module], known(), importable()) is None


def test_secrets_are_not_told_of() -> None:
    told = documentation(("action", "mcp__gh__push"), [read("").module], known(), ())
    assert told is not None
    assert told.endswith("- `token`: 1 event")
    assert "hunter2" not in told
