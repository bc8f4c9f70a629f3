"""The parser of `grammar/vigil.lark`.

Lark works out its tables, which takes about as long as everything else at start-up together, so they are kept in the
user's cache as JSON; what is read back is data, never code. With them at hand Lark is not needed.
"""

from __future__ import annotations

from functools import cache as once
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import msgspec

from vigil_lang.base import cache
from vigil_lang.base.resources import resource
from vigil_lang.syntax.build import Builder
from vigil_lang.syntax.lalr import Child, Parser, Rule, Tables
from vigil_lang.syntax.terminals import Terminals

if TYPE_CHECKING:
    import lark

_OPTIONS: dict[str, Any] = {"parser": "lalr", "start": ["header", "item"], "maybe_placeholders": True}
_FORMAT = "2"
"""Changes with what is made of a grammar."""


@once
def grammar() -> Parser:
    """The parser of items; its input is a `terminals.Body`, its start `header` or `item`."""
    text = resource("grammar", "vigil.lark").read_text(encoding="utf-8")
    name = f"grammar-{sha256(f'{_FORMAT} {_OPTIONS} {text}'.encode()).hexdigest()[:32]}.json"
    if (stored := cache.read(name)) is not None:
        try:
            return _parser(msgspec.json.decode(stored, type=Tables))
        except Exception:  # whatever is wrong with it, it can be made again
            pass
    import lark

    tables = tables_of(lark.Lark(text, **_OPTIONS))
    cache.write(name, msgspec.json.encode(tables).decode())
    return _parser(tables)


def _parser(tables: Tables) -> Parser:
    return Parser(tables, Terminals(tables.terminals), Builder())


def tables_of(made: lark.Lark) -> Tables:
    """What Lark worked out of a grammar."""
    parser: Any = made.parser
    table = parser.parser._parse_table
    rules = {rule: at for at, rule in enumerate(made.rules)}
    numbers = {state: at for at, state in enumerate(table.states)}
    # A higher priority wins, and any keyword wins over a name.
    order = sorted(made.terminals, key=lambda t: (-t.priority, t.name == "NAME"))
    return Tables(
        [(str(t.name), t.pattern.to_regexp()) for t in order if t.name not in made.ignore_tokens],
        list(map(_rule, made.rules)),
        [
            {str(symbol): numbers[to] if action.name == "Shift" else ~rules[to] for symbol, (action, to) in row.items()}
            for row in table.states.values()
        ],
        {str(start): numbers[state] for start, state in table.start_states.items()},
        {str(start): numbers[state] for start, state in table.end_states.items()},
    )


def _rule(rule: Any) -> Rule:
    """How the value of a rule is made, as Lark makes it: its tree builder's filter, in data."""
    expansion, options = rule.expansion, rule.options
    absent = [0]
    for is_absent in options.empty_indices:
        if is_absent:
            absent[-1] += 1
        else:
            absent.append(0)
    absent += [0] * (len(expansion) + 1 - len(absent))
    children: list[Child] = []
    before = 0
    for at, symbol in enumerate(expansion):
        before += absent[at]
        if options.keep_all_tokens or not (symbol.is_term and symbol.filter_out):
            children.append(Child(at, before, not symbol.is_term and symbol.name.startswith("_")))
            before = 0
    name = str(rule.alias or options.template_source or rule.origin.name)
    method = "" if name.startswith("_") else name
    single = options.expand1 and not rule.alias
    return Rule(str(rule.origin.name), len(expansion), method, single, tuple(children), before + absent[len(expansion)])
