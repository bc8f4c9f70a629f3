"""What people write in the shapes of another notation: lists, quotation marks, bounds, calls, rules of permissions.

The words around the place of an error tell what it was; a fix is offered only where it means exactly what was written.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Edit, Fix, Span
from vigil_lang.diagnostics.shorten import cut

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vigil_lang.syntax.scan import Token

Advice = tuple[str, Fix | None]
"""A hint, and the fix that goes with it."""

TEMPORAL = {
    **dict.fromkeys(("historically", "hist"), "what has always been so is `not earlier not …`"),
    **dict.fromkeys(("once", "previously", "past", "already", "before", "preceded"), "what came before is `earlier …`"),
    **dict.fromkeys(
        ("previous", "prev", "yesterday"), "the call before is `earlier[1..1] …`, any earlier one `earlier …`"
    ),
    **dict.fromkeys(("next", "tomorrow"), "the next call is `later[1..1] …`, any later one `later …`"),
    **dict.fromkeys(
        ("eventually", "afterwards", "finally", "sometime", "after", "then"),
        "for what comes afterwards write `later …`",
    ),
    **dict.fromkeys(("globally", "henceforth"), "what holds from then on is `not later not …`"),
}
"""Words of temporal logics before a condition."""
_LISTS = "lists and sets stand in braces, such as `{1, 2}`"
QUOTED = "strings stand in double quotes"
NULLS = frozenset({"null", "none", "nil", "undefined"})
"""What stands for no value elsewhere, in small letters."""
_CLOSING = {"[": "]", "(": ")", "{": "}"}
_QUOTES = {"'": "'", "`": "`", "“": "”", "„": "“”", "”": "”", "‘": "’", "’": "’", "«": "»"}
"""What begins a text elsewhere, and what may end it."""
_LONGEST_TEXT = 200
_LONGEST_SHOWN = 80
"""Characters of a condition that a hint repeats."""
_BOUND = re.compile(r"[0-9]+(?P<unit>ms|s|m|h|d)?")
_RANGE = re.compile(r"(?P<least>-?[0-9.]*[0-9])\.\.(?P<greatest>-?[0-9][0-9.]*)")
_PARTS = {
    "prec": "`prec(trigger, guard)` takes two: what is done, and what must have come first",
    "resp": "`resp(trigger, response)` takes two: what is done, and what must follow",
    "bresp": "`bresp[3](trigger, response)` takes two: what is done, and what must follow",
    "rslv": "`rslv(trigger, resolver)` takes two: what is done, and what resolves the last of them",
    "until": "`until(trigger, resolver, forbidden)` takes three: what is forbidden in between stands last",
    "budget": "`budget[100](payment, amount)` takes two: what is counted, and the argument whose numbers add up",
}
_TOO_MANY = {
    "abs": "several are forbidden by `abs(a() or b())`, or by a statement each",
    "prec": "one of several guards is `prec(a(), b() or c())`; where each is needed, each has a statement",
    "resp": "one of several responses is `resp(a(), b() or c())`; where each is needed, each has a statement",
    "bresp": "one of several responses is `bresp[3](a(), b() or c())`; where each is needed, each has a statement",
    "rslv": "one of several resolvers is `rslv(a(), b() or c())`",
}
_COMMANDS = frozenset({"Bash", "PowerShell", "Shell"})
_OF_FILES = {
    **dict.fromkeys(("Read", "Write", "Edit", "MultiEdit"), "file_path"),
    **dict.fromkeys(("Glob", "Grep"), "path"),
    "NotebookEdit": "notebook_path",
}
"""Tools of a harness whose permissions name files, each with the argument that does."""
_OF_PAGES = frozenset({"WebFetch"})
_ARGUMENTS = frozenset({"command", "description", "file_path", "path", "pattern", "url", "prompt", "not", "has"})
_TESTING = frozenset({"=", "!=", "~", "!~", "<", ">", "<=", ">=", "in", "contains", "has", "==", "=~"})
_VIEWS = {
    "len": "length",
    "length": "length",
    "strlen": "length",
    "count": "count",
    "lower": "lower",
    "lowercase": "lower",
}
"""Functions of one text elsewhere, and the views that are those."""
_MODULE = re.compile(r"(?:\./)?(?P<path>[A-Za-z_]\w*(?:[/.-]\w+)*?)(?:\.vgl)?")


def by_shape(text: str, tokens: Sequence[Token], at: int, accepted: set[str]) -> Advice | None:
    """The advice for the token at an index, where what stands around it is another notation's shape."""
    found = tokens[at]
    before = tokens[at - 1] if at else None
    if before is None:
        return None
    rest = tokens[at + 1 :]
    if found.text in ("[", "(") and "LBRACE" in accepted:
        return _LISTS, _braces(found, rest)
    if (advice := of_permissions(text, tokens, at)) is not None:
        return advice
    if found.text in _QUOTES and "STRING" in accepted:
        return QUOTED, _double_quotes(text, found)
    if "RSQB" in accepted and before.kind == "number":
        return _range(found, before, rest)
    if before.text == "in" and "LBRACE" in accepted and (ends := _RANGE.fullmatch(found.text)) is not None:
        return _between(tokens, at - 1, ends["least"], ends["greatest"], found.end)
    if found.text.lower() == "between" and "MATCH" in accepted and len(rest) > 2:
        least, joining, greatest = rest[:3]
        if least.kind == greatest.kind == "number" and joining.text.lower() == "and":
            return _between(tokens, at, least.text, greatest.text, greatest.end)
    if found.kind == "string" and before.text in ("<", "<=", ">", ">=") and at > 1 and tokens[at - 2].text == "version":
        return 'versions are texts, which no order test compares: `version ~ "2.*"`', None
    return (
        _argument(tokens, at)
        or _null(tokens, at)
        or _temporal(tokens, at)
        or _of_a_form(tokens, at, accepted)
        or _behind_a_form(text, tokens, at, accepted)
        or _modified(tokens, at)
        or _function(tokens, at)
        or _declared(tokens, at, accepted)
    )


