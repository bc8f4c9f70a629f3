"""Cited documents: found beside the policy or in its project, read once, and nothing from outside."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from vigil_lang.documents import library as module
from vigil_lang.documents.document import Document
from vigil_lang.documents.library import Library, Unreadable


@pytest.fixture
def policy(tmp_path: Path) -> str:
    """A policy in a folder of a project, with documents beside it, in the project, and outside."""
    (tmp_path / "outside.md").write_text("Never leave.", encoding="utf-8")
    project = tmp_path / "project"
    (project / "rules").mkdir(parents=True)
    (project / "vigil.toml").write_text("", encoding="utf-8")
    (project / "TOP.md").write_text("Never climb.", encoding="utf-8")
    (project / "rules" / "SKILL.md").write_text("Never push.", encoding="utf-8")
    return str(project / "rules" / "policy.vgl")


def text(found: Document | Unreadable) -> str:
    assert isinstance(found, Document)
    return found.sentences[0].text


def reason(found: Document | Unreadable) -> str:
    assert isinstance(found, Unreadable)
    return found.reason


def test_beside_the_policy_and_in_the_project(policy: str) -> None:
    library = Library()
    assert text(library.cited(policy, "SKILL.md")) == "Never push."
    assert text(library.cited(policy, "TOP.md")) == "Never climb."
    assert text(library.cited(policy, "../TOP.md")) == "Never climb."
    assert library.cited(policy, "../TOP.md") is library.cited(policy, "TOP.md")


def test_a_document_is_read_once(policy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    library = Library()
    first = library.cited(policy, "SKILL.md")
    monkeypatch.setattr(module, "_load", lambda *_: pytest.fail("read again"))
    assert library.cited(policy, "./SKILL.md") is first


def test_where_a_document_is_is_found_once_and_what_was_looked_at_is_known_each_time(policy: str) -> None:
    library = Library()
    found = library.cited(policy, "TOP.md")
    assert reason(library.cited(policy, "LATE.md")) == "absent"
    (Path(policy).parent / "LATE.md").write_text("Never wait.", encoding="utf-8")
    again = library.afresh()
    assert again.looked_at == ()
    assert text(again.cited(policy, "LATE.md")) == "Never wait.", "what was not there is looked for again"
    top = Path(policy).parent.parent / "TOP.md"
    top.unlink()
    assert again.cited(policy, "TOP.md") is found, "as its text is that of then"
    late, beside = (str(Path(policy).parent.resolve() / name) for name in ("LATE.md", "TOP.md"))
    assert again.looked_at == (late, beside, str(top.resolve()))


@pytest.mark.parametrize("name", ["../../outside.md", "/etc/hosts", "../../../../../../../../etc/hosts"])
def test_nothing_outside_the_project(policy: str, name: str) -> None:
    assert reason(Library().cited(policy, name)) == "outside"


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_no_link_leads_outside(policy: str) -> None:
    Path(policy).with_name("link.md").symlink_to("../../outside.md")
    assert reason(Library().cited(policy, "link.md")) == "outside"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("absent.md", "absent"),
        ("a/b/c.md", "absent"),
        ("https://example.org/a.md", "elsewhere"),
        ("arXiv:2606.26524, section 3", "elsewhere"),
        ("Handbook, chapter 3", "elsewhere"),
        ("", "elsewhere"),
        (".", "unreadable"),
        ("a\0b", "absent"),
        ("x" * 5000, "unreadable"),
    ],
)
def test_what_cannot_be_read(policy: str, name: str, why: str) -> None:
    assert reason(Library().cited(policy, name)) == why


def test_no_more_than_the_limit_and_only_text(policy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    Path(policy).with_name("raw.md").write_bytes(b"\xff\xfe")
    raw = Library().cited(policy, "raw.md")
    assert isinstance(raw, Unreadable)
    assert raw.message == "it is not UTF-8 text"
    monkeypatch.setattr(module, "MAX_BYTES", 5)
    assert reason(Library().cited(policy, "SKILL.md")) == "unreadable"


def test_a_document_that_is_named_outright_may_be_anywhere(policy: str) -> None:
    outside = Path(policy).parents[2] / "outside.md"
    assert text(Library().read(outside)) == "Never leave."
    assert reason(Library().read("absent.md")) == "absent"
    assert reason(Library().read("a\0b")) == "absent"
