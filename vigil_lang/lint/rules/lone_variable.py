"""VGL301: variables that only one test mentions: they join nothing, so most likely a text was meant."""

from __future__ import annotations

import re
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Diagnostic, Edit, Fix, Span, nearest
from vigil_lang.lint.other_arguments import names_a_call
from vigil_lang.lint.rules.role_values import NO, SWITCHES, YES
from vigil_lang.lint.rules.variable_as_argument import tested_as_arguments
from vigil_lang.semantics.meanings import Text
from vigil_lang.semantics.mentions import first_mention
from vigil_lang.semantics.terms import Failed
from vigil_lang.semantics.text_patterns import quote
from vigil_lang.syntax import tree
from vigil_lang.syntax.other_shapes import NULLS
from vigil_lang.syntax.print import to_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.lint.policy_parts import Operand
    from vigil_lang.lint.subject import Subject
    from vigil_lang.lint.variables import UnjoinedVariables
    from vigil_lang.semantics import core
    from vigil_lang.semantics.conditions import Conditions
    from vigil_lang.semantics.meanings import Place
    from vigil_lang.semantics.policy import Policy


_BOOLEANS = {"True": "true", "TRUE": "true", "False": "false", "FALSE": "false"}
_NOT_NULL = "a bare name is a variable; a value that is null is absent, so `not has …` says that there is none"


def find(subject: Subject) -> Iterator[Diagnostic]:
    """Variables that occur once and may be any value there."""
    policy, conditions = subject.policy, subject.conditions
    is_text = lru_cache(maxsize=256)(partial(_is_text, subject))  # most variables of a policy have one of a few names
    for found in subject.unjoined:
        variables = found.statement.requirement.variables
        mistaken = {tested.test.field.name for tested in tested_as_arguments(found.statement, subject)}
        for variable in found.lone:
            if variable in mistaken or policy.module.may_declare(variable):
                continue  # VGL326, or what is wrong with its declaration, says what was meant
            if f"{{{variable}}}" in (found.statement.metadata.message or ""):
                continue  # what a violation says has its value
            if (in_braces := _in_braces(variable, found, subject)) is not None:
                yield in_braces
                continue
            if any(names_a_call(one.test.field.name, tree.Name(variable)) for one in found.mentions[variable]):
                continue  # VGL334
            conditions.start()
            place = first_mention(found.statement, variable, policy.module, conditions)
            if place is not None and (switched := _switched(variable, found, place)) is not None:
                yield switched
            elif place is not None:
                yield _lone(variable, place, [x for x in variables if x != variable], conditions, policy)
        for variable in found.counted:
            if is_text(variable, found.mentions[variable][0].test.field):
                conditions.start()
                place = first_mention(found.statement, variable, policy.module, conditions)
                if place is not None:
                    yield _counted(variable, place)


def _in_braces(variable: str, found: UnjoinedVariables, subject: Subject) -> Diagnostic | None:
    """`resp(open(file = x), close(file in {x}))`: in braces a bare name is a text."""
    for use in subject.parts.uses:
        if use.item is not found.statement.syntax or use.through is not None or use.field is None:
            continue
        sets = use.operand.parts if isinstance(use.operand, tree.SetUnion) and use.operator == "in" else ()
        for literal in sets:
            names = literal.elements if isinstance(literal, tree.SetLiteral) else ()
            element = next((e for e in names if isinstance(e, tree.Name) and e.text == variable), None)
            if element is not None:
                alone = len(sets) == len(names) == 1
                between = Span(use.field.span.end, use.operand.span.end)
                return Diagnostic.of(
                    "VGL301",
                    f"`{{{variable}}}` is a set with the text `{variable}`; elsewhere it is a variable",
                    found.statement.source,
                    element.span,
                    help=f"to test for the variable's value, write `{to_text(use.field)} = {variable}`",
                    fix=Fix(f"write `= {variable}`", (Edit(between, f" = {variable}"),)) if alone else None,
                )
    return None


