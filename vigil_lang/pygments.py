"""Colours for policies wherever Pygments makes them: Sphinx, MkDocs, rich, `pygmentize`.

Pygments finds the lexer by its entry point, as `vigil`: `vgl` is another language to it. What a token is, the parser
says, so a word that is a keyword in one place and a name in another is coloured as what it is there; in what does not
parse, the scanner.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar

from pygments.lexer import Lexer
from pygments.token import Comment, Error, Keyword, Name, Number, Operator, Punctuation, String, Whitespace

from vigil_lang.diagnostics.diagnostic import Source
from vigil_lang.syntax.parse import parse_with_tokens
from vigil_lang.syntax.print import UNICODE
from vigil_lang.syntax.scan import ITEM_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TypeAlias

    from pygments.token import _TokenType

    from vigil_lang.syntax.scan import Token

    Coloured: TypeAlias = tuple[int, _TokenType, str]

# Every terminal of the grammar but NAME.
TERMINALS: dict[str, _TokenType] = {
    **dict.fromkeys(("POLICY", "LET", "PARAM", "PATTERN", "STATEMENT", "RULE", "TEST"), Keyword.Declaration),
    **dict.fromkeys(("AFTER", "WHERE", "SET", "RUN", "CALLS", "INSIDE", "EXPECT", "MOMENT", "WITH"), Keyword),
    **dict.fromkeys(("WHEN", "THEN", "RECORD", "RELAXES"), Keyword),
    **dict.fromkeys(("OK", "ERROR", "MODE", "TRUE", "FALSE"), Keyword.Constant),
    **dict.fromkeys(("SATISFIED", "VIOLATED", "VACUOUS", "ASKS"), Keyword.Constant),
    **dict.fromkeys(("FORM1", "FORM2", "UNTIL", "BRESP", "ATMOST", "ATLEAST", "BUDGET", "ALWAYS", "DISTINCT"), Keyword),
    **dict.fromkeys(("ACTION", "STATUS", "OUTPUT"), Name.Builtin.Pseudo),
    **dict.fromkeys(("AND", "OR", "NOT", "IMPLIES", "IN", "HAS", "CONTAINS"), Operator.Word),
    **dict.fromkeys(("EARLIER", "LATER", "SINCE", "WEAK", "REPEATED", "VIOLATES"), Operator.Word),
    **dict.fromkeys(("NOT_IN", "EQ", "NE", "MATCH", "NOT_MATCH", "LT", "LE", "GT", "GE", "VBAR", "ARROW"), Operator),
    **dict.fromkeys(("LPAR", "RPAR", "LBRACE", "RBRACE", "LSQB", "RSQB", "COMMA", "COLON"), Punctuation),
    "USE": Keyword.Namespace,
    "RELATIVE": Name.Namespace,
    "TYPE": Keyword.Type,
    "AT": Name.Decorator,
    "DURATION": Number,
    "RANGE": Number,
    "UNIT": Keyword,
    "NUMBER": Number,
    "STRING": String,
    "REGEX": String.Regex,
}
# A name is what the word before it makes of it …
_AFTER = {
    "POLICY": Name.Namespace,
    "USE": Name.Namespace,
    "LET": Name.Constant,
    "PARAM": Name.Constant,
    "SET": Name.Constant,
    "PATTERN": Name.Function,
    "STATEMENT": Name.Class,
    "RULE": Name.Class,
    "VIOLATES": Name.Class,
    "RELAXES": Name.Class,
    "RECORD": Name.Property,
    "AT": Name.Decorator,
    "HAS": Name.Property,
}
# … or else what follows: a call, or a test of an argument.
_BEFORE = {
    "LPAR": Name.Function,
    **dict.fromkeys(("EQ", "NE", "MATCH", "NOT_MATCH", "LT", "LE", "GT", "GE"), Name.Property),
    **dict.fromkeys(("IN", "NOT_IN", "CONTAINS"), Name.Property),
}
# What they begin is a list, and ends the item.
_LISTING = ("RECORD", "RELAXES")
_KINDS = {
    "doc": Comment.Special,
    "comment": Comment.Single,
    "string": String,
    "regex": String.Regex,
    "number": Number,
    "unclosed": Error,
}
_ESCAPE = re.compile(r'(\\(?:u\{[^}"]*\}|.))')


class VigilLexer(Lexer):
    """Vigil policies (.vgl)."""

    name: ClassVar[str] = "Vigil"
    aliases: ClassVar[list[str]] = ["vigil"]
    filenames: ClassVar[list[str]] = ["*.vgl"]
    mimetypes: ClassVar[list[str]] = ["text/x-vigil"]

    def get_tokens_unprocessed(self, text: str) -> Iterator[Coloured]:
        """Where each token starts, what it is, and its text; joined they are the text."""
        lexed = parse_with_tokens(Source("", text))
        terminals: dict[int, tuple[str, str, str]] = {}
        for body in lexed.bodies:
            names = ["", *body.terminals, "", ""]
            listing = "COMMA"
            for at, token in enumerate(body.tokens[: len(body.terminals)]):
                if names[at + 1] in _LISTING:
                    listing = names[at + 1]
                terminals[token.start] = listing if names[at] == "COMMA" else names[at], names[at + 1], names[at + 2]
        end = 0
        for token in lexed.tokens:
            if token.start > end:
                yield end, Whitespace, text[end : token.start]
            found = terminals.get(token.start)
            kind = _by_scanner(token) if found is None else _by_parser(*found, token.text)
            yield from _escapes(token) if kind is String else ((token.start, kind, token.text),)
            end = token.end
        if end < len(text):
            yield end, Whitespace, text[end:]


def _by_parser(before: str, terminal: str, after: str, text: str) -> _TokenType:
    if terminal != "NAME" and (terminal != "VIOLATES" or after == "NAME"):
        return TERMINALS.get(terminal, Error)
    if text.startswith("context."):
        return Name.Builtin.Pseudo
    return _AFTER.get(before) or _BEFORE.get(after) or Name


def _by_scanner(token: Token) -> _TokenType:
    """What a comment is, and a token of an item that did not parse so far."""
    if token.kind == "word":
        if token.text in ITEM_WORDS:
            return Keyword.Declaration
        return Operator.Word if token.text in UNICODE else Name
    if token.kind == "symbol":
        return Punctuation if token.text in "()[]{},:" else Operator
    return _KINDS[token.kind]


def _escapes(token: Token) -> Iterator[Coloured]:
    at = token.start
    for number, part in enumerate(_ESCAPE.split(token.text)):
        if part:
            yield at, String.Escape if number % 2 else String, part
        at += len(part)
