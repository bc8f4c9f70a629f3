"""Syntax errors in words: what was expected where, what stood there, and what was probably meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.diagnostics.model import Diagnostic, Edit, Fix, Source, Span, nearest
from vigil_lang.syntax.scan import ITEM_WORDS, Token, tokens

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lark.exceptions import UnexpectedInput

# Groups of terminals that have one name together; a group is used when all of it is acceptable.
_GROUPS: tuple[tuple[frozenset[str], str], ...] = (
    (frozenset({"ALWAYS", "FORM1", "FORM2", "UNTIL", "BRESP", "ATMOST"}), "a form (`abs`, `prec`, `resp`, …)"),
    (frozenset({"EARLIER", "LATER", "NOT", "ACTION", "STATUS", "HAS", "LPAR", "NAME"}), "a condition"),
    (frozenset({"IN", "EQ", "NE", "MATCH", "LT", "CONTAINS"}), "a test (`=`, `in`, `~`, …)"),
    (frozenset({"USE", "LET", "PARAM", "PATTERN", "STATEMENT"}), "an item"),
    (frozenset({"STRING", "NUMBER", "TRUE", "FALSE"}), "a value"),
)
_GROUP_ALSO = {
    "a condition": frozenset({"STRING", "OUTPUT", "NUMBER", "TRUE", "FALSE", "RPAR"}),
    "a test (`=`, `in`, `~`, …)": frozenset({"NOT", "NOT_IN", "NOT_MATCH", "LE", "GT", "GE"}),
    "an item": frozenset({"AT"}),
    "a value": frozenset(),
}
_WORDS = {
    "NAME": "a name",
    "STRING": "a string",
    "NUMBER": "a number",
    "DURATION": "a duration such as `30s`",
    "REGEX": "a regular expression",
    "RELATIVE": "a module such as `.sibling`",
    "TYPE": "a type (`number`, `text`, `bool` or `set`)",
    "LPAR": "`(`",
    "RPAR": "`)`",
    "LBRACE": "`{`",
    "RBRACE": "`}`",
    "LSQB": "`[`",
    "RSQB": "`]`",
    "COLON": "`:`",
    "COMMA": "`,`",
    "VBAR": "`|`",
    "AT": "`@`",
    "EQ": "`=`",
    "MATCH": "`~`",
    "OK": "`ok`",
    "ERROR": "`error`",
    "IN": "`in`",
    "AND": "`and`",
    "OR": "`or`",
    "IMPLIES": "`implies`",
    "AFTER": "`after`",
    "$END": "the end of the item",
}
_ORDER = {word: at for at, word in enumerate(_WORDS.values())}

_MEANT = {
    "==": ("=", "equality is written `=`"),
    "&&": ("and", "conjunction is written `and`"),
    "&": ("and", "conjunction is written `and`"),
    "||": ("or", "disjunction is written `or`"),
    "!": ("not ", "negation is written `not`"),
    "->": ("implies", "implication is written `implies`"),
    "=>": ("implies", "implication is written `implies`"),
    "=~": ("~", "matching is written `~`"),
    "<>": ("!=", "inequality is written `!=`"),
}
_KEYWORDS = frozenset(
    {"in", "not", "and", "or", "implies", "has", "contains", "action", "status", "output", "after", "true", "false"}
    | {"always", "earlier", "later"}
    | ITEM_WORDS
)
_FORMS = ("abs", "prec", "resp", "bresp", "rslv", "until", "atmost", "always")


def explain(source: Source, error: UnexpectedInput, body: list[Token]) -> Diagnostic:
    """The finding for a parse error inside one item."""
    at = _place(error, body)
    accepted = _accepted(error)
    rest = source.text[at : body[-1].span.end]
    found = next((t for t in tokens(rest) if t.kind not in ("doc", "comment")), None)
    if found is None:
        end = body[-1].span.end
        return Diagnostic.of("VGL101", f"expected {_listed(accepted)}, found the end of the item", source, Span(end, end))
    span = Span(at + found.span.start, at + found.span.end)
    code = "VGL103" if found.kind == "symbol" and found.text not in _KNOWN_SYMBOLS else "VGL101"
    message = f"expected {_listed(accepted)}, found {_quoted(found.text)}"
    help_text, fix = _advice(source, span, found, accepted, rest)
    return Diagnostic.of(code, message, source, span, help=help_text, fix=fix)


_KNOWN_SYMBOLS = frozenset("()[]{}:,|@=~<>∼≠≤≥≁∈∉¬∧∨⇒□⊤⊥") | {"!=", "!~", "<=", ">=", "◇⁻", "◇⁺", "◇-", "◇+"}


def unclosed(source: Source, token: Token) -> Diagnostic:
    """The finding for a string or regular expression that its line does not close."""
    what = "string" if token.text.startswith('"') else "regular expression"
    mark = token.text[0]
    return Diagnostic.of(
        "VGL102", f"this {what} is not closed before the end of the line", source, token.span,
        help=f"add the closing `{mark}`" if what == "string" else "close it with `/`; a slash inside is written `\\/`",
    )  # fmt: skip


def item_start(source: Source, token: Token) -> Diagnostic:
    """The finding for text that stands where an item should begin."""
    message = f"expected `policy`, `use`, `let`, `param`, `pattern` or `statement`, found {_quoted(token.text)}"
    near = nearest(token.text, ITEM_WORDS, 1) if token.kind == "word" else []
    fix = Fix(f"write `{near[0]}`", (Edit(token.span, near[0]),)) if near else None
    return Diagnostic.of(
        "VGL101", message, source, token.span, help=f"did you mean `{near[0]}`?" if near else None, fix=fix
    )


def _place(error: UnexpectedInput, body: list[Token]) -> int:
    token = getattr(error, "token", None)
    if token is not None:
        return body[-1].span.end if token.type == "$END" else int(token.start_pos)
    return int(error.pos_in_stream or 0)


def _accepted(error: UnexpectedInput) -> set[str]:
    parser = getattr(error, "interactive_parser", None)
    if parser is not None:
        return set(parser.accepts())
    names = getattr(error, "allowed", None) or getattr(error, "expected", None) or ()
    return {n for n in names if n not in ("COMMENT", "SPACE")}


def _listed(accepted: set[str]) -> str:
    words: list[str] = []
    left = set(accepted)
    for group, name in _GROUPS:
        if group <= left:
            words.append(name)
            left -= group | _GROUP_ALSO.get(name, frozenset())
    words += sorted({_word(t) for t in left}, key=lambda w: (_ORDER.get(w, -1), w))
    words = words[:6]
    if not words:
        return "nothing more"
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _word(terminal: str) -> str:
    return _WORDS.get(terminal) or f"`{terminal.lower().replace('_', ' ')}`"


def _quoted(text: str) -> str:
    shown = text if len(text) <= 40 else text[:37] + "…"
    return f"`{shown}`"


def _advice(
    source: Source, span: Span, found: Token, accepted: Iterable[str], rest: str
) -> tuple[str | None, Fix | None]:
    allowed = set(accepted)
    start = span.start
    for wrong, (right, why) in _MEANT.items():
        # The parser may have taken the first character (`=` of `==`) and stumbled over the second.
        for back in (0, 1):
            at = start - back
            if at >= 0 and source.text.startswith(wrong, at) and at + len(wrong) > start:
                return why, Fix(f"write `{right.strip()}`", (Edit(Span(at, at + len(wrong)), right),))
    if found.text == "'":
        return "strings stand in double quotes", None
    if found.kind == "word" and found.text in _KEYWORDS and {"NAME", "STRING"} <= allowed:
        fix = Fix(f'write `"{found.text}"`', (Edit(span, f'"{found.text}"'),))
        return f'`{found.text}` is a keyword; an argument of that name is written `"{found.text}"`', fix
    if found.kind == "word" and "FORM1" in allowed and (near := nearest(found.text, _FORMS, 1)):
        return f"did you mean `{near[0]}`?", Fix(f"write `{near[0]}`", (Edit(span, near[0]),))
    if "OK" in allowed and found.kind in ("word", "string"):
        return "a status is `ok` or `error`; an argument called status is written `\"status\"`", None
    if rest.startswith("not in") and "EQ" in allowed:
        return "negate the whole condition: `not action in {…}`", None
    return None, None
