"""The five calls of docs/gate-kernel.md end as the page says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vigil_lang.diagnostics import Source
from vigil_lang.gate.decide import Action, Authority, Decision, Rule, Table, Tier, decide
from vigil_lang.semantics import core
from vigil_lang.semantics.policy import read_policy
from vigil_lang.trace import Event

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = (Path(__file__).parents[3] / "docs" / "gate-kernel.md").read_text(encoding="utf-8")
RULE = re.compile(
    r"(?P<layer>\w+) rule (?P<name>\w+): when (?P<when>.+?) then (?P<asks>\w+)"
    r"(?: record (?P<record>[\w, ]+?))?(?: relaxes (?P<relaxes>\w+))?"
)


def block(kind: str) -> str:
    found = re.search(rf"^```{kind}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert found
    return found[1]


def condition(text: str) -> core.Condition:
    policy = read_policy(Source("page.vgl", f"statement S: abs({text})\n"))
    assert not policy.errors
    match policy.statements[0].requirement.theta:
        case core.Not(core.Holds(found)):
            return found
    raise AssertionError(text)


def rules() -> Iterator[Rule]:
    for line in block("rules").splitlines():
        found = RULE.fullmatch(line)
        assert found, line
        layer: Any = found["layer"]
        asks: Any = found["asks"]
        record = tuple(found["record"].split(", ")) if found["record"] else ()
        relaxes = (found["relaxes"],) if found["relaxes"] else ()
        yield Rule(found["name"], layer, asks, condition(found["when"]), record=record, relaxes=relaxes)


def events(line: str) -> tuple[Event, ...]:
    found: list[Event] = []
    for word in line.split():
        name, _, value = word.partition("=")
        if value:
            args = found[-1].args
            args[name] = (*args.get(name, ()), value.strip('"'))
        else:
            found.append(Event(f"e{len(found) + 1}", "tool", "c", {}, kinds=(name,)))
    return tuple(found)


def shown(decision: Decision) -> str:
    reasons = []
    for each in decision.reasons:
        if each.asks != "pass":
            fault = ", fault" if each.kind == "fault" else ""
            relaxed = f" relaxed by {each.lifted}" if each.lifted else ""
            reasons.append(f"{each.key} ({each.asks}{fault}){relaxed}")
    who = f", {decision.who} confirms" if decision.mode == "hold" else ""
    return f"{decision.mode}{who}: {', '.join(reasons)}"


def test_the_five_calls_end_as_the_page_says() -> None:
    granted = re.search(r"grants `(.+?)`", PAGE)
    assert granted
    authority, table = Authority((condition(granted[1]),)), Table(rules())
    calls = block("calls").splitlines()
    assert len(calls) == 10
    for call, expected in zip(calls[::2], calls[1::2], strict=True):
        action = Action(events(call[2:]), {}, "binding", "likeness", 0)
        assert shown(decide(action, authority, Tier(), table)) == expected.strip()
