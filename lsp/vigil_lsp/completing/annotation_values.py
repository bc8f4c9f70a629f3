"""Annotations and what stands in them: levels, documents, and the sentences that a statement can enforce."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol.types import CompletionItemKind as Kind

from vigil_lang.diagnostics import SEVERITIES
from vigil_lang.documents.coverage import coverage
from vigil_lang.documents.document import Document
from vigil_lang.semantics.metadata import ANNOTATIONS, REACTIONS
from vigil_lang.semantics.text_patterns import BadEscape, unescape
from vigil_lsp.completing.candidate import Candidate
from vigil_lsp.completing.spelling import inside

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lsp.completing.context import CompletionContext

_LONGEST = 500
"""Characters of the longest sentence that is offered: a statement enforces one of them."""

_SNIPPETS = {
    "source": 'source("${1:SKILL.md}", "$2")',
    "severity": "severity(${1|error,warning,info|})",
    "on_violation": "on_violation(${1|block,hold,warn|})",
    "message": 'message("$1")',
    "delegable": "delegable",
}
TERMS = {
    "source": (("file", "the document, from the policy's folder"), ("sentence", "the words it has")),
    "severity": (("level", "`error`, `warning` or `info`"),),
    "on_violation": (("reaction", "`block`, `hold` or `warn`"),),
    "message": (("text", "what a violation says; `{x}` in it is the value of `x`"),),
    "delegable": (),
}
LEVELS_SAID = {
    "error": "a violation is an error; so it is without this",
    "warning": "a violation is a warning",
    "info": "a violation is a piece of information",
    "block": "a gate lets the call not happen; so it is without this",
    "hold": "a gate asks somebody first",
    "warn": "a gate lets the call happen and says so",
}


def notes(prefix: str = "") -> Iterator[Candidate]:
    """The names of annotations with what they take; `prefix` is an at sign that is not there yet."""
    for at, name in enumerate(ANNOTATIONS):
        snippet = prefix + _SNIPPETS[name]
        label = prefix + name
        group = 35 if prefix else 10 + at
        yield Candidate(label, Kind.Property, label, group, _plain(name), snippet, about=("annotation", name))


def _plain(name: str) -> str:
    return ANNOTATIONS[name].partition(":")[0]


def annotation_values(context: CompletionContext) -> Iterator[Candidate]:
    """What an annotation takes at this place."""
    match context.slot.subject, context.slot.index:
        case "severity", 0:
            yield from _words(SEVERITIES)
        case "on_violation", 0:
            yield from _words(REACTIONS)
        case "source", 0:
            for name in context.documents():
                yield Candidate(f'"{inside(name)}"', Kind.File, f'"{inside(name)}"', 10, raw=inside(name), filter=name)
        case "source", 1:
            yield from _sentences(context)


def _words(words: tuple[str, ...]) -> Iterator[Candidate]:
    for at, word in enumerate(words):
        yield Candidate(word, Kind.EnumMember, word, 10 + at, LEVELS_SAID[word], raw=word, ends=(")",))


def _sentences(context: CompletionContext) -> Iterator[Candidate]:
    """The sentences of the document that ask for something, those first that no statement cites."""
    named = next(iter(context.slot.used), "")
    try:
        name = unescape(named)
    except BadEscape:
        return
    if context.library is None:
        return
    document = context.library.cited(context.reading.source.path, name)
    if not isinstance(document, Document):
        return
    cited = [said for policy, file, said in context.citations() if context.library.cited(policy, file) is document]
    figures = coverage(document, cited)
    missing = {one.index for one in figures.missing}
    for one in figures.obligations:
        text = " ".join(one.sentence.text.split())
        if not text.isprintable() or len(text) > _LONGEST:
            continue
        raw, is_new = inside(text), one.index in missing
        said = f"says “{one.word}”{'' if is_new else ', is cited already'}"
        yield Candidate(f'"{raw}"', Kind.Text, f'"{raw}"', 10 if is_new else 12, said, raw=raw, filter=text)
