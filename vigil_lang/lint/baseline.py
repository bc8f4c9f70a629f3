"""A baseline: the findings that a project already has are ignored, new ones are reported."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from vigil_lang.base.files import read_source
from vigil_lang.base.outputs import rewrite
from vigil_lang.diagnostics import Diagnostic, InputError, Source
from vigil_lang.report.fingerprint import fingerprints
from vigil_lang.report.paths import Places

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SCHEMA = "vigil.baseline/1"


@dataclass(frozen=True, slots=True)
class Compared:
    """Findings that are new, those the baseline knows, and how many it knows of these files that are gone."""

    new: tuple[Diagnostic, ...]
    known: tuple[Diagnostic, ...]
    gone: int


def compare(
    findings: Sequence[Diagnostic], paths: Sequence[str], baseline: str, counts: Callable[[str], bool] = bool
) -> Compared:
    """Hold the findings of some files against a baseline. `counts` tells the codes that were looked for.

    Raises:
        InputError: the baseline cannot be read or is none (VGL009).
    """
    places = Places.around(baseline)
    files = {places.in_root(path) for path in paths}
    left = {mark for mark, entry in _read(baseline).items() if entry["file"] in files and counts(entry["code"])}
    new: list[Diagnostic] = []
    known: list[Diagnostic] = []
    for finding, mark in zip(findings, fingerprints(findings, places.in_root), strict=True):
        (known if mark in left else new).append(finding)
        left.discard(mark)
    return Compared(tuple(new), tuple(known), len(left))


def update(
    findings: Sequence[Diagnostic], paths: Sequence[str], baseline: str, counts: Callable[[str], bool] = bool
) -> None:
    """Write a baseline that knows all findings; what it knew of other files, and of codes that do not count, stays.

    Raises:
        InputError: the old one is none, or the new one cannot be written.
    """
    places = Places.around(baseline)
    files = {places.in_root(path) for path in paths}
    known = _read(baseline) if os.path.lexists(baseline) else {}
    entries = {mark: e for mark, e in known.items() if e["file"] not in files or not counts(e["code"])}
    for finding, mark in zip(findings, fingerprints(findings, places.in_root), strict=True):
        entries[mark] = {"file": places.in_root(finding.source.path), "code": finding.code, "message": finding.message}
    ordered = dict(sorted(entries.items(), key=lambda item: (item[1]["file"], item[1]["code"], item[0])))
    rewrite(baseline, json.dumps({"schema": SCHEMA, "findings": ordered}, indent=2) + "\n")


def _read(path: str) -> dict[str, dict[str, Any]]:
    try:
        source = read_source(path)
    except InputError as error:
        help_text = "`vigil lint --update-baseline` writes one"
        raise InputError([replace(found, help=help_text) for found in error.diagnostics]) from None
    try:
        data = json.loads(source.text)
    except (ValueError, RecursionError):
        raise _not_one(source, "the baseline is no valid JSON") from None
    match data:
        case {"schema": "vigil.baseline/1", "findings": dict(entries)} if all(map(_is_entry, entries.values())):
            return entries
    raise _not_one(source, f"this is no baseline: it lacks `{SCHEMA}` or its findings")


def _is_entry(entry: object) -> bool:
    return isinstance(entry, dict) and all(isinstance(entry.get(name), str) for name in ("file", "code"))


def _not_one(source: Source, message: str) -> InputError:
    help_text = "delete it, and `vigil lint --update-baseline` writes one"
    return InputError([Diagnostic.of("VGL009", message, Source(source.path, ""), help=help_text)])
