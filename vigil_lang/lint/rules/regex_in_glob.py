"""VGL329: a regular expression in quotation marks (`command ~ "^rm .*"`), which is matched as a glob."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Diagnostic, Edit, Fix
from vigil_lang.lint.literal_texts import field_text, glob_of, is_free
from vigil_lang.lint.rules.operator_in_text import holds_operator
from vigil_lang.semantics.text_patterns import Expression, predicate
from vigil_lang.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.lint.policy_parts import Use
    from vigil_lang.lint.subject import Subject

_ANCHORED = re.compile(r"\^.*[\w)].*|.*[\w)\]+*]\$", re.DOTALL)
_SURROUNDED = re.compile(r"\.[*+].*\w.*\.[*+]", re.DOTALL)
_GROUP = re.compile(r"\([^()]*\|[^()]*\)|\(\?|\][+*]|\[[a-z]-[a-z]|\[0-9\]")
_BETWEEN = re.compile(r"[\w)]\.[*+][\w\s(-]")
_STAR_OF_A_GLOB = re.compile(r"(?:^|[^.\])])\*")
_BETWEEN_SLASHES = "a regular expression stands between slashes, `/…/`, where `.*` is any text"
_ALTERNATIVES = re.compile(r"[^*|\s](?:[^*|]*[^*|\s])?(?:\|[^*|\s](?:[^*|]*[^*|\s])?)+")


def find(subject: Subject) -> Iterator[Diagnostic]:
    """The texts after `~` that only make sense as regular expressions."""
    for use in subject.parts.uses:
        if use.operator not in ("~", "!~") or type(use.operand) is tree.Regex or use.through is not None:
            continue
        text = glob_of(use, subject.policy.module)
        if text is None or not is_regex(use, text):
            continue
        written = "/" + text.replace("/", "\\/") + "/"
        name = "the action's name" if use.field is None else f"`{field_text(use.field)}`"
        fix = None
        if type(use.operand) is tree.String and _STAR_OF_A_GLOB.search(text) is None:
            fix = Fix(f"write `{written}`", (Edit(use.operand.span, written),))
        yield Diagnostic.of(
            "VGL329",
            f"{name} is matched with the glob `{text}`, in which only `*` and `?` are special",
            subject.policy.module.source,
            use.operand.span,
            help=f"a regular expression stands between slashes: `{written}`" if fix else _BETWEEN_SLASHES,
            fix=fix,
        )


def is_regex(use: Use, text: str) -> bool:
    """Whether a glob only makes sense as a regular expression, and is a valid one."""
    free = use.field is not None and (use.field.kind == "output" or is_free(use.field.name))
    meant = (
        _ANCHORED.fullmatch(text) is not None
        or _SURROUNDED.fullmatch(text) is not None
        or _GROUP.search(text) is not None
        or (free and _BETWEEN.search(text) is not None)
        or (_ALTERNATIVES.fullmatch(text) is not None and holds_operator(use, text) is None)
    )
    if not meant or "\n" in text:
        return False
    try:
        predicate(Expression(text.replace("/", "\\/"), False))
    except ValueError:
        return False
    return True
