"""The findings about the tests of one file."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Diagnostic, Edit, Fix, Span, nearest
from vigil_lang.diagnostics.shorten import cut
from vigil_lang.semantics.text_patterns import ESCAPE_HELP, BadEscape, quote, unescape

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vigil_lang.diagnostics import Note, Source
    from vigil_lang.syntax import tree

_LISTED = 8
_LONGEST = 80
_EXPONENT = 10_000
"""As for numbers in a policy."""


def short(name: str) -> str:
    """A name shortened for a message."""
    return cut(name, _LONGEST)


@dataclass
class Faults:
    """The findings about one file's tests."""

    source: Source
    found: list[Diagnostic] = field(default_factory=list)

    def add(self, message: str, span: Span, help_text: str | None = None, *, notes: tuple[Note, ...] = ()) -> None:
        """A test is not valid (VGL610)."""
        self.found.append(Diagnostic.of("VGL610", message, self.source, span, help=help_text, notes=notes))

    def unknown(self, message: str, name: str, span: Span, known: Iterable[str], *, quoted: bool = False) -> None:
        """An unknown name is reported with the nearest known one, or with the known names."""
        names = list(dict.fromkeys(known))
        near = nearest(name, names, 1)
        if near:
            written = quote(near[0]) if quoted else near[0]
            fix = Fix(f"write `{written}`", (Edit(span, written),))
            help_text = f"did you mean `{near[0]}`?"
            self.found.append(Diagnostic.of("VGL610", message, self.source, span, help=help_text, fix=fix))
            return
        listed = ", ".join(f"`{n}`" for n in names[:_LISTED]) + (", …" if names[_LISTED:] else "")
        self.add(message, span, f"there is {listed}" if names else None)

    def number(self, raw: str, span: Span) -> Decimal | None:
        """A number as written; one that is too large to be written out is reported."""
        try:
            value = Decimal(raw)
        except ArithmeticError:  # an exponent of twenty digits
            value = Decimal("Infinity")
        if value.is_finite() and abs(value.adjusted()) <= _EXPONENT:
            return value
        self.add(f"`{short(raw)}` is out of range", span)
        return None

    def text(self, string: tree.String) -> str | None:
        """The text of a string; an unknown escape (VGL106) is reported."""
        try:
            return unescape(string.raw)
        except BadEscape as error:
            start = string.span.start + 1 + error.offset
            span = Span(start, start + error.length)
            self.found.append(Diagnostic.of("VGL106", str(error), self.source, span, help=ESCAPE_HELP))
            return None
