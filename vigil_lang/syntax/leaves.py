"""What the formatter lays out: the tokens of each item, spelled as wished, with the comments that stand at them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from vigil_lang.syntax.print import UNICODE

if TYPE_CHECKING:
    from vigil_lang.syntax.parse import Lexed

Spelling: TypeAlias = Literal["keep", "ascii", "unicode"]

_ASCII = {
    "ALWAYS": "always",
    "EARLIER": "earlier",
    "LATER": "later",
    "NOT": "not",
    "AND": "and",
    "OR": "or",
    "IMPLIES": "implies",
    "IN": "in",
    "NOT_IN": "not in",
    "MATCH": "~",
    "NOT_MATCH": "!~",
    "NE": "!=",
    "LE": "<=",
    "GE": ">=",
    "OK": "ok",
    "ERROR": "error",
}
_NO_SPACE_BEFORE = frozenset({"COMMA", "COLON", "VIEW", "RPAR", "RSQB", "RBRACE", "LSQB"})
_NO_SPACE_AFTER = frozenset({"VIEW", "LPAR", "LSQB", "LBRACE", "AT"})
_CALLED = frozenset({"NAME", "STRING", "FORM1", "FORM2", "UNTIL", "VIOLATES"})
_BOUNDED_CALLS = frozenset({"BRESP", "ATMOST", "ATLEAST", "BUDGET", "REPEATED"})
_HEADS = frozenset({"POLICY", "USE", "LET", "PARAM", "PATTERN", "STATEMENT", "RULE", "TEST"})
_NAMED = ("STATEMENT", "RULE")
"""What has a colon after its name."""


@dataclass(slots=True)
class Remark:
    """A comment on a line of its own; `blank` when an empty line stands above it."""

    text: str
    blank: bool
    is_doc: bool


@dataclass(slots=True)
class Leaf:
    """A token as it will be written, with the comments on the lines above it and the one that ends its line.

    `terminal` is the grammar's, but `VIEW` for the colon of a view.
    `space`: one stands before it when it follows another on its line.
    """

    terminal: str
    text: str
    space: bool
    blank: bool
    above: list[Remark] = field(default_factory=list)
    beside: str | None = None


def leaves(lexed: Lexed, spelling: Spelling) -> tuple[list[list[Leaf]], list[Remark]]:
    """The leaves of each item in order, and the comments after the last item."""
    text = lexed.parsed.file.source.text
    terminals = {t.start: name for b in lexed.bodies for t, name in zip(b.tokens, b.terminals, strict=True)}
    first_tokens = {body.tokens[0].start for body in lexed.bodies}
    items: list[list[Leaf]] = []
    above: list[Remark] = []
    head = ""
    end = 0
    for token in lexed.tokens:
        line_breaks = text.count("\n", end, token.start)
        beside = end > 0 and line_breaks == 0
        blank = end > 0 and line_breaks > 1
        end = token.end
        if token.kind in ("doc", "comment"):
            if beside and items:
                items[-1][-1].beside = token.text.rstrip()
            else:
                above.append(Remark(token.text.rstrip(), blank, token.kind == "doc"))
            continue
        if token.start in first_tokens:
            items.append([])
        item, terminal = items[-1], terminals[token.start]
        head = terminal if terminal in _HEADS else head
        if terminal == "COLON" and head in ("PATTERN", *_NAMED) and item[-2].terminal not in _NAMED:
            terminal = "VIEW"
        if spelling == "unicode" and terminal == "IN" and _joins_not(item[-1], above):
            item[-1].terminal, item[-1].text = "NOT_IN", UNICODE["not in"]
            continue
        written = _spelled(terminal, token.text, spelling)
        item.append(Leaf(terminal, written, _space(item, terminal), blank, above))
        above = []
    return items, above


def _joins_not(before: Leaf, above: list[Remark]) -> bool:
    """Whether `in` follows `not` with no comment between: the two words are one mark."""
    return before.terminal == "NOT" and before.beside is None and not above


def _spelled(terminal: str, text: str, spelling: Spelling) -> str:
    if spelling == "keep" or terminal not in _ASCII:
        return text
    return UNICODE[_ASCII[terminal]] if spelling == "unicode" else _ASCII[terminal]


def _space(item: list[Leaf], terminal: str) -> bool:
    if not item or terminal in _NO_SPACE_BEFORE:
        return False
    before = item[-1]
    if terminal == "LPAR" and before.terminal == "RSQB":
        opening = next(at for at in range(-3, -len(item), -1) if item[at].terminal == "LSQB")
        return item[opening - 1].terminal not in _BOUNDED_CALLS  # `bresp[3](…)`, but `earlier[3] (…)`
    if before.text == "¬":
        return terminal == "IN"
    return before.terminal not in _NO_SPACE_AFTER and not (terminal == "LPAR" and before.terminal in _CALLED)
