"""The TextMate grammar says of every token what the parser says of it."""

from __future__ import annotations

import json
import re
from itertools import chain
from typing import TYPE_CHECKING

import pytest
from lark import Lark
from node_support import EXTENSION, ROOT, run

from vigil_lang.diagnostics import Source
from vigil_lang.syntax.parse import parse_with_tokens
from vigil_lang.syntax.terminals import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lark.lexer import TerminalDef

GRAMMAR = json.loads((ROOT / "grammar" / "vigil.tmLanguage.json").read_text(encoding="utf-8"))
FENCE = re.compile(r"^```vgl[^\n]*\n(.*?)^```", re.DOTALL | re.MULTILINE)

NAMES = [
    *(f"entity.name.function{what}" for what in ("", ".decorator", ".rule", ".statement")),
    *(f"entity.name.{what}" for what in ("label", "namespace")),
    *(f"variable.other.{what}" for what in ("constant", "enummember", "property", "readwrite")),
    "entity.other.inherited-class",
    "variable.parameter",
]
OPENS = ["punctuation.section.block.begin", "punctuation.section.braces.begin"]
CLOSES = ["punctuation.section.block.end", "punctuation.section.braces.end"]
# The scopes that each terminal may have: its first part, or all of it.
SCOPES = {
    "ACTION": ["variable.language"],
    "AFTER": ["keyword.control.after"],
    "ALWAYS": ["keyword.control.temporal"],
    "AND": ["keyword.operator.wordlike", "keyword.operator.logical"],
    "ARROW": ["keyword.operator.arrow"],
    "AT": ["punctuation.definition.annotation"],
    "ATMOST": ["keyword.control.form"],
    "BRESP": ["keyword.control.form"],
    "CALLS": ["keyword.control.calls"],
    "COLON": ["punctuation.separator.colon"],
    "COMMA": ["punctuation.separator.comma"],
    "CONTAINS": ["keyword.operator.wordlike"],
    "DURATION": ["constant.numeric.duration"],
    "EARLIER": ["keyword.control.temporal"],
    "EQ": ["keyword.operator.assignment", "keyword.operator.comparison"],
    "ERROR": ["constant.language.status"],
    "EXPECT": ["keyword.control.expect"],
    "FALSE": ["constant.language.boolean"],
    "FORM1": ["keyword.control.form"],
    "FORM2": ["keyword.control.form"],
    "GE": ["keyword.operator.comparison"],
    "GT": ["keyword.operator.comparison"],
    "HAS": ["keyword.operator.wordlike"],
    "IMPLIES": ["keyword.operator.wordlike", "keyword.operator.logical"],
    "IN": ["keyword.operator.wordlike", "keyword.operator.comparison"],
    "INSIDE": ["keyword.operator.wordlike"],
    "LATER": ["keyword.control.temporal"],
    "LBRACE": OPENS,
    "LE": ["keyword.operator.comparison"],
    "LET": ["keyword.declaration.let"],
    "LPAR": ["punctuation.section.parens.begin"],
    "LSQB": ["punctuation.section.brackets.begin"],
    "LT": ["keyword.operator.comparison"],
    "MATCH": ["keyword.operator.comparison"],
    "NAME": NAMES,
    "NE": ["keyword.operator.comparison"],
    "NOT": ["keyword.operator.wordlike", "keyword.operator.logical"],
    "NOT_IN": ["keyword.operator.comparison"],
    "NOT_MATCH": ["keyword.operator.comparison"],
    "NUMBER": ["constant.numeric"],
    "OK": ["constant.language.status"],
    "OR": ["keyword.operator.wordlike", "keyword.operator.logical"],
    "OUTPUT": ["variable.language"],
    "PARAM": ["keyword.declaration.param"],
    "PATTERN": ["keyword.declaration.pattern"],
    "POLICY": ["keyword.declaration.policy"],
    "RBRACE": CLOSES,
    "REGEX": ["string.regexp"],
    "RELATIVE": ["entity.name.namespace"],
    "RPAR": ["punctuation.section.parens.end"],
    "RSQB": ["punctuation.section.brackets.end"],
    "RUN": ["keyword.control.run"],
    "SATISFIED": ["keyword.control.outcome"],
    "SET": ["keyword.control.set"],
    "STATEMENT": ["keyword.declaration.statement"],
    "STATUS": ["variable.language"],
    "STRING": ["string.quoted.double"],
    "TEST": ["keyword.declaration.test"],
    "TRUE": ["constant.language.boolean"],
    "TYPE": ["support.type"],
    "UNTIL": ["keyword.control.temporal"],
    "USE": ["keyword.declaration.use"],
    "VACUOUS": ["keyword.control.outcome"],
    "ASKS": ["keyword.control.outcome"],
    "VBAR": ["keyword.operator.union"],
    "VIOLATED": ["keyword.control.outcome"],
    "MOMENT": ["keyword.control.at"],
    "WITH": ["keyword.control.with"],
    "ATLEAST": ["keyword.control.form"],
    "BUDGET": ["keyword.control.form"],
    "DISTINCT": ["keyword.other.distinct"],
    "RANGE": ["constant.numeric.range"],
    "REPEATED": ["keyword.control.temporal"],
    "SINCE": ["keyword.control.temporal"],
    "UNIT": ["keyword.other.unit"],
    "WEAK": ["keyword.control.temporal"],
    "WHERE": ["keyword.control.after"],
    "RULE": ["keyword.declaration.rule"],
    "WHEN": ["keyword.control.when"],
    "THEN": ["keyword.control.then"],
    "MODE": ["constant.language.mode"],
    "RECORD": ["keyword.control.record"],
    "RELAXES": ["keyword.control.relaxes"],
    "VIOLATES": ["keyword.operator.wordlike"],
}
COMMENTS = {"doc": "comment.line.documentation", "comment": "comment.line.double-slash"}


