"""The parser that Lark makes of `grammar/vigil.lark`.

Working out its tables takes about as long as everything else at start-up together, so they are kept in the
user's cache as JSON; what is read back is data, never code.
"""

from __future__ import annotations

import json
import sys
from functools import cache as once
from hashlib import sha256
from typing import Any

import lark
from lark.grammar import Rule
from lark.lexer import TerminalDef

from vigil_lang import cache
from vigil_lang.resources import resource
from vigil_lang.syntax.build import Builder
from vigil_lang.syntax.terminals import Terminals

_OPTIONS: dict[str, Any] = {"parser": "lalr", "start": ["header", "item"], "maybe_placeholders": True}


@once
def grammar() -> lark.Lark:
    """The parser of items; its input is a `terminals.Body`, its start `header` or `item`."""
    text = resource("grammar", "vigil.lark").read_text(encoding="utf-8")
    versions = f"1 {lark.__version__} {sys.version_info[:2]}"
    name = f"grammar-{sha256(f'{versions} {_OPTIONS} {text}'.encode()).hexdigest()[:32]}.json"
    if (stored := cache.read(name)) is not None:
        try:
            return _load(stored)
        except Exception:  # whatever is wrong with it, it can be made again
            pass
    made = lark.Lark(text, lexer=Terminals, **_OPTIONS)
    tables = _dump(made)
    cache.write(name, tables)
    return _load(tables)


def _dump(made: lark.Lark) -> str:
    data, memo = made.memo_serialize([TerminalDef, Rule])
    data["options"] = _OPTIONS
    data["parser"]["lexer_conf"]["lexer_type"] = None
    return json.dumps(_plain({"data": data, "memo": memo}), separators=(",", ":"))


def _load(tables: str) -> lark.Lark:
    """The parser from its tables, even when they were just made: one way in, and names are plain text."""
    stored = json.loads(tables, object_hook=lambda d: dict(d["#"]) if "#" in d else d)
    data = stored["data"]
    data["options"] = {**_OPTIONS, "lexer": Terminals, "transformer": Builder()}
    data["parser"]["lexer_conf"]["lexer_type"] = Terminals
    return lark.Lark.load(stored)


def _plain(value: Any) -> Any:
    """As JSON has it: no tuples, and a mapping whose keys are not text becomes `{"#": [[key, value], …]}`."""
    match value:
        case dict() if all(isinstance(key, str) for key in value):
            return {key: _plain(item) for key, item in value.items()}
        case dict():
            return {"#": [[key, _plain(item)] for key, item in value.items()]}
        case list() | tuple() | set() | frozenset():
            return [_plain(item) for item in value]
    return value
