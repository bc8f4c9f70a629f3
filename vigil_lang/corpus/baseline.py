"""A baseline of a scan: the runs that are known to violate a statement, so that only new ones count."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from vigil_lang.base.files import read_source
from vigil_lang.base.outputs import rewrite
from vigil_lang.diagnostics import Diagnostic, InputError, Source

if TYPE_CHECKING:
    from vigil_lang.corpus.figures import Figures

SCHEMA = "vigil.scan-baseline/1"


def known_violations(path: str) -> frozenset[tuple[str, str]]:
    """The runs, by path, and statements that a baseline has.

    Raises:
        InputError: it cannot be read, or is none (VGL009).
    """
    source = read_source(path)
    try:
        data = json.loads(source.text)
    except (ValueError, RecursionError):
        raise _not_one(source, "the baseline is no valid JSON") from None
    match data:
        case {"schema": "vigil.scan-baseline/1", "violations": dict(found)} if all(map(_is_list, found.values())):
            return frozenset((run, name) for name, runs in found.items() for run in runs)
    raise _not_one(source, f"this is no baseline of a scan: it lacks `{SCHEMA}` or its violations")


def _is_list(runs: object) -> bool:
    return isinstance(runs, list) and all(isinstance(run, str) for run in runs)


def _not_one(source: Source, message: str) -> InputError:
    help_text = "delete it, and `vigil scan --update-baseline` writes one"
    return InputError([Diagnostic.of("VGL009", message, Source(source.path, ""), help=help_text)])


def write_baseline(path: str, found: Figures) -> None:
    """Write a baseline that knows all violations of a scan.

    Raises:
        InputError: VGL004, it cannot be written.
    """
    runs: dict[str, set[str]] = {}
    for one in found.by_run():
        runs.setdefault(one["name"], set()).add(one["run"])
    ordered = {name: sorted(of) for name, of in sorted(runs.items())}
    rewrite(path, json.dumps({"schema": SCHEMA, "violations": ordered}, indent=2) + "\n")
