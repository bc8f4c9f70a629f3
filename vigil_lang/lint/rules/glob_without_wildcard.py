"""VGL318: globs without a wildcard, which match one text alone: `command ~ "rm -rf"`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.analysis.reachability import matches_any
from vigil_lang.diagnostics import Diagnostic, Edit, Fix, Span
from vigil_lang.lint.literal_texts import element, glob_of, is_free
from vigil_lang.lint.paths import amiss
from vigil_lang.lint.rules.operator_in_text import holds_operator
from vigil_lang.semantics.forms import FORMS
from vigil_lang.semantics.text import Glob, quote
from vigil_lang.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.lint.policy_parts import Use
    from vigil_lang.lint.subject import Subject


def find(subject: Subject) -> Iterator[Diagnostic]:
    """The globs that are equalities in disguise; what another rule says of one is not said twice."""
    module = subject.policy.module
    for use in subject.parts.uses:
        if use.operator not in ("~", "!~") or type(use.operand) is tree.Regex:
            continue
        text = glob_of(use, module)
        if not text or "*" in text or "?" in text or "\\" in text:
            continue
        free = use.field is not None and (" " in text or use.field.kind == "output" or is_free(use.field.name))
        if use.through is not None and not free:
            continue  # `reads_like("/etc/passwd")`: the pattern takes globs, and one may stand for itself
        if holds_operator(use, text) or amiss(use, text, subject) or _is_unknown(use, text, subject):
            continue
        yield _finding(use, text, subject, free=free)


def _finding(use: Use, text: str, subject: Subject, *, free: bool) -> Diagnostic:
    module = subject.policy.module
    name = "the action's name" if use.field is None else f"`{use.field.name}`"
    starred = quote(f"*{text}*")
    equal = "=" if use.operator == "~" else "!="
    value = element(text, use, module) if use.field is None else quote(text)
    written = value if use.through is not None else f"{equal} {value}"
    fix = None
    if isinstance(use.operand, tree.String):
        if free:
            fix = Fix(f"write `{starred}`", (Edit(use.operand.span, starred),))
        elif use.field is None:
            fix = Fix(f"write `action {written}`", (Edit(use.expr.span, f"action {written}"),), safe=True)
        else:
            span = Span(use.field.span.end, use.operand.span.end)
            fix = Fix(f"write `{written}`", (Edit(span, f" {written}"),), safe=True)
    return Diagnostic.of(
        "VGL318",
        f"a glob without a wildcard: {name} must be exactly `{text}`",
        module.source,
        use.operand.span,
        help=f"write `{starred}` for a text that contains it" + ("" if use.through else f", or `{written}`"),
        fix=fix,
    )


def _is_unknown(use: Use, text: str, subject: Subject) -> bool:
    """Whether the signature's values tell that the glob matches none of them, which is VGL406."""
    signature, item = subject.signature, use.item
    if signature is None or not signature.actions:
        return False
    if signature.origin != "declared" and (isinstance(item, tree.Pattern) or _may_forbid(item)):
        return False  # what runs do not show is no mistake where it is forbidden
    if use.field is None:
        return not matches_any(Glob(text), signature.names())
    if use.field.kind == "output":
        return signature.outputs is not None and not matches_any(Glob(text), signature.outputs)
    name = use.field.name
    known = [action.args[name].values for action in signature.actions.values() if name in action.args]
    return bool(known) and all(values is not None and text not in values for values in known)


def _may_forbid(statement: tree.Statement) -> bool:
    form = FORMS.get(statement.form.name)
    return form is None or "forbidden" in form.roles
