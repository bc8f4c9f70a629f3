"""How much of a document is cited, and what is not (VGL706)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Source
from vigil_lang.documents.coverage import coverage, uncited
from vigil_lang.documents.library import Library
from vigil_lang.documents.read import read_document
from vigil_lang.semantics.policy import load_policy

if TYPE_CHECKING:
    from pathlib import Path

SKILL = """# Archives

Never release an archive that nobody has validated. Archives are large.

- Always ask before you delete one.
- You must not pack secrets, and you must not pack caches.
"""


def cites(folder: Path) -> tuple[str, list[tuple[str, str]]]:
    (folder / "SKILL.md").write_text(SKILL, encoding="utf-8")
    path = folder / "policy.vgl"
    path.write_text(
        '@source("SKILL.md", "Never release an archive …")\n'
        "statement R0: prec(release(), validate())\n\n"
        '@source("SKILL.md", "You must not pack secrets")\n'
        'statement R1: abs(pack(path ~ "*secret*"))\n',
        encoding="utf-8",
    )
    return str(path), [cite for s in load_policy(path).statements for cite in s.metadata.cites]


def test_obligations_that_no_statement_cites(tmp_path: Path) -> None:
    findings, (figures,) = uncited([cites(tmp_path)], Library())
    assert [(f.code, f.severity, f.source.position(f.span.start)) for f in findings] == [("VGL706", "info", (5, 3))]
    assert findings[0].message == "no statement cites this sentence, which says `always`"
    assert (figures.cited, len(figures.obligations), round(figures.percent)) == (2, 3, 67)


def test_documents_that_are_only_named_count_too(tmp_path: Path) -> None:
    (tmp_path / "OTHER.md").write_text("Never feed the cat.", encoding="utf-8")
    findings, figures = uncited([cites(tmp_path)], Library(), [str(tmp_path / "OTHER.md"), "absent.md"])
    assert [f.source.path.rpartition("/")[2] for f in findings] == ["OTHER.md", "SKILL.md"]
    assert [round(each.percent) for each in figures] == [0, 67]


def test_a_word_alone_cites_no_sentence() -> None:
    document = read_document(Source("SKILL.md", SKILL))
    assert coverage(document, ["an archive"]).cited == 0
    assert coverage(document, ["Always ask before you delete one."]).cited == 1
    assert coverage(document, ["Always ask … you must not pack caches."]).cited == 2


def test_a_document_without_obligations_is_covered() -> None:
    assert coverage(read_document(Source("a.md", "Archives are large.")), []).percent == 100
