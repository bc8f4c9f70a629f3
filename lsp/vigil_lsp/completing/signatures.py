"""What is being called where somebody types, and which of its terms: from the tokens, so that half is enough."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vigil_lang.report.markdown import code
from vigil_lang.semantics.metadata import ANNOTATIONS
from vigil_lang.syntax import tree
from vigil_lang.syntax.scan import COMMENTS
from vigil_lang.trace.vocabulary import vocabulary
from vigil_lsp.completing.annotation_values import TERMS
from vigil_lsp.completing.constraints import use_of, written
from vigil_lsp.completing.documentation import of_action, of_carried, of_form
from vigil_lsp.completing.keywords import BOUNDED, FORMS
from vigil_lsp.completing.place import MOST_TOKENS, comment_at
from vigil_lsp.cursor import stretch_at
from vigil_lsp.markup import prose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vigil_lang.semantics.modules import Module
    from vigil_lang.syntax.scan import Token
    from vigil_lsp.reading import Reading
    from vigil_lsp.recordings.results import RunResults

_MOST_ARGUMENTS = 12
_CLOSING = {")": "(", "]": "[", "}": "{"}


@dataclass(frozen=True, slots=True)
class Signature:
    """What is called: `name(term, term)`, with a bound in brackets first where `bounded`; texts are Markdown.

    `active` is the index of the term that is being written.
    """

    name: str
    terms: tuple[tuple[str, str], ...]
    active: int
    told: str = ""
    bounded: bool = False

    @property
    def label(self) -> str:
        """How it is written."""
        return self._pieces()[0]

    @property
    def places(self) -> list[tuple[int, int]]:
        """Where each term stands in the label."""
        return self._pieces()[1]

    def _pieces(self) -> tuple[str, list[tuple[int, int]]]:
        label, places = self.name, []
        for at, (term, _) in enumerate(self.terms):
            opening = "[" if self.bounded and at == 0 else "(" if at == int(self.bounded) else ", "
            label += opening
            places.append((len(label), len(label) + len(term)))
            label += term + ("]" if self.bounded and at == 0 else "")
        return label + ("()" if not self.terms else ")"), places


@dataclass(slots=True)
class _Open:
    """A bracket that is open, and how many commas stand in it so far."""

    at: int
    text: str
    commas: int = 0
    last: int = 0
    """The index of what stands behind the last comma."""


def signature_at(reading: Reading, offset: int, known: RunResults | None) -> Signature | None:
    """What the innermost call, form or annotation around an offset takes; None where there is none."""
    tokens = reading.tokens
    if comment_at(tokens, offset) is not None:
        return None
    last = tokens.first_from(offset) - 1
    while last >= 0 and tokens[last].kind in COMMENTS:
        last -= 1
    stretch = stretch_at(reading.file, tokens, tokens[last].start) if last >= 0 else None
    if stretch is None:
        return None
    before = stretch.before(offset)[:MOST_TOKENS]
    for bracket in reversed(_brackets(before)):
        if bracket.text == "{":
            continue
        found = _called(before, bracket, reading.module, known)
        if found is not None:
            return found if found.terms else None
    return None


def _brackets(tokens: Sequence[Token]) -> list[_Open]:
    """The brackets that are open behind some tokens, the outermost first."""
    found: list[_Open] = []
    for at, token in enumerate(tokens):
        if token.text in ("(", "[", "{"):
            found.append(_Open(at, token.text, last=at + 1))
        elif token.text in _CLOSING:
            while found and found.pop().text != _CLOSING[token.text]:
                pass  # what was not closed inside
        elif token.text == "," and found:
            found[-1].commas += 1
            found[-1].last = at + 1
    return found


def _called(tokens: Sequence[Token], bracket: _Open, module: Module, known: RunResults | None) -> Signature | None:
    at = bracket.at
    before = tokens[at - 1] if at else None
    if before is None:
        return None
    if bracket.text == "[":
        return _form(tokens, at - 1, 0)
    if before.text == "]":
        opening = next((i for i in range(at - 1, -1, -1) if tokens[i].text == "["), 0)
        return _form(tokens, opening - 1, bracket.commas + 1)
    if before.kind == "string":
        return _action(written(tree.String(before.text[1:-1])), tokens, bracket, known)
    if before.kind != "word":
        return None
    above = tokens[at - 2].text if at > 1 else ""
    if above == "@":
        return _annotation(before.text, bracket.commas)
    if above == "pattern" and not any(token.text == "=" for token in tokens[:at]):
        return Signature(before.text, (), 0)  # the parameters that it declares
    if (form := _form(tokens, at - 1, bracket.commas)) is not None:
        return form
    found = module.find(before.text)
    if found is not None and isinstance(found[1], tree.Pattern):
        return _pattern(found[1], found[0], bracket.commas)
    return _action(before.text, tokens, bracket, known)


def _form(tokens: Sequence[Token], at: int, active: int) -> Signature | None:
    """The form whose name stands at an index: behind the colon of a statement."""
    if at < 3 or tokens[at].text not in FORMS or tokens[at - 1].text != ":" or tokens[at - 3].text != "statement":
        return None
    name = tokens[at].text
    terms = FORMS[name][1]
    bounded = name in BOUNDED
    return Signature(name, terms, min(active, len(terms) - 1), of_form(name, terms=False), bounded)


def _annotation(name: str, active: int) -> Signature | None:
    if name not in ANNOTATIONS:
        return None
    terms = TERMS[name]
    told = ANNOTATIONS[name]
    return Signature(f"@{name}", terms, min(active, len(terms) - 1), f"{told[:1].upper()}{told[1:]}.")


def _pattern(pattern: tree.Pattern, module: Module, active: int) -> Signature:
    names = [param.text for param in pattern.params]
    terms = tuple((name, _compared(pattern, name, module)) for name in names)
    told = prose(pattern.doc) if pattern.doc else ""
    return Signature(pattern.name.text, terms, min(active, max(len(terms) - 1, 0)), told)


def _compared(pattern: tree.Pattern, name: str, module: Module) -> str:
    """What a parameter is for, by its first use."""
    use = use_of(pattern, name, module)
    if use is None:
        return ""
    is_glob, argument, _ = use
    return f"a glob for {code(argument)}" if is_glob else f"compared with {code(argument)}"


def _action(name: str, tokens: Sequence[Token], bracket: _Open, known: RunResults | None) -> Signature | None:
    """An action or kind with the arguments it carries; None where nothing is known of it."""
    samples = known.samples.named(name) if known is not None else None
    kind = vocabulary().kinds.get(name)
    roles = vocabulary().roles
    terms: list[tuple[str, str]] = []
    if samples is not None:
        terms = [
            (name, of_carried(name, one, known)) for name, one in list(samples.arguments.items())[:_MOST_ARGUMENTS]
        ]
    elif kind is not None:
        terms = [(role, roles[role].summary) for role in kind.roles if role in roles]
    terms = [(term, told) for term, told in terms if term.isprintable()]
    if not terms or not name.isprintable():
        return None
    names = [term for term, _ in terms]
    said = [token.text.strip('"') for token in tokens[bracket.at + 1 :] if token.kind in ("word", "string")]
    here = [token.text.strip('"') for token in tokens[bracket.last :] if token.kind in ("word", "string")]
    active = next((names.index(word) for word in here if word in names), None)
    if active is None:
        active = next((at for at, term in enumerate(names) if term not in said), 0)
    return Signature(name, tuple(terms), active, of_action(name, known, arguments=False))
