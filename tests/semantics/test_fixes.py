"""Whatever offers a fix is mended by it: in every wrong policy of the specification, the pages and the examples."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from cases_signature import RUN, TOOLS
from semantics_support import findings

from vigil_lang.diagnostics import Diagnostic, Source, apply_edits
from vigil_lang.semantics.policy import read_policy

ROOT = Path(__file__).parents[2]
_FENCE = re.compile(r"^```vgl[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)

# What the other corpora do not have: slips of the pen in every kind of place.
SLIPS = [
    "statment S: abs(a())",
    "statement S: ab(a())",
    "statement S: abs(a() && b())",
    "statement S: abs(a() || !b())",
    "statement S: abs(f == 1)",
    "statement S: abs(f <> 1)",
    "statement S: always a() -> b()",
    "statement S: always a() => earlier b()",
    "statement S: abs(in = 1)",
    "statement S: abs(f =~ /x/)",
    "statement S: abs(action not in {a})",
    "statement S: abs(write() and chekc(f = 1) and edti())",
    "statement S: prec(edit(fille = x), check(tarrget = x))",
    'statement S: prec(edit(mode in {fsat, "slwo"}), check(target = "MM"))',
    "statement S: abs(edit(file = 3, lines = true, mode = fsat))",
    "use std.secret\nuse std.files: writess\n\nstatement S: abs(writess(x))",
    "let LIMIT = 3\n\nstatement S: abs(n < LIMITS)",
    "let NAMES = {edit, check}\n\nstatement S: abs(action = NAMES and f in NAME or f != NAMES)",
    '@sverity(info)\n@mesage("x")\nstatement S: abs(a(f = alpha, g = alhpa))',
]


def corpus() -> list[str]:
    """Policies, most of them wrong."""
    pages = [ROOT / "spec.md", *sorted((ROOT / "docs" / "codes").glob("*.md"))]
    texts = [m[1] for page in pages for m in _FENCE.finditer(page.read_text(encoding="utf-8"))]
    texts += [p.read_text(encoding="utf-8") for p in sorted((ROOT / "tests" / "fixtures").rglob("*.vgl"))]
    return [*dict.fromkeys(texts), *SLIPS]


SIGNATURES = {"alone": None, "tools": TOOLS, "run": RUN}


@cache
def wrong(text: str, against: str) -> list[Diagnostic]:
    """The findings of a policy that is stored nowhere."""
    return findings(read_policy(Source("<stdin>", text)), SIGNATURES[against])


def alike(finding: Diagnostic, found: list[Diagnostic]) -> int:
    """How many findings say the same."""
    return sum((f.code, f.message) == (finding.code, finding.message) for f in found)


@pytest.mark.parametrize("against", SIGNATURES)
def test_every_fix_mends(against: str) -> None:
    fixed = set()
    for text in corpus():
        before = wrong(text, against)
        for finding in (f for f in before if f.fix is not None):
            assert finding.source.path == "<stdin>"
            after = apply_edits(text, finding.fix.edits if finding.fix else ())
            left = wrong(after, against)
            assert alike(finding, left) < alike(finding, before), (text, after)
            if not finding.code.startswith("VGL1"):
                syntax = [f.message for f in before if f.code.startswith("VGL1")]
                assert [f.message for f in left if f.code.startswith("VGL1")] == syntax
            fixed.add(finding.code)
    assert {"VGL101", "VGL201", "VGL209", "VGL211", "VGL301"} <= fixed
    assert against == "alone" or {"VGL401", "VGL402"} <= fixed


@pytest.mark.parametrize("against", SIGNATURES)
def test_findings_are_well_formed_and_said_once(against: str) -> None:
    for text in corpus():
        found = wrong(text, against)
        for finding in found:
            assert 0 <= finding.span.start <= finding.span.end <= len(finding.source.text)
            assert finding.message[0].islower() or finding.message[0] in "`("
            assert not finding.message.endswith(".")
            assert finding.message.count("`") % 2 == 0
        places = [(f.code, f.source.path, f.span, f.message) for f in found]
        assert len(places) == len(set(places))
