"""Every finding about names, conditions and signatures: its place, its words, and that its fix mends it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from cases_conditions import CASES as CONDITIONS
from cases_gate_rules import CASES as GATE_RULES
from cases_names import CASES as NAMES
from cases_signature import CASES as SIGNATURE
from cases_signature import QUIET
from semantics_support import Case, check, codes

from vigil_lang.diagnostics import CODES
from vigil_lang.lint.registry import all_rules

if TYPE_CHECKING:
    from pathlib import Path

    from vigil_lang.trace import Signature


@pytest.mark.parametrize("case", [*NAMES, *CONDITIONS, *GATE_RULES, *SIGNATURE], ids=str)
def test_finding(case: Case, tmp_path: Path) -> None:
    # spec RA.2-3
    check(case, tmp_path)


@pytest.mark.parametrize(("signature", "form"), QUIET, ids=lambda part: part if isinstance(part, str) else "")
def test_no_finding(signature: Signature, form: str) -> None:
    # spec RA.2-4
    assert codes(f"statement S: {form}", signature) == []


def test_every_code_about_meaning_has_a_case() -> None:
    shown = {case.code for case in [*NAMES, *CONDITIONS, *GATE_RULES, *SIGNATURE]}
    # Limits, and layers beside each other, are tested elsewhere; what the linter adds has cases of its own.
    added = {code for rule in all_rules() if not rule.basic for code in rule.codes}
    assert {code for code in CODES if code[3] in "234"} - shown - added == {"VGL213", "VGL354"}
