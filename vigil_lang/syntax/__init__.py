"""Text to tree and back: scanner, parser, printer, formatter."""

from vigil_lang.syntax.parse import Parsed, parse

__all__ = ["Parsed", "parse"]
