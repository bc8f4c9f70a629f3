"""`textDocument/inlayHint`: how many events meet a condition, what values a variable has, how severe a statement is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from vigil_lang.diagnostics import Span
from vigil_lang.report.markdown import code
from vigil_lang.semantics.forms import FORMS
from vigil_lang.semantics.modules import is_test_file
from vigil_lang.syntax import tree
from vigil_lsp.cursor import walk
from vigil_lsp.recordings.conditions import Meanings
from vigil_lsp.variables import values_of, variable_tests
from vigil_lsp.verdicts import verdicts as found_verdicts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pygls.lsp.server import LanguageServer

    from vigil_lsp.client import Client
    from vigil_lsp.reading import Reading
    from vigil_lsp.recordings.results import Matches, RunResults
    from vigil_lsp.text import Text
    from vigil_lsp.workspace import Workspace

_SHOWN = 5
"""Values of a variable that its tooltip shows."""


def hints(
    reading: Reading, known: RunResults | None, within: Span, *, verdicts: bool = False, written: bool = True
) -> Iterator[types.InlayHint]:
    """The hints of the items in a part of the text; with the `verdicts` of statements at the ends of their lines.

    A hint changes only a text that is `written` here.
    """
    said = {verdict.span: verdict for verdict in found_verdicts(reading.file, known)} if verdicts else {}
    metadata = {statement.name: statement.metadata for statement in reading.policy.statements}
    meanings = Meanings(reading.policy)
    for item in reading.file.items:
        if item.span.end < within.start or item.span.start > within.end:
            continue
        match item:
            case tree.Pattern(_, _, body):
                if known is not None:
                    yield from _variables(reading, known, item, meanings)
                    yield from _matches(reading.text, known.matches(body.span), body.span.end, "this pattern", "events")
            case tree.Statement(name, form, after):
                if name.text in metadata and not any(note.name.text == "severity" for note in item.annotations):
                    yield _severity(reading.text, item, metadata[name.text].severity, written=written)
                if known is not None:
                    yield from _variables(reading, known, item, meanings)
                    for expr in _conditions(form, after):
                        yield from _matches(reading.text, known.matches(expr.span), expr.span.end, "this condition")
                if (verdict := said.get(name.span)) is not None and verdict.state != "unknown":
                    line = reading.text.range(name.span).start.line
                    end = reading.text.line_start(line) + len(reading.text.line(line))
                    yield types.InlayHint(reading.text.position(end), verdict.marked, padding_left=True)


def _conditions(form: tree.Form, after: tree.Expr | None) -> Iterator[tree.Expr]:
    """The conditions of a statement; in the body of `always`, the largest parts that speak of one event."""
    waiting: list[tree.Expr] = [part for part in (after, form.since, *reversed(form.args)) if part is not None]
    while waiting:
        expr = waiting.pop()
        match expr:
            case tree.Diamond(_, _, body) | tree.Repeated(_, body):
                waiting.append(body)
            case tree.Implies(left, right) | tree.Interval(left=left, right=right):
                waiting += (right, left)
            case tree.Not(body) if form.name not in FORMS:
                waiting.append(body)
            case tree.And(items) | tree.Or(items) if any(_temporal(item) for item in items):
                waiting += reversed(items)
            case _:
                yield expr


def _temporal(expr: tree.Expr) -> bool:
    return any(isinstance(node, tree.Diamond | tree.Implies | tree.Interval | tree.Repeated) for node in walk(expr))


def _matches(text: Text, found: Matches | None, at: int, what: str, noun: str = "") -> Iterator[types.InlayHint]:
    """`12 events` behind a pattern, `×12` behind a condition."""
    if found is None:
        return
    events = f"{found.events} event{'s' * (found.events != 1)}"
    runs = f"{found.runs} run{'s' * (found.runs != 1)}"
    met = f"{events} in {runs}" if found.events else "no event of the recorded runs"
    yield types.InlayHint(
        text.position(at),
        events if noun else f"×{found.events}",
        tooltip=f"{met} {'meet' if found.events > 1 else 'meets'} {what}, for some value of its variables",
        padding_left=True,
    )


def _severity(text: Text, item: tree.Statement, level: str, *, written: bool) -> types.InlayHint:
    """What a statement without `@severity` is reported as; accepting the hint writes it down."""
    start = item.span.start
    indent = text.content[text.content.rfind("\n", 0, start) + 1 : start]
    note = f"@severity({level})\n{indent if not indent.strip() else ''}"
    return types.InlayHint(
        text.position(item.name.span.end),
        f"severity {level}",
        text_edits=[types.TextEdit(text.range(Span(start, start)), note)] if written else None,
        tooltip=f"a violation is reported as `{level}` where no `@severity` says otherwise",
        padding_left=True,
    )


def _variables(
    reading: Reading, known: RunResults, item: tree.Pattern | tree.Statement, meanings: Meanings
) -> Iterator[types.InlayHint]:
    """The types of variables: behind a pattern's parameters, or where a statement first names them."""
    found = values_of(variable_tests(reading.policy, item, meanings), known.signature, known.samples)
    places: dict[str, Span] = {}
    if isinstance(item, tree.Pattern):
        places = {param.text: param.span for param in item.params}
    elif found:
        for node in walk(item):
            name = _name_of(node)
            if name is not None and name.text in found:
                places.setdefault(name.text, name.span)
    for variable, place in places.items():
        if (values := found.get(variable)) is not None and values.types:
            some = "\n".join(f"- {code(value)} {count}×" for value, count in values.samples[:_SHOWN])
            said = f"Values of `{variable}` in the recorded runs:\n\n{some}" if some else None
            yield types.InlayHint(
                reading.text.position(place.end),
                f": {' | '.join(sorted(values.types))}",
                types.InlayHintKind.Type,
                tooltip=types.MarkupContent(types.MarkupKind.Markdown, said) if said is not None else None,
            )


def _name_of(node: object) -> tree.Name | None:
    """The name that may be a variable at a node: after `=` or `contains`, or given to a pattern."""
    match node:
        case tree.Test(_, _, tree.Name() as name):
            return name
        case tree.Apply(tree.Name() as name, None):
            return name
        case _:
            return None


def register(server: LanguageServer, workspace: Workspace, client: Client) -> None:
    """Answer it. Of verdicts it tells those editors that show them in no other way."""

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
    async def inlay_hint(params: types.InlayHintParams) -> list[types.InlayHint] | None:
        patience = client.patience("workspace.inlay_hint.refresh_support")
        known = await workspace.current_results(params.text_document.uri, patience)
        reading = workspace.reading(params.text_document.uri)
        if reading is None:
            return None
        verdicts = (
            not (client.shows_lenses or client.wants_verdicts)
            and workspace.recordings.names_runs(reading.source.path)
            and not is_test_file(reading.source.path)
        )
        return list(
            hints(
                reading,
                known,
                reading.text.span(params.range),
                verdicts=verdicts,
                written=workspace.is_written(reading.uri),
            )
        )
