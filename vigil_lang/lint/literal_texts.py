"""Whether a text of a policy is likely prose or a command line, or a plain value."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

from vigil_lang.semantics.text_patterns import BadEscape, glob_text, quote, unescape
from vigil_lang.syntax import tree
from vigil_lang.syntax.print import to_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.lint.policy_parts import Use
    from vigil_lang.semantics.modules import Module

_FREE = frozenset(
    {
        "answer", "argument", "argv", "body", "caption", "cmd", "code", "command", "comment", "content", "data",
        "description", "diff", "expression", "flag", "html", "input", "instruction", "json", "line", "markdown",
        "message", "new_str", "new_string", "note", "old_str", "old_string", "output", "page", "patch", "pattern",
        "payload", "prompt", "query", "question", "reason", "regex", "reply", "response", "script", "sql", "stderr",
        "stdin", "stdout", "subject", "summary", "task", "text", "title", "url", "value", "variable",
    }
)  # fmt: skip
_MOST = 200
"""Elements of a declared set that are looked at for each test that names it."""
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:[.-][A-Za-z0-9_]+)*")


def is_free(name: str) -> bool:
    """Whether values under an argument's name are mostly prose, code or command lines: `command`, `params.body`."""
    last = name.rpartition(".")[2].lower()
    return last in _FREE or last.rpartition("_")[2] in _FREE or last.removesuffix("s") in _FREE


def texts(operand: object) -> Iterator[tree.String]:
    """The string literals of an operand: itself, or the elements of its sets."""
    if isinstance(operand, tree.String):
        yield operand
    elif isinstance(operand, tree.SetUnion):
        for part in operand.parts:
            if isinstance(part, tree.SetLiteral):
                yield from (element for element in part.elements if isinstance(element, tree.String))


def held(use: Use, module: Module) -> Iterator[tuple[tree.String, bool]]:
    """The string literals that an operand holds, those of a `let` of the same file too.

    With each, whether it may be written otherwise: it stands in the operand itself, or nothing else names the `let`.
    """
    yield from ((string, True) for string in texts(use.operand))
    operand = use.operand
    names = operand.parts if isinstance(operand, tree.SetUnion) else (operand,)
    for name in names:
        found = module.find(name.text) if isinstance(name, tree.Name) else None
        if found is None or found[0] is not module or not isinstance(found[1], tree.Let):
            continue
        alone = _times_named(found[1].name.text, module.source.text) == 2  # where it is declared, and here
        yield from ((string, alone) for string in islice(texts(found[1].value), _MOST))


@lru_cache(maxsize=256)
def _times_named(name: str, text: str) -> int:
    return len(re.findall(rf"(?<![\w.-]){re.escape(name)}(?![\w-]|\.\w)", text))


def value(string: tree.String) -> str | None:
    """The text a string denotes; None where it has an unknown escape."""
    try:
        return unescape(string.raw)
    except BadEscape:
        return None


def glob(string: tree.String) -> str | None:
    """The glob a string denotes; None where it has an unknown escape."""
    try:
        return glob_text(string.raw)
    except BadEscape:
        return None


def glob_of(use: Use, module: Module) -> str | None:
    """The glob that stands after `~`, also where a `let` holds it. None for what an operator may set otherwise."""
    operand = use.operand
    if isinstance(operand, tree.Name):
        found = module.find(operand.text)
        operand = found[1].value if found is not None and isinstance(found[1], tree.Let) else operand
    return glob(operand) if isinstance(operand, tree.String) else None


def element(text: str, use: Use, module: Module) -> str:
    """A text as an element of a set or the name of an action: bare, unless that is declared to mean something else."""
    params = use.item.params if isinstance(use.item, tree.Pattern) else ()
    taken = module.find(text) is not None or any(param.text == text for param in params)
    return quote(text) if taken or text in ("true", "false") or not _NAME.fullmatch(text) else text


def field_text(field: tree.Field) -> str:
    """A field as it is written."""
    return to_text(field)
