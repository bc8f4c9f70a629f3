"""What policies say has a plan over columns, and the plan says of runs what the definition says."""

from __future__ import annotations

import re
from random import Random
from typing import TYPE_CHECKING

import pytest

from tests.differential.columnar import by_columns, by_scan
from tests.differential.engines import by_denotation
from tests.strategies.policies import policy_of
from tests.strategies.runs import trace_of
from vigil_lang.engines.columnar.engine import compiled_rule
from vigil_lang.engines.interface import Rule
from vigil_lang.semantics.policy import load_policy

if TYPE_CHECKING:
    from tests.strategies.runs import Line

WRITTEN = {
    "a text contains the value": "prec(send(token = x), fetch(output contains x))",
    "an alternative without the value": "prec(use(file = x), save(file = x) or save_all())",
    "what is forbidden gives the value": "until(freeze(), thaw(), write(file = x))",
    "two values compared": "abs(refund(payment = p, amount = a)) after pay(payment = p, amount = b) where a > b",
    "a sum in a window": "budget[10](pay(), amount) in 5s",
    "a sum since a reset": "budget[4](pay(to = x), amount) since reset(to = x)",
    "different values": "atmost[1](page(), distinct who)",
    "counts in a window": "atmost[1](page(who = x)) in 9s since reset()",
    "calls of several events": "atmost[1](page())",
    "a weak interval": "always read(file = x) implies (not write(file = x)) weak until close(file = x)",
    "an entry": 'prec(use(id = x), list(output:json("[*]") with (id = x and n > 1)))',
    "far enough away": "bresp[2..3](ask(id = x), answer(id = x))",
}


@pytest.mark.parametrize("form", WRITTEN.values(), ids=WRITTEN.keys())
def test_what_policies_say_has_a_plan(form: str) -> None:
    """Each is worked out over columns, and as the denotation has it, on runs made for it."""
    (statement,) = policy_of(f"policy p\nstatement S: {form}").statements
    requirement = statement.requirement
    compiled = compiled_rule(Rule("S", requirement))
    assert compiled.plan is not None, compiled.why
    actions = re.findall(r"\b(?!prec|until|abs|budget|atmost|bresp)([a-z_]+)\(", form)
    random = Random(3)
    lines: list[Line] = []
    for number in range(60):
        value = random.choice("ABC")
        args = dict.fromkeys(("token", "file", "payment", "to", "id"), value)
        line: Line = {"action": random.choice(actions), "args": {**args, "who": [value, "C"][: 1 + number % 2]}}
        line["args"]["amount"] = random.randint(0, 4)
        line |= {"time": f"2026-01-05T10:00:{number // 2:02}Z", "call": f"c{number // 2}", "status": "ok"}
        line["output"] = f'[{{"id": "{random.choice("ABC")}", "n": {number % 3}}}]'
        lines.append(line)
    places = ((0, 14), (0, 7), (5, 19), (11, 12), (40, 44), (50, 53), (0, 0))
    traces = [trace_of(lines[start:end]) for start, end in places]
    expected = [[by_denotation(requirement, trace)] for trace in traces]
    assert {bool(answer.offences) for (answer,) in expected} == {True, False}
    assert by_columns([requirement], traces) == expected
    told = [[(answer.events, answer.exercised) for answer in of] for of in expected]
    assert by_scan([requirement], traces, "duckdb") == told


def test_shipped_policies_have_plans() -> None:
    """What is left to single runs is what the page on scanning says."""
    alone = []
    for name in ("std.guard", "std.secrets", "std.files", "examples/team/team.vgl", "examples/dashcam/dashcam.vgl"):
        for statement in load_policy(name).statements:
            if compiled_rule(Rule(statement.name, statement.requirement)).plan is None:
                alone.append(statement.name)
    assert alone == []
