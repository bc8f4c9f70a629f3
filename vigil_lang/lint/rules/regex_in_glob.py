"""VGL329: a regular expression in quotation marks (`command ~ "^rm .*"`), matched as a glob or as a whole text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Diagnostic, Edit, Fix, Span
from vigil_lang.lint.literal_texts import field_text, glob, glob_of, held, is_free, texts, value
from vigil_lang.lint.paths import ROLES, amiss
from vigil_lang.lint.rules.operator_in_text import holds_operator
from vigil_lang.semantics.text_patterns import Expression, predicate, quote
from vigil_lang.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.lint.policy_parts import Use
    from vigil_lang.lint.subject import Subject

_ANCHORED = re.compile(r"\^.*[\w)].*|.*[\w)\]+*]\$", re.DOTALL)
_SURROUNDED = re.compile(r"\.[*+].*\w.*\.[*+]", re.DOTALL)
_GROUP = re.compile(r"\([^()]*\|[^()]*\)|\(\?|\][+*]|\[[a-z]-[a-z]|\[0-9\]|\\[dsw][+*]|\w\\\.\.[+*]|\.[+*]\\\.")
_BETWEEN = re.compile(r"[\w)]\.[*+][\w\s(-]")
_BEGINS = re.compile(r"\.\*.*\\\.\w+", re.DOTALL)
_STAR_OF_A_GLOB = re.compile(r"(?:^|[^.\])dswDSW]|(?<!\\)[dswDSW])\*")
_BETWEEN_SLASHES = "a regular expression stands between slashes, `/…/`, where `.*` is any text"
_ALTERNATIVES = re.compile(r"[^*|\s](?:[^*|]*[^*|\s])?(?:\|[^*|\s](?:[^*|]*[^*|\s])?)+")
_CHOICE = re.compile(r"\{(?P<braces>[\w.*-]+(?:,[\w.*-]+)+)\}|@?\((?P<group>[\w.*-]+(?:\|[\w.*-]+)+)\)")
"""A part of a glob of a shell with alternatives in it: `*.{env,pem}`, `*.(env|pem)`."""
_PIPED = re.compile(r"[^|\s(){}]*\*[^|\s(){}]*(?:\|[^|\s(){}]*\*[^|\s(){}]*)+")
"""Globs with `|` between, as `case` of a shell has them."""
_MOST_GLOBS = 16
_OF_AN_EXPRESSION = re.compile(r"\.[*+]|[\\^$|()]|\][+{]")
"""What no glob of a shell has."""
_REPEATED_CLASS = re.compile(r"\]\*(?!\.\w)")
"""Any number of some letters in an expression, one of them and any text in a glob."""
_CLASS = re.compile(r"(?P<head>[^\[\]{}()\\]*\.)\[(?P<letters>[A-Za-z0-9]{2,6})\](?P<tail>[\w.*]*)")
"""A class of letters in an extension, `*.[ch]`; elsewhere brackets may be a part of a name, as in `app/[slug]/page`."""
_NEGATED = re.compile(r"!(?=[^!]*[*.])(?P<open>\()?(?P<glob>[\w*./~-]+)(?(open)\))")
_HIDDEN = re.compile(r"\.[A-Za-z]\w*\$?")
"""An expression that is a file's extension, or the name of a hidden file."""
_FOLDERS = re.compile(r"\^?(?:\\/[\w-]+)+\\/\*")
_FOLDERS_BETWEEN = re.compile(r"(?<=[^*])/(?:\*\*+/)+")
_ELLIPSIS = re.compile(r"(?:^|(?<=[ (,]))\.\.\. | \.\.\.(?:$|(?=[),]))|(?<=[(,])\.\.\.(?=[),])")
_OF_PROGRAMS = frozenset({"command", "code", "program_text", "query"})
_WORD_BOUNDARIES = re.compile(r"(?<!\w)\\b\w+\\b(?!\w)")
_PLAIN = frozenset({"command", "program", "host", "url", "file_path"}) | ROLES
"""Arguments whose values are hardly regular expressions themselves."""


