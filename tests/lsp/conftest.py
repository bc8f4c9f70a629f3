"""Real server processes for the tests, under the abilities of two editors and both encodings of positions.

`session` is a connection that tests share, one for each of two editors, with a folder of the test's own in its
workspace: fast, for tests that leave nothing behind but files and open documents, which the fixture takes away.
`alone` starts servers for one test only.
"""

from __future__ import annotations

import os
import shutil
import sys
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import pytest
import pytest_asyncio
from lsp_session import PROFILES, SHARED, Profile, Session, start
from lsp_wire import Wire
from lsprotocol import types

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    Alone: TypeAlias = Callable[..., Awaitable[Session]]
    Wired: TypeAlias = Callable[[], Awaitable[Wire]]

SERVER = (sys.executable, "-m", "vigil_lang", "lsp")
_numbers = count()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What the server answers keeps to what the client said it understands."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.filterwarnings("error::pytest_lsp.checks.LspSpecificationWarning"))


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of servers: a cache of their own, which they share."""
    return {**os.environ, "VIGIL_CACHE_DIR": str(tmp_path_factory.mktemp("cache"))}


@pytest.fixture(scope="session")
def server() -> tuple[str, ...]:
    """The command that starts a server."""
    return SERVER


@pytest_asyncio.fixture(scope="session", loop_scope="session", params=SHARED, ids=str)
async def shared(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, environment: dict[str, str]
) -> AsyncIterator[Session]:
    """The connection behind `session`."""
    found = await start(request.param, tmp_path_factory.mktemp("workspace").resolve(), *SERVER, env=environment)
    try:
        await found.begin()
        # It looks through the folder when it begins, before a test writes files there and tells nobody.
        assert await found.ask(types.WORKSPACE_SYMBOL, types.WorkspaceSymbolParams("x")) in (None, [])
        assert found.encoding == request.param.encoding
        yield found
        await found.end()
        assert found.process.returncode == 0
    finally:
        await found.kill()


@pytest_asyncio.fixture(loop_scope="session")
async def session(shared: Session) -> AsyncIterator[Session]:
    """A connection with an empty folder, for each of two editors."""
    shared.folder = shared.root / f"t{next(_numbers)}"
    shared.folder.mkdir()
    yield shared
    for page in list(shared.pages.values()):
        page.close()
    names = [path.relative_to(shared.folder).as_posix() for path in shared.folder.rglob("*") if path.is_file()]
    shutil.rmtree(shared.folder)
    shared.changed(*names, how=types.FileChangeType.Deleted)
    assert shared.process.returncode is None, "the server died"


@pytest_asyncio.fixture(loop_scope="session")
async def alone(tmp_path: Path, environment: dict[str, str]) -> AsyncIterator[Alone]:
    """Starts a server of the test's own: `await alone()`, or with another profile, or without `initialize`."""
    started: list[Session] = []

    async def make(profile: Profile = PROFILES[0], *, begin: bool = True) -> Session:
        found = await start(profile, tmp_path.resolve(), *SERVER, env=environment)
        started.append(found)
        if begin:
            await found.begin()
        return found

    yield make
    for found in started:
        await found.kill()


@pytest_asyncio.fixture(loop_scope="session")
async def wired(tmp_path: Path, environment: dict[str, str]) -> AsyncIterator[Wired]:
    """Starts a server that is spoken to byte by byte."""
    started: list[Wire] = []

    async def make() -> Wire:
        started.append(await Wire.start(*SERVER, cwd=tmp_path, env=environment))
        return started[-1]

    yield make
    for found in started:
        await found.kill()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shared_wire(tmp_path_factory: pytest.TempPathFactory, environment: dict[str, str]) -> AsyncIterator[Wire]:
    """The server behind `session_wire`."""
    root = tmp_path_factory.mktemp("wire").resolve()
    found = await Wire.start(*SERVER, cwd=root, env=environment)
    try:
        literals = {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": []}}}
        await found.begin(root, textDocument={"codeAction": literals})
        yield found
        await found.call("shutdown")
        found.notify("exit")
        assert await found.ended() == 0
    finally:
        await found.kill()


@pytest_asyncio.fixture(loop_scope="session")
async def session_wire(shared_wire: Wire) -> AsyncIterator[Wire]:
    """A server spoken to byte by byte that tests share: what one of them does to it must not be felt by the next."""
    shared_wire.responses.clear()
    shared_wire.notifications.clear()
    yield shared_wire
    assert shared_wire.process.returncode is None, "the server died"
