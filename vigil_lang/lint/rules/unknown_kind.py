"""VGL308: names that look like a kind of the vocabulary (`file.wirte`, `read.file`, `file_read`) and are none."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Diagnostic, Edit, Fix, nearest
from vigil_lang.diagnostics.diagnostic import differ_by_a_slip
from vigil_lang.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from vigil_lang.base.node import Node
    from vigil_lang.lint.subject import Subject
    from vigil_lang.semantics.lower import Statement

_DOTTED = re.compile(r"\w[._-]\w")
_OTHER_WORDS = {
    **dict.fromkeys(("remove", "rm", "unlink", "erase", "del", "destroy"), "delete"),
    **dict.fromkeys(("create", "save", "overwrite", "put"), "write"),
    **dict.fromkeys(("modify", "update", "change", "patch"), "edit"),
    **dict.fromkeys(("open", "view", "get", "cat"), "read"),
    **dict.fromkeys(("exec", "execute", "start", "call"), "run"),
    **dict.fromkeys(("rename", "mv"), "move"),
    **dict.fromkeys(("cp",), "copy"),
    **dict.fromkeys(("http", "fetch", "get"), "request"),
    **dict.fromkeys(("add",), "install"),
}
"""What else people call what the last word of a kind says."""
_OTHER_FAMILIES = {
    **dict.fromkeys(("fs", "filesystem"), "file"),
    **dict.fromkeys(("network", "http"), "net"),
    **dict.fromkeys(("bash", "terminal"), "shell"),
    "database": "db",
    "directory": "dir",
}
"""What else people call what the first word of a kind says."""
_PARTS = re.compile(r"([A-Za-z]+)([._-])([A-Za-z]+)")


def find(subject: Subject) -> Iterator[Diagnostic]:
    """The names in a policy's own text that have a family of the vocabulary before their dot, and are no kind of it.

    So do those that are a kind but for what stands between its parts, or for their order, where no tool has that name.
    """
    policy = subject.policy
    names: list[tree.Name] = []
    statements = (s.syntax for s in policy.statements if _has_dotted_name(s))
    for item in (*subject.declarations, *statements, *(rule.syntax for rule in policy.rules)):
        if isinstance(item, tree.Pattern | tree.Statement | tree.Rule):
            names += _named(item)
    if not any(map(_PARTS.match, (name.text for name in names))):
        return
    kinds, families = _kinds()
    known = subject.signature.names() if subject.signature is not None else ()
    for name in names:
        family, dot, _ = name.text.partition(".")
        if name.text in kinds or name.text in known or policy.module.find(name.text):
            continue
        meant = _respelled(name.text, subject)
        if meant is None and (not dot or family not in families):
            continue
        near = [meant] if meant else _misspelt(name.text, [*kinds, *known])
        yield Diagnostic.of(
            "VGL308",
            f"there is no kind `{name.text}`",
            policy.module.source,
            name.span,
            help=f"did you mean `{near[0]}`?" if near else f"kinds of `{family}`: {_listed(family, kinds)}",
            fix=Fix(f"write `{near[0]}`", (Edit(name.span, near[0]),)) if near else None,
        )


def _misspelt(name: str, known: Collection[str]) -> list[str]:
    """The name that was meant, by a slip or by another word for the same; none where it is only like one."""
    family, _, verb = name.partition(".")
    if (meant := f"{family}.{_OTHER_WORDS.get(verb, verb)}") in known:
        return [meant]
    return [near for near in nearest(name, known, 1) if differ_by_a_slip(name, near)]


def _respelled(name: str, subject: Subject) -> str | None:
    """The kind that a name is with a dot between its parts, or with its parts in the other order."""
    found = _PARTS.fullmatch(name)
    if found is None:
        return None
    one, sign, other = found.groups()
    kinds, _ = _kinds()
    if sign != ".":
        meant: str | None = f"{one}.{other}"
    elif name.islower():
        family = _OTHER_FAMILIES.get(one, one.removesuffix("s"))
        meant = next((kind for kind in (f"{other}.{one}", f"{family}.{other}") if kind in kinds), None)
    else:
        meant = name.lower()
    if meant not in kinds or name in subject.tools:
        return None
    from vigil_lang.abstraction.tools import tool

    return None if sign != "." and tool(name).is_shipped else meant


def _has_dotted_name(statement: Statement) -> bool:
    """Whether the text of a statement has something like one, also in a string: a tree takes longer to look through."""
    form, after = statement.syntax.form, statement.syntax.after
    return _DOTTED.search(statement.source.text, form.span.start, (after or form).span.end) is not None


@cache
def _kinds() -> tuple[tuple[str, ...], frozenset[str]]:
    from vigil_lang.trace.vocabulary import vocabulary

    kinds = tuple(vocabulary().kinds)
    return kinds, frozenset(kind.partition(".")[0] for kind in kinds)


def _listed(family: str, kinds: Collection[str]) -> str:
    return ", ".join(f"`{kind}`" for kind in kinds if kind.startswith(f"{family}."))


def _named(item: Node) -> list[tree.Name]:
    """The bare names that stand for actions in an item, in order; what is quoted is meant as it is."""
    found: list[tree.Name] = []
    waiting: list[object] = [item]
    while waiting:
        match waiting.pop():
            case tree.ActionIn(names):
                for part in names.parts:
                    if isinstance(part, tree.SetLiteral):
                        found += [e for e in part.elements if isinstance(e, tree.Name)]
            case tree.ActionIs(tree.Name() as name):
                found.append(name)
            case tree.Apply(name, args):
                if isinstance(name, tree.Name):
                    found.append(name)
                waiting += reversed(args or ())
            case tree.Pattern() as pattern:
                waiting.append(pattern.body)
            case tree.Rule() as rule:
                waiting.append(rule.when)
            case tree.Statement() as statement:
                waiting += [statement.after, statement.form.since, *reversed(statement.form.args)]
            case tree.And(items) | tree.Or(items):
                waiting += reversed(items)
            case tree.Not(body) | tree.Diamond(_, _, body) | tree.Repeated(_, body):
                waiting.append(body)
            case tree.Implies(left, right) | tree.Interval(_, _, _, left, right):
                waiting += (right, left)
    return found
