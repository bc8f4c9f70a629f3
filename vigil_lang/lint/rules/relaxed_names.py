"""VGL352 and VGL353: what a gate's rule relaxes is no name of the default layer, or is never what it is about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Diagnostic, Edit, Fix, Note, nearest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.lint.subject import Subject
    from vigil_lang.semantics.gate_rules import GateRule
    from vigil_lang.semantics.policy import Policy
    from vigil_lang.syntax import tree


def find(subject: Subject) -> Iterator[Diagnostic]:
    """Names after `relaxes` that lower nothing."""
    relaxing = [rule for rule in subject.policy.rules if rule.relaxes]
    if not relaxing:
        return
    from vigil_lang.lint.rule_layers import default_layer, never_meets  # late: most policies relax nothing

    default = default_layer()
    rules = {rule.name: rule for rule in default.rules}
    names = [*rules, *(statement.name for statement in default.statements)]
    for rule in relaxing:
        for name in rule.syntax.relaxes:
            called = name.text.removeprefix("default.")
            if called not in rule.relaxes:
                continue
            if called not in names:
                yield _unknown(rule, name, called, names)
            elif called in rules and never_meets(rule, rules[called], subject.implications):
                yield _unmet(rule, name, rules[called], default)


def _unknown(rule: GateRule, name: tree.Name, called: str, names: list[str]) -> Diagnostic:
    near = nearest(called, names, 1)
    written = f"default.{near[0]}" if near and called != name.text else near[0] if near else ""
    help_text = f"did you mean `{written}`?" if near else f"it has {', '.join(f'`{each}`' for each in names)}"
    fix = Fix(f"write `{written}`", (Edit(name.span, written),)) if near else None
    message = f"the default layer has no `{called}`"
    return Diagnostic.of("VGL352", message, rule.source, name.span, help=help_text, fix=fix)


def _unmet(rule: GateRule, name: tree.Name, relaxed: GateRule, default: Policy) -> Diagnostic:
    message = f"`{rule.name}` relaxes nothing of `{relaxed.name}`: no call that it covers is one that this stops"
    note = Note("this is relaxed", default.module.source, relaxed.span)
    help_text = "it has to name kinds that the other rule names, such as `file.write`, not the program that does it"
    return Diagnostic.of("VGL353", message, rule.source, name.span, help=help_text, notes=(note,))
