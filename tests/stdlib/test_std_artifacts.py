"""std.artifacts: what produces, consumes and validates an artifact."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from std_support import bash, call, matches, policy, run

from vigil_lang.semantics.denotation import violations

if TYPE_CHECKING:
    from vigil_lang.trace import Event


def holds(pattern: str, event: Event) -> bool:
    return matches("std.artifacts", pattern, event)


def test_produces() -> None:
    assert holds('produces("/out/report.csv")', call("Write", file_path="/out/report.csv"))
    assert holds('produces("M")', call("estimate_M", features="tracks.npz", output="M"))
    assert not holds('produces("M")', call("estimate_M", output="the transform M"))
    assert not holds('produces("/out/report.csv")', call("Read", file_path="/out/report.csv"))


def test_consumes() -> None:
    assert holds('consumes("/out/report.csv")', call("Read", file_path="/out/report.csv"))
    assert holds('consumes("M")', call("warp", input=["frame.png", "M"]))
    assert not holds('consumes("M")', call("validate_output", input="M")), "a check is no use"
    assert not holds('consumes("M")', call("warp", comment="M"))


@pytest.mark.parametrize(
    "event",
    [
        call("validate_output", target="/out/a.csv"),
        call("mcp__ci__run_tests", path="/out/a.csv"),
        call("mcp__lake__schema_validation", source="/out/a.csv"),
        call("step", "artifact.verify", artifact="/out/a.csv"),
        bash("python3 tools/validate.py /out/a.csv"),
        bash("cd /x && pytest --data /out/a.csv"),
        bash("make test DATA=/out/a.csv"),
    ],
)
def test_validates(event: Event) -> None:
    assert holds('validates("/out/a.csv")', event)


@pytest.mark.parametrize(
    "event",
    [
        call("validate_output", target="/out/b.csv"),
        call("validate_output", target="/out/a.csv", status="error"),
        call("validate_output", target="/out/a.csv", status="unknown"),
        call("invalidate_cache", target="/out/a.csv"),
        call("latest_version", target="/out/a.csv"),
        bash("python3 make_report.py /out/a.csv"),
        bash("wc -l /out/a.csv"),
        bash("pip install pytest-cov /out/a.csv"),
    ],
)
def test_does_not_validate(event: Event) -> None:
    assert not holds('validates("/out/a.csv")', event)


def test_validated_before_it_is_consumed() -> None:
    rule = policy("use std.artifacts: consumes, validates\nstatement S: prec(consumes(x), validates(x))\n")
    trace = run(
        call("validate_output", target="a.csv"),
        call("Read", file_path="a.csv"),
        call("Read", file_path="b.csv"),
    )
    assert violations(rule.statements[0].requirement, trace) == [(2, {"x": "b.csv"})]