def find(subject: Subject) -> Iterator[Diagnostic]:
    """The texts that only make sense as regular expressions, or as the globs of a shell."""
    for use in subject.parts.uses:
        if use.through is not None:
            continue
        if isinstance(use.operand, tree.Regex):
            yield from _glob_in_slashes(use, use.operand, subject)
            continue
        if use.operator in ("~", "!~"):
            text = glob_of(use, subject.policy.module)
            if text is None:
                for string, replaceable in held(use, subject.policy.module):
                    yield from _element(use, string, subject, replaceable=replaceable)
            elif is_ellipsis(use, text):
                yield _ellipsis(use, text, subject)
            elif is_negated(use, text):
                yield _not(use, text, subject)
            elif listed := alternatives(use, text):
                yield _listed(use, text, listed, subject)
            elif is_regex(use, text):
                yield _matched(use, text, subject)
            elif (either := folders_between(use, text)) and amiss(use, text, subject) is None:
                yield _doubled(use, text, either, subject)
        elif (text := compared_regex(use)) is not None:
            yield _compared(use, text, subject)


def _glob_in_slashes(use: Use, regex: tree.Regex, subject: Subject) -> Iterator[Diagnostic]:
    """`/.env$/` and `/\\/tmp\\/*/`: signs that mean something else in a regular expression of a path."""
    if use.field is None or use.field.name not in ROLES or use.field.views:
        return
    fix = None
    if _HIDDEN.fullmatch(regex.raw):
        sign, help_text = "`.` is any character", f"a dot is written `\\.`: `/\\{regex.raw}/`"
        fix = Fix(f"write `/\\{regex.raw}/`", (Edit(Span(regex.span.start + 1, regex.span.start + 1), "\\"),))
    elif regex.raw.endswith("\\/*"):
        sign = "`\\/*` is any number of slashes"
        meant = quote(regex.raw.removeprefix("^").replace("\\/", "/"))
        help_text = "any text is `.*`"
        if _FOLDERS.fullmatch(regex.raw):
            help_text += f"; a glob stands in double quotes: `{meant}`"
            fix = Fix(f"write `{meant}`", (Edit(regex.span, meant),))
    else:
        return
    yield Diagnostic.of(
        "VGL329",
        f"{_name(use)} is matched with the expression `/{regex.raw}/`, in which {sign}",
        subject.policy.module.source,
        regex.span,
        help=help_text,
        fix=fix,
    )


def _element(use: Use, string: tree.String, subject: Subject, *, replaceable: bool) -> Iterator[Diagnostic]:
    """The finding of one glob among others."""
    text = glob(string)
    if text is None:
        return
    help_text, written = "", None
    if is_negated(use, text):
        help_text = f"what is left out is a test of its own: `{_name(use)[1:-1]} !~ {quote(_left_out(text))}`"
    elif listed := alternatives(use, text):
        written = ", ".join(map(quote, listed))
        help_text = f"alternatives are globs of their own: `{written}`"
    elif is_regex(use, text):
        written = _written(text)
        help_text = f"a regular expression stands between slashes: `{written}`" if written else _BETWEEN_SLASHES
    elif (either := folders_between(use, text)) and amiss(use, text, subject) is None:
        written = ", ".join(map(quote, either))
        help_text = f"`*` runs over `/`: `{written}`"
    if help_text:
        signs = "`!` stands for itself" if text[:1] == "!" else "only `*` and `?` are special"
        yield Diagnostic.of(
            "VGL329",
            f"{_name(use)} is matched with the glob `{text}`, in which {signs}",
            subject.policy.module.source,
            string.span,
            help=help_text,
            fix=Fix(f"write `{written}`", (Edit(string.span, written),))
            if written is not None and replaceable
            else None,
        )


def _matched(use: Use, text: str, subject: Subject) -> Diagnostic:
    written = _written(text)
    fix = None
    if type(use.operand) is tree.String and written is not None:
        fix = Fix(f"write `{written}`", (Edit(use.operand.span, written),))
    return Diagnostic.of(
        "VGL329",
        f"{_name(use)} is matched with the glob `{text}`, in which only `*` and `?` are special",
        subject.policy.module.source,
        use.operand.span,
        help=f"a regular expression stands between slashes: `{written}`" if fix else _BETWEEN_SLASHES,
        fix=fix,
    )


