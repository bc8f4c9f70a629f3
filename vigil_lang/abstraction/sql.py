"""What statements of SQL do: whether they change a database, and whether they only call functions that are known.

There is one reading for all databases. Where their dialects read a text in two ways, it is read in both, and it changes
something if it does so in one of them.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_ROUTINE = re.compile(
    r"(?is)(?P<skip>\s+|/\*(?!!).*?(?:\*/|\Z))|(?P<text>'[^']*'?|\$(?P<tag>\w*)\$.*?(?:\$(?P=tag)\$|\Z))"
    r"|(?P<quoted>\"[^\"]*\"?|`[^`]*`?)|(?P<word>\$\{\w{0,200}\}|[^\W\d][\w$]*)|(?P<other>\d[\w.]*|.)"
)
_COMMENTS = (re.compile(r"--[^\n]*"), re.compile(r"--(?:\s[^\n]*)?(?=\n|\Z)"))
"""To the end of a line: MySQL wants a space behind the dashes."""
_ESCAPED = re.compile(r"\\.", re.DOTALL)
"""A backslash in a text means something to MySQL, and to others nothing."""


@cache
def _words(name: str) -> frozenset[str]:
    """The words under a name of `stdlib/sql.toml`."""
    import tomllib

    from vigil_lang.base.resources import resource

    return frozenset(tomllib.loads(resource("stdlib", "sql.toml").read_text(encoding="utf-8"))[name].split())


_KNOWN_FAMILIES = re.compile(r"(?:st|regr|h3|pg_stat_get)_\w+\Z")
"""Functions with such names only compute, too: those of PostGIS, and statistics."""

_OWN_SCHEMAS = frozenset({"pg_catalog", "information_schema", "sys", "safe"})


class _Token(NamedTuple):
    kind: str
    """`word`, `quoted` (a name), `text` or `other` (a sign, a number)."""
    text: str


def changes(text: str) -> bool | None:
    """Whether some statement of a text changes a database; None where it is none that is known."""
    found = {_changes(statement) for tokens in _readings(text) for statement in _statements(tokens)}
    return True if True in found else None if None in found else False


def calls_unknown(text: str) -> bool:
    """Whether a statement that looks calls a function that is no database's own: it may do anything in there."""
    return any(
        statement[0].text in _words("looks") - {"pragma"} and _has_unknown_function(statement)
        for tokens in _readings(text)
        for statement in _statements(tokens)
    )


def _readings(text: str) -> Iterator[list[_Token]]:
    """The tokens of a text, in each way in which it can be read."""
    texts = dict.fromkeys((text, _ESCAPED.sub("", text)) if "\\" in text else (text,))
    comments = _COMMENTS if "--" in text else _COMMENTS[:1]
    for each in texts:
        for comment in comments:
            yield list(_tokens(each, comment))


def _tokens(text: str, comment: re.Pattern[str]) -> Iterator[_Token]:
    at = 0
    while at < len(text):
        if skipped := comment.match(text, at):
            at = max(skipped.end(), at + 1)
            continue
        match = _ROUTINE.match(text, at)
        assert match is not None  # it takes any character
        at = match.end()
        kind = match.lastgroup if match["text"] is None else "text"
        if kind != "skip":
            yield _Token(kind or "text", match[0].lower() if kind == "word" else match[0])


def _statements(tokens: list[_Token]) -> Iterator[list[_Token]]:
    """The statements, each from its first word on."""
    statement: list[_Token] = []
    for token in (*tokens, _Token("other", ";")):
        if token.text == ";" and token.kind == "other":
            if statement:
                yield statement
            statement = []
        elif statement or token.kind in ("word", "quoted"):
            statement.append(token)


def _changes(statement: list[_Token]) -> bool | None:
    first, words = statement[0].text, [token.text for token in statement if token.kind == "word"]
    match first:
        case "explain":
            return not {"analyze", "analyse"}.isdisjoint(words[:4]) and _contains_change(statement)
        case "pragma":
            return _sets(statement)
        case "copy":
            return ("to", "stdout") not in pairwise(words) or _contains_change(statement)
        case "prepare":
            return "as" not in words or _contains_change(statement)
        case "set":
            return not {"global", "persist", "persist_only", "password"}.isdisjoint(words[:2])
        case _ if first in _words("changes"):
            return True
        case _ if first in _words("looks"):
            return _contains_change(statement)
        case _:
            return True if _contains_change(statement) else None


def _sets(statement: list[_Token]) -> bool:
    """`PRAGMA name = value`, `PRAGMA name(value)`"""
    name = next((a.text for a, b in pairwise(statement) if a.kind == "word" and b.text in "=("), statement[-1].text)
    is_given = any(token.text in ("=", "(") for token in statement)
    return is_given and name not in _words("session") and name not in _words("shown")


def _contains_change(statement: list[_Token]) -> bool:
    """Whether something within a statement changes a database: `WITH d AS (DELETE …)`, `SELECT … INTO t`."""
    before = ""
    for at, token in enumerate(statement):
        after = statement[at + 1] if at + 1 < len(statement) else _Token("other", "")
        if token.kind != "word":
            before = ""
            continue
        match token.text:
            case "insert" | "merge" | "replace":
                found = after.text in ("into", "overwrite")
            case "delete":
                found = after.text == "from"
            case "update":
                found = before not in ("for", "key", "on") and after.kind in ("word", "quoted")
            case "into":
                found = before not in ("insert", "merge", "replace") and after.kind in ("word", "quoted")
            case name:
                found = after.text == "(" and name in _words("changing_functions")
        if found or (at and token.text in ("drop", "truncate", "alter", "create") and after.text in _OBJECTS):
            return True
        before = token.text
    return False


_OBJECTS = frozenset({"table", "database", "schema", "index", "view", "user", "role", "function", "temp", "temporary"})


def _has_unknown_function(statement: list[_Token]) -> bool:
    for at, token in enumerate(statement[:-1]):
        if token.kind not in ("word", "quoted") or statement[at + 1].text != "(":
            continue
        before = statement[at - 1].text if at else ""
        if before in (")", "with", "recursive", "as", "into", "table", "over", "window"):
            continue  # a name that is given
        if before == ".":
            schema = statement[at - 2].text if at > 1 else ""
            if schema not in _OWN_SCHEMAS:
                return True
        if token.kind == "word" and (token.text in _words("no_functions") or token.text in _words("functions")):
            continue
        if token.text in _words("changing_functions") or (token.kind == "word" and _KNOWN_FAMILIES.match(token.text)):
            continue
        if not _is_named_query(statement, at + 1):
            return True
    return False


def _is_named_query(statement: list[_Token], at: int) -> bool:
    """Whether the columns in parentheses here are of a query that gets a name: `, x(a, b) AS (…)`."""
    while at < len(statement) and statement[at].text != ")":
        at += 1
    return [token.text for token in statement[at + 1 : at + 3]] == ["as", "("]
