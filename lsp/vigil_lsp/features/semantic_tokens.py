"""`textDocument/semanticTokens`: full, as a change of what was sent before, and of a range."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from lsprotocol import types

from vigil_lsp.names import around
from vigil_lsp.semantic_highlighting import LEXICAL, MODIFIERS, TYPES, ClassifiedToken, change, classified, encoded

if TYPE_CHECKING:
    from pygls.lsp.server import LanguageServer

    from vigil_lsp.client import Client
    from vigil_lsp.workspace import Workspace

_LEGEND = types.SemanticTokensLegend(TYPES, MODIFIERS)
_REMEMBERED = 50
"""Documents whose last answer is kept, for deltas."""


def register(server: LanguageServer, workspace: Workspace, client: Client) -> None:
    """Answer all three."""
    numbers = count(1)
    sent: dict[str, tuple[str, list[int]]] = {}

    def claims_of(uri: str) -> list[ClassifiedToken]:
        found = around(workspace, uri)
        if found is None:
            return []
        reading, names = found
        known = workspace.run_results(uri)
        kinds = {kind for action in known.signature.actions.values() for kind in action.kinds} if known else ()
        claims = classified(reading, names.mentions(reading.module), kinds)
        if client.supports("text_document.semantic_tokens.augments_syntax_tokens"):
            return [claim for claim in claims if claim.kind not in LEXICAL]
        return claims

    def data_of(uri: str) -> list[int]:
        reading = workspace.reading(uri)
        return [] if reading is None else encoded(reading.text, claims_of(uri))

    def remember(uri: str, data: list[int]) -> str:
        result = str(next(numbers))
        sent.pop(uri, None)
        sent[uri] = result, data
        if len(sent) > _REMEMBERED:
            del sent[next(iter(sent))]
        return result

    @server.feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, _LEGEND)
    def full(params: types.SemanticTokensParams) -> types.SemanticTokens:
        data = data_of(params.text_document.uri)
        return types.SemanticTokens(data, remember(params.text_document.uri, data))

    @server.feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL_DELTA)
    def delta(params: types.SemanticTokensDeltaParams) -> types.SemanticTokens | types.SemanticTokensDelta:
        uri = params.text_document.uri
        before, data = sent.get(uri), data_of(uri)
        result = remember(uri, data)
        if before is None or before[0] != params.previous_result_id:
            return types.SemanticTokens(data, result)
        edit = change(before[1], data)
        return types.SemanticTokensDelta([] if edit is None else [types.SemanticTokensEdit(*edit)], result)

    @server.feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE)
    def part(params: types.SemanticTokensRangeParams) -> types.SemanticTokens:
        reading = workspace.reading(params.text_document.uri)
        if reading is None:
            return types.SemanticTokens([])
        start, end = reading.text.span(params.range)
        inside = [claim for claim in claims_of(params.text_document.uri) if claim.end > start and claim.start < end]
        return types.SemanticTokens(encoded(reading.text, inside))
