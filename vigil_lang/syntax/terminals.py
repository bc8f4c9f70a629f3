"""The lexer Lark is given: the scanner's tokens, each named by a terminal of the grammar.

A word is a keyword only where the grammar has a place for it: of the terminals that match a token whole, the
first that the parser can take now names it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from lark.lexer import Lexer, Token

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lark.common import LexerConf
    from lark.lexer import LexerState

    from vigil_lang.syntax import scan

# A token that no terminal matches; no state of the parser accepts it.
UNKNOWN = "UNKNOWN"
_LONGEST_REMEMBERED = 40


class Body:
    """The input of one parse: an item's tokens, and the terminals they turned out to be."""

    __slots__ = ("terminals", "tokens")

    def __init__(self, tokens: list[scan.Token]) -> None:
        self.tokens = tokens
        self.terminals: list[str] = []


class Terminals(Lexer):
    """Lark's interface for a lexer that knows the parser's state."""

    __future_interface__ = 2

    def __init__(self, conf: LexerConf) -> None:
        # A higher priority wins, and any keyword wins over a name.
        order = sorted(conf.terminals, key=lambda t: (-t.priority, t.name == "NAME"))
        self._patterns = [
            (t.name, re.compile(t.pattern.to_regexp()).fullmatch) for t in order if t.name not in conf.ignore
        ]
        self._named = lru_cache(maxsize=4096)(self._match)

    def _match(self, text: str) -> tuple[str, ...]:
        return tuple(name for name, match in self._patterns if match(text)) or (UNKNOWN,)

    def lex(self, lexer_state: LexerState, parser_state: Any) -> Iterator[Token]:
        body: Any = lexer_state.text
        states, stack = parser_state.parse_conf.states, parser_state.state_stack
        for kind, text, start, end in body.tokens:
            if kind == "string":
                name = "STRING"
            else:
                names = self._named(text) if len(text) < _LONGEST_REMEMBERED else self._match(text)
                name = names[0]
                if len(names) > 1:
                    accepted = states[stack[-1]]
                    name = next((n for n in names if n in accepted), name)
            body.terminals.append(name)
            yield Token(name, text, start, end_pos=end)
