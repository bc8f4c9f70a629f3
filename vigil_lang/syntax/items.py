"""Where items begin, found without the grammar so that errors stay inside their item."""

from __future__ import annotations

from itertools import chain, islice, tee
from typing import TYPE_CHECKING, TypeAlias

from vigil_lang.base.structs import Frozen
from vigil_lang.syntax.scan import CLOSING, COMMENTS, ITEM_WORDS, OPENING, TEST, Token

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.diagnostics.diagnostic import Span
    from vigil_lang.syntax.scan import TokenList

Head: TypeAlias = "tuple[int, int]"
"""Where an item begins: the index of its first token, documentation and annotations included, and of its keyword."""

# Words that join what stands before them to what follows: no name is declared by them, no item starts there.
_JOINS = frozenset({"in", "not", "contains", "and", "or", "implies", "after", "where", "since", "until", "with"})
_PREFIXES = frozenset({"has", "violates", "always", "earlier", "later", "not"})
# The same in a rule: what joins, and what a name follows.
_JOINS_OF_RULES = frozenset({"then", "record", "relaxes"})
_NAME_FOLLOWS = frozenset({"in", "contains", *_JOINS_OF_RULES})
# After these a word is a name, whatever else it may be elsewhere.
_BEFORE_NAMES = frozenset(
    {"@", ",", ":", "|", "!=", "~", "!~", "<", "<=", ">", ">=", "∼", "≁", "≠", "≤", "≥", "∈", "∉"}
)
# What a complete item cannot end with: another operand must follow.
_WANTS_MORE = _BEFORE_NAMES | {"(", "[", "]", "{", "=", "¬", "∧", "∨", "⇒", "□", "◇⁻", "◇⁺", "◇-", "◇+"}
_QUOTED = ("string", "unclosed")
# What follows a value in a test: the value may be called like an item.
_CLAUSES = frozenset({"run", "calls", "set", "expect"})
_TESTS = frozenset({"contains", "in", "not"})
# Items whose first `=` is followed by what they stand for, and not by a value that may be called like a prefix.
_DEFINING = frozenset({"let", "param", "pattern"})
_AFTER_NAME = {"let": "=", "pattern": "=", "param": ":", "statement": ":", "rule": ":"}

_Place: TypeAlias = "tuple[int, Token]"
"""A token with its index."""

_NO_TOKEN = Token("symbol", "", 0, 0)
_NOWHERE: _Place = (-1, _NO_TOKEN)
"""Before the first token, and behind the last."""


class Segment(Frozen, frozen=True):
    """The tokens of one item: documentation comments and annotations first, then its keyword and the rest.

    They are those of `found` from `first` to before `last`; `head` is the index of the keyword, or of the word that
    stands in its place.
    """

    found: TokenList
    first: int
    last: int
    head: int

    @property
    def keyword(self) -> str | None:
        """None for text that belongs to no item."""
        word = self.found.text(self.head)
        return word if word in ITEM_WORDS or word == TEST else None

    @property
    def tokens(self) -> list[Token]:
        return self.found[self.first : self.last]

    @property
    def span(self) -> Span:
        return self.found.span(self.first, self.last)


def segments(text: str, found: TokenList, known: list[Head] | None = None) -> list[Segment]:
    """Cut a file where items begin, if that is not known already; code before the first of them belongs to none."""
    heads = list(item_heads(text, found)) if known is None else known
    first_code = next((i for i, t in enumerate(found) if t.kind not in COMMENTS), len(found))
    if first_code < (heads[0][0] if heads else len(found)):
        heads = [(0, first_code), *heads]
    ends = [start for start, _ in heads[1:]] + [len(found)]
    return [Segment(found, start, end, head) for (start, head), end in zip(heads, ends, strict=False)]


