"""VGL315: conditions that want two actions of one event: `Bash() and Read()`, or `Write() implies Skill()`."""

from __future__ import annotations

from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from vigil_lang.diagnostics import Diagnostic, Note, Span
from vigil_lang.semantics import core
from vigil_lang.semantics.meanings import Argument, Scope, Variable
from vigil_lang.semantics.terms import Failed
from vigil_lang.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TypeAlias

    from vigil_lang.lint.policy_parts import Item
    from vigil_lang.lint.subject import Subject
    from vigil_lang.semantics.lower import Statement
    from vigil_lang.semantics.modules import Module
    from vigil_lang.trace import Signature

    Groups: TypeAlias = Sequence[tuple[tuple[str, ...], tuple[str, ...]]]


_MAX_PARTS: Final = 50
"""Parts of one conjunction that are held against each other."""

_TALK: Final = ("user.message", "agent.message", "user.ask")
_SENDING: Final = ("net.request", "net.upload", "net.download", "net.connect", "web.search", "message.send")
_GIT: Final = ("git.commit", "git.push", "git.merge")
_FILES: Final = ("file.read", "file.write", "file.edit", "file.append", "file.delete", "file.copy", "file.move")
_APART: Final = (
    (("file.read", "file.copy", "file.move"), (*_SENDING, *_GIT, "test.run", "package.install")),
    (("git.commit",), (*_SENDING, "git.push", "test.run", "package.install")),
    (("secret.read",), _GIT),
    (("test.run",), (*_GIT, *[kind for kind in _FILES if kind != "file.delete"])),
    (("payment.transfer", "payment.refund"), (*_FILES, *_GIT, *_TALK, "test.run")),
    (_TALK, (*_FILES, *_SENDING, *_GIT, "test.run", "secret.read", "package.install", "release.publish")),
)
"""Kinds that no program, tool or function of the shipped tables has together: what a call does of both is two steps."""
_SELDOM: Final = (
    (("git.commit",), _FILES),
    (("package.install", "package.remove"), ("file.read", "file.copy", "file.move", *_GIT)),
    (("message.send",), (*_FILES, *_GIT, "package.install", "test.run")),
    (("test.run",), ("file.delete",)),
    (
        ("dir.list", "file.stat", "process.kill", "archive.create", "archive.extract"),
        (*_FILES, *_SENDING, *_GIT, "test.run", "package.install"),
    ),
)
"""Kinds that one or two of them have together, or none does, but could: `make clean test`."""


class Named(NamedTuple):
    """A part of a conjunction that has an event be one of some actions."""

    names: frozenset[str]
    span: Span


def find(subject: Subject) -> Iterator[Diagnostic]:
    """Events that would have to be two actions, neither of which is a kind that other actions may have.

    Kinds of the vocabulary have a dot; without a signature, other names with a dot are taken for kinds, too. Of kinds
    only pairs are reported that nothing of the shipped tables has together, nor a tool that the project describes.
    """
    module = subject.policy.module
    for item, expr, _ in subject.parts.conjunctions:
        if _several(expr):
            parts = _parts(item, expr, subject)
            clash = _clash_of(parts, subject)
            if clash is not None:
                yield _conjunction(*clash, subject)
            elif (idle := _never_both(expr, parts, _scope(item, module), subject)) is not None:
                yield idle
    for statement in subject.policy.statements:
        if statement.preset is None and not statement.params:
            yield from _implications(statement.requirement.theta, statement, subject)


def wants_two_actions(item: Item, expr: tree.Expr, subject: Subject) -> bool:
    """Whether a conjunction of an item wants two actions of one event."""
    return _several(expr) and _clash_of(_parts(item, expr, subject), subject) is not None


# --- conjunctions ----------------------------------------------------------------------------------------------


def _several(expr: tree.Expr) -> bool:
    """Whether more than one part may name actions: most calls have tests for arguments, and need no second look."""
    return _naming(expr) > 1


def _naming(expr: tree.Expr | tree.Literal_) -> int:
    match expr:
        case tree.And(items):
            return sum(map(_naming, items))
        case tree.Apply(_, args):
            return 1 + (sum(map(_naming, args)) if args else 0)
        case tree.ActionIn() | tree.ActionIs() | tree.Or():
            return 1
        case tree.Not(body):
            return _naming(body)
        case _:
            return 0


def _parts(item: Item, expr: tree.Expr, subject: Subject) -> list[Named]:
    return list(islice(_named(expr, _scope(item, subject.policy.module), subject), _MAX_PARTS))


def _clash_of(parts: list[Named], subject: Subject) -> tuple[Named, Named] | None:
    return next(((a, b) for n, b in enumerate(parts) for a in parts[:n] if _clash(a, b, subject)), None)


def _named(expr: tree.Expr, scope: Scope, subject: Subject) -> Iterator[Named]:
    """The parts of a conjunction that name actions, a call's name and arguments apart."""
    match expr:
        case tree.And(items):
            for item in items:
                yield from _named(item, scope, subject)
        case tree.Apply(name, args) if args and subject.conditions.pattern_of(expr, scope) is None:
            with suppress(Failed):
                yield Named(frozenset({subject.conditions.called(expr, scope)}), name.span)
            for arg in args:
                if not isinstance(arg, tree.String | tree.Number | tree.Boolean):
                    yield from _named(arg, scope, subject)
        case tree.Apply() | tree.ActionIn() | tree.ActionIs() | tree.Or():
            subject.conditions.start()
            with suppress(Failed):
                names = names_of(subject.conditions.condition(expr, scope))
                if not subject.conditions.terms.params:  # what an operator may set otherwise is no fault
                    yield from _naming_all(names, expr.span)


