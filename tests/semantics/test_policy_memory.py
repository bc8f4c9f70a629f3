"""What is remembered of a policy's last text changes no meaning: after any edits it is that of a policy read afresh."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any
from weakref import ref

from hypothesis import given, settings

from tests.strategies.edits import edited
from vigil_lang.diagnostics import Source
from vigil_lang.semantics import conditions, core
from vigil_lang.semantics.layout import layout_of
from vigil_lang.semantics.lower import Lowering
from vigil_lang.semantics.memory import Memory
from vigil_lang.semantics.modules import Access
from vigil_lang.semantics.policy import Policy, load_module, lowered
from vigil_lang.syntax import memory as syntax
from vigil_lang.syntax import parse

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pytest

POLICY = """policy work
use std.files: changing
param most: number = 3
let tools = {Read, Edti, Bash}
let limit = 3

pattern reads(x) = action in tools and path = x and count > limit
pattern deep(x) = reads(x) and path !~ "*.py"
pattern unused = Edit(path = "a")

/// What is changed was read.
@severity(error)
statement first: prec(Edit(path = x) and path ~ "*b.py", reads(x))
statement second: resp(Edit(path = x), deep(x)) where x != "z"
statement third: always Bash(command = c) implies earlier[3] (Read(file = c) or Grep(size = most))
statement fourth: atmost[3](changing and path = x) since Read(path = x)
statement fifth: abs(Edit(size > n))
rule ask: when violates first and path ~ "*.py" then hold record path
"""

PIECES = ["x", "(", ")", '"', "\n", " ", "not ", "pattern reads(x) = Read(path = x)\n", "statement first: ", "// "]
PIECES += ["pattern deep(x) = (\n"]
NAMES = ["reads", "tools", "deep", "limit", "most", "Edit", "first"]


def read(text: str, memory: Memory | None = None, params: Mapping[str, object] | None = None) -> Policy:
    return lowered(load_module(Source("work.vgl", text)), params, memory)


def meaning(policy: Policy) -> list[Any]:
    """Everything that is said of a policy's statements, rules and faults, with its places."""
    return [
        [(s, core.to_json(s.requirement), s.label(core.conditions(s.requirement.theta)[0])) for s in policy.statements],
        policy.rules,
        policy.diagnostics,
    ]


@settings(max_examples=60, deadline=None)
@given(edited(POLICY, PIECES, NAMES))
def test_after_edits_a_policy_means_what_it_means_afresh(texts: list[str]) -> None:
    memory = Memory()
    for text in [POLICY, *texts]:
        assert meaning(read(text, memory)) == meaning(read(text))


def test_a_name_that_a_broken_item_seemed_to_declare_is_looked_for_again() -> None:
    memory, rest = Memory(), "let all = {Read} | some\nstatement s: abs(q)\nstatement t: abs(q(x))\n"
    found = read(f"pattern q = (\nlet some = {{\n{rest}", memory).diagnostics
    assert {one.code for one in found if one.code > "VGL2"} == {"VGL205"}, "nothing uses `all`"
    assert meaning(read(rest, memory)) == meaning(read(rest))
    assert len(read(rest, memory).errors) == 3


def test_what_did_not_change_keeps_its_meaning_and_is_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    memory, names = Memory(), list[str]()
    before = {s.name: s for s in read(POLICY, memory).statements}
    statement = Lowering.statement

    def noted(self: Lowering, item: Any) -> Any:
        names.append(item.name.text)
        return statement(self, item)

    monkeypatch.setattr(Lowering, "statement", noted)
    after = {s.name: s for s in read("// moved\n" + POLICY, memory).statements}
    assert names == ["fifth"]  # of which there is something to say
    assert all(after[name].meaning is before[name].meaning for name in after)
    assert after["first"].requirement == before["first"].requirement
    names.clear()
    read(POLICY.replace('path !~ "*.py"', 'path !~ "*.pyi"'), memory)
    assert names == ["second", "fifth"]


def test_the_layout_of_a_text_is_worked_out_once_and_goes_with_it() -> None:
    module = read(POLICY, None).module
    kept = ref(layout_of(module))
    assert layout_of(module) is kept()
    del module
    gc.collect()
    assert kept() is None


def test_other_params_give_everything_a_meaning_anew() -> None:
    memory = Memory()
    for params in ({}, {"most": 7}, {"most": "x"}, {"most": 3}):
        assert meaning(read(POLICY, memory, params)) == meaning(read(POLICY, None, params))


def test_what_comes_near_a_limit_is_read_afresh(monkeypatch: pytest.MonkeyPatch) -> None:
    def conditions_of(most: int) -> str:
        statements = (f"statement s{n}: abs({' or '.join(f'a = {n}' for _ in range(9))})" for n in range(most))
        return "\n".join(statements) + "\n"

    memory = Memory()
    monkeypatch.setattr(conditions, "MAX_TOTAL", 100)
    for most in (3, 4, 9, 11, 12, 11, 4):
        text = conditions_of(most)
        found = read(text, memory)
        assert meaning(found) == meaning(read(text))
        assert bool(found.errors) == (most > 10)


@settings(max_examples=15, deadline=None)
@given(edited(POLICY, PIECES, NAMES))
def test_edits_leave_nothing_for_the_collector(texts: list[str]) -> None:
    """Looking through what there is takes long enough to be felt while somebody types."""
    memory, parsed = Memory(), syntax.Memory()

    def look(text: str) -> None:
        source = Source("work.vgl", text)
        lowered(load_module(source, access=Access(parse=lambda given: parse(given, parsed))), memory=memory)

    for text in texts:
        look(text)
    was_on = gc.isenabled()
    gc.disable()
    try:
        gc.freeze()  # what there was before is not looked through
        for text in texts:
            look(text)
        assert gc.collect() == 0
    finally:
        gc.unfreeze()
        if was_on:
            gc.enable()
