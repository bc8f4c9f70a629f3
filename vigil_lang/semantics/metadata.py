"""What annotations say about a statement besides its meaning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from vigil_lang.base.structs import Frozen
from vigil_lang.diagnostics import Diagnostic, Edit, Fix, Note, Span, nearest
from vigil_lang.patterns import regex
from vigil_lang.semantics.text_patterns import ESCAPE_HELP, BadEscape, unescape
from vigil_lang.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from vigil_lang.diagnostics import Severity, Source

Reaction: TypeAlias = Literal["block", "hold", "warn"]

REACTIONS: tuple[Reaction, ...] = ("block", "hold", "warn")
ANNOTATIONS = {
    "source": 'it names a file and the sentence the statement enforces: `@source("SKILL.md", "…")`',
    "severity": "it says how a violation is reported: `@severity(error)`, `warning` or `info`",
    "on_violation": "it says what a gate does: `@on_violation(block)`, `hold` or `warn`",
    "message": 'it is what a violation says, with the variables in braces: `@message("`{x}` was …")`',
    "delegable": "it says that the user may confirm what her organisation holds: `@delegable`",
}
_OF_STATEMENTS = frozenset({"severity", "on_violation"})
PLACEHOLDER = regex(r"\{([A-Za-z_][A-Za-z0-9_.-]*)\}")


class Metadata(Frozen, frozen=True):
    """The documentation and annotations of a statement or rule. `cites` holds (file, sentence) pairs."""

    doc: str | None = None
    severity: Severity = "error"
    on_violation: Reaction = "block"
    message: str | None = None
    cites: tuple[tuple[str, str], ...] = ()
    delegable: bool = False


def metadata(item: tree.Statement | tree.Rule, source: Source, report: Callable[[Diagnostic], None]) -> Metadata:
    """Read the annotations of a statement or rule; what is unknown or malformed is reported (VGL211) and ignored."""
    severity: Severity = "error"
    delegable: tree.Annotation | None = None
    reaction: Reaction = "block"
    message: str | None = None
    cites: list[tuple[str, str]] = []
    for note in _known(item.annotations, source, report):
        try:
            args = list(map(_text, note.args))
        except _Escape as error:
            report(Diagnostic.of("VGL106", error.args[0], source, error.span, help=ESCAPE_HELP))
            continue
        match note.name.text, args:
            case name, _ if name in _OF_STATEMENTS and isinstance(item, tree.Rule):
                text = f"`@{name}` describes a statement and has no effect here; what a rule does stands after `then`"
                report(Diagnostic.of("VGL211", text, source, note.span))
            case "delegable", []:
                delegable = note
            case "source", [str(file), str(sentence)]:
                cites.append((file, sentence))
            case "severity", [("error" | "warning" | "info") as level]:
                severity = level
            case "on_violation", [("block" | "hold" | "warn") as wanted]:
                reaction = wanted
            case "message", [str(text)]:
                message = text
            case name, _:
                text = f"`@{name}` does not take this"
                report(Diagnostic.of("VGL211", text, source, note.span, help=ANNOTATIONS[name]))
    holds = item.then if isinstance(item, tree.Rule) else reaction
    if delegable is not None and holds != "hold":
        what = "rule" if isinstance(item, tree.Rule) else "statement"
        text = f"`@delegable` says who may confirm a hold, and this {what} asks for none"
        report(Diagnostic.of("VGL211", text, source, delegable.span))
    return Metadata(item.doc, severity, reaction, message, tuple(cites), delegable is not None and holds == "hold")


def check_elsewhere(file: tree.File, report: Callable[[Diagnostic], None]) -> None:
    """Report annotations that say nothing where they stand: all but `@source` speak of a statement or rule."""
    others = [item.annotations for item in file.items if not isinstance(item, tree.Statement | tree.Rule)]
    for found in (file.annotations, *others):
        for note in _known(found, file.source, report):
            if note.name.text != "source":
                message = f"`@{note.name.text}` describes a statement and has no effect here"
                report(Diagnostic.of("VGL211", message, file.source, note.span))


def _known(
    annotations: tuple[tree.Annotation, ...], source: Source, report: Callable[[Diagnostic], None]
) -> Iterator[tree.Annotation]:
    """The annotations of one item that exist, each but `@source` once."""
    seen: dict[str, tree.Annotation] = {}
    for note in annotations:
        name = note.name.text
        if name not in ANNOTATIONS:
            near = nearest(name, ANNOTATIONS, 1)
            help_text = f"did you mean `@{near[0]}`?" if near else f"known: {', '.join(ANNOTATIONS)}"
            fix = Fix(f"write `@{near[0]}`", (Edit(note.name.span, near[0]),)) if near else None
            message = f"unknown annotation `@{name}`"
            report(Diagnostic.of("VGL211", message, source, note.name.span, help=help_text, fix=fix))
        elif name in seen and name != "source":
            first = Note("the first one", source, seen[name].span)
            report(Diagnostic.of("VGL211", f"`@{name}` stands here twice", source, note.span, notes=(first,)))
        else:
            seen[name] = note
            yield note


class _Escape(Exception):
    """A string with an unknown escape, and where that stands."""

    def __init__(self, error: BadEscape, string: tree.String) -> None:
        super().__init__(str(error))
        at = string.span.start + 1 + error.offset
        self.span = Span(at, at + error.length)


def _text(term: tree.Term) -> str | None:
    """A word or string as text; None for anything else.

    Raises:
        _Escape: the string has an unknown escape.
    """
    if isinstance(term, tree.Name):
        return term.text
    if not isinstance(term, tree.String):
        return None
    try:
        return unescape(term.raw)
    except BadEscape as error:
        raise _Escape(error, term) from None
