"""What the linter says of kinds holds of the shipped tables: which no event has together, which roles a kind is not
about."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations
from typing import TYPE_CHECKING

import pytest

from vigil_lang.abstraction import tools
from vigil_lang.abstraction.catalogue.load import names, program
from vigil_lang.lint.rules import role_by_another_name, two_actions
from vigil_lang.trace.vocabulary import vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.abstraction.catalogue.programs import Program
    from vigil_lang.abstraction.tools import Tool

KINDS = vocabulary().kinds


def programs(entry: Program, inherited: tuple[str, ...] = ()) -> Iterator[tuple[str, frozenset[str], frozenset[str]]]:
    """A program and all below it: its name, kinds that one event of it may have together, roles that its words fill."""
    own = inherited if entry.kinds is None else entry.kinds
    operands = (*entry.operands, *(entry.trailing or ()))
    slots = [slot for slot in (*(o.slot for o in entry.options.values()), *(o.slot for o in operands)) if slot]
    roles = frozenset([*(slot.role for slot in slots), *entry.set, *entry.derive, *entry.default])
    also = {kind for change in entry.when for kind in change.also}
    for kinds in {own, *(change.kinds for change in entry.when if change.kinds is not None)}:
        yield entry.name, frozenset({*kinds, *also}) & KINDS.keys(), roles
    for below in (entry.commands or {}).values():
        yield from programs(below, own)


def of_tool(name: str, tool: Tool) -> Iterator[tuple[str, frozenset[str], frozenset[str]]]:
    yield name, frozenset(tool.kinds), frozenset({*tool.roles, *tool.set, *tool.adds})
    for values in tool.by.values():
        for each in values.values():
            yield from of_tool(name, each)


def shipped() -> Iterator[tuple[str, frozenset[str], frozenset[str]]]:
    for name in names():
        entry = program(name)
        assert entry is not None
        yield from programs(entry)
    own, by_server = tools._tables()
    for table in (own, *by_server.values()):
        for name, tool in table.items():
            yield from of_tool(name, tool)


@pytest.fixture(scope="module")
def events() -> list[tuple[str, frozenset[str], frozenset[str]]]:
    found = list(shipped())
    assert len(found) > 6_000
    return found


@pytest.mark.unmeasured
def test_kinds_that_are_said_to_be_apart_are(events: list[tuple[str, frozenset[str], frozenset[str]]]) -> None:
    together: dict[tuple[str, str], set[str]] = defaultdict(set)
    for name, kinds, _ in events:
        for one, other in combinations(sorted(kinds), 2):
            together[one, other].add(name)
    never = {pair: who for pair, who in together.items() if two_actions._are_apart(*pair, two_actions._APART)}
    assert never == {}
    seldom = {pair: who for pair, who in together.items() if two_actions._are_apart(*pair, two_actions._SELDOM)}
    assert {"make", "ninja"} in seldom.values()
    assert max(map(len, seldom.values())) <= 2


@pytest.mark.unmeasured
def test_roles_that_a_kind_is_said_not_to_have_are_hardly_filled(
    events: list[tuple[str, frozenset[str], frozenset[str]]],
) -> None:
    filled: dict[tuple[str, str], set[str]] = defaultdict(set)
    foreign = role_by_another_name._FOREIGN
    for name, kinds, roles in events:
        for role in roles & foreign.keys():
            for kind in kinds & foreign[role]:
                filled[role, kind].add(name)
    assert max(map(len, filled.values()), default=0) <= 1, filled
    assert not [(role, kind) for role, kinds in foreign.items() for kind in kinds if role in KINDS[kind].roles]
