"""Whole syntax trees: every form, atom and item, with names that are keywords elsewhere and names that need quotes."""

from __future__ import annotations

from hypothesis import strategies as st
from msgspec.structs import replace

from vigil_lang.diagnostics import Source
from vigil_lang.semantics.forms import FORMS
from vigil_lang.syntax import tree

WORDS = (
    *("a", "b.c", "afl-fuzz", "_x1", "text", "error", "prec", "ok", "number", "in", "and", "has", "true"),
    *("since", "until", "weak", "where", "with", "distinct", "call", "steps", "repeated"),
    *("when", "then", "hold", "record", "relaxes", "violates"),
)
ITEM_WORDS = ("use", "let", "param", "pattern", "statement", "rule", "policy")
NOT_AN_OPERAND = {"action", "status", "output", "has", "not", "earlier", "later", "repeated", "true", "false"}
PIECES = ("a", "b", " ", "é", "☃", "*", "//", "/", "'", "{", ")", "@", "=", "not", '\\"', "\\\\", "\\n", "\\u{e9}")
REGEX_PIECES = ("a", ".", "[0-9]+", "(b|c)", "\\/", "\\\\", '"', " ", "^", "$", "é")
NUMBERS = ("0", "3", "-2.5", "6.0", "1e9", "2E-3", "1e+5")
BOUNDS = (
    *("1", "3", "500ms", "30s", "10m", "2h", "1d"),
    *("1 call", "3 calls", "2 steps", "1..3", "1..", "2..3 steps", "10s..1m", "0..500ms"),
)
SPANS = ("30s", "1d", "1 call", "20 calls", "3 steps")

names = st.sampled_from(WORDS + ITEM_WORDS).map(tree.Name)
operand_names = st.sampled_from([w for w in WORDS + ITEM_WORDS if w not in NOT_AN_OPERAND]).map(tree.Name)
value_names = st.sampled_from([w for w in (*WORDS, *ITEM_WORDS, "action") if w not in ("true", "has")]).map(tree.Name)
raws = st.lists(st.sampled_from(PIECES), max_size=4).map("".join)
strings = st.builds(tree.String, raws)
numbers = st.sampled_from(NUMBERS).map(tree.Number)
# After an argument called `violates` these begin its test.
_violated = st.sampled_from([w for w in WORDS + ITEM_WORDS if w not in ("in", "with")]).map(tree.Name)
literals = strings | numbers | st.booleans().map(tree.Boolean)
terms = literals | value_names
regexes = st.builds(
    tree.Regex, st.lists(st.sampled_from(REGEX_PIECES), min_size=1, max_size=4).map("".join), st.booleans()
)
set_literals = st.lists(terms | regexes, max_size=4).map(lambda e: tree.SetLiteral(tuple(e)))
sets = st.lists(set_literals | value_names, min_size=1, max_size=3).map(lambda p: tree.SetUnion(tuple(p)))
_masks = sets.filter(lambda union: len(union.parts) > 1 or isinstance(union.parts[0], tree.SetLiteral))
bounds = st.sampled_from(BOUNDS).map(tree.Bound)

views = st.one_of(
    st.builds(tree.View, st.sampled_from(("host", "ext", "length", "of-ones-own")).map(tree.Name), st.none()),
    st.builds(tree.View, st.just(tree.Name("json")), strings),
    st.builds(tree.View, st.sampled_from(("find", "without")).map(tree.Name), regexes),
)
_some_views = st.just(()) | st.lists(views, max_size=2).map(tuple)
fields = st.one_of(
    st.builds(
        tree.Field,
        st.sampled_from((*WORDS, *ITEM_WORDS, "not", "status")) | raws,
        st.just("argument"),
        _some_views,
    ),
    st.builds(tree.Field, st.just("output"), st.just("output"), _some_views),
)
tests = st.one_of(
    st.builds(tree.Test, fields, st.sampled_from(("in", "not in")), sets),
    st.builds(tree.Test, fields, st.sampled_from(("=", "!=")), terms),
    st.builds(tree.Test, fields, st.sampled_from(("~", "!~")), strings | value_names | regexes | _masks),
    st.builds(tree.Test, fields, st.sampled_from(("<", "<=", ">", ">=")), numbers | value_names),
    st.builds(tree.Test, fields, st.just("contains"), strings | value_names),
)
atoms = st.one_of(
    tests,
    st.builds(tree.Has, fields),
    st.builds(tree.ActionIn, sets),
    st.builds(tree.ActionIs, value_names | strings),
    st.builds(tree.ActionMatches, strings | value_names | regexes | _masks),
    st.builds(tree.StatusIs, st.sampled_from(("ok", "error"))),
    st.builds(tree.Apply, operand_names.filter(lambda name: name.text != "violates"), st.none()),
    st.builds(tree.Violates, _violated),
)


def _larger(inner: st.SearchStrategy[tree.Expr]) -> st.SearchStrategy[tree.Expr]:
    several = st.lists(inner, min_size=2, max_size=3).map(tuple)
    arguments = st.lists(inner | literals, max_size=3).map(tuple)
    return st.one_of(
        st.builds(tree.Apply, operand_names | strings, arguments),
        st.builds(tree.Not, inner),
        st.builds(tree.And, several),
        st.builds(tree.Or, several),
        st.builds(tree.Implies, inner, inner),
        st.builds(tree.Diamond, st.sampled_from(("earlier", "later")), st.none() | bounds, inner),
        st.builds(tree.Interval, st.sampled_from(("since", "until")), st.booleans(), st.none() | bounds, inner, inner),
        st.builds(tree.Repeated, bounds, inner, st.none() | fields),
        st.builds(tree.Entry, fields, inner),
    )


