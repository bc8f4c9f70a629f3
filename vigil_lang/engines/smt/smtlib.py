"""`vigil compile` on a run: the very query `verify` asks, as a script a person or another solver can read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.diagnostics.secrets import masked_words
from vigil_lang.diagnostics.shorten import cut
from vigil_lang.engines.effort import Effort
from vigil_lang.engines.index import RunIndex
from vigil_lang.engines.indexed import Judgement
from vigil_lang.engines.smt import script
from vigil_lang.engines.smt.encode import Encoding, event_names
from vigil_lang.engines.smt.solve import assertion_names
from vigil_lang.engines.smt.symbols import comment
from vigil_lang.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from vigil_lang.semantics.core import Holds
    from vigil_lang.semantics.lower import Statement
    from vigil_lang.trace import Event, Trace

_OUTPUT_SHOWN = 60


def export(statements: Iterable[Statement], trace: Trace) -> str:
    """One SMT-LIB 2.6 script, a block a statement, blocks separated by `(reset)`.

    A block is `unsat` exactly when the run breaks the statement; then `(get-unsat-core)` names offending events.
    Blocks of statements that hold ask for no core, for a solver has none to give.

    Raises:
        TooCostly: VGL003, the script would be larger than the run warrants.
    """
    effort = Effort()
    effort.begin(trace)
    index, ids = RunIndex(trace, effort), event_names(trace)
    blocks = [_block(statement, index, ids) for statement in statements]
    head = [
        f"; vigil {__version__}: {comment(trace.run.path)}, {len(trace)} events",
        "; Facts hold of the run; what it did not do is no fact and is false.",
        "",
    ]
    return "\n".join(head) + "\n(reset)\n\n".join("\n".join(block) + "\n" for block in blocks)


def _block(statement: Statement, index: RunIndex, ids: Sequence[str]) -> list[str]:
    trace = index.trace
    encoding = Encoding(Judgement(statement.requirement, index, name=statement.name), ids, name=statement.name)
    query = encoding.query
    cases = {c.event: query.all([formula for _, formula in c.cases]) for c in encoding.conditions}
    goals = [cases.get(at, query.true) for at in range(len(trace))]
    names = assertion_names(statement.name, [event.id for event in trace.events])
    broken = not all(query.value(goal) for goal in goals)
    lines = [
        *heading(statement, encoding.roles()),
        "(set-option :produce-unsat-cores true)",
        f"(set-logic {script.logic(query)})",
        "",
        "; --- facts: the events that meet the conditions",
        *_facts_by_event(encoding),
        "",
        *(["; --- definitions", *script.definitions(query), ""] if query.definitions else []),
        "; --- requirement: one condition an event",
        *script.named(zip(names, goals, strict=True)),
        "",
        "(check-sat)",
    ]
    return [*lines, "(get-unsat-core)"] if broken else lines


def heading(statement: Statement, roles: list[tuple[str, Holds]]) -> list[str]:
    """Comments that lead back from symbols to lines of the policy."""
    line, column = statement.source.position(statement.span.start)
    lines = [f"; statement {statement.name} ({comment(statement.source.path)}:{line}:{column})"]
    if statement.metadata.doc:
        lines += [f";   {comment(text)}" for text in statement.metadata.doc.splitlines()]
    lines.append(f";   {comment(statement.body)}")
    for role, holds in roles:
        span = holds.span
        line, column = statement.source.position(span.start) if span else (line, column)
        lines.append(f";   {role}: {comment(statement.label(holds))}  (line {line}, column {column})")
    return lines


def _facts_by_event(encoding: Encoding) -> Iterator[str]:
    """The facts in run order, each event's under a comment that says what it was."""
    by_event: dict[int, list[str]] = {}
    for at, symbol in encoding.facts():
        by_event.setdefault(at, []).append(script.fact(symbol))
    for at in sorted(by_event):
        yield f"; {describe(encoding.trace.events[at])}"
        yield from by_event[at]


def describe(event: Event) -> str:
    """An event on one comment line."""
    shown = {name: masked_words(name, values) for name, values in event.args.items()}
    args = ", ".join(f"{name} = {' '.join(map(_cut, values))}" for name, values in shown.items())
    output = f" → {_cut(event.output)}" if event.output else ""
    return comment(f"{event.id} {event.action}({args}) {event.status}{output}")


def _cut(text: str) -> str:
    return cut(text, _OUTPUT_SHOWN)
