"""Citations as rules see them: which sentences ask for something, and where their words stand."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from vigil_lang.diagnostics import Source
from vigil_lang.english.stems import meet, related
from vigil_lang.lint.run import Plan, lint
from vigil_lang.lint.subject import Subject
from vigil_lang.semantics.policy import read_policy

if TYPE_CHECKING:
    from pathlib import Path

if TYPE_CHECKING:
    from vigil_lang.lint.source.citations import Citation


def citations(text: str) -> tuple[Citation, ...]:
    policy = read_policy(Source("policy.vgl", text + "\nstatement R0: abs(push())\n"))
    return Subject(policy).cited.citations


def test_several_in_order_and_none_that_is_malformed() -> None:
    found = citations('@source("a.md", "Never.")\n@source("b.md")\n@source("c.md", "\\q")\n@source(d, "Do \\"it\\".")')
    assert [(c.file, c.text) for c in found] == [("a.md", "Never."), ("d", 'Do "it".')]


def test_what_only_explains_is_left_out() -> None:
    (found,) = citations('@source("a.md", "Bulk loads are slow. Never load in bulk. Use the queue.")')
    assert found.sentences == ("Never load in bulk.", "Use the queue.")
    (found,) = citations('@source("a.md", "Bulk loads are slow. They cost a lot.")')
    assert found.sentences == ("Bulk loads are slow.", "They cost a lot.")


@pytest.mark.parametrize(
    ("sentence", "word", "shown"),
    [
        ("Never in BULK.", "bulk", "BULK"),
        ("Not hulk-bulky, in bulk", "bulk", "bulk"),
        ("More\\tthan 3", "more than 3", '"More\\tthan 3"'),
    ],
)
def test_where_a_word_stands(sentence: str, word: str, shown: str) -> None:
    (found,) = citations(f'@source("a.md", "{sentence}")')
    span = found.place(word)
    assert found.statement.source.text[span.start : span.end] == shown


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("validate", "validation", True),
        ("release", "releases", True),
        ("scan", "scanning", True),
        ("run", "runs", True),
        ("commit", "command", False),
        ("test", "text", False),
        ("run", "rung", False),
        ("running", "run", True),
        ("save", "saving", True),
        ("pay", "pack", False),
    ],
)
def test_stems(one: str, other: str, same: bool) -> None:
    assert related(one, other) is same
    assert meet([one], [other]) is same


@pytest.mark.parametrize(
    "sentence",
    [
        "never bulk " * 20_000,
        "`" * 50_000,
        "(" * 50_000,
        "not until " * 20_000,
        "9" * 50_000,
        "… " * 30_000,
        "-x" * 50_000,
    ],
    ids=["words", "quotes", "parentheses", "orders", "digits", "gaps", "flags"],
)
def test_a_hostile_citation_is_read_in_bounded_time(tmp_path: Path, sentence: str) -> None:
    (tmp_path / "a.md").write_text("Never push. " * 1000, encoding="utf-8")
    text = f'@source("a.md", "{sentence}")\n@on_violation(warn)\nstatement R0: prec(push(n = 1), pull())\n'
    started = time.process_time()
    lint(Source(str(tmp_path / "policy.vgl"), text), Plan())
    assert time.process_time() - started < 10
