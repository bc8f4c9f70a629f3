"""Hover texts: of the name at a place, or else of the word, mark, value or comment."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vigil_lang.diagnostics import CODES, Span
from vigil_lang.report.markdown import code
from vigil_lang.report.pages import rule_of
from vigil_lang.semantics.context_fields import CONTEXT
from vigil_lang.semantics.forms import FORMS
from vigil_lang.semantics.text_patterns import BadEscape, Expression, Glob, glob_text
from vigil_lang.syntax import tree
from vigil_lang.syntax.print import UNICODE
from vigil_lang.trace.vocabulary import vocabulary
from vigil_lsp.completing.documentation import documentation
from vigil_lsp.completing.keywords import WORDS
from vigil_lsp.hovering.run_results import counted, matching
from vigil_lsp.hovering.symbol_text import rule_text, statement_text, symbol_text
from vigil_lsp.hovering.target import HoverTarget, HoverText
from vigil_lsp.operator_help import CLOSED, GLOB, OPERATORS, REGEX

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.semantics.text_patterns import Matcher

_CODE = re.compile(r"VGL[0-9]{3}")
_FORMS = frozenset({*FORMS, "always"})
_WORDS = {mark: word for word, mark in UNICODE.items()} | {"◇-": "earlier", "◇+": "later"}
_LEVELLED = frozenset({"severity", "on_violation"})
_RELATING = frozenset(
    {"earlier", "later", "implies", "after", "where", "since", "until", "weak", "repeated", "distinct"}
)
OF_USER = f"{CONTEXT}user."
_QUIET = frozenset("()[]{},:.")


def hover_text(target: HoverTarget) -> HoverText | None:
    """The hover text of a place; None where there is nothing to say."""
    token = target.token
    if token is None:
        return None
    if token.kind in ("comment", "doc"):
        return _of_comment(target)
    for mention in target.mentions:
        if said := symbol_text(target, mention):
            return _text(mention.span, said)
    said = list(_of_token(target))
    return _text(_span(target), said) if said else None


def _text(span: Span, said: list[str]) -> HoverText:
    return HoverText(span, "\n\n".join(said))


def _span(target: HoverTarget) -> Span:
    """The token; `not in` is one mark of two."""
    assert target.token is not None
    node = target.path[-1] if target.path else None
    is_test = isinstance(node, tree.Test) and node.operator == "not in" and target.token.text in ("not", "in")
    if is_test and isinstance(node, tree.Test):
        inside = [t for t in target.reading.tokens if node.field.span.end <= t.start < node.operand.span.start]
        return Span(inside[0].start, inside[-1].end)
    return target.token.span


def _of_comment(target: HoverTarget) -> HoverText | None:
    """The code that a comment lets pass."""
    assert target.token is not None
    if "vigil" not in target.token.text:
        return None
    for found in _CODE.finditer(target.token.text):
        span = Span(target.token.start + found.start(), target.token.start + found.end())
        if span.start <= target.offset <= span.end and found[0] in CODES:
            return _text(span, code_text(found[0]))
    return None


def code_text(name: str) -> list[str]:
    """The page of a code."""
    row = CODES[name]
    return [f"**{name}** ({row.severity}): {row.summary}", rule_of(name).page]


def _of_token(target: HoverTarget) -> Iterator[str]:
    node = target.path[-1] if target.path else None
    parent = target.path[-2] if len(target.path) > 1 else None
    token = target.token
    assert token is not None
    match node:
        case tree.Annotation(name) if token.text in ("@", name.text):
            yield from _documented(target, "annotation", name.text)
        case tree.Name() if isinstance(parent, tree.Annotation) and node is parent.name:
            yield from _documented(target, "annotation", node.text)
        case tree.Name() | tree.String() if isinstance(parent, tree.Annotation) and parent.name.text in _LEVELLED:
            yield from _documented(target, "level", node.text if isinstance(node, tree.Name) else node.raw)
        case tree.Name() if isinstance(parent, tree.View):
            yield from _documented(target, "view", node.text)
        case tree.Field(name, "argument") if name.startswith(CONTEXT):
            yield from _context(target, name)
        case tree.Field(name, "argument"):
            yield from _argument(target, name)
        case tree.Name(name) if isinstance(parent, tree.Rule) and name.startswith(CONTEXT):
            yield from _context(target, name)
        case tree.Name(name) | tree.String(name) if isinstance(parent, tree.Rule) and node in parent.record:
            yield from _recorded(target, name)
        case tree.Name() | tree.String() if isinstance(parent, tree.Argument) and node is parent.name:
            yield from _argument(target, node.text if isinstance(node, tree.Name) else node.raw)
        case tree.Name() | tree.String() if (action := _action(target.path)) is not None:
            yield from _action_said(target, action)
            expr = target.expression()
            if expr is not None:
                yield from counted(target.known, expr.span)
        case tree.String() | tree.Regex() if (about := _pattern_of(target)) is not None:
            yield from _text_pattern(target, *about)
        case _:
            yield from _word(target, node)


def _action(path: list[object]) -> str | None:
    """The action or kind that a name or text is."""
    node = path[-1]
    if not isinstance(node, tree.Name | tree.String):
        return None
    text = node.text if isinstance(node, tree.Name) else node.raw
    match path:
        case [*_, tree.Apply(name, args), tree.Name() | tree.String()] if node is name and args is not None:
            return text
        case [*_, tree.ActionIs(), _] | [*_, tree.ActionIn(), tree.SetUnion(), tree.SetLiteral(), _]:
            return text
        case [*_, tree.Event(_, action, _, kinds), _] if node is action or any(node is kind for kind in kinds):
            return text
        case _:
            return None


def _action_said(target: HoverTarget, name: str) -> Iterator[str]:
    if target.known is None and name not in vocabulary().kinds:
        yield f"{code(name)}: events of this action, and those that have it among their kinds."
    else:
        yield from _documented(target, "action", name)


def _argument(target: HoverTarget, name: str) -> Iterator[str]:
    """An argument: what it is, its types, who carries it, and how many events meet the test."""
    known = target.known
    if known is None and name not in vocabulary().roles:
        yield f"{code(name)}: an argument of the event. {CLOSED}"
    else:
        yield from _documented(target, "argument", name, *target.actions())
    if known is not None:
        carrying = {action: a.args[name] for action, a in known.signature.actions.items() if name in a.args}
        types = sorted({kind for argument in carrying.values() for kind in argument.types})
        listed = ", ".join(code(action) for action in sorted(carrying)[:12])
        many = " Some have several values of it." if any(one.many for one in carrying.values()) else ""
        if carrying:
            more = ", …" if len(carrying) > 12 else ""
            yield f"{' or '.join(types) or 'any type'}; carried by {listed}{more}.{many}"
    expr = target.expression()
    if expr is not None:
        yield from counted(known, expr.span)


def _recorded(target: HoverTarget, name: str) -> Iterator[str]:
    if target.known is None and name not in vocabulary().roles:
        yield f"{code(name)}: an argument of the call."
    else:
        yield from _documented(target, "argument", name)


def _context(target: HoverTarget, name: str) -> Iterator[str]:
    """What a rule asks of the moment."""
    if name.startswith(OF_USER):
        yield f"{code(name)}: what is known of the user, by this name. Only the rules of a gate can ask for it."
    else:
        yield from _documented(target, "context", name)


def _pattern_of(target: HoverTarget) -> tuple[tree.Test | tree.ActionMatches, tree.String | tree.Regex] | None:
    match target.path:
        case [*_, tree.Test(_, "~" | "!~") as test, (tree.String() | tree.Regex()) as operand]:
            return test, operand
        case [*_, tree.ActionMatches() as test, (tree.String() | tree.Regex()) as operand]:
            return test, operand
        case _:
            return None


def _text_pattern(
    target: HoverTarget, test: tree.Test | tree.ActionMatches, operand: tree.String | tree.Regex
) -> Iterator[str]:
    yield REGEX if isinstance(operand, tree.Regex) else GLOB
    if isinstance(operand, tree.Regex):
        matcher: Matcher = Expression(operand.raw, operand.ignore_case)
    else:
        try:
            matcher = Glob(glob_text(operand.raw))
        except BadEscape:
            return
    if isinstance(test, tree.Test) and test.field.kind == "argument":
        yield from matching(target.known, test.field.name, target.actions(), matcher)
    yield from counted(target.known, test.span)


def _word(target: HoverTarget, node: object) -> Iterator[str]:
    """A keyword, a form or an operator."""
    token = target.token
    assert token is not None
    word = _WORDS.get(token.text, token.text)
    if token.text in _QUIET or token.kind not in ("word", "symbol") or isinstance(node, tree.Name):
        yield from _value(target)
        return
    if word == "=" and not isinstance(node, tree.Test | tree.ActionIs | tree.StatusIs):
        return  # it gives a value to a name
    if isinstance(node, tree.Test) and node.operator == "not in" and word in ("not", "in"):
        word = "not in"
    if isinstance(target.item, tree.Statement) and word == "statement" and target.statement is not None:
        yield from statement_text(target, target.statement)
    elif isinstance(target.item, tree.Rule) and word == "rule":
        yield from rule_text(target, target.item, target.module)
    elif isinstance(node, tree.Form) and word == "in":
        yield from _documented(target, "keyword", "WINDOW", word)
    elif isinstance(node, tree.Bound):
        yield from _documented(target, "keyword", "UNIT", f"{word.removesuffix('s')}s")
    elif isinstance(node, tree.Form) and word in _FORMS and word == node.name:
        if target.statement is not None:
            yield from statement_text(target, target.statement)
        yield from _documented(target, "form", word)
    elif word in OPERATORS and not isinstance(target.item, tree.TestCase):
        yield f"{code(word)}: {OPERATORS[word]}"
        expr = target.expression()
        if expr is not None and word not in _RELATING:
            yield from counted(target.known, expr.span)
    else:
        terminals = [one for one, words in WORDS.items() if any(written == word for written, _, _ in words)]
        if isinstance(target.item, tree.Param):
            terminals.sort(key=lambda one: one != "TYPE")  # `set` is a clause of tests, too
        yield from _documented(target, "keyword", terminals[0], word) if terminals else ()


def _value(target: HoverTarget) -> Iterator[str]:
    """A value: how many events have it where the hover is."""
    expr = target.expression()
    if expr is not None and target.token is not None and target.token.kind in ("string", "number", "regex"):
        yield from counted(target.known, expr.span)


def _documented(target: HoverTarget, *about: str) -> Iterator[str]:
    found = documentation(about, (target.module,), target.known, ())
    if found:
        yield found
