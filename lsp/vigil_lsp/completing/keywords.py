"""Keywords, operators and forms, where the grammar has a place for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol.types import CompletionItemKind as Kind

from vigil_lang.semantics.forms import FORMS as PRESETS
from vigil_lang.semantics.modules import is_test_file
from vigil_lang.semantics.views import VIEWS
from vigil_lang.syntax import tree
from vigil_lsp.completing.candidate import Candidate
from vigil_lsp.completing.test_clauses import other_verdicts
from vigil_lsp.operator_help import VIEW_SUMMARIES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lsp.completing.context import CompletionContext

# By terminal: (what is written, what it says, the snippet).
WORDS: dict[str, tuple[tuple[str, str, str], ...]] = {
    "POLICY": (("policy", "names the policy", "policy ${1:name}"),),
    "USE": (("use", "takes patterns and values from a module", "use $1"),),
    "LET": (("let", "names a set or a value", "let ${1:NAME} = {$2}"),),
    "PARAM": (("param", "a value that can be set from outside", "param ${1:name}: ${2:number} = $3"),),
    "PATTERN": (("pattern", "names a condition", "pattern ${1:name}(${2:x}) = $3"),),
    "STATEMENT": (("statement", "what every run has to keep to", "statement ${1:name}: $2"),),
    "RULE": (
        ("rule", "what a gate does about a call before it runs", "rule ${1:name}: when $2 then ${3|hold,block,pass|}"),
    ),
    "WHEN": (("when", "the calls that the rule is about: some event of them meets it", ""),),
    "THEN": (("then", "what the rule asks for", ""),),
    "MODE": (
        ("hold", "somebody confirms the call first", ""),
        ("block", "the call does not happen, whoever confirms it", ""),
        ("pass", "the rules that it relaxes ask for nothing", ""),
    ),
    "RECORD": (("record", "what of the call stands in the log as it is", ""),),
    "RELAXES": (("relaxes", "rules of the default layer that ask for nothing where this one matches", ""),),
    "VIOLATES": (("violates", "the call would violate a statement", ""),),
    "TEST": (
        ("test", "a run, and what is expected of it", 'test "${1:name}" {\n    run {\n        $2\n    }\n    $3\n}'),
    ),
    "AFTER": (("after", "counts only triggers after something has happened", ""),),
    "WHERE": (("where", "speaks only of values that pass a test", ""),),
    "WINDOW": (("in", "counts within a time or a number of calls", "in ${1:10m}"),),
    "RESET": (("since", "counts anew after something has happened", ""),),
    "DISTINCT": (("distinct", "counts the values of a field", ""),),
    "UNIT": (("calls", "counts calls", ""), ("steps", "counts events", "")),
    "SET": (("set", "gives a param a value for this test", "set ${1:name} = $2"),),
    "RUN": (("run", "the run to be judged: its events, or a recording", "run {\n    $1\n}"),),
    "CALLS": (("calls", "the run as a harness records it", "calls {\n    $1\n}"),),
    "INSIDE": (("in", "the folder that the calls start in", ""),),
    "EXPECT": (("expect", "what statements make of the run", "expect $1"),),
    "SATISFIED": (("satisfied", "no event is at fault", ""),),
    "VIOLATED": (("violated", "some event is at fault", ""),),
    "VACUOUS": (("vacuous", "nothing puts the statement to the test", ""),),
    "ASKS": (
        ("holds", "the rule holds some call", ""),
        ("blocks", "the rule blocks some call", ""),
        ("passes", "the rule lets every call pass; of one that passes: it passes some call", ""),
    ),
    "MOMENT": (("at", "when an event happens, or which ones are at fault", ""),),
    "WITH": (("with", "the values of variables", ""),),
    "ARROW": (("->", "how the call ended, and what it showed", ""),),
    "TYPE": (
        ("number", "a number", ""),
        ("text", "a text, or a glob", ""),
        ("bool", "`true` or `false`", ""),
        ("set", "a set of values", ""),
    ),
    "EARLIER": (("earlier", "some event before this one", ""),),
    "LATER": (("later", "some event after this one", ""),),
    "NOT": (("not", "the opposite of a condition", ""),),
    "AND": (("and", "both conditions", ""),),
    "OR": (("or", "one of the conditions, or both", ""),),
    "IMPLIES": (("implies", "where the first holds, the second does", ""),),
    "SINCE": (("since", "all along after an earlier event", ""),),
    "UNTIL": (("until", "all along before a later event", ""),),
    "WEAK": (
        ("weak since", "all along after an earlier event, or from the beginning", ""),
        ("weak until", "all along before a later event, or to the end", ""),
    ),
    "REPEATED": (("repeated", "in so many calls by now", "repeated[${1:3}]($2)"),),
    "ENTRY": (("with", "tests that one entry of a list passes together", "with ($1)"),),
    "IN": (("in", "one of the values of a set", "in {$1}"),),
    "HAS": (("has", "the event carries the argument", ""),),
    "CONTAINS": (("contains", "the text holds the value somewhere", ""),),
    "ACTION": (("action", "the name of the event, or its kinds", ""),),
    "STATUS": (("status", "how the call ended", ""),),
    "OUTPUT": (("output", "what the call showed", ""),),
    "OK": (("ok", "the call succeeded", ""),),
    "ERROR": (("error", "the call failed", ""),),
    "TRUE": (("true", "", ""),),
    "FALSE": (("false", "", ""),),
    "EQ": (("=", "is this value", ""),),
    "NE": (("!=", "is another value", ""),),
    "MATCH": (("~", "matches a glob or a regular expression", ""),),
    "NOT_MATCH": (("!~", "does not match", ""),),
    "LT": (("<", "is less", ""),),
    "LE": (("<=", "is less or equal", ""),),
    "GT": ((">", "is greater", ""),),
    "GE": ((">=", "is greater or equal", ""),),
}
_TEMPORAL = frozenset({"EARLIER", "LATER", "IMPLIES", "SINCE", "UNTIL", "WEAK", "REPEATED"})
_ITEMS = ("POLICY", "STATEMENT", "RULE", "PATTERN", "LET", "PARAM", "USE", "TEST")
"""The likeliest first."""
_OPERATORS = ("EQ", "IN", "MATCH", "NE", "NOT_MATCH", "CONTAINS", "GT", "GE", "LT", "LE")
_SUFFIXES = frozenset({"MOMENT", "WITH", "ARROW"})
_TRUTH = frozenset({"TRUE", "FALSE"})
_CLAUSES = frozenset({"WHEN", "THEN", "RECORD", "RELAXES"})
_ELSEWHERE = {"rule": frozenset({"STATUS", "OUTPUT"}), "statement": frozenset({"VIOLATES"})}
"""What the grammar takes in the condition of an item and has no meaning there."""

_BOUNDS = {
    "none": (),
    "calls": (("bound", "a number of calls"),),
    "calls or time": (("bound", "calls (`3`), steps (`3 steps`) or a time (`30s`); from 1 to 3 is `1..3`"),),
    "count": (("bound", "a number of calls"),),
    "limit": (("limit", "a number, or the name of one"),),
}
_ADDED = {"limit": (("field", "the field whose numbers are added up"),)}
"""Terms beside conditions, by the bound of the form."""

# By name: (what it asks for, its terms, what each means). The bound, where there is one, stands before the terms.
FORMS: dict[str, tuple[str, tuple[tuple[str, str], ...]]] = {
    **{
        form.name: (
            form.summary,
            (*_BOUNDS[form.bound], *((t.name, t.meaning) for t in form.terms), *_ADDED.get(form.bound, ())),
        )
        for form in PRESETS.values()
    },
    "always": ("It holds of every event.", (("body", "a condition that may look `earlier` and `later`"),)),
}
FORMULAS: dict[str, str] = {**{form.name: form.formula for form in PRESETS.values()}, "always": "always Θ = □ Θ"}
BOUNDED = frozenset(form.name for form in PRESETS.values() if form.bound != "none")

_TIMES = (("30s", "30 seconds"), ("10m", "10 minutes"), ("1h", "an hour"), ("1d", "a day"))
_SHORT: dict[str, str] = {**{form.name: form.short for form in PRESETS.values()}, "always": "holds of every event"}


def keywords(context: CompletionContext) -> Iterator[Candidate]:
    """The keywords and operators that the parser would take, as far as they mean something here."""
    slot, place = context.slot, context.place
    if slot.role in ("declared", "annotation value", "violated"):
        return
    accepted = set(place.accepted)
    if "AND" not in accepted:  # what follows a form; `until` is one
        accepted = {"RESET" if word == "SINCE" else word for word in accepted - {"UNTIL"}}
    if "AFTER" in accepted and "INSIDE" in accepted:
        accepted = accepted - {"INSIDE"} | {"WINDOW"}
    if "CONTAINS" in accepted and "WITH" in accepted:
        accepted = accepted - {"WITH"} | {"ENTRY"}
    accepted -= frozenset() if slot.temporal else _TEMPORAL
    accepted -= {"ENTRY"} if slot.without_events else set()
    accepted -= other_verdicts(context) if slot.role == "verdict" else set()
    accepted -= _ELSEWHERE.get(slot.within, frozenset())
    accepted -= {"VIOLATES"} if slot.role == "field" else set()  # there it is a name
    if slot.role == "operator":
        accepted.discard("NOT")  # it is `not in`
    elif slot.role == "term":
        accepted &= _TRUTH
    elif slot.role == "variable":
        accepted &= {"NOT"}
    accepted -= {*_ITEMS}
    if place.fresh or slot.role == "item":
        accepted |= {*_ITEMS[1:]}
    if place.headed:
        accepted.add(_ITEMS[0])
    applied = slot.role == "operator" and _is_pattern(context)
    for terminal in (word for word in dict.fromkeys((*_OPERATORS, *WORDS)) if word in accepted):
        other = slot.role == "value" and slot.subject in ("set", "number", "text")
        if terminal in _TRUTH and (other or slot.role == "condition"):
            continue  # the grammar has it, but a call's arguments are named, and a default is of its param's type
        group = _group(context, terminal, applied=applied)
        for word, detail, snippet in WORDS[terminal]:
            kind = Kind.Operator if not word.isalpha() else Kind.Keyword
            written = word if terminal == "INSIDE" else context.spelt(word)
            snippet = snippet and written + snippet.removeprefix(word)
            yield Candidate(
                written, kind, written, group, detail, snippet, filter=word, about=("keyword", terminal, word)
            )
    if "NOT_IN" in accepted:
        group, written = 62 if applied else 21, context.spelt("not in")
        said = "none of the values of a set"
        yield Candidate(written, Kind.Operator, written, group, said, f"{written} {{$1}}", filter="not in")


def _group(context: CompletionContext, terminal: str, *, applied: bool) -> int:
    if terminal in _ITEMS:
        tests = is_test_file(context.reading.source.path)
        return 9 if terminal == "TEST" and tests else 10 + _ITEMS.index(terminal)
    if terminal in _TRUTH:
        return 70
    if terminal == "ENTRY":
        return 63 if applied else 22
    if terminal in _CLAUSES:
        return 5 if context.place.indented or not context.place.leads else 31
    if terminal == "VIOLATES":
        return 17 if context.slot.within == "rule" and not context.slot.subject else 60
    if terminal in ("AFTER", "WHERE"):
        return 31 if context.slot.temporal else 30
    if terminal in _SUFFIXES:
        return 31 if context.place.leads else 5
    if terminal in _OPERATORS:
        return 61 if applied else 20
    if context.place.fresh or context.slot.role in ("condition", "field"):
        return 60
    return 30


def _is_pattern(context: CompletionContext) -> bool:
    """Whether what stands before the place is a pattern, and so a whole condition."""
    before = context.place.before
    found = context.module.find(before[-1].text) if before else None
    return found is not None and isinstance(found[1], tree.Pattern)


def forms(context: CompletionContext) -> Iterator[Candidate]:
    """The temporal forms, with a stop for each of their terms."""
    for name in FORMS:
        written, about = context.spelt(name), ("form", name)
        snippet = written + form_snippet(name).removeprefix(name)
        yield Candidate(written, Kind.Function, written, 10, _SHORT[name], snippet, filter=name, about=about)


def form_snippet(name: str) -> str:
    """A form to fill in."""
    terms = [term for term, _ in FORMS[name][1] if term != "bound"]
    if name not in PRESETS:
        return "always $1"
    terms = [term for term in terms if term != "limit"]
    shift = 2 if name in BOUNDED else 1
    stops = ", ".join(f"${{{at}:{term}}}" for at, term in enumerate(terms, shift))
    return f"{name}{f'[${{1:{1000 if name in _ADDED else 3}}}]' if name in BOUNDED else ''}({stops})"


def bounds(context: CompletionContext) -> Iterator[Candidate]:
    """Some bounds, to see how they are written."""
    form = PRESETS.get(context.place.before[-2].text) if len(context.place.before) > 1 else None
    counts = bool(context.place.before) and any(token.text == "repeated" for token in context.place.before[-2:])
    away = not counts and (context.slot.temporal or (form is not None and form.bound == "calls or time"))
    for text, said in (("1", "within the next call" if away else "1 call"), ("3", "3 calls"), ("10", "10 calls")):
        yield Candidate(text, Kind.Unit, text, 10, said)
    if away:
        for text, said in _TIMES:
            yield Candidate(text, Kind.Unit, text, 11, said)
        for text, said in (("3 steps", "3 events"), ("1..3", "1 to 3 calls"), ("1..", "another call")):
            yield Candidate(text, Kind.Unit, text, 12, said)


def windows() -> Iterator[Candidate]:
    """Some windows of a count."""
    for text, said in (*_TIMES, ("20 calls", "the last 20 calls"), ("20 steps", "the last 20 events")):
        yield Candidate(text, Kind.Unit, text, 10, said)


def views() -> Iterator[Candidate]:
    """The views, each with what it takes."""
    stops = {"nothing": "", "path": '("${1:total}")', "expression": "(/$1/)"}
    for name, takes in VIEWS.items():
        snippet = f"{name}{stops[takes]}" if stops[takes] else ""
        yield Candidate(name, Kind.Function, name, 10, VIEW_SUMMARIES[name], snippet, about=("view", name))
