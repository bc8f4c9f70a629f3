"""Documentation in a format that the editor says it shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.capabilities import get_capability

from vigil_lsp.markup import plain

if TYPE_CHECKING:
    from vigil_lsp.server import VigilServer


def shown(server: VigilServer, capability: str, told: str) -> types.MarkupContent | str:
    """Markdown where the capability lists it; else plain text, as a bare string for editors that list nothing."""
    formats = get_capability(server.client_capabilities, f"{capability}.documentation_format") or ()
    if types.MarkupKind.Markdown in formats:
        return types.MarkupContent(types.MarkupKind.Markdown, told)
    text = plain(told)
    return types.MarkupContent(types.MarkupKind.PlainText, text) if types.MarkupKind.PlainText in formats else text
