"""The Reviewdog Diagnostic Format: ranges in bytes of UTF-8, fixes as suggestions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st
from report_support import POLICY, RUN, diagnostics, findings, is_valid, json_of, unhurried

from vigil_lang.diagnostics import apply_edits
from vigil_lang.report import rdjson
from vigil_lang.report.findings import findings_report

if TYPE_CHECKING:
    from collections.abc import Callable

    from vigil_lang.diagnostics import Diagnostic


def read(text: str) -> list[dict[str, Any]]:
    document = json_of(text)
    is_valid(document, "rdjson.json")
    found: list[dict[str, Any]] = document["diagnostics"]
    return found


def test_the_example(golden: Callable[[str, str], None]) -> None:
    text = rdjson.render(findings_report(findings()))
    first = read(text)[0]
    assert first["location"]["range"]["start"] == {"line": 1, "column": 42}  # three more than code points
    golden("check.rdjson", text)


def test_the_example_of_verify(vigil: Callable[..., Any], golden: Callable[[str, str], None]) -> None:
    result = vigil("verify", POLICY, RUN, "--format", "rdjson")
    read(result.out)
    golden("verify.rdjson", result.out)


@unhurried
@given(st.lists(diagnostics(), max_size=4))
def test_ranges_and_suggestions_are_those_of_the_finding(found: list[Diagnostic]) -> None:
    for told, finding in zip(read(rdjson.render(findings_report(found))), found, strict=True):
        text = finding.source.text
        assert ("range" in told["location"]) == bool(text)  # without its text, a finding speaks of the file
        if text:
            assert offsets(text, told["location"]["range"]) == finding.span
        for suggestion in told.get("suggestions", ()):
            assert finding.fix is not None
            start, end = offsets(text, suggestion["range"])
            assert text[:start] + suggestion["text"] + text[end:] == apply_edits(text, finding.fix.edits)


def offsets(text: str, found: dict[str, dict[str, int]]) -> tuple[int, int]:
    """A range as reviewdog applies it: lines from 1, then bytes from 1."""
    lines = text.encode().split(b"\n")

    def offset(place: dict[str, int]) -> int:
        before = b"".join(line + b"\n" for line in lines[: place["line"] - 1])
        return len((before + lines[place["line"] - 1][: place["column"] - 1]).decode())

    return offset(found["start"]), offset(found["end"])
