"""Documents about runs, statements, tests and codes: their texts, and the commands that show them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams

from vigil_lang.diagnostics import Diagnostic, Source
from vigil_lsp import virtual
from vigil_lsp.features.code_lens import tests_beside
from vigil_lsp.recordings.client import Unanswered

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vigil_lsp.recordings.results import Tested
    from vigil_lsp.server import VigilServer

REQUEST_FAILED = -32803

UNMET = "test"
"""The code of a diagnostic that says which expectation of a test was not met."""


def register(server: VigilServer) -> None:
    """Answer `workspace/textDocumentContent` and the commands."""

    @server.feature(
        types.WORKSPACE_TEXT_DOCUMENT_CONTENT, types.TextDocumentContentRegistrationOptions([virtual.SCHEME])
    )
    async def content(params: types.TextDocumentContentParams) -> types.TextDocumentContentResult:
        document = virtual.parsed(params.uri)
        if document is None:
            raise JsonRpcInvalidParams.of(ValueError(f"there is no document {params.uri}"))
        try:
            return types.TextDocumentContentResult(await virtual.text_of(document, server))
        except Unanswered as error:
            raise JsonRpcException(str(error), REQUEST_FAILED) from error

    @server.command("vigil.showRun")
    async def show_run(*arguments: Any) -> dict[str, str] | None:
        (run,) = _texts(arguments, 1, 1)
        return await _shown(server, virtual.run(_path(server, run)))

    @server.command("vigil.showStatement")
    async def show_statement(*arguments: Any) -> dict[str, str] | None:
        policy, statement, *run = _texts(arguments, 2, 3)
        return await _shown(
            server, virtual.witness(_path(server, policy), statement, *(_path(server, one) for one in run))
        )

    @server.command("vigil.explainStatement")
    async def explain_statement(*arguments: Any) -> dict[str, str] | None:
        policy, statement = _texts(arguments, 2, 2)
        return await _shown(server, virtual.explanation(_path(server, policy), statement))

    @server.command("vigil.explainCode")
    async def explain_code(*arguments: Any) -> dict[str, str] | None:
        (code,) = _texts(arguments, 1, 1)
        return await _shown(server, virtual.code_page(code.upper()))

    @server.command("vigil.runTests")
    async def run_tests(*arguments: Any) -> dict[str, str] | None:
        tests, *only = _texts(arguments, 1, 2)
        path = tests_beside(_path(server, tests), server)
        if path is None:
            _say(
                server,
                "There are no tests: those of a policy stand beside it, in a file that ends in `_test.vgl`.",
            )
            return None
        try:
            virtual.must_be_ours(path, server)
            tested = await server.recordings.tests(path, *only)
        except Unanswered as error:
            _say(server, str(error))
            return None
        server.evidence.tested[path] = tuple(_unmet(tested))
        server.diagnosis.tested(path)
        uri = await virtual.show(virtual.results(path, *only), tested.text, server)
        return {"uri": uri, "text": tested.text}

    @server.command("vigil.restartRecordings")
    def restart(*arguments: Any) -> None:  # noqa: ARG001 - it takes none
        server.recordings.restart()


async def _shown(server: VigilServer, document: virtual.Virtual) -> dict[str, str] | None:
    """Show a document; its URI and text are the command's result."""
    try:
        text = await virtual.text_of(document, server)
    except Unanswered as error:
        _say(server, str(error))
        return None
    return {"uri": await virtual.show(document, text, server), "text": text}


def _texts(arguments: Sequence[Any], least: int, most: int) -> list[str]:
    """The arguments of a command, which are texts.

    Raises:
        JsonRpcInvalidParams: there are too few or too many, or one is something else.
    """
    if not least <= len(arguments) <= most or not all(isinstance(argument, str) for argument in arguments):
        wanted = str(least) if least == most else f"{least} to {most}"
        raise JsonRpcInvalidParams.of(ValueError(f"the command takes {wanted} texts"))
    return list(arguments)


def _path(server: VigilServer, given: str) -> str:
    """The path of a file that is given by its path or URI; the name of a run behind `#` stays."""
    if not given.startswith("file:"):
        return given
    uri, mark, run = given.partition("#")
    return f"{server.path(uri) or uri}{mark}{run}"


def _say(server: VigilServer, message: str) -> None:
    server.window_show_message(types.ShowMessageParams(types.MessageType.Info, message))


def _unmet(tested: Tested) -> list[Diagnostic]:
    """The expectations that were not met, as findings of the test file."""
    source = Source(tested.path, tested.source)
    return [Diagnostic(UNMET, message, source, span) for span, message in tested.unmet]
