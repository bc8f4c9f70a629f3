"""What the reports say of a diagnostic code: its row in the registry and its page."""

from __future__ import annotations

import re
from functools import cache

from vigil_lang.base.resources import resource
from vigil_lang.diagnostics import CODES
from vigil_lang.report.content import Rule

# By the hundreds of the codes, as the registry has them.
_SUBJECTS = {
    "0": "files",
    "1": "syntax",
    "2": "names",
    "3": "conditions",
    "4": "signature",
    "5": "extensions",
    "6": "runs",
    "7": "sources",
    "8": "style",
    "9": "tool",
}
_LINE_BREAKS = re.compile(r"\s*\n\s*")


@cache
def rule_of(code: str) -> Rule:
    """The rule behind a code. Its page is the text of `docs/codes` below the title; a page may be missing."""
    row = CODES[code]
    try:
        text = resource("codes", f"{code}.md").read_text(encoding="utf-8")
    except OSError:
        text = ""
    page = text.partition("\n")[2].strip() or row.summary
    first = _LINE_BREAKS.sub(" ", page.partition("\n\n")[0])
    name = "".join(word[:1].upper() + word[1:] for word in re.findall(r"[A-Za-z0-9]+", row.summary))
    return Rule(code, name, row.summary, row.severity, first, page, ("policy", _SUBJECTS[code[3]]))
