"""What is wrong with declarations by themselves, whether or not a statement uses them."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Diagnostic, Edit, Fix, Span, nearest
from vigil_lang.patterns import regex
from vigil_lang.semantics.meanings import Argument, Hole, Scope
from vigil_lang.semantics.terms import Failed
from vigil_lang.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence, Set

    from vigil_lang.semantics.conditions import Conditions
    from vigil_lang.semantics.modules import Declaration, Module

_NAME = regex(r"[A-Za-z_][A-Za-z0-9_.-]*")
_JUDGED = frozenset({"statement", "rule"})


def check_declaration(conditions: Conditions, declaration: Declaration, module: Module) -> None:
    """Give a declaration of the module a meaning; where it has none, that is reported."""
    conditions.start()
    with suppress(Failed):
        if isinstance(declaration, tree.Pattern):
            _check_pattern(conditions, declaration, module)
        elif isinstance(declaration, tree.Let):
            conditions.terms.value_of(declaration, module)
        elif declaration.default is not None:
            conditions.terms.default(declaration, declaration.default, Scope(module))


def _check_pattern(conditions: Conditions, pattern: tree.Pattern, module: Module) -> None:
    names = [p.text for p in pattern.params]
    scope = Scope(module)
    for at, param in enumerate(pattern.params):
        if param.text in names[:at]:
            conditions.terms.fail("VGL202", f"parameter `{param.text}` is named twice", scope.place(param.span))
    holes = {p.text: Argument(Hole(), scope.place(p.span), p.text) for p in pattern.params}
    conditions.condition(pattern.body, Scope(module, holes, ((module, pattern.name.text),)))


def unused(conditions: Conditions, module: Module, doubtful: Iterable[Span]) -> Iterator[Diagnostic]:
    """VGL205, in a file with statements or rules: a library's names are there for others to use.

    What is written in a `doubtful` part, whole, in part or with a slip, is meant there; and any import may be.
    """
    text = module.source.text
    words = {word for start, end in doubtful for name in _NAME.findall(text, start, end) for word in name.split(".")}
    used = {name for where, name in conditions.terms.used if where is module}
    if not (_JUDGED & words or any(isinstance(item, tree.Statement | tree.Rule) for item in module.file.items)):
        return
    idle = [name for name in module.own if name not in used]
    meant = _meant(words - module.own.keys() if idle else frozenset(), idle) | words
    for name in idle:
        if name not in meant:
            declaration = module.own[name]
            kind = type(declaration).__name__.lower()
            yield _unused(f"{kind} `{name}` is not used", module, declaration.name.span)
    tested = any(isinstance(item, tree.TestCase) for item in module.file.items)  # what is used is under test
    for item in module.file.items:
        if isinstance(item, tree.Use) and not tested and not words:
            yield from _unused_imports(item, module, used)


def _meant(words: Set[str], names: Sequence[str]) -> set[str]:
    """The names that some words begin, or are slips of."""
    begun = {name for name in names if any(word and name.startswith(word) for word in words)}
    return begun.union(*(nearest(word, names, len(names)) for word in words))


def _unused_imports(use: tree.Use, module: Module, used: set[str]) -> Iterator[Diagnostic]:
    mine = [name for name, (_, _, by) in module.imported.items() if by is use]
    idle = [name for name in use.names if name.text in mine and name.text not in used]
    if mine and used.isdisjoint(mine) and len(idle) == len(use.names):
        fix = Fix("delete it", (Edit(_line(use.span, module.source.text), ""),), safe=True)
        if use.names:
            for name in idle:
                yield _unused(f"`{name.text}` is imported and not used", module, name.span, fix)
        else:
            yield _unused(f"nothing of `{use.module.text}` is used", module, use.module.span, fix)
        return
    for name in idle:
        at = use.names.index(name)
        span = Span(use.names[at - 1].span.end, name.span.end) if at else Span(name.span.start, use.names[1].span.start)
        fix = Fix("delete it", (Edit(span, ""),), safe=True)
        yield _unused(f"`{name.text}` is imported and not used", module, name.span, fix)


def _line(span: Span, text: str) -> Span:
    """A span with its line break, where it has the line to itself."""
    starts = span.start == 0 or text[span.start - 1] == "\n"
    return Span(span.start, span.end + 1) if starts and text[span.end : span.end + 1] == "\n" else span


def _unused(message: str, module: Module, span: Span, fix: Fix | None = None) -> Diagnostic:
    return Diagnostic.of("VGL205", message, module.source, span, fix=fix)