def _scope(item: Item, module: Module) -> Scope:
    if not isinstance(item, tree.Pattern):
        return Scope(module)
    scope = Scope(module)
    free = {p.text: Argument(Variable(p.text), scope.place(p.span), p.text) for p in item.params}
    return Scope(module, free, ((module, item.name.text),))


def names_of(condition: core.Condition) -> frozenset[str] | None:
    """Names of which every event that meets the condition has one; None where it leaves the action open."""
    match condition:
        case core.ActionIn(names):
            return names
        case core.AndC(items):
            return next((found for item in items if (found := names_of(item)) is not None), None)
        case core.OrC(items) if items:
            each = [found for item in items if (found := names_of(item)) is not None]
            return frozenset[str]().union(*each) if len(each) == len(items) else None
        case _:
            return None


def _naming_all(names: frozenset[str] | None, span: Span) -> Iterator[Named]:
    if names:
        yield Named(names, span)


def _clash(one: Named, other: Named, subject: Subject) -> bool:
    if not one.names.isdisjoint(other.names) or _together(one.names, other.names, subject.signature):
        return False
    described = (tool.kinds for tool in subject.tools.values())
    return not any(one.names & set(kinds) and other.names & set(kinds) for kinds in described)


def _together(one: frozenset[str], other: frozenset[str], signature: Signature | None) -> bool:
    """Whether an event may have a name of each: where one is a kind, or an action of the signature has both."""
    names = one | other
    if signature is not None and any(
        not one.isdisjoint(found := {name, *action.kinds}) and not other.isdisjoint(found)
        for name, action in signature.actions.items()
    ):
        return True
    if any("." in name for name in names):
        return not all(_are_apart(a, b, (*_APART, *_SELDOM)) for a in one for b in other)
    if signature is None:
        return False
    kinds = frozenset[str]().union(*(action.kinds for action in signature.actions.values()))
    return not kinds.isdisjoint(names)


def _are_apart(one: str, other: str, groups: Groups) -> bool:
    return any((one in a and other in b) or (other in a and one in b) for a, b in groups)


def _conjunction(one: Named, other: Named, subject: Subject) -> Diagnostic:
    source = subject.policy.module.source
    never = not any(_are_apart(a, b, _SELDOM) for a in one.names for b in other.names)
    both = f"{_shown(one.names)} and {_shown(other.names)}"
    return Diagnostic.of(
        "VGL315",
        f"one event cannot be both {both}"
        if never
        else f"hardly any event is both {both}: they are steps of their own",
        source,
        other.span,
        help="write `or` if either will do; for an event before or after it use `prec`, `resp` or `always`",
        notes=(Note("together with this", source, one.span),),
    )


def _never_both(expr: tree.Expr, parts: Sequence[Named], scope: Scope, subject: Subject) -> Diagnostic | None:
    """A part that excludes an action which an event of the others never is: `file.delete() and not user.ask()`."""
    inside = expr.items if isinstance(expr, tree.And) else expr.args or () if isinstance(expr, tree.Apply) else ()
    for excluded in (item for item in inside if isinstance(item, tree.Not) and _naming(item.body)):
        for other in _named(excluded.body, scope, subject):
            for one in parts:
                seldom = any(_are_apart(a, b, _SELDOM) for a in one.names for b in other.names)
                if "." in min(other.names) and not seldom and _clash(one, other, subject):
                    source = subject.policy.module.source
                    return Diagnostic.of(
                        "VGL315",
                        f"an event that is {_shown(one.names)} is never {_shown(other.names)}: this changes nothing",
                        source,
                        excluded.span,
                        help="what must come before it is the guard of `prec(…, …)`",
                        notes=(Note("the same event", source, one.span),),
                    )
    return None


def _shown(names: frozenset[str]) -> str:
    first = [f"`{name}`" for name in sorted(names)[:3]]
    return " or ".join(first if len(names) <= 3 else [*first[:2], "another"])


# --- implications ----------------------------------------------------------------------------------------------


def _implications(theta: core.Theta, statement: Statement, subject: Subject) -> Iterator[Diagnostic]:
    """Where something is asked of the event at hand that another event was meant for."""
    match theta:
        case core.Implies(left, right):
            one = _asked(left)
            for wanted in right.items if isinstance(right, core.And) else (right,):
                other = _asked(wanted)
                if one is not None and other is not None and _clash(one, other, subject):
                    yield _implication(one, other, statement)
            yield from _implications(left, statement, subject)
            yield from _implications(right, statement, subject)
        case core.Not(body) | core.Earlier(body) | core.Later(body):
            yield from _implications(body, statement, subject)
        case core.And(items) | core.Or(items):
            for item in items:
                yield from _implications(item, statement, subject)


def _asked(theta: core.Theta) -> Named | None:
    """The actions of one event that a body asks for at the event at hand."""
    match theta:
        case core.Holds(condition, _, Span() as span):
            return next(_naming_all(names_of(condition), span), None)
        case core.And(items):
            return next((found for item in items if (found := _asked(item)) is not None), None)
        case _:
            return None


def _implication(one: Named, other: Named, statement: Statement) -> Diagnostic:
    return Diagnostic.of(
        "VGL315",
        f"the event that is {_shown(one.names)} would have to be {_shown(other.names)} as well",
        statement.source,
        other.span,
        help="an event before it is `earlier …`, one after it `later …`",
        notes=(Note("the same event", statement.source, one.span),),
    )
