"""Fixes as they are applied: what is safe changes no meaning, and none breaks what was whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from vigil_lang.diagnostics import Diagnostic, Edit, Fix, Source, Span
from vigil_lang.lint.fixing import mend
from vigil_lang.lint.rule import Rule
from vigil_lang.lint.run import Plan

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.lint.subject import Subject


def offering(monkeypatch: pytest.MonkeyPatch, *fixes: tuple[str, str, bool]) -> None:
    """Rules that want texts replaced by others, wherever they stand, one finding for each place."""

    def find(subject: Subject) -> Iterator[Diagnostic]:
        source = subject.policy.module.source
        for old, new, safe in fixes:
            at = source.text.find(old)
            while at >= 0:
                span = Span(at, at + len(old))
                yield Diagnostic.of("VGL309", f"{old} is {new}", source, span, fix=Fix("so", (Edit(span, new),), safe))
                at = source.text.find(old, at + len(old))

    monkeypatch.setattr("vigil_lang.lint.run.all_rules", lambda: (Rule(("VGL309",), find),))


BASE = 'statement R0: abs(deploy(env = "live"))\n'


@pytest.mark.parametrize(
    ("fix", "after"),
    [
        (('env = "live"', 'env in {"live"}', True), 'statement R0: abs(deploy(env in {"live"}))\n'),
        (('env = "live"', 'env = "test"', True), BASE),  # it says it is safe, and it is not
        (('"live"))', '"live")', True), BASE),  # it breaks the file
        (("R0", "R1", True), BASE),  # another statement is another statement
        (('env = "live"', 'env = "test"', False), BASE),  # nobody asked for it
    ],
)
def test_safe_fixes_change_no_meaning(fix: tuple[str, str, bool], after: str, monkeypatch: pytest.MonkeyPatch) -> None:
    offering(monkeypatch, fix)
    mended = mend(Source("policy.vgl", BASE), Plan())
    assert mended.source.text == after
    assert len(mended.applied) == (after != BASE)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('abs(Bash(command ~ "*rm -rf*" and command ~ "*rm*"))', 'abs(Bash(command ~ "*rm -rf*"))'),
        ('prec(action ~ "Bash" and has command, approve())', "prec(action = Bash and has command, approve())"),
        ('abs(deploy(env = "x" or env = "x"))', 'abs(deploy(env = "x"))'),
    ],
)
def test_safe_fixes_may_say_the_same_in_other_words(before: str, after: str) -> None:
    mended = mend(Source("policy.vgl", f"statement R0: {before}\n"), Plan())
    assert mended.source.text == f"statement R0: {after}\n"


def test_unsafe_fixes_come_last_and_break_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    text = BASE + 'statement R1: abs(deploy(tag = "live"))\n'
    offering(
        monkeypatch, ('"live"))', '"live")', False), ('tag = "live"', 'tag = "x"', False), ("abs(d", "abs( d", True)
    )
    mended = mend(Source("policy.vgl", text), Plan(), unsafe=True)
    assert mended.source.text == text.replace("abs(d", "abs( d").replace('tag = "live"', 'tag = "x"')
    assert [f.fix.safe for f in mended.applied if f.fix] == [True, True, False]


def test_fixes_that_undo_each_other_end(monkeypatch: pytest.MonkeyPatch) -> None:
    offering(monkeypatch, ('env = "live"', 'env in {"live"}', True), ('env in {"live"}', 'env = "live"', True))
    assert "live" in mend(Source("policy.vgl", BASE), Plan()).source.text


def test_fixes_that_touch_are_applied_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    offering(monkeypatch, ('env = "li', 'env  = "li', True), ('ve"))', 've" ))', True), ("live", "live", True))
    assert mend(Source("policy.vgl", BASE), Plan()).source.text == 'statement R0: abs(deploy(env  = "live" ))\n'
