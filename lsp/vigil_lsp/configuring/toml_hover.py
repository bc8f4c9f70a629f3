"""What a key or a value of a configuration means."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, get_args

from vigil_lang.diagnostics import CODES, Span
from vigil_lang.project.shape import bare_type, is_table, kind_at, note_of, origin_of
from vigil_lang.report.markdown import code
from vigil_lang.trace.vocabulary import vocabulary
from vigil_lsp.configuring.toml_place import place_at

if TYPE_CHECKING:
    from vigil_lsp.configuring.project_names import ProjectNames
    from vigil_lsp.configuring.toml_place import TomlPlace

_WORD = re.compile(r"[A-Za-z0-9_.-]+")


def hover_at(text: str, offset: int, names: ProjectNames, *, schema: bool) -> tuple[str, Span] | None:
    """What is said of a place, as Markdown, and of which stretch; None where there is nothing to say.

    Of a file that names a `schema` its editor tells about the settings itself.
    """
    place = place_at(text, offset) or place_at(text, min(offset + 1, len(text)))
    if place is None:
        return None
    behind = re.compile(r"[A-Za-z0-9_-]*").match(text, place.end) if not place.quote else None
    end = behind.end() if behind is not None else place.end
    word = text[place.start : end]
    said = _of_key(place, word, names, schema=schema) if place.within == "key" else _of_value(place, word, names)
    return (said, Span(place.start, end)) if said and _WORD.fullmatch(word) else None


def _of_key(place: TomlPlace, word: str, names: ProjectNames, *, schema: bool) -> str | None:
    outer = kind_at(place.path)
    if outer is None:
        return None
    inner = bare_type(outer)
    if is_table(inner):
        found = kind_at((*place.path, word))
        if found is None or schema:
            return None
        table = bare_type(found)
        said = note_of(found, "description") or ((table.__doc__ or "") if is_table(table) else "")
        examples = note_of(found, "examples")
        more = f"\n\nFor example {code(_written(examples[0]))}" if examples else ""
        return f"{said}{more}" if said else None
    if place.path == ("tools",):
        return _of_tool(word, names)
    if place.path == ("params",):
        of = names.params.get(word)
        return None if of is None else f"`param {word}: {of}`, which the policies of the project declare"
    if origin_of(inner) is not None and note_of(get_args(inner)[0], "noun") == "role":
        return _of_role(word)
    return _of_code(word)


def _of_value(place: TomlPlace, word: str, names: ProjectNames) -> str | None:
    found = kind_at(place.path)
    if found is None:
        return None
    inner = bare_type(found)
    noun = note_of(get_args(inner)[0] if origin_of(inner) is tuple else found, "noun")
    match noun:
        case "kind":
            return _of_kind(word, names)
        case "code":
            return _of_code(word)
        case "argument" if word in names.tools.get(place.path[1], ()):
            return f"an argument of {code(place.path[1])} in the recorded runs"
    return None


def _of_kind(word: str, names: ProjectNames) -> str | None:
    known = vocabulary().kinds.get(word)
    if known is None:
        return "a kind of the project's own" if word in names.kinds else None
    roles = ", ".join(map(code, known.roles))
    also = ", ".join(map(code, known.implies))
    return "\n\n".join(
        line
        for line in (known.summary, f"Its roles: {roles}" if roles else "", f"It is also {also}" if also else "")
        if line
    )


def _of_role(word: str) -> str | None:
    known = vocabulary().roles.get(word)
    return None if known is None else f"{known.summary}\n\nA {known.type}{', or several' if known.many else ''}"


def _of_code(word: str) -> str | None:
    return CODES[word].summary if word in CODES else None


def _of_tool(word: str, names: ProjectNames) -> str | None:
    from vigil_lang.abstraction.tools import tool

    shipped = tool(word)
    if shipped.is_shipped:
        kinds = ", ".join(map(code, shipped.kinds)) or "none of its own"
        return f"A tool that Vigil knows. Its kinds: {kinds}. More kinds and roles can be added, and nothing changed."
    if word not in names.tools:
        return None
    arguments = ", ".join(map(code, names.tools[word]))
    return f"In the recorded runs, with {arguments or 'no arguments'}"


def _written(example: object) -> str:
    """An example as TOML has it."""
    match example:
        case bool():
            return str(example).lower()
        case str():
            return f'"{example}"'
        case list():
            return f"[{', '.join(map(_written, example))}]"
        case dict():
            return f"{{{', '.join(f'{key} = {_written(value)}' for key, value in example.items())}}}"
        case _:
            return str(example)
