"""Our loop over Lark's tables does what Lark's own does: the same tree, or the same complaint."""

from __future__ import annotations

import random
import re
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any

import pytest
from lark import Lark
from lark.exceptions import UnexpectedToken
from lark.lexer import Lexer
from lark.lexer import Token as LarkToken
from syntax_support import FromLark

from tests.fuzz_parser import SEEDS, random_text
from vigil_lang.base.resources import resource
from vigil_lang.syntax.grammar import grammar, tables_of
from vigil_lang.syntax.items import segments
from vigil_lang.syntax.lalr import Parser, Unexpected
from vigil_lang.syntax.scan import COMMENTS, TokenList, tokens
from vigil_lang.syntax.terminals import Body, Terminals, literals

if TYPE_CHECKING:
    from collections.abc import Iterator

_OPTIONS: dict[str, Any] = {"parser": "lalr", "maybe_placeholders": True}


class Named(Lexer):
    """Our tokens as Lark's, named as its parser's state asks for."""

    __future_interface__ = 2

    def __init__(self, conf: Any) -> None:
        pass

    def lex(self, lexer_state: Any, parser_state: Any) -> Iterator[LarkToken]:
        body = lexer_state.text
        for kind, text, start, end in body.tokens:
            names = ("STRING",) if kind == "string" else _terminals().matching(text)
            accepted = parser_state.parse_conf.states[parser_state.state_stack[-1]]
            name = next((n for n in names if n in accepted), names[0])
            body.terminals.append(name)
            yield LarkToken(name, text, start, end_pos=end)


@cache
def _lark() -> Lark:
    text = resource("grammar", "vigil.lark").read_text(encoding="utf-8")
    return Lark(text, start=["header", "item"], lexer=Named, transformer=FromLark(), **_OPTIONS)


@cache
def _terminals() -> Terminals:
    return Terminals(tables_of(_lark()).terminals)


def test_a_token_is_named_as_the_expressions_of_the_grammar_have_it() -> None:
    patterns = dict(tables_of(_lark()).terminals)
    texts = {text for pattern in patterns.values() for text in literals(pattern) or ()}
    texts |= {token.text for seed in SEEDS for token in tokens(seed)} | {
        "calls",
        "step",
        "earlier",
        "|",
        "1..",
        "5ms",
        "x.y",
        "$",
    }
    assert len(texts) > 100
    for text in sorted(texts | {f"{text}x" for text in texts} | {text[:-1] for text in texts}):
        wanted = tuple(name for name, pattern in patterns.items() if re.fullmatch(pattern, text))
        assert _terminals().matching(text) == (wanted or ("UNKNOWN",)), text


def read_by_lark(body: Body, start: str) -> object:
    try:
        return repr(_lark().parse(body, start=start))  # type: ignore[arg-type]
    except UnexpectedToken as error:
        parser: Any = error.interactive_parser
        return parser.accepts(), error.token.type == "$END"


def read_by_us(body: Body, start: str) -> object:
    try:
        return repr(grammar().parse(body, start))
    except Unexpected as error:
        return error.accepted, error.at_end


def check(text: str) -> None:
    for segment in segments(text, TokenList.of(tokens(text))):
        code = [token for token in segment.tokens if token.kind not in COMMENTS]
        ours, larks = Body(code), Body(code)
        for start in ("item", "header"):
            assert read_by_us(ours, start) == read_by_lark(larks, start), text
        assert ours.terminals == larks.terminals


@pytest.mark.parametrize("text", SEEDS, ids=range(len(SEEDS)))
def test_policies(text: str) -> None:
    check(text)


def test_what_is_no_policy() -> None:
    rng = random.Random(11)
    for text in (random_text(rng) for _ in range(1_000)):
        check(text)


def test_every_beginning_of_an_item() -> None:
    for text in SEEDS:
        for segment in segments(text, TokenList.of(tokens(text))):
            code = [token for token in segment.tokens if token.kind not in COMMENTS]
            for length in range(1, min(len(code), 40)):
                assert read_by_us(Body(code[:length]), "item") == read_by_lark(Body(code[:length]), "item")


class Plain:
    """A builder for the grammars below: what was read, in brackets."""

    def __getattr__(self, name: str) -> Any:
        return lambda children: f"{name}({', '.join(map(str, children))})"


GRAMMARS = {
    "absent ones": 'item: "a" [NAME] "b" [NAME NAME]\nNAME: "x" | "y"',
    "absent ones at the end": 'item: NAME ["b" [NAME]]\nNAME: "x"',
    "one passed on": 'item: inner "b"\n?inner: NAME | NAME NAME | "a" -> lone\nNAME: "x"',
    "several put among others": 'item: "a" _inner+ NAME\n_inner: NAME "b" | "b"\nNAME: "x" | "y"',
    "recursion on either side": """item: left right
        ?left: NAME | left "a" NAME
        ?right: NAME | NAME "b" right
        NAME: "x"
    """,
    "kept tokens": 'item: "a" inner\n!inner: ["b"] NAME "a"\nNAME: "x"',
}


@pytest.mark.parametrize("text", GRAMMARS.values(), ids=GRAMMARS)
def test_other_grammars(text: str) -> None:
    made = Lark(text + '\n%ignore " "', start=["item"], **_OPTIONS)
    tables = tables_of(made)
    parser = Parser(tables, Terminals(tables.terminals), Plain())
    by_lark = Lark(text + '\n%ignore " "', start=["item"], transformer=_Methods(Plain()), **_OPTIONS)
    read = 0
    for words in islice(_words(), 3_000):
        try:
            expected: object = by_lark.parse(" ".join(words), start="item")
        except Exception:
            expected = None
        try:
            found: object = parser.parse(Body(tokens(" ".join(words))), "item")
        except Unexpected:
            found = None
        assert found == expected, words
        read += found is not None
    assert read


def _words() -> Iterator[tuple[str, ...]]:
    shorter: list[tuple[str, ...]] = [()]
    while True:
        yield from shorter
        shorter = [(*words, word) for words in shorter for word in "abxy"]


class _Methods:
    """A builder without methods for what Lark keeps to itself."""

    def __init__(self, builder: Plain) -> None:
        self._builder = builder

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name.isupper():
            raise AttributeError(name)
        return getattr(self._builder, name)
