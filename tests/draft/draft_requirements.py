"""Requirements in the intermediate form: short ways to write them, and strategies for good and for hostile ones."""

from __future__ import annotations

from typing import Any, get_args

from hypothesis import strategies as st
from msgspec.structs import replace

from vigil_lang.diagnostics import Source
from vigil_lang.draft.building.build import statement
from vigil_lang.draft.clause_result import (
    Case,
    Clause,
    Condition,
    Counting,
    Requirement,
    Subject,
    Test,
    TestName,
    View,
    ViewName,
)
from vigil_lang.semantics.policy import read_policy
from vigil_lang.syntax.print import to_text


def called(action: str, *tests: Test) -> Case:
    """A case: a call of an action that passes the tests."""
    return Case((Test("action", "is", values=(action,)), *tests))


def arg(name: str, test: Any, *values: str, negated: bool = False) -> Test:
    """A test of an argument."""
    return Test("argument", test, name, values, negated)


def any_of(*cases: Case) -> Condition:
    """A condition."""
    return Condition(cases)


def never(*tests: Test, **parts: Any) -> Requirement:
    """`abs` over one case."""
    return Requirement("never", "", "abs", Condition((Case(tests),)), **parts)


def clause(text: str = "Never do it.", **parts: Any) -> Clause:
    """A clause of SKILL.md."""
    return Clause(**({"id": "c1", "path": "SKILL.md", "line": 3, "text": text, "word": "never"} | parts))


OK = Test("status", "is", values=("ok",))
NOT_FAILED = Test("status", "is", values=("error",), negated=True)

# --- what people would send ---

ACTIONS = ("a", "b", "c", "a.b", "k", "file.read", "no such", "has", "rm -r")
NAMES = ("f", "g", "p.q", "status", "odd name")
TEXTS = ("M", "MN", "N", "7", "7.0", "-3", "true", "1e1", "é*", 'say "x"', "C:\\x", "//", "any other")
GLOBS = ("M*", "*", "?", "MN", "**N", "\\*", "é\\*", 'a"*', "7*")
REGEXES = ("[0-9]", "(?i)^m", "/", "\\/", "N$", "^$", "\\d\\.", "[/]", "//i")
VARIABLES = ("x", "y", "the_file")
VIEWS = (
    *map(View, ("lower", "host", "base", "dir", "ext", "length", "count")),
    View("json", 'a[*].b[0]["odd \\" name"]'),
    View("find", "(?i)[/A-Z]+"),
    View("without", "N"),
)


@st.composite
def event_tests(draw: st.DrawFn, *, viewed: bool = True) -> Test:
    """A test that can be built."""
    of = draw(st.sampled_from(("action", "action", "argument", "argument", "argument", "output", "status")))
    negated = draw(st.integers(0, 3)) == 0
    if of == "status":
        return Test("status", "is", values=(draw(st.sampled_from(("ok", "error"))),), negated=negated)
    if of == "action":
        test = draw(st.sampled_from(("is", "is", "is", "glob", "regex")))
        few = st.sampled_from({"is": ACTIONS, "glob": ("a*", "file.?ead", "b"), "regex": ("^a", "(?i)FILE")}[test])
        return Test("action", test, values=tuple(draw(st.lists(few, min_size=1, max_size=3))), negated=negated)
    name = draw(st.sampled_from(NAMES)) if of == "argument" else ""
    kinds = {
        "is": (TEXTS, 3), "other_than": (TEXTS, 3), "contains": (TEXTS, 2), "glob": (GLOBS, 2),
        "unlike_glob": (GLOBS, 1), "regex": (REGEXES, 2), "unlike_regex": (REGEXES, 1), "same": (VARIABLES, 1),
        "mentions": (VARIABLES, 1),
        "<": (("7", "1e1", "-3.50"), 1), ">=": (("7", "0", "+3"), 1), "present": ((), 0),
    }  # fmt: skip
    kind = draw(st.sampled_from(sorted(kinds)))
    pool, most = kinds[kind]
    values = draw(st.lists(st.sampled_from(pool), min_size=1, max_size=most)) if most else []
    views = draw(st.just(()) | st.just(()) | st.lists(st.sampled_from(VIEWS), max_size=2).map(tuple)) if viewed else ()
    return Test(of, kind, name, tuple(values), negated, views)


conditions = st.lists(
    st.lists(event_tests(), min_size=1, max_size=4).map(lambda t: Case(tuple(t))), min_size=1, max_size=3
).map(lambda cases: Condition(tuple(cases)))