def shipped() -> dict[str, str]:
    """Every policy of the standard library and the examples, and every one in spec.md and docs/, by where it stands."""
    files = chain(*((ROOT / folder).rglob("*.vgl") for folder in ("stdlib", "examples")))
    texts = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in sorted(files)}
    for page in (ROOT / "spec.md", *sorted((ROOT / "docs").rglob("*.md"))):
        for number, block in enumerate(FENCE.findall(page.read_text(encoding="utf-8")), 1):
            texts[f"{page.relative_to(ROOT)}#{number}"] = block
    return texts


# What is rare in the examples: words where they are names, the paper's spellings, all at once.
ODD = """
let false_ = {false, x} | true-ish
param in: set = {in, not, "or"}
pattern run = test = policy and param in set and not after ≤ 3 and at ∉ {with} or or != 4
pattern prec(pattern, statement) = pattern(statement = statement, use ∈ pattern, "let" ≥ -2e3, let !~ /[\\/]x/)
statement abs: abs(abs(abs = abs)) after after = 3 and action = action and "a b"(x = "𝔸\\u{1D538}", y contains run) // 𝔸
statement always: always always = 1 implies ¬ (◇-[2] expect ∨ ◇+ satisfied) ⇒ has has_x and has "x" and has output
@message("{x} \\"{y}\\"")
statement until: until(a(), b(), output:length = 3) after f:lower = x
statement counted: atmost[3](a(g:count = 3), distinct output) in 3 calls since b(h:base = "in")
statement spent: budget[3](pay(rows with (n:ext = "x")), output) in 3d
statement satisfied: rslv(set(run = calls), calls(in = 3, error = ok, ok = error, status = ok, not (true = false)))
rule rule: when when and then = pass or violates = 3 then hold record record, then, relaxes relaxes relaxes, block
rule then:
    when violates pass and rule(record = hold, then contains block)
    then block
    record "odd name", context.tier
    relaxes default.pass
rule pass: when has violates and context.user.role in {when} then pass // then
test "words" {
    set set = {set} | {x}
    run { run: run(run = {run = 1, {2}}): run, "b c" at 20ms -> ⊥ "no" { a() b() } }
    expect expect, at violated at at, "a b" with with = 3, x = "y"
    expect run vacuous
}
"""


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    return shipped()


def words(patterns: Iterator[str]) -> set[str]:
    """The words of two letters and more that expressions spell out, and their characters beyond ASCII."""
    found: set[str] = set()
    for pattern in patterns:
        plain = re.sub(
            r"\\.|\[(?:\\.|[^\]\\])*\]", lambda m: "".join(c for c in m[0] if not c.isascii()) + " ", pattern
        )
        found |= set(re.findall(r"[a-z]{2,}", plain)) | {c for c in pattern if not c.isascii()}
    return found


