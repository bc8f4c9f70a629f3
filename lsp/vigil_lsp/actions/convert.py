"""A form as □Θ, and □Θ as the form that it is (spec.md, Table VI)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol.types import CodeActionKind

from vigil_lang.diagnostics import Edit, Span
from vigil_lang.semantics import core
from vigil_lang.semantics.forms import FORMS
from vigil_lang.semantics.lower import parts
from vigil_lang.syntax import tree
from vigil_lsp.actions.condition_text import AND, OR, UNARY, WHOLE, held, is_temporal, laid_out, operators
from vigil_lsp.actions.equivalence import keeps_meaning
from vigil_lsp.actions.proposal import Place, Proposal

if TYPE_CHECKING:
    from collections.abc import Iterator


def proposals(place: Place) -> Iterator[Proposal]:
    """The other way to write the statement at a place, where there is one."""
    item = place.item
    if not isinstance(item, tree.Statement):
        return
    span = item.form.span if item.after is None else item.form.span.to(item.after.span)
    if place.commented(span):
        return
    if item.form.name not in FORMS:
        written, title = _as_form(place, item.form.args[0]), "Write as `{}`"
    else:
        written, title = _as_body(place, item), "Write as `always …`"
    if written is None:
        return
    edits = laid_out(place, (Edit(span, written),))
    if keeps_meaning(place.reading.policy, edits, place.access):
        title = title.format(written.partition("(")[0])
        yield Proposal(title, CodeActionKind.RefactorRewrite.value, edits)


def _as_body(place: Place, item: tree.Statement) -> str | None:
    """The statement's core as a temporal body; None where it has an operator that no text can write."""
    statement = next((s for s in place.reading.policy.statements if s.syntax is item), None)
    if statement is None:
        return None
    spell = operators(place)
    written = {part.expr.span: part.expr for part in parts(item)}
    gap = "" if spell["not"] == "¬" else " "
    bound = f"[{item.form.bound.raw}]" if item.form.bound else ""

    def put(theta: core.Theta, tight: int) -> str | None:
        match theta:
            case core.Holds(span=span) if span is not None:
                return held(place.slice(span), written[span], tight)
            case core.Not(body):
                return put_after(f"{spell['not']}{gap}", body)
            case core.Earlier(body, limit):
                return put_after(f"{spell['earlier']}{bound if limit else ''} ", body)
            case core.Later(body, limit):
                return put_after(f"{spell['later']}{bound if limit else ''} ", body)
            case core.And((one, core.Where())):  # `where` stays behind the form
                return put(one, tight)
            case core.And(items):
                spoken = tuple([part for part in items if not isinstance(part, core.Where)])
                return put_between(spoken, spell["and"], AND, tight)
            case core.Or(items):
                return put_between(items, spell["or"], OR, tight)
            case core.Implies(left, right):
                return put_between((left, right), spell["implies"], WHOLE, tight)
            case _:
                return None

    def put_after(operator: str, body: core.Theta) -> str | None:
        text = put(body, UNARY)
        return None if text is None else operator + text

    def put_between(items: tuple[core.Theta, ...], operator: str, binds: int, tight: int) -> str | None:
        texts = [text for item in items if (text := put(item, min(binds + 1, AND))) is not None]
        joined = f" {operator} ".join(texts)
        return None if len(texts) < len(items) else f"({joined})" if binds < tight else joined

    body = put(statement.requirement.theta, WHOLE)
    return None if body is None else f"{spell['always']} {body}"


def _as_form(place: Place, body: tree.Expr) -> str | None:
    match body:
        case tree.Not(inner):
            found = _scoped(place, inner)
            return None if found is None else f"abs({found[0]}){found[1]}"
        case tree.Implies(left, right):
            found = _scoped(place, left)
            if found is None:
                return None
            trigger, scope = found
        case _:
            return None
    match right:
        case tree.Diamond("earlier", None, guard) if not is_temporal(guard):
            return f"prec({trigger}, {_bare(place, guard)}){scope}"
        case tree.Diamond("later", None, response) if not is_temporal(response):
            return f"resp({trigger}, {_bare(place, response)}){scope}"
        case tree.Diamond("later", tree.Bound(raw), response) if not is_temporal(response):
            return f"bresp[{raw}]({trigger}, {_bare(place, response)}){scope}"
        case tree.Or((resolution, tree.Diamond("later", None, tree.Or()))) if not is_temporal(resolution):
            return f"rslv({trigger}, {_bare(place, resolution)}){scope}"
        case _:
            return None


def _scoped(place: Place, left: tree.Expr) -> tuple[str, str] | None:
    """A trigger, and what stands after the form for its scope."""
    if not is_temporal(left):
        return _bare(place, left), ""
    match left:
        case tree.And((*first, tree.Diamond("earlier", None, scope))) if not any(map(is_temporal, (*first, scope))):
            trigger = place.slice(Span(first[0].span.start, first[-1].span.end))
            return (_bare(place, first[0]) if len(first) == 1 else trigger), f" after {_bare(place, scope)}"
        case _:
            return None


def _bare(place: Place, expr: tree.Expr) -> str:
    """A condition without the brackets around all of it."""
    text = place.slice(expr.span)
    return text[1:-1].strip() if _is_wrapped(place, expr) else text


def _is_wrapped(place: Place, expr: tree.Expr) -> bool:
    """Whether the first bracket of a condition closes with its last."""
    if place.text[expr.span.start] != "(":
        return False
    depth = 0
    for token in place.tokens(expr.span):
        depth += (token.text == "(") - (token.text == ")")
        if depth == 0:
            return token.end == expr.span.end
    return False
