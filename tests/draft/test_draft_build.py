"""What the intermediate form becomes: the statements people would write, and with the meaning that the form has."""

from __future__ import annotations

import re
from fnmatch import translate
from typing import TYPE_CHECKING, Any

import pytest
import re2
from draft_requirements import (
    NOT_FAILED,
    OK,
    any_of,
    arg,
    bound_after,
    called,
    clause,
    event_tests,
    hostile_requirements,
    hostile_texts,
    never,
    requirements,
)
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.strategies.runs import events, trace_of
from vigil_lang.diagnostics import Source
from vigil_lang.draft.building.build import Unbuildable, statement, statement_name
from vigil_lang.draft.clause_result import Case, Condition, Counting, Requirement, View
from vigil_lang.draft.clause_result import Test as EventTest
from vigil_lang.semantics import core
from vigil_lang.semantics.denotation import violations
from vigil_lang.semantics.policy import read_policy
from vigil_lang.syntax import parse
from vigil_lang.syntax.print import to_text
from vigil_lang.trace.values import number

if TYPE_CHECKING:
    from vigil_lang.trace import Event

WRITES = called("file.write", arg("path", "same", "x"), arg("path", "glob", "*.csv"))
READS = called("file.read", arg("path", "same", "x"), OK)


def body(requirement: Requirement) -> str:
    """The form and scope of the statement, as text."""
    return to_text(statement(requirement, "s", [])).split("statement s: ", 1)[1]


def condition(*items: EventTest) -> str:
    return body(never(*items)).removeprefix("abs(").removesuffix(")")


def viewed(test: EventTest, *views: Any) -> EventTest:
    """A test through some views, each a name or a name with its argument."""
    return replace(test, views=tuple(View(view) if isinstance(view, str) else View(*view) for view in views))


WRITTEN = [
    (Case((EventTest("action", "is", values=("a",)),)).all, "a()"),
    (WRITES.all, 'file.write(path = x, path ~ "*.csv")'),
    (called("a", OK).all, "a(status = ok)"),
    (called("a", NOT_FAILED, arg("n", "<", "3")).all, "a(not status = error, n < 3)"),
    ((EventTest("action", "is", values=("a", "rm -r", "has", "file.read")), arg("path", "same", "x")),
     'action in {a, "rm -r", "has", file.read} and path = x'),
    ((EventTest("action", "is", values=("a",), negated=True), OK), "not action = a and status = ok"),
    (called("a", EventTest("action", "is", values=("b", "c"), negated=True), OK).all,
     "a(status = ok) and not action in {b, c}"),
    (called("rm -r").all, '"rm -r"()'),
    (called("status").all, '"status"()'),
    (called("true").all, '"true"()'),
    ((EventTest("action", "glob", values=("git.*",)),), 'action ~ "git.*"'),
    ((EventTest("action", "glob", values=("git",)),), "action = git"),
    ((EventTest("action", "regex", values=("(?i)^git/",)),), "action ~ /^git\\//i"),
    ((arg("n", "is", "6"), arg("f", "is", "true"), arg("t", "is", "six")), 'n = 6 and f = true and t = "six"'),
    ((arg("n", "is", "6.0"), arg("m", "is", "007"), arg("k", "is", "")), 'n = "6.0" and m = "007" and k = ""'),
    ((arg("n", "is", "a", "6", "a"),), 'n in {"a", 6}'),
    ((arg("n", "other_than", "6"),), "n != 6"),
    ((arg("n", "other_than", "6", "7"),), "n not in {6, 7}"),
    ((arg("n", "is", "6", negated=True),), "not n = 6"),
    ((arg("n", "is", "6", "7", negated=True),), "not n in {6, 7}"),
    ((arg("p", "glob", "*.a", "*.b"),), 'p ~ "*.a" or p ~ "*.b"'),
    ((arg("p", "glob", "*.a", "*.b", negated=True),), 'not p ~ "*.a" and not p ~ "*.b"'),
    ((arg("p", "glob", "a**\\*?", "\\?"),), 'p ~ "a*\\*?" or p = "?"'),
    ((arg("p", "unlike_glob", "/repo/*"),), 'p !~ "/repo/*"'),
    ((arg("p", "unlike_glob", "/repo"),), 'p != "/repo"'),
    ((arg("p", "regex", "^/a\\/b[/]"),), "p ~ /^\\/a\\/b[\\/]/"),
    ((arg("p", "unlike_regex", "a"),), "p !~ /a/"),
    ((arg("p", "contains", 'a "b"', "6"),), 'p contains "a \\"b\\"" or p contains "6"'),
    ((arg("n", ">=", "1.50"), arg("n", "<", "1e3"), arg("m", ">", "-0")), "n >= 1.5 and n < 1000 and m > 0"),
    ((arg("n", "present"), arg("m", "present", negated=True)), "has n and not has m"),
    ((arg("text", "mentions", "x"), arg("p", "same", "x", negated=True)), "text contains x and not p = x"),
    (
        (arg("output", "is", "a"), EventTest("output", "contains", values=("b",))),
        '"output" = "a" and output contains "b"',
    ),
    ((EventTest("output", "present"), EventTest("output", "same", values=("x",))), "has output and output = x"),
    ((arg("odd name", "is", "a"), arg('a"b', "is", "c")), '"odd name" = "a" and "a\\"b" = "c"'),
    ((OK, OK), "status = ok"),
    ((viewed(arg("url", "is", "a"), "host"), viewed(arg("t", ">", "3"), "count")), 'url:host = "a" and t:count > 3'),
    (
        (viewed(EventTest("output", ">", values=("5",)), ("json", 'a[*]["b c"]')),),
        'output:json("a[*][\\"b c\\"]") > 5',
    ),
    ((viewed(arg("t", "same", "x"), ("find", "(?i)a/b"), "lower"),), "t:find(/a\\/b/i):lower = x"),
    ((viewed(arg("odd name", "present"), ("without", "q")),), 'has "odd name":without(/q/)'),
]  # fmt: skip


