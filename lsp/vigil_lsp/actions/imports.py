"""The `use` lines of a policy: put in order, and one more name imported."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol.types import CodeActionKind

from vigil_lang.diagnostics import Edit, Span
from vigil_lang.semantics.modules import is_test_file
from vigil_lang.syntax import tree
from vigil_lsp.actions.proof import keeps_meaning, resolves_more
from vigil_lsp.actions.proposal import Place, Proposal
from vigil_lsp.actions.written import formatted
from vigil_lsp.cursor import documented, header, path_at
from vigil_lsp.edits import touching

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from vigil_lang.diagnostics import Diagnostic

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


def imported(place: Place, modules: Iterable[tuple[str, frozenset[str]]]) -> Iterator[Proposal]:
    """For a name that is declared nowhere: the modules that declare it, given by name with what they declare."""
    if is_test_file(place.reading.source.path):
        return
    known: list[tuple[str, frozenset[str]]] = []
    for finding in place.findings:
        missing = _missing(place, finding) if finding.code in _UNKNOWN else None
        if missing is None or not touching(place.span, (missing.span, finding.span)):
            continue
        name = missing.text
        known = known or list(modules)
        for module, declared in known:
            if name in declared:
                edit = _use(place, module, name)
                if resolves_more(place.reading.policy, (edit,), place.access):
                    title = f"Use `{name}` from `{module}`"
                    yield Proposal(title, CodeActionKind.QuickFix.value, (edit,), finding)


def _missing(place: Place, finding: Diagnostic) -> tree.Name | None:
    """The name that a finding is about, if nothing of that name is declared."""
    module = place.reading.module
    for node in reversed(path_at(place.reading.file, finding.span.start)):
        match node:
            case tree.Apply(tree.Name() as name) if module.find(name.text) is None:
                return name
            case tree.Statement() | tree.Pattern():
                return None
    return None


def _use(place: Place, module: str, name: str) -> Edit:
    """The edit that imports a name: into the line that is there for the module, or in one of its own."""
    uses = [item for item in place.reading.file.items if isinstance(item, tree.Use)]
    for use in uses:
        if use.module.text == module and use.names:
            end = use.names[-1].span.end
            return Edit(Span(end, end), f", {name}")
    if uses:
        end = uses[-1].span.end
        return Edit(Span(end, end), f"\nuse {module}: {name}")
    file = place.reading.file
    if file.name is not None:
        end = header(file, place.reading.tokens).end
        return Edit(Span(end, end), f"\n\nuse {module}: {name}")
    return Edit(Span(*_top(place)), f"use {module}: {name}\n\n")


def _top(place: Place) -> tuple[int, int]:
    """Above the first item with its documentation, below what documents the file."""
    items = place.reading.file.items
    start = documented(items[0], place.reading.tokens, place.text).start if items else 0
    return start, start