def of_permissions(text: str, tokens: Sequence[Token], at: int) -> Advice | None:
    """How a rule of a harness's permissions is said: `Bash(git push:*)`, `Read(./.env)`, `WebFetch(domain:a.io)`."""
    opening = _opening(tokens, at)
    tool = tokens[opening - 1] if opening > 0 else None
    if tool is None or tool.end != tokens[opening].start or tool.text not in {*_COMMANDS, *_OF_FILES, *_OF_PAGES}:
        return None
    closing = text.find(")", tokens[opening].end)
    inside = text[tokens[opening].end : closing].strip() if closing >= 0 else ""
    if not inside or "\n" in inside or len(inside) > _LONGEST_TEXT or set(inside) & set("\"\\'`“”"):
        return None
    words = [token.text for token in tokens[opening + 1 :] if token.start < closing]
    if any(word in _ARGUMENTS for word in words[:1]) or any(word in _TESTING for word in words[1:]):
        return None
    if (argument := _OF_FILES.get(tool.text)) is not None:
        return f'the arguments of a call are tested by name: `{tool.text}({argument} ~ "*/…")`', None
    if tool.text in _OF_PAGES:
        written = f'{tool.text}(url:host = "{inside.removeprefix("domain:")}")'
    else:
        starts = inside.removesuffix(":*") if inside.endswith(":*") else inside.removesuffix("*")
        meant = f'~ "{starts}*"' if starts != inside else f'= "{inside}"'
        written = f"{tool.text}(command {meant})"
        if set(starts) & set("*?("):
            return f"the arguments of a call are tested by name: `{written}`", None
    fix = Fix(f"write `{written}`", (Edit(Span(tool.start, closing + 1), written),))
    return f"the arguments of a call are tested by name: `{written}`", fix


def _opening(tokens: Sequence[Token], at: int) -> int:
    """The index of the parenthesis that is open before a token; -1 where there is none."""
    depth = 0
    for index in range(at - 1, -1, -1):
        sign = tokens[index].text
        if sign in _CLOSING.values():
            depth += 1
        elif sign in _CLOSING:
            if depth == 0:
                return index if sign == "(" else -1
            depth -= 1
    return -1


