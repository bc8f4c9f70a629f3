"""How often each code was found (`vigil lint --statistics`)."""

from __future__ import annotations

from collections import Counter
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vigil_lang.cli.output import Format
    from vigil_lang.diagnostics import Diagnostic

SCHEMA = "vigil.statistics/1"


def show_statistics(findings: Iterable[Diagnostic], format: Format, stream: IO[str]) -> None:  # noqa: A002
    """Codes by how often they were found; as JSON where a program reads it."""
    from vigil_lang.diagnostics import CODES
    from vigil_lang.diagnostics.visible import safe_json

    found = list(findings)
    fixable = Counter(f.code for f in found if f.fix)
    counts = sorted(Counter(f.code for f in found).items(), key=lambda item: (-item[1], item[0]))
    if format != "human":
        codes = [
            {"code": code, "count": count, "fixable": fixable[code], "summary": CODES[code].summary}
            for code, count in counts
        ]
        print(safe_json({"schema": SCHEMA, "codes": codes}), file=stream)
        return
    wide = max((len(str(count)) for _, count in counts), default=1)
    for code, count in counts:
        fixes = f" ({fixable[code]} with a fix)" if fixable[code] else ""
        print(f"{count:>{wide}}  {code}  {CODES[code].summary}{fixes}", file=stream)
