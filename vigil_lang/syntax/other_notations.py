"""What people write who know another notation, or none: how it is said in this language.

A fix is offered only where it means exactly what was written; where there are several meanings, the hint names them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Edit, Fix, Span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vigil_lang.syntax.scan import Token

Advice = tuple[str, Fix | None]

_NEVER = "what must never happen is `abs(…)`"
_LATER = "what must follow is `resp(trigger, response)`"
_EARLIER = "what must come first is the guard of `prec(trigger, guard)`"
_ONCE = "what must happen at least once is `atleast[1](…)`"
_IF = "for what follows `resp(A, B)`, for what must come first `prec(A, B)`, of one event `always A implies B`"
_BETWEEN = "what is forbidden from one event to another is `until(begin, end, forbidden)`"
_EITHER = "an exception is a condition `and not …`; what must come first is the guard of `prec(trigger, guard)`"

FORMS: dict[str, tuple[str, str]] = {
    **dict.fromkeys(("never", "forbid", "forbidden", "deny", "absent", "absence", "prohibit"), (_NEVER, "abs")),
    **dict.fromkeys(("exists", "eventually", "sometime", "sometimes"), (_ONCE, "atleast[1]")),
    **dict.fromkeys(("require", "requires", "before", "precedes", "precedence", "preceded", "first"), (_EARLIER, "")),
    **dict.fromkeys(("response", "then", "leads", "follows", "followed"), (_LATER, "")),
    **dict.fromkeys(("if", "when", "whenever", "on", "every"), (_IF, "")),
    **dict.fromkeys(("between", "during", "while"), (_BETWEEN, "")),
    **dict.fromkeys(("unless", "except"), (_EITHER, "")),
    **dict.fromkeys(("exactly", "times"), ("exactly n is `atleast[n](…)` and `atmost[n](…)`, two statements", "")),
    "after": ("what must follow is `resp(trigger, response)`; a condition of any form is `… after A`, behind it", ""),
    **dict.fromkeys(("G", "globally", "forall", "all"), ("what holds at every event is `always …`", "")),
    **dict.fromkeys(("not", "no", "none"), (_NEVER, "")),
    **dict.fromkeys(("count", "max", "limit"), ("how often is `atmost[n](…)`, or `atleast[n](…)`", "")),
    **dict.fromkeys(("sum", "total"), ("what numbers may add up to is `budget[n](…, k)`", "")),
    **dict.fromkeys(("once", "lone"), ("at most once is `atmost[1](…)`, at least once `atleast[1](…)`", "")),
    **dict.fromkeys(("assert", "invariant"), ("what holds at every event is `always …`", "")),
    "some": (_ONCE, ""),
    "F": (_ONCE, ""),
}
"""Words that stand where a form should: the hint, and the form that means the same, where there is one."""

_JOINING = ("unless", "before", "after", "until", "requires", "then", "implies", "=>", "->", "precedes", "without")
"""Words between two conditions, where a form should stand before them."""
_BETWEEN_CONDITIONS = {
    "unless": _EITHER,
    "without": _EARLIER,
    "before": "`A before B` as a rule on B is `prec(B, A)`",
    "after": "`A` only after `B` is `prec(A, B)`; `B` is owed after `A`: `resp(A, B)`",
    "until": "`until(begin, end, forbidden)` forbids something from one event to another",
    "precedes": "`A precedes B` as a rule on B is `prec(B, A)`",
}

_BEHIND = {
    "when": "a statement that applies only after something ends with `after …`, one for some values with `where …`",
    "if": "a statement that applies only after something ends with `after …`, one for some values with `where …`",
    "unless": _EITHER,
    "except": _EITHER,
    "between": _BETWEEN,
    "during": _BETWEEN,
    "then": "what becomes of a call is said by a rule: `rule r: when … then hold`",
}
"""Words behind a condition or a form."""
_TESTS = {
    **dict.fromkeys(("is", "equals", "eq", "equal"), "="),
    **dict.fromkeys(("matches", "match", "matching", "regex", "like", "glob"), "~"),
    **dict.fromkeys(("includes", "include", "contain", "containing", "has"), "contains"),
}
_AT_AN_END = {
    **dict.fromkeys(("startswith", "startsWith", "starts_with", "starts", "begins", "prefix"), "{}*"),
    **dict.fromkeys(("endswith", "endsWith", "ends_with", "ends", "suffix"), "*{}"),
}
_NEGATED_TESTS = "a test is negated as a whole, `not k ~ …`, or by `!~`, `!=`, `not in`"

_BOUNDS = {
    "bresp": "`bresp` has a bound: `bresp[3](…, …)` in calls, `bresp[30s](…, …)` in time; without one it is `resp`",
    "atmost": "the number stands in brackets: `atmost[3](…)`",
    "atleast": "the number stands in brackets: `atleast[3](…)`",
    "budget": "the limit stands in brackets: `budget[100](…, amount)`",
}
_UNBOUND = {
    "resp": "a response within a bound is `bresp[…](…, …)`",
    "prec": "`prec` has no bound; `always A implies earlier[30s] B` has one",
    "abs": "a number of times is `atmost[…](…)`; `abs` allows none",
    "rslv": "`rslv` has no bound; a response within one is `bresp[…](…, …)`",
    "until": "`until` has no bound",
}
_DURATION = re.compile(r"([0-9]+)\s*([A-Za-z]+)")
_UNITS = {
    **dict.fromkeys(("ms", "msec", "msecs", "millis", "millisecond", "milliseconds"), "ms"),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), "s"),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), "m"),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), "h"),
    **dict.fromkeys(("d", "day", "days"), "d"),
}


def for_a_form(found: Token, rest: Sequence[Token]) -> Advice | None:
    """How what stands where a form should is said; `rest` are the tokens behind it."""
    if found.text in FORMS:
        hint, same = FORMS[found.text]
        return hint, Fix(f"write `{same}`", (Edit(found.span, same),)) if same and _has_one_argument(rest) else None
    joining = next((token.text for token in rest if token.text in _JOINING), None)
    if joining is None:
        return None
    return _BETWEEN_CONDITIONS.get(joining, _IF), None


def _has_one_argument(rest: Sequence[Token]) -> bool:
    """Whether parentheses follow with one condition in them."""
    if not rest or rest[0].text != "(":
        return False
    depth = 0
    for token in rest:
        depth += (token.text in ("(", "{", "[")) - (token.text in (")", "}", "]"))
        if depth == 1 and token.text == ",":
            return False
        if depth == 0:
            return True
    return False


def for_a_bound(found: Token, before: Token, rest: Sequence[Token]) -> Advice | None:
    """How a bound is said: one that is missing, stands in the parentheses, or belongs to another form."""
    if found.text == "[" and before.text in _UNBOUND:
        return _UNBOUND[before.text], None
    if found.kind == "number" and before.text in _BOUNDS:
        written = f"[{found.text}]"
        return _BOUNDS[before.text], Fix(f"write `{written}`", (Edit(Span(before.end, found.end), written),))
    if found.text != "(" or before.text not in _BOUNDS:
        return None
    fix = None
    if len(rest) > 1 and rest[0].kind == "number" and rest[1].text == ",":
        bound = f"[{rest[0].text}]("
        end = rest[2].start if len(rest) > 2 else rest[1].end
        fix = Fix(f"write `{before.text}[{rest[0].text}]`", (Edit(Span(found.start, end), bound),))
    return _BOUNDS[before.text], fix


def for_a_duration(found: Token, before: Token | None) -> Advice | None:
    """How a length of time is said: `5min`, `5 minutes`."""
    number = before if before is not None and before.kind == "number" and found.kind == "word" else None
    match = _DURATION.fullmatch(found.text if number is None else f"{number.text}{found.text}")
    unit = _UNITS.get(match[2].lower()) if match else None
    if match is None or unit is None:
        return None
    written = match[1] + unit
    span = Span((number or found).start, found.end)
    return "units of time are `ms`, `s`, `m`, `h` and `d`", Fix(f"write `{written}`", (Edit(span, written),))


def for_a_test(found: Token, before: Token, rest: Sequence[Token], accepted: set[str]) -> Advice | None:
    """How a test is said: `path like …`, `path startswith …`, `path = /…/`, `path in "…"`, `amount > "5"`."""
    if "EQ" in accepted and "MATCH" in accepted and before.kind in ("word", "string"):
        return _for_an_operator(found, before, rest)
    if before.text == "not" and accepted == {"IN"}:
        return _NEGATED_TESTS, None
    if found.kind == "regex" and before.text in ("=", "!="):
        sign = "~" if before.text == "=" else "!~"
        return f"a regular expression is matched by `{sign}`", _written(sign, before.span)
    if found.kind == "string" and before.text == "in" and "LBRACE" in accepted:
        hint = f"a set stands in braces: `{{{found.text}}}`; what contains it is `contains {found.text}`"
        return hint, None
    if found.kind == "string" and before.text in ("<", "<=", ">", ">=") and "NUMBER" in accepted:
        number = found.text[1:-1]
        fix = _written(number, found.span) if _is_number(number) else None
        return "what is ordered is a number, without quotes", fix
    if found.kind == "word" and before.kind == "number" and "RPAR" in accepted:
        return "a number has no unit: what it counts is the argument's matter", None
    return None


def _for_an_operator(found: Token, before: Token, rest: Sequence[Token]) -> Advice | None:
    if before.text in ("if", "when"):
        return _IF, None
    after = rest[0] if rest else None
    if found.text in _AT_AN_END and after is not None and after.kind == "string":
        text = after.text[1:-1]
        written = f'~ "{_AT_AN_END[found.text].format(text)}"'
        plain = not set(text) & set("*?\\")
        return f"a glob matches the whole text: `{written}`", (
            _written(written, Span(found.start, after.end)) if plain else None
        )
    operator = _TESTS.get(found.text)
    if operator is None:
        return None
    if operator != "~":
        certain = after is not None and after.text != "not" and (after.kind in ("string", "number", "word"))
        return f"this is written `{operator}`", _written(operator, found.span) if certain else None
    hint = "globs, in quotes, and regular expressions, between slashes, are matched by `~`"
    return hint, _written("~", found.span) if after is not None and after.kind == "regex" else None


def for_the_rest(found: Token, before: Token, accepted: set[str]) -> Advice | None:
    """How what surrounds conditions is said: `unless`, `per 1h`, `rule r: if …`, `… hold`, `statement s = …`."""
    if "INSIDE" in accepted and found.text in ("per", "within", "every", "each"):
        return "the time in which calls are counted is `in 1h`", _written("in", found.span)
    if accepted == {"WHEN"} and found.text in ("if", "on", "whenever"):
        return "a rule begins with `when`", _written("when", found.span)
    if "THEN" in accepted and found.text in ("hold", "block", "pass", "do"):
        written = "then" if found.text == "do" else f"then {found.text}"
        return "what becomes of the call follows `then`", _written(written, found.span)
    if accepted == {"COLON"} and found.text in ("=", ":="):
        return "a colon follows the name", _written(":", Span(before.end, found.end))
    return (_BEHIND[found.text], None) if accepted & {"AND", "$END"} and found.text in _BEHIND else None


def _is_number(text: str) -> bool:
    return re.fullmatch(r"-?[0-9]+(?:\.[0-9]+)?", text) is not None


def _written(text: str, span: Span) -> Fix:
    return Fix(f"write `{text}`", (Edit(span, text),))
