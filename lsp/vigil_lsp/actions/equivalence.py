"""Whether a changed policy asks for the same: of every statement, and of every pattern that others may apply."""

from __future__ import annotations

from itertools import islice, product
from typing import TYPE_CHECKING

from vigil_lang.analysis import canonical
from vigil_lang.diagnostics import Source, apply_edits
from vigil_lang.lint.fixing import unharmed
from vigil_lang.semantics.conditions import Conditions, Failed
from vigil_lang.semantics.meanings import Argument, Scope, Text, TextSet, Values
from vigil_lang.semantics.policy import read_policy
from vigil_lang.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from vigil_lang.diagnostics import Diagnostic, Edit
    from vigil_lang.semantics import core
    from vigil_lang.semantics.gate_rules import GateRule
    from vigil_lang.semantics.meanings import Meaning
    from vigil_lang.semantics.modules import Access, Module
    from vigil_lang.semantics.policy import Policy

_MOST = 64
"""What the parameters of a pattern may stand for, that is tried."""


def keeps_meaning(before: Policy, edits: Iterable[Edit], access: Access, *, removed: str | None = None) -> bool:
    """Whether it is certain that a policy means the same after edits; `removed` is a pattern that may be gone.

    Its statements have the same requirements and triggers, its patterns the same conditions, and what has no meaning
    that could be compared (an item with an error in it, a test) is the same text.
    """
    source = before.module.source
    try:
        text = apply_edits(source.text, edits)
    except ValueError:
        return False
    after = read_policy(Source(source.path, text), before.params, access=access)
    if not unharmed(before, after, safe=True) or not (_same_triggers(before, after) and _same_rules(before, after)):
        return False
    left = list(after.module.file.items)
    if any(item not in left for item in _without_meaning(before)) or _broken(before) != _broken(after):
        return False
    return all(
        name == removed or _same_pattern(before, after, pattern)
        for name, pattern in before.module.own.items()
        if isinstance(pattern, tree.Pattern)
    )


def resolves_more(before: Policy, edits: Iterable[Edit], access: Access) -> bool:
    """Whether edits leave every statement what it was, and fewer errors."""
    source = before.module.source
    after = read_policy(Source(source.path, apply_edits(source.text, edits)), before.params, access=access)
    return len(after.errors) < len(before.errors) and unharmed(before, after, safe=True)


def _same_triggers(before: Policy, after: Policy) -> bool:
    """Whether the same runs put the statements to the test."""
    now = {statement.name: statement.requirement.trigger for statement in after.statements}
    return all(_key(s.requirement.trigger) == _key(now[s.name]) for s in before.statements)


def _same_rules(before: Policy, after: Policy) -> bool:
    """Whether a gate's rules ask for the same."""
    old, now = ([_asked(rule) for rule in policy.rules] for policy in (before, after))
    return old == now


def _asked(rule: GateRule) -> tuple[object, ...]:
    from vigil_lang.semantics import core

    return rule.name, rule.then, canonical.key(core.Holds(rule.condition)), rule.record, rule.relaxes, rule.metadata


def _key(theta: core.Theta | None) -> str | None:
    return None if theta is None else canonical.key(theta)


def _without_meaning(policy: Policy) -> Iterator[tree.Item]:
    lowered: list[tree.Item] = [statement.syntax for statement in policy.statements]
    lowered += [rule.syntax for rule in policy.rules]
    for item in policy.module.file.items:
        unread = isinstance(item, tree.Statement | tree.Rule) and not any(item is one for one in lowered)
        if unread or isinstance(item, tree.TestCase):
            yield item


def _broken(policy: Policy) -> list[str]:
    """What did not parse, as it is written."""
    file = policy.module.file
    return [file.source.text[start:end] for start, end in file.broken]


def _same_pattern(before: Policy, after: Policy, pattern: tree.Pattern) -> bool:
    other = after.module.own.get(pattern.name.text)
    if not isinstance(other, tree.Pattern) or other.params != pattern.params:
        return False
    if other.body == pattern.body:
        return True  # what it applies is compared by itself
    for meanings in _meanings(pattern):
        one, two = _condition(before, pattern, meanings), _condition(after, other, meanings)
        if one is not None and two is not None:
            from vigil_lang.semantics import core

            return canonical.key(core.Holds(one)) == canonical.key(core.Holds(two))
    return False


def _meanings(pattern: tree.Pattern) -> Iterator[dict[str, Meaning]]:
    """What the parameters may stand for: texts, numbers or sets that nothing else is."""
    names = [param.text for param in pattern.params]
    choices: list[list[Meaning]] = [
        [
            Text(f"\0{name}", "text", f"\0{name}"),
            Text(f"-9090.{at}9", "number", f"-9090.{at}9"),
            TextSet(frozenset({f"\0{name}"})),
        ]
        for at, name in enumerate(names)
    ]
    return (dict(zip(names, chosen, strict=True)) for chosen in islice(product(*choices), _MOST))


def _condition(policy: Policy, pattern: tree.Pattern, meanings: dict[str, Meaning]) -> core.Condition | None:
    module: Module = policy.module
    conditions = Conditions(Values(policy.params), _ignored)
    conditions.start()
    scope = Scope(module)
    arguments = {p.text: Argument(meanings[p.text], scope.place(p.span), p.text) for p in pattern.params}
    try:
        return conditions.condition(pattern.body, Scope(module, arguments, ((module, pattern.name.text),)))
    except Failed:
        return None


def _ignored(finding: Diagnostic) -> None:
    pass
