"""How far the beginning of an item parses, and what can come next: what an editor asks where somebody is typing.

The tables of the parser answer, so that nothing is ever said of the grammar that is not so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from vigil_lang.syntax.grammar import grammar
from vigil_lang.syntax.lalr import Token, accepted, shifted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vigil_lang.syntax import scan
    from vigil_lang.syntax.lalr import Parser, Row

MOST_MENDED = 20
"""Places that are passed over as if they were right; behind more of them nothing is expected any longer."""

# What may be missing where something else stands, the likeliest first.
_MISSING = (
    *("NAME", "STRING", "COMMA", "RPAR", "RBRACE", "NUMBER", "EQ", "COLON", "OK", "TYPE", "LPAR", "DURATION", "AND"),
)


@dataclass(frozen=True, slots=True)
class Part:
    """Something that was read: a token, or what became of several by a rule.

    `symbol` is the terminal or the rule; `value` the token, or what the tree has for it (lists for repetitions).
    """

    symbol: str
    value: Any
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Beginning:
    """What some tokens come to. `accepted` are the terminals that can follow; `$END` says that they are whole.

    The parts are those that no rule has made one yet. `mended` says that some token could not stand where it does:
    something was taken to stand before it, or it was passed over.
    """

    parts: tuple[Part, ...]
    accepted: frozenset[str]
    mended: bool = False


def following(tokens: Sequence[scan.Token], start: Literal["item", "header"] = "item") -> Beginning:
    """Read tokens, comments left out, that begin an item (or the `policy` line) as far as they go."""
    reader = _Reader(grammar(), start)
    wrong = 0
    for token in tokens:
        if not reader.read(token):
            wrong += 1
            if wrong > MOST_MENDED:
                return Beginning(tuple(reader.parts), frozenset(), True)
            reader.mend(token)
    return Beginning(tuple(reader.parts), frozenset(accepted(reader.rows)), wrong > 0)


class _Reader:
    """The parser's loop, one token at a time, that keeps where everything stands."""

    def __init__(self, parser: Parser, start: str) -> None:
        self._parser = parser
        self.rows: list[Row] = [parser.start(start)]
        self.parts: list[Part] = []

    def read(self, token: scan.Token) -> bool:
        """Take a token if it can stand here."""
        names = ("STRING",) if token.kind == "string" else self._parser.terminals(token.text)
        name = next((name for name in names if name in self.rows[-1]), names[0])
        if not shifted(name, self.rows):
            return False
        self._shift(Token(name, token.text, token.start, token.end))
        return True

    def mend(self, token: scan.Token) -> None:
        """Take a token that cannot stand here behind what could be missing before it; else leave it out."""
        names = ("STRING",) if token.kind == "string" else self._parser.terminals(token.text)
        for missing in _MISSING:
            if shifted(missing, self.rows):
                trial = _Reader(self._parser, "item")
                trial.rows, trial.parts = list(self.rows), list(self.parts)
                trial._shift(Token(missing, _EMPTY.get(missing, ""), token.start, token.start))
                if any(shifted(name, trial.rows) for name in names[:1]) and trial.read(token):
                    self.rows, self.parts = trial.rows, trial.parts
                    return

    def _shift(self, token: Token) -> None:
        rows, parts = self.rows, self.parts
        action: Any = rows[-1].get(token.type)
        while action.__class__ is tuple:
            size, build, one_by_one, origin = action
            taken = parts[len(parts) - size :]
            del parts[len(parts) - size :], rows[len(rows) - size :]
            values = [part.value for part in taken]
            value = build(*values) if one_by_one else build(values)
            begin = taken[0].start if taken else token.start
            parts.append(Part(origin, value, begin, taken[-1].end if taken else token.start))
            rows.append(rows[-1][origin][token.type])
            action = rows[-1].get(token.type)
        rows.append(action)
        parts.append(Part(token.type, token, token.start, token.end))


# What stands for a literal that is missing: the tree reads what is between its quotes.
_EMPTY = {"STRING": '""', "NUMBER": "0", "DURATION": "0s", "OK": "ok", "TYPE": "text"}
