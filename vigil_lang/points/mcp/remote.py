"""A server behind a URL (streamable HTTP), by the transport of the package mcp."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, suppress
from typing import TYPE_CHECKING, Any

import httpx2
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.message import ClientMessageMetadata, SessionMessage
from mcp_types import jsonrpc_message_adapter

from vigil_lang.points.mcp.keeper import note
from vigil_lang.points.mcp.messages import MAX_BYTES, Malformed, Message, checked

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vigil_lang.points.mcp.specs import Gone, Heard, ServerSpec


class RemoteServer:
    """A server behind a URL."""

    def __init__(self, spec: ServerSpec) -> None:
        self._spec = spec
        self._task: asyncio.Task[None] | None = None
        self._write: Any = None
        self._over = asyncio.Event()

    async def start(self, heard: Heard, gone: Gone) -> None:
        """Begin to listen; nothing is sent yet."""
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._run(heard, gone, ready))
        await ready

    async def send(self, message: Message, headers: Mapping[str, str]) -> None:
        """Send a message."""
        found = jsonrpc_message_adapter.validate_python(message, by_name=False)
        metadata = ClientMessageMetadata(headers=dict(headers)) if headers else None
        with suppress(Exception):  # it is gone, which `gone` tells
            await self._write.send(SessionMessage(found, metadata=metadata))

    async def close(self) -> None:
        """End the session, and the connection."""
        self._over.set()
        if self._task is not None:
            with suppress(TimeoutError, asyncio.CancelledError):
                await asyncio.wait_for(self._task, 5)

    async def _run(self, heard: Heard, gone: Gone, ready: asyncio.Future[None]) -> None:
        assert self._spec.url is not None
        why = "the connection ended"
        try:
            async with AsyncExitStack() as stack:
                client = create_mcp_http_client(
                    headers=dict(self._spec.headers), timeout=httpx2.Timeout(30.0, read=None)
                )
                await stack.enter_async_context(client)
                read, self._write = await stack.enter_async_context(
                    streamable_http_client(self._spec.url, http_client=client, max_sse_event_size=MAX_BYTES)
                )
                ready.set_result(None)
                reading = asyncio.create_task(self._read(read, heard))
                waiting = asyncio.create_task(self._over.wait())
                await asyncio.wait({reading, waiting}, return_when=asyncio.FIRST_COMPLETED)
                for task in (reading, waiting):
                    task.cancel()
                    with suppress(asyncio.CancelledError):
                        await task
        except Exception as error:  # whatever it is, nobody may wait for answers any more
            why = f"the connection failed: {type(error).__name__}"
        if not ready.done():
            ready.set_result(None)
        await gone(why)

    async def _read(self, read: Any, heard: Heard) -> None:
        async for found in read:
            if isinstance(found, Exception):
                note(f"{self._spec.name} sent what is no message: {type(found).__name__}")
                continue
            try:
                message = checked(
                    found.message.model_dump(mode="json", by_alias=True, exclude_unset=True), strict=False
                )
            except Malformed as error:
                note(f"{self._spec.name} sent what is no message: {error}")
                continue
            await heard(message)
