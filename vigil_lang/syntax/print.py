"""Tree to text: the shortest spelling that parses back to the same tree, one line an item."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from vigil_lang.patterns import regex
from vigil_lang.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Sequence

Node: TypeAlias = (
    tree.File
    | tree.Item
    | tree.Annotation
    | tree.Form
    | tree.Expr
    | tree.Field
    | tree.SetUnion
    | tree.SetLiteral
    | tree.Bound
    | tree.Clause
    | tree.Event
    | tree.EventGroup
    | tree.Value
    | tree.Argument
    | tree.Term
    | tree.Regex
)

# ASCII spelling to the paper's; a mark that is a prefix brings the space that follows it.
UNICODE = {
    "always": "□",
    "earlier": "◇⁻",
    "later": "◇⁺",
    "not": "¬",
    "and": "∧",
    "or": "∨",
    "implies": "⇒",
    "in": "∈",
    "not in": "∉",
    "~": "∼",
    "!~": "≁",
    "!=": "≠",
    "<=": "≤",
    ">=": "≥",
    "ok": "⊤",
    "error": "⊥",
}
_ASCII = {word: word for word in UNICODE}

# How tightly an expression holds together; an operand looser than its place asks for stands in parentheses.
_IMPLIES, _OR, _AND, _INTERVAL, _UNARY = range(5)

_NAME = regex(r"[A-Za-z_][A-Za-z0-9_]*(?:[.-][A-Za-z0-9_]+)*")
_NOT_A_FIELD = frozenset({"action", "status", "output", "has", "not", "earlier", "later", "repeated", "true", "false"})


def to_text(node: Node, *, unicode: bool = False) -> str:
    """The source text of a node, with the fewest parentheses; `parse` makes the same tree of it.

    Comments other than documentation are not part of any node and are left out. `unicode` chooses the paper's
    spelling of the operators.
    """
    return _text(node, UNICODE if unicode else _ASCII, _IMPLIES)


def _text(node: Node, spell: dict[str, str], place: int) -> str:
    match node:
        case tree.Test(field, operator, operand):
            return f"{_field(field, spell)} {spell.get(operator, operator)} {_text(operand, spell, place)}"
        case tree.Entry(field, body):
            return f"{_field(field, spell)} with ({_text(body, spell, _IMPLIES)})"
        case tree.Apply(name, None):
            return _text(name, spell, place)
        case tree.Apply(name, args):
            return f"{_text(name, spell, place)}({_list(args or (), spell)})"
        case tree.Name(text) | tree.Number(text):
            return text
        case tree.String(raw):
            return f'"{raw}"'
        case tree.Boolean(value):
            return "true" if value else "false"
        case tree.Regex(raw, ignore_case):
            return f"/{raw}/i" if ignore_case else f"/{raw}/"
        case tree.SetUnion(parts):
            return " | ".join(_text(p, spell, place) for p in parts)
        case tree.SetLiteral(elements):
            return f"{{{_list(elements, spell)}}}"
        case tree.Field():
            return _field(node, spell)
        case tree.Bound(raw):
            return f"[{raw}]"
        case tree.And(items):
            return _held(f" {spell['and']} ".join(_text(i, spell, _INTERVAL) for i in items), _AND, place)
        case tree.Or(items):
            return _held(f" {spell['or']} ".join(_text(i, spell, _AND) for i in items), _OR, place)
        case tree.Implies(left, right):
            both = f"{_text(left, spell, _OR)} {spell['implies']} {_text(right, spell, _IMPLIES)}"
            return _held(both, _IMPLIES, place)
        case tree.Interval(direction, weak, bound, left, right):
            word = f"{'weak ' if weak else ''}{direction}{f'[{bound.raw}]' if bound else ''}"
            both = f"{_text(left, spell, _UNARY)} {word} {_text(right, spell, _UNARY)}"
            return _held(both, _INTERVAL, place)
        case tree.Repeated(bound, body, distinct):
            return f"repeated[{bound.raw}]({_counted((body,), distinct, 'distinct ', spell)})"
        case tree.Not(body):
            return f"{_prefix(spell['not'])}{_text(body, spell, _UNARY)}"
        case tree.Diamond(direction, bound, body):
            ticks = f"[{bound.raw}]" if bound else ""
            return f"{spell[direction]}{ticks} {_text(body, spell, _UNARY)}"
        case tree.ActionIn(names):
            return f"action {spell['in']} {_text(names, spell, place)}"
        case tree.ActionIs(name):
            return f"action = {_text(name, spell, place)}"
        case tree.ActionMatches(text):
            return f"action {spell['~']} {_text(text, spell, place)}"
        case tree.StatusIs(status):
            return f"status = {spell[status]}"
        case tree.Has(field):
            return f"has {_field(field, spell)}"
        case tree.Violates(name):
            return f"violates {name.text}"
        case tree.Form("always", (body,)):
            return f"{spell['always']} {_text(body, spell, _IMPLIES)}"
        case tree.Form(name, args, bound, limit, field, window, since):
            ticks = f"[{bound.raw}]" if bound else "" if limit is None else f"[{_text(limit, spell, place)}]"
            terms = _counted(args, field, "distinct " if limit is None else "", spell)
            inside = f" in {window.raw}" if window else ""
            reset = "" if since is None else f" since {_text(since, spell, _IMPLIES)}"
            return f"{name}{ticks}({terms}){inside}{reset}"
        case tree.RunFile() | tree.RunEvents() | tree.RunCalls() | tree.Setting() | tree.Expectation():
            return _clause(node, spell)
        case tree.Event():
            return _event(node, spell)
        case tree.EventGroup(events):
            return _block(events, spell)
        case tree.Argument(name, value):
            return f"{_text(name, spell, place)} = {_text(value, spell, place)}"
        case tree.Composite(elements):
            return f"{{{_list(elements, spell)}}}"
        case tree.Annotation(name, args):
            return f"@{name.text}({_list(args, spell)})" if args else f"@{name.text}"
        case tree.File():
            return "".join(f"{line}\n" for line in _file(node, spell))
        case _:
            return "\n".join([*_before(node.doc, node.annotations, spell), _item(node, spell)])


def _held(text: str, holds: int, place: int) -> str:
    return text if holds >= place else f"({text})"


def _prefix(mark: str) -> str:
    return mark if mark == "¬" else f"{mark} "


def _list(nodes: Sequence[Node], spell: dict[str, str]) -> str:
    return ", ".join([_text(node, spell, _IMPLIES) for node in nodes])


def _counted(args: Sequence[Node], field: tree.Field | None, word: str, spell: dict[str, str]) -> str:
    listed = _list(args, spell)
    return listed if field is None else f"{listed}, {word}{_field(field, spell)}"


def _field(field: tree.Field, spell: dict[str, str]) -> str:
    if field.kind == "output":
        name = "output"
    else:
        plain = field.name not in _NOT_A_FIELD and _NAME.fullmatch(field.name)
        name = field.name if plain else f'"{field.name}"'
    return "".join([name, *[_view(view, spell) for view in field.views]])


def _view(view: tree.View, spell: dict[str, str]) -> str:
    argument = "" if view.argument is None else f"({_text(view.argument, spell, _IMPLIES)})"
    return f":{view.name.text}{argument}"


def _item(item: tree.Item, spell: dict[str, str]) -> str:
    match item:
        case tree.Use(module, names):
            return f"use {module.text}{': ' if names else ''}{_list(names, spell)}"
        case tree.Let(name, value):
            return f"let {name.text} = {_text(value, spell, _IMPLIES)}"
        case tree.Param(name, kind, default):
            value_text = "" if default is None else f" = {_text(default, spell, _IMPLIES)}"
            return f"param {name.text}: {kind}{value_text}"
        case tree.Pattern(name, params, body):
            listed = f"({_list(params, spell)})" if params else ""
            return f"pattern {name.text}{listed} = {_text(body, spell, _IMPLIES)}"
        case tree.Statement(name, form, after, where):
            scope = "" if after is None else f" after {_text(after, spell, _IMPLIES)}"
            tested = "" if where is None else f" where {_text(where, spell, _IMPLIES)}"
            return f"statement {name.text}: {_text(form, spell, _IMPLIES)}{scope}{tested}"
        case tree.Rule(name, when, then, record, relaxes):
            records = f" record {_list(record, spell)}" if record else ""
            lowers = f" relaxes {_list(relaxes, spell)}" if relaxes else ""
            return f"rule {name.text}: when {_text(when, spell, _IMPLIES)} then {then}{records}{lowers}"
        case tree.TestCase(name, clauses):
            return f"test {_text(name, spell, _IMPLIES)} {_block(clauses, spell)}"


# --- tests ---


def _block(nodes: Sequence[Node], spell: dict[str, str]) -> str:
    return f"{{ {' '.join([_text(node, spell, _IMPLIES) for node in nodes])} }}" if nodes else "{}"


def _clause(clause: tree.Clause, spell: dict[str, str]) -> str:
    match clause:
        case tree.RunFile(path):
            return f"run {_text(path, spell, _IMPLIES)}"
        case tree.RunEvents(events):
            return f"run {_block(events, spell)}"
        case tree.RunCalls(cwd, events):
            folder = "" if cwd is None else f"in {_text(cwd, spell, _IMPLIES)} "
            return f"calls {folder}{_block(events, spell)}"
        case tree.Setting(name, value):
            return f"set {name.text} = {_text(value, spell, _IMPLIES)}"
        case tree.Expectation(statements, verdict, events, bindings):
            at = f" at {_list(events, spell)}" if events else ""
            values = [f"{b.name.text} = {_text(b.value, spell, _IMPLIES)}" for b in bindings]
            under = f" with {', '.join(values)}" if values else ""
            return f"expect {_list(statements, spell)} {verdict}{at}{under}"


def _event(event: tree.Event, spell: dict[str, str]) -> str:
    label = "" if event.id is None else f"{event.id.text}: "
    kinds = f": {_list(event.kinds, spell)}" if event.kinds else ""
    time = "" if event.time is None else f" at {event.time.raw}"
    text = f"{label}{_text(event.action, spell, _IMPLIES)}({_list(event.args, spell)}){kinds}{time}"
    if event.ending is None:
        return text
    status, output = event.ending.status, event.ending.output
    shown = [spell[status]] if status else []
    return " ".join([text, "->", *shown, *([_text(output, spell, _IMPLIES)] if output else [])])


def _before(doc: str | None, annotations: tuple[tree.Annotation, ...], spell: dict[str, str]) -> list[str]:
    lines = [] if doc is None else [f"/// {line}".rstrip() for line in doc.split("\n")]
    return lines + [_text(a, spell, _IMPLIES) for a in annotations]


def _file(file: tree.File, spell: dict[str, str]) -> list[str]:
    lines = _before(file.doc, file.annotations, spell)
    if file.name is not None:
        lines.append(f"policy {file.name.text}")
    elif lines:
        lines.append("")  # without it, this would be the documentation of the first item
    return lines + [_text(item, spell, _IMPLIES) for item in file.items]
