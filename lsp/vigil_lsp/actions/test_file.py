"""A file of tests to begin with: for each statement a short run that breaks it, made up and judged."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Source
from vigil_lang.semantics import core
from vigil_lang.semantics.modules import TESTS, is_test_file
from vigil_lang.syntax.format import format_text
from vigil_lang.testing.distinguishing_runs import Telling, tell
from vigil_lang.testing.run_notation import written_test
from vigil_lang.trace import Trace

if TYPE_CHECKING:
    from vigil_lang.semantics.lower import Statement
    from vigil_lsp.reading import Reading

MAX_STATEMENTS = 20
"""Statements for which a run is looked for."""

_EVENTS = 400
_ANY_RUN = core.Requirement(core.And(()), (), None)


def path_for(reading: Reading) -> Path | None:
    """Where the tests of a policy belong; None for tests, and for what declares no statement or is in no file."""
    path = reading.source.path
    if is_test_file(path) or path.startswith("<") or not path.endswith(".vgl") or not reading.policy.statements:
        return None
    return Path(path.removesuffix(".vgl") + TESTS)


def text_for(reading: Reading) -> str:
    """The text of the file of tests. Looking for runs takes its time: not on the event loop."""
    statements = reading.policy.statements
    names = list(dict.fromkeys(statement.name for statement in statements))
    lines = [f"/// Tests of `{Path(reading.source.path).name}`.", ""]
    lines += written_test("a run without events keeps every rule", Trace(()), [f"{', '.join(names)} satisfied"])
    for statement in statements[:MAX_STATEMENTS]:
        if not statement.params and names.count(statement.name) == 1:
            lines += _broken(statement)
    return format_text(Source("<tests>", "\n".join(lines) + "\n"))


def _broken(statement: Statement) -> list[str]:
    """The test of a statement that some run breaks."""
    found = tell(statement.requirement, _ANY_RUN, _EVENTS)
    if not isinstance(found, Telling) or not found.before:
        return []
    places = ", ".join(found.trace.events[at].id for at in found.before)
    expected = f"{statement.name} violated at {places}"
    return ["", *written_test(f"{statement.name} is broken", found.trace, [expected])]
