"""What a grant says: a condition of the policy language, of calls alone."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec.structs import replace

from vigil_lang.diagnostics import Diagnostic, InputError, Source, Span
from vigil_lang.semantics import core
from vigil_lang.semantics.conditions import Conditions, Failed
from vigil_lang.semantics.context_fields import VIOLATES
from vigil_lang.semantics.meanings import Scope, Values
from vigil_lang.semantics.mentions import mention
from vigil_lang.semantics.modules import Module
from vigil_lang.semantics.text_patterns import quote
from vigil_lang.syntax import parse, tree
from vigil_lang.syntax.scan import CLOSING, OPENING, tokens

if TYPE_CHECKING:
    from collections.abc import Iterable

NAME = "<grant>"
"""What messages call the text of a grant."""

_BEFORE, _AFTER = "rule grant: when (\n", "\n) then hold"


@lru_cache(maxsize=256)
def grant_condition(text: str) -> core.Condition:
    """The condition that a grant's text is: what a rule of the gate may stand on, but for what is declared elsewhere.

    Raises:
        InputError: it is empty or no condition; it names something declared elsewhere or a statement, or tests a
            variable, a status or an output, none of which a pending call has.
    """
    if not text.strip():
        raise _refused(text, "the grant is empty", help_text="what may be done, as `net.request() or file.read()`")
    depth = 0
    for token in tokens(text):
        depth += (token.text in OPENING) - (token.text in CLOSING)
        if depth < 0:
            raise _refused(text, "this bracket closes nothing", token.span)
    source = Source(NAME, f"{_BEFORE}{text}{_AFTER}")
    parsed = parse(source)
    _raise_errors(text, parsed.diagnostics)
    match parsed.file:
        case tree.File(name=None, items=(tree.Rule(when=expr, record=(), relaxes=()),), broken=()):
            pass
        case _:
            raise _refused(text, "a grant is one condition, and nothing else")
    found: list[Diagnostic] = []
    conditions, scope = Conditions(Values({}), found.append), Scope(Module(source, parsed.file))
    conditions.start("rule")
    try:
        condition = conditions.condition(expr, scope)
    except Failed:
        condition = core.OrC(())  # the findings say why
    _raise_errors(text, found)
    for variable in core.variables_of(condition):
        place = mention(expr, variable, scope, conditions)
        help_text = f"a text is written in quotes: `{quote(variable)}`"
        message = f"a grant has no variables, and `{variable}` is one"
        raise _refused(text, message, None if place is None else _shifted(place.span, text), help_text)
    if any(isinstance(test, core.In) and test.field.name == VIOLATES for test in core.tests(condition)):
        named = next((token.span for token in tokens(text) if token.text == "violates"), None)
        raise _refused(text, "a grant names no statement: which there are depends on where it is read", named)
    return condition


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