def _switched(variable: str, found: UnjoinedVariables, place: Place) -> Diagnostic | None:
    """`force = yes`: an option without a value is `true` where it is given, and absent where it is not."""
    mentions = found.mentions[variable]
    name = mentions[0].test.field.name if mentions else ""
    given, absent = variable.lower() in YES | {"true"}, variable.lower() in NO
    if name not in SWITCHES or not (given or absent):
        return None
    written = f"{name} = true" if given else f"not has {name}"
    plain = given and place.source.text[place.span.start : place.span.end] == variable
    return Diagnostic.of(
        "VGL301",
        f"`{variable}` occurs only once, so it stands for any value",
        place.source,
        place.span,
        help=f"a bare name is a variable; {'with the option' if given else 'without it'} is `{written}`",
        fix=Fix("write `true`", (Edit(place.span, "true"),)) if plain else None,
    )


def _is_text(subject: Subject, variable: str, reads: core.Reads) -> bool:
    """Whether a name is among the values of its field: in the signature, or elsewhere in the policy."""
    if reads.output:
        return False
    if subject.signature is not None:
        known = (action.args.get(reads.name) for action in subject.signature.actions.values())
        if any(argument is not None and variable in (argument.values or ()) for argument in known):
            return True
    if not _may_be_written(variable, subject.policy.module.source.text):
        return False
    uses = (u.operand for u in subject.parts.uses if u.field is not None and u.field.name == reads.name)
    return any(variable in _texts(operand) for operand in uses)


def _may_be_written(variable: str, text: str) -> bool:
    """Whether a name may stand as a text: in quotation marks, or as an element of a set. Cheaper than the trees."""
    for found in re.finditer(rf'{re.escape(variable)}\s*(?:["}},]|//)', text):
        at = found.start()
        while at and text[at - 1].isspace() and text[at - 1] != "\n":
            at -= 1
        if not at or text[at - 1] in '\n",' or (text[at - 1] == "{" and text[at - 2 : at - 1] != "`"):
            return True
    return False


def _texts(operand: Operand) -> Iterator[str]:
    """The texts that an operand is written with; a bare name in a set is one."""
    match operand:
        case tree.String(raw):
            yield raw
        case tree.SetUnion(parts):
            for part in parts:
                if isinstance(part, tree.SetLiteral):
                    yield from (e.raw for e in part.elements if isinstance(e, tree.String))
                    yield from (e.text for e in part.elements if isinstance(e, tree.Name))


def _counted(variable: str, place: Place) -> Diagnostic:
    written = place.source.text[place.span.start : place.span.end] == variable
    wanted = quote(variable)
    if variable.lower() in NULLS:
        written = False
    return Diagnostic.of(
        "VGL301",
        f"`{variable}` is a variable here, which stands for any value, and a text elsewhere",
        place.source,
        place.span,
        help=_NOT_NULL if variable.lower() in NULLS else f"a bare name is a variable; the text is written `{wanted}`",
        fix=Fix(f"write `{wanted}`", (Edit(place.span, wanted),)) if written else None,
    )


def _lone(variable: str, place: Place, others: list[str], conditions: Conditions, policy: Policy) -> Diagnostic:
    near = nearest(variable, [*others, *_values(conditions, policy)], 1)
    wanted = near[0] if near else quote(variable)
    help_text = f"a bare name is a variable; the text is written `{quote(variable)}`"
    written = place.source.text[place.span.start : place.span.end] == variable
    if variable.lower() in NULLS:
        near, help_text, written = [], _NOT_NULL, False
    if variable in _BOOLEANS:
        near, wanted = [], _BOOLEANS[variable]
        help_text = f"a bare name is a variable; the boolean is written `{wanted}`"
    return Diagnostic.of(
        "VGL301",
        f"`{variable}` occurs only once, so it stands for any value",
        place.source,
        place.span,
        help=f"did you mean `{wanted}`? {help_text}" if near else help_text,
        fix=Fix(f"write `{wanted}`", (Edit(place.span, wanted),)) if written and not _is_letter(wanted) else None,
    )


def _is_letter(wanted: str) -> bool:
    """Whether a text would be a single letter: such a name was hardly meant as one, and the other test is missing."""
    return len(wanted) == 3 and wanted.startswith('"')


def _values(conditions: Conditions, policy: Policy) -> Iterator[str]:
    """The declared names that stand for one value."""
    for name in policy.module.names():
        found = policy.module.find(name)
        if found is None or isinstance(found[1], tree.Pattern):
            continue
        try:
            if isinstance(conditions.terms.value_of(found[1], found[0]), Text):
                yield name
        except Failed:
            continue