def _braces(found: Token, rest: Sequence[Token]) -> Fix | None:
    """`{"a", "b"}` for `["a", "b"]` and `("a", "b")`, where nothing but elements stands between."""
    end = next((index for index, token in enumerate(rest) if token.text == _CLOSING[found.text]), None)
    if end is None:
        return None
    inside = rest[:end]
    if not inside or any(token.kind in ("symbol", "unclosed") and token.text != "," for token in inside):
        return None
    if [token.text == "," for token in inside] != [index % 2 == 1 for index in range(len(inside))]:
        return None
    if found.text == "(" and len(inside) == 1 and inside[0].kind == "word":
        return None  # a set that is declared is written without brackets
    return Fix("write `{…}`", (Edit(found.span, "{"), Edit(rest[end].span, "}")))


def _double_quotes(text: str, found: Token) -> Fix | None:
    line = text[found.end : found.end + _LONGEST_TEXT].partition("\n")[0]
    end = min((place for sign in _QUOTES[found.text] if (place := line.find(sign)) > 0), default=0)
    inside = line[:end]
    doubled = line[end : end + 2] == found.text * 2  # as SQL writes one inside
    if not inside or doubled or set(inside) & set('"\\'):
        return None
    return Fix(f'write `"{inside}"`', (Edit(Span(found.start, found.end + end + 1), f'"{inside}"'),))


def _range(found: Token, before: Token, rest: Sequence[Token]) -> Advice | None:
    """`earlier[1..3]` for `[1,3]`, `[1:3]`, `[1-3]` and `[1 to 3]`."""
    if found.kind == "number" and found.text.startswith("-"):
        greatest, end = found.text[1:], found.end
    elif found.text in (",", ":", "-", "to") and rest and rest[0].kind == "number":
        greatest, end = rest[0].text, rest[0].end
    else:
        return None
    units = [_BOUND.fullmatch(each) for each in (before.text, greatest)]
    if None in units:
        return None
    if (
        found.text == ","
        and before.end == found.start == end - len(greatest) - 1
        and len(greatest) == 3
        and greatest.isdigit()
    ):
        whole = f"{before.text}{greatest}"
        return f"a range is written `{before.text}..{greatest}`, and a number without a comma: `{whole}`", None
    written = f"{before.text}..{greatest}"
    kinds = {bool(each and each["unit"]) for each in units}
    fix = (
        Fix(f"write `{written}`", (Edit(Span(before.start, end), written),))
        if len(kinds) == 1 or before.text == "0"
        else None
    )
    return "a range is written `1..3`, or `10s..1m`", fix


def _between(tokens: Sequence[Token], at: int, least: str, greatest: str, end: int) -> Advice:
    """Two comparisons for `amount between 100 and 500`; the field stands before the word at an index."""
    field = tokens[at - 1]
    written = f"{field.text} >= {least} and {field.text} <= {greatest}"
    previous = tokens[at - 2] if at > 1 else None
    hint = f"a range is written `{written}`"
    if field.kind not in ("word", "string") or previous is None or previous.text in (":", ")"):
        return hint, None
    shown = written if previous.text in ("(", ",", "and") else f"({written})"
    return hint, Fix(f"write `{shown}`", (Edit(Span(field.start, end), shown),))


def _argument(tokens: Sequence[Token], at: int) -> Advice | None:
    """`force = true` for `force: true` and `force := true`, and a comma for `;` between arguments."""
    found, before, hint = tokens[at], tokens[at - 1], "an argument is tested by `=`"
    if found.text == ";" and _opening(tokens, at) >= 0:
        return "arguments are separated by commas", Fix("write `,`", (Edit(found.span, ","),))
    if before.text == ":" and at > 1 and tokens[at - 2].kind in ("word", "string") and _opening(tokens, at) >= 0:
        if found.text == "=":
            return hint, Fix("write `=`", (Edit(Span(tokens[at - 2].end, found.end), " ="),))
        if found.kind in ("string", "number", "regex"):
            sign = "~" if found.kind == "regex" else "="
            return hint, Fix(f"write `{sign}`", (Edit(Span(tokens[at - 2].end, found.start), f" {sign} "),))
    if found.text in (")", ",") and at > 2 and tokens[at - 2].text == ":" and before.text in ("true", "false"):
        return hint, Fix("write `=`", (Edit(Span(tokens[at - 3].end, before.start), " = "),))
    return None


