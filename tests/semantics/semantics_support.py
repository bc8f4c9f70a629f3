"""Wrong policies with the place of the finding marked in them: ``statement S: abs(«consumes»)``."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from vigil_lang.diagnostics import Diagnostic, Source, apply_edits
from vigil_lang.lint.check import check_policy
from vigil_lang.semantics.policy import Policy, read_policy
from vigil_lang.trace.signature_file import signature_from_json

if TYPE_CHECKING:
    from pathlib import Path

    from vigil_lang.trace import Signature

NOWHERE = "policy.vgl"


@dataclass(frozen=True)
class Case:
    """A policy with one finding.

    `marked` is its text with the finding's span between « and »; `files` are others beside it, one of which may hold
    the mark instead; `fixed` is the marked file after the fix, None where there is none; `also` are the codes of
    further findings.
    """

    code: str
    marked: str
    message: str
    help: str | None = None
    fixed: str | None = None
    severity: str | None = None
    notes: tuple[str, ...] = ()
    params: dict[str, Any] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    also: tuple[str, ...] = ()
    signature: Signature | None = None

    def __str__(self) -> str:
        return f"{self.code}: {self.message[:60]}"


def unmarked(text: str) -> str:
    """The text without marks."""
    return text.replace("«", "").replace("»", "")


def read(text: str, params: dict[str, Any] | None = None) -> Policy:
    """A policy that is stored nowhere."""
    return read_policy(Source("<stdin>", text), params)


def findings(policy: Policy, signature: Signature | None = None) -> list[Diagnostic]:
    """Everything that is wrong with a policy."""
    return [*policy.diagnostics, *check_policy(policy, signature)]


def codes(text: str, signature: Signature | None = None) -> list[str]:
    """The codes of what is wrong with a policy."""
    return [f.code for f in findings(read(text), signature)]


def found(case: Case, folder: Path) -> tuple[Policy, list[Diagnostic]]:
    """The policy of a case, stored in a folder with its other files, and its findings."""
    for name, text in case.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(unmarked(text), encoding="utf-8")
    path = folder / NOWHERE
    path.write_text(unmarked(case.marked), encoding="utf-8")
    policy = read_policy(Source(str(path), unmarked(case.marked)), case.params)
    return policy, findings(policy, case.signature)


def check(case: Case, folder: Path) -> None:
    """The case's finding is there as described, and its fix mends it."""
    _, everything = found(case, folder)
    wanted = [f for f in everything if f.code == case.code]
    assert wanted, [f"{f.code} {f.message}" for f in everything]
    finding = next((f for f in wanted if f.message == case.message), wanted[0])
    assert finding.message == case.message
    assert finding.help == case.help
    assert finding.severity == (case.severity or finding.severity)
    assert tuple(_note(n.message, n.source.text[n.span.start : n.span.end]) for n in finding.notes) == case.notes
    name, marked = next((n, t) for n, t in {NOWHERE: case.marked, **case.files}.items() if "«" in t)
    assert finding.source.path == str(folder / name)
    assert _marked(finding) == marked
    assert sorted(f.code for f in everything if f is not finding) == sorted(case.also)
    fixed = None if finding.fix is None else apply_edits(finding.source.text, finding.fix.edits)
    assert fixed == case.fixed
    if fixed is not None:
        other = {"files": case.files | {name: fixed}} if name != NOWHERE else {"marked": fixed}
        mended = replace(case, **other)
        _, left = found(mended, folder)
        assert not [f for f in left if (f.code, f.message) == (finding.code, finding.message)]
        assert not [f for f in left if f.code.startswith("VGL1")]


def _marked(finding: Diagnostic) -> str:
    text, span = finding.source.text, finding.span
    return f"{text[: span.start]}«{text[span.start : span.end]}»{text[span.end :]}"


def _note(message: str, text: str) -> str:
    return f"{message}: {' '.join(text.split())}"


def declared(**actions: dict[str, Any]) -> Signature:
    """A declared signature; an argument is a list of its types and, after them, `values=[…]` as a dict."""
    return signature("declared", **actions)


def observed(**actions: dict[str, Any]) -> Signature:
    """An observed one."""
    return signature("observed", **actions)


def signature(origin: str, **actions: dict[str, Any]) -> Signature:
    """A signature in the published form, without the parts that are always the same."""
    return signature_from_json({"schema": "vigil.signature/1", "origin": origin, "actions": actions})
