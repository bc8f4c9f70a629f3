"""VGL325: two variables that differ by a typing error and join nothing: most likely one was meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Diagnostic, Edit, Fix, Note
from vigil_lang.semantics.mentions import first_mention

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.lint.subject import Subject


def find(subject: Subject) -> Iterator[Diagnostic]:
    """Pairs of variables that join nothing and whose names look alike."""
    module, conditions = subject.policy.module, subject.conditions
    for found in subject.unjoined:
        for one, other in found.alike:
            conditions.start()
            first = first_mention(found.statement, one, module, conditions)
            second = first_mention(found.statement, other, module, conditions)
            if first is None or second is None:
                continue
            fix = None
            if len(found.mentions[other]) == 1 and second.source.text[slice(*second.span)] == other:
                fix = Fix(f"write `{one}`", (Edit(second.span, one),))
            yield Diagnostic.of(
                "VGL325",
                f"`{other}` and `{one}` are two variables, and neither joins anything",
                second.source,
                second.span,
                help=f"did you mean `{one}` here, too?",
                fix=fix,
                notes=(Note("the other one", first.source, first.span),),
            )
