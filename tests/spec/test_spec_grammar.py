"""The grammar in spec.md and grammar/vigil.lark are one grammar."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from spec_blocks import blocks

from vigil_lang.diagnostics import Source
from vigil_lang.syntax import parse

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "spec.md").read_text(encoding="utf-8")
PRODUCTIONS = next(b.text for b in blocks(ROOT / "spec.md") if b.kind == "ebnf" and "statement = " in b.text)
LARK = (ROOT / "grammar" / "vigil.lark").read_text(encoding="utf-8")

# Rules of the grammar file that the text writes out where they are used, and one that only the text has.
_WRITTEN_OUT = {"_kinds": "item", "string": "STRING", "word": "NAME", "regex": "REGEX"}
_ONLY_IN_TEXT = {"file"}


# --- which symbols each production has ---------------------------------------------------------------------


def _in_text() -> dict[str, set[str]]:
    found = {}
    for production in re.split(r"\n(?=\w+ = )", PRODUCTIONS.strip()):
        name, body = production.split(" = ", 1)
        found[name] = set(re.findall(r'"[^"]+"|\w+', body))
    return found


def _terminals() -> dict[str, set[str]]:
    """What each terminal of the grammar file spells, in ASCII; those that stand for many texts keep their name."""
    found = {}
    for name, body in re.findall(r"^([A-Z_0-9]+)(?:\.\d+)?: (.*)$", LARK, re.MULTILINE):
        keyword = re.match(r"/([a-z]+)\(", body)
        texts = [keyword[1]] if keyword else [] if body.startswith("/") else re.findall(r'"([^"]+)"', body)
        ascii_only = [t for t in texts if t.isascii()]
        found[name] = {f'"{t}"' for t in ascii_only} or {name}
    return found | {"NOT_IN": {'"not"', '"in"'}, "TYPE": {"TYPE"}}


def _in_file() -> dict[str, set[str]]:
    terminals = _terminals()
    found: dict[str, set[str]] = {}
    rules = re.findall(r"^\??([a-z_]+): ((?:.*\n)(?:[ ]+.*\n)*)", LARK, re.MULTILINE)
    for name, body in rules:
        if name in ("string", "word", "regex"):
            continue
        symbols: set[str] = set()
        for symbol in re.findall(r'"[^"]+"|\w+', re.sub(r"->\s*\w+", "", body)):
            symbols |= terminals.get(symbol, {_WRITTEN_OUT.get(symbol, symbol)})
        found.setdefault(_WRITTEN_OUT.get(name, name), set()).update(symbols)
    found["item"] -= {"item"}
    return found


def test_every_production_has_the_symbols_of_its_rule() -> None:
    # spec R3.1-1
    text, file = _in_text(), _in_file()
    assert set(text) - _ONLY_IN_TEXT == set(file)
    assert {name: sorted(text[name]) for name in file} == {name: sorted(file[name]) for name in file}


def test_the_types_are_listed() -> None:
    declared = re.search(r"^TYPE: (.*)$", LARK, re.MULTILINE)
    assert declared is not None
    assert all(f"`{name}`" in TEXT for name in re.findall(r'"(\w+)"', declared[1]))


def test_every_contextual_keyword_is_listed() -> None:
    """3.3 names each word that some terminal spells, or the group it belongs to."""
    section = TEXT[TEXT.index("### 3.3") : TEXT.index("### 3.4")]
    grouped = {
        "abs",
        "prec",
        "resp",
        "rslv",
        "until",
        "bresp",
        "atmost",
        "atleast",
        "budget",
        "number",
        "text",
        "bool",
        "set",
    }
    words = {t.strip('"') for texts in _terminals().values() for t in texts if re.fullmatch(r'"[a-z]+"', t)}
    assert {w for w in words - grouped if f"`{w}`" not in section} == set()


# --- what the productions derive, the parser reads ---------------------------------------------------------

TOKENS = {
    "NAME": ["a", "file.read", "afl-fuzz", "M"],
    "STRING": ['"s"', '"*.csv"', '"status"'],
    "NUMBER": ["3", "-2.5"],
    "DURATION": ["30s", "500ms"],
    "RANGE": ["1..3", "2..", "10s..1m"],
    "UNIT": ["call", "steps"],
    "REGEX": ["/a+/", "/\\/x/i"],
    "RELATIVE": [".shared", ".rules.shared"],
    "TYPE": ["number", "set"],
}


@dataclass(frozen=True)
class Grammar:
    """Productions as they are written, read into alternatives, options and repetitions."""

    rules: dict[str, object]

    def derive(self, node: object, rng: random.Random, depth: int) -> str:
        match node:
            case ("either", items):
                flat = [i for i in items if depth < 12 or not _recursive(i)] or items
                return self.derive(rng.choice(flat), rng, depth)
            case ("sequence", items):
                return " ".join(filter(None, (self.derive(i, rng, depth) for i in items)))
            case ("optional", body):
                return self.derive(body, rng, depth) if rng.random() < 0.4 and depth < 12 else ""
            case ("repeated", body):
                times = rng.choice((0, 0, 1, 2)) if depth < 12 else 0
                return " ".join(filter(None, (self.derive(body, rng, depth) for _ in range(times))))
            case str() if node.startswith('"'):
                return node[1:-1]
            case str() if node in TOKENS:
                return rng.choice(TOKENS[node])
            case str():
                return self.derive(self.rules[node], rng, depth + 1)
        raise AssertionError(node)


def _recursive(node: object) -> bool:
    return "expr" in repr(node) or "unary" in repr(node)


def _read() -> Grammar:
    rules = {}
    for production in re.split(r"\n(?=\w+ = )", PRODUCTIONS.strip()):
        name, body = production.split(" = ", 1)
        tokens = re.findall(r'"[^"]+"|\w+|[][{}()|]', body)
        rules[name] = _either(tokens)
        assert not tokens
    return Grammar(rules)


def _either(tokens: list[str]) -> object:
    items = [_sequence(tokens)]
    while tokens[:1] == ["|"]:
        tokens.pop(0)
        items.append(_sequence(tokens))
    return items[0] if len(items) == 1 else ("either", items)


def _sequence(tokens: list[str]) -> object:
    items: list[object] = []
    while tokens and tokens[0] not in ("|", "]", "}", ")"):
        token = tokens.pop(0)
        kind = {"[": "optional", "{": "repeated", "(": "group"}.get(token)
        if kind is None:
            items.append(token)
            continue
        inner = _either(tokens)
        tokens.pop(0)
        items.append(inner if kind == "group" else (kind, inner))
    return ("sequence", items)


@pytest.mark.parametrize("seed", range(150))
def test_what_the_productions_derive_parses(seed: int) -> None:
    grammar = _read()
    text = grammar.derive("item", random.Random(seed), 0)
    found = parse(Source("item.vgl", text)).diagnostics
    assert [f"{d.code} {d.message}" for d in found] == [], text
