"""Policy documents as JSON: files, and the replies of a language model (the paper's appendix C)."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, get_args

import msgspec
from msgspec.structs import replace

from vigil_lang.diagnostics import Diagnostic, InputError, nearest
from vigil_lang.draft import clause_result
from vigil_lang.draft.building.build import BOUND, LIMIT
from vigil_lang.draft.building.conditions import MAX_CASES, MAX_TESTS, MAX_VALUES, MAX_VIEWS
from vigil_lang.draft.building.operands import MAX_VALUE
from vigil_lang.draft.clause_result import Answer, PolicyDocument
from vigil_lang.ingest import json_text
from vigil_lang.ingest.json_text import REFUSED, fault_of, place_of, point_at, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from vigil_lang.diagnostics import Source
    from vigil_lang.draft.clause_result import Condition, Requirement

MAX_CHARACTERS = 5_000_000
MAX_ANSWERS = 10_000
MAX_STATEMENTS = 20
"""Statements in one answer."""
MAX_TEXT = 2_500
"""Code points of a reason, or of a sentence that is repeated."""
MAX_ID = 50
NAMES = "^[ -~]+$"
"""What names a clause, as a regular expression."""

_MAX_FINDINGS = 100
_MAX_MESSAGE = 300

_CODE = "VGL611"
_HELP = "docs/policy-document.md says what a policy document holds"
_CHOICES = {
    "outcome": get_args(clause_result.AnswerOutcome),
    "form": get_args(clause_result.FormName),
    "of": get_args(clause_result.Subject),
    "test": get_args(clause_result.TestName),
    "view": get_args(clause_result.ViewName),
}
_MEMBERS = {
    member
    for struct in (
        Answer,
        clause_result.Requirement,
        clause_result.Counting,
        clause_result.Condition,
        clause_result.Case,
        clause_result.Test,
        clause_result.View,
    )
    for member in struct.__struct_fields__
}
_STEP = re.compile(r"\.([A-Za-z_]+)|\[([0-9]+)\]")
_WORDS = {"`str`": "a string", "`int`": "a number", "`decimal`": "a number", "`float`": "a number", "`bool`": "a truth "
          "value", "`array`": "a list", "`object`": "an object", "`null`": "null"}  # fmt: skip

Path = tuple[str | int, ...]


class Malformed(Exception):
    """A reply that is no policy document at all."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """The answers of a reply that can be used, in order, and what is wrong with the others, each with its JSON path.

    `malformed` are the problems of answers that name their clause, by that clause: those of the first such answer.
    """

    answers: tuple[Answer, ...]
    problems: tuple[str, ...] = ()
    malformed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Fault:
    message: str
    path: Path

    def __str__(self) -> str:
        return f"`{_shown_path(self.path)}`: {self.message}"


def decode(text: str) -> Decoded:
    """The answers in a model's reply. A malformed answer does not spoil the others.

    Raises:
        Malformed: the text is not JSON, ends too early, or is no object with a list of answers.
    """
    if len(text) > MAX_CHARACTERS:
        raise Malformed(f"the reply has more than {MAX_CHARACTERS:,} characters")
    data = text.encode("utf-8", "replace")
    try:
        value = json_text.decode(data)
    except REFUSED as error:
        found = fault_of(error, data, "reply").diagnostics[0]
        raise Malformed(found.message) from None
    listed = _answers(value)
    if isinstance(listed, _Fault):
        raise Malformed(str(listed))
    answers: list[Answer] = []
    problems: list[str] = []
    malformed: dict[str, tuple[str, ...]] = {}
    for at, item in enumerate(listed):
        read = _answer(item, at)
        if isinstance(read, Answer):
            answers.append(read)
            continue
        problems.append(str(read))
        clause = item.get("clause") if isinstance(item, dict) else None
        if isinstance(clause, str) and len(clause) <= MAX_ID and clause not in malformed:
            malformed[clause] = (str(read),)
    return Decoded(tuple(answers), tuple(problems[:_MAX_FINDINGS]), malformed)


def read_document(source: Source) -> PolicyDocument:
    """The policy document in a JSON file.

    Raises:
        InputError: VGL611 for what is no policy document, with its place; VGL003 beyond the limit on size.
    """
    text = source.text.removeprefix("\ufeff")
    if len(text) > MAX_CHARACTERS:
        message = f"the policy document has more than {MAX_CHARACTERS:,} characters"
        raise InputError([Diagnostic.of("VGL003", message, source)])
    data = text.encode("utf-8", "replace")
    try:
        value = json_text.decode(data)
        repeated = _repeated(text)
    except REFUSED as error:
        raise fault_of(error, data, source.path, source.first_line, code=_CODE, last=True) from None
    if repeated is not None:
        start = text.find(json.dumps(repeated, ensure_ascii=False))
        message = f"an object has the member {shown(repeated)} twice"
        raise InputError([point_at(_CODE, message, source.path, text, max(start, 0), max(start, 0))])
    listed = _answers(value)
    found = [listed] if isinstance(listed, _Fault) else [_answer(item, at) for at, item in enumerate(listed)]
    faults = [each for each in found if isinstance(each, _Fault)]
    if faults:
        raise InputError([_pointed(fault, text, source) for fault in faults[:_MAX_FINDINGS]])
    return PolicyDocument(tuple(each for each in found if isinstance(each, Answer)))


def _pointed(fault: _Fault, text: str, source: Source) -> Diagnostic:
    start, end = place_of(text, fault.path)
    end = end if fault.path else start
    found = point_at(_CODE, f"{fault.message} (`{_shown_path(fault.path)}`)", source.path, text, start, end)
    return replace(found, help=_HELP)


def _repeated(text: str) -> str | None:
    """A name that one object of the JSON text has twice: readers differ in which they take."""
    found: list[str] = []

    def members(pairs: list[tuple[str, Any]]) -> None:
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                found.append(name)
                break
            seen.add(name)

    json.loads(text, object_pairs_hook=members, parse_int=str, parse_float=str)
    return found[0] if found else None


def _answers(value: Any) -> list[Any] | _Fault:
    """The items of `answers`, not looked at yet."""
    if not isinstance(value, dict) or "answers" not in value:
        return _Fault("a policy document is an object with a member `answers`", ())
    for name in value:
        if name not in ("answers", "$schema"):
            return _Fault(f"a policy document has no member {shown(name)}", (name,))
    if not isinstance(value.get("$schema", ""), str):
        return _Fault("expected a string: where the schema is", ("$schema",))
    listed = value["answers"]
    if not isinstance(listed, list):
        return _Fault("`answers` must be a list", ("answers",))
    if len(listed) > MAX_ANSWERS:
        return _Fault(f"there are more than {MAX_ANSWERS:,} answers", ("answers",))
    return listed


def _answer(value: Any, at: int) -> Answer | _Fault:
    try:
        answer = msgspec.convert(value, Answer)
    except msgspec.ValidationError as error:
        return _explained(str(error), ("answers", at))
    wrong = next(_unfitting(answer), None)
    return answer if wrong is None else _Fault(wrong[1], ("answers", at, *wrong[0]))


def _unfitting(answer: Answer) -> Iterator[tuple[Path, str]]:
    """Members that do not fit together or are too large, by their path in the answer, with why."""
    if len(answer.clause) > MAX_ID or not re.fullmatch(NAMES, answer.clause):
        yield ("clause",), f"a clause is named as the question names it, in at most {MAX_ID} characters"
    if answer.outcome == "statements" and not answer.statements:
        yield ("statements",), "the outcome is `statements`, and there is none"
    if answer.outcome != "statements" and answer.statements:
        yield ("outcome",), f"the outcome is `{answer.outcome}`, and there are statements"
    if answer.outcome == "unsupported" and not answer.reason.strip():
        yield ("reason",), "the outcome is `unsupported`, and there is no reason"
    if len(answer.statements) > MAX_STATEMENTS:
        yield ("statements",), f"there are more than {MAX_STATEMENTS} statements for one clause"
    for name, text in (("reason", answer.reason), ("sentence", answer.sentence)):
        if len(text) > MAX_TEXT:
            yield (name,), f"it has more than {MAX_TEXT:,} characters"
    for at, requirement in enumerate(answer.statements):
        yield from ((("statements", at, *path), why) for path, why in _outsized(requirement))


def _outsized(requirement: Requirement) -> Iterator[tuple[Path, str]]:
    """Members of a statement that are empty or too large, by their path in it."""
    if len(requirement.says) > MAX_VALUE:
        yield ("says",), f"it has more than {MAX_VALUE} characters"
    bound = LIMIT if requirement.form == "budget" else BOUND
    if requirement.bound is not None and not re.fullmatch(bound, requirement.bound):
        yield ("bound",), "a bound is a number of calls such as `3`, or a time such as `30s`; of `budget` an amount"
    counting = requirement.counting or clause_result.Counting()
    if counting.window is not None and not re.fullmatch(BOUND, counting.window):
        yield ("counting", "window"), "a window is a number of calls such as `20`, or a time such as `1h`"
    if counting.field is not None and len(counting.field) > MAX_VALUE:
        yield ("counting", "field"), f"it has more than {MAX_VALUE} characters"
    conditions: tuple[tuple[Path, Condition | None], ...] = (
        (("trigger",), requirement.trigger),
        (("guard",), requirement.guard),
        (("forbidden",), requirement.forbidden),
        (("after",), requirement.after),
        (("counting", "since"), counting.since),
        (("where",), requirement.where),
    )
    for part, condition in conditions:
        if condition is not None:
            yield from (((*part, "any", *path), why) for path, why in _outsized_condition(condition))


def _outsized_condition(condition: Condition) -> Iterator[tuple[Path, str]]:
    """Members of a condition that are empty or too large, by their path in its cases."""
    if not 0 < len(condition.any) <= MAX_CASES:
        yield (), f"a condition has one to {MAX_CASES} cases"
    for at, case in enumerate(condition.any):
        if not 0 < len(case.all) <= MAX_TESTS:
            yield (at, "all"), f"a case has one to {MAX_TESTS} tests"
        for place, test in enumerate(case.all):
            path = (at, "all", place)
            if len(test.values) > MAX_VALUES:
                yield (*path, "values"), f"a test has at most {MAX_VALUES} values"
            elif any(len(value) > MAX_VALUE for value in test.values):
                yield (*path, "values"), f"a value has at most {MAX_VALUE} characters"
            if len(test.views) > MAX_VIEWS:
                yield (*path, "views"), f"a test has at most {MAX_VIEWS} views"
            elif any(len(view.argument) > MAX_VALUE for view in test.views):
                yield (*path, "views"), f"the argument of a view has at most {MAX_VALUE} characters"


def _explained(error: str, prefix: Path) -> _Fault:
    """What msgspec says, in the words of JSON, and the path it names."""
    message, _, place = error.rpartition(" - at `$") if " - at `$" in error else (error, "", "")
    steps = _STEP.findall(place)
    path = (*prefix, *(name or int(index) for name, index in steps))
    last = path[-1]
    if message.startswith("Invalid enum value") and last in _CHOICES:
        message = f"`{last}` is one of {', '.join(f'`{choice}`' for choice in _CHOICES[str(last)])}"
    elif match := re.match(r"(?s)Object contains unknown field `(.*)`", message):
        near = nearest(match[1], _MEMBERS, 1)
        message = f"there is no member {shown(match[1])} here"
        message += f"; did you mean `{near[0]}`?" if near else ""
    elif match := re.match(r"Object missing required field `(.*)`", message):
        message = f"the member `{match[1]}` is missing"
    elif match := re.match(r"Expected (.*), got (.*)", message):
        wanted, got = (_in_words(part) for part in match.groups())
        message = f"expected {wanted}, got {got}"
    return _Fault(message[:_MAX_MESSAGE], path)


def _in_words(types: str) -> str:
    return " or ".join(_WORDS.get(f"`{name}`", name) for name in types.strip("`").split(" | "))


def _shown_path(path: Path) -> str:
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return "$" + "".join(steps)