@pytest.mark.parametrize(("items", "written"), WRITTEN, ids=[w for _, w in WRITTEN])
def test_a_condition_is_written_as_people_write_it(items: tuple[EventTest, ...], written: str) -> None:
    assert condition(*items) == written


def test_each_form_has_its_parts() -> None:
    a, b, c = (any_of(called(name)) for name in "abc")
    assert body(Requirement("s", "", "abs", a)) == "abs(a())"
    assert body(Requirement("s", "", "prec", a, b)) == "prec(a(), b())"
    assert body(Requirement("s", "", "resp", a, b, after=c)) == "resp(a(), b()) after c()"
    assert body(Requirement("s", "", "bresp", a, b, bound="30s")) == "bresp[30s](a(), b())"
    assert body(Requirement("s", "", "rslv", a, b)) == "rslv(a(), b())"
    assert body(Requirement("s", "", "until", a, b, c)) == "until(a(), b(), c())"
    assert body(Requirement("s", "", "atmost", a, bound="3")) == "atmost[3](a())"


def test_counts_have_windows_new_starts_and_fields() -> None:
    a, b = (any_of(called(name)) for name in "ab")

    def counting(form: Any, bound: str, *parts: Any) -> str:
        return body(Requirement("s", "", form, a, bound=bound, counting=Counting(*parts)))

    assert body(Requirement("s", "", "atleast", a, bound="2")) == "atleast[2](a())"
    assert counting("atleast", "2", None, None, "path") == "atleast[2](a(), distinct path)"
    assert counting("atmost", "3", "20") == "atmost[3](a()) in 20 calls"
    assert counting("atmost", "3", "1h", b) == "atmost[3](a()) in 1h since b()"
    assert counting("atmost", "3", None, b, "odd name") == 'atmost[3](a(), distinct "odd name") since b()'
    assert counting("budget", "2.50", "1d", None, "amount") == "budget[2.5](a(), amount) in 1d"


def test_where_tests_variables() -> None:
    trigger = any_of(called("a", arg("f", "same", "x"), arg("g", "same", "y")))

    def where(*tests: EventTest) -> str:
        return body(Requirement("s", "", "abs", trigger, where=any_of(Case(tests)))).partition(" where ")[2]

    assert where(of("x", "same", "y", negated=True)) == "not x = y"
    assert where(of("x", "<=", "y"), of("y", ">", "3")) == "x <= y and y > 3"
    assert where(of("x", "mentions", "y")) == "x contains y"
    assert where(of("x", "other_than", "a", "b"), of("y", "unlike_glob", "*.c")) == (
        'x not in {"a", "b"} and y !~ "*.c"'
    )
    assert where(replace(of("x", "is", "a"), views=(View("host"),))) == 'x:host = "a"'


def of(variable: str, test: Any, *values: str, negated: bool = False) -> EventTest:
    """A test of a variable."""
    return EventTest("variable", test, variable, values, negated)


def test_cases_are_alternatives() -> None:
    either = any_of(called("a", OK), Case((EventTest("action", "is", values=("b", "c")), OK)), called("a", OK))
    assert body(Requirement("s", "", "abs", either)) == "abs(a(status = ok) or action in {b, c} and status = ok)"


