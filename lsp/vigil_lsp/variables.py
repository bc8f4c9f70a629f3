"""What values the variables of a pattern or statement can have, by the tests that are made of them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from vigil_lang.diagnostics import InputError
from vigil_lang.semantics import core
from vigil_lang.semantics.views import viewed
from vigil_lang.syntax import tree
from vigil_lang.trace.discreet import may_show
from vigil_lsp.recordings.conditions import Meanings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from vigil_lang.semantics.policy import Policy
    from vigil_lang.trace import Signature
    from vigil_lang.trace.samples import Samples
    from vigil_lang.trace.signature import ValueType

_TYPES: frozenset[ValueType] = frozenset({"text", "number", "bool"})


class VariableTest(NamedTuple):
    """`k = x`: a variable, what is compared with it, and the actions or kinds it is asked of; None for any."""

    variable: str
    field: core.Reads
    actions: frozenset[str] | None


@dataclass(frozen=True, slots=True)
class Values:
    """The types of what a variable can be, and the most frequent values with how many events carry them."""

    types: frozenset[ValueType]
    samples: tuple[tuple[str, int], ...]


def variable_tests(
    policy: Policy, item: tree.Pattern | tree.Statement, meanings: Meanings | None = None
) -> list[VariableTest]:
    """The tests by which the variables of an item, or the parameters of a pattern, get their values.

    `meanings` may be shared by the items of a policy.
    """
    found: dict[VariableTest, None] = {}
    for condition in _conditions(policy, item, meanings):
        found.update(dict.fromkeys(_tests(condition, None)))
    narrow = {(one.variable, one.field) for one in found if one.actions is not None}
    return [one for one in found if one.actions is not None or (one.variable, one.field) not in narrow]


def _conditions(
    policy: Policy, item: tree.Pattern | tree.Statement, meanings: Meanings | None
) -> Iterator[core.Condition]:
    if isinstance(item, tree.Pattern):
        if item.params:
            yield from (condition for _, condition in islice((meanings or Meanings(policy)).of(item), 1))
        return
    statement = next((one for one in policy.statements if one.syntax is item), None)
    if statement is not None:
        yield from (holds.condition for holds in core.conditions(statement.requirement.theta))


def _tests(condition: core.Condition, actions: frozenset[str] | None) -> Iterator[VariableTest]:
    match condition:
        case core.AndC(items):
            named = next((item.names for item in items if isinstance(item, core.ActionIn)), actions)
            for item in items:
                yield from _tests(item, named)
        case core.OrC(items):
            for item in items:
                yield from _tests(item, actions)
        case core.Entry(entries, body):
            for test in _tests(body, actions):
                yield test._replace(field=core.member_of(entries, test.field))
        case core.Equals(field, variable):
            yield VariableTest(variable, field, actions)


def _seen_through(field: core.Reads, value: str) -> tuple[str, ...]:
    try:
        return viewed(field.views, (value,))
    except InputError:
        return ()


def values_of(tests: Iterable[VariableTest], signature: Signature, samples: Samples) -> dict[str, Values]:
    """For each variable, what the tests find in the runs and in what is declared."""
    kinds: dict[str, set[ValueType]] = {}
    counts: dict[str, dict[str, int]] = {}
    for variable, field, actions in tests:
        seen = kinds.setdefault(variable, set())
        if field.views:
            seen.add("number" if field.views[-1].name in ("length", "count") else "text")
        elif field.output:
            seen.add("text")
        else:
            for name, action in signature.actions.items():
                if actions is None or name in actions or action.kinds & actions:
                    argument = action.args.get(field.name)
                    seen |= _TYPES & argument.types if argument is not None else frozenset()
        if field.output or any(view.name == "count" for view in field.views):
            continue  # outputs are no samples, and how many values there are of one event is not known
        of = counts.setdefault(variable, {})
        for value, count in samples.values(field.name, actions):
            if not may_show(field.name, value):
                continue
            for text in _seen_through(field, value):
                of[text] = of.get(text, 0) + count
    return {
        variable: Values(
            frozenset(seen), tuple(sorted(counts.get(variable, {}).items(), key=lambda found: (-found[1], found[0])))
        )
        for variable, seen in kinds.items()
    }
