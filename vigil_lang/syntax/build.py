"""From grammar rules to tree nodes: the callbacks Lark runs while it parses."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from vigil_lang.diagnostics.diagnostic import Span
from vigil_lang.syntax import tree
from vigil_lang.syntax.lalr import Token

if TYPE_CHECKING:
    from collections.abc import Callable

_VERDICTS = frozenset({"SATISFIED", "VACUOUS", "VIOLATED", "ASKS"})
_SPELLING = {"∈": "in", "∉": "not in", "∼": "~", "≁": "!~", "≠": "!=", "≤": "<=", "≥": ">="}


# A tree has many spans, and this makes one in half the time.
_new = tuple.__new__


def _at(token: Token) -> Span:
    return _new(Span, (token.start, token.end))


def _over(first: Any, last: Any) -> Span:
    start = first.start if first.__class__ is Token else first.span[0]
    end = last.end if last.__class__ is Token else last.span[1]
    return _new(Span, (start, end))


def _name(token: Token) -> tree.Name:
    return tree.Name(token.text, _new(Span, (token.start, token.end)))


def _string(token: Token) -> tree.String:
    return tree.String(token.text[1:-1], _new(Span, (token.start, token.end)))


def _name_or_string(token: Token) -> tree.Name | tree.String:
    return _string(token) if token.type == "STRING" else _name(token)


def _alone(texts: Any) -> Any:
    """A name alone after `~` stands for a text or a set."""
    if isinstance(texts, tree.SetUnion) and len(texts.parts) == 1 and isinstance(texts.parts[0], tree.Name):
        return texts.parts[0]
    return texts


def _inline(method: Callable[..., Any]) -> Callable[[Builder, list[Any]], Any]:
    """Gives a method its rule's children one by one: Lark's `v_args`, without two calls on the way."""

    @wraps(method)
    def call(builder: Builder, children: list[Any]) -> Any:
        return method(builder, *children)

    return call


class Builder:
    """One method a grammar rule; each returns the node of `tree` that the rule stands for."""

    # --- literals and names ---

    @_inline
    def string(self, token: Token) -> tree.String:
        return _string(token)

    @_inline
    def number(self, token: Token) -> tree.Number:
        return tree.Number(token.text, _at(token))

    @_inline
    def boolean(self, token: Token) -> tree.Boolean:
        return tree.Boolean(token.text == "true", _at(token))

    @_inline
    def word(self, token: Token) -> tree.Name:
        return _name(token)

    @_inline
    def regex(self, token: Token) -> tree.Regex:
        text = token.text
        ignore_case = text.endswith("i")
        return tree.Regex(text[1 : -2 if ignore_case else -1], ignore_case, _at(token))

    def set_literal(self, children: list[Any]) -> tree.SetLiteral:
        elements = tuple(c for c in children[1:-1] if c is not None)
        return tree.SetLiteral(elements, _over(children[0], children[-1]))

    def set(self, parts: list[Any]) -> tree.SetUnion:
        return tree.SetUnion(tuple(parts), _over(parts[0], parts[-1]))

    @_inline
    def bound(self, token: Token, unit: Token | None) -> tree.Bound:
        if unit is None:
            return tree.Bound(token.text, _at(token))
        return tree.Bound(f"{token.text} {unit.text}", _over(token, unit))

    def span(self, children: list[Any]) -> tree.Bound:
        return tree.Bound(" ".join(token.text for token in children), _over(children[0], children[-1]))

    def view(self, children: list[Any]) -> tree.View:
        name, _left, argument, right = children
        return tree.View(_name(name), argument, _over(name, right or name))

    # --- atoms ---

    def plain_field(self, children: list[Any]) -> tree.Field:
        token, *views = children
        return tree.Field(token.text, "argument", tuple(views), _over(token, children[-1]))

    def quoted_field(self, children: list[Any]) -> tree.Field:
        token, *views = children
        return tree.Field(token.text[1:-1], "argument", tuple(views), _over(token, children[-1]))

    def output_field(self, children: list[Any]) -> tree.Field:
        token, *views = children
        return tree.Field("output", "output", tuple(views), _over(token, children[-1]))

    @_inline
    def action_in(self, action: Token, _in: Token, names: tree.SetUnion) -> tree.ActionIn:
        return tree.ActionIn(names, _over(action, names))

    @_inline
    def action_is(self, action: Token, _eq: Token, name: Token) -> tree.ActionIs:
        return tree.ActionIs(_name_or_string(name), _over(action, name))

    @_inline
    def action_matches(self, action: Token, _op: Token, text: Any) -> tree.ActionMatches:
        return tree.ActionMatches(_alone(text), _over(action, text))

    @_inline
    def status_is(self, status: Token, _eq: Token, value: Token) -> tree.StatusIs:
        return tree.StatusIs("ok" if value.type == "OK" else "error", _over(status, value))

    @_inline
    def test(self, operator: Token, operand: Any) -> tuple[str, Any]:
        spelled = _SPELLING.get(operator.text, operator.text)
        return spelled, _alone(operand) if spelled in ("~", "!~") else operand

    @_inline
    def negated_test(self, _not: Token, _in: Token, operand: Any) -> tuple[str, Any]:
        return "not in", operand

    @_inline
    def field_test(self, field: tree.Field, test: tuple[Any, Any]) -> tree.Test:
        operator, operand = test
        return tree.Test(field, operator, operand, _over(field, operand))

    @_inline
    def entry(self, field: tree.Field, _with: Token, _left: Token, body: Any, right: Token) -> tree.Entry:
        return tree.Entry(field, body, _over(field, right))

    def repeated(self, children: list[Any]) -> tree.Repeated:
        keyword, bound, _left, body, _distinct, field, right = children
        return tree.Repeated(bound, body, field, _over(keyword, right))

    @_inline
    def has(self, keyword: Token, field: tree.Field) -> tree.Has:
        return tree.Has(field, _over(keyword, field))

    def apply(self, children: list[Any]) -> tree.Apply:
        args = tuple(c for c in children[2:-1] if c is not None)
        return tree.Apply(_name_or_string(children[0]), args, _over(children[0], children[-1]))

    @_inline
    def reference(self, name: Token) -> tree.Apply:
        return tree.Apply(_name(name), None, _at(name))

    @_inline
    def violates(self, keyword: Token, name: Token) -> tree.Violates:
        return tree.Violates(_name(name), _over(keyword, name))

    # --- expressions ---

    @_inline
    def parenthesised(self, left: Token, body: Any, right: Token) -> Any:
        return replace(body, span=_over(left, right))

    @_inline
    def negation(self, operator: Token, body: Any) -> tree.Not:
        return tree.Not(body, _over(operator, body))

    def conjunction(self, children: list[Any]) -> tree.And:
        return tree.And(tuple(children[::2]), _over(children[0], children[-1]))

    def disjunction(self, children: list[Any]) -> tree.Or:
        return tree.Or(tuple(children[::2]), _over(children[0], children[-1]))

    @_inline
    def implies(self, left: Any, _op: Token, right: Any) -> tree.Implies:
        return tree.Implies(left, right, _over(left, right))

    @_inline
    def earlier(self, operator: Token, bound: tree.Bound | None, body: Any) -> tree.Diamond:
        return tree.Diamond("earlier", bound, body, _over(operator, body))

    @_inline
    def later(self, operator: Token, bound: tree.Bound | None, body: Any) -> tree.Diamond:
        return tree.Diamond("later", bound, body, _over(operator, body))

    def since_or_until(self, children: list[Any]) -> tree.Interval:
        left, weak, operator, bound, right = children
        return tree.Interval(operator.text, weak is not None, bound, left, right, _over(left, right))

    # --- forms and items ---

    def plain_form(self, children: list[Any]) -> tree.Form:
        name: Any = children[0].text
        return tree.Form(name, tuple(children[2:-1]), span=_over(children[0], children[-1]))

    def bounded_form(self, children: list[Any]) -> tree.Form:
        name: Any = children[0].text
        return tree.Form(name, tuple(children[3:-1]), children[1], span=_over(children[0], children[-1]))

    def lasting_form(self, children: list[Any]) -> tree.Form:
        keyword, bound, _left, body, _distinct, field, right = children
        return tree.Form(keyword.text, (body,), bound, None, field, span=_over(keyword, right))

    def counting_form(self, children: list[Any]) -> tree.Form:
        keyword, bound, _left, body, _distinct, field, right, _in, window, _since, since = children
        last = since or window or right
        return tree.Form(keyword.text, (body,), bound, None, field, window, since, _over(keyword, last))

    def budget_form(self, children: list[Any]) -> tree.Form:
        keyword, limit, _left, body, field, right, _in, window, _since, since = children
        last = since or window or right
        return tree.Form("budget", (body,), None, limit, field, window, since, _over(keyword, last))

    @_inline
    def always_form(self, keyword: Token, body: Any) -> tree.Form:
        return tree.Form("always", (body,), span=_over(keyword, body))

    def annotation(self, children: list[Any]) -> tree.Annotation:
        at, name, *rest = children
        args = tuple(c for c in rest[1:-1] if c is not None)
        return tree.Annotation(_name(name), args, _over(at, rest[-1] or name))

    def header(self, children: list[Any]) -> tuple[tuple[tree.Annotation, ...], tree.Name]:
        return tuple(children[:-2]), _name(children[-1])

    def item(self, children: list[Any]) -> tree.Item:
        *notes, node = children  # without annotations Lark passes the node on by itself
        span = notes[0].span.to(node.span)
        return replace(node, annotations=tuple(notes), span=span)  # type: ignore[no-any-return]

    def use(self, children: list[Any]) -> tree.Use:
        keyword, module, *names = (c for c in children if c is not None)
        return tree.Use(_name(module), tuple(map(_name, names)), span=_over(keyword, children[-1] or module))

    @_inline
    def let(self, keyword: Token, name: Token, _eq: Token, value: Any) -> tree.Let:
        return tree.Let(_name(name), value, span=_over(keyword, value))

    @_inline
    def param(self, keyword: Token, name: Token, type_: Token, _eq: Any, default: Any) -> tree.Param:
        kind: Any = type_.text
        return tree.Param(_name(name), kind, default, span=_over(keyword, default or type_))

    def pattern(self, children: list[Any]) -> tree.Pattern:
        keyword, name, *params, _eq, body = children
        names = tuple(_name(p) for p in params if p is not None and p.type == "NAME")
        return tree.Pattern(_name(name), names, body, span=_over(keyword, body))

    # --- tests ---

    def argument(self, children: list[Any]) -> tree.Argument:
        name, _eq, value = children
        return tree.Argument(name, value, name.span.to(value.span))

    def composite(self, children: list[Any]) -> tree.Composite:
        elements = tuple(c for c in children[1:-1] if c is not None)
        return tree.Composite(elements, _over(children[0], children[-1]))

    def kinds(self, children: list[Any]) -> tuple[tree.Name | tree.String, ...]:
        return tuple(children)

    @_inline
    def moment(self, _when: Token, token: Token) -> tree.Bound:
        return tree.Bound(token.text, _at(token))

    def ending(self, children: list[Any]) -> tree.Ending:
        arrow, first, *rest = children
        if first.type == "STRING":
            return tree.Ending(None, _string(first), _over(arrow, first))
        output = rest[0] and _string(rest[0])
        status: Any = "ok" if first.type == "OK" else "error"
        return tree.Ending(status, output, _over(arrow, rest[0] or first))

    def event(self, children: list[Any]) -> tree.Event:
        label, action, _left, *inner, right, kinds, moment, ending = children
        args = tuple(c for c in inner if c is not None)
        last = ending or moment or (kinds and kinds[-1]) or right
        return tree.Event(
            label and _name(label),
            _name_or_string(action),
            args,
            kinds or (),
            moment,
            ending,
            _over(label or action, last),
        )

    def call(self, children: list[Any]) -> tree.EventGroup:
        return tree.EventGroup(tuple(children[1:-1]), _over(children[0], children[-1]))

    @_inline
    def run_file(self, keyword: Token, path: Token) -> tree.RunFile:
        return tree.RunFile(_string(path), _over(keyword, path))

    def run_events(self, children: list[Any]) -> tree.RunEvents:
        return tree.RunEvents(tuple(children[2:-1]), _over(children[0], children[-1]))

    def run_calls(self, children: list[Any]) -> tree.RunCalls:
        keyword, _in, folder, _left, *events, right = children
        return tree.RunCalls(folder and _string(folder), tuple(events), _over(keyword, right))

    @_inline
    def setting(self, keyword: Token, name: Token, _eq: Token, value: Any) -> tree.Setting:
        return tree.Setting(_name(name), value, _over(keyword, value))

    def offenders(self, children: list[Any]) -> tuple[tree.Name | tree.String, ...]:
        return tuple(children[1:])

    def bindings(self, children: list[Any]) -> tuple[tree.Binding, ...]:
        return tuple(children[1:])

    @_inline
    def binding(self, name: Token, _eq: Token, value: Any) -> tree.Binding:
        return tree.Binding(_name(name), value, _over(name, value))

    def expectation(self, children: list[Any]) -> tree.Expectation:
        at = next(i for i, c in enumerate(children) if c.type in _VERDICTS)
        verdict: Any = children[at].text
        events, bindings = (*children[at + 1 :], None, None)[:2]
        last = (bindings and bindings[-1]) or (events and events[-1]) or children[at]
        names = tuple(map(_name, children[1:at]))
        return tree.Expectation(names, verdict, events or (), bindings or (), _over(children[0], last))

    def case(self, children: list[Any]) -> tree.TestCase:
        keyword, name, _left, *clauses, right = children
        return tree.TestCase(_string(name), tuple(clauses), span=_over(keyword, right))

    def statement(self, children: list[Any]) -> tree.Statement:
        keyword, name, form, _after, after, _where, where = children
        return tree.Statement(_name(name), form, after, where, span=_over(keyword, where or after or form))

    def records(self, children: list[Any]) -> tuple[tree.Name | tree.String, ...]:
        return tuple(children[1:])

    def relaxes(self, children: list[Any]) -> tuple[tree.Name, ...]:
        return tuple(map(_name, children[1:]))

    @_inline
    def rule(
        self, keyword: Token, name: Token, _when: Token, when: Any, _then: Token, mode: Token, record: Any, relaxes: Any
    ) -> tree.Rule:
        then: Any = mode.text
        last = relaxes[-1] if relaxes else record[-1] if record else mode
        return tree.Rule(_name(name), when, then, record or (), relaxes or (), span=_over(keyword, last))
