"""What a grant says: a condition of the policy language, of calls alone."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Diagnostic, InputError, Source, Span
from vigil_lang.semantics import core
from vigil_lang.semantics.conditions import Conditions, Failed
from vigil_lang.semantics.meanings import Scope, Values
from vigil_lang.semantics.modules import Module
from vigil_lang.syntax import parse, tree
from vigil_lang.syntax.scan import CLOSING, OPENING, tokens

if TYPE_CHECKING:
    from collections.abc import Iterable

NAME = "<grant>"
"""What messages call the text of a grant."""

_BEFORE, _AFTER = "statement grant: abs(\n", "\n)"


@lru_cache(maxsize=256)
def grant_condition(text: str) -> core.Condition:
    """The condition that a grant's text is: tests of actions, kinds, arguments and `context.` fields against literals.

    Raises:
        InputError: it is empty or no condition; it names something declared elsewhere, a variable, a status or an
            output, none of which a pending call has.
    """
    if not text.strip():
        raise _refused(text, "the grant is empty", help_text="what may be done, as `net.fetch() or file.read()`")
    depth = 0
    for token in tokens(text):
        depth += (token.text in OPENING) - (token.text in CLOSING)
        if depth < 0:
            raise _refused(text, "this bracket closes nothing", token.span)
    source = Source(NAME, f"{_BEFORE}{text}{_AFTER}")
    parsed = parse(source)
    _raise_errors(text, parsed.diagnostics)
    match parsed.file:
        case tree.File(
            name=None,
            items=(tree.Statement(form=tree.Form(_, (expr,)), after=None, where=None),),
            broken=(),
        ):
            pass
        case _:
            raise _refused(text, "a grant is one condition, and nothing else")
    found: list[Diagnostic] = []
    conditions = Conditions(Values({}), found.append)
    conditions.start()
    try:
        condition = conditions.condition(expr, Scope(Module(source, parsed.file)))
    except Failed:
        condition = None
    _raise_errors(text, found)
    if condition is None:
        raise _refused(text, "it has no meaning")
    _refuse_what_no_call_has(text, expr, condition)
    return condition


def _refuse_what_no_call_has(text: str, expr: tree.Expr, condition: core.Condition) -> None:
    waiting = [expr]
    while waiting:
        match waiting.pop():
            case tree.And(items) | tree.Or(items):
                waiting += items
            case tree.Not(body) | tree.Entry(_, body):
                waiting.append(body)
            case tree.Apply(_, args):
                waiting += [arg for arg in args or () if not isinstance(arg, (tree.String, tree.Number, tree.Boolean))]
            case tree.StatusIs(span=span):
                raise _refused(text, "a grant cannot test a status: a pending call has none", _shifted(span, text))
            case tree.Test(field, _, operand, span=span):
                if field.kind == "output":
                    raise _refused(text, "a grant cannot test an output: a pending call has none", _shifted(span, text))
                if isinstance(operand, tree.Name):
                    help_text = f'a text is written in quotes: `"{operand.text}"`'
                    message = f"a grant has no variables, and `{operand.text}` is one"
                    raise _refused(text, message, _shifted(operand.span, text), help_text)
            case tree.Has(field, span=span) if field.kind == "output":
                raise _refused(text, "a grant cannot test an output: a pending call has none", _shifted(span, text))
            case _:
                pass
    # Nothing is left; but a grant that means something else than it says must not pass.
    if core.variables_of(condition) or any(map(_of_outcome, core.tests(condition))):
        raise _refused(text, "a grant has no variables, and tests neither a status nor an output")


def _of_outcome(test: core.Test) -> bool:
    match test:
        case core.ActionIn() | core.ActionMatches():
            return False
        case core.StatusIs():
            return True
        case _:
            return test.field.output


def _raise_errors(text: str, found: Iterable[Diagnostic]) -> None:
    errors = [each for each in found if each.severity == "error"]
    if errors:
        own = Source(NAME, text)
        raise InputError(
            [replace(each, source=own, span=_shifted(each.span, text), fix=None, notes=()) for each in errors]
        )


def _shifted(span: Span, text: str) -> Span:
    """A span of the text that was parsed, in the grant itself."""
    start, end = (min(max(at - len(_BEFORE), 0), len(text)) for at in span)
    return Span(start, end)


def _refused(text: str, message: str, span: Span | None = None, help_text: str | None = None) -> InputError:
    return InputError([Diagnostic.of("VGL641", message, Source(NAME, text), span or Span(0, 0), help=help_text)])
