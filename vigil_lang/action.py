"""What action.yml asks for besides verbs: `python -I -m vigil_lang.action QUESTION …`, answered in lines `name=value`.

It is here, and not a script in action.yml, so that it runs isolated from the checkout that it looks at.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from vigil_lang.cli.exit_codes import BAD_INPUT, CLEAN
from vigil_lang.diagnostics import InputError

if TYPE_CHECKING:
    from collections.abc import Callable


def report(made: str, wanted: str = "") -> list[str]:
    """How many findings a SARIF file has, and where it is: at the place that is wanted, if there is one.

    Raises:
        InputError: VGL004, it cannot be written there.
    """
    import json

    from vigil_lang.base.outputs import write_text

    text = Path(made).read_text(encoding="utf-8")
    if wanted:
        write_text(wanted, text)
    findings = sum(len(run["results"]) for run in json.loads(text)["runs"])
    return [f"findings={findings}", f"sarif-file={wanted or made}"]


def files(folder: str, configuration: str, *named: str) -> list[str]:
    """How many files of tests there are; these and the policies are listed in two files of a folder.

    A list has a NUL behind each path, for a path may hold anything else. Arguments that stand for nothing make it
    empty: `vigil lint` says what is wrong with them.

    Raises:
        InputError: the configuration cannot be used.
    """
    from vigil_lang.project.configuration import load
    from vigil_lang.project.paths import TESTS, policy_paths

    settings = load(Path(), Path(configuration) if configuration else None).settings
    try:
        found = [path for path in policy_paths(named or ["."]) if path in named or not settings.excludes(path)]
    except InputError:
        found = []
    tests = [path for path in found if path.endswith(TESTS)]
    for name, paths in (("tests", tests), ("policies", [path for path in found if path not in set(tests)])):
        Path(folder, f"vigil-{name}.txt").write_bytes(b"".join(os.fsencode(path) + b"\0" for path in paths))
    return [f"tests={len(tests)}"]


def main() -> int:
    """Answer a question; the status is 2 where that cannot be done."""
    question, *arguments = sys.argv[1:]
    answers: dict[str, Callable[..., list[str]]] = {"report": report, "files": files}
    try:
        lines = answers[question](*arguments)
    except InputError as error:
        from vigil_lang.cli.output import show_errors

        show_errors(error.diagnostics)
        return BAD_INPUT
    print("\n".join(lines))
    return CLEAN


if __name__ == "__main__":
    sys.exit(main())
