"""The `use` lines of a policy: put in order, and one more name imported."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from lsprotocol.types import CodeActionKind

from vigil_lang.diagnostics import Edit, Span
from vigil_lang.semantics.modules import is_test_file
from vigil_lang.syntax import tree
from vigil_lsp.actions.condition_text import formatted
from vigil_lsp.actions.equivalence import keeps_meaning, resolves_more
from vigil_lsp.actions.proposal import Place, Proposal
from vigil_lsp.cursor import path_at
from vigil_lsp.edits import touching
from vigil_lsp.import_edit import ImportEdits

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from vigil_lang.diagnostics import Diagnostic

_MOST = 20
"""Names that are looked for at once: somebody may have selected everything."""

_UNKNOWN = frozenset({"VGL201", "VGL209"})


def organized(place: Place) -> Iterator[Proposal]:
    """The `use` lines sorted, each module once, without what is not used; only where they stand together."""
    uses = [item for item in place.reading.file.items if isinstance(item, tree.Use)]
    if not uses or any(use.doc is not None or use.annotations for use in uses):
        return
    span = uses[0].span.to(uses[-1].span)
    items = [item for item in place.reading.file.items if span.start <= item.span.start < span.end]
    broken = any(one.start < span.end and span.start < one.end for one in place.reading.file.broken)
    if items != uses or broken or place.commented(span):
        return
    written = "\n".join(formatted(use) or use for use in _merged(place, uses))
    if written == place.slice(span):
        return
    edit = Edit(span if written else _with_line(place.text, span), written)
    if keeps_meaning(place.reading.policy, (edit,), place.access):
        yield Proposal("Organize `use` lines", CodeActionKind.SourceOrganizeImports.value, (edit,))


def _merged(place: Place, uses: list[tree.Use]) -> list[str]:
    """The modules in order, those of the library first, each with the names that are used."""
    idle = {finding.span for finding in place.reading.policy.diagnostics if finding.code == "VGL205"}
    whole: set[str] = set()
    names: dict[str, set[str]] = {}
    for use in uses:
        module = use.module.text
        kept = {name.text for name in use.names if name.span not in idle}
        if use.names and kept:
            names.setdefault(module, set()).update(kept)
        elif not use.names and use.module.span not in idle:
            whole.add(module)
    lines = []
    for module in sorted(whole | set(names), key=lambda name: (name.startswith("."), name)):
        listed = ", ".join(sorted(names.get(module, ())))
        lines.append(f"use {module}" if module in whole else f"use {module}: {listed}")
    return lines


def _with_line(text: str, span: Span) -> Span:
    """A span with the line breaks below it."""
    end = span.end
    while end < len(text) and text[end] in "\r\n":
        end += 1
    return Span(span.start, end)


# --- one more name ---


def is_needed(place: Place) -> bool:
    """Whether a name is declared nowhere that a module might declare."""
    return any(True for _ in _missing(place))


def imported(place: Place, modules: Iterable[tuple[str, frozenset[str]]]) -> Iterator[Proposal]:
    """For a name that is declared nowhere: the modules that declare it, given by name with what they declare."""
    for finding, name in islice(_missing(place), _MOST):
        for module, declared in modules:
            if name in declared:
                edit = ImportEdits(place.reading).of(module, name)
                if resolves_more(place.reading.policy, (edit,), place.access):
                    title = f"Use `{name}` from `{module}`"
                    yield Proposal(title, CodeActionKind.QuickFix.value, (edit,), finding)


def _missing(place: Place) -> Iterator[tuple[Diagnostic, str]]:
    """The findings at a place about an undeclared name, each with the name."""
    if is_test_file(place.reading.source.path):
        return
    found: set[str] = set()
    for finding in place.findings:
        for name in _undeclared(place, finding) if finding.code in _UNKNOWN else ():
            if name.text not in found and touching(place.span, (name.span, finding.span)):
                found.add(name.text)
                yield finding, name.text


def _undeclared(place: Place, finding: Diagnostic) -> Iterator[tree.Name]:
    """The undeclared names that a finding may be about: a bare one, and the pattern it is given to."""
    for node in reversed(path_at(place.reading.file, finding.span.start)):
        match node:
            case tree.Apply(tree.Name() as name, args):
                if place.reading.module.find(name.text) is None:
                    yield name
                if args is not None:
                    return
