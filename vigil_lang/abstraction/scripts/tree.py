"""The one small tree that Python and JavaScript are translated into.

It keeps what an effect can depend on: names, calls, literals, branches, loops and functions. What has no part in
that is `Opaque`: its parts are looked at for the calls in them, its value is unknown.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

Literal: TypeAlias = "str | bytes | int | float | bool | None"

Body: TypeAlias = "tuple[Stmt, ...]"


class Expr:
    """An expression."""

    __slots__ = ()


class Stmt:
    """A statement."""

    __slots__ = ()


@dataclass(slots=True)
class Const(Expr):
    """A literal."""

    value: Literal


@dataclass(slots=True)
class Name(Expr):
    """A variable."""

    id: str


@dataclass(slots=True)
class Attr(Expr):
    """`value.name`"""

    value: Expr
    name: str
    line: int = 0


@dataclass(slots=True)
class Index(Expr):
    """`value[key]`; a slice has no key, but bounds."""

    value: Expr
    key: Expr | None
    line: int = 0
    bounds: tuple[Expr, ...] = ()


@dataclass(slots=True)
class Call(Expr):
    """A call. A keyword without a name is a mapping that is spread; `new` marks JavaScript's `new`."""

    func: Expr
    args: tuple[Expr, ...]
    keywords: tuple[tuple[str | None, Expr], ...]
    line: int
    new: bool = False


@dataclass(slots=True)
class Sum(Expr):
    """`a + b + …`, or with `text` the parts of an f-string or a template."""

    parts: tuple[Expr, ...]
    text: bool = False


@dataclass(slots=True)
class Binary(Expr):
    """An operation on two values, by its sign: ``/``, ``%``, ``*``, …"""

    op: str
    left: Expr
    right: Expr


@dataclass(slots=True)
class Not(Expr):
    """`not value`"""

    value: Expr


@dataclass(slots=True)
class Compare(Expr):
    """A test of two values by its sign in Python: ``==``, ``!=``, ``<``, ``in``, ``is``, ``not in``, ``is not``, …"""

    op: str
    left: Expr
    right: Expr


@dataclass(slots=True)
class Logic(Expr):
    """`a and b and …` (``and``), ``or``, and JavaScript's ``??``."""

    op: str
    values: tuple[Expr, ...]


@dataclass(slots=True)
class Choice(Expr):
    """`yes if test else no`"""

    test: Expr
    yes: Expr
    no: Expr


@dataclass(slots=True)
class Items(Expr):
    """A list, a tuple or a set written out; also the target of an unpacking."""

    items: tuple[Expr, ...]
    unordered: bool = False
    """It is a set, which has none of its items twice."""


@dataclass(slots=True)
class Star(Expr):
    """`*value` among items or arguments."""

    value: Expr


@dataclass(slots=True)
class Pairs(Expr):
    """A mapping written out; a key of None spreads its value. As a target: names taken out of an object."""

    pairs: tuple[tuple[Expr | None, Expr], ...]


@dataclass(slots=True)
class Parameter:
    """A parameter; `star` is ``*`` or ``**`` for those that take the rest."""

    name: str
    default: Expr | None = None
    star: str = ""
    pattern: Expr | None = None
    """What the argument is taken apart into."""


@dataclass(slots=True)
class Lambda(Expr):
    """A function. `name` is empty for one without a name; `decorated` when what calls it is not what is written."""

    name: str
    params: tuple[Parameter, ...]
    body: Body
    line: int
    is_async: bool = False
    generator: bool = False
    bound: frozenset[str] = frozenset()
    """The names it assigns."""
    arrow: bool = False
    """It has the `this` of where it stands."""
    accessor: bool = False
    """Reading or setting an attribute calls it."""


@dataclass(slots=True)
class Each(Expr):
    """A comprehension: `element` (and `value`, of a mapping) for each target in turn."""

    element: Expr
    value: Expr | None
    loops: tuple[tuple[Expr, Expr, tuple[Expr, ...]], ...]
    """Target, what is gone through, and conditions."""


@dataclass(slots=True)
class Await(Expr):
    """`await value`"""

    value: Expr


