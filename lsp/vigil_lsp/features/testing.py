"""Commands for an editor's list of tests: `vigil.testFiles`, `vigil.testsIn` and `vigil.testResults`.

What they answer with is what `vigil test` makes of the files as they are on disk. A request that is cancelled ends the
run after the test at hand.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams

from vigil_lang.diagnostics import InputError, Source
from vigil_lang.diagnostics.visible import visible
from vigil_lang.project.paths import test_paths
from vigil_lang.semantics.modules import is_test_file
from vigil_lsp.edits import range_as_json
from vigil_lsp.recordings.process import Unanswered
from vigil_lsp.recordings.run_sources import absolute, described_tools
from vigil_lsp.virtual_documents import check_readable

if TYPE_CHECKING:
    from collections.abc import Awaitable
    from typing import TypeVar

    from pygls.lsp.server import LanguageServer

    from vigil_lang.diagnostics import Diagnostic, Span
    from vigil_lsp.project import Project
    from vigil_lsp.workspace import Workspace

    Answer = TypeVar("Answer")

MAX_FILES = 5_000


def register(server: LanguageServer, workspace: Workspace) -> None:
    """Answer all three."""

    @server.command("vigil.testFiles")
    async def files(*arguments: Any) -> list[str]:  # noqa: ARG001 - it takes none
        """The URIs of the files that `vigil test` runs in the workspace, and of those that are open."""
        projects = list(workspace.projects.all())
        found = dict.fromkeys(await asyncio.to_thread(lambda: [path for one in projects for path in _named(one)]))
        found |= dict.fromkeys(path for path in workspace.projects.paths() if is_test_file(path) and _takes(path))
        opened = (one.path for one in workspace.files.documents if one.on_disk and is_test_file(one.path))
        found |= dict.fromkeys(opened)
        return [workspace.files.uri(path) for path in sorted(found)[:MAX_FILES]]

    def _takes(path: str) -> bool:
        return not workspace.project_of(path).settings.test.paths

    @server.command("vigil.testsIn")
    async def tests(*arguments: Any) -> dict[str, Any]:
        """`{tests: [{name, location}], errors: [{message, location}]}` of a file that is given by its URI."""
        match arguments:
            case [str(uri)]:
                path, tools = _file(uri)
            case _:
                raise JsonRpcInvalidParams.of(ValueError("the command takes the URI of a file"))
        suite = await _answered(workspace.recordings.suite(path, tools))
        named = [{"name": name, "location": _location(suite.source, span)} for name, span in suite.tests]
        return {"tests": named, "errors": [_error(finding) for finding in suite.findings]}

    @server.command("vigil.testResults")
    async def results(*arguments: Any) -> dict[str, Any]:
        """A `vigil.test/1` object with a `location` for everything that has a line.

        It is given `{files: [{uri, tests?: [name]}], coverage?: true}`.
        """
        match arguments:
            case [{"files": [*given], **rest}]:
                wanted = tuple((path, _names(one), tools) for one in given for path, tools in (_file(_uri(one)),))
            case _:
                raise JsonRpcInvalidParams.of(ValueError("the command takes an object with `files`"))
        found = await _answered(workspace.recordings.test_run(wanted, measured=rest.get("coverage") is True))
        placed: dict[str, Any] = _placed(found)
        return placed

    def _file(uri: str) -> tuple[str, str]:
        """The path of a file of tests that may be read, and the tools that its project describes."""
        path = workspace.path(uri)
        if path is None or not is_test_file(path):
            raise JsonRpcInvalidParams.of(ValueError("the tests of policies are in files called `*_test.vgl`"))
        try:
            check_readable(path, workspace)
        except Unanswered as error:
            raise JsonRpcException(str(error), types.LSPErrorCodes.RequestFailed) from error
        return path, described_tools(workspace.project_of(path).settings)

    def _location(source: Source, span: Span) -> dict[str, Any]:
        place = workspace.files.text(source).range(span)
        return {"uri": workspace.files.uri(source.path), "range": range_as_json(place)}

    def _error(finding: Diagnostic) -> dict[str, Any]:
        more = f"\n{visible(finding.help)}" if finding.help else ""
        message = f"{finding.code}: {visible(finding.message)}{more}"
        return {"message": message, "location": _location(finding.source, finding.span)}

    def _placed(value: Any) -> Any:
        """A part of a report with every `location` as the protocol has it."""
        match value:
            case dict():
                return {name: _placed(part) for name, part in value.items()}
            case list():
                return [_placed(part) for part in value]
            case (Source() as source, span):
                return _location(source, span)
            case _:
                return value


def _named(project: Project) -> list[str]:
    """The files of tests that a project's configuration names."""
    named = project.settings.test.paths
    try:
        found = test_paths([absolute(str(project.root), path) for path in named], project.settings.excludes, [])
    except InputError:  # it is said where the configuration is
        return []
    return [str(Path(path)) for path in found]


def _uri(given: Any) -> str:
    match given:
        case {"uri": str(uri)}:
            return uri
    raise JsonRpcInvalidParams.of(ValueError("a file has a `uri`"))


def _names(given: dict[str, Any]) -> tuple[str, ...] | None:
    """The names of the wanted tests; None for all."""
    match given.get("tests"):
        case None:
            return None
        case [*names] if all(isinstance(name, str) for name in names):
            return tuple(names)
    raise JsonRpcInvalidParams.of(ValueError("`tests` are names"))


async def _answered(asked: Awaitable[Answer]) -> Answer:
    try:
        return await asked
    except Unanswered as error:
        raise JsonRpcException(str(error), types.LSPErrorCodes.RequestFailed) from error
