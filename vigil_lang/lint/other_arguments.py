"""Arguments that no event has so: `tool = "Bash"`, `Bash(args.command …)`, `Bash(cmd …)`, and totals of words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from vigil_lang.diagnostics import Diagnostic, Edit, Fix
from vigil_lang.lint import paths
from vigil_lang.lint.literal_texts import texts, value
from vigil_lang.semantics.views import VIEWS
from vigil_lang.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.abstraction.tools import Tool
    from vigil_lang.lint.policy_parts import Use
    from vigil_lang.lint.subject import Subject

_CALLED: Final = frozenset({"tool", "tool_name", "toolName", "tool-name", "action_name", "event", "event_type", "kind"})
"""What other notations call the name of what is called."""
_PREFIXES: Final = ("args.", "arguments.", "input.", "tool_input.", "params.", "parameters.")
_ALIKE: Final = (
    ("command", "cmd", "commands", "cmdline", "command_line"),
    ("file_path", "path", "file", "filename", "file_name", "filepath"),
    ("content", "contents", "text", "body", "data"),
    ("url", "uri", "link", "address"),
    ("query", "q", "search"),
)
"""Names of arguments that mean the same; of those that a tool has the first counts."""
_VIEWS: Final = {"hostname": "host", "domain": "host", "extension": "ext", "dirname": "dir", "len": "length"}
"""Other words for views."""
_FROM_A_SCRIPT: Final = frozenset({"unresolved", "inferred"})


def find(subject: Subject) -> Iterator[Diagnostic]:
    """The arguments that no call of what the policy names has, where another is meant for certain."""
    for use in subject.parts.uses:
        if use.field is None or use.field.kind == "output" or use.through is not None:
            continue
        if names_a_call(use.field.name, use.operand) and paths.actions_of(use, subject) is None:
            yield from _called(use, use.field, subject)
        elif (viewed := _viewed(use, use.field, subject)) is not None:
            yield viewed
        else:
            yield from _renamed(use, use.field, subject)
    for statement in subject.policy.statements:
        if statement.preset is not None and statement.preset.bound == "limit":
            yield from _total(statement.syntax, subject)


def names_a_call(field: str, operand: object) -> bool:
    """Whether an argument is held against names of tools or kinds alone: `tool_name = Bash`."""
    if field not in _CALLED:
        return False
    named = [operand.text] if isinstance(operand, tree.Name) else [value(string) for string in texts(operand)]
    return bool(named) and all(name is not None and _is_called(name) for name in named)


def _is_called(name: str) -> bool:
    from vigil_lang.trace.vocabulary import vocabulary

    return name in vocabulary().kinds or _own_tool(name) is not None


def _own_tool(name: str) -> Tool | None:
    """The tool of a harness with that name; a word in small letters may be anybody's."""
    from vigil_lang.abstraction.tools import tool

    found = tool(name) if name != name.lower() and name.isalpha() else None
    return found if found is not None and found.is_shipped and found.described else None


def _called(use: Use, field: tree.Field, subject: Subject) -> Iterator[Diagnostic]:
    if _is_argument(field.name, subject) or use.operator not in ("=", "!=", "in", "not in", "~", "!~"):
        return
    fix = Fix("write `action`", (Edit(field.span, "action"),)) if use.operator in ("=", "in", "~") else None
    yield Diagnostic.of(
        "VGL334",
        f"`{field.name}` is an argument here: the name of what is called is `action`",
        subject.policy.module.source,
        field.name_span,
        help="the names of tools and the kinds of events are tested by `action = …`, or called: `Bash(…)`",
        fix=fix,
    )


def _is_argument(name: str, subject: Subject) -> bool:
    actions = () if subject.signature is None else subject.signature.actions.values()
    return any(name in action.args for action in actions)


def _viewed(use: Use, field: tree.Field, subject: Subject) -> Diagnostic | None:
    """`url.host` for `url:host`, of the events of kinds."""
    from vigil_lang.trace.vocabulary import vocabulary

    name, _, view = field.name.rpartition(".")
    kinds, actions = vocabulary().kinds, paths.actions_of(use, subject)
    meant = _VIEWS.get(view, view)
    if name not in vocabulary().roles or meant not in VIEWS or not actions or not kinds.keys() >= actions:
        return None
    if _is_argument(field.name, subject):
        return None
    plain = meant in ("host", "base", "dir", "ext", "length", "count", "lower")
    return Diagnostic.of(
        "VGL334",
        f"no such event has an argument `{field.name}`: a view is written after a colon",
        subject.policy.module.source,
        field.name_span,
        help=f"the view is `{name}:{meant}`",
        fix=Fix(f"write `{name}:{meant}`", (Edit(field.name_span, f"{name}:{meant}"),)) if plain else None,
    )


def _renamed(use: Use, field: tree.Field, subject: Subject) -> Iterator[Diagnostic]:
    from vigil_lang.trace.vocabulary import vocabulary

    name = field.name
    prefix = next((one for one in _PREFIXES if name.startswith(one)), "")
    alike = next((names for names in _ALIKE if name in names), ())
    actions = paths.actions_of(use, subject) if prefix or alike else None
    if not actions or _is_argument(name, subject):
        return
    kinds = vocabulary().kinds
    called = [_own_tool(action) for action in actions if action not in kinds]
    tools = [one for one in called if one is not None]
    if len(tools) < len(called) or any(name in one.described for one in tools):
        return
    shown = sorted(actions)[0]
    if prefix:
        meant = name.removeprefix(prefix)
        if meant in _FROM_A_SCRIPT:
            return
        message, help_text = f"`{shown}` has no argument `{name}`", f"arguments stand without a prefix: `{meant}`"
    elif tools and len(tools) == len(actions):
        if any(name in (*one.roles, *one.set) or any(name in kinds[k].roles for k in one.kinds) for one in tools):
            return
        meant = next((other for other in alike if all(other in one.described for one in tools)), "")
        if not meant:
            return
        message, help_text = f"`{shown}` has no argument `{name}`", f"it is called `{meant}`"
    else:
        return
    yield Diagnostic.of(
        "VGL334",
        message,
        subject.policy.module.source,
        field.name_span,
        help=help_text,
        fix=Fix(f"write `{meant}`", (Edit(field.name_span, meant),)),
    )


def _total(statement: tree.Statement, subject: Subject) -> Iterator[Diagnostic]:
    """`budget[100](payment.transfer(), currency)`: a role that holds no number has no total."""
    from vigil_lang.trace.vocabulary import vocabulary

    field = statement.form.field
    if field is None or field.views or field.kind == "output":
        return
    role = vocabulary().roles.get(field.name)
    if role is None or (role.type not in ("path", "bool") and field.name not in _WORDS):
        return
    yield Diagnostic.of(
        "VGL334",
        f"`{field.name}` holds no number, so every event that is counted breaks `{statement.name.text}`",
        subject.policy.module.source,
        field.name_span,
        help="what adds up is an argument with numbers, such as `amount`; a view may give one: `text:length`",
    )


_WORDS: Final = frozenset(
    {
        "currency",
        "recipient",
        "host",
        "url",
        "method",
        "package",
        "program",
        "command",
        "text",
        "message",
        "user",
        "branch",
    }
)
"""Roles that hold words, though their type would allow a number."""
