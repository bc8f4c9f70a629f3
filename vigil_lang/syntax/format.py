"""The formatter: one layout for every policy, proved to change nothing but white space and spelling."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from vigil_lang.diagnostics.diagnostic import InputError, Source
from vigil_lang.syntax.layout import lines_of
from vigil_lang.syntax.leaves import Leaf, Remark, Spelling, leaves
from vigil_lang.syntax.parse import Lexed, parse_with_tokens
from vigil_lang.syntax.print import UNICODE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from vigil_lang.syntax.scan import Token

# Items of one line that an author may keep together; all others have an empty line between them.
_KEPT_TOGETHER = frozenset({"USE", "LET", "PARAM", "PATTERN", "STATEMENT", "RULE"})

_WORDS = {mark: word.split() for word, mark in UNICODE.items()} | {"◇-": ["earlier"], "◇+": ["later"]}


class FormatError(Exception):
    """The formatter's result failed its proof: a fault of the formatter, never of the policy."""


def format_text(source: Source, *, spelling: Spelling = "keep") -> str:
    """The text of a policy as `vigil fmt` writes it, with the operators spelled as asked.

    Raises:
        InputError: the policy has syntax errors.
        FormatError: the result could not be proved to say the same.
    """
    before = parse_with_tokens(source)
    errors = [d for d in before.parsed.diagnostics if d.severity == "error"]
    if errors:
        raise InputError(errors)
    text = _laid_out(before, spelling)
    if text != source.text:
        _prove(before, Source(source.path, text), spelling)
    return text


def check_format(before: Source, after: Source, *, spelling: Spelling = "keep") -> None:
    """Prove that one policy is the other, formatted.

    Both parse, to equal trees; their tokens are the same up to spelling, with the same comments between them;
    and formatting changes the second no more.

    Raises:
        InputError: the first does not parse.
        FormatError: the proof fails.
    """
    read = parse_with_tokens(before)
    errors = [d for d in read.parsed.diagnostics if d.severity == "error"]
    if errors:
        raise InputError(errors)
    _prove(read, after, spelling)


def _prove(before: Lexed, source: Source, spelling: Spelling) -> None:
    after = parse_with_tokens(source)
    if any(d.severity == "error" for d in after.parsed.diagnostics):
        raise FormatError("the formatted text does not parse")
    if after.parsed.file != before.parsed.file:
        raise FormatError("the formatted text has another tree")
    if list(_canonical(after.tokens)) != list(_canonical(before.tokens)):
        raise FormatError("the formatted text has other tokens or comments")
    if _laid_out(after, spelling) != source.text:
        raise FormatError("formatting the formatted text changes it again")


def _canonical(tokens: Iterable[Token]) -> Iterator[str]:
    for token in tokens:
        if token.kind in ("doc", "comment"):
            yield token.text.rstrip()
        else:
            yield from _WORDS.get(token.text, (token.text,))


def _laid_out(lexed: Lexed, spelling: Spelling) -> str:
    items, rest = leaves(lexed, spelling)
    blocks = [_Block(item, at == 0) for at, item in enumerate(items)]
    for before, block in pairwise(blocks):
        if not (before.alone and block.alone) and not any(blank for _, blank in block.lines):
            block.lines[0] = (block.lines[0][0], True)
    written = [line for block in blocks for line in block.lines] + [(r.text, r.blank) for r in rest]
    if not written:
        return ""
    text = "".join(f"\n{line}" if blank else line for line, blank in ((f"{t}\n", b) for t, b in written))
    return text[1:] if written[0][1] else text


class _Block:
    """The lines of an item and of the comments above it, each with whether an empty line stands above it."""

    def __init__(self, item: list[Leaf], first: bool) -> None:
        # An empty line after the documentation that opens a file sets it apart from its first item.
        loose = first and item[0].terminal != "POLICY"
        remarks = item[0].above
        item[0].above = []
        self.lines = list(_spaced(remarks, item[0], loose))
        written = lines_of(item)
        plain = item[0].terminal in _KEPT_TOGETHER and not any(r.is_doc for r in remarks)
        self.alone = plain and len(written) == 1
        self.lines[-1] = (written[0], self.lines[-1][1])
        self.lines += ((line, False) for line in written[1:])


def _spaced(remarks: list[Remark], head: Leaf, loose: bool) -> Iterator[tuple[str, bool]]:
    documented = False
    for remark in remarks:
        yield remark.text, remark.blank and (loose or not documented)
        documented = documented or remark.is_doc
    yield head.text, head.blank and (loose or not documented)
