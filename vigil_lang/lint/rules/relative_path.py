"""VGL319: paths and globs that no absolute path matches: `src/*.py`, `~ann/.ssh/*`, `/etc/`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Diagnostic, Edit, Fix, Span
from vigil_lang.lint.literal_texts import glob, held, texts, value
from vigil_lang.lint.paths import ROLES, amiss, fault_of, regex_amiss
from vigil_lang.lint.policy_parts import says_what_may_be
from vigil_lang.lint.rules.regex_in_glob import alternatives, compared_regex, folders_between, is_negated, is_regex
from vigil_lang.semantics.text_patterns import quote
from vigil_lang.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.lint.paths import Fault
    from vigil_lang.lint.policy_parts import Use
    from vigil_lang.lint.subject import Subject

_NAMES = ROLES | {"file_path", "notebook_path"}
_HELP: dict[Fault, str] = {
    "relative": "the paths of events are absolute: begin with `/`, or with `*/` for any directory",
    "home": "a call may as well name such a file by its absolute path; `~/` stands for the home of any user",
    "backslash": "the paths of events have `/` between their parts, on Windows too: `C:/temp/x`",
    "escape": "`\\t` is a tab in quotation marks, and `\\n` ends a line; the paths of events have `/`: `C:/temp/x`",
    "url": "an event has the path alone, also where a call was given an address of a file",
    "not normal": "the paths of events have no `//`, no `/./` or `/../`, and no `/` at the end",
}
_OF_WHAT_MAY_BE = "the paths of events are absolute: begin with the folder that may be used, such as `/srv/app/`"
_ANCHORED = r"the paths of events are absolute: begin with `^\/`, or with `(^|\/)` for a file in any directory"
_NAME_FIRST = re.compile(r"\^(?:\w|\\\.\w)")
_AND_BACK = re.compile(r"/(?!\.\.?/)[^/*?]+/\.\.(?=/|$)")
"""A folder and the way out of it."""
_OF_A_HOME = re.compile(r"\^?~\\/")
_HOME_IN_A_GLOB = 'a home folder is `~/` only where nobody knows it; a glob stands for both: `~ "~/.ssh/*"`'
_WAY_OUT = re.compile(r"(?:^|/)\.\./|/\./")
_VARIABLE = re.compile(r"[a-z][0-9]?")
"""What variables are mostly called, and files hardly."""
_OF_A_SHARE = re.compile(r"(?://|\\{2,4})[^/\\]")
"""As Windows names a folder of another machine, which no path of this one is."""
_START = re.compile(r"(?:~[^/]*/|\.{1,2}/)+")


def find(subject: Subject) -> Iterator[Diagnostic]:
    """The texts and expressions that miss the paths they are held against."""
    source = subject.policy.module.source
    for use in subject.parts.uses:
        if use.field is None or use.field.name not in _NAMES:
            continue
        if use.operator == "contains":
            yield from _out_of_a_folder(use, subject)
            continue
        if isinstance(use.operand, tree.Regex):
            if _OF_A_HOME.match(use.operand.raw) and amiss(use, "~ann/x", subject) is not None:
                message = "this regular expression misses absolute paths"
                yield Diagnostic.of("VGL319", message, source, use.operand.span, help=_HOME_IN_A_GLOB)
            elif regex_amiss(use, use.operand, subject):
                message = "no absolute path matches this regular expression"
                help_text = _HELP["backslash"] if r"\\" in use.operand.raw else _ANCHORED
                fix = _from_any_folder(use.operand) if help_text is _ANCHORED else None
                yield Diagnostic.of("VGL319", message, source, use.operand.span, help=help_text, fix=fix)
            continue
        if compared_regex(use) is not None:
            continue  # VGL329
        for string, replaceable in held(use, subject.policy.module):
            text = glob(string) if "~" in use.operator else value(string)
            if text is None or ("~" in use.operator and _is_said_elsewhere(use, text)):
                continue
            fault = amiss(use, text, subject)
            if fault is not None:
                message = f"no absolute path matches `{text}`" if fault != "home" else f"`{text}` misses absolute paths"
                ends = fault == "not normal" and text.endswith("/")
                help_text = _help_of_folder(text) if ends else _HELP[fault]
                fix = _fix(use, string, text) if replaceable and not ends else None
                if fault == "relative" and says_what_may_be(use):
                    help_text = _OF_WHAT_MAY_BE
                if fault == "relative" and (others := _quoted_variable(use, text, subject)):
                    if others[0] is not use:
                        continue  # the first of them says so
                    help_text = f"a variable has no quotes: `{use.field.name} = {text}`"
                    fix = Fix(f"write `{text}`", tuple(Edit(each.operand.span, text) for each in others))
                yield Diagnostic.of("VGL319", message, source, string.span, help=help_text, fix=fix)


def _quoted_variable(use: Use, text: str, subject: Subject) -> list[Use]:
    """The tests for one word in several calls of an item: it was to have one value in them, whichever."""
    if use.operator != "=" or use.through is not None or not _VARIABLE.fullmatch(text):
        return []
    if subject.policy.module.find(text) is not None:
        return []
    found = [
        each
        for each in subject.parts.uses
        if each.item is use.item
        and each.operator == "="
        and each.through is None
        and each.field is not None
        and isinstance(each.operand, tree.String)
        and each.operand.raw == text
    ]
    found.sort(key=lambda each: each.operand.span.start)
    return found if len(found) > 1 else []


def _out_of_a_folder(use: Use, subject: Subject) -> Iterator[Diagnostic]:
    """`path contains "../"`: an event has the path without a way out of a folder."""
    for string in texts(use.operand):
        text = value(string)
        if text is not None and _WAY_OUT.search(text) and amiss(use, "/a/../b", subject) is not None:
            message = f"no absolute path contains `{text}`"
            help_text = f'{_HELP["not normal"]}; outside of a folder is `!~ "/folder/*"`'
            yield Diagnostic.of("VGL319", message, subject.policy.module.source, string.span, help=help_text)


def _from_any_folder(regex: tree.Regex) -> Fix | None:
    """`/(^|\\/)\\.env$/` for `/^\\.env$/`, where what follows is the beginning of a name."""
    if _NAME_FIRST.match(regex.raw) is None or "|" in regex.raw:
        return None
    written = f"/(^|\\/){regex.raw[1:]}/{'i' if regex.ignore_case else ''}"
    return Fix(f"write `{written}`", (Edit(regex.span, written),))


def _is_said_elsewhere(use: Use, text: str) -> bool:
    """Whether VGL329 speaks of a glob."""
    return is_regex(use, text) or is_negated(use, text) or alternatives(use, text) is not None


def _help_of_folder(text: str) -> str:
    """A folder or what is in it may be meant: no fix tells."""
    folder = _normal(text)
    return f"what is in the folder is matched by `~ {quote(f'{folder}/*')}`; the folder itself is `{quote(folder)}`"


def _fix(use: Use, string: tree.String, text: str) -> Fix | None:
    """The path in any directory, where it was relative; else as it is written without what events never have."""
    fault = fault_of(text)
    if fault == "escape" or _OF_A_SHARE.match(text) or (fault == "home" and "/" not in text):
        return None  # what was meant, nobody can tell
    if fault == "backslash":
        text = re.sub(r"\\+", "/", text)
    elif fault == "url":
        text = re.sub(r"^file://(?:localhost(?=/))?", "", text, flags=re.IGNORECASE)
    rest = _normal(text)
    if not rest.strip("*?/"):
        return None
    if either := folders_between(use, rest):
        if len(either) > 1:
            return None
        (rest,) = either
    left = fault_of(rest)
    if left == "not normal":
        return None
    if left is None:
        return Fix(f"write `{quote(rest)}`", (Edit(string.span, _quoted(rest, use)),))
    if says_what_may_be(use):
        return None  # in any directory is more than was meant
    if "~" in use.operator:
        return Fix(f'write `"*/{rest}"`', (Edit(string.span, _quoted(f"*/{rest}", use)),))
    if string is use.operand and use.through is None and use.field is not None and use.operator in ("=", "!="):
        escaped = re.sub(r"[*?\\]", r"\\\g<0>", rest)
        written = f"{'~' if use.operator == '=' else '!~'} {_glob_literal(f'*/{escaped}')}"
        return Fix(f"write `{written}`", (Edit(Span(use.field.span.end, string.span.end), f" {written}"),))
    return None


def _normal(text: str) -> str:
    """Without what normalising takes out of a path, and without what stands for a directory at its beginning."""
    found = _START.sub("", text, count=1) if _START.match(text) else text
    found = re.sub(r"(?:/\.)+(?=/|$)", "", found)
    while (shorter := _AND_BACK.sub("", found, count=1)) != found:
        found = shorter
    return re.sub(r"/{2,}", "/", found).rstrip("/") or "/"


def _quoted(text: str, use: Use) -> str:
    return _glob_literal(text) if "~" in use.operator else quote(text)


def _glob_literal(glob: str) -> str:
    """A string literal that denotes a glob: `\\*` is written as it is."""
    return re.sub(r"\\\\([*?\\])", r"\\\1", quote(glob))
