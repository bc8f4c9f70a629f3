"""The lines of a `decisions` block: what speaks to a call of one event, and the mode that the kernel gives it.

`PART; PART -> MODE`, and `by WHO` after a hold: `hold rule personal.R; outside -> hold by user`.
"""

from __future__ import annotations

import re
from typing import Any

from msgspec.structs import replace

from vigil_lang.gate.decide import Action, Approval, Authority, Broken, Rule, Table, Tier, decide
from vigil_lang.semantics import core
from vigil_lang.trace import Event

_RULE = re.compile(
    r"(?P<mark>delegable |unknown )?(?P<asks>\w+) (?:rule )?(?P<layer>\w+)\.(?P<name>\w+)(?: relaxes (?P<relaxes>\w+))?"
)
_STATEMENT = re.compile(r"(?P<asks>\w+) statement (?P<layer>\w+)\.(?P<name>\w+)")
_APPROVAL = re.compile(r"(?P<mark>used |late |foreign )?approval by (?P<by>\w+) for (?P<reasons>.+)")

ALL = core.AndC(())
UNKNOWN = core.In(core.Reads("nowhere"), frozenset("x"))
_GRANTS = {
    "all": ALL,
    "this": core.ActionIn(frozenset({"file.write"})),
    "other": core.ActionIn(frozenset({"net.send"})),
    "unknown": UNKNOWN,
}


def check(line: str) -> None:
    """Whether a line says what the kernel does."""
    given, _, expected = line.partition(" -> ")
    decision = said(given.split("; "))
    assert expected == (f"hold by {decision.who}" if decision.mode == "hold" else decision.mode), line


def said(parts: list[str]) -> Any:
    """The decision about a call of which these parts are said."""
    action = Action((Event("e1", "tool", "e1", kinds=("file.write",)),), {}, "binding", "likeness", 100)
    authority, tier = Authority(open=True), Tier()
    rules: list[Rule] = []
    approvals: list[Approval] = []
    for part in parts:
        match part.split():
            case ["nothing"]:
                pass
            case ["revoked" | "refused" | "stale" as member]:
                authority = replace(authority, **{member: ("why",)})
            case ["limit"]:
                authority = replace(authority, exhausted=("why",))
            case ["outside"]:
                authority = replace(authority, open=False)
            case ["bad", "grant"]:
                authority = replace(authority, open=False, grants=(core.Equals(core.Reads("k"), "x"),))
            case ["grant", which]:
                authority = replace(authority, open=False, grants=(*authority.grants, _GRANTS[which]))
            case ["fault"]:
                action = replace(action, faults=("why",))
            case ["no", "events"]:
                action = replace(action, events=())
            case ["tier", level]:
                tier = replace(tier, level=int(level))
            case ["doubt"]:
                tier = replace(tier, doubts=("why",))
            case _ if found := _STATEMENT.fullmatch(part):
                layer: Any = found["layer"]
                asks: Any = found["asks"]
                broken = Broken(found["name"], layer, asks, "why", event="e1")
                action = replace(action, broken=(*action.broken, broken))
            case _ if found := _APPROVAL.fullmatch(part):
                by: Any = found["by"]
                covers = "other" if found["mark"] == "foreign " else "binding"
                expires = 100 if found["mark"] == "late " else 200
                uses = 0 if found["mark"] == "used " else 1
                approvals.append(Approval("h1", covers, tuple(found["reasons"].split()), by, expires, uses))
            case _:
                rules.append(_rule(part))
    return decide(action, authority, tier, Table(rules), approvals)


def _rule(part: str) -> Rule:
    found = _RULE.fullmatch(part)
    assert found, part
    layer: Any = found["layer"]
    asks: Any = found["asks"]
    return Rule(
        found["name"],
        layer,
        asks,
        UNKNOWN if found["mark"] == "unknown " else ALL,
        relaxes=(found["relaxes"],) if found["relaxes"] else (),
        delegable=found["mark"] == "delegable ",
    )