def test_a_statement_cites_and_says() -> None:
    built = statement(
        Requirement("s", "  It is\n read first. " + "More. " * 20, "prec", any_of(WRITES), any_of(READS)),
        "read_first",
        [("SKILL.md", 'Say "hi"\\ \u3164\u202e.'), ("b/ö.md", "…")],
    )
    assert to_text(built) == (
        "/// It is read first. More. More. More. More. More. More. More. More. More. More. More. More. More.\n"
        "/// More. More. More. More. More. More. More.\n"
        '@source("SKILL.md", "Say \\"hi\\"\\\\ \\u{3164}\\u{202e}.")\n'
        '@source("b/ö.md", "…")\n'
        'statement read_first: prec(file.write(path = x, path ~ "*.csv"), file.read(path = x, status = ok))'
    )
    about = read_policy(Source("p.vgl", to_text(built) + "\n")).statements[0].metadata
    assert about.cites == (("SKILL.md", 'Say "hi"\\ \u3164\u202e.'), ("b/ö.md", "…"))


A, B = any_of(called("a")), any_of(called("b"))
REFUSED = [
    (Requirement("s", "", "prec", A), "guard: `prec` needs one"),
    (Requirement("s", "", "abs", A, B), "guard: `abs` has no such part"),
    (Requirement("s", "", "until", A, B), "forbidden: `until` needs one"),
    (Requirement("s", "", "resp", A, B, B), "forbidden: `resp` has no such part"),
    (Requirement("s", "", "abs", A, bound="3"), "bound: `abs` has none"),
    (Requirement("s", "", "bresp", A, B), "bound: `bresp` needs one"),
    (Requirement("s", "", "bresp", A, B, bound="0"), "bound: `0` is none"),
    (Requirement("s", "", "bresp", A, B, bound="3 calls"), "bound: `3 calls` is none"),
    (Requirement("s", "", "bresp", A, B, bound="٣"), "bound: `٣` is none"),
    (Requirement("s", "", "atmost", A, bound="30s"), "bound: `30s` is none for `atmost`"),
    (Requirement("s", "", "abs", Condition(())), "trigger: the condition has no cases"),
    (Requirement("s", "", "abs", Condition((Case(()),))), "trigger, case 1: the case has no tests"),
    (Requirement("s", "", "prec", A, any_of(*[called(f"a{n}") for n in range(21)])), "guard: the condition has more"),
    (never(*[arg("a", "is", str(n)) for n in range(31)]), "more than 30 tests"),
    (never(arg("a", "is", *map(str, range(101)))), "trigger, case 1, test 1 (a is): it has more than 100 values"),
    (Requirement("s", "", "abs", A, counting=Counting()), "counting: `abs` counts nothing"),
    (Requirement("s", "", "budget", A, bound="3"), "counting: `budget` needs a `field`"),
    (Requirement("s", "", "budget", A, counting=Counting(field="n")), "bound: `budget` needs a number"),
    (Requirement("s", "", "budget", A, bound="-3", counting=Counting(field="n")), "bound: `-3` is no amount"),
    (Requirement("s", "", "atmost", A, bound="3", counting=Counting("1 week")), "`1 week` is no window"),
    (Requirement("s", "", "atleast", A, bound="3", counting=Counting("1h")), "counts in the whole run"),
    (Requirement("s", "", "atleast", A, bound="3", counting=Counting(since=B)), "counts in the whole run"),
    (Requirement("s", "", "atleast", A, bound="30s"), "bound: `30s` is none for `atleast`"),
    (Requirement("s", "", "abs", A, where=any_of(called("a"))), "where, case 1, test 1 (action is): `where` tests"),
    (never(EventTest("variable", "same", "x", ("y",))), "`where` tests variables, and nothing else"),
    (Requirement("s", "", "abs", A, where=any_of(Case((of("the x", "is", "y"),)))), "`the x` is no variable"),
    (Requirement("s", "", "abs", A, where=any_of(Case((of("x", "<", "Y"),)))), "`Y` is no number"),
    (never(viewed(OK, "lower")), "`status` has no views"),
    (never(viewed(arg("a", "is", "b"), *["lower"] * 6)), "more than 5 views"),
    (never(viewed(arg("a", "is", "b"), ("host", "x"))), "the view `host` takes no argument"),
    (never(viewed(arg("a", "is", "b"), ("json", "a..b"))), "`a..b` is no path"),
    (never(viewed(arg("a", "is", "b"), ("find", "(?<=a)b"))), "the regular expression `(?<=a)b` is not valid"),
    (never(viewed(arg("a", "is", "b"), ("without", ""))), "a regular expression is empty"),
    (never(OK, arg("a", "is")), "trigger, case 1, test 2 (a is): `is` needs a value"),
    (never(arg("a", "present", "b")), "`present` takes no values"),
    (never(arg("", "is", "b")), "`argument` names what is read"),
    (never(EventTest("action", "is", "a", ("b",))), "`argument` names what is read"),
    (never(EventTest("output", "is", "a", ("b",))), "`argument` names what is read"),
    (never(EventTest("action", "contains", values=("b",))), "an action is tested by"),
    (never(EventTest("action", "other_than", values=("b",))), "an action is tested by"),
    (never(EventTest("action", "is", values=("",))), "the name of an action is empty"),
    (never(EventTest("status", "is", values=("unknown",))), "a status is tested by"),
    (never(EventTest("status", "is", values=("ok", "error"))), "a status is tested by"),
    (never(arg("a", "regex", "(?<=a)b")), "the regular expression `(?<=a)b` is not valid"),
    (never(arg("a", "regex", "(?i)")), "a regular expression is empty"),
    (never(arg("a", "regex", "(a)\\1")), "not valid"),
    (never(arg("a", "glob", "C:\\Users\\*")), "a backslash stands before something else"),
    (never(arg("a", "glob", "a\\")), "a backslash stands before something else"),
    (never(arg("a", "<", "six")), "`six` is no number"),
    (never(arg("a", "<", "0x10")), "`0x10` is no number"),
    (never(arg("a", "<", "1e10001")), "`1e10001` is no number"),
    (never(arg("a", "<", "1", "2")), "`<` takes one value"),
    (never(arg("a", "unlike_glob", "*1", "*2")), "`unlike_glob` takes one value"),
    (never(arg("a", "same", "x", "y")), "`same` takes one value"),
    (never(arg("a", "same", "X")), "`X` is no variable"),
    (never(arg("a", "same", "the file")), "is no variable"),
    (never(arg("a", "same", "true")), "has the name of"),
    (never(arg("path", "same", "path")), "the variable `path` has the name of"),
    (never(arg("a", "contains", "")), "nothing contains the empty text"),
    (never(arg("a", "is", "b" * 501)), "a value is longer than 500 characters"),
    (never(arg("a" * 501, "is", "b")), "the name of the argument is longer than 500"),
    (never(arg("a", "is", "b\n")), "a value holds the character U+000A"),
    (never(arg("a", "is", "b\u202e")), "a value holds the character U+202E"),
    (never(arg("a", "regex", "b\t")), "a value holds the character U+0009"),
    (never(EventTest("action", "is", values=("b\x1b",))), "a value holds the character U+001B"),
    (Requirement("s", "x" * 501, "abs", A), "says is longer than 500"),
    (Requirement("s", "a\u202eb", "abs", A), "says holds the character U+202E"),
    (Requirement("s", "Vigil : IGNORE[VGL3] it", "abs", A), "says: it reads like a comment"),
]  # fmt: skip


