"""Python into the tree: the parser is Python's own, nothing is compiled or run."""

from __future__ import annotations

import ast
import re
import warnings
from typing import TYPE_CHECKING

from vigil_lang.abstraction.scripts.notebook import plain_python
from vigil_lang.abstraction.scripts.tree import (
    Assign,
    Attr,
    Augment,
    Await,
    Binary,
    Bind,
    Call,
    Choice,
    ClassDef,
    Compare,
    Const,
    Define,
    Delete,
    Do,
    Each,
    Expr,
    If,
    Import,
    Index,
    Items,
    Jump,
    Lambda,
    Logic,
    Loop,
    Module,
    Name,
    Not,
    Opaque,
    Outer,
    Pairs,
    Parameter,
    Raise,
    Return,
    Star,
    Stmt,
    Sum,
    Try,
    With,
    Yield,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MAX_NODES = 60_000
"""Nodes of a script that are translated; what comes after is left out."""

MAX_DEPTH = 100
"""How deeply expressions and blocks may be nested; what is deeper is opaque."""

_SIGNS: dict[type[ast.operator], str] = {
    ast.Div: "/", ast.Mod: "%", ast.Mult: "*", ast.Sub: "-", ast.FloorDiv: "//", ast.BitOr: "|",
}  # fmt: skip
_TESTS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.In: "in",
    ast.NotIn: "not in", ast.Is: "is", ast.IsNot: "is not",
}  # fmt: skip


_CODING = re.compile(r"^[ \t\f]*#.*?coding[:=][ \t]*(?!utf-?8\b|ascii\b|latin-?1\b|iso-8859-1\b)[-\w.]", re.M | re.I)


def read_python(text: str) -> Module:
    """The tree of a Python script. Lines of IPython (`!ls`, `%cd x`) become the calls they stand for.

    A script with an error does nothing when it is run. Where it seems to be cut off, though, what comes before the
    statement that has the error is read.
    """
    tree, trouble = _parse(text)
    if trouble and (plain := plain_python(text)) != text:
        tree, trouble = _parse(plain)
    if _CODING.search("\n".join(text.split("\n", 2)[:2])):
        trouble = (*trouble, "the script is in an encoding of its own")
    translator = _Translator()
    body = translator.block(tree.body)
    if translator.left <= 0:
        trouble = (*trouble, f"the script has more than {MAX_NODES} nodes: its end was not read")
    if translator.too_deep:
        trouble = (*trouble, f"the script is nested more than {MAX_DEPTH} deep")
    return Module(body, trouble=trouble)


def _parse(text: str) -> tuple[ast.Module, tuple[str, ...]]:
    try:
        return _ast(text), ()
    except SyntaxError as error:
        line = error.lineno or 1
        trouble = f"line {line}: {error.msg}"
        lines = text.rstrip().split("\n")
        if line < len(lines) and not (
            error.msg.endswith("never closed") or error.msg.startswith("unterminated triple")
        ):
            return ast.Module([], []), (trouble,)
    except (ValueError, RecursionError, MemoryError) as error:
        return ast.Module([], []), (f"the script cannot be parsed: {str(error) or type(error).__name__}",)
    kept = _last_start(lines, line - 1)
    try:
        return _ast("\n".join(lines[:kept])), (f"{trouble}: read up to line {kept}",)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], []), (trouble,)


