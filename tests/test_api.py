"""The Python interface: five lines to a verdict."""

from __future__ import annotations

from pathlib import Path

import pytest

import vigil_lang as vigil

DASHCAM = Path(__file__).parents[1] / "examples/dashcam"


def test_five_lines_to_a_verdict() -> None:
    policy = vigil.load_policy(DASHCAM / "dashcam.vgl")
    verdict = vigil.verify([policy], vigil.load_trace(DASHCAM / "violating.jsonl"))
    found = [(statement.name, offence.event, offence.message) for statement, offence in verdict.offences()]
    assert found == [("R3", "e5", "`M` was consumed before anything validated it")]
    assert verdict.verdict == "unsafe"


def test_what_is_wrong_with_an_input_is_an_exception_with_its_findings(tmp_path: Path) -> None:
    (tmp_path / "p.vgl").write_text("statement S: abs(", encoding="utf-8")
    with pytest.raises(vigil.InputError) as caught:
        vigil.load_policy(tmp_path / "p.vgl")
    (finding,) = caught.value.diagnostics
    assert isinstance(finding, vigil.Diagnostic)
    assert finding.code == "VGL101"
    assert "p.vgl:1:18: VGL101 expected a condition" in str(caught.value)


def test_the_names_that_are_offered_exist() -> None:
    for name in vigil.__all__:
        assert getattr(vigil, name) is not None
    assert dir(vigil) == sorted(vigil.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = vigil.nothing
