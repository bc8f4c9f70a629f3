"""What people write who know another notation, or none: how it is said in this language.

A fix is offered only where it means exactly what was written; where there are several meanings, the hint names them.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Edit, Fix, Span
from vigil_lang.syntax.other_shapes import TEMPORAL, Advice

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vigil_lang.syntax.scan import Token

_NEVER = "what must never happen is `abs(…)`"
_LATER = "what must follow is `resp(trigger, response)`"
_EARLIER = "what must come first is the guard of `prec(trigger, guard)`"
_ONCE = "what must happen at least once is `atleast[1](…)`"
_IF = "for what follows `resp(A, B)`, for what must come first `prec(A, B)`, of one event `always A implies B`"
_BETWEEN = "what is forbidden from one event to another is `until(trigger, resolver, forbidden)`"
_ORDER = "what must come first is the guard of `prec(trigger, guard)`, what must follow the response of `resp`"
_MUST = "what must happen at least once is `atleast[1](…)`, what must never happen `abs(…)`"
_HOW_OFTEN = "how often is `atmost[n](…)`, or `atleast[n](…)`"
_MAY = "a statement says what must not happen; a rule of the gate has calls pass: `rule r: when … then pass`"
_EACH = "what holds at every event is `always …`; a variable stands for each value by itself"
_EITHER = "an exception is a condition `and not …`; what must come first is the guard of `prec(trigger, guard)`"

FORMS: dict[str, tuple[str, str]] = {
    **dict.fromkeys(("never", "forbid", "forbidden", "deny", "absent", "absence", "prohibit"), (_NEVER, "abs")),
    **dict.fromkeys(("disallow", "block", "refuse", "ban", "avoid"), (_NEVER, "abs")),
    **dict.fromkeys(("must", "shall", "should", "ensure", "finally", "mustn", "cannot", "can"), (_MUST, "")),
    **dict.fromkeys(("may", "allow", "allowed", "permit", "permitted"), (_MAY, "")),
    **dict.fromkeys(("only", "guard", "guarded", "order", "ordered", "sequence", "implies"), (_ORDER, "")),
    **dict.fromkeys(("exists", "eventually", "sometime", "sometimes"), (_ONCE, "atleast[1]")),
    **dict.fromkeys(("require", "requires", "before", "precedes", "precedence", "preceded", "first"), (_EARLIER, "")),
    **dict.fromkeys(("response", "then", "leads", "leads_to", "follows", "followed", "responds"), (_LATER, "")),
    **dict.fromkeys(("if", "when", "whenever", "on", "every"), (_IF, "")),
    **dict.fromkeys(("between", "during", "while"), (_BETWEEN, "")),
    **dict.fromkeys(("unless", "except"), (_EITHER, "")),
    **dict.fromkeys(("exactly", "times"), ("exactly n is `atleast[n](…)` and `atmost[n](…)`, two statements", "")),
    "after": ("what must follow is `resp(trigger, response)`; a condition of any form is `… after A`, behind it", ""),
    **dict.fromkeys(("G", "globally", "forall", "all", "for", "foreach"), (_EACH, "")),
    **dict.fromkeys(("not", "no", "none"), (_NEVER, "")),
    **dict.fromkeys(("count", "max", "limit", "rate", "repeat", "repeated"), (_HOW_OFTEN, "")),
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
    "until": "`until(trigger, resolver, forbidden)` forbids something from one event to another",
    "precedes": "`A precedes B` as a rule on B is `prec(B, A)`",
}

_BEHIND = {
    **dict.fromkeys(("iff", "equiv"), "`A iff B` is two statements: `always A implies B`, `always B implies A`"),
    "xor": "one of two and not both is `(A or B) and not (A and B)`",
    "before": "`A before B` as a rule on B is `prec(B, A)`, in a body `B implies earlier A`",
    "requires": "`A requires B` is `prec(A, B)`, in a body `A implies earlier B`",
    **dict.fromkeys(("release", "releases", "R", "V"), "what holds until something lets go of it is `… weak until …`"),
    **dict.fromkeys(("trigger", "triggers", "T"), "what holds since something is `… weak since …`"),
    "when": "a statement that applies only after something ends with `after …`, one for some values with `where …`",
    "if": "a statement that applies only after something ends with `after …`, one for some values with `where …`",
    "unless": _EITHER,
    "except": _EITHER,
    "between": _BETWEEN,
    "during": _BETWEEN,
    "then": "what becomes of a call is said by a rule: `rule r: when … then hold`",
}
"""Words behind a condition or a form."""
_INTERVALS = {"U": "until", "W": "weak until", "S": "since", "UNTIL": "until", "SINCE": "since", "wuntil": "weak until"}
"""Words of temporal logics between two conditions."""
_BEFORE_CONDITIONS = TEMPORAL | dict.fromkeys(
    ("missing", "absent", "no", "without", "lacks"), "what an event does not have is `not has k`"
)
"""Words before a condition or a field."""
_REGEX_OR_GLOB = "a regular expression stands between slashes, `/…/`, and a glob in quotes, both without more"
_IN_PARENTHESES = "the arguments of a call are tested in parentheses: `a(k = 3)`"
_TESTS = {
    **dict.fromkeys(("is", "equals", "eq", "equal"), "="),
    **dict.fromkeys(("isnt", "isnot", "ne", "neq"), "!="),
    "gt": ">",
    "ge": ">=",
    "gte": ">=",
    "lt": "<",
    "le": "<=",
    "lte": "<=",
    **dict.fromkeys(("matches", "match", "matching", "regex", "like", "glob"), "~"),
    **dict.fromkeys(("includes", "include", "contain", "containing", "has"), "contains"),
    **dict.fromkeys(("intersects", "oneof", "one_of", "among", "anyof", "any_of"), "in"),
}
_AT_AN_END = {
    **dict.fromkeys(("startswith", "startsWith", "starts_with", "starts", "begins", "prefix", "pmatch"), "{}*"),
    **dict.fromkeys(("endswith", "endsWith", "ends_with", "ends", "suffix"), "*{}"),
}
_IN_ANY_CASE = {"icontains": "contains", "iequals": "=", "ieq": "=", "ilike": "~", "imatches": "~"}
_OF_PATTERNS = frozenset({"r", "re", "rx", "regex", "regexp", "glob", "f", "b", "u"})
_OPERATORS_IN_TWO = {"=<": "<=", "!==": "!="}
_BOUNDED = (
    "within a time is `bresp[30s](…, …)` of a response, `earlier[30s] …` of a guard, `atmost[3](…) in 30s` of a count"
)
_COMPARED = frozenset({"=", "==", "!=", "is"})
_NO_VALUE = "a condition is not compared with a value: write it alone, or `not …`"
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
_DURATION = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]+)")
_LONGEST = 40
"""Characters of a length of time that are read."""
_MILLISECONDS = {"d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1000, "ms": 1}
_NUMBER = re.compile(r"(?P<number>[0-9][0-9_]*)(?P<unit>[A-Za-z%]*)")
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
    if before.text not in _BOUNDS:
        return None
    if found.kind == "number":
        written = f"[{found.text}]"
        return _BOUNDS[before.text], Fix(f"write `{written}`", (Edit(Span(before.end, found.end), written),))
    if found.text in ("<", "{") and len(rest) > 1 and rest[0].kind == "number" and rest[1].text in (">", "}"):
        return _BOUNDS[before.text], _written(f"[{rest[0].text}]", Span(found.start, rest[1].end))
    if found.text != "(":
        return None
    fix = None
    if len(rest) > 1 and rest[0].kind == "number" and rest[1].text == ",":
        bound = f"[{rest[0].text}]("
        end = rest[2].start if len(rest) > 2 else rest[1].end
        fix = Fix(f"write `{before.text}[{rest[0].text}]`", (Edit(Span(found.start, end), bound),))
    return _BOUNDS[before.text], fix


def for_a_duration(found: Token, before: Token | None) -> Advice | None:
    """How a length of time is said: `5min`, `5 minutes`, `1h30m`, `1.5h`, `1w`."""
    number = before if before is not None and before.kind == "number" and found.kind == "word" else None
    written = _duration(found.text if number is None else f"{number.text}{found.text}")
    if written is None:
        return None
    span = Span((number or found).start, found.end)
    return "units of time are `ms`, `s`, `m`, `h` and `d`", Fix(f"write `{written}`", (Edit(span, written),))


def _duration(text: str) -> str | None:
    """A length of time in one number and one unit."""
    parts = [(number, "d" if unit == "w" else _UNITS.get(unit.lower())) for number, unit in _DURATION.findall(text)]
    if not parts or _DURATION.sub("", text) or len(text) > _LONGEST:
        return None
    number, unit = parts[0]
    if len(parts) == 1 and unit is not None and "." not in number and not text.endswith("w"):
        return f"{number}{unit}"
    if any(unit is None for _, unit in parts):
        return None
    weeks = 7 if text.endswith("w") else 1
    total = sum(Decimal(number) * _MILLISECONDS[unit] for number, unit in parts if unit is not None) * weeks
    return next((f"{total // size:f}{unit}" for unit, size in _MILLISECONDS.items() if total % size == 0), None)


def for_a_test(found: Token, before: Token, rest: Sequence[Token], accepted: set[str]) -> Advice | None:
    """How a test is said: `path like …`, `path startswith …`, `path = /…/`, `path in "…"`, `amount > "5"`."""
    if "EQ" in accepted and "MATCH" in accepted and before.kind in ("word", "string"):
        return _for_an_operator(found, before, rest)
    if before.end == found.start and (meant := _OPERATORS_IN_TWO.get(before.text + found.text)) is not None:
        return f"this is written `{meant}`", _written(meant, Span(before.start, found.end))
    if found.text == "where" and "AND" in accepted and "WHERE" not in accepted:
        return _IN_PARENTHESES, None
    if found.kind == "string" and before.text in _OF_PATTERNS and before.end == found.start:
        return _REGEX_OR_GLOB, None
    if found.text == "(" and before.text in _OF_PATTERNS:
        return _REGEX_OR_GLOB, None
    if before.kind == "regex" and found.kind == "word" and before.end == found.start:
        return "behind a regular expression stands nothing but `i`, for letters of either case", None
    if "NUMBER" in accepted and (written := _NUMBER.fullmatch(found.text)) is not None:
        plain = written["number"].replace("_", "")
        if written["unit"]:
            return "a number has no unit: what it counts is the argument's matter", None
        return f"a number is written with nothing but digits and a point: `{plain}`", _written(plain, found.span)
    if found.text in _COMPARED and before.text == ")" and rest and rest[0].text in ("true", "false"):
        fix = Fix("leave it out", (Edit(Span(before.end, rest[0].end), ""),)) if rest[0].text == "true" else None
        return _NO_VALUE, fix
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
    if before.text == "NOT":
        return "negation is written `not`", _written("not", before.span)
    if before.text.lower() in _BEFORE_CONDITIONS and found.kind == "word":
        return _BEFORE_CONDITIONS[before.text.lower()], None
    if found.text in ("{", "where", "with") or (found.text == "[" and rest and rest[0].kind == "word"):
        return _IN_PARENTHESES, None
    if found.text in ("exists", "exist", "present"):
        return f"that there is one is `has {before.text}`", None
    after = rest[0] if rest else None
    if found.text == "!" and after is not None and after.start == found.end and after.text in ("<", ">", "<=", ">="):
        return f"the whole comparison is negated: `not {before.text} {after.text} …`", None
    word = found.text if found.text in _AT_AN_END else found.text.lower()
    if word == "is" and after is not None and after.text == "not":
        value = rest[1] if len(rest) > 1 else None
        plain = value is not None and value.kind in ("string", "number")
        return "this is written `!=`", _written("!=", Span(found.start, after.end)) if plain else None
    if found.text == "==" and after is not None and after.text == "=" and after.start == found.end:
        return "equality is written `=`", _written("=", Span(found.start, after.end))
    if (operator := _IN_ANY_CASE.get(word)) is not None:
        plain = after is not None and after.kind == "string" and after.text == after.text.lower()
        written = f":lower {operator}"
        fix = _written(written, Span(before.end, found.end)) if plain and found.start > before.end else None
        return f"in letters of either case is `{before.text}{written} …`, with a text in small letters", fix
    if word in _AT_AN_END and after is not None and after.kind == "string":
        text = after.text[1:-1]
        written = f'~ "{_AT_AN_END[word].format(text)}"'
        plain = not set(text) & set("*?\\")
        return f"a glob matches the whole text: `{written}`", (
            _written(written, Span(found.start, after.end)) if plain else None
        )
    if word in _AT_AN_END:
        return f'a glob matches the whole text: `~ "{_AT_AN_END[word].format("…")}"`, one of several `~ {{…}}`', None
    operator = _TESTS.get(word)
    if operator is None:
        return None
    if operator != "~":
        certain = (
            after is not None
            and after.text != "not"
            and (after.text == "{" if operator == "in" else after.kind in ("string", "number", "word"))
        )
        return f"this is written `{operator}`", _written(operator, found.span) if certain else None
    hint = "globs, in quotes, and regular expressions, between slashes, are matched by `~`"
    return hint, _written("~", found.span) if after is not None and after.kind == "regex" else None


def for_the_rest(found: Token, before: Token, rest: Sequence[Token], accepted: set[str]) -> Advice | None:
    """How what surrounds conditions is said: `unless`, `per 1h`, `rule r: if …`, `… hold`, `statement s = …`."""
    if "INSIDE" in accepted and found.text in ("per", "within", "every", "each"):
        return _a_window(found, rest)
    if found.text in ("in", "within", "per", "every") and "AFTER" in accepted:
        return _BOUNDED, None
    if found.text in ("an", "a", "one") and "DURATION" in accepted:
        unit = _UNITS.get(rest[0].text.lower()) if rest else None
        fix = None if unit is None else _written(f"1{unit}", Span(found.start, rest[0].end))
        return "a time is a number and a unit: `1h`", fix
    if found.kind == "word" and found.text.isupper() and found.text in accepted:
        return "the words of the language are written in small letters", _written(found.text.lower(), found.span)
    if accepted == {"WHEN"} and found.text in ("if", "on", "whenever"):
        return "a rule begins with `when`", _written("when", found.span)
    if "THEN" in accepted and found.text in ("hold", "block", "pass", "do"):
        written = "then" if found.text == "do" else f"then {found.text}"
        return "what becomes of the call follows `then`", _written(written, found.span)
    if accepted == {"COLON"} and found.text in ("=", ":="):
        return "a colon follows the name", _written(":", Span(before.end, found.end))
    if found.text == "and" and "RECORD" in accepted:
        fix = Fix("leave out `and`", (Edit(Span(before.end, found.end), ""),))
        return "`record` and `relaxes` follow without a word between", fix
    if "SINCE" in accepted and (same := _INTERVALS.get(found.text)) is not None:
        return f"this is written `{same}`", _written(same, found.span)
    return (_BEHIND[found.text], None) if accepted & {"AND", "$END"} and found.text in _BEHIND else None


def _a_window(found: Token, rest: Sequence[Token]) -> Advice:
    """`per 1h`, and `per day`, where the unit alone is one of it."""
    hint = "the time in which calls are counted is `in 1h`"
    after = rest[0] if rest else None
    if after is None or after.text[:1].isdigit():
        return hint, _written("in", found.span)
    unit = _UNITS.get(after.text.lower())
    return hint, None if unit is None else _written(f"in 1{unit}", Span(found.start, after.end))


def _is_number(text: str) -> bool:
    return re.fullmatch(r"-?[0-9]+(?:\.[0-9]+)?", text) is not None


def _written(text: str, span: Span) -> Fix:
    return Fix(f"write `{text}`", (Edit(span, text),))
