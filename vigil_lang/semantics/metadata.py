"""What annotations say about a statement besides its meaning."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from vigil_lang.diagnostics import Diagnostic, nearest
from vigil_lang.semantics.text import BadEscape, unescape
from vigil_lang.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Callable

    from vigil_lang.diagnostics import Source

Level: TypeAlias = Literal["error", "warning", "info"]
Reaction: TypeAlias = Literal["block", "hold", "warn"]

LEVELS: tuple[Level, ...] = ("error", "warning", "info")
REACTIONS: tuple[Reaction, ...] = ("block", "hold", "warn")
ANNOTATIONS = {
    "source": 'a file and the sentence the statement enforces: `@source("SKILL.md", "…")`',
    "severity": "how a violation is reported: `@severity(error)`, `warning` or `info`",
    "on_violation": "what a gate does: `@on_violation(block)`, `hold` or `warn`",
    "message": 'what a violation says, with the variables in braces: `@message("`{x}` was …")`',
}
PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_.-]*)\}")


@dataclass(frozen=True, slots=True)
class Metadata:
    """A statement's documentation and annotations. `cites` holds (file, sentence) pairs."""

    doc: str | None = None
    severity: Level = "error"
    on_violation: Reaction = "block"
    message: str | None = None
    cites: tuple[tuple[str, str], ...] = ()


def metadata(item: tree.Statement, source: Source, report: Callable[[Diagnostic], None]) -> Metadata:
    """Read a statement's annotations; what is unknown or malformed is reported (VGL211) and ignored."""
    found = Metadata(doc=item.doc)
    values: dict[str, object] = {}
    cites: list[tuple[str, str]] = []
    for note in item.annotations:
        name, args = note.name.text, [_text(a) for a in note.args]
        match name, args:
            case "source", [str(file), str(sentence)]:
                cites.append((file, sentence))
            case "severity", [("error" | "warning" | "info") as level]:
                values["severity"] = level
            case "on_violation", [("block" | "hold" | "warn") as reaction]:
                values["on_violation"] = reaction
            case "message", [str(message)]:
                values["message"] = message
            case _ if name in ANNOTATIONS:
                report(Diagnostic.of("VGL211", f"`@{name}` takes {ANNOTATIONS[name]}", source, note.span))
            case _:
                near = nearest(name, ANNOTATIONS, 1)
                help_text = f"did you mean `@{near[0]}`?" if near else f"known: {', '.join(ANNOTATIONS)}"
                report(Diagnostic.of("VGL211", f"unknown annotation `@{name}`", source, note.name.span, help=help_text))
    return Metadata(
        found.doc,
        values.get("severity", found.severity),  # type: ignore[arg-type]
        values.get("on_violation", found.on_violation),  # type: ignore[arg-type]
        values.get("message", found.message),  # type: ignore[arg-type]
        tuple(cites),
    )


def _text(term: tree.Term) -> str | None:
    """A word or string as text; None for anything else or a bad escape."""
    if isinstance(term, tree.Name):
        return term.text
    if isinstance(term, tree.String):
        try:
            return unescape(term.raw)
        except BadEscape:
            return None
    return None
