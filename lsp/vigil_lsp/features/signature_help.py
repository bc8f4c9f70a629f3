"""`textDocument/signatureHelp`: what forms, patterns, calls and annotations take."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from vigil_lsp.completing.signatures import signature_at

if TYPE_CHECKING:
    from pygls.lsp.server import LanguageServer

    from vigil_lsp.client import Client
    from vigil_lsp.completing.signatures import Signature
    from vigil_lsp.workspace import Workspace

_SIGNATURE = "text_document.signature_help.signature_information"


def register(server: LanguageServer, workspace: Workspace, client: Client) -> None:
    """Answer it."""

    @server.feature(
        types.TEXT_DOCUMENT_SIGNATURE_HELP,
        types.SignatureHelpOptions(trigger_characters=["(", "[", ","], retrigger_characters=[")", "]", "="]),
    )
    def signature_help(params: types.SignatureHelpParams) -> types.SignatureHelp | None:
        uri = params.text_document.uri
        reading = workspace.reading(uri)
        if reading is None:
            return None
        found = signature_at(reading, reading.text.offset(params.position), workspace.run_results(uri))
        return None if found is None else _shown(client, found)


def _shown(client: Client, found: Signature) -> types.SignatureHelp:
    offsets = client.supports(f"{_SIGNATURE}.parameter_information.label_offset_support")
    parameters = [
        types.ParameterInformation(
            _units(found.label, start, end) if offsets else term,
            client.documentation(_SIGNATURE, told) if told else None,
        )
        for (term, told), (start, end) in zip(found.terms, found.places, strict=True)
    ]
    told = client.documentation(_SIGNATURE, found.told) if found.told else None
    signature = types.SignatureInformation(found.label, told, parameters)
    if client.supports(f"{_SIGNATURE}.active_parameter_support"):
        signature.active_parameter = found.active
    return types.SignatureHelp([signature], active_signature=0, active_parameter=found.active)


def _units(label: str, start: int, end: int) -> tuple[int, int]:
    """Offsets in UTF-16, whatever the encoding of positions is."""
    return len(label[:start].encode("utf-16-le")) // 2, len(label[:end].encode("utf-16-le")) // 2
