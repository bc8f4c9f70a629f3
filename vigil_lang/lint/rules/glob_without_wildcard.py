"""VGL318: globs without a wildcard (`command ~ "rm -rf"`), and globs compared as whole texts (`path in {"*.env"}`)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from vigil_lang.analysis.reachability import matches_any
from vigil_lang.diagnostics import Diagnostic, Edit, Fix, Span
from vigil_lang.lint.literal_texts import element, field_text, glob, glob_of, is_free, texts, value
from vigil_lang.lint.paths import ROLES, actions_of, amiss
from vigil_lang.lint.policy_parts import Use, says_what_may_be
from vigil_lang.lint.rules.operator_in_text import holds_operator
from vigil_lang.lint.rules.regex_in_glob import alternatives, compared_regex, is_ellipsis, is_regex
from vigil_lang.lint.rules.role_values import is_never_had
from vigil_lang.lint.rules.unknown_kind import family_meant
from vigil_lang.lint.rules.variable_as_argument import tests_with_parents
from vigil_lang.semantics.forms import FORMS
from vigil_lang.semantics.text_patterns import Glob, quote
from vigil_lang.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.lint.policy_parts import Operand
    from vigil_lang.lint.subject import Subject
    from vigil_lang.semantics.modules import Module
    from vigil_lang.trace import Signature

_WHOLE: Final = frozenset({"=", "!=", "in", "not in"})
_GLOB = re.compile(r"\*{1,2}[./@_-].*\w[^\s\w]*|[^\s\w]*\w.*[./@_:-]\*{1,2}")
"""Texts that are nothing but globs; `*` alone is also a value of its own, in many an interface."""
_PATH_GLOB = re.compile(r"(?=[^\\*]*\*)(?=[^\\\w]*\w)[^\\]*")
"""Hardly a file has a star in its name."""
_CONTAINED = re.compile(r"\*[^\n\w]*\w[^\n]*\*")
_OF_LINES: Final = frozenset({"test.run", "code.check", "code.build", "package.install"})
"""Kinds whose programs print many lines."""
_COMMANDS: Final = frozenset({"command", "argument", "argv", "url", "code", "text", "query"})
"""Free arguments whose values hardly begin and end with a `*`."""
_OF_GLOBS: Final = frozenset(
    {"glob", "globs", "include", "exclude", "ignore", "filter", "allow", "deny", "scope", "scopes", "resource"}
)
"""Arguments whose values are globs themselves."""
_LIKE: Final = re.compile(r"%([^%]*\w[^%]*)%|%(\.\w+)")
"""What `LIKE` of SQL takes for any text that contains something, or ends so."""
_MOST_NAMES: Final = 100


def find(subject: Subject) -> Iterator[Diagnostic]:
    """The globs that are equalities in disguise; what another rule says of one is not said twice."""
    module = subject.policy.module
    for use in subject.parts.uses:
        if use.operator not in ("~", "!~") or type(use.operand) is tree.Regex:
            continue
        text = glob_of(use, module)
        if not text or "*" in text or "?" in text or "\\" in text:
            continue
        free = use.field is not None and (" " in text or use.field.kind == "output" or _is_free(use.field))
        if use.through is not None and not free:
            continue  # `reads_like("/etc/passwd")`: the pattern takes globs, and one may stand for itself
        if (
            is_regex(use, text)
            or is_ellipsis(use, text)
            or alternatives(use, text)
            or holds_operator(use, text)
            or amiss(use, text, subject)
            or is_never_had(use, text, subject)
            or _is_unknown(use, text, subject)
        ):
            continue
        yield _finding(use, text, subject, free=free)
    for use in subject.parts.uses:
        if "~" in use.operator and use.through is None:
            yield from _default(use, subject)
        elif use.operator == "=" and use.through is None:
            yield from _whole_output(use, subject)
    for use in _compared(subject):
        yield from _literal(use, subject)


def _default(use: Use, subject: Subject) -> Iterator[Diagnostic]:
    """`path !~ root`, where `root` is a folder by default: nothing in it is allowed."""
    found = subject.policy.module.find(use.operand.text) if isinstance(use.operand, tree.Name) else None
    given = found[1].default if found is not None and isinstance(found[1], tree.Param) else None
    text = glob(given) if isinstance(given, tree.String) else None
    if text is None or set(text) & set("*?\\") or not says_what_may_be(use):
        return
    if "/" in text and "." in text.rpartition("/")[2]:
        return  # a file
    if (inside := _inside(use, text)) is not None and use.field is not None and not amiss(use, text, subject):
        yield Diagnostic.of(
            "VGL318",
            f"the default has no wildcard: it allows `{text}` itself, and nothing in it",
            subject.policy.module.source,
            use.operand.span,
            help=inside,
        )


def _whole_output(use: Use, subject: Subject) -> Iterator[Diagnostic]:
    """`test.run(output = "FAILED")`: what such a program prints is more than a word."""
    if use.field is None or use.field.kind != "output" or use.field.views or not isinstance(use.operand, tree.String):
        return
    text, actions = value(use.operand), actions_of(use, subject)
    if text is None or "\n" in text or not text.strip() or not actions or not actions <= _OF_LINES:
        return
    written = f"contains {quote(text)}"
    yield Diagnostic.of(
        "VGL318",
        f"`=` compares the whole output: with anything besides `{text}` it is not equal",
        subject.policy.module.source,
        use.operand.span,
        help=f"to look for it anywhere in the output, write `output {written}`",
        fix=Fix(f"write `{written}`", (Edit(Span(use.field.span.end, use.operand.span.end), f" {written}"),)),
    )


def _compared(subject: Subject) -> Iterator[Use]:
    """The tests that compare whole texts, those of `where` too."""
    for use in subject.parts.uses:
        if (use.operator in _WHOLE or use.operator == "contains") and use.through is None:
            yield use
    for statement in subject.policy.statements:
        for _, test, _ in () if statement.syntax.where is None else tests_with_parents(statement.syntax.where, None):
            if test.operator in _WHOLE:
                yield Use(statement.syntax, test, test.field, test.operator, test.operand)


def _literal(use: Use, subject: Subject) -> Iterator[Diagnostic]:
    field, module = use.field, subject.policy.module
    free = field is not None and _is_free(field)
    if field is not None and (field.kind == "output" or field.name.lower() in _OF_GLOBS):
        return
    if free and (field is None or field.name.rpartition(".")[2] not in _COMMANDS):
        return
    if compared_regex(use) is not None:
        return  # VGL329
    if field is None and isinstance(use.operand, tree.String) and family_meant(value(use.operand) or "") is not None:
        return  # VGL308
    of_path = field is not None and not field.views and field.name in ROLES
    looks = _CONTAINED if free else _PATH_GLOB if of_path else _GLOB
    text = next((text for text in _written(use.operand, module) if looks.fullmatch(text)), None)
    if text is None or (field is not None and _has_value(field.name, text, subject)):
        return
    word = "!~" if use.operator in ("!=", "not in") else "~"
    compares = "looks for a text as it is" if use.operator == "contains" else "compares whole texts"
    start = use.expr.span.start + len("action") if field is None else field.span.end
    edit = Edit(Span(start, use.operand.span.start), f" {word} ")
    if use.operator == "contains" and isinstance(use.operand, tree.String) and not text.startswith("*"):
        edit = Edit(Span(start, use.operand.span.end), f" {word} {quote(f'*{text}')}")
    yield Diagnostic.of(
        "VGL318",
        f"`{use.operator}` {compares}: the `*` of `{text}` is no wildcard here",
        module.source,
        use.operand.span,
        help=f"globs are matched by `{word}`, those of a set too",
        fix=Fix(f"write `{edit.text.strip()}`", (edit,)),
    )


def _written(operand: Operand, module: Module) -> Iterator[str]:
    """The texts of an operand, those of the sets and texts it names too."""
    waiting: list[object] = [operand]
    for _ in range(_MOST_NAMES):
        if not waiting:
            return
        found = waiting.pop()
        yield from (text for string in texts(found) if (text := value(string)) is not None)
        names = found.parts if isinstance(found, tree.SetUnion) else (found,)
        for name in names:
            declared = module.find(name.text) if isinstance(name, tree.Name) else None
            if declared is not None and isinstance(declared[1], tree.Let) and declared[0] is module:
                waiting.append(declared[1].value)


def _is_free(field: tree.Field) -> bool:
    """Whether values of a field are mostly prose, code or command lines; what a view takes out of them is not."""
    return is_free(field.name) and not field.views


def _has_value(name: str, text: str, subject: Subject) -> bool:
    actions = () if subject.signature is None else subject.signature.actions.values()
    return any(text in (action.args[name].values or ()) for action in actions if name in action.args)


def _finding(use: Use, text: str, subject: Subject, *, free: bool) -> Diagnostic:
    module = subject.policy.module
    name = "the action's name" if use.field is None else f"`{field_text(use.field)}`"
    like = _LIKE.fullmatch(text)
    starred = quote(f"*{text}*" if like is None else f"*{like[2]}" if like[2] else f"*{like[1]}*")
    equal = "=" if use.operator == "~" else "!="
    shown = element(text, use, module) if use.field is None else quote(text)
    written = shown if use.through is not None else f"{equal} {shown}"
    fix = None
    allowed = use.field is not None and says_what_may_be(use)
    inside = _inside(use, text) if allowed else None
    if isinstance(use.operand, tree.String):
        if free or like:
            fix = Fix(f"write `{starred}`", (Edit(use.operand.span, starred),))
        elif use.field is None:
            fix = Fix(f"write `action {written}`", (Edit(use.expr.span, f"action {written}"),), safe=True)
        elif inside is None:  # else what is in the folder or below the domain may be meant as well
            span = Span(use.field.span.end, use.operand.span.end)
            fix = Fix(f"write `{written}`", (Edit(span, f" {written}"),), safe=True)
    return Diagnostic.of(
        "VGL318",
        f"a glob without a wildcard: {name} must be exactly `{text}`",
        module.source,
        use.operand.span,
        help=inside
        or f"write `{starred}` for a text that contains it" + ("" if use.through or like else f", or `{written}`"),
        fix=fix,
    )


def _inside(use: Use, text: str) -> str | None:
    """What a folder or a domain that may be used most often was meant to take in."""
    if use.field is None:
        return None
    if use.field.name in ROLES and not use.field.views:
        return f"what is in a folder is `{quote(f'{text}/*')}`"
    is_host = use.field.name == "host" or any(view.name.text == "host" for view in use.field.views)
    both = f"{{{quote(text)}, {quote(f'*.{text}')}}}"
    return f"a domain and what is below it are `{both}`" if is_host else None


def _is_unknown(use: Use, text: str, subject: Subject) -> bool:
    """Whether the signature's values tell that the glob matches none of them, which is VGL406."""
    signature, item = subject.signature, use.item
    if signature is None or not signature.actions:
        return False
    if signature.origin != "declared" and (not isinstance(item, tree.Statement) or _may_forbid(item)):
        # What runs do not show is no mistake where it is forbidden, unless they show it as a part of values.
        plain = use.field is not None and use.field.kind != "output" and not use.field.views
        values = _values(use.field.name, signature) if plain and use.field is not None else []
        return _is_none_of(text, values) and any(text in value for each in values for value in each or ())
    if use.field is None:
        return not matches_any(Glob(text), signature.names())
    if use.field.views:
        return False
    if use.field.kind == "output":
        return signature.outputs is not None and not matches_any(Glob(text), signature.outputs)
    return _is_none_of(text, _values(use.field.name, signature))


def _values(name: str, signature: Signature) -> list[frozenset[str] | None]:
    return [action.args[name].values for action in signature.actions.values() if name in action.args]


def _is_none_of(text: str, known: list[frozenset[str] | None]) -> bool:
    return bool(known) and all(values is not None and text not in values for values in known)


def _may_forbid(statement: tree.Statement) -> bool:
    form = FORMS.get(statement.form.name)
    return form is None or "forbidden" in form.roles