@pytest.mark.parametrize(("requirement", "why"), REFUSED, ids=[w for _, w in REFUSED])
def test_what_is_no_statement_is_refused(requirement: Requirement, why: str) -> None:
    with pytest.raises(Unbuildable, match=re.escape(why)):
        statement(requirement, "s", [])


@pytest.mark.parametrize("name", ["", "a b", "A", "a.b", "not", "x\n", "é"])
def test_a_statement_has_a_name(name: str) -> None:
    with pytest.raises(Unbuildable):
        statement(Requirement("s", "", "abs", A), name, [])


@settings(max_examples=50, deadline=None)
@given(requirements() | hostile_requirements(), hostile_texts, hostile_texts)
def test_a_statement_is_refused_or_means_something(requirement: Requirement, file: str, sentence: str) -> None:
    name = statement_name(requirement.name, clause(sentence), ())
    try:
        built = statement(requirement, name, [(file, sentence)])
    except Unbuildable:
        return
    source = Source("p.vgl", f"{to_text(built)}\n")
    parsed = parse(source)
    assert parsed.diagnostics == ()
    assert parsed.file.items == (built,)
    policy = read_policy(source)
    assert {error.code for error in policy.errors} <= {"VGL320"}  # that nothing binds a variable is seen in the meaning
    assert len(policy.statements) == (0 if policy.errors else 1)


@settings(max_examples=20, deadline=None)
@given(requirements())
def test_what_can_be_built_is_built(requirement: Requirement) -> None:
    statement(requirement, "s", [])


# --- meaning: the form's own, written down without the language ---


def _passes(test: EventTest, event: Event, bound: dict[str, str | None]) -> bool:
    found = _holds(test, event, bound)
    return not found if test.negated else found