def item_heads(text: str, found: TokenList, after: int | None = None) -> Iterator[Head]:
    """Where items begin, and text at the start of a line that belongs to none.

    Outside brackets two operands never stand side by side, so an item word after a complete operand begins
    an item, and any other word there at the very start of a line is text that belongs to none. Elsewhere an
    item word begins an item when it is first on its line and a name follows: a closing bracket that was
    forgotten swallows no later item, and an argument may be called `pattern`. `test` is an item word before
    a string.

    With `after`, the index of an item word that begins an item, only those behind it.
    """
    fresh = after is None
    depth = 0
    marked: int | None = None  # the first annotation since the last item's end
    lost = fresh  # whether what stands before belongs to no item
    # Follows the tokens just closely enough to tell whether what was read could be a whole item. `complete`: it
    # could. `named`: the next word is a name. `negates`: the last was the `not` of `not in`.
    complete, named, negates = fresh, not fresh, False
    in_rule = after is not None and found.text(after) == "rule"
    defines = after is not None and found.text(after) in _DEFINING
    places = islice(_code(found, after or 0), 0 if fresh else 1, None)
    for (_, before), (index, token), (_, following), (_, third) in places:
        kind, word, start, _ = token
        begins = False
        if kind != "word":
            if word == "@":
                if marked is None and ((depth == 0 and complete) or _own_line(text, before, token)):
                    marked = index
            elif word in OPENING:
                depth += 1
            elif word in CLOSING:
                depth = max(0, depth - 1)
            counts = kind == "number" and word.isdigit() and before.text == "in"
            value = word == "=" and (depth > 0 or not defines)
            defines = defines and (value or word != "=")
            complete, named, negates = word not in _WANTS_MORE and not counts, value or word in _BEFORE_NAMES, False
            continue
        if word == TEST and following.kind in _QUOTED:
            begins = (depth == 0 and complete) or _own_line(text, before, token)
        elif word in ITEM_WORDS:
            begins = (depth == 0 and complete) or (
                _own_line(text, before, token) and _declares(word, following.text, third.text)
            )
        elif depth == 0 and complete and not lost:
            joins = word in _JOINS or (in_rule and word in _JOINS_OF_RULES) or _weakens(word, following.text)
            begins = text[start - 1] == "\n" and not joins
        if begins:
            yield _documented(text, found, index if marked is None else marked), index
            depth, marked, lost = 0, None, word not in ITEM_WORDS and word != TEST
            in_rule, defines = word == "rule", word in _DEFINING
        if begins and not lost:
            complete, named, negates = False, True, False
        # Behind a rule's name `when` begins the condition; anywhere else a field or a pattern may be called that.
        elif named and word != "always" and not (in_rule and word == "when" and before.text == ":"):
            complete, named, negates = True, False, False
        elif (word in _PREFIXES or (named and word == "when")) and not (not in_rule and _is_tested(word, following)):
            complete, named, negates = False, word in ("has", "violates"), complete and word == "not"
        elif (complete or negates) and (word in _JOINS or (in_rule and word in _JOINS_OF_RULES)):
            complete, named, negates = False, word in _NAME_FOLLOWS, False
        else:  # an operand; a connective with nothing before it to connect is one, called so
            complete, named, negates = True, False, False
    if marked is not None:
        yield _documented(text, found, marked), marked


def _code(found: TokenList, first: int) -> Iterator[tuple[_Place, _Place, _Place, _Place]]:
    """Each token from the first on that is no comment, with the one before it and the two behind."""
    code = (place for place in enumerate(found.since(first), first) if place[1][0] not in COMMENTS)
    before, here, following, third = tee(chain((_NOWHERE,), code, (_NOWHERE, _NOWHERE)), 4)
    return zip(before, islice(here, 1, None), islice(following, 2, None), islice(third, 3, None), strict=False)


def _is_tested(word: str, following: Token) -> bool:
    """Whether a word is an argument called `violates`."""
    return word == "violates" and following.text in _TESTS


def _own_line(text: str, before: Token, token: Token) -> bool:
    return before is _NO_TOKEN or "\n" in text[before.end : token.start]


def _weakens(word: str, after: str) -> bool:
    """Whether a word and the next join two conditions: `weak since`."""
    return word == "weak" and after in ("since", "until")


def _declares(word: str, name: str, after: str) -> bool:
    """Whether an item word and the two tokens after it begin an item, where an operand could be called like one."""
    if not (name[:1].isalpha() or name[:1] == "_"):
        return word == "use" and name.startswith(".")
    goes_on = name in _JOINS or name in ITEM_WORDS or name in _CLAUSES or (name == TEST and after[:1] == '"')
    goes_on = goes_on or name in _JOINS_OF_RULES or _weakens(name, after)
    return after == _AFTER_NAME.get(word) or not goes_on


def _documented(text: str, found: TokenList, start: int) -> int:
    """Where an item starts when the documentation on the lines above it is counted in."""
    at = start
    while at > 0 and found[at - 1].kind in COMMENTS:
        at -= 1
        if at > 0 and "\n" not in text[found[at - 1].end : found[at].start]:
            break  # it ends a line of what comes before
        if found[at].kind == "doc":
            start = at
    return start
