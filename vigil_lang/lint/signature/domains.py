"""VGL403 to VGL406: a test compared with the types and values its argument has in a signature."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vigil_lang.analysis.reachability import matches_any
from vigil_lang.diagnostics import Diagnostic, Edit, Fix
from vigil_lang.diagnostics import nearest as nearest_of
from vigil_lang.diagnostics.shorten import cut
from vigil_lang.lint.signature.evidence import NOTHING_ELSE, SENTENCE_WINS, Evidence
from vigil_lang.lint.signature.members import Member, member, members
from vigil_lang.semantics.text_patterns import Glob, glob_parts
from vigil_lang.syntax import tree
from vigil_lang.syntax.print import to_text
from vigil_lang.trace.signature import type_of
from vigil_lang.trace.values import canonical, number
from vigil_lang.trace.vocabulary import vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from vigil_lang.diagnostics import Severity
    from vigil_lang.semantics.conditions import Conditions
    from vigil_lang.semantics.meanings import Place, Scope
    from vigil_lang.semantics.text_patterns import Matcher
    from vigil_lang.trace import Argument

_NOUNS = {"text": "text", "number": "a number", "bool": "a truth value"}
_SHOWN_VALUES = 6
_JSON_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_LONGEST_NAME = 200
"""Likeness of texts takes time that grows with their square; nobody misspells a page."""


@dataclass(frozen=True, slots=True)
class Domain:
    """What may stand under a field in the context of a test.

    `closed` says whether a value that is not listed counts as a mistake: on a recorded run it does not where the
    policy hopes for no such event.
    """

    field: str
    argument: Argument
    closed: bool
    known_else: Evidence = NOTHING_ELSE

    @property
    def values(self) -> frozenset[str] | None:
        """The listed values, where they count."""
        return self.argument.values if self.closed else None


def test_findings(
    test: tree.Test, domain: Domain, scope: Scope, conditions: Conditions, *, declared: bool
) -> Iterator[Diagnostic]:
    """What is wrong with a test whose field the signature knows.

    Raises:
        Failed: its operand has no meaning.
    """
    operand = test.operand
    match test.operator:
        case "<" | "<=" | ">" | ">=":
            yield from _order(test, domain, scope)
        case "in" | "not in" if isinstance(operand, tree.SetUnion):
            listed = list(members(operand, scope, conditions.terms))
            idle = test.operator != "in" and not declared
            yield from _members(listed, scope.place(operand.span), domain, idle=idle)
        case "=" | "!=" if isinstance(operand, tree.Name | tree.String | tree.Number | tree.Boolean):
            one = member(operand, scope, conditions.terms)
            if one is not None:
                yield from _members([one], one.place, domain, idle=test.operator == "!=" and not declared)
        case "~" | "!~" if isinstance(operand, tree.Regex | tree.String | tree.Name | tree.SetUnion):
            if test.operator == "~" or declared:
                yield from _pattern(operand, domain, scope, conditions)
        case "contains" if isinstance(operand, tree.String | tree.Name):
            yield from _contained(operand, domain, scope, conditions)


def _order(test: tree.Test, domain: Domain, scope: Scope) -> Iterator[Diagnostic]:
    types = domain.argument.types
    if types and "number" not in types:
        place = scope.place(test.field.span)
        message = f"`{domain.field}` is never a number, and `{test.operator}` compares numbers"
        yield Diagnostic.of("VGL403", message, place.source, place.span, help=f"it is {_types(domain)}")


def _members(listed: list[Member], whole: Place, domain: Domain, *, idle: bool) -> Iterator[Diagnostic]:
    """Values of a type the argument never has; then, in what is left, values it does not have.

    With `idle`, a value that is not there is no mistake: the test excludes it.
    """
    fitting: list[Member] = []
    for one in listed:
        if _fits(one, domain):
            fitting.append(one)
        else:
            yield _mistyped(one, domain)
    values = domain.values
    if values is None or idle:
        return
    missing = [one for one in fitting if one.text not in values]
    if len(missing) == len(fitting) > 3:
        message = f"none of these {len(fitting)} values is one that `{domain.field}` has"
        yield Diagnostic.of("VGL405", message, whole.source, whole.span, help=_known(domain, []))
        return
    for one in missing:
        near = domain.known_else.taught(nearest(one.text, values))
        severity: Severity = "warning" if near or len(missing) == len(fitting) else "info"
        help_text = _known(domain, near)
        if domain.known_else.says(one.text):
            near, severity, help_text = [], "info", SENTENCE_WINS
        yield Diagnostic.of(
            "VGL405",
            f"`{one.text}` is not among the values of `{domain.field}`",
            one.place.source,
            one.place.span,
            severity=severity,
            help=help_text,
            fix=one.replaced(near[0]) if near else None,
        )


def _fits(one: Member, domain: Domain) -> bool:
    """A string may spell a number or a truth value; what is written as a number is meant as one."""
    types = domain.argument.types
    if not types or one.type in types:
        return True
    return one.type == "text" and type_of(one.text) in types and not _is_respelt(one, domain)


def _is_respelt(one: Member, domain: Domain) -> bool:
    """Whether a string spells a number as no value does: `"6.0"` is another text than `6`, which JSON's 6.0 becomes.

    `007` is no number to JSON, and a version such as `3.10` is a text, whatever it looks like.
    """
    found, values, role = number(one.text), domain.argument.values, vocabulary().roles.get(domain.field)
    if found is None or not _JSON_NUMBER.fullmatch(one.text) or (role is not None and role.type == "text"):
        return False
    return canonical(found) != one.text and (values is None or one.text not in values)


def _mistyped(one: Member, domain: Domain) -> Diagnostic:
    place, fix = one.place, None
    if isinstance(one.spelling, tree.Number | tree.Boolean) and domain.argument.types == {"text"}:
        quoted = f'"{place.source.text[place.span.start : place.span.end]}"'
        fix = Fix(f"write `{quoted}`", (Edit(place.span, quoted),))
    message = f"`{domain.field}` is always {_types(domain)}, and `{one.text}` is {_NOUNS[one.type]}"
    if one.type == "text" and domain.argument.types == {"number"} and (found := number(one.text)) is not None:
        written = canonical(found)
        message = f"`{domain.field}` is always a number, and the text `{one.text}` is written `{written}` as one"
        fix = Fix(f"write `{written}`", (Edit(place.span, written),)) if isinstance(one.spelling, tree.String) else None
    return Diagnostic.of("VGL404", message, place.source, place.span, fix=fix)


def _pattern(
    operand: tree.Regex | tree.String | tree.Name | tree.SetUnion, domain: Domain, scope: Scope, conditions: Conditions
) -> Iterator[Diagnostic]:
    matcher = conditions.terms.matcher(operand, scope)
    if found := _whole_text(operand, matcher, domain, scope):
        yield found
        return
    values = domain.values
    if values is not None and not matches_any(matcher, values):
        one = member(operand, scope, conditions.terms) if isinstance(operand, tree.String | tree.Name) else None
        place = one.place if one else scope.place(operand.span)
        shown = one.text if one else to_text(operand)
        yield _unmatched(f"no value of `{domain.field}` matches `{shown}`", shown, place, domain)


def _whole_text(
    operand: tree.Regex | tree.String | tree.Name | tree.SetUnion, matcher: Matcher, domain: Domain, scope: Scope
) -> Diagnostic | None:
    """A glob without a wildcard where values contain it and none is it: a mistake also in what must not happen."""
    values = domain.argument.values
    if not isinstance(matcher, Glob) or values is None or matches_any(matcher, values):
        return None
    parts = glob_parts(matcher.pattern)
    if len(parts) != 1 or parts[0][0] != "text" or not any(parts[0][1] in value for value in values):
        return None
    message = f"`{_short(parts[0][1])}` has no `*`, and no value of `{domain.field}` is just that"
    starred = f'"*{operand.raw}*"' if isinstance(operand, tree.String) else None
    fix = Fix(f"write `{_short(starred)}`", (Edit(operand.span, starred),)) if starred else None
    hint = "a glob matches the whole text; `*` stands for any run of characters"
    return Diagnostic.of("VGL406", message, scope.module.source, operand.span, help=hint, fix=fix)


def _contained(
    operand: tree.String | tree.Name, domain: Domain, scope: Scope, conditions: Conditions
) -> Iterator[Diagnostic]:
    one, values = member(operand, scope, conditions.terms), domain.values
    if one is not None and values is not None and not any(one.text in value for value in values):
        yield _unmatched(f"no value of `{domain.field}` contains `{one.text}`", one.text, one.place, domain)


def _unmatched(message: str, text: str, place: Place, domain: Domain) -> Diagnostic:
    said = domain.known_else.says(text.strip("*"))
    near = domain.known_else.taught(nearest(text, domain.values or ()))
    return Diagnostic.of(
        "VGL406",
        message,
        place.source,
        place.span,
        severity="info" if said else "warning",
        help=SENTENCE_WINS if said else _known(domain, near),
    )


def nearest(text: str, values: Iterable[str]) -> list[str]:
    """The values that look like a text."""
    if len(text) > _LONGEST_NAME:
        return []
    return nearest_of(text, (v for v in values if len(v) <= _LONGEST_NAME))


def _types(domain: Domain) -> str:
    return " or ".join(_NOUNS[t] for t in ("text", "number", "bool") if t in domain.argument.types)


def _known(domain: Domain, near: list[str]) -> str | None:
    """The values a person may have meant, or a few of those there are."""
    values = domain.argument.values or frozenset()
    shown = [f"`{_short(v)}`" for v in near or sorted(values)[:_SHOWN_VALUES]]
    if near:
        return f"did you mean {' or '.join(shown)}?"
    return f"it has {', '.join(shown)}{', …' if len(values) > _SHOWN_VALUES else ''}" if shown else None


def _short(text: str) -> str:
    return cut(text, 40)
