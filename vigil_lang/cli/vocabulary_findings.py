"""What is doubtful about policies in the light of the runs they judged, in a few lines beside the verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from vigil_lang.diagnostics.human import hanging
from vigil_lang.diagnostics.visible import as_argument, shown_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console

    from vigil_lang.diagnostics import Diagnostic
    from vigil_lang.semantics.policy import Policy
    from vigil_lang.trace import Signature

_SHOWN = 4
# What one run does not do, rules may well be about; but a type that never fits is the policy's mistake.
_ALWAYS = {"VGL403", "VGL404"}
# Of one run the verdict itself says what was not put to the test, or broken; of many this is news.
_OF_MANY = {"VGL401", "VGL407", "VGL408", "VGL409"}


def print_vocabulary_findings(
    policies: Sequence[Policy], runs: Sequence[str], signature: Signature, console: Console
) -> None:
    """Names that are nearly those of the runs, and the like: the usual reason why a rule that should bite holds."""
    groups: dict[tuple[str, str], list[Diagnostic]] = {}
    many = len(runs) > 1
    telling = _ALWAYS | _OF_MANY if many else _ALWAYS
    for found in _findings(policies, signature):
        if found.code.startswith("VGL4") and (
            found.code in telling or found.fix or (many and found.severity == "warning")
        ):
            groups.setdefault((found.code, found.message), []).append(found)
    if not groups:
        return
    console.print()
    seen = "this run" if len(runs) == 1 else "these runs"
    console.print(Text(f"The policy in the light of {seen}:", "bold yellow"))
    for same in list(groups.values())[:_SHOWN]:
        for line in _line(same, console):
            console.print(line)
    hidden = len(groups) - _SHOWN
    more = f"and {hidden} more; " if hidden > 0 else ""
    console.print(Text(f"  {more}{_command(policies, runs)} shows each in its place", "dim"))


def _command(policies: Sequence[Policy], runs: Sequence[str]) -> str:
    policy, run = "POLICY", "RUN"
    if len(policies) == len(runs) == 1 and runs[0] != "-":
        policy, run = (as_argument(path) for path in (policies[0].path, runs[0]))
    return f"vigil check {policy} --trace {run}"


def _findings(policies: Sequence[Policy], signature: Signature) -> Iterator[Diagnostic]:
    """Findings against the signature. Standard modules are left out: they are made to fit many vocabularies."""
    from vigil_lang.lint.check import check_policy
    from vigil_lang.semantics.modules import is_shipped

    for policy in policies:
        if not is_shipped(policy.path):
            yield from check_policy(policy, signature)


def _line(same: Sequence[Diagnostic], console: Console) -> Iterator[Text]:
    found = same[0]
    line, _ = found.source.position(found.span.start)
    head = Text.assemble("  ", (f"{shown_path(found.source.path)}:{line}", "dim"), "  ")
    again = f" ({len(same)} times)" if len(same) > 1 else ""
    meant = f"; {found.help}" if found.fix and found.help else ""
    yield from hanging(console, head, f"{found.message}{again}{meant}")