def _null(tokens: Sequence[Token], at: int) -> Advice | None:
    """`not has k` for `k is null` and `k == null`, and `has k` for `k is not null`."""
    field, words = tokens[at - 1], [token.text.lower() for token in tokens[at : at + 3]]
    if words[0] not in ("is", "=="):
        return None
    present = words[:2] == ["is", "not"]
    length = 3 if present else 2
    if len(words) < length or words[length - 1] not in NULLS:
        return None
    written = f"has {field.text}" if present else f"not has {field.text}"
    plain = field.kind in ("word", "string") and (at == 1 or tokens[at - 2].text != ":")
    fix = Fix(f"write `{written}`", (Edit(Span(field.start, tokens[at + length - 1].end), written),)) if plain else None
    return f"a value that is null is absent: `{written}`", fix


def _temporal(tokens: Sequence[Token], at: int) -> Advice | None:
    """`historically not a()`, `ONCE[0,30s] a()`, and `a() earlier`."""
    found, before = tokens[at], tokens[at - 1]
    if found.text in ("earlier", "later") and (before.text == ")" or before.kind == "word"):
        return f"`{found.text}` stands before its condition: `{found.text} a()`", None
    word = tokens[at - 2] if before.text == "not" and at > 1 else before
    hint = TEMPORAL.get(word.text.lower())
    if hint is None or word.kind != "word" or (word is before and found.text != "["):
        return None
    bounded = "earlier" if "earlier" in hint else "later"
    return f"{hint}, within a time `{bounded}[30s] …`" if found.text == "[" else hint, None


def _of_a_form(tokens: Sequence[Token], at: int, accepted: set[str]) -> Advice | None:
    """Too few or too many parts of a form, a test in the place of an argument's name, or a missing `distinct`."""
    if tokens[at].text in _TESTING and "RPAR" in accepted and "AND" not in accepted:
        opening = _opening(tokens, at)
        if opening > 0 and tokens[opening - 1].text == "]":
            return "only the argument's name stands here; its test goes into the condition before", None
    if accepted == {"DISTINCT"}:
        found = tokens[at]
        alone = found.kind == "word" and at + 1 < len(tokens) and tokens[at + 1].text == ")"
        fix = Fix(f"write `distinct {found.text}`", (Edit(found.span, f"distinct {found.text}"),)) if alone else None
        return "different values are counted by `distinct k`; several events are counted together as `a() or b()`", fix
    few, many = accepted == {"COMMA"} and tokens[at].text == ")", tokens[at].text == ","
    if not few and not many:
        return None
    opening = _opening(tokens, at)
    if opening < 1:
        return None
    name = tokens[opening - 1]
    if name.text == "]":
        name = next((token for token in reversed(tokens[:opening]) if token.kind == "word"), name)
    hint = (_PARTS if few else _TOO_MANY).get(name.text)
    return None if hint is None else (hint, None)


def _behind_a_form(text: str, tokens: Sequence[Token], at: int, accepted: set[str]) -> Advice | None:
    """`prec(a(), b()) since c()` and `abs(a()) until b()`: what the body of a form cannot have behind it."""
    word = tokens[at]
    if word.text not in ("since", "until") or "AFTER" not in accepted or tokens[at - 1].text != ")":
        return None
    opening = _opening(tokens, at - 1)
    form = tokens[opening - 1].text if opening > 0 else ""
    parts = [part for part in _parts(tokens[opening + 1 : at - 1]) if part]
    inside = [cut(text[part[0].start : part[-1].end], _LONGEST_SHOWN) for part in parts]
    behind = cut(text[word.end : tokens[-1].end].strip(), _LONGEST_SHOWN)
    if form == "prec" and len(inside) == 2 and word.text == "since":
        guarded, guard = inside
        return f"a guard since the last of something is `always {guarded} implies not {behind} since {guard}`", None
    if word.text == "until":
        if form == "abs" and len(inside) == 1:
            return f"what is forbidden until something has happened is `prec({inside[0]}, {behind})`", None
        return "what is forbidden from one event to another is `until(trigger, resolver, forbidden)`", None
    return "what applies only once something has happened ends with `after …`", Fix(
        "write `after`", (Edit(word.span, "after"),)
    )


