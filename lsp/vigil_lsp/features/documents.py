"""Documents about runs, statements, tests and codes: their texts, and the commands that show them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams

from vigil_lang.diagnostics import Diagnostic, Source
from vigil_lsp import virtual_documents
from vigil_lsp.recordings.process import Unanswered

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pygls.lsp.server import LanguageServer

    from vigil_lsp.client import Client
    from vigil_lsp.diagnosis import Diagnosis
    from vigil_lsp.recordings.results import Tested
    from vigil_lsp.workspace import Workspace

REQUEST_FAILED = -32803

UNMET = "test"
"""The code of a diagnostic that says which expectation of a test was not met."""


def register(server: LanguageServer, workspace: Workspace, client: Client, diagnosis: Diagnosis) -> None:
    """Answer `workspace/textDocumentContent` and the commands."""

    @server.feature(
        types.WORKSPACE_TEXT_DOCUMENT_CONTENT, types.TextDocumentContentRegistrationOptions([virtual_documents.SCHEME])
    )
    async def content(params: types.TextDocumentContentParams) -> types.TextDocumentContentResult:
        document = virtual_documents.parsed(params.uri)
        if document is None:
            raise JsonRpcInvalidParams.of(ValueError(f"there is no document {params.uri}"))
        try:
            return types.TextDocumentContentResult(await virtual_documents.text_of(document, workspace))
        except Unanswered as error:
            raise JsonRpcException(str(error), REQUEST_FAILED) from error

    @server.command("vigil.showRun")
    async def show_run(*arguments: Any) -> dict[str, str] | None:
        (run,) = _texts(arguments, 1, 1)
        return await _shown(workspace, client, virtual_documents.run(_path(workspace, run)))

    @server.command("vigil.showStatement")
    async def show_statement(*arguments: Any) -> dict[str, str] | None:
        policy, statement, *run = _texts(arguments, 2, 3)
        return await _shown(
            workspace,
            client,
            virtual_documents.witness(_path(workspace, policy), statement, *(_path(workspace, one) for one in run)),
        )

    @server.command("vigil.explainStatement")
    async def explain_statement(*arguments: Any) -> dict[str, str] | None:
        policy, statement = _texts(arguments, 2, 2)
        return await _shown(workspace, client, virtual_documents.explanation(_path(workspace, policy), statement))

    @server.command("vigil.explainCode")
    async def explain_code(*arguments: Any) -> dict[str, str] | None:
        (code,) = _texts(arguments, 1, 1)
        return await _shown(workspace, client, virtual_documents.code_page(code.upper()))

    @server.command("vigil.runTests")
    async def run_tests(*arguments: Any) -> dict[str, str] | None:
        tests, *only = _texts(arguments, 1, 2)
        path = workspace.tests_beside(_path(workspace, tests))
        if path is None:
            client.show_message(
                "There are no tests: a policy's tests are in a file beside it whose name ends in `_test.vgl`."
            )
            return None
        try:
            virtual_documents.check_readable(path, workspace)
            tested = await workspace.recordings.tests(path, *only)
        except Unanswered as error:
            client.show_message(str(error))
            return None
        workspace.unmet_expectations[path] = tuple(_unmet(tested))
        diagnosis.tested(path)
        uri = await virtual_documents.show(virtual_documents.results(path, *only), tested.text, client)
        return {"uri": uri, "text": tested.text}

    @server.command("vigil.restartRecordings")
    def restart(*arguments: Any) -> None:  # noqa: ARG001 - it takes none
        workspace.recordings.restart()


async def _shown(workspace: Workspace, client: Client, document: virtual_documents.Virtual) -> dict[str, str] | None:
    """Show a document; its URI and text are the command's result."""
    try:
        text = await virtual_documents.text_of(document, workspace)
    except Unanswered as error:
        client.show_message(str(error))
        return None
    return {"uri": await virtual_documents.show(document, text, client), "text": text}


def _texts(arguments: Sequence[Any], least: int, most: int) -> list[str]:
    """The arguments of a command, which are texts.

    Raises:
        JsonRpcInvalidParams: there are too few or too many, or one is something else.
    """
    if not least <= len(arguments) <= most or not all(isinstance(argument, str) for argument in arguments):
        wanted = str(least) if least == most else f"{least} to {most}"
        raise JsonRpcInvalidParams.of(ValueError(f"the command takes {wanted} texts"))
    return list(arguments)


def _path(workspace: Workspace, given: str) -> str:
    """The path of a file that is given by its path or URI; the name of a run behind `#` stays."""
    if not given.startswith("file:"):
        return given
    uri, mark, run = given.partition("#")
    return f"{workspace.path(uri) or uri}{mark}{run}"


def _unmet(tested: Tested) -> list[Diagnostic]:
    """The expectations that were not met, as findings of the test file."""
    source = Source(tested.path, tested.source)
    return [Diagnostic(UNMET, message, source, span) for span, message in tested.unmet]
