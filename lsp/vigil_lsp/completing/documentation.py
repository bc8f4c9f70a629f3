"""What an candidate means, as Markdown: what an editor shows beside the one that is chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.diagnostics import CODES
from vigil_lang.report.markdown import block, code
from vigil_lang.semantics.metadata import ANNOTATIONS
from vigil_lang.syntax import tree
from vigil_lang.trace.discreet import may_show
from vigil_lang.trace.vocabulary import vocabulary
from vigil_lsp.completing.annotation_values import LEVELS_SAID, TERMS
from vigil_lsp.completing.context import seen
from vigil_lsp.completing.keywords import FORMS, FORMULAS, WORDS
from vigil_lsp.default_layer import of_default_layer
from vigil_lsp.markup import prose
from vigil_lsp.operator_help import CONTEXT_FIELDS, VIEW_DETAILS, VIEW_EXAMPLES, VIEW_SUMMARIES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vigil_lang.semantics.modules import Declaration, Module
    from vigil_lang.trace.samples import ActionSamples, ArgumentSamples
    from vigil_lsp.completing.context import Importable
    from vigil_lsp.recordings.results import RunResults

_MOST = 8
_LONGEST = 2_000


def documentation(
    about: Sequence[str], modules: Sequence[Module], known: RunResults | None, importable: Sequence[Importable]
) -> str | None:
    """The Markdown for what a candidate is about; None where there is nothing to say.

    `modules` are those in sight, that of the policy first.
    """
    match about:
        case ["action", name]:
            return of_action(name, known)
        case ["argument", name, *actions]:
            return _of_argument(name, actions, known)
        case ["name", name]:
            found = modules[0].find(name)
            return None if found is None else of_declaration(found[1], found[0].source.text)
        case ["import", origin, name]:
            other = next((one for one in importable if one.name == origin), None)
            for declaration in other.declared if other is not None else ():
                if declaration.name.text == name and other is not None:
                    return of_declaration(declaration, other.file.source.text)
        case ["module", name]:
            other = next((one for one in importable if one.name == name), None)
            return None if other is None else of_module(other)
        case ["context", name] if name in CONTEXT_FIELDS:
            return of_context(name)
        case ["default", name]:
            asked = of_default_layer(name)
            return None if asked is None else of_declaration(asked[1], asked[0].source.text)
        case ["statement", name, path]:
            return _of_statement(name, path, modules)
        case ["form", name] if name in FORMS:
            return of_form(name)
        case ["view", name] if name in VIEW_SUMMARIES:
            return of_view(name)
        case ["keyword", terminal, word]:
            return next((_sentence(said) for w, said, _ in WORDS.get(terminal, ()) if w == word and said), None)
        case ["annotation", name] if name in ANNOTATIONS:
            terms = "\n".join(f"- {code(term)}: {said}" for term, said in TERMS[name])
            return f"{_sentence(ANNOTATIONS[name])}\n\n{terms}"
        case ["level", name] if name in LEVELS_SAID:
            return f"{code(name)}: {LEVELS_SAID[name]}."
        case ["code", name] if name in CODES:
            return f"{code(name)} ({CODES[name].severity}): {CODES[name].summary}."
    return None


def of_form(name: str, *, terms: bool = True) -> str:
    """A form: what it asks for, its terms, its meaning."""
    said, named = FORMS[name]
    listed = ["\n".join(f"- `{term}`: {what}" for term, what in named)] if terms else []
    return "\n\n".join([said, *listed, block(FORMULAS[name])])


def of_view(name: str) -> str:
    """A view: what it makes of a field's texts, and an example."""
    return f"{code(f':{name}')}: {VIEW_SUMMARIES[name]}. {VIEW_DETAILS[name]}\n\n{block(VIEW_EXAMPLES[name], 'vigil')}"


def of_context(name: str) -> str:
    """A field of the context."""
    return f"{code(name)}: {CONTEXT_FIELDS[name]}. Only the rules of a gate can ask for it."


def of_declaration(item: Declaration | tree.Statement | tree.Rule, text: str) -> str:
    """A declaration or statement as it is written, with what is said about it."""
    start = item.annotations[-1].span.end if item.annotations else item.span.start
    shown = block(text[start : item.span.end].strip()[:_LONGEST], "vigil")
    return f"{shown}\n\n{prose(item.doc[:_LONGEST])}" if item.doc else shown


def of_module(module: Importable) -> str:
    """A module: what is said of it, and what it declares."""
    said = prose(module.file.doc[:_LONGEST]) if module.file.doc else ""
    listed = ", ".join(code(declaration.name.text) for declaration in module.declared[:60])
    return f"{said}\n\nIt declares {listed}.".strip() if listed else said


def of_action(name: str, known: RunResults | None, *, arguments: bool = True) -> str:
    """An action or kind: what it is, how often it was seen, and what its events carry."""
    kind = vocabulary().kinds.get(name)
    samples = known.samples.named(name) if known is not None else None
    lines = [f"{code(name)}: {kind.summary}." if kind is not None else code(name)]
    if said := seen(samples.events if samples is not None else 0, known):
        lines.append(_sentence(said))
    if arguments and samples is not None and samples.arguments:
        lines.append(_carried(samples, known))
    elif arguments and kind is not None and kind.roles:
        roles = vocabulary().roles
        lines.append("\n".join(f"- {code(role)}: {roles[role].summary}" for role in kind.roles if role in roles))
    if kind is not None and kind.implies:
        lines.append(f"It is also {', '.join(map(code, kind.implies))}.")
    return "\n\n".join(lines)


def _carried(samples: ActionSamples, known: RunResults | None) -> str:
    carried = list(samples.arguments.items())[:_MOST]
    return "\n".join(f"- {code(name)}: {of_carried(name, argument, known)}" for name, argument in carried)


def of_carried(name: str, argument: ArgumentSamples, known: RunResults | None) -> str:
    """How often an argument was seen, and some of its values."""
    values = [code(value) for value, _ in argument.values if may_show(name, value)][:3]
    return ", ".join([seen(argument.events, known), *values])


def _of_argument(name: str, actions: Sequence[str], known: RunResults | None) -> str:
    role = vocabulary().roles.get(name)
    lines = [f"{code(name)}: {role.summary} ({role.type})." if role is not None else code(name)]
    if known is not None:
        names = frozenset(actions) or None
        count = dict(known.samples.arguments(names)).get(name, 0)
        lines += [_sentence(said)] if (said := seen(count, known)) else []
        values = [(value, n) for value, n in known.samples.values(name, names) if may_show(name, value)][:_MOST]
        if values:
            lines.append("\n".join(f"- {code(value)} ({seen(n, known)})" for value, n in values))
    return "\n\n".join(lines)


def _of_statement(name: str, path: str, modules: Sequence[Module]) -> str | None:
    """A statement or rule under test."""
    for module in modules:
        if module.source.path == path:
            for item in module.file.items:
                if isinstance(item, tree.Statement | tree.Rule) and item.name.text == name:
                    return of_declaration(item, module.source.text)
    return None


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"
