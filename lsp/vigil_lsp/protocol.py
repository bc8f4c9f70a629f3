"""The protocol's rules about messages themselves: what is malformed, too early or too late is answered with an error.

pygls answers well-formed requests; this adds documents that are kept in `Files`, and errors with the id of the request
they are about where pygls would only show a message.
"""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.capabilities import get_capability
from pygls.exceptions import JsonRpcException, JsonRpcInternalError, JsonRpcInvalidParams
from pygls.protocol import LanguageServerProtocol, lsp_method

from vigil_lsp.converter import readable_part
from vigil_lsp.virtual_documents import SCHEME

if TYPE_CHECKING:
    from collections.abc import Generator
    from concurrent.futures import Future

    from cattrs import Converter
    from pygls.lsp.server import LanguageServer


_LOG = logging.getLogger(__name__)

_DOCUMENT_METHODS = (
    types.TEXT_DOCUMENT_DID_OPEN,
    types.TEXT_DOCUMENT_DID_CHANGE,
    types.TEXT_DOCUMENT_DID_CLOSE,
)

PARSE_ERROR, INVALID_REQUEST, INVALID_PARAMS, NOT_INITIALIZED = -32700, -32600, -32602, -32002


class VigilProtocol(LanguageServerProtocol):
    """The language server protocol over one connection."""

    def __init__(self, server: LanguageServer, converter: Converter) -> None:
        super().__init__(server, converter)
        for method in _DOCUMENT_METHODS:  # pygls would keep texts of its own
            del self.fm.builtin_features[method]
        self._exited = False

    def take(self, body: bytes) -> None:
        """Answer one message, whatever it is."""
        try:
            message = json.loads(body)
        except (ValueError, RecursionError):
            self.refuse(None, PARSE_ERROR, "the message is not JSON in UTF-8")
            return
        if not isinstance(message, dict):
            self.refuse(None, INVALID_REQUEST, "a message is an object")
            return
        given = message.get("id")
        known = given if isinstance(given, int | str) and not isinstance(given, bool) else None
        method = message.get("method")
        if message.get("jsonrpc") != self.VERSION:
            self.refuse(known, INVALID_REQUEST, f"`jsonrpc` is not {self.VERSION!r}")
            return
        if "method" in message and not isinstance(method, str):
            self.refuse(known, INVALID_REQUEST, "`method` is not a string")
            return
        if "id" in message and known is None:
            if method is not None:
                self.refuse(None, INVALID_REQUEST, "`id` is neither a number nor a string")
            return
        if method is not None and (why := self._untimely(method)) is not None:
            if known is not None:
                self.refuse(known, *why)
            return
        if "params" not in message and method is not None:
            message = {**message, "params": None}
        try:
            structured = self._structured(message)
        except (JsonRpcInvalidParams, JsonRpcInternalError):
            if method is not None and known is not None:
                self.refuse(known, INVALID_PARAMS, f"the parameters of `{method}` are not valid")
            return
        self.handle_message(structured)

    def _structured(self, message: dict[str, Any]) -> Any:
        try:
            return self.structure_message(message)
        except (JsonRpcInvalidParams, JsonRpcInternalError):
            if message.get("method") != types.INITIALIZE:
                raise
        return self.structure_message({**message, "params": readable_part(message["params"], self._converter)})

    def _untimely(self, method: str) -> tuple[int, str] | None:
        """Why a method cannot be called now."""
        if method == types.EXIT:
            return None
        if self._shutdown:
            return INVALID_REQUEST, "the server is shutting down"
        started = self._workspace is not None
        if method == types.INITIALIZE:
            return (INVALID_REQUEST, "the server is initialized already") if started else None
        return None if started else (NOT_INITIALIZED, "the server is not initialized yet")

    def refuse(self, request: int | str | None, code: int, message: str) -> None:
        """Answer with an error; without an id where it is not known which request it is about."""
        error = {"code": code, "message": message}
        self._send_data({"jsonrpc": self.VERSION, "id": request, "error": error})

    def _send_data(self, data: Any) -> None:
        if self._exited:  # pygls has closed the stream, and what was being worked out ends now
            return
        try:
            super()._send_data(data)
        except BrokenPipeError:  # nobody listens any more; the end of the input says so, too
            _LOG.info("the client is gone")

    def _send_response(
        self, msg_id: int | str, result: Any | None = None, error: types.ResponseError | None = None
    ) -> None:
        if error is not None and error.data is not None:  # a traceback is nothing for a client
            error = types.ResponseError(error.code, error.message)
        super()._send_response(msg_id, result, error)

    def _send_handler_result(self, future: Future[Any], *, msg_id: int | str) -> None:
        """Answer a request. A wrong request is refused and not logged."""
        error = None if future.cancelled() else future.exception()
        if isinstance(error, JsonRpcException) and not isinstance(error, JsonRpcInternalError):
            self._request_futures.pop(msg_id, None)
            self._send_response(msg_id, error=error.to_response_error())
        else:
            super()._send_handler_result(future, msg_id=msg_id)

    @lsp_method(types.SHUTDOWN)
    def lsp_shutdown(self, *arguments: Any) -> Generator[Any, Any, None]:
        """Cancel pending requests here: each leaves the dictionary that pygls would iterate over.

        What the client was asked it will not answer any more; cancelled, that would call back with an error.
        """
        for number, future in list(self._request_futures.items()):
            if number in self._result_types:
                del self._request_futures[number]
            elif number != self.msg_id:
                future.cancel()
        yield from super().lsp_shutdown(*arguments)

    @lsp_method(types.EXIT)
    def lsp_exit(self, *arguments: Any) -> Generator[Any, Any, None]:
        """Say nothing more."""
        self._exited = True
        yield from super().lsp_exit(*arguments)

    @lsp_method(types.INITIALIZE)
    def lsp_initialize(self, params: types.InitializeParams) -> Generator[Any, Any, types.InitializeResult]:
        """Announce capabilities; pygls does not announce `workspace/textDocumentContent` by itself."""
        result = yield from super().lsp_initialize(params)
        if result.capabilities.workspace is not None and get_capability(
            self.client_capabilities, "workspace.text_document_content"
        ):
            result.capabilities.workspace.text_document_content = types.TextDocumentContentOptions([SCHEME])
        return result
