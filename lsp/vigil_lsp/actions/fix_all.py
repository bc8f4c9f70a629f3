"""Every safe fix of a policy at once, applied until there is none left, as `vigil lint --fix` does."""

from __future__ import annotations

from dataclasses import replace
from os.path import realpath
from typing import TYPE_CHECKING

from vigil_lang.files import read_source
from vigil_lang.lint.fixing import mend
from vigil_lang.semantics.modules import Access
from vigil_lsp.edits import line_edits, with_line_ends

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from vigil_lang.diagnostics import Edit, Source
    from vigil_lang.lint.run import Plan
    from vigil_lsp.files import Document


def overlay(documents: Iterable[Document]) -> Access:
    """The disk with open documents over it, as they are at this moment: for work beside the event loop."""
    known: Mapping[str, Source] = {
        path: document.source for document in documents for path in (document.path, realpath(document.path))
    }

    def read(path: str, limit: int | None = None) -> Source:
        return known[path] if path in known else read_source(path, limit)

    def is_file(path: Path) -> bool:
        return str(path) in known or path.is_file()

    return replace(Access(), read=read, is_file=is_file)


def mended(source: Source, plan: Plan, access: Access) -> list[Edit]:
    """The edits that all safe fixes come to. Lints a few times over: not on the event loop."""
    after = mend(source, plan, access=access)
    return line_edits(source.text, with_line_ends(after.source.text, source.text))
