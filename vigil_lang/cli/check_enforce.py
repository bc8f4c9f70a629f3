"""`vigil check --enforce`: whether refusing calls can prevent that a statement is violated."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from vigil_lang.analysis.enforceability import conditions, enforceability, in_words, kinds
from vigil_lang.cli.output import console, width
from vigil_lang.diagnostics.render import to_json
from vigil_lang.diagnostics.visible import safe_json, shown_path

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import IO

    from vigil_lang.diagnostics import Diagnostic
    from vigil_lang.semantics.lower import Statement
    from vigil_lang.semantics.policy import Policy

SCHEMA = "vigil.enforce/1"
_UNBREAKABLE = "nothing to do: no run can violate it"
_KIND = len("preventable")
_LONGEST_NAME = 24


def enforce_json(policies: Sequence[Policy], findings: Sequence[Diagnostic]) -> str:
    """The `vigil.enforce/1` object, on one line."""
    statements = [
        {"policy": policy.module.source.path, **_statement(statement)}
        for policy in policies
        for statement in policy.statements
    ]
    return safe_json({"schema": SCHEMA, "statements": statements, "findings": [to_json(f) for f in findings]})


def _statement(statement: Statement) -> dict[str, Any]:
    parts = enforceability(statement.requirement)
    return {
        "name": statement.name,
        "form": statement.form,
        "on_violation": statement.metadata.on_violation,
        "kinds": kinds(parts),
        "parts": [
            {"kind": part.kind, "conditions": conditions(statement, part), "message": in_words(statement, part)}
            for part in parts
        ],
    }


def show_enforcement(policies: Sequence[Policy], stream: IO[str]) -> None:
    """A line for each part of each statement, for people: name, kind, sentence, wrapped to the screen's width."""
    screen = console(stream)
    names = [len(s.name) for policy in policies for s in policy.statements]
    column = min(_LONGEST_NAME, max(names, default=0))
    for policy in policies:
        if policies[1:] and policy.statements:
            screen.print(f"{shown_path(policy.module.source.path)}:")
        for statement in policy.statements:
            parts = enforceability(statement.requirement)
            rows = [(str(part.kind), in_words(statement, part)) for part in parts] or [("-", _UNBREAKABLE)]
            name = statement.name
            if len(name) > column:
                screen.print(name)
                name = ""
            for kind, said in rows:
                head = f"{name:{column}}  {kind:{_KIND}}  "
                name = ""
                for line in textwrap.wrap(
                    said, max(40, width() - len(head)), break_long_words=False, break_on_hyphens=False
                ):
                    screen.print(f"{head}{line}")
                    head = " " * len(head)