def _listed(use: Use, text: str, listed: list[str], subject: Subject) -> Diagnostic:
    written = "{" + ", ".join(map(quote, listed)) + "}"
    fix = Fix(f"write `{written}`", (Edit(use.operand.span, written),)) if type(use.operand) is tree.String else None
    return Diagnostic.of(
        "VGL329",
        f"{_name(use)} is matched with the glob `{text}`, in which only `*` and `?` are special",
        subject.policy.module.source,
        use.operand.span,
        help=f"alternatives are globs of their own: `{written}`",
        fix=fix,
    )


def _doubled(use: Use, text: str, either: list[str], subject: Subject) -> Diagnostic:
    written = quote(either[0]) if len(either) == 1 else "{" + ", ".join(map(quote, either)) + "}"
    fix = Fix(f"write `{written}`", (Edit(use.operand.span, written),)) if type(use.operand) is tree.String else None
    return Diagnostic.of(
        "VGL329",
        f"{_name(use)} is matched with the glob `{text}`, in which `/**/` needs a folder in between",
        subject.policy.module.source,
        use.operand.span,
        help=f"`*` runs over `/`: `{written}`",
        fix=fix,
    )


def _not(use: Use, text: str, subject: Subject) -> Diagnostic:
    sign = "!~" if use.operator == "~" else "~"
    written = f"{sign} {quote(_left_out(text))}"
    fix = None
    if type(use.operand) is tree.String and use.field is not None:
        fix = Fix(f"write `{written}`", (Edit(Span(use.field.span.end, use.operand.span.end), f" {written}"),))
    return Diagnostic.of(
        "VGL329",
        f"{_name(use)} is matched with the glob `{text}`, in which `!` stands for itself",
        subject.policy.module.source,
        use.operand.span,
        help=f"what a glob does not match is `{written}`",
        fix=fix,
    )


def is_ellipsis(use: Use, text: str) -> bool:
    """Whether `...` stands for any text in a glob of a command line or of code, as in other tools."""
    free = use.field is not None and use.field.kind != "output" and use.field.name in _OF_PROGRAMS
    return free and _ELLIPSIS.search(text) is not None


def _ellipsis(use: Use, text: str, subject: Subject) -> Diagnostic:
    written = quote(_ELLIPSIS.sub("*", text))
    fix = Fix(f"write `{written}`", (Edit(use.operand.span, written),)) if type(use.operand) is tree.String else None
    return Diagnostic.of(
        "VGL329",
        f"{_name(use)} is matched with the glob `{text}`, in which `...` stands for itself",
        subject.policy.module.source,
        use.operand.span,
        help=f"any text is `*`: `{written}`",
        fix=fix if "\\" not in text else None,
    )


def is_negated(use: Use, text: str) -> bool:
    """Whether a glob is one that lists of files to be ignored take for an exception."""
    return use.field is not None and use.field.name in ROLES and _NEGATED.fullmatch(text) is not None


def _compared(use: Use, text: str, subject: Subject) -> Diagnostic:
    sign, regex = "~" if use.operator in ("=", "in") else "!~", f"/{_escaped(text)}/"
    fix = None
    if type(use.operand) is tree.String and use.field is not None:
        written = f"{sign} {regex}"
        fix = Fix(f"write `{written}`", (Edit(Span(use.field.span.end, use.operand.span.end), f" {written}"),))
    return Diagnostic.of(
        "VGL329",
        f"`{use.operator}` compares whole texts: nothing in `{text}` is special here",
        subject.policy.module.source,
        use.operand.span,
        help=f"a regular expression is matched by `{sign}`, and stands between slashes: `{regex}`",
        fix=fix,
    )