def expressions(rule: object) -> Iterator[str]:
    """The expressions of a TextMate rule and of those within it."""
    match rule:
        case dict():
            for key, value in rule.items():
                if isinstance(value, str) and key in ("match", "begin", "end", "while"):
                    yield value
                elif key != "comment":
                    yield from expressions(value)
        case list():
            for part in rule:
                yield from expressions(part)


@pytest.fixture(scope="module")
def terminals() -> list[TerminalDef]:
    """The terminals of the parser's grammar."""
    text = (ROOT / "grammar" / "vigil.lark").read_text(encoding="utf-8")
    return Lark(text, parser="lalr", start=["header", "item"]).terminals


def test_its_words_and_symbols_are_those_of_the_grammar(terminals: list[TerminalDef]) -> None:
    assert words(expressions(GRAMMAR)) == words(t.pattern.value for t in terminals) | {"context"}


def test_every_terminal_has_its_scopes(terminals: list[TerminalDef]) -> None:
    assert {t.name for t in terminals} - {"COMMENT", "SPACE"} == set(SCOPES)


def scopes_of(texts: list[str]) -> list[dict[int, list[str]]]:
    """For each text the scopes of each of its characters, the outermost first."""
    answers = json.loads(run("tests/scopes.mjs", given=json.dumps(texts)))
    result = []
    for text, tokens in zip(texts, answers, strict=True):
        # The offsets are in UTF-16 units.
        units = list(chain.from_iterable([i] * (1 if ord(c) < 0x10000 else 2) for i, c in enumerate(text)))
        result.append({units[u]: scopes for start, end, scopes in tokens for u in range(start, min(end, len(units)))})
    return result


def wanted(terminals: Sequence[str], at: int) -> list[str]:
    """The scopes that one of an item's tokens may have: what a word says may depend on the tokens beside it."""
    before, after = terminals[at - 1] if at else "", terminals[at + 1] if at + 1 < len(terminals) else ""
    match terminals[at]:
        case "INSIDE" if before == "CALLS":
            return ["keyword.control.calls"]
        case "UNTIL" if before == "COLON":
            return ["keyword.control.form"]
        case "WITH" if after == "LPAR":
            return ["keyword.operator.wordlike"]
        case "VIOLATES" if after != "NAME":
            return NAMES
        case "NAME" if before == "COLON" and {"PATTERN", "STATEMENT", "RULE"} & set(terminals[:at]):
            return ["support.function.view"]
        case terminal:
            return SCOPES[terminal]


def disagreements(text: str, scopes: dict[int, list[str]]) -> Iterator[tuple[str, str, str]]:
    """The tokens whose scopes are not those of their terminal, with both. An item is read as far as it parses."""
    lexed = parse_with_tokens(Source("p.vgl", text))
    named = [
        (token, wanted(body.terminals, at))
        for body in lexed.bodies
        for at, (token, terminal) in enumerate(zip(body.tokens, body.terminals, strict=False))
        if terminal != UNKNOWN
    ]
    named += [(t, [COMMENTS[t.kind]]) for t in lexed.tokens if t.kind in COMMENTS]
    for token, possible in named:
        for offset in range(token.start, token.end):
            has = scopes.get(offset, [])
            if not any(f"{want}.vigil" in has for want in possible) or ("string" in token.kind) != any(
                s.startswith("string.quoted") for s in has
            ):
                yield text[max(0, token.start - 20) : token.end + 20], token.text, " ".join(has)
                break


def test_every_token_of_what_is_shipped_has_the_scope_of_its_terminal(texts: dict[str, str]) -> None:
    found = {
        place: list(disagreements(text, scopes))
        for (place, text), scopes in zip(texts.items(), scopes_of(list(texts.values())), strict=True)
    }
    assert {place: wrong for place, wrong in found.items() if wrong} == {}
    assert len(texts) > 100


def test_words_are_names_where_the_grammar_has_no_place_for_keywords() -> None:
    assert parse_with_tokens(Source("p.vgl", ODD)).parsed.diagnostics == ()
    (scopes,) = scopes_of([ODD])
    assert list(disagreements(ODD, scopes)) == []


def test_cases_and_snapshots() -> None:
    out = run("grammar.mjs")
    assert out.count("run success") == 4 + len(list((EXTENSION / "tests" / "snapshots").glob("*.snap")))
