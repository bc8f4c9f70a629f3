"""`textDocument/completion` and `completionItem/resolve`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.capabilities import get_capability

from vigil_lsp.completing.candidate import ItemSupport, completion_list
from vigil_lsp.completing.candidates_at import candidates
from vigil_lsp.completing.comments import in_comment
from vigil_lsp.completing.context import CompletionContext
from vigil_lsp.completing.documentation import documentation
from vigil_lsp.completing.place import Place, comment_at
from vigil_lsp.completing.place import place_at as place_in_policy
from vigil_lsp.completing.project_index import ProjectIndex
from vigil_lsp.completing.slots import slot_of
from vigil_lsp.completing.spelling import is_unicode
from vigil_lsp.configuring import toml_candidates
from vigil_lsp.configuring.project_names import names_of
from vigil_lsp.configuring.toml_place import has_schema, place_at

if TYPE_CHECKING:
    from pygls.lsp.server import LanguageServer

    from vigil_lang.semantics.modules import Module
    from vigil_lsp.client import Client
    from vigil_lsp.completing.project_index import ProjectIndex
    from vigil_lsp.files import Document
    from vigil_lsp.reading import Reading
    from vigil_lsp.workspace import Workspace

_ITEM = "text_document.completion.completion_item"
_LIST = "text_document.completion.completion_list"
_TRIGGERS = ("(", '"', "@", ".", "{", "[", "~", "=", ",", ":", "/", " ")
_AFTER_SPACE = frozenset(
    (
        "use",
        "has",
        "in",
        "contains",
        "expect",
        "at",
        "with",
        "where",
        "run",
        "set",
        "->",
        "when",
        "then",
        "record",
        "relaxes",
        "violates",
    )
)
"""Words after which a space says that something has to follow, and marks that say so too."""
_AFTER_MARK = frozenset(":,=~")


def register(server: LanguageServer, workspace: Workspace, client: Client, index: ProjectIndex) -> None:
    """Answer both."""

    @server.feature(
        types.TEXT_DOCUMENT_COMPLETION,
        types.CompletionOptions(trigger_characters=list(_TRIGGERS), resolve_provider=True),
    )
    def complete(params: types.CompletionParams) -> types.CompletionList | None:
        uri = params.text_document.uri
        document = workspace.document(uri)
        if document is not None and document.is_configuration:
            return _in_configuration(workspace, client, document, document.text.offset(params.position))
        reading = workspace.reading(uri)
        if reading is None:
            return None
        offset = reading.text.offset(params.position)
        context = params.context
        if context is not None and context.trigger_character == " " and not _wanted(reading, offset):
            return None
        return _completed(workspace, client, index, uri, reading, offset)

    @server.feature(types.COMPLETION_ITEM_RESOLVE)
    def resolve(item: types.CompletionItem) -> types.CompletionItem:
        match item.data:
            case {"uri": str(uri), "about": [*about]} if all(isinstance(word, str) for word in about):
                reading = workspace.reading(uri)
            case _:
                return item
        if reading is not None:
            others = index.importable(reading) if about[:1] in (["import"], ["module"]) else []
            namesake = _namesake(workspace, reading)
            modules = reading.modules() if namesake is None else [*reading.modules(), namesake]
            told = documentation(about, modules, workspace.run_results(uri), others)
            if told:
                item.documentation = client.documentation(_ITEM, told)
        return item


def _in_configuration(
    workspace: Workspace, client: Client, document: Document, offset: int
) -> types.CompletionList | None:
    text = document.text.content
    place = place_at(text, offset)
    if place is None:
        return None
    found = toml_candidates.candidates(place, names_of(workspace, document.path), schema=has_schema(text))
    at = Place(offset, place.start, place.end, place.typed, "string" if place.quote else "code", place.closed)
    return completion_list(found, at, document.text, _abilities(client), {"uri": document.uri})


def _wanted(reading: Reading, offset: int) -> bool:
    """Whether the word before a space leaves no doubt that something is to follow."""
    start = reading.source.text.rfind("\n", 0, offset) + 1
    words = reading.source.text[max(start, offset - 40) : offset].split()
    return bool(words) and (words[-1] in _AFTER_SPACE or words[-1][-1] in _AFTER_MARK)


def _completed(
    workspace: Workspace, client: Client, index: ProjectIndex, uri: str, reading: Reading, offset: int
) -> types.CompletionList | None:
    abilities = _abilities(client)
    data: dict[str, Any] = {"uri": uri}
    if (comment := comment_at(reading.tokens, offset)) is not None:
        findings = workspace.findings_of(uri)
        known = findings.diagnostics if findings is not None else ()
        here = [finding for finding in known if finding.source is reading.source]
        found = in_comment(comment, offset, here, lambda: index.recordings(reading))
        return None if found is None else completion_list(found[1], found[0], reading.text, abilities, data)
    place = place_in_policy(reading.file, reading.tokens, offset)
    if place is None:
        return None
    project = workspace.project(uri)
    context = CompletionContext(
        reading,
        place,
        slot_of(place.beginning.parts, place.accepted, reading.module),
        workspace.run_results(uri),
        _namesake(workspace, reading),
        lambda: index.importable(reading),
        lambda: index.recordings(reading),
        lambda: index.documents(reading),
        None if reading.source.path.startswith("<") else project.plan.documents,
        lambda: index.citations(reading),
        is_unicode(project.settings.fmt.spelling, reading.source.text, reading.tokens),
    )
    index.missed = False
    answer = completion_list(candidates(context), place, reading.text, abilities, data)
    answer.is_incomplete = answer.is_incomplete or index.missed
    return answer


def _namesake(workspace: Workspace, reading: Reading) -> Module | None:
    """The policy that a file of tests is named after."""
    tested = workspace.tested_policy(reading)
    return tested.module if tested is not None else None


def _abilities(client: Client) -> ItemSupport:
    return ItemSupport(
        client.supports(f"{_ITEM}.snippet_support"),
        client.supports(f"{_ITEM}.insert_replace_support"),
        client.supports(f"{_ITEM}.label_details_support"),
        client.supports(f"{_ITEM}.commit_characters_support"),
        "editRange" in (get_capability(client.capabilities, f"{_LIST}.item_defaults") or ()),
    )
