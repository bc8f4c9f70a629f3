"""VGL334: arguments that are no role of the kind.

They are another word for one of its roles (`git.push(branch = …)` for `revision`), a role that only events of other
kinds have (`file.read(url = …)`, `git.commit(command = …)`), or how the call ended: `test.run(exit_code != 0)`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from vigil_lang.diagnostics import Diagnostic, Edit, Fix, Span
from vigil_lang.lint import other_arguments, paths
from vigil_lang.lint.policy_parts import Use
from vigil_lang.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from vigil_lang.lint.subject import Subject

_ROLES: Final = {
    "path": "file filename file_name file_path filepath folder dir location",
    "source": "from src origin path",
    "target": "to dst dest destination path",
    "recipient": "to receiver addressee payee email destination",
    "host": "domain hostname server site ip",
    "url": "uri link address endpoint",
    "revision": "branch ref tag commit rev",
    "remote": "repo repository",
    "package": "name library module pkg dependency",
    "command": "cmd",
    "amount": "sum total price",
    "query": "sql statement text",
    "variable": "name key",
    "secret": "name key",
    "message": "text title",
    "skill": "name",
    "text": "content contents body message",
    "image": "name",
}
"""Other words for roles."""
_MEANT: Final = {
    word: tuple(role for role, words in _ROLES.items() if word in words.split())
    for word in " ".join(_ROLES.values()).split()
}

_ALSO: Final = frozenset({("git.checkout", "branch"), ("git.clone", "branch")})
"""Roles that options of programs fill beside those of the kind: `git checkout -b`."""

_FILES: Final = (
    "file.read file.write file.edit file.append file.delete file.copy file.move file.link file.stat file.permit "
    "file.search dir.list dir.create dir.change"
)
_TALK: Final = "user.message user.ask agent.message"
_PAYMENTS: Final = "payment.transfer payment.refund"
_GIT: Final = "git.add git.commit git.push git.merge git.checkout git.fetch git.clone"
_DONE: Final = (
    f"{_FILES.replace(' file.search', '')} {_TALK} {_PAYMENTS} {_GIT} package.install package.remove package.publish "
    "test.run net.download net.upload message.send code.check archive.create archive.extract"
)
"""Kinds of what programs do; none of those that do it has what it was called by, nor runs something elsewhere."""
_FOREIGN: Final = {
    role: frozenset(kinds.split()) | ({"shell.run"} if role not in ("command", "code") else frozenset())
    for role, kinds in {
        "command": f"{_DONE} process.run",
        "code": f"{_TALK} {_PAYMENTS} {_GIT} file.write file.delete file.copy net.download net.upload message.send "
        "shell.run",
        "text": "file.read file.delete file.copy file.move file.stat dir.list git.push net.download",
        **dict.fromkeys(("program", "argv", "argument", "flag", "subcommand"), f"{_TALK} {_PAYMENTS}"),
        **dict.fromkeys(("path", "source", "target", "query"), f"{_TALK} {_PAYMENTS}"),
        "url": f"{_FILES} {_TALK} {_PAYMENTS} git.add git.commit git.merge git.checkout env.read env.set skill.load",
        "host": f"{_FILES} {_TALK} {_PAYMENTS} git.add git.commit git.merge git.checkout test.run message.send "
        "package.install package.remove env.read env.set skill.load",
        "method": f"{_FILES} {_TALK} {_PAYMENTS} git.add git.commit git.push git.merge git.checkout test.run "
        "message.send package.install package.remove env.read env.set skill.load",
        "recipient": f"{_FILES} {_TALK} git.add git.commit git.push git.merge test.run package.install skill.load",
        "amount": f"{_FILES} {_TALK} git.add git.commit git.push git.merge test.run message.send package.install "
        "net.request net.download net.upload",
        "currency": f"{_FILES} {_TALK} git.add git.commit git.push git.merge test.run message.send package.install",
        "package": f"{_TALK} {_PAYMENTS} file.copy file.move git.add git.commit git.push git.merge message.send",
        "revision": f"{_TALK} {_PAYMENTS} file.copy file.move file.permit test.run message.send",
        "skill": f"{_FILES} {_TALK} {_PAYMENTS} git.add git.commit git.push git.merge test.run message.send",
        "process": f"{_FILES} {_TALK} {_PAYMENTS} git.add git.commit git.push git.merge test.run message.send",
    }.items()
}
"""Roles of other kinds, and kinds that are not about them.

