"""VGL708: texts and names that can be mistaken for others: `"Ваsh"` with a Cyrillic `В`, `R1` beside `Rl`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Diagnostic, Edit, Fix, Note
from vigil_lang.lint.literal_texts import texts, value
from vigil_lang.lint.lookalikes import doubtful, outline, plain
from vigil_lang.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.diagnostics import Source, Span
    from vigil_lang.lint.subject import Subject
    from vigil_lang.semantics.modules import Module

_CLASS = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
"""What stands in a regular expression that is no run of letters."""


_LOOKED_UP = 200
"""Texts of one policy that are looked up among the programs."""


def find(subject: Subject) -> Iterator[Diagnostic]:
    """Names and values with letters that are not what they look like, and declared names that look alike."""
    module = subject.policy.module
    yield from _alike(subject)
    if module.source.text.isascii() and "\\u{" not in module.source.text:
        return
    seen: set[Span] = set()
    known: set[str] | None = None
    for text, span, string in _texts(subject):
        if text.isascii() or span in seen:
            continue
        found = doubtful(text)
        if found is None and (ascii_text := plain(text)).isascii():
            known = _known(subject) if known is None else known
            found = (text, f"reads as `{ascii_text}` and is not") if ascii_text in known else None
        if found is not None:
            seen.add(span)
            yield _finding(*found, span, module.source, string)


def _texts(subject: Subject) -> Iterator[tuple[str, Span, tree.String | None]]:
    """(text, where it stands, the string it is): all that events are held against."""
    module = subject.policy.module
    for use in subject.parts.uses:
        if use.field is not None:
            yield use.field.name, use.field.span, None
        if isinstance(use.operand, tree.Regex):
            yield _CLASS.sub(" ", use.operand.raw), use.operand.span, None
        for string in texts(use.operand):
            yield value(string) or "", string.span, string
    for _, has in subject.parts.has:
        yield has.field.name, has.field.span, None
    for declared in module.own.values():
        if isinstance(declared, tree.Let | tree.Param):
            held = declared.value if isinstance(declared, tree.Let) else declared.default
            for string in texts(held):
                yield value(string) or "", string.span, string


def _known(subject: Subject) -> set[str]:
    """Names that a text of other letters throughout may be mistaken for: `ср` for the program `cp`."""
    from vigil_lang.abstraction.catalogue.load import program
    from vigil_lang.trace.vocabulary import vocabulary

    known = {*vocabulary().kinds, *vocabulary().roles, *subject.policy.module.names()}
    if subject.signature is not None:
        known |= subject.signature.names()
        known |= {name for action in subject.signature.actions.values() for name in action.args}
    read = {plain(text) for text, _, _ in _texts(subject) if not text.isascii()}
    known |= {text for text, _, _ in _texts(subject) if text.isascii()}
    known |= {text for text in sorted(read)[:_LOOKED_UP] if text.isascii() and program(text) is not None}
    return known


def _finding(word: str, why: str, span: Span, source: Source, string: tree.String | None) -> Diagnostic:
    fix = None
    if string is not None and "\\u" not in string.raw and plain(string.raw).isascii():
        written = f'"{plain(string.raw)}"'
        fix = Fix(f"write `{written}`", (Edit(span, written),))
    help_text = f"it reads as `{plain(word)}`: write that if you mean it" if plain(word).isascii() else None
    return Diagnostic.of("VGL708", f"`{word}` {why}", source, span, help=help_text, fix=fix)


def _alike(subject: Subject) -> Iterator[Diagnostic]:
    """Declared names that a reader takes for one that was declared before, or for an imported one."""
    module = subject.policy.module
    spans = _declared(module)
    if len({*map(outline, spans), *map(outline, module.imported)}) == len({*spans, *module.imported}):
        return
    first: dict[str, tuple[str, Note]] = {}
    for name, (_, _, use) in module.imported.items():
        if name not in spans:
            first.setdefault(outline(name), (name, Note("imported here", module.source, use.span)))
    for name, span in spans.items():
        other, note = first.setdefault(outline(name), (name, Note("declared here", module.source, span)))
        if other != name:
            message = f"`{name}` looks like `{other}`"
            help_text = "rename one of them: a reader cannot tell them apart"
            yield Diagnostic.of("VGL708", message, module.source, span, help=help_text, notes=(note,))


def _declared(module: Module) -> dict[str, Span]:
    found: dict[str, Span] = {}
    for item in module.file.items:
        if isinstance(item, tree.Let | tree.Param | tree.Pattern | tree.Statement):
            found.setdefault(item.name.text, item.name.span)
    return found