@dataclass(slots=True)
class Bind(Expr):
    """An assignment that is itself a value."""

    target: Expr
    value: Expr


@dataclass(slots=True)
class Yield(Expr):
    """`yield value`"""

    value: Expr


@dataclass(slots=True)
class Opaque(Expr):
    """What has no known value."""

    parts: tuple[Expr, ...] = ()


@dataclass(slots=True)
class Assign(Stmt):
    """`target = … = value`"""

    targets: tuple[Expr, ...]
    value: Expr


@dataclass(slots=True)
class Augment(Stmt):
    """`target += value` and the like."""

    target: Expr
    op: str
    value: Expr


@dataclass(slots=True)
class Do(Stmt):
    """An expression that stands alone."""

    value: Expr


@dataclass(slots=True)
class If(Stmt):
    """Branches in turn, each with its test; a last one without a test is the `else`."""

    branches: tuple[tuple[Expr | None, Body], ...]


@dataclass(slots=True)
class Loop(Stmt):
    """A loop over items (`target`, `over`) or as long as a test holds; `bound` are the names it assigns."""

    target: Expr | None
    over: Expr | None
    test: Expr | None
    body: Body
    orelse: Body
    bound: frozenset[str]
    once: bool = False
    """Its body runs at least once."""
    keys: bool = False
    """It goes through the keys (JavaScript's `for … in`)."""


@dataclass(slots=True)
class Try(Stmt):
    """`try`, with each handler's name for what was raised and its body; `bound` are the names the body assigns."""

    body: Body
    handlers: tuple[tuple[str | None, Body], ...]
    orelse: Body
    final: Body
    bound: frozenset[str]


@dataclass(slots=True)
class With(Stmt):
    """`with value as target, …`"""

    items: tuple[tuple[Expr, Expr | None], ...]
    body: Body


@dataclass(slots=True)
class Define(Stmt):
    """A function is defined; each decorator is looked at."""

    function: Lambda
    decorators: tuple[Expr, ...] = ()


@dataclass(slots=True)
class ClassDef(Stmt):
    """A class is defined."""

    name: str
    bases: tuple[Expr, ...]
    body: Body
    extra: tuple[Expr, ...] = ()
    """Decorators and keywords: with any, others may call its methods."""


@dataclass(slots=True)
class Delete(Stmt):
    """Names are no longer bound, or parts of values are taken away."""

    targets: tuple[Expr, ...]


@dataclass(slots=True)
class Import(Stmt):
    """Something is imported: `name` of a module (``*`` for all, None for the module itself) as `alias`."""

    module: str
    name: str | None
    alias: str
    line: int


@dataclass(slots=True)
class Return(Stmt):
    """`return value`"""

    value: Expr | None


@dataclass(slots=True)
class Raise(Stmt):
    """Something is raised."""

    value: Expr | None


@dataclass(slots=True)
class Jump(Stmt):
    """``break`` or ``continue``"""

    how: str


@dataclass(slots=True)
class Outer(Stmt):
    """Names that belong to the module (``global``) or to an outer function."""

    names: tuple[str, ...]


@dataclass(slots=True)
class Module:
    """A script: its statements, the functions that are known before anything runs, and what could not be read."""

    body: Body
    hoisted: tuple[Define | ClassDef, ...] = ()
    trouble: tuple[str, ...] = ()


def plain(node: Expr) -> str | None:
    """The text of a name or an attribute of one, ``self.M``; None for anything else or beyond 60 characters."""
    names: list[str] = []
    while isinstance(node, Attr):
        names.append(node.name)
        node = node.value
    if not isinstance(node, Name):
        return None
    text = ".".join([node.id, *reversed(names)])
    return text if len(text) <= 60 else None


def fails(body: Body) -> bool:
    """Whether a handler surely ends the script, so that what it handles happened in no script that ends well."""
    match body[-1] if body else None:
        case Raise():
            return True
        case Do(value=Call(func=Attr() as func, args=args)) if plain(func) in ("sys.exit", "process.exit"):
            return bool(args) and not (isinstance(args[0], Const) and args[0].value in (0, None))
        case _:
            return False