def alternatives(use: Use, text: str) -> list[str] | None:
    """The globs that one with alternatives stands for in a shell; None where its signs may stand for themselves."""
    of_path = use.field is not None and use.field.name in ROLES
    if of_path and "[" in text and (found := _CLASS.fullmatch(text)) is not None:
        return [f"{found['head']}{letter}{found['tail']}" for letter in dict.fromkeys(found["letters"])]
    if use.field is not None and (use.field.kind == "output" or is_free(use.field.name)):
        return None
    if _PIPED.fullmatch(text):
        return text.split("|")
    choice = ("{" in text or "(" in text) and ("*" in text or (of_path and text[:1] in "/~")) and "\\" not in text
    if not choice or set(_CHOICE.sub("", text)) & set("{}()|,"):
        return None
    globs, at = [""], 0
    for found in _CHOICE.finditer(text):
        inside = re.split(r"[,|]", found["braces"] or found["group"])
        globs = [f"{one}{text[at : found.start()]}{each}" for one in globs for each in inside]
        at = found.end()
        if len(globs) > _MOST_GLOBS:
            return None
    return [f"{one}{text[at:]}" for one in globs] if at else None


def folders_between(use: Use, text: str) -> list[str]:
    """The globs that say what `src/**/*.ts` says to a shell: any number of folders in between, and none as well."""
    if use.field is None or use.field.name not in ROLES or (found := _FOLDERS_BETWEEN.search(text)) is None:
        return []
    before, behind = text[: found.start()], text[found.end() :]
    if _FOLDERS_BETWEEN.search(behind):
        return []
    return [f"{before}/{behind}"] if behind.startswith("*") else [f"{before}/{behind}", f"{before}/*/{behind}"]


def compared_regex(use: Use) -> str | None:
    """The text of an equality or a set that only makes sense as a regular expression."""
    if use.operator not in ("=", "!=", "in", "not in") or use.field is None or use.field.name not in _PLAIN:
        return None
    for string in texts(use.operand):
        text = value(string) if ".*" in string.raw or ".+" in string.raw else None
        if text is not None and (_SURROUNDED.fullmatch(text) or _BEGINS.fullmatch(text)) and _is_valid(text):
            return text
    return None


def is_regex(use: Use, text: str) -> bool:
    """Whether a glob only makes sense as a regular expression, and is a valid one but for the stars at its ends."""
    free = use.field is not None and (use.field.kind == "output" or is_free(use.field.name))
    text = _unescaped(text)
    meant = (
        _ANCHORED.fullmatch(text) is not None
        or _SURROUNDED.fullmatch(text) is not None
        or _GROUP.search(text) is not None
        or (free and (_BETWEEN.search(text) is not None or _WORD_BOUNDARIES.search(text) is not None))
        or (_ALTERNATIVES.fullmatch(text) is not None and holds_operator(use, text) is None)
    )
    return meant and "\n" not in text and (_is_valid(text.lstrip("*")) or _is_valid(text.strip("*")))


def _is_valid(text: str) -> bool:
    try:
        predicate(Expression(_escaped(text), False))
    except ValueError:
        return False
    return True


def _written(text: str) -> str | None:
    """The expression between slashes; None where a glob of a shell may be meant, or is in part."""
    plain = _unescaped(text)
    if _OF_AN_EXPRESSION.search(plain):
        return None if _STAR_OF_A_GLOB.search(text) else f"/{_escaped(plain)}/"
    if _REPEATED_CLASS.search(plain):
        return None
    signs = {"*": ".*", "?": ".", ".": r"\.", "+": r"\+", "/": r"\/"}
    inside = re.split(r"(\[[^\]]*\])", plain)
    return (
        f"/^{''.join(part if at % 2 else ''.join(signs.get(c, c) for c in part) for at, part in enumerate(inside))}$/"
    )


def _left_out(text: str) -> str:
    """What a glob such as `!*.md` or `!(*.md)` leaves out."""
    found = _NEGATED.fullmatch(text)
    return text if found is None else found["glob"]


def _escaped(text: str) -> str:
    """A regular expression without slashes that would end it."""
    return re.sub(r"(?<!\\)((?:\\\\)*)/", r"\1\/", text)


def _unescaped(text: str) -> str:
    """A glob with every backslash that stands for itself written once."""
    return text.replace("\\\\", "\\")


def _name(use: Use) -> str:
    return "the action's name" if use.field is None else f"`{field_text(use.field)}`"
