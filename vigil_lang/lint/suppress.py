"""`// vigil: ignore[VGL301] reason`: findings that a comment suppresses.

A comment behind code speaks of its line, one on a line of its own of the item below it, and `ignore-file` of the
whole file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from vigil_lang.diagnostics import CODES, Diagnostic, Edit, Fix, Span
from vigil_lang.project.selection import is_selector

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from vigil_lang.diagnostics import Source
    from vigil_lang.syntax import tree

_MARK = re.compile(r"//(?!/)\s*vigil\s*:(?P<rest>.*)", re.DOTALL)
_LOOKS_LIKE_ONE = re.compile(r"//+\s*vigil\s*:\s*ignore(?:-file)?\s*\[", re.IGNORECASE)
_IGNORE = re.compile(r"\s*(?P<word>ignore-file|ignore)\s*(?:\[(?P<codes>[^\]]*)\])?\s*(?P<reason>.*)", re.DOTALL)
_HELP = "write `// vigil: ignore[VGL301] why this is meant`"


@dataclass(slots=True)
class Ignore:
    """One code in one comment, and where it holds."""

    code: str
    span: Span
    comment: Span
    where: Span
    used: bool = field(default=False)

    def covers(self, finding: Diagnostic) -> bool:
        """Whether a finding of this source is suppressed."""
        inside = self.where.start <= finding.span.start <= self.where.end
        return inside and finding.code.startswith(self.code) and may_pass(finding.code)


def may_pass(code: str) -> bool:
    """Whether a comment may answer for a code: not for what leaves a statement without a meaning, nor hides text."""
    return CODES[code].severity != "error" or code == "VGL302"


def ignores(file: tree.File) -> tuple[list[Ignore], list[Diagnostic]]:
    """The ignore comments of a file, and what is wrong with them (VGL008)."""
    found: list[Ignore] = []
    wrong: list[Diagnostic] = []
    if "vigil" not in file.source.text.lower():
        return found, wrong
    for comment in file.comments:
        if (mark := _MARK.match(comment.text)) is None:
            if _LOOKS_LIKE_ONE.match(comment.text) is not None:
                message = "this comment ignores nothing: write `// vigil: ignore[`, in lower case"
                wrong.append(_malformed(file.source, comment.span, message, _HELP))
            continue
        match = _IGNORE.fullmatch(mark["rest"])
        if match is None or match["codes"] is None or not match["codes"].strip():
            message = "this comment says no more than `vigil:`" if match is None else "this comment names no code"
            wrong.append(_malformed(file.source, comment.span, message, _HELP))
            continue
        if not match["reason"].strip():
            wrong.append(_malformed(file.source, comment.span, "this comment gives no reason", _HELP))
        where = Span(0, len(file.source.text)) if match["word"] == "ignore-file" else _reach(file, comment.span)
        at = comment.span.start + mark.start("rest") + match.start("codes")
        for code, span in _codes(match["codes"], at):
            if is_selector(code) and not any(map(may_pass, (known for known in CODES if known.startswith(code)))):
                message = f"no comment lets `{code}` pass: it keeps a rule from being enforced or read"
                wrong.append(_malformed(file.source, span, message, "mend what it speaks of"))
            elif is_selector(code) and code != "ALL":
                found.append(Ignore(code, span, comment.span, where))
            else:
                wrong.append(_malformed(file.source, span, f"there is no code `{code}`", "see `vigil explain`"))
    return found, wrong


def suppressed(
    file: tree.File, findings: Iterable[Diagnostic], counts: Callable[[str], bool]
) -> tuple[list[Diagnostic], list[Diagnostic]]:
    """The findings of a file that no comment suppresses, with those about its comments, and the suppressed ones.

    `counts` tells the codes that were looked for: only what could have been found is reported as unused (VGL007).
    """
    comments, kept = ignores(file)
    silent: list[Diagnostic] = []
    for finding in findings:
        covering = [one for one in comments if one.covers(finding)]
        for one in covering:
            one.used = True
        (silent if covering else kept).append(finding)
    unused = [one for one in comments if not one.used and counts(one.code)]
    kept += (_unused(one, comments, file.source) for one in unused)
    return kept, silent


def _reach(file: tree.File, comment: Span) -> Span:
    text = file.source.text
    start = text.rfind("\n", 0, comment.start) + 1
    if text[start : comment.start].strip():
        return Span(start, comment.end)
    below = [item.span for item in file.items if item.span.end > comment.start]
    below += [span for span in file.broken if span.end > comment.start]
    if not below:
        return Span(start, comment.end)
    item = min(below)
    if item.start < comment.start:  # inside an item: the next line
        end = text.find("\n", comment.end + 1)
        return Span(start, len(text) if end < 0 else end)
    return Span(comment.start, item.end)


def _codes(text: str, at: int) -> Iterator[tuple[str, Span]]:
    for match in re.finditer(r"[^\s,]+", text):
        yield match[0], Span(at + match.start(), at + match.end())


def _malformed(source: Source, span: Span, message: str, help_text: str) -> Diagnostic:
    return Diagnostic.of("VGL008", message, source, span, help=help_text)


def _unused(one: Ignore, comments: list[Ignore], source: Source) -> Diagnostic:
    alone = sum(other.comment == one.comment for other in comments) == 1
    fix = Fix("delete the comment", (Edit(_whole(source.text, one.comment), ""),), safe=True) if alone else None
    return Diagnostic.of("VGL007", f"nothing here is `{one.code}`", source, one.span, fix=fix)


def _whole(text: str, comment: Span) -> Span:
    """A comment with the white space before it, and with its line where it stands alone."""
    start = comment.start
    while start > 0 and text[start - 1] in " \t":
        start -= 1
    if start == 0 or text[start - 1] == "\n":
        return Span(start, min(comment.end + 1, len(text)))
    return Span(start, comment.end - text.endswith("\r", comment.start, comment.end))