Of the shipped programs no more than one fills such a role beside such a kind (`vagrant init URL` writes a file); else
only an option may happen to be called so. `command` of `process.run` is what a program runs elsewhere (`ssh`), so a
test that names the program as well is right.
"""


_OF_A_PROGRAM: Final = frozenset({"program", "argv", "argument", "flag", "subcommand"})
_INSTEAD: Final = {
    "command": "a command line is `command` of `shell.run`; the event of a program has its words in `argv`, "
    "its options in `flag`",
    "code": "code that is run is `code` of `code.run`; what is written into a file is `text` of `file.write`",
    "text": "what was read is `output`; what is written is `text` of `file.write`",
    **dict.fromkeys(
        _OF_A_PROGRAM, "each program of a command line is a `process.run` of its own; the whole line is `command`"
    ),
}
_ENDED: Final = {
    **dict.fromkeys(("exit_code", "exitcode", "exit_status", "returncode", "return_code"), "0"),
    **dict.fromkeys(("success", "succeeded"), "true"),
    "failed": "false",
}
"""Other words for how a call ended, and their value where it went well."""


def find(subject: Subject) -> Iterator[Diagnostic]:
    """The arguments, in tests of events of kinds alone, that are no role of any of the kinds and mean one of each.

    An event may have any argument, if a tool or an option is called so: only names that mean a role are reported, and
    not where the role is looked at as well.
    """
    for use in subject.parts.uses:
        if use.field is None or use.field.kind == "output" or use.field.name not in _MEANT or use.through is not None:
            continue
        kinds = paths.actions_of(use, subject)
        meant = _meant(use.field.name, kinds) if kinds else ()
        if kinds and meant and not _is_known(meant, use, subject) and not _is_seen(use.field.name, kinds, subject):
            yield _finding(use, meant, sorted(kinds), subject)
    yield from _foreign(subject)
    yield from other_arguments.find(subject)


def _foreign(subject: Subject) -> Iterator[Diagnostic]:
    """The roles of other kinds, in tests and `has`, where every kind is one that does not have them."""
    parts = subject.parts
    fields = [(use, use.field) for use in parts.uses if use.field is not None and use.through is None]
    fields += [(Use(item, has, has.field, "=", tree.Boolean(True)), has.field) for item, has in parts.has]
    for use, field in fields:
        never = _FOREIGN.get(field.name)
        if (never is None and field.name not in _ENDED) or field.kind == "output":
            continue
        kinds = paths.actions_of(use, subject)
        if not kinds or _is_seen(field.name, kinds, subject):
            continue
        if never is None:
            if _are_known(kinds):
                yield _ending(use, field, sorted(kinds), subject)
        elif kinds <= never and not (field.name == "command" and _looks_at(_OF_A_PROGRAM, use, subject)):
            yield _foreign_role(field, sorted(kinds), subject)


def _are_known(kinds: frozenset[str]) -> bool:
    from vigil_lang.trace.vocabulary import vocabulary

    return vocabulary().kinds.keys() >= kinds


def _ending(use: Use, field: tree.Field, kinds: list[str], subject: Subject) -> Diagnostic:
    """`test.run(exit_code != 0)`: how a call ended is its status."""
    well, operand, fix = _ENDED[field.name], use.operand, None
    written = operand.raw if isinstance(operand, tree.Number) else str(getattr(operand, "value", "")).lower()
    if use.expr.span == Span(field.span.start, use.operand.span.end) and not field.views:
        ok = {
            ("=", True): "ok",
            ("!=", True): "error",
            (">", True): "error",
            ("=", False): "error",
            ("!=", False): "ok",
        }
        other = well != "0" and written in ("true", "false")
        status = ok.get((use.operator, written == well)) if written == well or other else None
        fix = (
            None if status is None else Fix(f"write `status = {status}`", (Edit(use.expr.span, f"status = {status}"),))
        )
    return Diagnostic.of(
        "VGL334",
        f"`{field.name}` is no role of `{kinds[0]}`: how a call ended is its status",
        subject.policy.module.source,
        field.name_span,
        help="it is tested by `status = ok` and `status = error`",
        fix=fix,
    )


def _foreign_role(field: tree.Field, kinds: list[str], subject: Subject) -> Diagnostic:
    from vigil_lang.trace.vocabulary import vocabulary

    having = [f"`{kind}`" for kind, known in vocabulary().kinds.items() if field.name in known.roles]
    return Diagnostic.of(
        "VGL334",
        f"`{field.name}` is no role of `{kinds[0]}`: events of other kinds have it, as {' and '.join(having[:2])}",
        subject.policy.module.source,
        field.name_span,
        help=_help_of(field.name, kinds),
    )


def _help_of(role: str, kinds: list[str]) -> str:
    if kinds == ["shell.run"] and role not in _OF_A_PROGRAM:
        return "what a command line does is events of their own, such as `file.write`; the line itself is `command`"
    return _INSTEAD.get(role, f"`{role}` is there only where a tool or an option is called so")


def _is_known(meant: tuple[str, ...], use: Use, subject: Subject) -> bool:
    """Whether the same item looks at one of the roles as well."""
    return _looks_at(meant, use, subject)


def _looks_at(roles: Collection[str], use: Use, subject: Subject) -> bool:
    parts = subject.parts
    fields = [has.field for item, has in parts.has if item is use.item]
    fields += [other.field for other in parts.uses if other.item is use.item and other.field is not None]
    return any(field.name in roles for field in fields)


@lru_cache(maxsize=1024)
def _meant(name: str, kinds: frozenset[str]) -> tuple[str, ...]:
    """The roles that a name may mean of every kind; none where it may be an argument of its own."""
    from vigil_lang.trace.vocabulary import vocabulary

    known = vocabulary().kinds
    if not known.keys() >= kinds:
        return ()
    for kind in kinds:
        beside = (other for other in known if other in known[kind].implies or kind in known[other].implies)
        if (kind, name) in _ALSO or any(name in known[other].roles for other in (kind, *beside)):
            return ()
    return tuple(role for role in _MEANT[name] if all(role in known[kind].roles for kind in kinds))


def _is_seen(name: str, kinds: frozenset[str], subject: Subject) -> bool:
    """Whether an action of the signature has the argument beside one of the kinds."""
    actions = () if subject.signature is None else subject.signature.actions.values()
    return any(name in action.args and not kinds.isdisjoint(action.kinds) for action in actions)


def _finding(use: Use, meant: tuple[str, ...], kinds: list[str], subject: Subject) -> Diagnostic:
    assert use.field is not None
    name = use.field.name
    only = meant[0] if len(meant) == 1 else None
    return Diagnostic.of(
        "VGL334",
        f"`{name}` is no role of `{kinds[0]}`: its events have {' and '.join(f'`{role}`' for role in meant)}",
        subject.policy.module.source,
        use.field.name_span,
        help=f"`{name}` is there only where a tool or an option is called so",
        fix=Fix(f"write `{only}`", (Edit(use.field.name_span, only),)) if only is not None else None,
    )
