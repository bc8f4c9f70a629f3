"""Plausible mistakes: nine in ten are found, and no fix that is offered turns what was meant round.

In policies that are right nothing is found.

After a wanted change: ``VIGIL_UPDATE=1 pytest tests/lint/test_mistakes.py``, and read each line of `fixes.txt` that
changed: it has what a fix makes of a mistake.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
from rule_cases import source

from vigil_lang.diagnostics import Source, apply_edits
from vigil_lang.lint.run import Plan, lint
from vigil_lang.project.selection import DEFAULT, Selection
from vigil_lang.syntax.parse import parse

if TYPE_CHECKING:
    from vigil_lang.diagnostics import Diagnostic

FOLDER = Path(__file__).parent / "mistakes"
PLAN = Plan(Selection(DEFAULT))


class Mistake(NamedTuple):
    """What is written, and the codes of which one has to be found; none for a mistake that nothing finds today."""

    written: str
    codes: frozenset[str]

    @property
    def text(self) -> str:
        """The policy."""
        rest, before, cited = self.written, "", ""
        if found := re.match(r"\[([A-Z][^\]]*\.)\] (.*)", rest):
            cited, rest = f'@source("SKILL.md", "{found[1]}")\n', found[2]
        *others, rest = rest.split("§")
        before = "".join(f"{each}\n" for each in others)
        statements = [f"statement S{at}: {each}\n" for at, each in enumerate(rest.split(" ;; "), 1)]
        return f"policy p\n\n{before}{cited}{''.join(statements)}"


def _lines(name: str) -> list[str]:
    lines = (FOLDER / name).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("# ")]


def _mistake(line: str) -> Mistake:
    codes, _, written = line.partition(" ")
    return Mistake(written, frozenset() if codes == "missed" else frozenset(codes.split(",")))


MISTAKES = [_mistake(line) for line in _lines("mistakes.txt")]
RIGHT = [Mistake(line, frozenset()) for line in _lines("right.txt")]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Mistake, tuple[Diagnostic, ...]]]:
    """Each mistake with its findings."""
    folder = tmp_path_factory.mktemp("mistakes")
    (folder / "SKILL.md").write_bytes((FOLDER / "SKILL.md").read_bytes())
    return [(each, lint(source(each.text, folder / "p.vgl"), PLAN).findings) for each in MISTAKES]


def test_nine_in_ten_are_found(found: list[tuple[Mistake, tuple[Diagnostic, ...]]]) -> None:
    assert len(MISTAKES) >= 200
    right = [each for each, findings in found if each.codes & {finding.code for finding in findings}]
    assert [each.written for each, _ in found if each.codes and each not in right] == []
    assert len(right) >= 0.9 * len(MISTAKES)


def test_nothing_is_found_in_what_is_right(tmp_path: Path) -> None:
    (tmp_path / "SKILL.md").write_bytes((FOLDER / "SKILL.md").read_bytes())
    assert len(RIGHT) >= 60
    found = {each.written: lint(source(each.text, tmp_path / "p.vgl"), PLAN).findings for each in RIGHT}
    assert {written: [f.message for f in findings] for written, findings in found.items() if findings} == {}


def test_each_fix_is_one_that_was_read(found: list[tuple[Mistake, tuple[Diagnostic, ...]]], tmp_path: Path) -> None:
    """It also gives a policy that has a meaning, and without what it is to mend.

    Of what the grammar does not allow the first is told: a second one may come after it.
    """
    (tmp_path / "SKILL.md").write_bytes((FOLDER / "SKILL.md").read_bytes())
    lines = []
    for each, findings in found:
        for finding in findings:
            if finding.fix is None:
                continue
            mended = apply_edits(each.text, finding.fix.edits)
            left = lint(source(mended, tmp_path / "p.vgl"), PLAN).findings
            before = sum(other.code == finding.code for other in findings)
            second = any(other.code == "VGL101" and other.message != finding.message for other in left)
            assert second or sum(other.code == finding.code for other in left) < before, mended
            assert second or {other.code[:4] for other in left if other.severity == "error"} <= {"VGL3"}, mended
            shown = " ;; ".join(mended.removeprefix("policy p\n\n").splitlines())
            lines.append(f"{finding.code} {each.written}\n    {shown}\n")
    golden = FOLDER / "fixes.txt"
    if os.environ.get("VIGIL_UPDATE"):
        golden.write_text("".join(lines), encoding="utf-8")
    assert "".join(lines) == golden.read_text(encoding="utf-8")


def test_a_safe_fix_leads_to_a_policy_that_parses(found: list[tuple[Mistake, tuple[Diagnostic, ...]]]) -> None:
    """By itself, or with the safe fixes of what comes to light behind it."""
    for each, findings in found:
        for finding in findings:
            if finding.fix is None or not finding.fix.safe:
                continue
            text = apply_edits(each.text, finding.fix.edits)
            for _ in range(20):
                broken = parse(Source("p.vgl", text)).diagnostics
                safe = [other.fix for other in broken if other.fix and other.fix.safe]
                if not safe:
                    break
                text = apply_edits(text, safe[0].edits)
            assert not broken, (each.written, finding.fix.title)


SIGNS = ("==", "&&", "&", "||", "|", "!", "->", "=>", "=~", "<>")
PARTS = ("k", "3", '"x"', "a()", "b(k = 3)", "not", "status", "true", "{c}")


@pytest.mark.parametrize("sign", SIGNS)
def test_what_other_notations_write_is_mended_safely_or_not_at_all(sign: str) -> None:
    """Wherever the sign stands."""
    places = ("abs(a({} {} {}))", "abs({} {} {})", "always {} {} {}", "prec(a({} {} {}), b())", "abs(a()) {} {} {}")
    for place in places:
        for one in PARTS:
            for other in PARTS:
                text = f"statement S: {place.format(one, sign, other)}\n"
                for finding in parse(Source("p.vgl", text)).diagnostics:
                    if finding.fix is not None and finding.fix.safe:
                        mended = apply_edits(text, finding.fix.edits)
                        assert parse(Source("p.vgl", mended)).diagnostics == (), (text, mended)
