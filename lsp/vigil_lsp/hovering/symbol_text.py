"""What names that refer to something mean: patterns, values, variables, statements, modules, events."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from vigil_lang.analysis.enforceability import enforceability, in_words
from vigil_lang.engines.wording import named
from vigil_lang.report.markdown import block, code
from vigil_lang.semantics import core
from vigil_lang.semantics.conditions import Failed
from vigil_lang.semantics.meanings import Pattern, Text, TextSet
from vigil_lang.syntax import tree
from vigil_lang.syntax.print import to_text
from vigil_lsp.cursor import walk
from vigil_lsp.default_layer import of_default_layer
from vigil_lsp.expansion import applied, expanded
from vigil_lsp.hovering.run_results import counted, judged
from vigil_lsp.markup import prose
from vigil_lsp.mentions import Mention, Symbol, path_of
from vigil_lsp.quotations import text_of
from vigil_lsp.statement_wording import as_theta, wording

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.semantics.lower import Statement
    from vigil_lang.semantics.modules import Module
    from vigil_lsp.hovering.target import HoverTarget

_LONGEST = 1_500
_MOST = 40


def symbol_text(target: HoverTarget, mention: Mention) -> list[str]:
    """What a name means, in paragraphs."""
    symbol = mention.symbol
    module = target.names.module(symbol.path)
    match symbol.kind:
        case "module" if module is not None:
            return module_text(module)
        case "statement" if module is not None:
            return list(_statement_of(target, symbol, module))
        case "rule" if module is not None:
            rule = module.judged.get(symbol.name)
            return list(rule_text(target, rule, module)) if isinstance(rule, tree.Rule) else []
        case "pattern" | "let" | "param" if module is not None and symbol.name in module.own:
            declaration = module.own[symbol.name]
            if isinstance(declaration, tree.Pattern):
                return list(_pattern(target, declaration, module))
            return list(_value(target, declaration, module))
        case "parameter":
            return list(_parameter(target, symbol))
        case "variable":
            return list(_variable(target, symbol))
        case "event":
            return list(_event(target, symbol))
        case _:
            return []


def _origin(target: HoverTarget, module: Module) -> list[str]:
    """Where something is declared, if not in this file."""
    if module is target.module:
        return []
    used = next((use.module.text for use, other in target.module.uses if other is module), None)
    name = used or (module.file.name.text if module.file.name else module.source.path.rpartition("/")[2])
    return [f"From {code(name)}."]


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


# --- statements ---


def _statement_of(target: HoverTarget, symbol: Symbol, module: Module) -> Iterator[str]:
    policy = target.reading.policy
    if path_of(policy.module) == symbol.path:
        for statement in policy.statements:
            if statement.name == symbol.name:
                yield from statement_text(target, statement)
                return
    for item in module.file.items:
        if isinstance(item, tree.Statement) and item.name.text == symbol.name:
            yield block(_cut(to_text(item.form)), "vigil")
            yield from [prose(item.doc)] if item.doc else []
            return


def statement_text(target: HoverTarget, statement: Statement) -> Iterator[str]:
    """A statement in words, as □Θ, with what is said about it and what the runs say."""
    about = statement.metadata
    yield f"**{code(statement.name)}** · {about.severity} · {about.on_violation}"
    if about.doc:
        yield prose(about.doc)
    yield wording(statement)
    yield from _enforcement(statement)
    yield block(_cut(as_theta(statement)))
    if about.message:
        yield f"A violation says: {code(about.message)}"
    for file, sentence in about.cites:
        yield f"It enforces {code(file)}: {code(sentence)}"
    yield from judged(target.known, statement.name, target.folder)


def _enforcement(statement: Statement) -> Iterator[str]:
    """What refusing calls can do for it."""
    said = [in_words(statement, part, code) for part in enforceability(statement.requirement)]
    if said:
        yield f"This {'; it '.join(said)}."


# --- rules of a gate ---


_ASKED = {
    "hold": "It holds a call of which some event meets {}, until somebody confirms it.",
    "block": "It blocks a call of which some event meets {}, whoever would confirm it.",
    "pass": "It asks for nothing where some event of a call meets {}.",
}


def rule_text(target: HoverTarget, rule: tree.Rule, module: Module) -> Iterator[str]:
    """A rule in words: what it asks for and when, what is recorded, what it relaxes."""
    delegable = " · delegable" if any(note.name.text == "delegable" for note in rule.annotations) else ""
    yield f"**{code(rule.name.text)}** · {rule.then}{delegable}"
    if rule.doc:
        yield prose(rule.doc)
    yield _ASKED[rule.then].format(code(" ".join(_cut(to_text(rule.when)).split())))
    yield from _origin(target, module)
    whole = expanded(rule.when, module)
    if whole != rule.when:
        yield "In full:"
        yield block(_cut(to_text(whole)), "vigil")
    if rule.relaxes:
        yield "It lifts, for such events:"
        yield "\n".join(f"- {_relaxed(name.text)}" for name in rule.relaxes)
    if rule.record:
        yield f"In the log stand {', '.join(code(to_text(name)) for name in rule.record)} as they are."
    if delegable:
        yield "The user may confirm it herself, where the rule is her organisation's."
    for note in rule.annotations:
        if note.name.text == "message" and note.args:
            yield f"It says: {code(text_of(note.args[0]) or '')}"


def _relaxed(name: str) -> str:
    found = of_default_layer(name)
    if found is None:
        return f"{code(name)}: the default layer has nothing of this name"
    item = found[1]
    asked = f" ({item.then})" if isinstance(item, tree.Rule) else ""
    return f"{code(name)}{asked}: {' '.join(prose(item.doc).split())}" if item.doc else f"{code(name)}{asked}"


# --- patterns ---


def _pattern(target: HoverTarget, pattern: tree.Pattern, module: Module) -> Iterator[str]:
    head = f"pattern {pattern.name.text}" + (f"({', '.join(p.text for p in pattern.params)})" if pattern.params else "")
    yield block(_cut(f"{head} = {to_text(pattern.body)}"), "vigil")
    if pattern.doc:
        yield prose(pattern.doc)
    yield from _origin(target, module)
    apply = next((node for node in reversed(target.path) if isinstance(node, tree.Apply)), None)
    if apply is not None and pattern.params and len(apply.args or ()) == len(pattern.params):
        once = applied(apply, pattern, module)
        if once != pattern.body:
            yield "Here:"
            yield block(_cut(to_text(once)), "vigil")
        whole = expanded(apply, target.module)
    else:
        once, whole = pattern.body, expanded(pattern.body, module)
    if whole != once:
        yield "In full:"
        yield block(_cut(to_text(whole)), "vigil")
    if apply is not None:
        yield from counted(target.known, apply.span)
    elif module is target.module:
        yield from counted(target.known, pattern.body.span)


# --- values ---


def _value(target: HoverTarget, declaration: tree.Let | tree.Param, module: Module) -> Iterator[str]:
    yield block(_cut(to_text(_undocumented(declaration))), "vigil")
    if declaration.doc:
        yield prose(declaration.doc)
    yield from _origin(target, module)
    try:
        meaning = target.conditions.terms.value_of(declaration, module)
    except Failed:
        return
    shown = _shown(meaning)
    if isinstance(declaration, tree.Param):
        given = declaration.name.text in target.reading.policy.params
        where = f"from {code(target.configuration)}" if given else "its default"
        yield f"Its value is {shown}, {where}."
    elif not _is_plain(declaration.value, meaning):
        yield f"Its value is {shown}."


def _undocumented(declaration: tree.Let | tree.Param) -> tree.Let | tree.Param:
    return replace(declaration, doc=None, annotations=())


def _is_plain(value: tree.SetUnion | tree.Literal_ | tree.Regex, meaning: Text | TextSet | Pattern) -> bool:
    """Whether a value is written out where it is declared."""
    if not isinstance(value, tree.SetUnion) or not isinstance(meaning, TextSet):
        return not isinstance(value, tree.SetUnion)
    elements = [e for part in value.parts if isinstance(part, tree.SetLiteral) for e in part.elements]
    bare = {e.text for e in elements if isinstance(e, tree.Name)}
    return all(isinstance(part, tree.SetLiteral) for part in value.parts) and bare <= meaning.texts


def _shown(meaning: Text | TextSet | Pattern) -> str:
    if isinstance(meaning, Pattern):
        return "a regular expression"
    if isinstance(meaning, Text):
        return code(meaning.text) or "the empty text"
    texts = sorted(meaning.texts)
    listed = ", ".join(code(text) or "the empty text" for text in texts[:_MOST])
    return f"{{{listed}{', …' if len(texts) > _MOST else ''}}}"


# --- variables and parameters ---


def _parameter(target: HoverTarget, symbol: Symbol) -> Iterator[str]:
    owner = symbol.within[1] if symbol.within is not None else ""
    yield f"{code(symbol.name)}: a parameter of the pattern {code(owner)}."
    pattern = target.module.own.get(owner)
    if isinstance(pattern, tree.Pattern):
        yield from _uses(symbol.name, pattern.body)


def _uses(name: str, body: tree.Expr) -> Iterator[str]:
    """The tests that a name stands in."""
    found: list[str] = []
    for node in walk(body):
        match node:
            case tree.Test(_, _, tree.Name(text)) if text == name:
                found.append(to_text(node))
            case tree.Apply(_, args) if any(_is_name(arg, name) for arg in args or ()):
                found.append(to_text(node))
    if found:
        yield "\n".join(f"- {code(text)}" for text in dict.fromkeys(found[:_MOST]))


def _is_name(arg: object, name: str) -> bool:
    match arg:
        case tree.Apply(tree.Name(text), None):
            return text == name
        case _:
            return False


def _variable(target: HoverTarget, symbol: Symbol) -> Iterator[str]:
    owner = symbol.within
    if owner is not None and owner[0] == "pattern":
        yield (
            f"{code(symbol.name)}: a value variable. The pattern {code(owner[1])} leaves it free: it is the variable "
            "of that name in every statement that the pattern is used in."
        )
        return
    yield f"{code(symbol.name)}: a value variable. It has the same value wherever it stands in the statement."
    same = (s for s in target.reading.policy.statements if owner == ("statement", s.name))
    statement = target.statement or next(same, None)
    if statement is None:
        return
    lines = [
        f"- {holds.role} {code(statement.label(holds))}: "
        + ", ".join(dict.fromkeys(_tested(holds.condition, symbol.name)))
        for holds in core.conditions(statement.requirement.theta)
        if any(True for _ in _tested(holds.condition, symbol.name))
    ]
    yield "\n".join(dict.fromkeys(lines))
    yield from _types(target, statement, symbol.name)


def _tested(condition: core.Condition, variable: str) -> Iterator[str]:
    for test in core.tests(condition):
        match test:
            case core.Equals(field, name) if name == variable:
                yield code(f"{named(field)} = {name}")
            case core.Contains(field, name) if name == variable:
                yield code(f"{named(field)} contains {name}")
            case core.ComparesWith(field, operator, name) if name == variable:
                yield code(f"{named(field)} {operator} {name}")


def _types(target: HoverTarget, statement: Statement, variable: str) -> Iterator[str]:
    """The types that the runs show of what a variable is compared with."""
    if target.known is None:
        return
    fields = {
        test.field.name
        for holds in core.conditions(statement.requirement.theta)
        for test in core.tests(holds.condition)
        if isinstance(test, core.Equals) and test.variable == variable and not (test.field.output or test.field.views)
    }
    carried = [a.args[f] for a in target.known.signature.actions.values() for f in sorted(fields) if f in a.args]
    types = sorted({kind for argument in carried for kind in argument.types})
    if types:
        yield f"Type: {' or '.join(types)}."


# --- modules and events ---


def module_text(module: Module) -> list[str]:
    """What is said of a module, and what it declares."""
    name = module.file.name.text if module.file.name else module.source.path.rpartition("/")[2]
    statements = sum(isinstance(item, tree.Statement) for item in module.file.items)
    said = [f"**{code(name)}**" + (f" · {statements:,} statement{'s' * (statements != 1)}" if statements else "")]
    if module.file.doc:
        said.append(prose(module.file.doc))
    listed = [code(name) for name in module.own]
    if listed:
        said.append(f"It declares {', '.join(listed[:_MOST])}{', …' if len(listed) > _MOST else ''}.")
    return said


def _event(target: HoverTarget, symbol: Symbol) -> Iterator[str]:
    """The event of a test that an id means."""
    place = target.names.occurrences(symbol)
    start = next((one.span.start for one in place if one.role == "declaration"), None)
    for node in walk(target.item) if target.item is not None else ():
        if isinstance(node, tree.Event) and start in (node.id.span.start if node.id else None, node.action.span.start):
            yield f"Event {code(symbol.name)} of this test:"
            yield block(_cut(to_text(node)), "vigil")
            return
