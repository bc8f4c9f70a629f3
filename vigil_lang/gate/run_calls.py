"""The wire form of `POST /v1/runs/{verb}`: what an enforcement point tells a gate service, and is told.

Members of an answer that are not known are passed over; those of a request are refused.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec

from vigil_lang.gate.answer import Answer, decision_json
from vigil_lang.gate.binding import asked, binding
from vigil_lang.gate.brought import Brought
from vigil_lang.gate.decide import Decision, Reason
from vigil_lang.gate.decide.decision import WEIGHT
from vigil_lang.gate.entering import Ended, Owed, Violation
from vigil_lang.gate.request import BadRequest, Request
from vigil_lang.gate.store import Hold
from vigil_lang.semantics.context_fields import CONTEXT
from vigil_lang.trace import Event, Status
from vigil_lang.trace.record import Message

if TYPE_CHECKING:
    from collections.abc import Mapping

PATH = "/v1/runs/"
LONGEST_OUTPUT = 500_000
"""Characters of what a call showed that are sent."""

Name = Annotated[str, msgspec.Meta(min_length=1, max_length=256)]
Path = Annotated[str, msgspec.Meta(max_length=4096)]
Text = Annotated[str, msgspec.Meta(max_length=LONGEST_OUTPUT)]
Digest = Annotated[str, msgspec.Meta(max_length=100)]


class Of(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a request is about: a run of an agent."""

    run: Name
    agent: Name


class Enter(Of, frozen=True):
    """A run begins, or goes on. Raises and gives as `Gate.enter`, with the policies as texts."""

    host: Path | None = None
    cwd: Path | None = None
    user: Path | None = None
    policies: tuple[Brought, ...] = ()
    apply_changes: bool = False


class Extend(Of, frozen=True):
    """Policies join those of a run."""

    policies: tuple[Brought, ...]


class Decide(Of, frozen=True):
    """An action, as `vigil.request/1`. `id` comes back with the answer; with `begun` the run has to be known."""

    id: Name
    request: dict[str, Any]
    begun: bool = False


class EndedCall(Of, frozen=True):
    """How a call ended: the members of `Ended`."""

    tool: Name
    input: dict[str, Any] | None
    status: Status = "unknown"
    output: Text | None = None
    call: Name | None = None
    exit_code: int | None = None
    executed: bool = True
    cwd: Path | None = None
    session: Path = ""
    parent: Path | None = None
    directory: Path | None = None

    def ended(self) -> Ended:
        """What the gate is told."""
        return Ended(**{name: getattr(self, name) for name in self.__struct_fields__ if name != "run"})


class Say(Of, frozen=True):
    """The user or the agent said something."""

    role: Literal["user", "agent"]
    text: Text
    session: Path = ""
    parent: Path | None = None

    def message(self) -> Message:
        """What the gate is told."""
        return Message(self.role, self.text, session=self.session, parent=self.parent)


class TurnEnded(Of, frozen=True):
    """A turn is over."""

    session: Path = ""


class Why(Of, frozen=True):
    """A run is halted, or something was refused before the gate was asked."""

    why: Annotated[str, msgspec.Meta(max_length=4096)]


class OfHold(Of, frozen=True):
    """A hold of the run: looked at, waited for so many seconds, or cancelled."""

    hold: Name
    seconds: Annotated[float, msgspec.Meta(ge=0, le=55)] = 0
    why: Annotated[str, msgspec.Meta(max_length=4096)] = ""


# --- answers ----------------------------------------------------------------------------------------------------------


class Remarks(msgspec.Struct, frozen=True):
    """Of `enter`."""

    remarks: tuple[str, ...]


class Joined(msgspec.Struct, frozen=True):
    """Of `extend`: whether a policy is new."""

    joined: bool


class Violated(msgspec.Struct, frozen=True):
    """Of `ended` and `say`."""

    violated: tuple[Violation, ...]


class OwedNow(msgspec.Struct, frozen=True):
    """Of `turn_ended`."""

    owed: tuple[Owed, ...]


class Done(msgspec.Struct, frozen=True):
    """Of `halt`, `refuse` and `end`."""

    done: Literal[True] = True


