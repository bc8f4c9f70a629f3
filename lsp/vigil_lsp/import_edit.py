"""The edit that imports a name: into the `use` line of its module, or as a new line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Edit, Span
from vigil_lang.syntax import tree
from vigil_lang.syntax.scan import COMMENTS
from vigil_lsp.cursor import documented, token_behind

if TYPE_CHECKING:
    from vigil_lsp.reading import Reading


def import_edit(reading: Reading, module: str, name: str) -> Edit:
    """What to write for a policy to use a name of a module."""
    file = reading.file
    uses = [item for item in file.items if isinstance(item, tree.Use)]
    for use in uses:
        if use.module.text == module and use.names:
            return _at(use.names[-1].span.end, f", {name}")
    line = f"use {module}: {name}"
    if uses:
        return _at(_commented(reading, uses[-1].span.end), f"\n{line}")
    if file.name is not None:
        return _at(_commented(reading, file.name.span.end), f"\n\n{line}")
    starts = [documented(item, reading.tokens, reading.source.text).start for item in file.items[:1]]
    return _at(min([*starts, *(span.start for span in file.broken)], default=0), f"{line}\n\n")


def _at(offset: int, text: str) -> Edit:
    return Edit(Span(offset, offset), text)


def _commented(reading: Reading, end: int) -> int:
    """The end of something with the comment that ends its line: that stays beside it."""
    token = token_behind(reading.tokens, end)
    text = reading.source.text
    if token is None or token.kind not in COMMENTS or "\n" in text[end : token.start]:
        return end
    return token.start + len(token.text.rstrip())
