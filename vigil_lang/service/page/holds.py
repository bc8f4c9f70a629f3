"""Holds: what waits, one of them in full, and confirming or denying with a passkey."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from urllib.parse import urlencode

from starlette.responses import JSONResponse, RedirectResponse
from starlette.routing import Route

from vigil_lang.gate.gate import SETTLED
from vigil_lang.gate.history import Entry
from vigil_lang.gate.hold_words import latest, needs, one_line, open_reasons
from vigil_lang.gate.holds import RELEASE_USES
from vigil_lang.gate.passkeys import is_passkey
from vigil_lang.gate.state import StateError
from vigil_lang.gate.store import STATES
from vigil_lang.service.auth import words
from vigil_lang.service.errors import Refused
from vigil_lang.service.page.reasons import because
from vigil_lang.service.page.rendering import HEADERS, page, path_of
from vigil_lang.service.page.stories import Story
from vigil_lang.service.page.texts import of_action, parts
from vigil_lang.service.page.viewing import answered, field, posted, viewed, whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.datastructures import FormData
    from starlette.requests import Request
    from starlette.responses import Response

    from vigil_lang.gate.gate import Gate
    from vigil_lang.gate.holds import Signed
    from vigil_lang.gate.people import Person
    from vigil_lang.gate.store import Hold, HoldState
    from vigil_lang.service.page.reasons import Because
    from vigil_lang.service.page.stories import Stories
    from vigil_lang.service.page.texts import Row
    from vigil_lang.service.service import Service

PAGE = 30
"""Holds on a page of the list."""

BATCH = 100
"""Holds that are confirmed at once, at most."""

RELEASE = 3600
"""Seconds that a release from the page lasts, unless the settings allow less."""

SHORT = 16
"""Lines of an action that is seen at a look on a phone."""

_LINE = 160
_ANSWER = 400_000
What = Literal["approve", "deny"]


class Listed(NamedTuple):
    """A hold in the list: its action on a line, its reasons as (name, message)."""

    hold: Hold
    line: str
    reasons: tuple[tuple[str, str], ...]
    more: int
    needs: str
    ended_by: str | None


class Shown(NamedTuple):
    """A hold with all that is known of it."""

    hold: Hold
    action: list[list[Row]] | None
    is_short: bool
    """Whether the action is seen at a look: then it stands before the reasons."""
    tool: str
    line: str
    reasons: tuple[Because, ...]
    others: tuple[Because, ...]
    story: Story
    host: str | None
    grants: tuple[str, ...]
    chain: str | None
    confirmed: tuple[tuple[str, str], ...]
    """Who confirmed it so far, and when."""
    ended_by: str | None
    """Who denied it, or why it was cancelled."""
    at: int


class HoldPages:
    """The pages of holds."""

    def __init__(self, service: Service, stories: Stories) -> None:
        self._service = service
        self._gate: Gate = service.gate
        self._stories = stories

    def routes(self) -> list[Route]:
        """Where they are."""
        service = self._service
        return [
            Route("/", viewed(service, "viewer", self.home), methods=["GET"]),
            Route("/holds", viewed(service, "viewer", self.listed), methods=["GET"]),
            Route("/holds/challenge", answered(service, "approver", self.challenge), methods=["POST"]),
            Route("/holds/batch", viewed(service, "viewer", self.became), methods=["GET"]),
            Route("/holds/batch", viewed(service, "approver", self.batch), methods=["POST"]),
            Route("/holds/{id}", viewed(service, "viewer", self.shown), methods=["GET"]),
            Route("/holds/{id}/action", viewed(service, "viewer", self.action), methods=["GET"]),
            Route("/holds/{id}/confirm", viewed(service, "approver", self.confirm), methods=["POST"]),
            Route("/holds/{id}/deny", viewed(service, "approver", self.deny), methods=["POST"]),
        ]

    # --- looking --------------------------------------------------------------------------------------------------

    async def home(self, _: Request) -> Response:
        """The holds are what one comes for."""
        return RedirectResponse("/holds", 303, HEADERS)

    async def listed(self, request: Request) -> Response:
        """The holds in a state, those that wait unless another is asked for."""
        asked = request.query_params.get("state", "pending")
        state: HoldState = next((each for each in STATES if each == asked), "pending")
        number = whole(request.query_params.get("page"), 1, 1_000_000) or 1

        def look() -> tuple[list[Listed], dict[HoldState, int], int]:
            gate = self._gate
            with gate.holds.transaction():
                gate.holds.settle(SETTLED)
                counts = gate.store.hold_counts()
                found = gate.store.hold_page(state, PAGE, (number - 1) * PAGE)
                rows = [self._row(hold) for hold in found]
                at = gate.holds.now()
            gate.holds.tell()
            return rows, counts, at

        rows, counts, at = await self._service.run(look)
        pages = max(1, -(-counts[state] // PAGE))
        title = "Holds that wait" if state == "pending" else f"Holds: {state}"
        return page(
            request, "holds.html", title=title, rows=rows, counts=counts, state=state, number=number, of=pages, at=at,
            first=(number - 1) * PAGE + 1,
        )  # fmt: skip

    def _row(self, hold: Hold) -> Listed:
        reasons = [(str(each["name"]), str(each.get("message") or "")) for each in open_reasons(hold)]
        return Listed(
            hold,
            one_line(self._action_of(hold), _LINE).plain,
            tuple(reasons[:3]),
            max(0, len(reasons) - 3),
            needs(hold),
            self._who(hold.why) if hold.state == "denied" and hold.why else hold.why,
        )

    def _action_of(self, hold: Hold) -> object:
        inputs = self._gate.log.plain(hold.seq, "/inputs")
        return inputs.get("action") if isinstance(inputs, dict) else None

    async def shown(self, request: Request) -> Response:
        """One hold, and what to do about it."""
        found = await self._service.run(lambda: self._look(request.path_params["id"]))
        hold, settings = found.hold, self._gate.settings.holds
        principal = request.state.principal
        person = await self._service.run(lambda: self._person(principal.person))
        return page(
            request,
            "hold.html",
            title=f"{found.tool}: {'waits' if hold.state == 'pending' else hold.state}",
            found=found,
            hold=hold,
            opened={"directory": None, "session": None, "user": None, **hold.opened},
            needs=needs(hold),
            latest=latest(hold),
            uses=settings.max_uses,
            release=min(RELEASE, settings.longest_release),
            release_uses=RELEASE_USES,
            state_folder=str(self._gate.folder.path),
            needs_passkey=person is not None and not person.passkeys,
            has_confirmed=person is not None
            and any(person.passkey(entry["by"]) is not None for entry in hold.confirmations),
        )

    def _person(self, name: str | None) -> Person | None:
        with self._gate.holds.transaction():
            return None if name is None else self._gate.store.people.person(name)

    async def action(self, request: Request) -> Response:
        """A part of an action that one page has no room for."""
        found = await self._service.run(lambda: self._look(request.path_params["id"]))
        rows = found.action or [[]]
        part = whole(request.query_params.get("part"), 1, len(rows))
        if part is None:
            raise Refused(404, "unknown", f"the action has {len(rows)} parts")
        title = f"{found.tool}: part {part} of {len(rows)}"
        return page(
            request, "action.html", title=title, hold=found.hold, rows=rows[part - 1], part=part, parts=len(rows)
        )

    def _look(self, name: str) -> Shown:
        gate = self._gate
        with gate.holds.transaction():
            gate.holds.settle(SETTLED)
            hold = gate.store.hold(name)
            if hold is None:
                raise Refused(404, "unknown", f"there is no hold `{name[:40]}`")
            inputs = gate.log.plain(hold.seq, "/inputs")
            ((_, entry),) = gate.store.page(hold.seq + 1, 1)
            at = gate.holds.now()
            confirmed = tuple((self._who(entry["by"]), entry["at"]) for entry in hold.confirmations)
            ended_by = self._who(hold.why) if hold.state == "denied" and hold.why else hold.why
            run = gate.store.run(hold.opened["run"])
            try:
                policies = gate.policies_of(hold.opened["policy_digest"])
            except StateError:
                policies = None
        gate.holds.tell()
        reasons = [because(each, policies) for each in hold.opened["reasons"]]
        known = isinstance(inputs, dict)
        story = Story(missing="its arguments were deleted")
        if known:
            story = self._stories.of(hold.opened["run"], Entry(hold.seq, entry, inputs))
        action = inputs.get("action") if known else None
        agent = hold.opened["agent"]
        rows = parts(of_action(action)) if action is not None else None
        return Shown(
            hold,
            rows,
            rows is not None and len(rows) == 1 and sum(_height(row) for row in rows[0]) <= SHORT,
            str(action.get("tool") or "steps") if isinstance(action, dict) else "an action",
            one_line(action, 2 * _LINE).plain,
            tuple(each for each in reasons if each.asks != "pass" and each.lifted is None),
            tuple(each for each in reasons if each.asks == "pass" or each.lifted is not None),
            story,
            None if run is None else run.host,
            tuple(map(str, inputs["authority"].get("grants", ()))) if known else (),
            gate.settings.authority.chains.get(agent),
            confirmed,
            ended_by,
            at,
        )

    def _who(self, key: str) -> str:
        """Who has a key: the person, where it is a passkey of somebody's."""
        owner = self._gate.store.people.owner(key) if is_passkey(key) else None
        return key if owner is None else f"{owner.name} (with a passkey)"

    # --- confirming and denying -----------------------------------------------------------------------------------

    async def challenge(self, request: Request) -> Response:
        """What a passkey is asked to sign: for the page's script."""
        form = await posted(request)
        asked = await words.challenge(
            self._service, request.state.principal, _named(form), _what(form), release=self._release(form)
        )
        return JSONResponse(asked, headers=HEADERS | {"Cache-Control": "no-store"})

    async def confirm(self, request: Request) -> Response:
        """Confirm a hold, or release calls like it."""
        return await self._decide(request, "approve")

    async def deny(self, request: Request) -> Response:
        """Deny a hold."""
        return await self._decide(request, "deny")

    async def _decide(self, request: Request, what: What) -> Response:
        form = await posted(request)
        name = request.path_params["id"]
        said = await self._said(request, form, [name])
        await self._service.run(lambda: self._take(said, what))
        return RedirectResponse(f"/holds/{path_of(name)}", 303, HEADERS)

    async def batch(self, request: Request) -> Response:
        """Several holds at once: first to be looked at once more, then confirmed or denied, all or none."""
        form = await posted(request)
        names, what = _named(form), _what(form)
        if "reviewed" not in form:
            rows = await self._service.run(lambda: self._rows(names))
            title = f"{'Confirm' if what == 'approve' else 'Deny'} {len(rows)} {'hold' if len(rows) == 1 else 'holds'}?"
            return page(
                request, "batch.html", title=title, rows=rows, what=what, at=self._gate.holds.now(), answered=False,
                uses=self._gate.settings.holds.max_uses, state_folder=str(self._gate.folder.path),
            )  # fmt: skip
        said = await self._said(request, form, names)
        await self._service.run(lambda: self._take(said, what))
        return RedirectResponse(f"/holds/batch?{urlencode([('hold', name) for name in names])}", 303, HEADERS)

    async def became(self, request: Request) -> Response:
        """What became of some holds."""
        names = request.query_params.getlist("hold")[:BATCH]
        rows = await self._service.run(lambda: self._rows(names))
        return page(
            request, "batch.html", title="What became of them", rows=rows, what="approve", at=self._gate.holds.now(),
            answered=True, uses=1, state_folder="",
        )  # fmt: skip

    def _rows(self, names: Sequence[str]) -> list[Listed]:
        with self._gate.holds.transaction():
            return [self._row(self._gate.holds.get(name)) for name in names]

    async def _said(self, request: Request, form: FormData, names: Sequence[str]) -> list[Signed]:
        """What somebody signed with a passkey, about these holds and no others."""
        answer = field(form, "answer", _ANSWER)
        if not answer:
            raise Refused(
                400,
                "passkey",
                "Confirming and denying takes a passkey, and a browser asks for that by script. Without one, do it in "
                "a terminal, with your key: `vigil hold approve ID` or `vigil hold deny ID`.",
            )
        try:
            given = json.loads(answer)
        except (ValueError, RecursionError):
            given = None
        if not isinstance(given, dict):
            raise Refused(400, "passkey", "that is no answer of a passkey")
        said = await words.confirmed(self._service, request.state.principal, given)
        if sorted(word.hold for word in said) != sorted(names):
            raise Refused(400, "passkey", "the passkey signed something about other holds")
        return said

    def _take(self, said: Sequence[Signed], what: What) -> None:
        holds = self._gate.holds
        if what == "approve":
            holds.approve(said)
        else:
            holds.deny(said)

    def _release(self, form: FormData) -> int | None:
        asked = field(form, "release", 20)
        if not asked:
            return None
        found = whole(asked, 1, self._gate.settings.holds.longest_release)
        if found is None:
            raise Refused(400, "release", "a release lasts longer than the settings allow")
        return found


def _height(row: Row) -> int:
    """About how many lines of a phone's screen it takes."""
    return sum(1 + len(line) // 30 for line in row.lines)


def _named(form: FormData) -> list[str]:
    found: list[Any] = form.getlist("hold")
    names = list(dict.fromkeys(each for each in found if isinstance(each, str) and len(each) <= 64))
    if not names:
        raise Refused(400, "holds", "No hold was chosen: go back, and choose one.")
    if len(names) > BATCH:
        raise Refused(400, "holds", f"That are {len(names)} holds: at most {BATCH} are confirmed or denied at once.")
    return names


def _what(form: FormData) -> What:
    asked = field(form, "what", 20)
    if asked == "approve":
        return "approve"
    if asked == "deny":
        return "deny"
    raise Refused(400, "what", "it is not said whether to confirm or to deny")