class RunStatus(msgspec.Struct, frozen=True):
    """Of `status`: the folder that the run started in, and how many events passed in it."""

    begun: bool
    folder: str | None = None
    events: int = 0


class HoldNow(msgspec.Struct, frozen=True):
    """Of `hold`, `wait` and `cancel`: a hold as it is now, without the words of those who confirm."""

    hold: Hold


class EventSeen(msgspec.Struct, frozen=True, omit_defaults=True):
    """An event of an action, as it was judged."""

    id: str
    action: str
    call: str
    args: dict[str, tuple[str, ...]] = {}
    kinds: tuple[str, ...] = ()

    def event(self) -> Event:
        """The event. Raises ValueError or TypeError where it is none."""
        return Event(self.id, self.action, self.call, self.args, kinds=self.kinds)


class Logged(msgspec.Struct, frozen=True):
    """The place of a decision in the log."""

    seq: Annotated[int, msgspec.Meta(ge=0)]


class Decided(msgspec.Struct, frozen=True, kw_only=True):
    """Of `decide`: `vigil.decision/1`, with all that an enforcement point needs beside it.

    `id` is that of the question. `held` is the hold as it is now, `link` where people decide
    about it.
    """

    id: str
    schema: Literal["vigil.decision/1"]
    mode: Literal["pass", "hold", "block"]
    reasons: tuple[dict[str, Any], ...]
    approvals: tuple[str, ...] = ()
    record: dict[str, tuple[str, ...]] = {}
    action_digest: str = ""
    policy_digest: str = ""
    authority_digest: str = ""
    tier: Annotated[int, msgspec.Meta(ge=0, le=3)] = 0
    microseconds: int = 0
    observed: bool = False
    log: Logged | None = None
    held: Hold | None = None
    link: Annotated[str, msgspec.Meta(max_length=500)] | None = None
    remedies: dict[str, str] = {}
    events: tuple[EventSeen, ...] = ()


FORMS: Mapping[str, tuple[type[Of], type[msgspec.Struct]]] = {
    "enter": (Enter, Remarks),
    "extend": (Extend, Joined),
    "decide": (Decide, Decided),
    "ended": (EndedCall, Violated),
    "say": (Say, Violated),
    "turn_ended": (TurnEnded, OwedNow),
    "halt": (Why, Done),
    "refuse": (Why, Done),
    "end": (Of, Done),
    "status": (Of, RunStatus),
    "hold": (OfHold, HoldNow),
    "wait": (OfHold, HoldNow),
    "cancel": (OfHold, HoldNow),
}
"""What each verb takes and gives."""


class Mismatch(ValueError):
    """An answer is not one to the question, or contradicts itself; the text says how."""


def decided(id: str, answer: Answer, page: str) -> Decided:  # noqa: A002 - as the member is called
    """The answer of a gate on the wire; `page` is where people see holds."""
    found = decision_json(answer.decision)
    return Decided(
        id=id,
        schema="vigil.decision/1",
        mode=answer.decision.mode,
        reasons=tuple(found["reasons"]),
        approvals=answer.decision.approvals,
        record=found["record"],
        action_digest=answer.action_digest,
        policy_digest=answer.policy_digest,
        authority_digest=answer.authority_digest,
        tier=answer.tier,
        microseconds=answer.microseconds,
        observed=answer.observed,
        log=None if answer.seq is None else Logged(answer.seq),
        held=None if answer.hold is None else shown_hold(answer.hold),
        link=None if answer.hold is None else f"{page}/holds/{answer.hold.id}",
        remedies=dict(answer.remedies),
        events=tuple(EventSeen(each.id, each.action, each.call, each.args, each.kinds) for each in answer.events),
    )


_SHOWN = ("kind", "at", "run", "agent", "user", "mode", "reasons", "tier", "binding", "record", "action_digest")


def shown_hold(hold: Hold) -> Hold:
    """A hold as an agent may see it: without the words of approvers, and what they sign."""
    opened = {name: hold.opened[name] for name in _SHOWN if name in hold.opened}
    of = hold.opened["hold"]
    opened["hold"] = {name: of[name] for name in ("id", "expires", "confirm_by", "quorum")}
    return msgspec.structs.replace(hold, opened=opened, confirmations=())


