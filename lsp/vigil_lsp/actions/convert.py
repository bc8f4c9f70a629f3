"""A form as □Θ, and □Θ as the form that it is (spec.md, Table VI)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol.types import CodeActionKind

from vigil_lang.diagnostics import Edit, Span
from vigil_lang.syntax import tree
from vigil_lsp.actions.condition_text import AND, OR, UNARY, held, is_temporal, laid_out, operators
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
    if item.form.name == "always":
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
    form, spell = item.form, operators(place)

    def put(expr: tree.Expr, tight: int) -> str:
        return held(place.slice(expr.span), expr, tight)

    def implies(right: str) -> str:
        left = put(form.args[0], OR)
        if item.after is not None:
            left = f"{put(form.args[0], AND)} {spell['and']} {spell['earlier']} {put(item.after, UNARY)}"
        return f"{spell['always']} {left} {spell['implies']} {right}"

    bound = f"[{form.bound.raw}]" if form.bound else ""
    match form.name, form.args:
        case "abs", (body,):
            gap = "" if spell["not"] == "¬" else " "
            if item.after is None:
                return f"{spell['always']} {spell['not']}{gap}{put(body, UNARY)}"
            scoped = f"{put(body, AND)} {spell['and']} {spell['earlier']} {put(item.after, UNARY)}"
            return f"{spell['always']} {spell['not']}{gap}({scoped})"
        case "prec", (_, guard):
            return implies(f"{spell['earlier']} {put(guard, UNARY)}")
        case "resp" | "bresp", (_, response):
            return implies(f"{spell['later']}{bound} {put(response, UNARY)}")
        case "rslv", (trigger, resolution):
            either = f"({put(resolution, AND)} {spell['or']} {put(trigger, AND)})"
            return implies(f"{put(resolution, AND)} {spell['or']} {spell['later']} {either}")
        case _:
            return None  # `until` and `atmost` say what no other form can


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
