"""Reading policy documents: what is read, and where what is not is at fault, whatever the text."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import msgspec
import pytest
from draft_requirements import hostile_requirements, hostile_texts
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from vigil_lang.diagnostics import InputError, Source
from vigil_lang.draft import document
from vigil_lang.draft.building.build import Unbuildable, statement
from vigil_lang.draft.clause_result import Answer, PolicyDocument
from vigil_lang.draft.document import Malformed, decode, read_document
from vigil_lang.draft.schema import for_model, published

TRIGGER = {"any": [{"all": [{"of": "action", "test": "is", "values": ["git.push"]}]}]}
STATEMENT = {"name": "no_push", "says": "Nothing is pushed.", "form": "abs", "trigger": TRIGGER}
KEPT = {"clause": "c1", "outcome": "statements", "statements": [STATEMENT]}
LEFT = {"clause": "c2", "outcome": "unsupported", "reason": "no event shows it"}
ADVICE = {"clause": "c3", "outcome": "not_normative"}


def refused(text: str) -> list[tuple[str, int, int, str]]:
    """Code, line, column and message of each finding."""
    with pytest.raises(InputError) as error:
        read_document(Source("draft.json", text))
    found = error.value.diagnostics
    return [(d.code, *d.source.position(d.span.start), d.message) for d in found]


def changed(value: Any, path: str, new: Any) -> Any:
    """A copy of a JSON value with another member in one place; `...` removes it."""
    copy = json.loads(json.dumps(value))
    at, (*way, last) = copy, [int(step) if step.isdecimal() else step for step in path.split(".")]
    for step in way:
        at = at[step]
    if new is ...:
        del at[last]
    else:
        at[last] = new
    return copy


def test_a_document_is_read() -> None:
    text = "\ufeff" + json.dumps({"$schema": "x", "answers": [KEPT, LEFT, ADVICE]})
    read = read_document(Source("draft.json", text))
    assert [(a.clause, a.outcome, a.reason, len(a.statements)) for a in read.answers] == [
        ("c1", "statements", "", 1),
        ("c2", "unsupported", "no event shows it", 0),
        ("c3", "not_normative", "", 0),
    ]
    assert read.answers[0].statements[0].trigger.any[0].all[0].values == ("git.push",)


NOT_AN_ANSWER = [
    ("form", "0.statements.0.form", "never", "`form` is one of `abs`, `prec`", "$.answers[0].statements[0].form"),
    ("outcome", "0.outcome", "yes", "`outcome` is one of `statements`", "$.answers[0].outcome"),
    ("test", "0.statements.0.trigger.any.0.all.0.test", "like", "`test` is one of `is`",
     "$.answers[0].statements[0].trigger.any[0].all[0].test"),
    ("of", "0.statements.0.trigger.any.0.all.0.of", "tool", "`of` is one of `action`",
     "$.answers[0].statements[0].trigger.any[0].all[0].of"),
    ("values", "0.statements.0.trigger.any.0.all.0.values.0", 3, "expected a string, got a number",
     "$.answers[0].statements[0].trigger.any[0].all[0].values[0]"),
    ("trigger", "0.statements.0.trigger", None, "expected an object, got null", "$.answers[0].statements[0].trigger"),
    ("guard", "0.statements.0.guard", [], "expected an object or null, got a list", "$.answers[0].statements[0].guard"),
    ("missing", "0.statements.0.says", ..., "the member `says` is missing", "$.answers[0].statements[0]"),
    ("unknown", "0.statements.0.triger", {}, "did you mean `trigger`?", "$.answers[0].statements[0]"),
    ("answer", "1", "unsupported", "expected an object, got a string", "$.answers[1]"),
    ("clause", "1.clause", "", "a clause is named", "$.answers[1].clause"),
    ("hidden", "1.clause", "c\u202e2", "a clause is named", "$.answers[1].clause"),
    ("none", "0.statements", [], "there is none", "$.answers[0].statements"),
    ("some", "1.statements", [STATEMENT], "there are statements", "$.answers[1].outcome"),
    ("reason", "1.reason", " ", "there is no reason", "$.answers[1].reason"),
    ("long", "1.reason", "x" * 2501, "more than 2,500 characters", "$.answers[1].reason"),
    ("no cases", "0.statements.0.trigger.any", [], "one to 20 cases", "$.answers[0].statements[0].trigger.any"),
    ("no tests", "0.statements.0.trigger.any.0.all", [], "one to 30 tests",
     "$.answers[0].statements[0].trigger.any[0].all"),
    ("much", "0.statements.0.trigger.any.0.all.0.values", ["x"] * 101, "at most 100 values",
     "$.answers[0].statements[0].trigger.any[0].all[0].values"),
    ("wide", "0.statements.0.trigger.any.0.all.0.values", ["x" * 501], "at most 500 characters",
     "$.answers[0].statements[0].trigger.any[0].all[0].values"),
    ("says", "0.statements.0.says", "x" * 501, "more than 500 characters", "$.answers[0].statements[0].says"),
    ("bound", "0.statements.0.bound", "30 s", "a bound is", "$.answers[0].statements[0].bound"),
    ("bell", "1.clause", "c\u0007", "a clause is named", "$.answers[1].clause"),
    ("many", "0.statements", [STATEMENT] * 21, "more than 20 statements", "$.answers[0].statements"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "new", "why", "place"), [row[1:] for row in NOT_AN_ANSWER],
                         ids=[row[0] for row in NOT_AN_ANSWER])  # fmt: skip
def test_an_answer_that_does_not_fit_is_told_by_its_place(path: str, new: Any, why: str, place: str) -> None:
    answers = changed([KEPT, LEFT, ADVICE], path, new)
    text = json.dumps({"answers": answers}, indent=1)
    ((code, line, _, message),) = refused(text)
    assert (code, why in message, message.endswith(f" (`{place}`)")) == ("VGL611", True, True), message
    last = place.rstrip("]").split(".")[-1].split("[")[0]
    near = text.splitlines()[line - 1]
    assert f'"{last}"' in near or near.strip() in ("{", '"unsupported",') or json.dumps(new) in near

    found = decode(text)
    assert len(found.answers) == 2
    (problem,) = found.problems
    assert why in problem
    assert problem.startswith(f"`{place}`: ")
    named = answers[int(path[0])]
    clause = named.get("clause") if isinstance(named, dict) else None
    assert found.malformed == ({} if clause is None else {clause: (problem,)})


def test_every_answer_at_fault_is_told() -> None:
    wrong = [changed(KEPT, "outcome", "x"), LEFT, changed(LEFT, "reason", 3)]
    text = '{"answers": [\n' + ",\n".join(map(json.dumps, wrong)) + "]}"
    assert [(line, message) for _, line, _, message in refused(text)] == [
        (2, "`outcome` is one of `statements`, `unsupported`, `not_normative` (`$.answers[0].outcome`)"),
        (4, "expected a string, got a number (`$.answers[2].reason`)"),
    ]


WHOLES = [
    ("", "not valid JSON: it ends too early"),
    ("hello", "not valid JSON"),
    ('{"answers": [', "cut off"),
    ('{"answers": []} x', "not valid JSON"),
    ("[]", "a policy document is an object with a member `answers`"),
    ('"answers"', "a policy document is an object"),
    ("{}", "a policy document is an object"),
    ('{"answers": {}}', "`answers` must be a list"),
    ('{"answers": [], "$schema": 1}', "expected a string"),
    ('{"answers": [], "notes": 1}', 'a policy document has no member `"notes"`'),
    ('{"answers": [1e999999999999999999999]}', "a number is out of range"),
    ('{"answers": ' + "[" * 3000 + "]" * 3000 + "}", "nested too deeply"),
    ('{"answers": [' + ",".join(["1"] * 10_001) + "]}", "more than 10,000 answers"),
    ('{"answers": ["\x01"]}', "not valid JSON"),
]


@pytest.mark.parametrize(("text", "why"), WHOLES, ids=[w for _, w in WHOLES])
def test_what_is_no_document_is_refused_whole(text: str, why: str) -> None:
    ((code, _, _, message),) = refused(text)
    assert code == "VGL611"
    assert why in message or "cut off" in message
    with pytest.raises(Malformed) as error:
        decode(text)
    assert why in str(error.value) or "too early" in str(error.value)


def test_a_member_that_stands_twice_is_refused() -> None:
    text = '{"answers": [{"clause": "c1", "outcome": "statements",\n "outcome": "unsupported", "reason": "x"}]}'
    assert refused(text) == [("VGL611", 1, 31, 'an object has the member `"outcome"` twice')]


def test_a_document_has_a_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document, "MAX_CHARACTERS", 100)
    text = json.dumps({"answers": [KEPT]})
    assert refused(text) == [("VGL003", 1, 1, "the policy document has more than 100 characters")]
    with pytest.raises(Malformed, match="more than 100 characters"):
        decode(text)


def test_half_a_reply_is_malformed_wherever_it_ends() -> None:
    text = json.dumps({"answers": [KEPT, LEFT]})
    for end in range(len(text)):
        with pytest.raises(Malformed):
            decode(text[:end])


def test_a_reply_of_a_model_is_read() -> None:
    """With all members that its schema requires, null where there is nothing."""
    test = {"argument": "", "negated": False, "of": "action", "test": "is", "values": ["a"], "views": []}
    nothing = {"guard": None, "forbidden": None, "after": None, "bound": None, "counting": None, "where": None}
    drafted = {**STATEMENT, **nothing, "trigger": {"any": [{"all": [test]}]}}
    value = {"answers": [{**KEPT, "reason": "", "statements": [drafted]}, {**LEFT, "statements": []}]}
    Draft202012Validator(for_model()).validate(value)
    found = decode(json.dumps(value))
    assert (len(found.answers), found.problems, found.malformed) == (2, (), {})


@st.composite
def answers(draw: st.DrawFn) -> Answer:
    """An answer whose members fit, with anything in its texts."""
    outcome = draw(st.sampled_from(("statements", "unsupported", "not_normative")))
    some = draw(st.lists(hostile_requirements(), min_size=1, max_size=2)) if outcome == "statements" else ()
    text = hostile_texts.map(lambda t: t.replace("\ud800", ""))
    return Answer(f"c{draw(st.integers(1, 99))}", outcome, f"r{draw(text)}", tuple(some), draw(text))


PUBLISHED = Draft202012Validator(published())


def _encoded(value: Any) -> str:
    """JSON of a struct; lone surrogates, which no UTF-8 text has, are escapes."""
    return json.dumps(msgspec.to_builtins(value))


@settings(max_examples=30, deadline=None)
@given(st.lists(answers(), max_size=3))
def test_what_fits_the_schema_is_read_back_and_nothing_else(listed: list[Answer]) -> None:
    text = _encoded(PolicyDocument(tuple(listed)))
    fits = PUBLISHED.is_valid(json.loads(text))
    if not fits:
        with pytest.raises(InputError, match="VGL611"):
            read_document(Source("draft.json", text))
        return
    whole = read_document(Source("draft.json", text))
    assert _encoded(whole).replace("\\ufffd", "\\ud800") == text.replace("\\ufffd", "\\ud800")
    assert decode(text) == document.Decoded(whole.answers)


PLACES = (
    "answers", "answers.0", "answers.0.statements", "answers.0.statements.0.trigger", "answers.0.statements.0.bound",
    "answers.0.statements.0.trigger.any.0.all.0", "answers.1.reason", "answers.2.outcome",
)  # fmt: skip
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.sampled_from(["c1", "statements", "abs"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["answers", "clause", "outcome", "statements", "trigger", "any", "x"]), inner)
    ),
    max_leaves=12,
)


def _is_buildable(read: PolicyDocument) -> bool:
    try:
        for answer in read.answers:
            for each in answer.statements:
                statement(each, "s", [])
    except Unbuildable:
        return False
    return True


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_nothing_but_findings_comes_of_any_text(data: st.DataObject) -> None:
    """And the published schema refuses nothing that is read and can be built."""
    good = {"answers": [KEPT, LEFT, ADVICE]}
    value = changed(good, data.draw(st.sampled_from(PLACES)), data.draw(_JSON))
    text = json.dumps(value)
    at = data.draw(st.integers(0, len(text)))
    text = data.draw(st.sampled_from((text, text, text[:at], text[:at] + data.draw(hostile_texts) + text[at:])))
    try:
        read = read_document(Source("draft.json", text))
    except InputError as error:
        codes = {found.code for found in error.diagnostics}
    else:
        codes = set()
        assert decode(text).answers == read.answers
        if _is_buildable(read):
            Draft202012Validator(published()).validate(json.loads(text))
    assert codes <= {"VGL611", "VGL002"}
    with suppress(Malformed):
        decode(text)