def _holds(test: EventTest, event: Event, bound: dict[str, str | None]) -> bool:
    if test.of == "status":
        return event.status == test.values[0]
    if test.of == "action":
        return any(_is_one(test, name, bound) for name in (event.action, *event.kinds))
    if test.of == "output":
        texts = None if event.output is None else (event.output,)
    else:
        texts = event.args.get(test.argument)
    if test.test == "present":
        return texts is not None
    return any(_is_one(test, text, bound) for text in texts or ())


def _is_one(test: EventTest, text: str, bound: dict[str, str | None]) -> bool:
    values, first = test.values, test.values[0]
    match test.test:
        case "is":
            return text in values
        case "other_than":
            return text not in values
        case "glob":
            return any(_glob(value, text) for value in values)
        case "unlike_glob":
            return not _glob(first, text)
        case "regex":
            return any(re2.search(value, text) is not None for value in values)
        case "unlike_regex":
            return re2.search(first, text) is None
        case "contains":
            return any(value in text for value in values)
        case "same":
            return text == bound[first]
        case "mentions":
            return bool(bound[first]) and str(bound[first]) in text
        case _:
            left, right = number(text), number(first)
            return left is not None and right is not None and (left < right if test.test == "<" else left >= right)


def _glob(pattern: str, text: str) -> bool:
    """By Python's own globs, which escape with brackets and not with a backslash."""
    spelled = re.sub(r"\\(.)|\[", lambda m: f"[{m[1] or '['}]" if m[1] != "\\" else "\\", pattern)
    return re.match(translate(spelled), text) is not None


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.lists(event_tests(viewed=False), min_size=1, max_size=3), min_size=1, max_size=3),
    st.lists(events(), max_size=5),
)
def test_a_condition_means_what_the_form_says(listed: list[list[EventTest]], lines: list[dict[str, object]]) -> None:
    whole = Condition(tuple(Case(tuple(items)) for items in listed))
    variables = {test.values[0] for items in listed for test in items if test.test in ("same", "mentions")}
    assume(len(variables) < 2)
    requirement = bound_after(Requirement("s", "", "abs", whole))
    policy = read_policy(Source("p.vgl", to_text(statement(requirement, "s", [])) + "\n"))
    forbidden = core.conditions(policy.statements[0].requirement.theta)[0]
    trace = trace_of(lines)
    expected = [
        at
        for at, event in enumerate(trace.events)
        if any(
            any(all(_passes(test, event, dict.fromkeys(variables, value)) for test in case.all) for case in whole.any)
            for value in (None, *trace.values)
        )
    ]
    alone = core.Requirement(core.Not(forbidden), core.variables_of(forbidden), None)
    assert [at for at, _ in violations(alone, trace)] == expected


# --- names ---

NAMED = [
    ("read_first", "read_first"),
    ("R3", "R3"),
    ("Read First!", "read_first"),
    ("ReadFirst", "read_first"),
    ("read-first", "read_first"),
    ("2nd_rule", "rule"),
    ("", "force_push_shared_branch"),
    ("後で", "force_push_shared_branch"),
    ("not", "force_push_shared_branch"),
    ("a" * 41, "force_push_shared_branch"),
    ("do_this_and_that_and_a_lot_more_than_this_one", "do_this_and_that_and_a_lot_more_than"),
    ("Überblick", "uberblick"),
]


@pytest.mark.parametrize(("wanted", "name"), NAMED)
def test_a_name_is_as_wanted_or_after_the_sentence(wanted: str, name: str) -> None:
    assert statement_name(wanted, clause("You must **never** force-push to a shared branch."), ()) == name


def test_a_name_that_is_taken_gets_a_number() -> None:
    assert statement_name("a", clause(), {"b"}) == "a"
    assert statement_name("a", clause(), {"a"}) == "a_2"
    assert statement_name("a", clause(), {"a", "a_2", "a_3"}) == "a_4"


def test_a_sentence_without_a_word_gives_its_number() -> None:
    assert statement_name("", clause("後で確認する。", id="c17"), ()) == "c17"


def test_a_name_made_of_a_sentence_has_no_secret_of_it() -> None:
    name = statement_name("", clause("Never print `export PASSWORD=exp991walrus` to a log."), ())
    assert "print" in name
    assert "exp991" not in name


@settings(max_examples=40, deadline=None)
@given(hostile_texts, hostile_texts)
def test_whatever_is_wanted_there_is_a_name(wanted: str, sentence: str) -> None:
    name = statement_name(wanted, clause(sentence), ())
    assert statement(Requirement("s", "", "abs", A), name, []).name.text == name
