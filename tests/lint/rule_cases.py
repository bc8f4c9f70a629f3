"""The cases of a rule: policies in a Markdown file, with the findings they must have written behind their lines.

A `vgl` block is a policy; a line with a finding ends with `//! VGL311`, and every other line has none, whatever rule
looks at it. `vgl fixed` is the policy before it with the fixes of the page's code applied. The other blocks of a
page are what its policies are held against: `md as SKILL.md`, `vgl as shared.vgl`, `jsonl run`, `jsonl benign`,
`json signature`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Source
from vigil_lang.lint.run import Plan
from vigil_lang.project.selection import DEFAULT, Selection
from vigil_lang.runs import read_trace
from vigil_lang.signatures import read_signature
from vigil_lang.trace import observe

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from spec_blocks import Block

    from vigil_lang.diagnostics import Diagnostic
    from vigil_lang.trace import Trace

_MARK = re.compile(r"\s*//!((?: VGL[0-9]{3})+)$", re.MULTILINE)


def lay_out(found: Iterable[Block], folder: Path) -> None:
    """Write the files that blocks name into a folder."""
    for block in found:
        if block.args[:1] == ("as",):
            path = folder / block.args[1]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding="utf-8")


def plan_of(found: Sequence[Block], code: str) -> Plan:
    """What the policies of a page are linted by; a code that is off by itself is asked for."""
    given = [b for b in found if (b.kind, b.args) == ("json", ("signature",))]
    runs = _traces(found, "run")
    signature = read_signature(given[0].text.encode(), "signature.json") if given else None
    chosen = DEFAULT if code.startswith(DEFAULT) else (*DEFAULT, code)
    return Plan(
        Selection(chosen),
        signature=signature or (observe(runs) if runs else None),
        runs=runs,
        benign=_traces(found, "benign"),
    )


def _traces(found: Iterable[Block], word: str) -> list[Trace] | None:
    texts = [b.text for b in found if b.kind == "jsonl" and b.args == (word,)]
    return [
        read_trace(t.encode().splitlines(keepends=True), f"{word}{n}.jsonl") for n, t in enumerate(texts, 1)
    ] or None


def expected(text: str) -> list[tuple[int, str]]:
    """Lines and codes of the marks in a policy."""
    marks = [(text.count("\n", 0, m.start(1)) + 1, m[1].split()) for m in _MARK.finditer(text)]
    return sorted((line, code) for line, codes in marks for code in codes)


def unmarked(text: str) -> str:
    """A policy without its marks."""
    return _MARK.sub("", text)


def places(findings: Iterable[Diagnostic]) -> list[tuple[int, str]]:
    """Lines and codes of findings."""
    return sorted((f.source.position(f.span.start)[0], f.code) for f in findings)


def source(text: str, path: Path) -> Source:
    """A policy stored beside what its page names."""
    path.write_text(text, encoding="utf-8")
    return Source(str(path), text)