def _parts(tokens: Sequence[Token]) -> list[list[Token]]:
    """Tokens between commas that stand in no brackets of their own."""
    parts: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        depth += (token.text in _CLOSING) - (token.text in _CLOSING.values())
        if token.text == "," and depth == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def _modified(tokens: Sequence[Token], at: int) -> Advice | None:
    """`command contains "x"` for Sigma's `command|contains: "x"`."""
    found, field, rest = tokens[at], tokens[at - 1], tokens[at + 1 :]
    if found.text != "|" or not rest or found.end != rest[0].start or found.start != field.end:
        return None
    tests = {"contains": 'contains "{}"', "startswith": '~ "{}*"', "endswith": '~ "*{}"', "re": "~ /…/"}
    test = tests.get(rest[0].text)
    if test is None:
        return None
    value = rest[2] if len(rest) > 2 and rest[1].text in (":", "=") and rest[2].kind == "string" else None
    fix = None
    if value is not None and "{}" in test and not set(value.text) & set("*?\\"):
        written = f"{field.text} {test.format(value.text[1:-1])}"
        fix = Fix(f"write `{written}`", (Edit(Span(field.start, value.end), written),))
    return f"this is written `{field.text} {test.format('…')}`", fix


def _function(tokens: Sequence[Token], at: int) -> Advice | None:
    """`text:length > 500` for `len(text) > 500`; how often something happened is a form."""
    if tokens[at - 1].text != ")" or tokens[at].text not in _TESTING:
        return None
    opening = _opening(tokens, at - 1)
    name = tokens[opening - 1] if opening > 0 else None
    if name is not None and name.text in ("sum", "total"):
        return "what numbers may add up to is `budget[n](…, amount)`", None
    view = _VIEWS.get(name.text) if name is not None else None
    if name is None or view is None:
        return None
    inside = tokens[opening + 1 : at - 1]
    if len(inside) != 1 or inside[0].kind != "word":
        return "how often something happened is `atmost[n](…)`, how long a text is `text:length`", None
    written = f"{inside[0].text}:{view}"
    return f"this is written `{written}`", Fix(
        f"write `{written}`", (Edit(Span(name.start, tokens[at - 1].end), written),)
    )


def _declared(tokens: Sequence[Token], at: int, accepted: set[str]) -> Advice | None:
    """`pattern p: a()`, `let A: {a}`, `param p = 5`, `use "./shared.vgl"`, and elements without a comma."""
    found, before = tokens[at], tokens[at - 1]
    if accepted <= {"EQ", "LPAR"} and "EQ" in accepted and found.text in (":", ":=", "is", "as"):
        equals = Fix("write `=`", (Edit(Span(before.end, found.end), " ="),))
        return "what a name stands for is written behind `=`", equals
    if accepted == {"COLON"} and found.text == "=" and tokens[0].text == "param":
        value = tokens[at + 1] if at + 1 < len(tokens) else None
        type_ = None if value is None else _type(value)
        written = f": {type_ or 'number'} ="
        fix = Fix(f"write `{written}`", (Edit(Span(before.end, found.end), written),)) if type_ else None
        return "the type stands before the value: `param NAME: number = …`", fix
    if before.text == "use" and "RELATIVE" in accepted:
        module = _MODULE.fullmatch(found.text[1:-1]) if found.kind == "string" else None
        if module is None:
            return "a file beside this one is `use .name`, one below it `use .folder.name`", None
        written = f".{module['path'].replace('/', '.')}"
        return f"a file beside this one is `use {written}`", Fix(f"write `{written}`", (Edit(found.span, written),))
    elements = {"string", "number", "word", "regex"}
    if accepted == {"COMMA", "RBRACE"} and found.kind in elements and before.kind in elements:
        return "a comma stands between elements", Fix("write `,`", (Edit(Span(before.end, before.end), ","),))
    return None


def _type(value: Token) -> str | None:
    if value.text in ("true", "false"):
        return "bool"
    return {"{": "set"}.get(value.text) or {"number": "number", "string": "text"}.get(value.kind)
