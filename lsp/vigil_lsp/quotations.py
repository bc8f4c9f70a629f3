"""The files that a policy names: documents it quotes, and recordings its tests run."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from vigil_lang.base.files import project_root, real_path
from vigil_lang.diagnostics import Source, Span
from vigil_lang.documents.library import Unreadable
from vigil_lang.documents.passages import nearest_sentence, occurrences
from vigil_lang.semantics.text_patterns import BadEscape, unescape
from vigil_lang.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.documents.library import Library

_TRIED = 16
"""Places in a name at which a file's may end and the run's begin."""


@dataclass(frozen=True, slots=True)
class Quotation:
    """One `@source("file", "sentence")`, with where the two are written; the sentence may be missing."""

    file: str
    sentence: str | None
    spans: tuple[Span, ...]


def quotations(file: tree.File) -> Iterator[Quotation]:
    """Every `@source` of a file, in text order."""
    for notes in (file.annotations, *(item.annotations for item in file.items)):
        for note in notes:
            texts = [text_of(arg) for arg in note.args]
            match note.name.text, texts:
                case "source", [str(name), str(sentence)]:
                    yield Quotation(name, sentence, tuple(arg.span for arg in note.args))
                case "source", [str(name), *_]:
                    yield Quotation(name, None, (note.args[0].span,))


def text_of(term: tree.Term) -> str | None:
    """A word or string as text; None for anything else, and for one with an unknown escape."""
    match term:
        case tree.Name(text):
            return text
        case tree.String(raw):
            try:
                return unescape(raw)
            except BadEscape:
                return None
    return None


def test_name(name: tree.String) -> str:
    """The name of a test; as it is written where that has an unknown escape: such a test is not run."""
    text = text_of(name)
    return name.raw if text is None else text


def passage(library: Library, policy: str, quotation: Quotation) -> tuple[Source, Span] | None:
    """Where a policy's quotation stands in its document, or the sentence most like it; else the document's start.

    None when there is no such document, or the policy is no file. The span is of all the sentences that are quoted.
    """
    if policy.startswith("<"):
        return None
    document = library.cited(policy, quotation.file)
    if isinstance(document, Unreadable):
        return None
    at = Span(0, 0)
    if quotation.sentence is not None:
        for found in occurrences(document, quotation.sentence)[:1]:
            spans = [document.sentences[index].span for index, _ in document.sentences_in(found)]
            if spans:
                return document.source, Span(spans[0].start, spans[-1].end)
        near = nearest_sentence(document, quotation.sentence)
        at = at if near is None else near.span
    return document.source, at


def recording(policy: str, name: str) -> str | None:
    """The path of the recording that a test names, `runs.jsonl#monday` too; None when the project has no such file."""
    found = named_recording(policy, name)
    return None if found is None else found[0]


def named_recording(policy: str, name: str) -> tuple[str, str] | None:
    """The path of the recording that a test names, and what of the name names the file; else as `recording`."""
    if policy.startswith("<"):
        return None
    try:
        folder = Path(real_path(policy)).parent
        root = project_root(folder)
        for _ in range(_TRIED):
            place = Path(real_path(folder / name))
            if place.is_relative_to(root) and place.is_file():
                return os.fspath(place), name
            if "#" not in name:
                return None
            name = name.rpartition("#")[0]
    except (OSError, ValueError, RuntimeError):  # a NUL in a path, a link that leads to itself
        return None
    return None
