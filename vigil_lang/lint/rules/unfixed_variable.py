"""VGL320: variables that stand only where events are asked for: those are asked for with every value at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Diagnostic, Edit, Fix, nearest
from vigil_lang.lint.rule import Rule
from vigil_lang.lint.variables import test_at
from vigil_lang.semantics.mentions import first_mention
from vigil_lang.semantics.text import quote
from vigil_lang.syntax import tree
from vigil_lang.syntax.print import to_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.lint.subject import Subject
    from vigil_lang.lint.variables import Mention
    from vigil_lang.semantics.meanings import Place
    from vigil_lang.semantics.policy import Policy


def find(subject: Subject) -> Iterator[Diagnostic]:
    """Variables that no trigger fixes."""
    policy, conditions = subject.policy, subject.conditions
    for found in subject.unjoined:
        variables = found.statement.requirement.variables
        for variable in found.unfixed:
            conditions.start()
            place = first_mention(found.statement, variable, policy.module, conditions)
            if place is not None:
                near = nearest(variable, [x for x in variables if x not in found.unfixed], 1)
                yield _unfixed(variable, place, found.mentions[variable], near, policy)


def _unfixed(variable: str, place: Place, mentions: list[Mention], near: list[str], policy: Policy) -> Diagnostic:
    test = test_at(policy.module.file.items, place.span) if place.source is policy.module.source else None
    fix, once = None, len({id(m.test) for m in mentions}) == 1  # the core has a resolution twice
    if near:
        help_text = f"did you mean `{near[0]}`, which the trigger fixes?"
        if place.source.text[place.span.start : place.span.end] == variable and once:
            fix = Fix(f"write `{near[0]}`", (Edit(place.span, near[0]),))
    else:
        anything = to_text(tree.Has(test.field)) if test else "has …"
        help_text = f"if any value will do, write `{anything}`; a text is written `{quote(variable)}`"
        if test is not None and once:
            fix = Fix(f"write `{anything}`", (Edit(test.span, anything),))
    return Diagnostic.of("VGL320", _message(variable, mentions), place.source, place.span, help=help_text, fix=fix)


def _message(variable: str, mentions: list[Mention]) -> str:
    role = mentions[0].holds.role
    match role:
        case "guard" | "response" | "resolution" | "resolver":
            return f"the trigger does not fix `{variable}`, so the {role} has to hold for every value of it"
        case "condition":
            return f"nothing fixes `{variable}`, so this has to hold for every value of it"
        case _:
            return f"nothing fixes `{variable}`, and some value of it always makes this hold"


RULE = Rule(("VGL320",), find, basic=True)
