"""The log: its entries, newest first, one of them in full, and how far it was checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlencode

from starlette.routing import Route

from vigil_lang.gate.log.kinds import OF_RUNS
from vigil_lang.gate.state import StateError
from vigil_lang.service.errors import Refused
from vigil_lang.service.page.log_check import LogCheck
from vigil_lang.service.page.reasons import because
from vigil_lang.service.page.rendering import page
from vigil_lang.service.page.texts import parts
from vigil_lang.service.page.viewing import viewed, whole

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from vigil_lang.gate.store import Entry
    from vigil_lang.service.service import Service

PAGE = 50
"""Entries on a page."""

KINDS = (
    "decision", "approval", "denial", "expiry", "cancellation", "escalation", "refusal", "fault", "revocation",
    "acknowledged", "run_start", "run_end", "outcome", "unasked", "message", "turn_end", "halt", "resume", "run_policy",
    "policy", "policy_change", "authority", "tier", "signal", "person", "sign_in", "sign_out",
)  # fmt: skip
"""What the log may be searched for."""

_FAR = 10**15
_NAMES = 20


class Line(NamedTuple):
    """An entry in the list: what it says in a few words, and the hold that it is about."""

    seq: int
    at: str
    kind: str
    told: str
    run: str | None
    hold: str | None


class LogPages:
    """The pages of the log."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._gate = service.gate
        self._check = LogCheck(service.gate)

    def routes(self) -> list[Route]:
        """Where they are."""
        return [
            Route("/log", viewed(self._service, "viewer", self.listed), methods=["GET"]),
            Route("/log/{seq}", viewed(self._service, "viewer", self.shown), methods=["GET"]),
        ]

    async def listed(self, request: Request) -> Response:
        """Entries, newest first: of a kind, of a run, or by what stands in their run's or hold's name."""
        query = request.query_params
        kind = query.get("kind") if query.get("kind") in KINDS else None
        run, text = query.get("run", "")[:1000], query.get("text", "").strip()[:200]
        before = whole(query.get("before"), 0, _FAR)

        def look() -> tuple[list[Line], list[str], list[str]]:
            gate = self._gate
            with gate.holds.transaction():
                lines = [
                    line_of(seq, entry) for seq, entry in gate.store.page(before, PAGE, kind=kind, run=run or None)
                ]
                named = gate.store.named(text, _NAMES) if text else ([], [])
            return lines, *named

        lines, runs, holds = await self._service.run(look)
        checked = await self._service.run(self._check.look)
        chosen = {"kind": kind or "", "run": run, "text": text}
        rest = urlencode({name: value for name, value in chosen.items() if value})
        older = lines[-1].seq if len(lines) == PAGE else None
        return page(
            request, "log.html", title="Log", lines=lines, kinds=KINDS, kind=kind, run=run, text=text, runs=runs,
            found=holds, before=before, older=older, rest=rest, checked=checked,
        )  # fmt: skip

    async def shown(self, request: Request) -> Response:
        """One entry in full, with what stands beside the log for it."""
        seq = whole(request.path_params["seq"], 0, _FAR)
        part = whole(request.query_params.get("part", "1"), 1, 1_000_000) or 1

        def look() -> tuple[Entry, Any, tuple[Any, ...]]:
            gate = self._gate
            with gate.holds.transaction():
                found = gate.store.page(seq + 1, 1) if seq is not None else []
                if not found or found[0][0] != seq:
                    raise Refused(404, "unknown", "the log has no such entry")
                entry = found[0][1]
                path = OF_RUNS.get(entry["kind"])
                plain = gate.log.plain(seq, path) if path is not None else None
                try:
                    digest = entry.get("policy_digest")
                    policies = gate.policies_of(digest) if entry["kind"] == "decision" and digest else None
                except StateError:
                    policies = None
            return entry, plain, tuple(because(each, policies) for each in entry.get("reasons", ()))

        entry, plain, reasons = await self._service.run(look)
        assert seq is not None
        every = parts(entry)
        beside = parts(plain if isinstance(plain, dict) else {"value": plain}) if plain is not None else []
        rows = [*every, *beside]
        if part > len(rows):
            raise Refused(404, "unknown", f"the entry has {len(rows)} parts")
        checked = await self._service.run(self._check.look)
        return page(
            request, "entry.html", title=f"Entry {seq:,}", seq=seq, entry=entry, line=line_of(seq, entry),
            rows=rows[part - 1], is_plain=part > len(every), part=part, of=len(rows), first_plain=len(every) + 1,
            reasons=reasons, checked=checked, kept=OF_RUNS.get(entry["kind"]) is not None, has_plain=plain is not None,
            size=self._gate.log.size,
        )  # fmt: skip


def line_of(seq: int, entry: Entry) -> Line:
    """An entry as a list shows it."""
    held = entry.get("hold")
    hold = held.get("id") if isinstance(held, dict) else held or entry.get("joined")
    return Line(
        seq,
        str(entry.get("at", "")),
        str(entry.get("kind", "")),
        _told(entry),
        entry.get("run") if isinstance(entry.get("run"), str) else None,
        hold if isinstance(hold, str) else None,
    )


def _told(entry: Entry) -> str:
    """An entry in a few words."""
    kind = entry.get("kind")
    if kind == "decision":
        reasons = [
            each.get("message") or each.get("name") for each in entry.get("reasons", ()) if isinstance(each, dict)
        ]
        why = f": {reasons[0]}" if reasons and entry.get("mode") != "pass" else ""
        return f"{entry.get('mode')} for {entry.get('agent')}{why}"
    if kind == "outcome":
        return f"the call of entry {entry.get('decision')} ended: {entry.get('status')}"
    if kind in ("approval", "denial"):
        return f"by {entry.get('by')}" + (", with a release" if entry.get("release") else "")
    if kind == "revocation":
        return f"list {entry.get('seq')}, with {len(entry.get('revoked', ()))} revoked"
    if kind == "tier":
        return f"tier {entry.get('level')}: {'; '.join(map(str, entry.get('why', ())))}"
    if kind == "signal":
        return f"{entry.get('source')} says {entry.get('score')}"
    for name in ("message", "why", "agent", "path", "policy_digest", "name", "role"):
        if isinstance(entry.get(name), str) and entry[name]:
            return str(entry[name])
    return ""
