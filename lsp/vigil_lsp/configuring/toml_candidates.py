"""What can be written at a place of a configuration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, get_args

from lsprotocol.types import CompletionItemKind as Item
from msgspec.structs import fields

from vigil_lang.diagnostics import CODES
from vigil_lang.project.paths import DATA, POLICIES, RUNS, TESTS
from vigil_lang.project.selection import ALL
from vigil_lang.project.shape import bare_type, is_table, kind_at, note_of, origin_of
from vigil_lang.semantics.modules import standard_modules
from vigil_lang.trace.vocabulary import vocabulary
from vigil_lsp.completing.candidate import Candidate
from vigil_lsp.configuring.project_names import files_below

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lsp.configuring.project_names import ProjectNames
    from vigil_lsp.configuring.toml_place import TomlPlace

_NAMED = ("kind", "role", "code", "path", "glob", "argument")

_ENDINGS = {
    ("runs",): RUNS,
    ("lint", "benign"): RUNS,
    ("signatures",): DATA,
    ("lint", "baseline"): (".json",),
    ("test", "paths"): (TESTS,),
    ("hook", "policies"): POLICIES,
}
"""How the names of the files end that a setting can be about; it can be about folders, too."""


def candidates(place: TomlPlace, names: ProjectNames, *, schema: bool) -> Iterator[Candidate]:
    """The candidates for a place. Of a file that names a `schema` its editor knows the settings and their values."""
    if place.within == "key":
        for text, kind, detail, group in _keys(place, names, schema=schema):
            # A bare key of these letters needs no quotes.
            plain = text.replace("-", "").replace("_", "").isalnum() and text.isascii()
            written = text if plain else f'"{text}"'
            yield Candidate(text, kind, written, group, detail, raw=text, filter=text)
        return
    found = kind_at(place.path)
    if found is None:
        return
    inner = bare_type(found)
    is_list = origin_of(inner) is tuple
    if is_list or (is_argument(found) and place.listed):
        item = get_args(inner)[0] if is_list else found
    elif place.listed:
        return
    else:
        item = found
    for text, kind, detail, group in _values(item, place, names, schema=schema):
        written = text if kind is Item.Keyword else f'"{text}"'
        if is_list and not place.listed:
            written = f"[{written}]"
        yield Candidate(text, kind, written, group, detail, raw=None if kind is Item.Keyword else text, filter=text)


_Offer = tuple[str, Item, str, int]
"""A text, what it is, what is said beside it, and how likely it is (the smaller the likelier)."""


def is_argument(kind: Any) -> bool:
    """Whether a setting names arguments of a tool, one or a list."""
    return bool(note_of(kind, "noun") == "argument")


def _keys(place: TomlPlace, names: ProjectNames, *, schema: bool) -> Iterator[_Offer]:
    found = kind_at(place.path)
    if found is None:
        return
    inner = bare_type(found)
    if is_table(inner):
        for one in fields(inner) if not schema else ():
            is_inner = is_table(bare_type(one.type)) or origin_of(bare_type(one.type)) is Mapping
            if place.header and not is_inner:
                continue
            yield one.encode_name, Item.Module if is_inner else Item.Property, _told(one.type), 10
    elif origin_of(inner) is Mapping:
        yield from _mapping_keys(get_args(inner)[0], place, names, schema=schema)


def _mapping_keys(kind: Any, place: TomlPlace, names: ProjectNames, *, schema: bool) -> Iterator[_Offer]:
    noun = note_of(kind, "noun")
    if place.path == ("tools",):
        from vigil_lang.abstraction.tools import tool

        for name, arguments in names.tools.items():
            if not tool(name).is_shipped and name not in names.roles:
                yield name, Item.Function, f"in the runs, with {', '.join(arguments) or 'no arguments'}", 10
    elif place.path == ("params",):
        for name, of in names.params.items():
            yield name, Item.Variable, f"param of type {of}", 10
    elif noun == "role":
        own = names.roles.get(place.path[1], ()) if place.path[-1] == "effects" else ()
        for given in own:
            yield given, Item.Property, "a role of this tool", 9
        for role in vocabulary().roles.values():
            if role.name not in own and not role.gathers:
                yield role.name, Item.Property, role.summary, 10
    elif noun in _NAMED:
        yield from _values(kind, place, names, schema=schema)
    elif origin_of(bare_type(kind)) is Literal and not schema:
        for text in get_args(bare_type(kind)):
            yield text, Item.Property, "", 10


def _values(kind: Any, place: TomlPlace, names: ProjectNames, *, schema: bool) -> Iterator[_Offer]:
    bare, noun = bare_type(kind), note_of(kind, "noun")
    if noun == "kind":
        for name in names.kinds:
            yield name, Item.EnumMember, "the project's own", 10
        for known in vocabulary().kinds.values():
            yield known.name, Item.EnumMember, known.summary, 11
    elif noun == "argument":
        for argument in names.tools.get(place.path[1], ()):
            yield argument, Item.Field, "an argument of it in the runs", 10
    elif noun in ("path", "glob"):
        if place.path == ("hook", "policies"):
            for module in standard_modules():
                yield module, Item.Module, "standard module", 11
        for path in files_below(names.root, place.typed, _ENDINGS.get(place.path, ("",))):
            yield path, Item.Folder if path.endswith("/") else Item.File, "", 10
    elif noun == "code" and not schema:
        yield ALL, Item.EnumMember, "every code", 12
        for code in CODES.values():
            yield code.id, Item.EnumMember, code.summary, 11
    elif place.path[:1] == ("tools",) and place.path[-1] == "aliases":
        for name in names.tools:
            yield name, Item.Function, "in the runs", 10
    elif origin_of(bare) is Literal and not schema:
        for text in get_args(bare):
            yield text, Item.EnumMember, "", 10
    elif bare is bool and not schema:
        for text in ("true", "false"):
            yield text, Item.Keyword, "", 10


def _told(kind: Any) -> str:
    """What is said of a setting."""
    table = bare_type(kind)
    said = note_of(kind, "description") or ((table.__doc__ or "").partition("\n")[0] if is_table(table) else "")
    return str(said).replace("`", "")
