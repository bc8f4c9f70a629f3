"""What an agent is told: one paragraph of plain text, whatever its own arguments hold."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from vigil_lang.diagnostics.secrets import learn
from vigil_lang.diagnostics.shorten import cut
from vigil_lang.diagnostics.visible import visible
from vigil_lang.ingest.hook_payloads import OWN_WORDS
from vigil_lang.patterns import regex

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from vigil_lang.gate.answer import Answer
    from vigil_lang.gate.decide import Reason
    from vigil_lang.gate.entering import Owed, Violation

LONGEST = 4000
"""Characters of what is told: below the limit of every host."""
_PART = 600
_MOST = 5
_OUR_NAME = regex(r"vigil(?=\s*:)", re.IGNORECASE)


def told(answer: Answer) -> str:
    """Why a call is not made, by which rule, and what would satisfy it; or what is to be heeded where it is made."""
    for event in answer.events:
        learn(event.args)
    reasons = [each for each in answer.decision.reasons if each.lifted is None and each.asks != "pass"]
    remedies = answer.remedies
    if answer.decision.mode == "pass":
        return paragraph("Vigil: this call is made, but heed this", _whys(reasons, remedies))
    if answer.decision.mode == "hold":
        return _clipped(f"{paragraph(_held(answer), _whys(reasons, remedies))}{_next(answer)}")
    if answer.is_fault:
        return paragraph("Vigil blocked this call without judging it", _whys(reasons, remedies))
    blocking = [each for each in reasons if each.asks == "block"]
    found = paragraph("Vigil blocked this call", _whys(blocking or reasons, remedies))
    return _clipped(f"{found} Do not try to get around the rule by another tool or spelling.")


def faulted(why: str) -> str:
    """Why a call is not made where the hook itself failed."""
    return paragraph("Vigil blocked this call without judging it", [_part(why)])


def remarked(remarks: Sequence[str]) -> str:
    """What is to be known of the policies of a run, such as one that was refused."""
    return paragraph("Vigil, on the policies of this run", [_part(each) for each in remarks])


def owed_text(obligations: Iterable[Owed]) -> str:
    """What is still to be done before the run ends."""
    found = []
    for each in obligations:
        said = f"{_part(each.said)}: " if each.said else ""
        found.append(f"{said}{_named(each.name)}: {_part(each.message)}")
    return paragraph(f"{OWN_WORDS}do what is owed", found)


def warned(broken: Sequence[Violation]) -> str:
    """What a call that was made violates for certain, now that its outcome is known."""
    found = [f"{_named(each.name)}: {_part(each.message)}" for each in broken]
    return paragraph("Vigil: what was done violates the policy", found)


def paragraph(lead: str, parts: Sequence[str]) -> str:
    """A lead and parts, each fit to be told, as one line that no host finds too long."""
    shown = list(parts[:_MOST])
    if len(parts) > _MOST:
        shown.append(f"and {len(parts) - _MOST} more")
    return _clipped(f"{lead}: {'; '.join(shown)}." if shown else f"{lead}.")


def _whys(reasons: Sequence[Reason], remedies: Mapping[str, str]) -> list[str]:
    found: dict[str, None] = {}
    for each in reasons:
        text = f"{_part(each.message)} ({each.kind} {_named(each.name)})"
        if each.kind == "statement" and (remedy := remedies.get(each.name)) and remedy not in each.message:
            text += f", which is satisfied by: {_part(remedy)}"
        found.setdefault(text)
    return list(found)


def _held(answer: Answer) -> str:
    if answer.hold is None:
        return "Vigil holds this call until a person confirms it"
    if answer.hold.state == "denied":
        return f"Vigil blocked this call: a person denied the hold {answer.hold.id}; do not ask for it again"
    if answer.hold.state != "pending":
        return f"Vigil blocked this call: nobody confirmed the hold {answer.hold.id} in time"
    until = datetime.fromtimestamp(answer.hold.expires, UTC).strftime("%Y-%m-%d %H:%M UTC")
    return f"Vigil: held, {answer.hold.id}, until {until}"


def _next(answer: Answer) -> str:
    """What to do about a hold that waits: who confirms it, and how. The agent cannot."""
    if answer.hold is None or answer.hold.state != "pending":
        return ""
    who = "an approver of the organisation" if answer.decision.who == "organisation" else "the user"
    terminal = f"in a terminal, by `vigil hold approve {answer.hold.id}`"
    where = terminal if answer.link is None else f"on the page {_part(answer.link)}"
    return f" You cannot confirm it: tell the user that {who} does so {where}; ask for the same call again afterwards."


def _named(name: str) -> str:
    return f"`{_part(name)}`"


def _part(text: str) -> str:
    """A text that may hold the agent's own words: on one line, nothing hidden in it, and not in our name."""
    shown = _OUR_NAME.sub("vigil ", visible(text)).strip().rstrip(".")
    return cut(shown, _PART)


def _clipped(text: str) -> str:
    return cut(text, LONGEST)
