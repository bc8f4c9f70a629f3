"""What stands in a test: statements, verdicts, events, variables, recordings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol.types import CompletionItemKind as Kind

from vigil_lang.syntax import tree
from vigil_lang.trace.discreet import LONGEST
from vigil_lsp.completing.candidate import Candidate
from vigil_lsp.completing.clause_slots import statements_of
from vigil_lsp.completing.constraints import written
from vigil_lsp.completing.declarations import first_line
from vigil_lsp.completing.spelling import inside, literal
from vigil_lsp.completing.unfinished_item import nodes_of
from vigil_lsp.cursor import walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.base.node import Node
    from vigil_lang.semantics.modules import Module
    from vigil_lsp.completing.context import CompletionContext

_MOST_VALUES = 60


def statements(context: CompletionContext) -> Iterator[Candidate]:
    """The statements and rules under test; those of two policies that share a name with their policy's before it."""
    found: list[tuple[Module, tree.Statement | tree.Rule]] = [*context.tested_statements(), *context.tested_rules()]
    names = [item.name.text for _, item in found]
    policies = {id(module) for module, _ in found}
    for module, item in found:
        name = item.name.text
        policy = module.file.name.text if module.file.name else ""
        if len(policies) > 1 and policy and names.count(name) > 1:
            name = f"{policy}.{name}"
        if name not in context.slot.used:
            about = ("statement", item.name.text, module.source.path)
            kind = Kind.Event if isinstance(item, tree.Statement) else Kind.Operator
            yield Candidate(name, kind, name, 10, first_line(item.doc), about=about, ends=(",",), origin=policy)


def other_verdicts(context: CompletionContext) -> frozenset[str]:
    """The verdicts, as terminals, that cannot be meant: of rules those of statements, and the other way round."""
    named = statements_of(context.place.beginning.parts)
    statements = {name for module, item in context.tested_statements() for name in _names(module, item)}
    rules = {name for module, item in context.tested_rules() for name in _names(module, item)}
    if not named or named - statements - rules:
        return frozenset()
    excluded = frozenset({"ASKS"}) if named & statements else frozenset()
    return excluded | ({"SATISFIED", "VIOLATED", "VACUOUS"} if not named & statements else frozenset())


def _names(module: Module, item: tree.Statement | tree.Rule) -> tuple[str, str]:
    return item.name.text, f"{_policy(module)}.{item.name.text}"


def _policy(module: Module) -> str:
    return module.file.name.text if module.file.name else ""


def params(context: CompletionContext) -> Iterator[Candidate]:
    """Params that a test can set."""
    for param in context.settable():
        name = param.name.text
        yield Candidate(name, Kind.Property, name, 10, f"{param.type} {first_line(param.doc)}".strip(), f"{name} = $1")


def type_of_param(context: CompletionContext) -> str:
    """The type of the param that is set, empty where there is none of that name."""
    return next((one.type for one in context.settable() if one.name.text == context.slot.subject), "")


def bound_values(context: CompletionContext) -> Iterator[Candidate]:
    """Values that the test's own events carry, for a variable to have."""
    found: dict[str, None] = {}
    for part in context.place.beginning.parts:
        for node in nodes_of(part.value):
            if isinstance(node, tree.RunEvents | tree.RunCalls):
                texts = [inner for inner in walk(node) if isinstance(inner, tree.Argument)]
                values = [inner for argument in texts for inner in walk(argument.value)]
                found |= dict.fromkeys(written(one) for one in values if isinstance(one, tree.String | tree.Number))
    for value in list(found)[:_MOST_VALUES]:
        if value.isprintable() and len(value) <= LONGEST:
            yield Candidate(literal(value), Kind.Value, literal(value), 10, "in the test's run", raw=inside(value))


def events(context: CompletionContext) -> Iterator[Candidate]:
    """The events of the test's runs, by the names they go by."""
    for at, (name, said) in enumerate(_events(context)):
        if at < 500 and name not in context.slot.used:
            yield Candidate(name, Kind.Reference, name, 10, said, raw=inside(name))


def _events(context: CompletionContext) -> Iterator[tuple[str, str]]:
    nodes = [node for part in context.place.beginning.parts for node in nodes_of(part.value)]
    for node in nodes:
        match node:
            case tree.RunEvents(events) | tree.RunCalls(events=events):
                pass
            case _:
                continue
        place = 0
        for event in events:
            if isinstance(event, tree.EventGroup):
                place += 1
                for step, inner in enumerate(event.events, 1):
                    yield inner.id.text if inner.id else f"e{place}.{step}", _action(inner)
                continue
            if isinstance(node, tree.RunCalls) and _is_message(event):
                continue
            place += 1
            yield event.id.text if event.id else f"e{place}", _action(event)


def _is_message(event: tree.Event) -> bool:
    return _action(event) in ("user.message", "agent.message")


def _action(event: tree.Event) -> str:
    return event.action.text if isinstance(event.action, tree.Name) else event.action.raw


def bindings(context: CompletionContext) -> Iterator[Candidate]:
    """The variables of the statements that an expectation is about."""
    wanted = statements_of(context.place.beginning.parts)
    found: dict[str, None] = {}
    for module, item in context.tested_statements():
        policy = module.file.name.text if module.file.name else ""
        if not wanted.isdisjoint({item.name.text, f"{policy}.{item.name.text}"}):
            found |= dict.fromkeys(variables_of(item, module))
    for name in found:
        if name not in context.slot.used:
            yield Candidate(name, Kind.Variable, name, 10, "variable", f"{name} = $1")


def variables_of(statement: tree.Statement | tree.Rule, module: Module) -> Iterator[str]:
    """The variables of a statement, those that its patterns leave free too."""
    pending: list[tuple[Node, Module]] = [(statement, module)]
    seen: set[int] = set()
    while pending:
        node, home = pending.pop()
        bound = {param.text for param in node.params} if isinstance(node, tree.Pattern) else set()
        for inner in walk(node.body if isinstance(node, tree.Pattern) else node):
            names: list[str] = []
            match inner:
                case tree.Test(operator="=" | "contains", operand=tree.Name(name)):
                    names = [name]
                case tree.Apply(tree.Name(called), args):
                    found = home.find(called)
                    if found is None or not isinstance(found[1], tree.Pattern):
                        continue
                    terms = [term.name for term in args or () if isinstance(term, tree.Apply) and term.args is None]
                    names = [term.text for term in terms if isinstance(term, tree.Name)]
                    if id(found[1]) not in seen:
                        seen.add(id(found[1]))
                        pending.append((found[1], found[0]))
            yield from (name for name in names if name not in bound and home.find(name) is None)


def recordings(context: CompletionContext) -> Iterator[Candidate]:
    """Recordings of the project after `run`."""
    for name in context.recordings():
        yield Candidate(f'"{inside(name)}"', Kind.File, f'"{inside(name)}"', 10, raw=inside(name), filter=name)
