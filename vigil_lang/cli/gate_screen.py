"""What the gate says as a person reads it: a decision with all that speaks to it, its state, and what was set up."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace
from rich.text import Text

from vigil_lang.diagnostics.human import STYLES, hanging
from vigil_lang.diagnostics.visible import as_argument, shown_path, visible
from vigil_lang.gate.hold_words import seconds_text
from vigil_lang.trace import Trace
from vigil_lang.verdict.calls import call_text
from vigil_lang.verdict.human import violation

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.console import Console

    from vigil_lang.enforce.run import Broken
    from vigil_lang.gate.answer import Answer
    from vigil_lang.gate.decide import Reason
    from vigil_lang.gate.layers import LayeredPolicies
    from vigil_lang.gate.setup import Made
    from vigil_lang.trace import Event

MODES = {"pass": "bold green", "warn": STYLES["info"], "hold": STYLES["warning"], "block": STYLES["error"]}
WORDS = {"pass": "passes", "hold": "is held", "block": "is blocked"}
_SHOWN_EVENTS = 8


class Led(NamedTuple):
    """What led to a decision: the run before it, and the policies that it went by."""

    before: Trace
    policies: LayeredPolicies


def show_answer(answer: Answer, what: str, console: Console, led: Led | None = None) -> None:
    """The decision about `what`, what speaks to it by layer, the earlier calls that matter, what would let it pass."""
    mode = answer.decision.mode
    head = Text.assemble((f"{mode:<5}", MODES[mode]), "  ")
    _print(console, hanging(console, head, f"{what} {WORDS[mode]}", "bold"))
    for event in answer.events[:_SHOWN_EVENTS]:
        console.print(Text.assemble("       ", pending_text(event, console.width - 7)))
    if (more := len(answer.events) - _SHOWN_EVENTS) > 0:
        console.print(Text(f"       and {more} more steps", "dim"))
    console.print()
    for reason in answer.decision.reasons:
        _print(console, _reason(reason, console))
    shown = list(_witnesses(answer, led, console)) if led is not None and answer.broken and mode != "pass" else []
    if shown:
        console.print()
        console.print(Text("The calls that led here", "bold"))
        _print(console, shown)
    lowering = list(_lowering(answer))
    if lowering:
        console.print()
        console.print(Text("What would let it pass", "bold"))
        for text in lowering:
            _print(console, hanging(console, Text("  - "), text))
    _print(console, _record(answer, console))


def pending_text(event: Event, room: int) -> Text:
    """A step of a call that is not made yet."""
    ending = f" → {event.status}"
    text = call_text(event, room + len(ending))
    text.right_crop(len(ending))
    text.stylize("dim")
    return text


def _reason(reason: Reason, console: Console) -> Iterator[Text]:
    style = "dim" if reason.lifted is not None else MODES[reason.asks]
    head = Text.assemble((f"  {reason.asks:<5}", style), f"  {reason.layer or reason.kind:<12}  ")
    said = reason.message
    if reason.kind in ("rule", "statement") or reason.layer:
        said = f"{reason.name}: {said}"
    if reason.lifted is not None:
        said += f" (lifted by {reason.lifted})"
    yield from hanging(console, head, said)
    if reason.at:
        yield Text(" " * head.cell_len + shown_path(reason.at), "dim")


def _witnesses(answer: Answer, led: Led, console: Console) -> Iterator[Text]:
    """For each statement that the action would violate, the run with the action, as `vigil verify` shows it."""
    made = tuple(replace(event, status="ok") for event in answer.events)
    whole = Trace((*led.before.events, *made), led.before.run)
    yield from witnesses(answer.broken, whole, {event.id for event in made}, led.policies, console)


def witnesses(
    broken: Sequence[Broken], trace: Trace, events: set[str], policies: LayeredPolicies, console: Console
) -> Iterator[Text]:
    """For each statement that some events of a run violate, the calls around them, as `vigil verify` shows it."""
    from vigil_lang.cli.judging import judge

    names, paths = {each.statement.name for each in broken}, {each.policy for each in broken}
    concerned = [policy for _, policy in policies.policies if policy.path in paths]
    for found in judge(concerned, trace).statements:
        offending = tuple(offence for offence in found.offending if offence.event in events)
        if found.name in names and offending:
            yield Text()
            yield from violation(replace(found, offending=offending), trace, console, 1)


def _lowering(answer: Answer) -> Iterator[str]:
    remedies = {broken.statement.name: broken.remedy for broken in answer.broken}
    standing = [each for each in answer.decision.reasons if each.asks in ("hold", "block") and each.lifted is None]
    final = [each for each in standing if (each.kind, each.layer, each.asks) == ("rule", "organisation", "block")]
    if final:
        yield f"nothing: the organisation's `{final[0].name}` blocks it, whoever confirms"
        return
    unknown = [each.name for each in standing if (each.kind, each.layer) == ("fault", "organisation")]
    if unknown:
        yield f"the same action with the fields that the organisation's `{unknown[0]}` tests; no confirmation helps"
        return
    if any(each.kind == "revocation" for each in standing):
        yield "a newer revocation list"
        return
    by_organisation = any(each.layer == "organisation" for each in standing)
    for reason in standing:
        if reason.kind == "statement" and remedies.get(reason.name):
            yield f"{reason.name}: {remedies[reason.name]}"
        if reason.kind == "authority" and reason.name == "outside":
            yield 'a grant that allows it (`vigil grant --allow …`), or `mode = "open"` in the settings\' [authority]'
        # Where the organisation asks for a hold, relaxing the default layer changes nothing.
        if reason.kind in ("rule", "statement") and reason.layer == "default" and not by_organisation:
            yield f"a personal rule with `relaxes default.{reason.name}`"
    if answer.hold is not None:
        who = "the organisation's approvers" if answer.decision.who == "organisation" else "an approver"
        yield f"a confirmation by {who}, before {_moment(answer.hold.expires)}: `vigil hold approve {answer.hold.id}`"


def _record(answer: Answer, console: Console) -> Iterator[Text]:
    yield Text()
    if answer.seq is None:
        yield from hanging(console, Text(""), "not in the log: the gate could not judge, and blocks", STYLES["error"])
        return
    facts = [f"entry {answer.seq}", f"tier {answer.tier}"]
    facts += [f"{answer.microseconds / 1000:.1f} ms"] if answer.microseconds else []
    facts += [f"{name} {', '.join(map(visible, values))}" for name, values in answer.decision.record if values]
    yield from hanging(console, Text(""), " · ".join(facts), "dim")


def show_made(made: Made, console: Console) -> None:
    """What `vigil gate init` made, and what to do next."""
    console.print(Text.assemble(("made  ", "bold green"), shown_path(str(made.folder))))
    for path, what in made.files:
        _print(console, hanging(console, Text(f"  {path:<22}"), what))
    console.print()
    console.print(Text("Next", "bold"))
    for words, meaning in made.next_steps(as_argument(str(made.folder))):
        console.print(f"  {meaning}:")
        console.print(Text(f"    {words}", "bold"))


def show_status(found: dict[str, Any], console: Console) -> None:
    """The state of a gate: what it goes by, what waits, which runs are live."""
    rows = [
        ("state", shown_path(found["state"])),
        ("authority", found["authority"]),
        *((f"{layer}", _policies(of)) for layer, of in found["layers"].items()),
        ("log", f"{found['log']['entries']} entries, {found['log']['signed_to']} of them signed"),
        ("revocations", _revocations(found["revocations"])),
        ("holds", f"{len(found['holds'])} waiting" if found["holds"] else "none waiting"),
        ("runs", f"{len(found['runs'])} live" if found["runs"] else "none live"),
    ]
    for name, text in rows:
        _print(console, hanging(console, Text(f"{name:<13}", "bold"), text))
    for hold in found["holds"]:
        console.print(Text.assemble(("  hold  ", MODES["hold"]), f"{hold['id']}  until {_moment(hold['expires'])}"))
    for run in found["runs"]:
        halted = "" if run["halted"] is None else f", halted: {run['halted']}"
        _print(
            console,
            hanging(
                console, Text("  run   "), f"{run['run']} of {run['agent']}, seen last {_clock(run['seen'])}{halted}"
            ),
        )


def _policies(of: list[dict[str, Any]]) -> str:
    if not of:
        return "no policy"
    return ", ".join(
        f"{shown_path(each['path'])} ({_some(each['rules'], 'rule')}, {_some(each['statements'], 'statement')})"
        for each in of
    )


def _some(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"


def _revocations(found: dict[str, Any]) -> str:
    if found["seq"] == 0:
        return "none"
    return f"list {found['seq']}, {found['revoked']} revoked" + (", older than its end" if found["stale"] else "")


def _moment(at: int) -> str:
    left = at - int(time.time())
    return f"{_clock(at)} ({seconds_text(left)} left)" if left > 0 else f"{_clock(at)} (over)"


def _clock(at: int) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%H:%M:%S UTC")


def _print(console: Console, lines: Iterable[Text]) -> None:
    for line in lines:
        console.print(line)