expressions = st.recursive(atoms, _larger, max_leaves=8)

_FORMS = {**{form.name: len(form.roles) for form in FORMS.values()}, "always": 1}


@st.composite
def forms(draw: st.DrawFn) -> tree.Form:
    """A form with as many conditions as it takes."""
    name = draw(st.sampled_from(sorted(_FORMS)))
    args = tuple(draw(expressions) for _ in range(_FORMS[name]))
    bound = draw(bounds) if name in ("bresp", "atmost", "atleast") else None
    counts = name in ("atmost", "atleast", "budget")
    limit = draw(numbers | value_names) if name == "budget" else None
    field = draw(fields if limit is not None else st.none() | fields) if counts else None
    window = draw(st.none() | st.sampled_from(SPANS).map(tree.Bound)) if name in ("atmost", "budget") else None
    since = draw(st.none() | expressions) if name in ("atmost", "budget") else None
    return tree.Form(name, args, bound, limit, field, window, since)


doc_lines = st.lists(st.sampled_from(PIECES), max_size=4).map(lambda pieces: "".join(pieces).strip())
docs = st.none() | st.lists(doc_lines, min_size=1, max_size=2).map("\n".join)
annotations = st.lists(
    st.builds(tree.Annotation, names, st.lists(strings | numbers | names, max_size=2).map(tuple)), max_size=2
).map(tuple)

# No event is called `at`: after another event that is its time.
_plain_names = st.sampled_from((*WORDS, "run", "expect", "test", "calls", "set", "violated", "with")).map(tree.Name)
_names_or_strings = _plain_names | strings
_element_names = _names_or_strings.filter(lambda name: name != tree.Name("true"))
_arguments = st.deferred(lambda: st.builds(tree.Argument, _names_or_strings, values))
values = st.recursive(
    literals,
    lambda inner: st.lists(inner | st.builds(tree.Argument, _element_names, inner), max_size=3).map(
        lambda elements: tree.Composite(tuple(elements))
    ),
    max_leaves=4,
)
endings = st.one_of(
    st.builds(tree.Ending, st.sampled_from(("ok", "error")), st.none() | strings),
    st.builds(tree.Ending, st.none(), strings),
)


@st.composite
def test_events(draw: st.DrawFn) -> tree.Event:
    """An event of a test's run; one whose action is a string has an id."""
    named = draw(st.booleans())
    action = draw(_names_or_strings if named else _plain_names)
    several = st.lists(_names_or_strings, max_size=2).map(tuple)
    args = tuple(draw(st.lists(_arguments, max_size=3)))
    time = draw(st.none() | st.sampled_from(("0s", "500ms", "30s", "1d")).map(tree.Bound))
    return tree.Event(
        draw(_plain_names) if named else None, action, args, draw(several), time, draw(st.none() | endings)
    )


_events = st.lists(test_events(), max_size=3).map(tuple)
_groups = st.lists(test_events(), min_size=1, max_size=2).map(lambda e: tree.EventGroup(tuple(e)))
_several_plain = st.lists(_plain_names, min_size=1, max_size=3).map(tuple)
_bindings = st.lists(st.builds(tree.Binding, _plain_names, literals), max_size=2).map(tuple)
clauses = st.one_of(
    st.builds(tree.RunFile, strings),
    st.builds(tree.RunEvents, st.lists(test_events() | _groups, max_size=3).map(tuple)),
    st.builds(tree.RunCalls, st.none() | strings, _events),
    st.builds(tree.Setting, names, sets | literals),
    st.builds(tree.Expectation, _several_plain, st.sampled_from(("satisfied", "vacuous"))),
    st.builds(
        tree.Expectation,
        _several_plain,
        st.just("violated"),
        st.lists(_names_or_strings, max_size=3).map(tuple),
        _bindings,
    ),
)

_modules = st.sampled_from(("std.files", "shared", ".sibling", "..dir.up", "use", ".let")).map(tree.Name)
_several_names = st.lists(names, max_size=3).map(tuple)
_recorded = st.lists(names | strings, max_size=3).map(tuple)
rules = st.builds(
    tree.Rule,
    names,
    expressions,
    st.sampled_from(("pass", "hold", "block")),
    _recorded,
    _several_names,
    annotations,
    docs,
)
items = st.one_of(
    rules,
    st.builds(tree.Use, _modules, _several_names, annotations, docs),
    st.builds(tree.Let, names, sets | literals | regexes, annotations, docs),
    st.builds(
        tree.Param,
        names,
        st.sampled_from(("number", "text", "bool", "set")),
        st.none() | sets | literals,
        annotations,
        docs,
    ),
    st.builds(tree.Pattern, names, _several_names, expressions, annotations, docs),
    st.builds(tree.Statement, names, forms(), st.none() | expressions, st.none() | expressions, annotations, docs),
    st.builds(tree.TestCase, strings, st.lists(clauses, max_size=4).map(tuple), annotations, docs),
)


@st.composite
def files(draw: st.DrawFn) -> tree.File:
    """A file whose only comments are its documentation."""
    name = draw(st.none() | names)
    notes = () if name is None else draw(annotations)
    listed = tuple(draw(st.lists(items, max_size=4)))
    file = tree.File(Source("tree.vgl", ""), name, notes, draw(docs), listed)
    texts = [doc for doc in (file.doc, *(item.doc for item in listed)) if doc is not None]
    lines = [line for text in texts for line in text.split("\n")]
    return replace(file, comments=tuple(tree.Comment(f"/// {line}".rstrip()) for line in lines))
