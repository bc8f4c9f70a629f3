"""The edit that imports a name: into the `use` line of its module, or as a new line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Edit, Span
from vigil_lang.syntax import tree
from vigil_lang.syntax.scan import COMMENTS
from vigil_lsp.cursor import documented, token_behind

if TYPE_CHECKING:
    from vigil_lsp.reading import Reading


class ImportEdits:
    """What to write for a policy to use names of modules."""

    def __init__(self, reading: Reading) -> None:
        file = reading.file
        uses = [item for item in file.items if isinstance(item, tree.Use)]
        self._lists = {use.module.text: use.names[-1].span.end for use in reversed(uses) if use.names}
        self._before, self._behind = "\n", ""
        if uses:
            self._at = _commented(reading, uses[-1].span.end)
        elif file.name is not None:
            self._at, self._before = _commented(reading, file.name.span.end), "\n\n"
        else:
            starts = [documented(item, reading.tokens, reading.source.text).start for item in file.items[:1]]
            self._at = min([*starts, *(span.start for span in file.broken)], default=0)
            self._before, self._behind = "", "\n\n"

    def of(self, module: str, name: str) -> Edit:
        """The edit that imports a name of a module."""
        if module in self._lists:
            return _at(self._lists[module], f", {name}")
        return _at(self._at, f"{self._before}use {module}: {name}{self._behind}")


def _at(offset: int, text: str) -> Edit:
    return Edit(Span(offset, offset), text)


def _commented(reading: Reading, end: int) -> int:
    """The end of something with the comment that ends its line: that stays beside it."""
    token = token_behind(reading.tokens, end)
    text = reading.source.text
    if token is None or token.kind not in COMMENTS or "\n" in text[end : token.start]:
        return end
    return token.start + len(token.text.rstrip())
