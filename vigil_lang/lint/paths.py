"""Texts that are held against paths, and what keeps them from being a path as events carry it.

Where a run says in which directory it works, the paths of its events are absolute and normalised (docs/formats.md).
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Literal, TypeAlias

from vigil_lang.lint.literal_texts import glob, texts, value
from vigil_lang.lint.policy_parts import way_to
from vigil_lang.semantics.terms import Failed
from vigil_lang.semantics.text_patterns import Expression, Glob, predicate
from vigil_lang.syntax import tree

if TYPE_CHECKING:
    from vigil_lang.lint.policy_parts import Use
    from vigil_lang.lint.subject import Subject
    from vigil_lang.semantics.modules import Module

Fault: TypeAlias = Literal["relative", "home", "not normal", "backslash", "escape", "url"]

ROLES = frozenset(
    {"path", "source", "target", "directory", "archive", "script", "config", "executable", "file", "from_script"}
)
"""The roles of the vocabulary that are paths."""

_OWN_NAMES = frozenset({"file_path", "notebook_path"})
_ABSOLUTE_ONLY = frozenset({"Read", "Write", "Edit", "MultiEdit", "NotebookEdit", "NotebookRead"})
"""Tools that take absolute paths alone, under names of their own."""

_FREE_START = re.compile(r"[/*?~\\$<{%`-]|[A-Za-z]:[/\\]|[A-Za-z][A-Za-z0-9+.-]+://|$")
_NOT_NORMAL = re.compile(r"//|/\.\.?(?:/|$)|(?<=[^/*])/$|[^/*?]/\*\*+/$")
_BACKSLASH = re.compile(r"(?:[A-Za-z]:|\*|\.{1,2}|\w[\w-]*)(?:\\+\w|\\\\[*?.])")
_ESCAPE = re.compile(r"(?:[A-Za-z]:)?[^\t\n\r]*[\t\n\r]\w")
"""What `"C:\\temp\\new"` is: a tab and the end of a line, and no backslash."""
_SUSPICIOUS = re.compile(r"\^|\(\?|\\?/\\?/|\$$|\\?/\\\.")


def amiss(use: Use, text: str, subject: Subject) -> Fault | None:
    """What keeps a text from matching absolute paths where it is held against them, None where nothing does."""
    if use.field is None or (fault := fault_of(text)) is None or not _is_path(use, subject):
        return None
    if fault in ("backslash", "escape", "url"):
        return fault if use.field.name in ROLES else None  # what tools are given is kept as it is
    return None if fault != "not normal" and _has_counterpart(use, text, subject) else fault


def regex_amiss(use: Use, regex: tree.Regex, subject: Subject) -> bool:
    """Whether a regular expression that is held against a path matches no absolute path."""
    return (
        use.field is not None
        and _SUSPICIOUS.search(regex.raw) is not None
        and _is_path(use, subject)
        and _only_relative(regex.raw, regex.ignore_case)
    )


def fault_of(text: str) -> Fault | None:
    """What keeps a path or a glob from matching absolute paths."""
    if _ESCAPE.match(text) is not None:
        return "escape"
    if _BACKSLASH.match(text) is not None:
        return "backslash"
    if text.lower().startswith("file://"):
        return "url"
    if text.startswith("~") and text[1:2] not in ("", "/"):
        return "home"
    if _FREE_START.match(text) is None:
        return "relative"
    return "not normal" if "://" not in text and text[:1] in "/*?~" and _NOT_NORMAL.search(text) else None


@lru_cache(maxsize=256)
def _only_relative(raw: str, ignore_case: bool) -> bool:
    from vigil_lang.analysis.satisfiable import contradiction
    from vigil_lang.semantics import core

    expression = Expression(raw, ignore_case)
    try:
        predicate(expression)
    except ValueError:  # which is said where it is read
        return False
    reads = core.Reads("path")
    normal = core.Matches(reads, Expression(r"^(/|[A-Za-z]:/|\\\\)"))
    odd = core.Matches(reads, Expression(r"//|/\.\.?(/|$)|./$"))
    found = contradiction([core.Matches(reads, expression), normal, core.NotC(odd)])
    return found is not None and 0 in found.conjuncts and len(found.conjuncts) > 1


# --- whether it is a path ---


def _is_path(use: Use, subject: Subject) -> bool:
    if use.field is None or use.field.kind == "output" or use.field.views:
        return False
    name = use.field.name
    if name not in ROLES and name not in _OWN_NAMES:
        return False
    key = (id(use.expr), use.through)
    known = subject.parts.paths.get(key)
    if known is None:
        actions = actions_of(use, subject)
        if actions is None:
            known = name == "path"
        else:
            known = bool(actions) and all(_makes_absolute(action, name, subject) for action in actions)
        subject.parts.paths[key] = known
    return known


def _makes_absolute(action: str, name: str, subject: Subject) -> bool:
    """Whether events of an action carry absolute paths under a name."""
    if name in _OWN_NAMES:
        return action in _ABSOLUTE_ONLY
    from vigil_lang.abstraction.tools import tool, with_own
    from vigil_lang.trace.vocabulary import vocabulary

    if action in vocabulary().kinds or name in with_own(tool(action), subject.tools.get(action)).roles:
        return True
    from vigil_lang.abstraction.catalogue.load import program

    return program(action) is not None


def actions_of(use: Use, subject: Subject) -> frozenset[str] | None:
    """The actions that the conjunction around a test names; None where it names none."""
    module = subject.policy.module
    if use.through is not None:
        found = module.find(use.through)
        if found is not None and isinstance(found[1], tree.Pattern):
            inside = _named(found[1].body, found[0], subject, 0)
            if inside is not None:
                return inside
    return _around(way_to(use.item, use.expr), module, subject)


def _around(way: list[tree.Expr], module: Module, subject: Subject) -> frozenset[str] | None:
    actions: frozenset[str] | None = None
    for above, below in pairwise(way):
        match above:
            case tree.And(items):
                others = [_named(item, module, subject, 0) for item in items if item is not below]
            case tree.Apply(name):
                called = name.text if isinstance(name, tree.Name) else name.raw
                others = [frozenset({called})]
            case tree.Implies() | tree.Diamond():
                actions, others = None, []  # another event
            case _:
                others = []
        for one in others:
            if one is not None:
                actions = one if actions is None else actions | one
    return actions


_DEEPEST = 20
_SIBLINGS = 100


def _named(expr: tree.Expr, module: Module, subject: Subject, depth: int) -> frozenset[str] | None:
    """The actions that a condition names; None where it may hold of any."""
    if depth > _DEEPEST:
        return None
    match expr:
        case tree.ActionIn(names):
            from vigil_lang.semantics.meanings import Scope

            try:
                return subject.conditions.terms.set_of(names, Scope(module))
            except Failed:
                return None
        case tree.ActionIs(name):
            return frozenset({name.text if isinstance(name, tree.Name) else name.raw})
        case tree.ActionMatches(tree.String() as string):
            return _kinds_like(glob(string) or "")
        case tree.And(items):
            found = [n for item in items if (n := _named(item, module, subject, depth + 1)) is not None]
            return frozenset[str]().union(*found) if found else None
        case tree.Or(items):
            each = [_named(item, module, subject, depth + 1) for item in items]
            known = [n for n in each if n is not None]
            return frozenset[str]().union(*known) if len(known) == len(each) else None
        case tree.Apply(name):
            declared = module.find(name.text) if isinstance(name, tree.Name) else None
            if declared is not None and isinstance(declared[1], tree.Pattern):
                return _named(declared[1].body, declared[0], subject, depth + 1)
            return frozenset({name.text if isinstance(name, tree.Name) else name.raw})
        case _:
            return None


@lru_cache(maxsize=256)
def _kinds_like(text: str) -> frozenset[str] | None:
    """The kinds that `file.*` matches; None where the text may also mean the names of tools."""
    from vigil_lang.trace.vocabulary import vocabulary

    if "." not in re.split(r"[*?\\]", text)[0]:
        return None
    matches = predicate(Glob(text))
    return frozenset(filter(matches, vocabulary().kinds)) or None


def _has_counterpart(use: Use, text: str, subject: Subject) -> bool:
    """Whether the same item asks for the same path in its absolute form as well."""
    assert use.field is not None
    key = (id(use.item), use.field.name, use.operator)
    known = subject.parts.absolute.get(key)
    if known is None:
        alike = (o for o in subject.parts.uses if o.item is use.item and o.field == use.field)
        strings = (string for o in alike if o.operator == use.operator for string in texts(o.operand))
        found = (value(string) or "" for string in strings)
        known = subject.parts.absolute[key] = list(islice((v for v in found if fault_of(v) is None), _SIBLINGS))
    tail = text.lstrip("~").lstrip("./")
    return any(other.endswith(tail) for other in known)