def _ast(text: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


def _last_start(lines: Sequence[str], before: int) -> int:
    """How many lines stand before the last one, up to `before`, that starts a statement of the module."""
    line = min(before, len(lines) - 1)
    while line > 0 and (not lines[line] or lines[line][0] in " \t)]}#@" or lines[line].startswith(("else", "elif"))):
        line -= 1
    return line


class _Translator:
    """Translates nodes, counting them; `bound` collects the names that loops and functions assign."""

    def __init__(self) -> None:
        self.left = MAX_NODES
        self.too_deep = False
        self.depth = 0
        self.bound: list[set[str]] = [set()]
        self.generator = False

    def block(self, nodes: Iterable[ast.stmt]) -> tuple[Stmt, ...]:
        """Statements in turn."""
        self.depth += 1
        found: list[Stmt] = []
        if self.depth > MAX_DEPTH:
            self.too_deep = True
        else:
            for node in nodes:
                if self.left <= 0:
                    break
                found += self.statement(node)
        self.depth -= 1
        return tuple(found)

    def statement(self, node: ast.stmt) -> Iterable[Stmt]:
        """What one statement becomes."""
        self.left -= 1
        match node:
            case ast.Expr():
                return (Do(self.expr(node.value)),)
            case ast.Assign():
                return (Assign(tuple(map(self.target, node.targets)), self.expr(node.value)),)
            case ast.AnnAssign():
                noted = self.noted([node.annotation])
                if node.value is None:
                    return noted
                return (*noted, Assign((self.target(node.target),), self.expr(node.value)))
            case ast.AugAssign():
                return (Augment(self.target(node.target), _sign(node.op), self.expr(node.value)),)
            case ast.Return():
                return (Return(self.expr(node.value) if node.value else None),)
            case ast.If():
                return (self.branches(node),)
            case ast.For() | ast.AsyncFor() | ast.While():
                return (self.loop(node),)
            case ast.Try() | ast.TryStar():
                return (self.trial(node),)
            case ast.With() | ast.AsyncWith():
                items = tuple(
                    (self.expr(i.context_expr), self.target(i.optional_vars) if i.optional_vars else None)
                    for i in node.items
                )
                return (With(items, self.block(node.body)),)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self.bound[-1].add(node.name)
                decorators = tuple(map(self.expr, node.decorator_list))
                given = [
                    *node.args.posonlyargs,
                    *node.args.args,
                    *node.args.kwonlyargs,
                    node.args.vararg,
                    node.args.kwarg,
                ]
                noted = self.noted([*(a.annotation for a in given if a is not None), node.returns])
                return (*noted, Define(self.function(node), decorators))
            case ast.ClassDef():
                self.bound[-1].add(node.name)
                extra = tuple(map(self.expr, [*node.decorator_list, *(k.value for k in node.keywords)]))
                return (ClassDef(node.name, tuple(map(self.expr, node.bases)), self.block(node.body), extra),)
            case _:
                return self.simple(node)

    def simple(self, node: ast.stmt) -> Iterable[Stmt]:
        """What a statement without a body becomes."""
        match node:
            case ast.Import():
                self.bound[-1].update(n.asname or n.name.partition(".")[0] for n in node.names)
                return [Import(n.name, None, n.asname or "", node.lineno) for n in node.names]
            case ast.ImportFrom():
                self.bound[-1].update(n.asname or n.name for n in node.names)
                module = "." * node.level + (node.module or "")
                return [Import(module, n.name, n.asname or n.name, node.lineno) for n in node.names]
            case ast.Raise():
                if node.exc and node.cause:
                    return (Raise(Opaque((self.expr(node.exc), self.expr(node.cause)))),)
                return (Raise(self.expr(node.exc) if node.exc else None),)
            case ast.Break():
                return (Jump("break"),)
            case ast.Continue():
                return (Jump("continue"),)
            case ast.Global() | ast.Nonlocal():
                return (Outer(tuple(node.names)),)
            case ast.Assert():
                return (Do(Opaque((self.expr(node.test), *((self.expr(node.msg),) if node.msg else ())))),)
            case ast.Match():
                return self.match(node)
            case ast.Delete():
                return (Delete(tuple(map(self.expr, node.targets))),)
            case _:
                return ()

    def noted(self, annotations: Iterable[ast.expr | None]) -> tuple[Stmt, ...]:
        """Annotations that call something, which happens where they stand."""
        calling = (a for a in annotations if a is not None and any(isinstance(n, ast.Call) for n in ast.walk(a)))
        return tuple(Do(self.expr(a)) for a in calling)

    def match(self, node: ast.Match) -> Iterable[Stmt]:
        """A `match`: any of its cases, or none; what a pattern binds is some part of the subject."""
        subject = Name(" subject")
        yield Assign((subject,), self.expr(node.subject))
        cases: list[tuple[Expr | None, tuple[Stmt, ...]]] = []
        for case in node.cases:
            names = [
                n for p in ast.walk(case.pattern) for n in (getattr(p, "name", None), getattr(p, "rest", None)) if n
            ]
            self.bound[-1].update(names)
            took = tuple(Assign((Name(n),), Opaque((subject,))) for n in names)
            guard = (If(((self.expr(case.guard), self.block(case.body)),)),) if case.guard else self.block(case.body)
            cases.append((Opaque(), (*took, *guard)))
        yield If(tuple(cases))

    def branches(self, node: ast.If) -> If:
        """An `if` with its `elif`s, which the syntax tree nests."""
        found: list[tuple[Expr | None, tuple[Stmt, ...]]] = []
        while True:
            found.append((self.expr(node.test), self.block(node.body)))
            if len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If) and self.left > 0:
                node = node.orelse[0]
                continue
            if node.orelse:
                found.append((None, self.block(node.orelse)))
            return If(tuple(found))

    def loop(self, node: ast.For | ast.AsyncFor | ast.While) -> Loop:
        """A loop, with the names it assigns."""
        self.bound.append(set())
        target = over = test = None
        if isinstance(node, ast.While):
            test = self.expr(node.test)
        else:
            target, over = self.target(node.target), self.expr(node.iter)
        body = self.block(node.body)
        bound = self.unbind()
        return Loop(target, over, test, body, self.block(node.orelse), bound)

    def trial(self, node: ast.Try | ast.TryStar) -> Try:
        """A `try`, with the names its body assigns."""
        self.bound.append(set())
        body = self.block(node.body)
        bound = self.unbind()
        handlers = tuple((h.name, (*self.noted([h.type]), *self.block(h.body))) for h in node.handlers)
        return Try(body, handlers, self.block(node.orelse), self.block(node.finalbody), bound)

    def unbind(self) -> frozenset[str]:
        """The names of the innermost loop or `try`, which are also assigned in what is around it."""
        names = self.bound.pop()
        self.bound[-1] |= names
        return frozenset(names)

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> Lambda:
        """A function with its parameters."""
        params = tuple(self.params(node.args))
        self.bound.append(set())
        outer, self.generator = self.generator, False
        if isinstance(node, ast.Lambda):
            body: tuple[Stmt, ...] = (Return(self.expr(node.body)),)
            name = ""
        else:
            body, name = self.block(node.body), node.name
        generator, self.generator = self.generator, outer
        names = frozenset(self.bound.pop())
        is_async = isinstance(node, ast.AsyncFunctionDef)
        return Lambda(name, params, body, node.lineno, is_async, generator, names)

    def params(self, args: ast.arguments) -> Iterable[Parameter]:
        """Parameters in order, with their defaults."""
        positional = [*args.posonlyargs, *args.args]
        defaults: list[ast.expr | None] = [None] * (len(positional) - len(args.defaults))
        defaults += args.defaults
        for arg, default in zip(positional, defaults, strict=True):
            yield Parameter(arg.arg, self.expr(default) if default else None)
        yield Parameter(args.vararg.arg if args.vararg else "", star="*")
        for arg, given in zip(args.kwonlyargs, args.kw_defaults, strict=True):
            yield Parameter(arg.arg, self.expr(given) if given else None)
        if args.kwarg:
            yield Parameter(args.kwarg.arg, star="**")

    def target(self, node: ast.expr) -> Expr:
        """What is assigned to."""
        match node:
            case ast.Name():
                self.bound[-1].add(node.id)
                return Name(node.id)
            case ast.Tuple() | ast.List():
                self.depth += 1
                self.too_deep |= self.depth > MAX_DEPTH
                items = tuple(map(self.target, node.elts)) if self.depth <= MAX_DEPTH else ()
                self.depth -= 1
                return Items(items)
            case ast.Starred():
                return Star(self.target(node.value))
            case _:
                return self.expr(node)

    def expr(self, node: ast.expr) -> Expr:
        """An expression."""
        self.left -= 1
        if self.left <= 0 or self.depth >= MAX_DEPTH:
            self.too_deep |= self.depth >= MAX_DEPTH
            return Opaque()
        self.depth += 1
        found = self._expr(node)
        self.depth -= 1
        return found

    def _expr(self, node: ast.expr) -> Expr:
        match node:
            case ast.Constant():
                value = node.value
                return Opaque() if isinstance(value, complex) or value is ... else Const(value)
            case ast.Name():
                return Name(node.id)
            case ast.Attribute():
                return Attr(self.expr(node.value), node.attr, node.lineno)
            case ast.Call():
                args = tuple(map(self.expr, node.args))
                keywords = tuple((k.arg, self.expr(k.value)) for k in node.keywords)
                return Call(self.expr(node.func), args, keywords, node.lineno)
            case ast.Subscript():
                if isinstance(node.slice, ast.Slice):
                    bounds = [b for b in (node.slice.lower, node.slice.upper, node.slice.step) if b is not None]
                    return Index(self.expr(node.value), None, node.lineno, tuple(map(self.expr, bounds)))
                return Index(self.expr(node.value), self.expr(node.slice), node.lineno)
            case ast.BinOp():
                return self.binary(node)
            case ast.JoinedStr():
                return Sum(tuple(map(self.expr, node.values)), text=True)
            case ast.FormattedValue():
                plain = node.conversion == -1 and node.format_spec is None
                if plain:
                    return self.expr(node.value)
                return Opaque((self.expr(node.value), *((self.expr(node.format_spec),) if node.format_spec else ())))
            case ast.List() | ast.Tuple() | ast.Set():
                return Items(tuple(map(self.expr, node.elts)), isinstance(node, ast.Set))
            case ast.Dict():
                pairs = zip(node.keys, node.values, strict=True)
                return Pairs(tuple((self.expr(k) if k else None, self.expr(v)) for k, v in pairs))
            case ast.Lambda():
                return self.function(node)
            case _:
                return self.rare(node)

    def rare(self, node: ast.expr) -> Expr:
        """The kinds of expression that are met less often."""
        match node:
            case ast.BoolOp():
                return Logic("and" if isinstance(node.op, ast.And) else "or", tuple(map(self.expr, node.values)))
            case ast.Compare():
                if len(node.ops) > 1:
                    return Opaque(tuple(map(self.expr, (node.left, *node.comparators))))
                return Compare(_TESTS[type(node.ops[0])], self.expr(node.left), self.expr(node.comparators[0]))
            case ast.UnaryOp(op=ast.Not()):
                return Not(self.expr(node.operand))
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
                return Const(-number)
            case ast.UnaryOp():
                return Binary("~", Const(0), self.expr(node.operand))
            case ast.IfExp():
                return Choice(self.expr(node.test), self.expr(node.body), self.expr(node.orelse))
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp():
                return self.comprehension(node.elt, None, node.generators)
            case ast.DictComp():
                return self.comprehension(node.key, node.value, node.generators)
            case ast.Await():
                return Await(self.expr(node.value))
            case ast.NamedExpr():
                return Bind(self.target(node.target), self.expr(node.value))
            case ast.Starred():
                return Star(self.expr(node.value))
            case ast.Yield() | ast.YieldFrom():
                self.generator = True
                return Yield(self.expr(node.value) if node.value else Const(None))
            case ast.Slice():
                bounds = [b for b in (node.lower, node.upper, node.step) if b is not None]
                return Opaque(tuple(map(self.expr, bounds)))
            case _:
                return Opaque()

    def comprehension(self, element: ast.expr, value: ast.expr | None, loops: list[ast.comprehension]) -> Each:
        """A comprehension; its targets are its own."""
        self.bound.append(set())
        found = tuple((self.target(c.target), self.expr(c.iter), tuple(map(self.expr, c.ifs))) for c in loops)
        each = Each(self.expr(element), self.expr(value) if value else None, found)
        self.bound.pop()
        return each

    def binary(self, node: ast.BinOp) -> Expr:
        """An operation; a long sum, which the syntax tree nests on its left, becomes one node."""
        if not isinstance(node.op, ast.Add):
            return Binary(_sign(node.op), self.expr(node.left), self.expr(node.right))
        parts = []
        left: ast.expr = node
        while isinstance(left, ast.BinOp) and isinstance(left.op, ast.Add):
            parts.append(self.expr(left.right))
            left = left.left
        parts.append(self.expr(left))
        return Sum(tuple(reversed(parts)))


def _sign(op: ast.operator) -> str:
    return "+" if isinstance(op, ast.Add) else _SIGNS.get(type(op), "?")
