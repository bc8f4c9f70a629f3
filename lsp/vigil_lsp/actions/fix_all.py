"""Every safe fix of a policy at once, applied until there is none left, as `vigil lint --fix` does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.lint.fixing import mend
from vigil_lsp.edits import line_edits, with_line_ends

if TYPE_CHECKING:
    from vigil_lang.diagnostics import Edit, Source
    from vigil_lang.lint.run import Plan


def mended(source: Source, plan: Plan) -> list[Edit]:
    """The edits that all safe fixes come to. Lints a few times over: not on the event loop."""
    after = mend(source, plan)
    return line_edits(source.text, with_line_ends(after.source.text, source.text))
