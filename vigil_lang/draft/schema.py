"""JSON Schemas of the intermediate form: the published one, and what a model's structured output is held to."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import msgspec

from vigil_lang.draft.building.build import BOUND, LIMIT
from vigil_lang.draft.building.conditions import MAX_CASES, MAX_TESTS, MAX_VALUES, MAX_VIEWS
from vigil_lang.draft.building.operands import MAX_VALUE
from vigil_lang.draft.clause_result import PolicyDocument
from vigil_lang.draft.document import MAX_ANSWERS, MAX_ID, MAX_STATEMENTS, MAX_TEXT, NAMES

_ABOUT: dict[str, str] = {
    "PolicyDocument": "Answers for the clauses of some documents.",
    "PolicyDocument.answers": "One answer for each clause.",
    "Answer": "What is said of one clause.",
    "Answer.clause": "The clause's id, such as c3.",
    "Answer.outcome": "statements: these enforce the clause. unsupported: it obliges the agent, and no statement over "
    "the vocabulary enforces it in full. not_normative: it obliges the agent to nothing.",
    "Answer.reason": "Why there is no statement; empty where there are some.",
    "Answer.statements": "What enforces the clause; empty for the other outcomes.",
    "Answer.sentence": "The clause's text, to be held against the document; may be empty.",
    "Requirement": "One statement: a form of the language with its parts.",
    "Requirement.name": "A name for it in snake_case.",
    "Requirement.says": "What it demands, in one sentence.",
    "Requirement.form": "abs: trigger never happens. prec: before each trigger comes a guard. resp: after each trigger "
    "comes a guard. bresp: the same within the bound. rslv: the last trigger has a guard with it or after it. until: "
    "after a trigger nothing forbidden comes before a guard. atmost, atleast: trigger happens at most, at least as "
    "often as the bound says. budget: the numbers of a field of triggers add up to at most the bound.",
    "Requirement.trigger": "The first condition of every form.",
    "Requirement.guard": "The second of prec, resp, bresp, rslv and until; null for the others.",
    "Requirement.forbidden": "What until forbids; null for the others.",
    "Requirement.after": "The form counts only after such an event; null where it always does.",
    "Requirement.bound": "Calls (3) or time (30s) for bresp, a count for atmost and atleast, the limit of budget; null "
    "for the others.",
    "Requirement.counting": "How atmost, atleast and budget count; null where every trigger of the run counts.",
    "Requirement.where": "What must hold of the variables' values for the statement to count; null where nothing must.",
    "Counting": "How a form counts.",
    "Counting.window": "Calls (20) or time (1h) in which atmost and budget count; null for the whole run.",
    "Counting.since": "They count only since the last such event; null where they start anew at none.",
    "Counting.field": "The argument whose numbers budget adds up; of the other counts the one whose distinct values "
    "are counted, or null.",
    "Condition": "Holds of an event if one of its cases does.",
    "Condition.any": "The cases.",
    "Case": "Holds of an event if all of its tests do.",
    "Case.all": "The tests.",
    "Test": "One test of an event.",
    "Test.of": "What is tested: the action (its name or a kind), an argument, the output or the status; in where a "
    "variable.",
    "Test.argument": "The name of the argument or the variable, else empty.",
    "Test.test": "is: equals one of the values. other_than: has a value that is none of these. glob, regex: one of the "
    "values matches (a glob the whole text, a regular expression some part). unlike_glob, unlike_regex: has a value "
    "that does not match. contains: holds one of the values as part of it. < <= > >=: is a number in that relation. "
    "present: is there. same: is the object that the variable stands for. mentions: holds that object's text.",
    "Test.values": "Alternatives; one variable for same and mentions, none for present. In where an order test takes a "
    "number or a variable.",
    "Test.views": "What is made of the argument's or variable's values before the test, in this order; empty mostly.",
    "View": "A function on values. One that is not defined of a value gives none.",
    "View.view": "lower: in lower case. host: of a URL or address. base, dir, ext: of a path. length: in characters. "
    "count: how many values there are. json: what a path selects. find: the parts that match. without: the rest.",
    "View.argument": "A path such as items[*].price for json, a regular expression for find and without, else empty.",
    "Test.negated": "Whether the test must fail instead, as it also does where the argument is absent.",
}
_LIMITS: dict[str, dict[str, Any]] = {
    "PolicyDocument.answers": {"maxItems": MAX_ANSWERS},
    "Answer.clause": {"minLength": 1, "maxLength": MAX_ID, "pattern": NAMES},
    "Answer.reason": {"maxLength": MAX_TEXT},
    "Answer.sentence": {"maxLength": MAX_TEXT},
    "Answer.statements": {"maxItems": MAX_STATEMENTS},
    "Requirement.says": {"maxLength": MAX_VALUE},
    "Condition.any": {"minItems": 1, "maxItems": MAX_CASES},
    "Case.all": {"minItems": 1, "maxItems": MAX_TESTS},
    "Test.values": {"maxItems": MAX_VALUES},
    "Test.views": {"maxItems": MAX_VIEWS},
    "View.argument": {"maxLength": MAX_VALUE},
}
_SHAPES = ("Answer", "Requirement", "Counting", "Condition", "Case", "Test", "View")
_NEVER_EMPTY = (("Condition", "any"), ("Case", "all"))
_NOT_ASKED_FOR = frozenset({"Answer.sentence"})  # of a model, which is told the clause by its id


def published() -> dict[str, Any]:
    """The schema of policy documents in draft 2020-12, as docs/policy-document.schema.json holds it."""
    top, definitions = _structs()
    for place, limits in _LIMITS.items():
        struct, name = place.split(".")
        (top if struct == "PolicyDocument" else definitions[struct])["properties"][name] |= limits
    for place, pattern in (("Requirement.bound", f"{BOUND}|{LIMIT}"), ("Counting.window", BOUND)):
        struct, name = place.split(".")
        kinds = definitions[struct]["properties"][name]["anyOf"]
        next(kind for kind in kinds if kind["type"] == "string")["pattern"] = f"^(?:{pattern})$"
    definitions["Test"]["properties"]["values"]["items"]["maxLength"] = MAX_VALUE
    definitions["Answer"]["allOf"] = [
        {
            "if": {"properties": {"outcome": {"const": "statements"}}, "required": ["outcome"]},
            "then": {"properties": {"statements": {"minItems": 1}}, "required": ["statements"]},
            "else": {"properties": {"statements": {"maxItems": 0}}},
        },
        {
            "if": {"properties": {"outcome": {"const": "unsupported"}}, "required": ["outcome"]},
            "then": {"properties": {"reason": {"pattern": "\\S"}}, "required": ["reason"]},
        },
    ]
    top["properties"]["$schema"] = {"description": "Where this schema is, for editors.", "type": "string"}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Vigil policy document",
        **top,
        "$defs": definitions,
    }


def published_text() -> str:
    """The published schema as it is stored."""
    return json.dumps(published(), indent=2, ensure_ascii=False) + "\n"


def for_model() -> dict[str, Any]:
    """The same form as a schema for structured output: every member required, nothing but types, choices and null.

    What its limits are, the messages of `build` and `document` say; the API's schemas have none but `minItems` of 1.
    """
    top, definitions = _structs()
    for place in _NOT_ASKED_FOR:
        struct, name = place.split(".")
        del definitions[struct]["properties"][name]
    for struct, name in _NEVER_EMPTY:
        definitions[struct]["properties"][name]["minItems"] = 1
    for shape in (top, *definitions.values()):
        shape["required"] = list(shape["properties"])
        for member in shape["properties"].values():
            member.pop("default", None)
            if "$ref" in member:
                del member["description"]  # what stands beside a reference is not read
    return {**top, "$defs": definitions}


def _structs() -> tuple[dict[str, Any], dict[str, Any]]:
    """The shapes of a policy document and of what it holds, with what each member is about."""
    _, found = msgspec.json.schema_components([PolicyDocument], ref_template="#/$defs/{name}")
    shapes = deepcopy(dict(found))
    for struct, shape in shapes.items():
        shape.pop("title")
        shape["description"] = _ABOUT[struct]
        for name, member in shape["properties"].items():
            shape["properties"][name] = {"description": _ABOUT[f"{struct}.{name}"], **member}
    top = shapes.pop("PolicyDocument")
    return top, {name: shapes[name] for name in _SHAPES}
