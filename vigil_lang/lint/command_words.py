"""Words of a command line as roles have them: each option by itself, each word of `argv` alone."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vigil_lang.lint import paths
from vigil_lang.lint.literal_texts import value
from vigil_lang.lint.policy_parts import way_to
from vigil_lang.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.abstraction.catalogue.programs import Program
    from vigil_lang.lint.policy_parts import Use
    from vigil_lang.lint.subject import Subject

_TOGETHER = re.compile(r"-[A-Za-z]{2,5}")
_WORDS = re.compile(r"\**(?P<first>[a-z][\w.-]*) +\S")
_OF_KINDS = {
    "file.delete": "rm",
    "file.copy": "cp",
    "file.move": "mv",
    "file.permit": "chmod",
    "dir.list": "ls",
    "dir.create": "mkdir",
    "git.commit": "git commit",
    "git.push": "git push",
    "git.add": "git add",
    "git.rewrite": "git reset",
}
"""The program that is most often behind an event of a kind."""


def apart(use: Use, text: str, subject: Subject) -> list[str]:
    """The options that `-rf` stands for, each as an event has it; none where it may be one option."""
    if _TOGETHER.fullmatch(text) is None:
        return []
    found = list(_programs(use, subject))
    single = [f"-{letter}" for letter in dict.fromkeys(text[1:])]
    if not found or len(single) < 2:
        return []
    known = all(
        not each.single and text not in each.options and all(one in each.options for one in single) for each in found
    )
    return single if known else []


def _programs(use: Use, subject: Subject) -> Iterator[Program]:
    """The programs that the conjunction around a test is about: by name, or behind the kinds it names."""
    from vigil_lang.abstraction.catalogue.load import program

    named = set(_tested_beside(use))
    for action in paths.actions_of(use, subject) or ():
        if action != "process.run":
            named.add(_OF_KINDS.get(action, action))
    for name in named:
        first, _, command = name.partition(" ")
        found = program(first)
        if found is not None and command:
            found = (found.commands or {}).get(command)
        if found is not None:
            yield found


def _tested_beside(use: Use) -> Iterator[str]:
    """The programs that tests of the same conjunction name."""
    for above in way_to(use.item, use.expr):
        items = (
            above.items if isinstance(above, tree.And) else above.args or () if isinstance(above, tree.Apply) else ()
        )
        for item in items:
            if isinstance(item, tree.Test) and item.field.name == "program" and item.operator == "=":
                name = value(item.operand) if isinstance(item.operand, tree.String) else None
                if name is not None:
                    yield name


def is_a_line(text: str) -> bool:
    """Whether a text begins as a command line of a program that is known, with a word behind its name."""
    from vigil_lang.abstraction.catalogue.load import program

    found = _WORDS.match(text)
    return found is not None and program(found["first"]) is not None