def answer_to(request: Request, id: str, decided: Decided) -> Answer:  # noqa: A002
    """The answer of a service, held against its question.

    Raises:
        Mismatch: it is to another question, or its mode is weaker than its reasons; a pass is not in the log.
    """
    if decided.id != id:
        raise Mismatch("it is the answer to another question")
    said = asked(request)
    if decided.action_digest != said.digest and (decided.mode != "block" or decided.log is not None):
        raise Mismatch("it is about another action")
    try:
        reasons = tuple(msgspec.convert(each | {"is": "Reason"}, Reason) for each in decided.reasons)
        events = tuple(each.event() for each in decided.events)
    except (ValueError, TypeError) as error:
        raise Mismatch("a reason or an event in it is none") from error
    least = max((WEIGHT[each.asks] for each in reasons if each.lifted is None), default=0)
    if WEIGHT[decided.mode] < least and least > WEIGHT["warn"]:
        raise Mismatch(f"it says {decided.mode}, and its reasons ask for more")
    if decided.log is None and decided.mode != "block":
        raise Mismatch(f"it says {decided.mode}, and has no place in the log")
    if decided.mode == "pass" and not events:
        raise Mismatch("it says pass, and not what of")
    if decided.observed and not request.observe:
        raise Mismatch("it is about an action that is only observed")
    hold = decided.held
    if hold is not None:
        check_hold(hold)
        bound = binding(request, said.given, decided.policy_digest, decided.authority_digest, decided.tier)
        if decided.mode != "hold" or hold.opened["binding"] != bound or hold.opened["run"] != request.run:
            raise Mismatch("its hold is that of another action")
    return Answer(
        Decision(decided.mode, reasons, decided.approvals, tuple(decided.record.items())),
        None if decided.log is None else decided.log.seq,
        decided.action_digest,
        decided.policy_digest,
        decided.authority_digest,
        decided.tier,
        hold,
        events=events,
        microseconds=decided.microseconds,
        observed=decided.observed,
        remedies=decided.remedies,
        link=decided.link,
    )


def check_hold(hold: Hold) -> None:
    """Raise Mismatch where a hold lacks what every hold has."""
    opened = hold.opened
    texts = (opened.get("binding"), opened.get("run"), opened.get("at"))
    of = opened.get("hold")
    right = isinstance(of, dict) and of.get("id") == hold.id and isinstance(of.get("expires"), int)
    if not right or not all(isinstance(each, str) for each in texts):
        raise Mismatch("its hold is none")


def request_json(request: Request) -> dict[str, Any]:
    """A request as `vigil.request/1`: what `request_of` reads as the same request.

    Raises:
        BadRequest: it has what only the service itself says of an action.
    """
    if request.authority is not None or request.chain is not None:
        raise BadRequest("a request to a service names no chain: the agent proves which one it acts under")
    if request.approval is not None:
        raise BadRequest("a request to a service names no approval: AuthZEN has them (`evaluate`)")
    found: dict[str, Any] = {"schema": "vigil.request/1", "run": request.run, "agent": request.agent}
    for name in ("user", "host", "cwd", "call", "parent", "directory"):
        value = getattr(request, name)
        if value is not None:
            found[name] = value
    if request.session:
        found["session"] = request.session
    if request.observe:
        found["observe"] = True
    if request.outcomes != "assumed":
        found["outcomes"] = request.outcomes
    if request.context:
        found["context"] = {name.removeprefix(CONTEXT): list(texts) for name, texts in request.context.items()}
    if request.input is not None:
        found["action"] = request.action
    else:
        found["events"] = [_event_json(each) for each in request.events]
    return found


def _event_json(event: Event) -> dict[str, Any]:
    found: dict[str, Any] = {"action": event.action, "kinds": list(event.kinds)}
    found["args"] = {name: list(texts) for name, texts in event.args.items()}
    found |= {name: text for name, text in (("event", event.id), ("call", event.call)) if text}
    if event.time is not None:
        found["time"] = (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=event.time)).isoformat()
    return found
