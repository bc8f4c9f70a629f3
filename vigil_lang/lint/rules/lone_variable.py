"""VGL301: variables that one test alone mentions: they join nothing, so most often a text was meant."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Diagnostic, Edit, Fix, nearest
from vigil_lang.lint.rule import Rule
from vigil_lang.semantics import core
from vigil_lang.semantics.meanings import Text
from vigil_lang.semantics.mentions import first_mention
from vigil_lang.semantics.terms import Failed
from vigil_lang.semantics.text import quote
from vigil_lang.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.lint.subject import Subject
    from vigil_lang.semantics.conditions import Conditions
    from vigil_lang.semantics.meanings import Place
    from vigil_lang.semantics.policy import Policy


def find(subject: Subject) -> Iterator[Diagnostic]:
    """Variables that occur once."""
    policy, conditions = subject.policy, subject.conditions
    for statement in policy.statements:
        requirement = statement.requirement
        if not requirement.variables:
            continue
        # `atmost` and `rslv` join their trigger to itself; the scope stands twice in `atmost` and joins nothing.
        scopes = {id(h): h for h in core.conditions(requirement.theta) if h.role == "scope"}
        others = [h for h in core.conditions(requirement.theta) if h.role != "scope"]
        tests = (t for holds in (*others, *scopes.values()) for t in core.tests(holds.condition))
        counts = Counter(t.variable for t in tests if isinstance(t, core.Equals | core.Contains))
        for variable in (x for x in requirement.variables if counts[x] == 1):
            conditions.start()
            place = first_mention(statement, variable, policy.module, conditions)
            if place is not None:
                yield _lone(variable, place, [x for x in requirement.variables if x != variable], conditions, policy)


def _lone(variable: str, place: Place, others: list[str], conditions: Conditions, policy: Policy) -> Diagnostic:
    near = nearest(variable, [*others, *_values(conditions, policy)], 1)
    wanted = near[0] if near else quote(variable)
    help_text = f"a bare name is a variable; the text is written `{quote(variable)}`"
    written = place.source.text[place.span.start : place.span.end] == variable
    return Diagnostic.of(
        "VGL301",
        f"`{variable}` occurs only once, so it stands for any value",
        place.source,
        place.span,
        help=f"did you mean `{wanted}`? {help_text}" if near else help_text,
        fix=Fix(f"write `{wanted}`", (Edit(place.span, wanted),)) if written else None,
    )


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


RULE = Rule(("VGL301",), find, basic=True)
