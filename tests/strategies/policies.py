"""Policies for property tests, as source text over the whole language."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from tests.strategies.choices import pick, up_to
from vigil_lang.diagnostics import Source
from vigil_lang.semantics.forms import FORMS
from vigil_lang.semantics.lower import Lowering
from vigil_lang.semantics.meanings import Values
from vigil_lang.semantics.policy import load_module, read_policy
from vigil_lang.semantics.range_restriction import unbound

if TYPE_CHECKING:
    from vigil_lang.diagnostics import Diagnostic
    from vigil_lang.semantics.policy import Policy

DECLARATIONS = {
    "ACTS": 'let ACTS = {a, "a.b"} | {k}',
    "VALS": 'let VALS = {M, 7, "", true}',
    "GLOB": 'let GLOB = "M*"',
    "KEY": "let KEY = /M|7/",
    "MASKS": 'let MASKS = {"M?", N, 7, KEY, /^e/i}',
    "SEVEN": "let SEVEN = 7.0",
    "limit": "param limit: number = 7",
    "word": 'param word: text = "M"',
    "both": "param both: set = {M, SEVEN} | VALS",
    "named": "pattern named(x) = f = x",
    "joined": "pattern joined(x, y) = a(f = x) and g = y",
    "plain": "pattern plain = status = ok or has f",
    "apart": "pattern apart(x) = named(x) and not g = x",
    "holding": "pattern holding(v) = f contains v or output contains v",
}
PLAIN = ("f", "g", "p.q", '"f"', "output")
VIEWED = (
    *("f:lower", "f:length", "g:count", "f:ext", "output:lower", '"g":base', "f:find(/M/):lower", "f:without(/[MN]/)"),
    *(
        'output:json("q")',
        'output:json("[*].q")',
        'output:json("[*].n")',
        'output:json(""):length',
        "p.q:find(/(M)|7/)",
    ),
)
FIELDS = (*PLAIN, *PLAIN, *VIEWED)
ENTRIES = ('output:json("[*]")', "output", 'output:json("")')
MEMBERS = ("q", "n", "q:lower")
VARIABLES = ("x", "y", "z")
LITERALS = ('"M"', '"MN"', '""', "7", "7.0", '"7.0"', "-3", "true", '"é*"', "word", "SEVEN", '"any other"')
SETS = ("{}", "{M, N}", '{M, 7, ""}', "VALS", "both", "VALS | {N}", "{word, SEVEN}")
GLOBS = ('"*"', '"M*"', '"?"', '"*N"', '"*\\\\**"', "GLOB", '""', "/M/", "/^m$/i", "/[0-9]/", "/é/")
MASKS = ("KEY", "MASKS", '{"M*", /7/}', "VALS | {/é/}", "{}", "MASKS | both")
LIMITS = ("0", "7", "13.5", "limit", "SEVEN")
NUMBERS = ("7", "6.5", "-3", "0", "limit", "SEVEN")
ACTION_TESTS = (
    "action in {a}",
    "action in {a, file.read}",
    "action in ACTS",
    "action in {}",
    "action = b",
    'action = "a.b"',
    'action ~ "a*"',
    "action ~ /^[ak]$/",
)
BOUNDS = (
    *("1", "2", "3", "10", "500ms", "1s", "30s", "1h", "1d"),
    *("1 call", "2 steps", "1..", "1..1", "0..2", "2..3 steps", "1s..", "500ms..30s", "1.. steps"),
)
WINDOWS = ("1 call", "2 calls", "3 steps", "1s", "30s")
ORDERS = ("<", "<=", ">", ">=")
NAMES = ("S", "R3", "trigger", "guard", "forbidden", "body")


@cache
@st.composite
def ground_tests(draw: st.DrawFn) -> str:
    """A test without variables."""
    field = draw(pick(*FIELDS))
    match draw(up_to(9)):
        case 0:
            return f"{field} {draw(pick('in', 'not in'))} {draw(pick(*SETS))}"
        case 1 | 2:
            return f"{field} {draw(pick('=', '!='))} {draw(pick(*LITERALS))}"
        case 3:
            return f"{field} {draw(pick('~', '!~'))} {draw(pick(*GLOBS, *MASKS))}"
        case 4:
            return f"{field} {draw(pick(*ORDERS))} {draw(pick(*NUMBERS))}"
        case 5:
            return f"{field} contains {draw(pick(*LITERALS[:3], 'word'))}"
        case 6:
            return f"has {field}"
        case 7:
            return draw(pick("status = ok", "status = error", "plain"))
        case 8:
            return draw(entries(()))
        case _:
            return draw(st.sampled_from(ACTION_TESTS))


_members = st.lists(st.sampled_from(MEMBERS), min_size=1, max_size=2)


@cache
@st.composite
def entries(draw: st.DrawFn, variables: tuple[str, ...]) -> str:
    """Tests that hold of one entry together."""
    tests = []
    for member in draw(_members):
        ground = (f"has {member}", f'{member} = "M"', f"{member} > 1", f"{member} in VALS", f"not {member} ~ MASKS")
        joins = [f"{member} {operator} {x}" for x in variables for operator in ("=", "=", ">=", "contains")]
        tests.append(draw(pick(*ground, *joins)))
    return f"{draw(pick(*ENTRIES))} with ({draw(pick(' and ', ' or ')).join(tests)})"


@cache
@st.composite
def variable_tests(draw: st.DrawFn, variables: tuple[str, ...]) -> str:
    """A test that mentions a variable, by itself or through a pattern."""
    field, x = draw(pick(*FIELDS)), draw(pick(*variables))
    match draw(up_to(11)):
        case 0 | 1:
            return f"{field} contains {x}"
        case 10:
            return f"{field} {draw(pick(*ORDERS))} {x}"
        case 11:
            return draw(entries(variables))
        case 2:
            other = draw(pick(*variables, '"M"', "7", "word"))
            return f"joined({x}, {other})"
        case 3:
            return f"{draw(pick('named', 'apart', 'holding'))}({x})"
        case _:
            return f"{field} = {x}"


@cache
def _tests(variables: tuple[str, ...]) -> st.SearchStrategy[str]:
    return ground_tests() if not variables else st.one_of(ground_tests(), variable_tests(variables))


@cache
@st.composite
def patterns(draw: st.DrawFn, variables: tuple[str, ...]) -> str:
    """What policies mostly say: a call whose arguments carry the variables."""
    tests = [f"{draw(pick(*FIELDS))} = {x}" for x in variables if draw(up_to(3))]
    more = [draw(ground_tests())] if draw(up_to(3)) == 0 else []
    return f"{draw(pick('a', 'b'))}({', '.join([*tests, *more])})"


@cache
@st.composite
def conditions(draw: st.DrawFn, variables: tuple[str, ...], depth: int = 2) -> str:
    """A condition on one event; mostly one that a run of few actions can meet."""
    tests = _tests(variables)
    kind = draw(up_to(9))
    if depth == 0 or kind <= 1:
        return draw(tests)
    if kind <= 4:
        name = draw(pick("a", "b", "k", '"a.b"'))
        inside = draw(_several(conditions(variables, depth - 1) if kind == 4 else tests, 0, 2))
        return f"{name}({', '.join(inside)})"
    if kind == 5:
        return f"not {_bracketed(draw(conditions(variables, depth - 1)))}"
    word = draw(pick("and", "and", "or"))
    parts = draw(_several(conditions(variables, depth - 1), 2, 3))
    return f" {word} ".join(map(_bracketed, parts))


@cache
def _several(of: st.SearchStrategy[str], fewest: int, most: int) -> st.SearchStrategy[list[str]]:
    return st.lists(of, min_size=fewest, max_size=most)


@cache
def _events(variables: tuple[str, ...], depth: int) -> st.SearchStrategy[str]:
    return patterns(variables) | conditions(variables, depth)


@cache
def _in_brackets(of: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return of.map(_bracketed)


distincts = st.sampled_from(("", "", *(f", distinct {field}" for field in FIELDS)))


@cache
@st.composite
def bodies(draw: st.DrawFn, variables: tuple[str, ...], depth: int = 3) -> str:
    """A temporal body."""
    kind = draw(up_to(9))
    if depth == 0 or kind <= 1:
        return draw(_events(variables, 1))
    inner = _in_brackets(bodies(variables, depth - 1))
    bound = draw(st.sampled_from(("", "", *(f"[{b}]" for b in BOUNDS))))
    if kind <= 5:
        return f"{draw(pick('earlier', 'later'))}{bound} {draw(inner)}"
    if kind == 6:
        return f"not {draw(inner)}"
    if kind == 7:
        word = f"{draw(pick('', 'weak '))}{draw(pick('since', 'until'))}"
        return f"{draw(inner)} {word}{bound} {draw(inner)}"
    if kind == 8:
        return f"repeated[{draw(pick('1', '2', '3'))}]({draw(inner)}{draw(distincts)})"
    word = draw(pick("and", "or", "implies", "implies"))
    return f" {word} ".join(draw(_several(inner, 2, 2)))


@st.composite
def wheres(draw: st.DrawFn, variables: list[str]) -> str:
    """A condition on the variables alone."""
    x, y = draw(pick(*variables)), draw(pick(*variables))
    view = draw(pick("", "", ":lower", ":length", ":ext"))
    tests = st.sampled_from(
        (
            *(f"{x}{view} not in VALS", f'{x}{view} != "M"', f"{x}{view} !~ MASKS", f"{x} > 1", f"has {x}"),
            *(f"{x}{view} = {y}", f"{x} contains {y}", f"{x}{view} {draw(pick(*ORDERS))} {y}"),
        )
    )
    found = draw(tests)
    match draw(up_to(5)):
        case 0:
            return f"not {found}"
        case 1:
            return f"{found} {draw(pick('and', 'or'))} {draw(tests)}"
        case _:
            return found


@st.composite
def statements(draw: st.DrawFn) -> str:
    """One statement of any form, range-restricted, over no, one, two or (seldom) three variables."""
    count = draw(pick(0, 1, 1, 1, 1, 2, 2, 2, 3))
    variables = VARIABLES[:count]
    name = draw(pick(*NAMES))
    form = draw(pick(*FORMS, "always", "always"))
    counts, limits, bounds = st.sampled_from("12"), st.sampled_from(LIMITS), st.sampled_from(BOUNDS)
    number = {"bresp": bounds, "atmost": counts, "atleast": counts, "budget": limits}.get(form)
    bound = f"[{draw(number)}]" if number is not None else ""
    arity = len(FORMS[form].roles) if form in FORMS else 1
    # Each condition sees some of the variables: those only in the trigger or only in the guard come up by themselves.
    first, *others = (draw(bodies(variables) if form == "always" else _events(variables, 2)) for _ in range(arity))
    if form == "budget":
        others = [draw(pick(*FIELDS))]
    inside = draw(distincts) if form in ("atmost", "atleast") else ""
    span = ""
    if form in ("atmost", "budget"):
        span = draw(st.sampled_from(("", "", *(f" in {window}" for window in WINDOWS))))
        span += f" since {draw(conditions(variables, 1))}" if draw(up_to(2)) == 0 else ""
    after = draw(conditions(variables, 1)) if draw(up_to(3)) == 0 else ""
    use_where = draw(up_to(3)) == 0

    def written(first: str, after: str) -> str:
        ending = f" after {after}" if after else ""
        text = f"statement {name}: {form}{bound}({', '.join([first, *others])}{inside}){span}{ending}"
        if form == "always":
            text = f"statement {name}: always {first}{ending}"
        return text

    text = written(first, after)
    used = [x for x in variables if re.search(rf"\b{x}\b", text)]
    suffix = f" where {draw(wheres(used))}" if used and use_where else ""
    if _is_restricted(text + suffix):
        return text + suffix
    # Bound where every violation passes: at the trigger, or at the event that the body of `always` speaks of.
    binding = " and ".join(f"{draw(pick(*FIELDS))} = {x}" for x in used)
    if form == "atleast":
        return written(first, f"{binding} and {_bracketed(after)}" if after else binding) + suffix
    return written(f"{binding} {'implies' if form == 'always' else 'and'} {_bracketed(first)}", after) + suffix


def _is_restricted(statement: str) -> bool:
    """Whether a statement may be written: its variables are bound, as those that `where` tests are."""
    found: list[Diagnostic] = []
    module = load_module(Source("policy.vgl", with_declarations(statement))).module
    lowered = Lowering(module, Values({}), found.append).statements()
    assert all(finding.code in ("VGL215", "VGL301") for finding in found), (statement, found)
    return bool(lowered) and not unbound(lowered[0].requirement)


def policies() -> st.SearchStrategy[str]:
    """A file with one statement and the declarations it uses."""
    return statements().map(with_declarations)


def with_declarations(statement: str) -> str:
    """The statement with what it refers to, directly or not, declared before it."""
    text, used, changed = statement, set[str](), True
    while changed:
        words = set(re.findall(r"[A-Za-z_]+", text))
        new = [name for name in DECLARATIONS if name in words and name not in used]
        used.update(new)
        text = "\n".join([*(DECLARATIONS[name] for name in new), text])
        changed = bool(new)
    return text


def policy_of(text: str) -> Policy:
    """The policy a text denotes; a text that does not parse or resolve is a fault of the strategy."""
    policy = read_policy(Source("policy.vgl", text))
    assert not policy.errors, (text, policy.errors)
    return policy


def _bracketed(text: str) -> str:
    return f"({text})" if " " in text else text
