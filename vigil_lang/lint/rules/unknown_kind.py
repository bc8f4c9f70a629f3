"""VGL308: names that look like a kind of the vocabulary (`file.wirte`, `read.file`, `file_read`) and are none."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Diagnostic, Edit, Fix, nearest
from vigil_lang.diagnostics.diagnostic import differ_by_a_slip
from vigil_lang.lint.literal_texts import value
from vigil_lang.semantics.text_patterns import quote
from vigil_lang.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from vigil_lang.lint.subject import Subject

_MAY_BE_MEANT = re.compile(r"\w[ ._-]\w")
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
    **dict.fromkeys(("directory", "folder"), "dir"),
    **dict.fromkeys(("pip", "npm", "pkg"), "package"),
    "credential": "secret",
    "proc": "process",
}
"""What else people call what the first word of a kind says."""
_PARTS = re.compile(r"([A-Za-z]+)([ ._-])([A-Za-z]+)")


def find(subject: Subject) -> Iterator[Diagnostic]:
    """The names in a policy's own text that have a family of the vocabulary before their dot, and are no kind of it.

    So do those that are a kind but for what stands between its parts, or for their order, where no tool has that name.
    """
    yield from _families(subject)
    module = subject.policy.module
    names = [(text, term) for text, term in _named(subject) if _MAY_BE_MEANT.search(text) or text.lower() in _glued()]
    if not names:
        return
    kinds, families = _kinds()
    known = subject.signature.names() if subject.signature is not None else ()
    for text, term in names:
        family, dot, _ = text.partition(".")
        if text in kinds or text in known or module.find(text):
            continue
        meant = _respelled(text, subject)
        if meant is None and (not dot or family not in families):
            continue
        near = [meant] if meant else _misspelt(text, [*kinds, *known])
        written = quote(near[0]) if near and isinstance(term, tree.String) else near[0] if near else ""
        yield Diagnostic.of(
            "VGL308",
            f"there is no kind `{text}`",
            module.source,
            term.span,
            help=f"did you mean `{near[0]}`?" if near else f"kinds of `{family}`: {_listed(family, kinds)}",
            fix=Fix(f"write `{written}`", (Edit(term.span, written),)) if near else None,
        )


_FAMILY = re.compile(r"(?P<family>[A-Za-z]+)[:/]\*")


def family_meant(text: str) -> str | None:
    """The glob of a family of kinds that is written with another sign than a dot: `file:*`, `git/*`."""
    found = _FAMILY.fullmatch(text)
    if found is None:
        return None
    family = found["family"].lower()
    family = _OTHER_FAMILIES.get(family, family)
    return f"{family}.*" if family in _kinds()[1] else None


def _families(subject: Subject) -> Iterator[Diagnostic]:
    for use in subject.parts.uses:
        if use.field is not None or use.through is not None or not isinstance(use.operand, tree.String):
            continue
        text = value(use.operand)
        meant = None if text is None else family_meant(text)
        known = () if subject.signature is None else subject.signature.names()
        if text is None or meant is None or any(name.startswith(text[:-1]) for name in known):
            continue
        written = f"action ~ {quote(meant)}"
        yield Diagnostic.of(
            "VGL308",
            f"there are no kinds `{text}`",
            subject.policy.module.source,
            use.operand.span,
            help=f"a dot stands between the parts of a kind: `{written}`",
            fix=Fix(f"write `{written}`", (Edit(use.expr.span, written),))
            if use.expr.span.end == use.operand.span.end
            else None,
        )


def _named(subject: Subject) -> Iterator[tuple[str, tree.Name | tree.String]]:
    """The names of actions in the policy's own text; a call whose name is quoted is meant as it is."""
    for _, apply in subject.parts.calls:
        if isinstance(apply.name, tree.Name):
            yield apply.name.text, apply.name
        elif (text := value(apply.name)) is not None and text.replace(" ", ".") in _kinds()[0] and " " in text:
            yield text, apply.name
    for use in subject.parts.uses:
        if use.field is not None or not isinstance(use.expr, tree.ActionIs | tree.ActionIn):
            continue
        operand = use.operand
        sets = operand.parts if isinstance(operand, tree.SetUnion) else ()
        for term in (operand, *(e for part in sets if isinstance(part, tree.SetLiteral) for e in part.elements)):
            if isinstance(term, tree.Name):
                yield term.text, term
            elif isinstance(term, tree.String) and (text := value(term)) is not None:
                yield text, term


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
        glued = _glued().get(name.lower())
        return glued if glued is not None and not _is_tool(name, subject) else None
    one, sign, other = found.groups()
    kinds, _ = _kinds()
    if sign != ".":
        meant: str | None = f"{one}.{other}"
    elif name.islower():
        bare = one.removesuffix("s")
        family = _OTHER_FAMILIES.get(one, _OTHER_FAMILIES.get(bare, bare))
        meant = next((kind for kind in (f"{other}.{one}", f"{family}.{other}") if kind in kinds), None)
    else:
        meant = name.lower()
    return meant if meant in kinds and not _is_tool(name, subject) else None


def _is_tool(name: str, subject: Subject) -> bool:
    from vigil_lang.abstraction.tools import tool

    return name in subject.tools or tool(name).is_shipped


@cache
def _glued() -> dict[str, str]:
    """The kinds by their names without a dot."""
    return {kind.replace(".", ""): kind for kind in _kinds()[0]}


@cache
def _kinds() -> tuple[tuple[str, ...], frozenset[str]]:
    from vigil_lang.trace.vocabulary import vocabulary

    kinds = tuple(vocabulary().kinds)
    return kinds, frozenset(kind.partition(".")[0] for kind in kinds)


def _listed(family: str, kinds: Collection[str]) -> str:
    return ", ".join(f"`{kind}`" for kind in kinds if kind.startswith(f"{family}."))
