"""VGL324: texts that hold an operator, which nothing reads as one: `env = "!= prod"`, `action = "Bash || Write"`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from vigil_lang.diagnostics import Diagnostic, Edit, Fix
from vigil_lang.lint.literal_texts import element, field_text, is_free, texts, value
from vigil_lang.semantics.text_patterns import quote
from vigil_lang.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.lint.policy_parts import Use
    from vigil_lang.lint.subject import Subject
    from vigil_lang.semantics.modules import Module

_MARKED = re.compile(r"[=<>~|&$,;≠≤≥]|\b(?:or|and|gte?|lte?|eq|neq?|action)\b", re.IGNORECASE)
_COMPARISON = re.compile(
    r"""\s*(?:(?P<double>==|!=|<>|>=|<=|!~|=~|≠|≤|≥)\s*|(?P<order>[<>])(?=\s*[-+]?[0-9])\s*|(?P<single>[<>=~])\s+)
        (?P<operand>[^\s=<>~!|&].*)""",
    re.VERBOSE | re.DOTALL,
)
_BY_NAME = re.compile(r"\$?(?P<name>gte?|lte?|eq|neq?)\b[\s:(]*(?P<operand>[-+]?[0-9]+(?:\.[0-9]+)?)\)?", re.IGNORECASE)
_DOLLAR = re.compile(r"\$(?:eq|ne|gte?|lte?|in|nin|not|regex)\b")
_OWN_TEST = re.compile(r"\s*(?:status\s*[!=]=?\s*(?:ok|error|success|failed)\b|action\s+(?:in\b|[=~]))")
_PART = r"[A-Za-z0-9_][A-Za-z0-9_.:*/-]*"
_ACTIONS = re.compile(rf"\s*{_PART}(?:(?:\s*(?:\|\|?|&&?|,|;)\s*|\s+(?:or|and)\s+){_PART})+\s*", re.IGNORECASE)
_VALUES = re.compile(rf"\s*{_PART}(?:\s*(?:\|\||&&)\s*{_PART})+\s*")
_PIPED = re.compile(r"[A-Za-z0-9_-]{2,}(?:\|[A-Za-z0-9_-]{2,})+")
_IN_WORDS = re.compile(rf"\s*{_PART}(?:\s+or\s+{_PART})+\s*", re.IGNORECASE)
_PATHS = re.compile(r"\s*[/~]\S+(?:\s+(?:or|and)\s+[/~]\S+)+\s*", re.IGNORECASE)
_BETWEEN = re.compile(r"\s*(?:\|\|?|&&?|[,;])\s*|\s+(?:or|and)\s+", re.IGNORECASE)
_NUMBER = re.compile(r"[-+]?[0-9]+(?:\.[0-9]+)?")
_VERSIONED = frozenset({"version", "versions", "package", "packages", "constraint", "constraints", "range", "spec"})
_VERSIONED |= {"requirement", "requirements", "dependency", "dependencies", "specifier", "python", "engine"}
_SHORT = 20
"""Elements an enumeration has at most, to be taken for one."""
_OPERATORS = {"==": "=", "<>": "!=", "=~": "~", "≠": "!=", "≤": "<=", "≥": ">="}
_NAMED = {"gt": ">", "gte": ">=", "lt": "<", "lte": "<=", "eq": "=", "ne": "!=", "neq": "!="}


class Held(NamedTuple):
    """What a text holds: an operator with its operand, or values that were meant one by one, or neither is certain."""

    operator: str = ""
    operand: str = ""
    parts: tuple[str, ...] = ()


def find(subject: Subject) -> Iterator[Diagnostic]:
    """The texts of equalities, sets and globs that hold an operator."""
    module = subject.policy.module
    for use in subject.parts.uses:
        if type(use.operand) is tree.Regex or use.operator == "contains":
            continue
        for string in texts(use.operand):
            if _MARKED.search(string.raw) is None or (text := value(string)) is None:
                continue
            held = holds_operator(use, text)
            if held is not None:
                name = "the action's name" if use.field is None else f"`{field_text(use.field)}`"
                written = _written(use, held, module)
                yield Diagnostic.of(
                    "VGL324",
                    f"{name} is compared with the literal text `{text}`: the operator in it has no effect",
                    module.source,
                    string.span,
                    help=f"write `{written}`" if written else "write the operator outside the string",
                    fix=_fix(use, string, held, module),
                )


def holds_operator(use: Use, text: str) -> Held | None:
    """What operator a text holds, None where it holds none or where it is prose, code or a version."""
    if use.operator not in ("=", "!=", "in", "not in", "~", "!~"):
        return None
    if use.field is None:
        return Held(parts=tuple(_BETWEEN.split(text.strip()))) if _ACTIONS.fullmatch(text) else _comparison(text)
    if use.field.kind == "output" or is_free(use.field.name) or _is_version(use.field.name):
        return None
    if _OWN_TEST.match(text) or _DOLLAR.match(text):
        return _comparison(text) or Held()
    if (
        _VALUES.fullmatch(text)
        or _PATHS.fullmatch(text)
        or ("~" in use.operator and _PIPED.fullmatch(text))
        or _is_listed(use, text)
    ):
        return Held(parts=tuple(_BETWEEN.split(text.strip())))
    return _comparison(text)


def _comparison(text: str) -> Held | None:
    if m := _BY_NAME.fullmatch(text):
        return Held(_NAMED[m["name"].lower()], m["operand"])
    m = _COMPARISON.fullmatch(text)
    if m is None or (text.startswith("<") and text.endswith(">")):
        return None
    operator = m["double"] or m["order"] or m["single"]
    return Held(_OPERATORS.get(operator, operator), m["operand"].strip().strip("\"'"))


def _is_version(name: str) -> bool:
    last = name.rpartition(".")[2].lower()
    return last in _VERSIONED or last.rpartition("_")[2] in _VERSIONED


def _is_listed(use: Use, text: str) -> bool:
    """Whether `x or y` stands in a set whose other elements are plain words."""
    if not isinstance(use.operand, tree.SetUnion) or not _IN_WORDS.fullmatch(text):
        return False
    elements = [e for part in use.operand.parts if isinstance(part, tree.SetLiteral) for e in part.elements]
    if len(elements) > _SHORT:
        return False
    others = [e.raw if isinstance(e, tree.String) else getattr(e, "text", "1") for e in elements]
    return len(others) > 1 and sum(" " in other for other in others) == 1


def _written(use: Use, held: Held, module: Module) -> str | None:
    """The test with the operator outside of the string, where it is clear which that is."""
    if use.through is not None:
        return None
    if held.parts:
        if _size(use.operand) > 1 or any("*" in part for part in held.parts):
            return None
        word = "in" if use.operator in ("=", "~", "in") else "not in"
        return f"{_name(use)} {word} {{{_listed(use, held, module)}}}"
    if not held.operator or use.operator not in ("=", "~") or use.field is None:
        return None
    if held.operator in ("<", "<=", ">", ">="):
        return f"{_name(use)} {held.operator} {held.operand}" if _NUMBER.fullmatch(held.operand) else None
    operand = held.operand if _NUMBER.fullmatch(held.operand) else quote(held.operand)
    return f"{_name(use)} {held.operator} {operand}"


def _fix(use: Use, string: tree.String, held: Held, module: Module) -> Fix | None:
    written = _written(use, held, module)
    if written is not None:
        return Fix(f"write `{written}`", (Edit(use.expr.span, written),))
    if held.parts and use.through is None and isinstance(use.operand, tree.SetUnion):
        listed = _listed(use, held, module)
        return Fix(f"write `{listed}`", (Edit(string.span, listed),))
    return None


def _name(use: Use) -> str:
    return "action" if use.field is None else field_text(use.field)


def _listed(use: Use, held: Held, module: Module) -> str:
    shown = [quote(p) if use.field is not None else element(p, use, module) for p in held.parts]
    return ", ".join(shown)


def _size(operand: object) -> int:
    if not isinstance(operand, tree.SetUnion):
        return 1
    return sum(len(part.elements) if isinstance(part, tree.SetLiteral) else 2 for part in operand.parts)
