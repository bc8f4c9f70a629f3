"""Pages of the documentation on a terminal; importing this imports rich and Pygments."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.markdown import CodeBlock, Markdown
from rich.syntax import Syntax

from vigil_lang.pygments import VigilLexer

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.markdown import MarkdownElement


class _Code(CodeBlock):
    """A block of code; policies have colours of their own, where Pygments takes `vgl` for another language."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self.lexer_name != "vgl":
            yield from super().__rich_console__(console, options)
            return
        text = str(self.text).rstrip()
        yield Syntax(text, VigilLexer(), theme=self.theme, word_wrap=True, padding=1)


class Page(Markdown):
    """Markdown whose ```vgl blocks are policies."""

    elements: ClassVar[dict[str, type[MarkdownElement]]] = {**Markdown.elements, "fence": _Code, "code_block": _Code}
