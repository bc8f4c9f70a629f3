"""The kill switch: stopping an agent, a run, a key, a link or everyone, and which live runs have seen that."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from starlette.routing import Route

from vigil_lang.diagnostics import InputError
from vigil_lang.diagnostics.visible import as_argument, visible
from vigil_lang.gate.authority.keys import load_key
from vigil_lang.gate.hold_words import seconds_text
from vigil_lang.gate.kill_switch import KillSwitch
from vigil_lang.gate.revocation import EVERYONE, KINDS, LONGEST_NAME, Entry
from vigil_lang.service.errors import Refused
from vigil_lang.service.page.rendering import page
from vigil_lang.service.page.viewing import field, posted, viewed

if TYPE_CHECKING:
    from starlette.datastructures import FormData
    from starlette.requests import Request
    from starlette.responses import Response

    from vigil_lang.gate.authority.keys import Key
    from vigil_lang.gate.kill_switch import Killed
    from vigil_lang.service.service import Service

GOOD_FOR = 3650 * 86400
"""Seconds that a list from the page is good for, as one from `vigil kill`."""

_OPTIONS = {"agent": "--agent", "run": "--run", "key": "--public-key", "link": "--link"}
_SHOWN = 200
_NAMES = {
    "agent": "an agent, by its name",
    "run": "a run, by its name",
    "key": "a public key, ed25519:…",
    "link": "a link of a chain, by its id",
    "all": "everyone: no action passes any more",
}


class KillPages:
    """The page of the kill switch."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._gate = service.gate

    def routes(self) -> list[Route]:
        """Where it is."""
        return [
            Route("/kill", viewed(self._service, "administrator", self.asked), methods=["GET"]),
            Route("/kill", viewed(self._service, "administrator", self.pulled), methods=["POST"]),
        ]

    async def asked(self, request: Request) -> Response:
        """What can be stopped, and what is stopped now."""
        query = request.query_params
        kind = query.get("kind") if query.get("kind") in KINDS else "agent"
        return await self._page(request, kind or "agent", query.get("name", "")[:LONGEST_NAME], None, None)

    async def pulled(self, request: Request) -> Response:
        """Stop something, or let it go on."""
        form = await posted(request)
        entry, undo = _entry(form), field(form, "undo", 10) == "yes"
        if entry.kind == "all" and not undo and field(form, "everyone", 10) != "yes":
            raise Refused(400, "everyone", "To stop everyone, say so twice: tick the box as well. Nothing was done.")
        gate = self._gate

        def pull() -> Killed:
            key = self._key()
            if key is None:
                raise Refused(
                    409, "key", f"Nothing was done: there is no key here that may revoke. {self._terminal(entry)}"
                )
            return KillSwitch(gate.folder, gate.settings).revoke(entry, key, GOOD_FOR, undo=undo)

        killed = await self._service.run(pull)
        return await self._page(
            request, entry.kind, "" if entry.kind == "all" else entry.name, entry, killed, undo=undo
        )

    async def _page(
        self, request: Request, kind: str, name: str, entry: Entry | None, killed: Killed | None, *, undo: bool = False
    ) -> Response:
        gate = self._gate

        def look() -> tuple[list[Entry], str | None, list[str], bool]:
            with gate.holds.transaction():
                now = gate.revoked()
                agents = list(
                    dict.fromkeys(each.agent for each in gate.store.runs() if visible(each.agent) == each.agent)
                )
                stale = now.stale(gate.now() // 1_000_000)
            listed = list(now.list.revoked) if now.list is not None else []
            return listed, now.fault or stale, agents, self._key() is not None

        revoked, problem, agents, has_key = await self._service.run(look)
        ago = {}
        if killed is not None:
            now = gate.now()
            ago = {each.run: seconds_text(max(0, (now - each.since) // 1_000_000)) for each in killed.runs}
        return page(
            request, "kill.html", title="Stop agents", kinds=_NAMES, kind=kind, name=name, entry=entry, killed=killed,
            undo=undo, revoked=revoked[:_SHOWN], more=max(0, len(revoked) - _SHOWN), problem=problem, has_key=has_key,
            agents=agents[:50], ago=ago, state_folder=as_argument(str(gate.folder.path)), longest=LONGEST_NAME,
        )  # fmt: skip

    def _key(self) -> Key | None:
        """The key in the state folder that lists are signed with, where it is there and the settings name it."""
        path = self._gate.folder.keys / "revoker.pem"
        if not path.exists():
            return None
        try:
            key = load_key(path)
        except InputError:
            return None
        return key if key.public in self._gate.settings.revocation.keys else None

    def _terminal(self, entry: Entry) -> str:
        option = f"{_OPTIONS[entry.kind]} {as_argument(entry.name)}" if entry.kind in _OPTIONS else "--all"
        state = as_argument(str(self._gate.folder.path))
        return f"In a terminal, with the key: `vigil kill {option} --state {state} --key FILE`"


def _entry(form: FormData) -> Entry:
    kind, name = field(form, "kind", 10), field(form, "name", LONGEST_NAME)
    try:
        return msgspec.convert({"kind": kind, "name": EVERYONE if kind == "all" else name}, Entry)
    except msgspec.ValidationError as error:
        raise Refused(400, "name", "Say what is to be stopped: its kind, and its name. Nothing was done.") from error
