"""The registry of diagnostic codes. Each has a page under docs/codes, checked against this table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

Severity: TypeAlias = Literal["error", "warning", "info"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
FailLevel: TypeAlias = Literal[Severity, "never"]
FAIL_LEVELS: tuple[FailLevel, ...] = get_args(FailLevel)


@dataclass(frozen=True, slots=True)
class Code:
    """A stable code, the severity it has by default, and its one-line meaning."""

    id: str
    severity: Severity
    summary: str


def _table(*rows: tuple[str, Severity, str]) -> dict[str, Code]:
    return {code: Code(code, severity, summary) for code, severity, summary in rows}


# Hundreds: 0 files, 1 syntax, 2 names and modules, 3 conditions by themselves, 4 against a signature,
# 5 uses of an extension (check --core), 6 runs, signatures, tests and drafts, 7 the cited document, 8 house style,
# 9 the tool itself.
CODES: dict[str, Code] = _table(
    ("VGL001", "error", "a file cannot be read"),
    ("VGL002", "error", "a file is not UTF-8 text"),
    ("VGL003", "error", "a file or a construct is larger than the limits"),
    ("VGL004", "error", "a file cannot be written"),
    ("VGL005", "error", "the configuration is not valid"),
    ("VGL006", "warning", "the configuration has an unknown key"),
    ("VGL007", "warning", "an ignore comment suppresses nothing"),
    ("VGL008", "warning", "an ignore comment is malformed"),
    ("VGL009", "error", "a baseline is not valid"),
    ("VGL101", "error", "the text is not what the grammar allows here"),
    ("VGL102", "error", "a string or regular expression is not closed"),
    ("VGL103", "error", "a character that no token starts with"),
    ("VGL104", "error", "conditions are nested too deeply"),
    ("VGL105", "warning", "a documentation comment belongs to no item"),
    ("VGL106", "error", "an escape sequence is unknown"),
    ("VGL107", "error", "a temporal operator stands where only a condition may"),
    ("VGL109", "error", "a control character that can hide or reorder text"),
    ("VGL201", "error", "a name is not declared"),
    ("VGL202", "error", "a name is declared twice"),
    ("VGL203", "error", "declarations refer to each other in a cycle"),
    ("VGL204", "error", "a pattern is applied to the wrong number of terms"),
    ("VGL205", "warning", "a declared or imported name is not used"),
    ("VGL206", "warning", "a local declaration hides an imported name"),
    ("VGL207", "error", "a module cannot be found"),
    ("VGL208", "error", "`use` leaves the project"),
    ("VGL209", "error", "a name stands for the wrong kind of thing"),
    ("VGL210", "error", "a parameter has no value or one of the wrong type"),
    ("VGL211", "warning", "an annotation is unknown or malformed"),
    ("VGL212", "error", "modules use each other in a cycle"),
    ("VGL213", "error", "a policy expands beyond the size limit"),
    ("VGL214", "error", "a view of a field is unknown or malformed"),
    ("VGL215", "error", "a test of an event where only values are tested"),
    ("VGL301", "warning", "a value variable occurs only once"),
    ("VGL302", "error", "a condition can never hold"),
    ("VGL303", "error", "a bound is less than one"),
    ("VGL304", "warning", "two statements are the same"),
    ("VGL305", "error", "a regular expression is not valid"),
    ("VGL306", "error", "a literal has the wrong type for its place"),
    ("VGL307", "warning", "a message refers to a variable the statement does not have"),
    ("VGL308", "warning", "a name looks like a kind of the vocabulary and is none"),
    ("VGL309", "warning", "a condition always holds"),
    ("VGL310", "warning", "a part of a condition changes nothing"),
    ("VGL311", "warning", "the guard is the trigger itself"),
    ("VGL312", "warning", "the response is a trigger again"),
    ("VGL313", "warning", "the resolver is itself forbidden"),
    ("VGL314", "warning", "no run can break the statement"),
    ("VGL315", "warning", "one event would have to be two actions"),
    ("VGL316", "warning", "a regular expression matches no text"),
    ("VGL317", "warning", "a word boundary beside a character that belongs to no word"),
    ("VGL318", "warning", "a glob has no wildcard, or is compared as a whole text"),
    ("VGL319", "warning", "a path pattern that no absolute path matches"),
    ("VGL320", "error", "a variable that nothing binds"),
    ("VGL321", "warning", "a bound that no run reaches"),
    ("VGL322", "warning", "a statement is implied by another"),
    ("VGL323", "warning", "a glob matches everything"),
    ("VGL324", "warning", "a text holds an operator"),
    ("VGL325", "warning", "two variables of a statement look alike"),
    ("VGL326", "warning", "a test of an argument that is called like a variable"),
    ("VGL327", "warning", "a gate is told to stop what it cannot prevent"),
    ("VGL328", "warning", "a value that the view before it never gives"),
    ("VGL331", "warning", "benign runs break the statement"),
    ("VGL332", "warning", "no given run exercises the statement"),
    ("VGL341", "error", "a rule asks what is known only after the call"),
    ("VGL342", "error", "a rule has a value variable"),
    ("VGL343", "error", "a field of the context is unknown, or never has such a value"),
    ("VGL344", "error", "a field of the context, or `violates`, outside the rules of a gate"),
    ("VGL345", "warning", "a rule relaxes nothing"),
    ("VGL346", "warning", "a rule names something twice"),
    ("VGL351", "warning", "a rule changes no decision beside another"),
    ("VGL352", "warning", "`relaxes` names nothing of the default layer"),
    ("VGL353", "warning", "a rule covers nothing of what it relaxes"),
    ("VGL354", "warning", "a personal rule relaxes what the organisation stops anyway"),
    ("VGL401", "warning", "an action is not in the signature"),
    ("VGL402", "warning", "an argument is carried by none of the pattern's actions"),
    ("VGL403", "warning", "an order test on an argument that is never a number"),
    ("VGL404", "warning", "a literal has a type the argument never has"),
    ("VGL405", "warning", "a value is not among those of the argument"),
    ("VGL406", "warning", "a glob or regular expression matches no value"),
    ("VGL407", "warning", "a variable joins arguments that never share a value"),
    ("VGL408", "warning", "the trigger can never occur: the statement says nothing"),
    ("VGL409", "warning", "the guard can never occur: every trigger is a violation"),
    ("VGL501", "info", "the statement uses an extension of the paper's language"),
    ("VGL601", "error", "a line of a run is not valid"),
    ("VGL602", "error", "an event id is used twice"),
    ("VGL603", "error", "the format of a run is not recognised"),
    ("VGL604", "error", "a signature or tool definition is not valid"),
    ("VGL605", "error", "a run holds no events"),
    ("VGL606", "error", "a recording holds several runs"),
    ("VGL607", "warning", "a call was not wholly understood"),
    ("VGL608", "warning", "a verdict rests on an output that was cut"),
    ("VGL609", "warning", "records of a recording were not understood"),
    ("VGL610", "error", "a test is not valid"),
    ("VGL611", "error", "a policy document is not valid"),
    ("VGL612", "error", "the model cannot be asked"),
    ("VGL613", "error", "the budget of a draft does not suffice"),
    ("VGL614", "error", "no stored draft fits"),
    ("VGL615", "warning", "clauses of a document are not judged"),
    ("VGL616", "info", "a run puts no statement to the test"),
    ("VGL617", "error", "a rule in another notation has no exact translation"),
    ("VGL640", "error", "a key cannot be used"),
    ("VGL641", "error", "a grant or a chain of grants is not valid"),
    ("VGL642", "warning", "a grant allows what may not be meant"),
    ("VGL701", "warning", "a limiting word of the sentence has no counterpart"),
    ("VGL702", "warning", "a number or name of the sentence has no counterpart"),
    ("VGL703", "warning", "the sentence speaks of another order than the form"),
    ("VGL704", "warning", "the cited document does not hold the sentence"),
    ("VGL705", "warning", "a cited document cannot be read"),
    ("VGL706", "info", "an obligation of the document is cited by no statement"),
    ("VGL707", "warning", "an annotation weakens what the sentence demands"),
    ("VGL708", "warning", "a text can be mistaken for another"),
    ("VGL801", "warning", "a name does not follow the convention"),
    ("VGL802", "warning", "an item has no documentation"),
    ("VGL803", "warning", "a statement cites no source"),
    ("VGL804", "warning", "declarations are out of order"),
    ("VGL901", "error", "the solver did not confirm the verdict"),
    ("VGL902", "error", "a rule failed"),
)
