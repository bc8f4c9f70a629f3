"""Syntax errors in words: what was expected where, what stood there, and what was probably meant."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, get_args

from msgspec.structs import replace

from vigil_lang.diagnostics.diagnostic import (
    Diagnostic,
    Edit,
    Fix,
    Source,
    Span,
    apply_edits,
    differ_by_a_slip,
    nearest,
)
from vigil_lang.diagnostics.shorten import cut
from vigil_lang.patterns import regex
from vigil_lang.syntax import other_notations, other_shapes, tree
from vigil_lang.syntax.grammar import grammar
from vigil_lang.syntax.lalr import Unexpected
from vigil_lang.syntax.scan import COMMENTS, ITEM_WORDS, TEST, Token, tokens
from vigil_lang.syntax.terminals import Body

if TYPE_CHECKING:
    from collections.abc import Sequence

# Groups of terminals that have one name together; a group is used when all of it is acceptable.
_GROUPS: tuple[tuple[frozenset[str], str], ...] = (
    (
        frozenset({"ALWAYS", "FORM1", "FORM2", "UNTIL", "BRESP", "ATMOST", "ATLEAST", "BUDGET"}),
        "a form (`abs`, `prec`, `resp`, …)",
    ),
    (frozenset({"EARLIER", "LATER", "NOT", "ACTION", "STATUS", "HAS", "LPAR", "NAME"}), "a condition"),
    (frozenset({"IN", "EQ", "NE", "MATCH", "LT", "CONTAINS"}), "a test (`=`, `in`, `~`, …)"),
    (frozenset({"USE", "LET", "PARAM", "PATTERN", "STATEMENT", "RULE"}), "an item"),
    (frozenset({"STRING", "NUMBER", "TRUE", "FALSE"}), "a value"),
    (frozenset({"SINCE", "UNTIL", "WEAK"}), "`since` or `until`"),
)
_GROUP_ALSO = {
    "a condition": frozenset({"STRING", "OUTPUT", "NUMBER", "TRUE", "FALSE", "RPAR", "REPEATED"}),
    "a test (`=`, `in`, `~`, …)": frozenset({"NOT", "NOT_IN", "NOT_MATCH", "LE", "GT", "GE", "WITH"}),
    "an item": frozenset({"AT", "TEST"}),
}
_WORDS = {
    "NAME": "a name",
    "STRING": "a string",
    "NUMBER": "a number",
    "DURATION": "a duration such as `30s`",
    "RANGE": "a range such as `1..3`",
    "UNIT": "a unit (`calls`, `steps`)",
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
    "VIEW": "a view such as `:host`",
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
    "SINCE": "`since`",
    "AFTER": "`after`",
    "WHERE": "`where`",
    "RUN": "`run`",
    "CALLS": "`calls`",
    "SET": "`set`",
    "EXPECT": "`expect`",
    "ARROW": "`->`",
    "MOMENT": "`at`",
    "MODE": "`pass`, `hold` or `block`",
    "ASKS": "`holds`, `blocks` or `passes`",
    "INSIDE": "`in`",
    "$END": "the end of the item",
}
_ORDER = {word: at for at, word in enumerate(_WORDS.values())}
_AT_MOST = 6
_MOST_FIXES = 20
"""Safe fixes of one item that are tried one after the other."""

_MEANT = {
    "==": ("=", "equality is written `=`"),
    "&&": ("and", "conjunction is written `and`"),
    "&": ("and", "conjunction is written `and`"),
    "||": ("or", "disjunction is written `or`"),
    "|": ("or", "disjunction is written `or`"),
    "!": ("not", "negation is written `not`"),
    "->": ("implies", "implication is written `implies`"),
    "=>": ("implies", "implication is written `implies`"),
    "=~": ("~", "matching is written `~`"),
    "<>": ("!=", "inequality is written `!=`"),
}
_HINTS = {
    **dict.fromkeys("'`“”„‘’«»", other_shapes.QUOTED),
    "*": 'a glob stands in double quotes, and is matched by `~`; of actions it is `action ~ "file.*"`',
    "$": "names and numbers stand without a sign before them",
    "-": "a comment starts with `//`, what has to hold is `statement NAME: …`",
    "#": "a comment starts with `//`",
    ";": "nothing separates items but white space",
}
_OTHER_ITEMS = {
    **dict.fromkeys(
        ("set", "list", "const", "var", "def", "define", "val", "enum", "group"), "a set or a value is named by `let`"
    ),
    **dict.fromkeys(
        ("function", "func", "fn", "macro", "predicate", "pred", "event"), "a condition is named by `pattern`"
    ),
    **dict.fromkeys(("import", "include", "from", "require", "open", "load"), "another file is read in by `use`"),
    **dict.fromkeys(
        ("constraint", "property", "invariant", "assert", "check", "spec", "requirement", "forbid", "never", "always"),
        "what has to hold is `statement NAME: …`",
    ),
    **dict.fromkeys(
        ("deny", "permit", "allow", "default", "ask", "when", "if"),
        "what becomes of a call is `rule NAME: when … then block`, what has to hold of a run `statement NAME: …`",
    ),
    **dict.fromkeys(("module", "package", "namespace"), "a file begins with `policy NAME`"),
    **dict.fromkeys(
        ("parameter", "option", "setting", "config"), "what may be set otherwise is `param NAME: type = …`"
    ),
}
"""Words of other notations that begin an item, and what does here."""
_ITEMS = "what has to hold is `statement NAME: …`, what becomes of a call `rule NAME: when … then hold`"
_STANDARD = regex(r"(?:import|include|open|load)\s+std\.\w+[ \t]*$", re.MULTILINE)
_COMMENT = regex(r"(?:#+|--+)(?=[ \t])")
_CLAUSES = ("run", "calls", "set", "expect")
_MODES = {
    **dict.fromkeys(("allow", "accept", "permit", "grant"), "pass"),
    **dict.fromkeys(("ask", "confirm", "wait", "approve"), "hold"),
    **dict.fromkeys(("deny", "forbid", "refuse", "reject", "stop"), "block"),
}
_STATUSES = {
    **dict.fromkeys(("success", "succeeded", "successful", "pass", "passed", "done", "true"), "ok"),
    **dict.fromkeys(("fail", "failed", "failure", "err", "false"), "error"),
}
_VERDICTS = ("satisfied", "violated", "vacuous", "holds", "blocks", "passes")
_FORMS: tuple[str, ...] = get_args(tree.FormName)
_NEGATED_TESTS = frozenset({"not", "!=", "!~", "∉", "≠", "≁"})
_TESTS = frozenset({"in", "=", "!=", "~", "!~", "<", "<=", ">", ">=", "contains", "∈", "∼", "≤"}) | _NEGATED_TESTS
_NOT_A_FIELD = frozenset({"action", "status", "has", "not", "earlier", "later", "repeated"})


def explain(source: Source, error: Unexpected, body: Body) -> Diagnostic:
    """The finding for a parse error inside one item; a safe fix leads to one that parses."""
    found = _explained(source, error, body)
    if found.fix is None or not found.fix.safe:
        return found
    start = body.tokens[0].start
    fix = found.fix
    text = source.text[start : body.tokens[-1].end]
    for tried in range(_MOST_FIXES):
        edits = [Edit(Span(e.span.start - start, e.span.end - start), e.text) for e in fix.edits]
        text, start = apply_edits(text, edits), 0
        mended = Body([token for token in tokens(text) if token.kind not in COMMENTS])
        try:
            grammar().parse(mended, "header" if mended.tokens[0].text == "policy" else "item")
        except Unexpected as further:
            stumbled = len(mended.terminals) - 1
            if not tried and not further.at_end and stumbled <= len(body.terminals) + 1:
                return replace(found, fix=None)  # right behind it: what was meant is something else
            following = _explained(Source(source.path, text), further, mended)
            if following.fix is None or not following.fix.safe:
                break
            fix = following.fix
        else:
            return found
    return replace(found, fix=replace(found.fix, safe=False))


def _explained(source: Source, error: Unexpected, body: Body) -> Diagnostic:
    accepted = error.accepted - {"VIOLATES"}  # a name, or a condition, as well
    if "UNTIL" in accepted and "AND" in accepted and "ALWAYS" not in body.terminals:
        accepted = accepted - {"SINCE", "UNTIL", "WEAK"}
    if "COLON" in accepted and "CONTAINS" in accepted:
        accepted = accepted - {"COLON"} | {"VIEW"}
    if error.at_end:
        end = body.tokens[-1].end
        message = f"expected {_listed(accepted)}, found the end of the item"
        return Diagnostic.of("VGL101", message, source, Span(end, end))
    # The parser reads one token at a time: the last that was named is the one it stumbled over.
    at = len(body.terminals) - 1
    found = body.tokens[at]
    foreign = body.terminals[at] == "UNKNOWN" and found.kind == "symbol" and len(found.text) == 1
    message = f"expected {_listed(accepted)}, found {_quoted(found.text)}"
    before = body.tokens[at - 1] if at else None
    rest = body.tokens[at + 1 :]
    shaped = other_shapes.by_shape(source.text, body.tokens, at, accepted)
    hint, fix = (
        shaped
        or _borrowed(found, before, rest, accepted)
        or _advice(found, before, rest[0] if rest else None, accepted)
    )
    if fix is None and (sign := _COMMENT.match(source.text, found.start)) is not None:
        fix = Fix("write `//`", (Edit(Span(*sign.span()), "//"),))
    return Diagnostic.of("VGL103" if foreign else "VGL101", message, source, found.span, help=hint, fix=fix)


def unclosed(source: Source, tokens: Sequence[Token], at: int) -> Diagnostic:
    """The finding for a string or regular expression that its line does not close, the token at an index of an item."""
    token, fix = tokens[at], None
    if (rule := other_shapes.of_permissions(source.text, tokens, at)) is not None:
        what, (hint, fix) = "regular expression", rule
    elif token.text.startswith("/") and at > 1 and tokens[at - 1].kind == "number" and tokens[at - 2].text == "[":
        what, hint = "regular expression", "the time in which calls are counted stands behind: `atmost[3](…) in 1h`"
    elif token.text.startswith('"'):
        what, hint = "string", 'add the closing `"`'
    else:
        what, hint = "regular expression", "close it with `/`; a slash inside is written `\\/`"
    message = f"this {what} is not closed before the end of the line"
    return Diagnostic.of("VGL102", message, source, token.span, help=hint, fix=fix)


def item_start(source: Source, token: Token) -> Diagnostic:
    """The finding for text that stands where an item should begin."""
    words = "`policy`, `use`, `let`, `param`, `pattern`, `statement`, `rule` or `test`"
    message = f"expected {words}, found {_quoted(token.text)}"
    other = _OTHER_ITEMS.get(token.text) if token.kind == "word" else None
    if other is not None:
        fix = Fix("write `use`", (Edit(token.span, "use"),)) if _STANDARD.match(source.text, token.start) else None
        return Diagnostic.of("VGL101", message, source, token.span, help=other, fix=fix)
    if (sign := _COMMENT.match(source.text, token.start)) is not None:
        fix = Fix("write `//`", (Edit(Span(*sign.span()), "//"),), safe=True)
        return Diagnostic.of("VGL101", message, source, token.span, help=_HINTS[token.text], fix=fix)
    near = nearest(token.text, ITEM_WORDS | {TEST}, 1) if token.kind == "word" else []
    fix = Fix(f"write `{near[0]}`", (Edit(token.span, near[0]),)) if near else None
    hint = f"did you mean `{near[0]}`?" if near else _HINTS.get(token.text, _ITEMS)
    return Diagnostic.of("VGL101", message, source, token.span, help=hint, fix=fix)


def _listed(accepted: set[str]) -> str:
    words: list[str] = []
    left = set(accepted)
    for group, name in _GROUPS:
        if group <= left:
            words.append(name)
            left -= group | _GROUP_ALSO.get(name, frozenset())
    words += sorted({_word(t) for t in left}, key=lambda w: (_ORDER.get(w, -1), w))
    words = words[:_AT_MOST]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _word(terminal: str) -> str:
    return _WORDS.get(terminal) or f"`{terminal.lower().replace('_', ' ')}`"


def _quoted(text: str) -> str:
    return f"`{_short(text)}`"


def _borrowed(
    found: Token, before: Token | None, rest: Sequence[Token], accepted: set[str]
) -> other_shapes.Advice | None:
    """What is said in another notation."""
    if "FORM1" in accepted:
        return other_notations.for_a_form(found, rest)
    if before is None:
        return None
    if accepted in ({"LSQB"}, {"LPAR"}) and (advice := other_notations.for_a_bound(found, before, rest)):
        return advice
    if accepted & {"DURATION", "UNIT"} and (advice := other_notations.for_a_duration(found, before)):
        return advice
    return other_notations.for_a_test(found, before, rest, accepted) or other_notations.for_the_rest(
        found, before, rest, accepted
    )


def _advice(
    found: Token, before: Token | None, after: Token | None, accepted: set[str]
) -> tuple[str | None, Fix | None]:
    if found.text in _MEANT:
        right, why = _MEANT[found.text]
        if "ARROW" in accepted:
            right, why = "->", "how an event ended is written `-> ok` or `-> error`"
        elif found.text == "=>" and after and after.kind == "number":
            right, why = ">=", "at least is written `>=`"
        right = right.strip()
        # Words need room around them that signs do not.
        left_of = (
            " " if right.isalpha() and before and before.end == found.start and before.text not in ("(", "[") else ""
        )
        right_of = " " if right.isalpha() and after and after.start == found.end else ""
        return why, Fix(f"write `{right}`", (Edit(found.span, f"{left_of}{right}{right_of}"),), safe=True)
    if before and before.text in ("action", "status") and found.text in _NEGATED_TESTS:
        return f"negate the whole condition: `not {before.text} …`", None
    if before and before.text in _NOT_A_FIELD and found.text in _TESTS:
        quoted = f'"{before.text}"'
        hint = f"`{before.text}` is a keyword; an argument of that name is written `{quoted}`"
        return hint, Fix(f"write `{quoted}`", (Edit(before.span, quoted),))
    if before and before.text == "in" and found.kind == "number" and "LBRACE" in accepted:
        return "a window follows the brackets of its form: `atmost[3](…) in 10m since …`", None
    if found.text == "after" and "AFTER" not in accepted and "$END" in accepted:
        if "WHERE" in accepted:
            return "`after` stands once: where either will do it is `after a() or b()`", None
        return "`after` stands before `where`", None
    if found.text == "record" and before and accepted == {"COMMA", "$END"}:
        return "`record` stands before `relaxes`", None
    if found.kind == "word" and "FORM1" in accepted and (near := _misspelt(found.text)):
        return f"did you mean `{near[0]}`?", Fix(f"write `{near[0]}`", (Edit(found.span, near[0]),))
    if "MODE" in accepted and found.kind == "word" and (mode := _MODES.get(found.text)):
        return f"to {found.text} is written `{mode}`", Fix(f"write `{mode}`", (Edit(found.span, mode),))
    if "OK" in accepted and found.kind in ("word", "string", "number"):
        status = _STATUSES.get(found.text.lower()) if found.kind == "word" else None
        if found.kind == "number":
            status = "ok" if found.text == "0" else "error"
        fix = None if status is None else Fix(f"write `{status}`", (Edit(found.span, status),))
        return 'a status is `ok` or `error`; an argument called status is written `"status"`', fix
    if "EXPECT" in accepted and found.kind == "word" and (near := nearest(found.text, _CLAUSES, 1)):
        return f"did you mean `{near[0]}`?", Fix(f"write `{near[0]}`", (Edit(found.span, near[0]),))
    if "VIOLATED" in accepted and found.kind == "word" and (near := nearest(found.text, _VERDICTS, 1)):
        return f"did you mean `{near[0]}`?", Fix(f"write `{near[0]}`", (Edit(found.span, near[0]),))
    if "TRUE" in accepted and "NAME" not in accepted and found.kind == "word":
        return "text stands in double quotes", Fix(f'write `"{found.text}"`', (Edit(found.span, f'"{found.text}"'),))
    if found.kind == "string" and after and after.text == "(" and "NAME" in accepted and "COLON" not in accepted:
        return f"such a name follows an id: `e1: {_short(found.text)}(…)`", None
    if before and before.text == "violated" and "MOMENT" in accepted and found.kind == "word":
        return "the events at fault follow `at`", Fix("write `at`", (Edit(Span(found.start, found.start), "at "),))
    if before and before.text in _CLAUSES and accepted == {"LPAR", "COLON"}:
        return f"close the run before `{before.text}` with `}}`", None
    if found.text == "{" and {"LPAR", "NAME"} <= accepted and "LBRACE" not in accepted:
        return "a test is written `k = 3`; braces hold the elements of a set", None
    if found.text == "-" and "$END" not in accepted and (after is None or after.text != "-"):
        return None, None
    return _HINTS.get(found.text), None


def _misspelt(word: str) -> list[str]:
    """The form that was meant: one that is like the word and begins as it does, or is a slip away."""
    near = nearest(word, _FORMS, 1)
    return [form for form in near if form[:2] == word[:2] or differ_by_a_slip(form, word)]


def _short(text: str) -> str:
    return cut(text, 38) if len(text) > 40 else text
