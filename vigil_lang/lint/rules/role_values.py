"""VGL330: values that a role of the vocabulary never has: `program = "/bin/rm"`, `host = "https://evil.example"`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from vigil_lang.diagnostics import Diagnostic, Edit, Fix, Span
from vigil_lang.lint import command_words, paths
from vigil_lang.lint.literal_texts import glob, held, value
from vigil_lang.semantics.text_patterns import quote
from vigil_lang.syntax import tree
from vigil_lang.trace.values import canonical, number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from vigil_lang.lint.policy_parts import Use
    from vigil_lang.lint.subject import Subject


class Never(NamedTuple):
    """Why a role never has a value, what to do, and the value that was meant, or the field and the value.

    Where the field is the empty text, the value is what stands in the place of the whole test.
    """

    why: str
    help: str
    meant: str | None = None
    field: str | None = None
    often: str = "never"


_VARIABLE = re.compile(
    r"(?P<name>\$\{?\w+\}?|%[A-Za-z_]\w*%|\$\([^()]*\)|`[^`]*`|\{\{ ?[\w.-]+ ?\}\}|\{[\w.-]+\}|<[\w .-]+>)(?=[/\\]|$)"
)
"""What stands for a folder in other notations: variables, commands, and placeholders of templates."""
_HOME = frozenset({"$HOME", "${HOME}", "%USERPROFILE%"})
_TEXTS = frozenset({"=", "!=", "in", "not in", "~", "!~"})
_ORDERS = frozenset({"<", "<=", ">", ">="})
_PORT = re.compile(r"[^:]+:(?:[0-9]+|\*)")
_PINNED = re.compile(r"(?P<name>@?[^@=<>~!*?\s]+)(?:===?|[<>~!]=|@)[\w.*+-]+")
_VALUED = re.compile(r"--?[A-Za-z][\w-]*=.*", re.DOTALL)
_OPTION = re.compile(r"--?[A-Za-z][\w-]*")
_DASH = re.compile(r"[‐-―−]{1,2}(?=[A-Za-z])")
SWITCHES = frozenset(
    ["force", "amend", "recursive", "dry-run", "no-verify", "hard", "all", "global", "verbose", "quiet"]
)
"""Options that take no value in any program."""
YES = frozenset({"yes", "on", "1"})
NO = frozenset({"no", "off", "0", "false"})
_IN_BRACES = re.compile(r"\$?\{([A-Za-z_]\w*)\}")
_OF_A_SHELL = re.compile(r"\$\{?(?P<name>[\w*?]+)\}?|%(?P<percent>[\w*?]+)%")


def find(subject: Subject) -> Iterator[Diagnostic]:
    """Texts that no event of a kind has under a role, in tests of events whose kind the policy names."""
    for use in subject.parts.uses:
        if use.field is None or use.field.kind == "output" or use.field.views or use.operator == "contains":
            continue
        if (
            use.field.name == "version"
            and use.operator in _ORDERS
            and not use.field.views
            and _is_of_kinds(use, subject)
        ):
            yield _ordered_version(use, subject)
        if use.operator not in _TEXTS:
            continue
        if (found := _switched(use)) is not None and _is_of_kinds(use, subject):
            yield _finding(use, *found, subject)
        matched = use.operator in ("~", "!~")
        for string, replaceable in held(use, subject.policy.module):
            text = glob(string) if matched else value(string)
            never = None if text is None else _interpolated(use, text, subject) or _why_never(use, text, subject)
            if text is not None and never is not None:
                yield _finding(use, string, text, never if replaceable else never._replace(meant=None), subject)


def _interpolated(use: Use, text: str, subject: Subject) -> Never | None:
    """`target = "{x}.bak"`, where `x` is a variable: only what a violation says has values put in."""
    if "{" not in text or use.through is not None or not _is_of_kinds(use, subject):
        return None
    statement = next((one for one in subject.policy.statements if one.syntax is use.item), None)
    variables = () if statement is None else statement.requirement.variables
    found = next((one[1] for one in _IN_BRACES.finditer(text) if one[1] in variables), None)
    if found is None:
        return None
    why = f"`{{{found}}}` is no variable in a text"
    return Never(why, f"a whole value is `= {found}`; a part of one that a view gives is `:base = {found}`")


def is_never_had(use: Use, text: str, subject: Subject) -> bool:
    """Whether VGL330 speaks of a text that a glob or an equality is held against."""
    return _why_never(use, text, subject) is not None


def _why_never(use: Use, text: str, subject: Subject) -> Never | None:
    if use.field is None or use.field.kind == "output" or use.field.views:
        return None
    if use.field.name == "flag" and (options := command_words.apart(use, text, subject)):
        return _apart(use, options)
    never = _never(use.field.name, text, is_glob=use.operator in ("~", "!~") and "*" in text)
    return never if never is not None and _is_of_kinds(use, subject) else None


def _never(role: str, text: str, *, is_glob: bool) -> Never | None:
    look = _ROLES.get(role)
    if look is not None:
        return look(text, is_glob)
    if role in paths.ROLES:
        return _path(text)
    if _type_of(role) == "number" and not is_glob:
        return _number(text)
    if _type_of(role) == "bool":
        return None if text in ("true", "false") or is_glob else Never("it is `true` or `false`", "without quotes")
    if _type_of(role) is None and role in SWITCHES and text.lower() in YES | NO:
        return _switch(role, text)
    if _type_of(role) is None and _OPTION.fullmatch(text):
        return Never(
            "under the name of an option stands its value, or `true`",
            f"write `{role} = true`, or test `flag`, which has options as they are written",
            text,
            "flag",
        )
    return None


def _ordered_version(use: Use, subject: Subject) -> Diagnostic:
    """`version < 2.4`: one with two points is no number, and 2.10 is less than 2.9 as one."""
    return Diagnostic.of(
        "VGL330",
        "`version` is hardly ever a number: an order test passes over `2.4.1`, and takes `2.10` for less than `2.9`",
        subject.policy.module.source,
        use.expr.span,
        help='test the texts: `version ~ "2.*"`, or an expression; a constraint stands with its sign, as in `>=2`',
    )


def _apart(use: Use, options: list[str]) -> Never:
    """`flag = "-rf"`: an event has `-r` and `-f`."""
    tests = " and ".join(f"flag = {quote(option)}" for option in options)
    meant = tests if use.operator == "=" else None
    return Never(
        "options that are written together stand one by one", f"each has a test of its own: `{tests}`", meant, ""
    )


def _switched(use: Use) -> tuple[tree.Term, str, Never] | None:
    """The number or `false` that an option without a value is compared with."""
    name = use.field.name if use.field is not None else ""
    if name not in SWITCHES or not isinstance(use.operand, tree.Number | tree.Boolean):
        return None
    text = use.operand.raw if isinstance(use.operand, tree.Number) else str(use.operand.value).lower()
    return (use.operand, text, _switch(name, text)) if text in YES | NO else None


def _switch(role: str, text: str) -> Never:
    if text.lower() in YES:
        return Never("under the name of an option without a value stands `true`", f"write `{role} = true`")
    return Never("an event has it only where the option is given", f"without it is `not has {role}`")


def _type_of(role: str) -> str | None:
    """The type of a role; None for what is none."""
    from vigil_lang.trace.vocabulary import vocabulary

    known = vocabulary().roles.get(role)
    return None if known is None else known.type


def _path(text: str) -> Never | None:
    found = _VARIABLE.match(text)
    if found is None:
        return None
    name = found["name"]
    if name in _HOME and "\\" not in text:
        meant = f"~{text[len(name) :]}"
        return Never(f"`{name}` stands for nothing in a policy", "the home folder is `~`", meant)
    here = "paths are absolute: a folder of the project's is a `param`, or `*/…` for any folder"
    return Never(f"`{name}` stands for nothing in a policy", here)


def _program(text: str, is_glob: bool) -> Never | None:
    if re.search(r"\s", text):
        help_text = "the other words stand in `argv`, options in `flag`, and `push` of `git push` in `subcommand`"
        return Never("a program's name is one word", help_text)
    if "/" in text:
        base = text.rpartition("/")[2]
        meant = base if base and not is_glob else None
        return Never("a program's name has no directory", "the path it was called by is `executable`", meant)
    return None


def _host(text: str, is_glob: bool) -> Never | None:
    if "/" in text:
        meant = re.sub(r"^[A-Za-z][A-Za-z0-9+.-]*://", "", text).partition("/")[0].rpartition("@")[2]
        help_text = "the address is `url`; the machine's name stands alone in `host`"
        whole = re.search(r"(?<![:/])/[^/]", text) is None  # of an address with a path more may be meant than its host
        clean = meant if whole and re.fullmatch(r"[\w.-]+", meant) and not is_glob else None
        return Never("a host is a name without an address around it", help_text, clean)
    if "?" in text and not is_glob:
        return Never("a host is a name without an address around it", "the query is part of `url`")
    if "@" in text:
        name = text.rpartition("@")[2]
        return Never("a host stands without the user", "the user is `user`", None if is_glob or ":" in name else name)
    if _PORT.fullmatch(text):
        name = text.partition(":")[0]
        return Never("a host stands without its port", "the port is `port`", None if is_glob else name)
    plain = text.lower().rstrip(".")
    return (
        None
        if plain in (text, "")
        else Never("a host is in lower case, without a dot at its end", "as in `a.example`", plain)
    )


def _method(text: str, is_glob: bool) -> Never | None:
    if not is_glob and re.fullmatch(r"[A-Za-z-]+", text) is None:
        return Never("a method is one word", 'several are a set: `method in {"POST", "PUT"}`')
    if text != text.upper():
        return Never("a method is written in capitals", "as the protocol does", text.upper())
    return None


def _package(text: str, is_glob: bool) -> Never | None:
    found = None if is_glob else _PINNED.fullmatch(text)
    if found is None:
        return None
    return Never(
        "a package's name stands without a version", "the version is `version`, as it is asked for: `1.2`, `>=2`"
    )


def _flag(text: str, is_glob: bool) -> Never | None:
    if re.search(r"\s", text):
        return Never("an option is one word", 'several are tests of their own: `flag = "-r" and flag = "-f"`')
    if _VALUED.fullmatch(text):
        return Never("an option stands without its value", "the value stands under the option's name")
    if found := _DASH.match(text):
        return Never("another dash stands before it", "an option begins with `-` or `--`", f"--{text[found.end() :]}")
    if re.match(r"[A-Za-z0-9]", text) is None:
        return None
    meant = f"-{text}" if len(text) == 1 else f"--{text}"
    # `rf` may be two options, or one.
    plain = not is_glob and re.fullmatch(r"\w|[\w-]{4,}", text)
    return Never("an option is written with what stands before it", "as in `--force`, `-r`", meant if plain else None)


def _subcommand(text: str, _: bool) -> Never | None:
    if _OPTION.fullmatch(text):
        return Never("an option is no subcommand", "options stand in `flag`, as they are written", text, "flag")
    if re.search(r"\s", text) is None:
        return None
    help_text = 'words of their own are tests of their own: `subcommand = "pr" and subcommand = "create"`'
    return Never("a subcommand is one word", help_text)


def _argv(text: str, _: bool) -> Never | None:
    if not command_words.is_a_line(text):
        return None
    help_text = (
        "`program`, `flag`, `subcommand` and `argument` tell what each is; the whole line is `command` of `shell.run`"
    )
    return Never("the words of a command stand one by one", help_text, often="hardly ever")


def _argument(text: str, is_glob: bool) -> Never | None:
    if (line := _argv(text, is_glob)) is not None:
        return line
    if _OPTION.fullmatch(text) is None:
        return None
    what = "options stand in `flag`"
    return Never(what, "only behind `--` is such a word an argument", text, "flag", often="hardly ever")


def _mode(text: str, _: bool) -> Never | None:
    if re.fullmatch(r"[-dl]?(?:[r-][w-][x-]){3}", text) is None:
        return None
    return Never("a mode is as `chmod` is given it", "as in `777`, `0600`, `u+x`")


def _language(text: str, _: bool) -> Never | None:
    if text == text.lower():
        return None
    return Never("a language is written in lower case", "as in `python`, `javascript`, `shell`", text.lower())


def _remote(text: str, _: bool) -> Never | None:
    return Never("a remote is one word", "what is pushed is `revision`") if re.search(r"\s", text) else None


def _key(text: str, _: bool) -> Never | None:
    return Never("a setting's name has no value", "the value is `value`") if "=" in text else None


def _variable(text: str, _: bool) -> Never | None:
    if (found := _OF_A_SHELL.fullmatch(text)) is not None:
        return Never("a variable's name stands without signs", "as in `PATH`", found["name"] or found["percent"])
    return Never("a variable's name stands without its value", "the value is `value`") if "=" in text else None


def _number(text: str) -> Never | None:
    """Texts that are no number, and such as no number becomes; another rule speaks of operators in them."""
    found = number(text)
    if (found is not None and canonical(found) == text) or text[:1] in "<>=!":
        return None
    meant = "the number itself" if found is None else f"`{canonical(found)}`"
    return Never("it is a number", f"write {meant}, without quotation marks")


def _port(text: str, _: bool) -> Never | None:
    return Never("a port is a number", "the machine's name is `host`") if re.search(r"[^0-9*?]", text) else None


_ROLES: dict[str, Callable[[str, bool], Never | None]] = {
    "program": _program,
    "host": _host,
    "method": _method,
    "package": _package,
    "flag": _flag,
    "subcommand": _subcommand,
    "port": _port,
    "argument": _argument,
    "argv": _argv,
    "mode": _mode,
    "language": _language,
    "remote": _remote,
    "key": _key,
    "variable": _variable,
}


_OPEN = frozenset({"program", "host", "path"})
"""Roles that hardly a tool has a parameter of the same name for which means something else."""


def _is_of_kinds(use: Use, subject: Subject) -> bool:
    """Whether a test is made of events of kinds of the vocabulary alone, whose roles are filled in one way.

    Where the condition names no action, that goes for some roles, if no tool that is known has such a parameter.
    """
    from vigil_lang.trace.vocabulary import vocabulary

    actions = paths.actions_of(use, subject)
    if actions is None:
        return use.field is not None and use.field.name in _OPEN and not _is_of_a_tool(use.field.name, subject)
    kinds = vocabulary().kinds
    return bool(actions) and all(action in kinds for action in actions)


def _is_of_a_tool(name: str, subject: Subject) -> bool:
    actions = () if subject.signature is None else subject.signature.actions.values()
    return any(name in action.args and not action.kinds for action in actions)


def _finding(use: Use, string: tree.Term, text: str, never: Never, subject: Subject) -> Diagnostic:
    fix = None
    if never.meant is not None and use.through is None:
        if never.field == "":
            written = never.meant if _stands_alone(use, subject) else f"({never.meant})"
            fix = Fix(f"write `{written}`", (Edit(use.expr.span, written),))
        elif never.field is None:
            written = quote(never.meant)
            fix = Fix(f"write `{written}`", (Edit(string.span, written),))
        elif isinstance(use.operand, tree.String) and use.field is not None:
            written = never.field
            fix = Fix(f"write `{written}`", (Edit(Span(use.field.span.start, use.field.span.end), written),))
    role = use.field.name if use.field is not None else ""
    return Diagnostic.of(
        "VGL330",
        f"`{role}` is {never.often} `{text}`: {never.why}",
        subject.policy.module.source,
        string.span,
        help=never.help,
        fix=fix,
    )


def _stands_alone(use: Use, subject: Subject) -> bool:
    """Whether two tests may stand where one does without brackets around them."""
    return re.search(r"\bnot\s+$", subject.policy.module.source.text[: use.expr.span.start][-80:]) is None