def countings(form: str) -> st.SearchStrategy[Counting | None]:
    """How a form may count."""
    field = st.sampled_from(NAMES)
    if form == "atleast":
        return st.none() | st.builds(Counting, field=field)
    window = st.none() | st.sampled_from(("20", "1h"))
    made = st.builds(Counting, window, st.none() | conditions, field if form == "budget" else st.none() | field)
    return made if form == "budget" else st.none() | made


@st.composite
def requirements(draw: st.DrawFn) -> Requirement:
    """A requirement that can be built, and whose variables are bound."""
    form = draw(st.sampled_from(("abs", "prec", "resp", "bresp", "rslv", "until", "atmost", "atleast", "budget")))
    counts = form in ("atmost", "atleast", "budget")
    guard = draw(conditions) if form != "abs" and not counts else None
    forbidden = draw(conditions) if form == "until" else None
    after = draw(st.none() | st.none() | conditions)
    some = st.sampled_from(("1", "2"))
    bounds = {"bresp": st.sampled_from(("1", "3", "30s", "500ms")), "budget": st.sampled_from(("0", "2.50", "1000"))}
    bound = some if form in ("atmost", "atleast") else bounds.get(form)
    counting = draw(countings(form)) if counts else None
    says = draw(st.sampled_from(("", "It is so.", "A CSV file is read before it is changed, " * 5)))
    limit = None if bound is None else draw(bound)
    return bound_after(Requirement("s", says, form, draw(conditions), guard, forbidden, after, limit, counting))


def bound_after(requirement: Requirement) -> Requirement:
    """The requirement itself if all its variables are bound; else with a scope that binds them all."""
    source = Source("p.vgl", f"{to_text(statement(requirement, 's', []))}\n")
    if not read_policy(source).errors:
        return requirement
    since = None if requirement.counting is None else requirement.counting.since
    parts = (requirement.trigger, requirement.guard, requirement.forbidden, since)
    cases = [case for part in parts if part is not None for case in part.any]
    used = {test.values[0] for case in cases for test in case.all if test.test in ("same", "mentions")}
    return replace(requirement, after=any_of(Case(tuple(arg("f", "same", x) for x in sorted(used)))) if used else None)


# --- what anyone might send ---

PIECES = (
    "a", "b", " ", "é", "\n", "\t", "\x00", "\x1b[2J", "\u202e", "\u3164", "\u034f", "\U000e0041", "\ufeff", '"', "'",
    "\\", "\\\\", "*", "?", "/", "//", "///", "/*", "*/", "(", ")", "{", "}", "[", "]", ",", ":", "@", "~", "=", "!=",
    "not", "and", "or", "in", "statement", "policy", "true", "ok", "7", "-1", "1e999999999", "0x1", "(?i)", "(?<=a)b",
    "(", "[[", "a{9999}", "vigil: ignore-file[VGL3] x", "// vigil: ignore[VGL301] x", "@severity(info)", "abs(", "x",
    "後", "\ud800",
)  # fmt: skip
hostile_texts = st.lists(st.sampled_from(PIECES), max_size=6).map("".join) | st.text(max_size=12) | st.just("a" * 501)


_some = st.sampled_from(TEXTS + ACTIONS + NAMES + VARIABLES) | hostile_texts
_anything = st.builds(
    Test,
    st.sampled_from(get_args(Subject)),
    st.sampled_from(get_args(TestName)),
    _some | st.just(""),
    st.lists(_some, max_size=3).map(tuple),
    st.booleans(),
    st.lists(st.builds(View, st.sampled_from(get_args(ViewName)), _some | st.just("")), max_size=2).map(tuple),
)
_any_case = st.lists(_anything | event_tests(), max_size=2).map(lambda items: Case(tuple(items)))
_any_condition = st.lists(_any_case, max_size=2).map(lambda cases: Condition(tuple(cases)))
_any_part: dict[str, st.SearchStrategy[Any]] = {
    "name": _some,
    "says": hostile_texts,
    "trigger": _any_condition,
    "guard": st.none() | _any_condition | conditions,
    "forbidden": st.none() | _any_condition | conditions,
    "after": st.none() | _any_condition | conditions,
    "bound": st.none() | _some,
    "counting": st.none() | st.builds(Counting, st.none() | _some, st.none() | _any_condition, st.none() | _some),
    "where": st.none() | _any_condition,
}


@st.composite
def hostile_requirements(draw: st.DrawFn) -> Requirement:
    """A requirement that has anything its types allow in some of its parts."""
    chosen = draw(st.sets(st.sampled_from(sorted(_any_part)), min_size=1, max_size=3))
    return replace(draw(requirements()), **{name: draw(_any_part[name]) for name in sorted(chosen)})
