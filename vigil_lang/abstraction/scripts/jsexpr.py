"""JavaScript into the tree: expressions and functions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vigil_lang.abstraction.scripts.tree import (
    Attr,
    Await,
    Binary,
    Bind,
    Call,
    Choice,
    Compare,
    Const,
    Expr,
    Index,
    Items,
    Lambda,
    Logic,
    Name,
    Not,
    Opaque,
    Pairs,
    Parameter,
    Return,
    Star,
    Stmt,
    Sum,
    Yield,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tree_sitter import Node

_SIGNS = {"===": "==", "!==": "!=", "==": "==", "!=": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": ""}
_HEX = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,6})\})")


def text_of(node: Node) -> str:
    """The text of a node."""
    return node.text.decode("utf-8", "replace") if node.text is not None else ""


def children(node: Node) -> Iterable[Node]:
    """The parts of a node that have a meaning."""
    return (c for c in node.named_children if c.type != "comment")


class Expressions:
    """Translates expressions, counting nodes; `bound` collects the names that loops and functions assign."""

    def __init__(self, nodes: int, depth: int) -> None:
        self.left = nodes
        self.max_depth = depth
        self.too_deep = False
        self.depth = 0
        self.bound: list[set[str]] = [set()]
        self.not_read: dict[str, int] = {}
        """Kinds of syntax that are not read, each with the line of the first."""

    def body(self, node: Node | None) -> tuple[Stmt, ...]:
        """The statements of a function."""
        raise NotImplementedError

    def expr(self, node: Node) -> Expr:
        """An expression."""
        self.left -= 1
        if self.left <= 0 or self.depth >= self.max_depth:
            self.too_deep |= self.depth >= self.max_depth
            return Opaque()
        self.depth += 1
        found = self._expr(node)
        self.depth -= 1
        return found

    def named(self, node: Node, name: str) -> Expr:
        """An expression that is given a name: a function is called so."""
        found = self.expr(node)
        if isinstance(found, Lambda) and not found.name:
            found.name = name
        return found

    def _expr(self, node: Node) -> Expr:
        match node.type:
            case "identifier" | "shorthand_property_identifier" | "this" | "undefined" | "super":
                text = text_of(node)
                return Const(None) if text == "undefined" else Name(text)
            case "string":
                return Const(_unescaped(text_of(node)[1:-1]))
            case "template_string":
                return self.template(node)
            case "number":
                return _number(text_of(node))
            case "true" | "false":
                return Const(node.type == "true")
            case "null":
                return Const(None)
            case "call_expression" | "new_expression":
                return self.call(node)
            case "member_expression":
                owner, name = node.child_by_field_name("object"), node.child_by_field_name("property")
                if owner is None or name is None:
                    return Opaque()
                return Attr(self.expr(owner), text_of(name), node.start_point[0] + 1)
            case "subscript_expression":
                owner, key = node.child_by_field_name("object"), node.child_by_field_name("index")
                if owner is None or key is None:
                    return Opaque()
                return Index(self.expr(owner), self.expr(key), node.start_point[0] + 1)
            case "arrow_function" | "function_expression" | "function" | "generator_function":
                return self.function(node)
            case "array":
                return Items(tuple(map(self.expr, children(node))))
            case "object":
                return Pairs(tuple(self.pairs(node)))
            case "await_expression":
                return Await(self.only(node))
            case "parenthesized_expression" | "computed_property_name":
                return self.only(node)
            case "spread_element":
                return Star(self.only(node))
            case _:
                return self.rare(node)

    def rare(self, node: Node) -> Expr:
        """The kinds of expression that are met less often."""
        match node.type:
            case "binary_expression":
                return self.binary(node)
            case "unary_expression":
                inner = self.only(node)
                sign = text_of(node.children[0])
                if sign == "-" and isinstance(inner, Const) and isinstance(inner.value, int | float):
                    return Const(-inner.value)
                return Not(inner) if sign == "!" else Opaque((inner,))
            case "ternary_expression":
                parts = [self.expr(c) for c in children(node)]
                return Choice(*parts) if len(parts) == 3 else Opaque(tuple(parts))
            case "assignment_expression":
                target, value = node.child_by_field_name("left"), node.child_by_field_name("right")
                if target is None or value is None:
                    return Opaque()
                return Bind(self.target(target), self.expr(value))
            case "augmented_assignment_expression" | "update_expression":
                target = node.child_by_field_name("left")
                target = target if target is not None else node.child_by_field_name("argument")
                value = node.child_by_field_name("right")
                if target is None:
                    return Opaque()
                added = (self.expr(target), self.expr(value)) if value is not None else ()
                plus = any(c.type == "+=" for c in node.children)
                return Bind(self.target(target), Sum(added) if added and plus else Opaque(added))
            case "meta_property" | "import":
                return Name(text_of(node))
            case "class":
                return self.class_in_place(node)
            case "yield_expression":
                return Yield(self.only(node))
            case "statement_block":
                self.not_read.setdefault(node.type, _line(node))
                return Opaque()
            case _:
                return Opaque(tuple(map(self.expr, children(node))))

    def class_in_place(self, node: Node) -> Expr:
        """A class that is a value: what a function returns that defines it."""
        raise NotImplementedError

    def only(self, node: Node) -> Expr:
        """The expression inside another."""
        inner = next(iter(children(node)), None)
        return self.expr(inner) if inner is not None else Opaque()

    def call(self, node: Node) -> Expr:
        """A call; `import("x")` too."""
        func = node.child_by_field_name("function")
        func = func if func is not None else node.child_by_field_name("constructor")
        given = node.child_by_field_name("arguments")
        if func is None:
            return Opaque()
        args: tuple[Expr, ...] = ()
        if given is not None and given.type == "arguments":
            args = tuple(map(self.expr, children(given)))
        elif given is not None:
            held = (self.only(n) for n in children(given) if n.type == "template_substitution")
            args = (Items((self.template(given),)), *held)
        callee = Name("import()") if func.type == "import" else self.expr(func)
        return Call(callee, args, (), _line(node), new=node.type == "new_expression")

    def template(self, node: Node) -> Expr:
        """`a${b}c`"""
        parts: list[Expr] = []
        for inner in children(node):
            if inner.type == "template_substitution":
                parts.append(self.only(inner))
            else:
                parts.append(Const(_unescaped(text_of(inner))))
        return Sum(tuple(parts), text=True)

    def pairs(self, node: Node) -> Iterable[tuple[Expr | None, Expr]]:
        """The keys and values of an object."""
        for inner in children(node):
            key, value = inner.child_by_field_name("key"), inner.child_by_field_name("value")
            match inner.type:
                case "pair" if key is not None and value is not None:
                    yield self.key(key), self.named(value, text_of(key))
                case "shorthand_property_identifier":
                    yield Const(text_of(inner)), self.expr(inner)
                case "spread_element":
                    yield None, self.only(inner)
                case "method_definition":
                    function = self.function(inner)
                    name = inner.child_by_field_name("name")
                    computed = name is not None and name.type == "computed_property_name"
                    yield self.expr(name) if computed and name is not None else Const(function.name), function

    def key(self, node: Node) -> Expr:
        """The key of a pair."""
        return Const(text_of(node)) if node.type == "property_identifier" else self.expr(node)

    def binary(self, node: Node) -> Expr:
        """An operation; a long sum, which the syntax tree nests on its left, becomes one node."""
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        operator = node.child_by_field_name("operator")
        if left is None or right is None or operator is None:
            return Opaque()
        sign = text_of(operator)
        if sign == "+":
            parts = [self.expr(right)]
            while left.type == "binary_expression" and self.left > 0:
                inner, other = left.child_by_field_name("operator"), left.child_by_field_name("right")
                deeper = left.child_by_field_name("left")
                if inner is None or other is None or deeper is None or text_of(inner) != "+":
                    break
                parts.append(self.expr(other))
                left = deeper
            parts.append(self.expr(left))
            return Sum(tuple(reversed(parts)))
        operands = self.expr(left), self.expr(right)
        if sign in ("&&", "||", "??"):
            return Logic({"&&": "and", "||": "or"}.get(sign, sign), operands)
        if sign in _SIGNS:
            return Compare(_SIGNS[sign], *operands)
        return Binary(sign, *operands)

    def target(self, node: Node) -> Expr:
        """What is assigned to."""
        match node.type:
            case "identifier" | "shorthand_property_identifier_pattern":
                self.bound[-1].add(text_of(node))
                return Name(text_of(node))
            case "array_pattern":
                return Items(self.targets(children(node)))
            case "object_pattern":
                return Pairs(tuple(self.taken(node)))
            case "rest_pattern":
                return Star(*self.targets(list(children(node))[:1]))
            case "assignment_pattern":
                left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
                if left is None or right is None:
                    return Opaque()
                return Logic("??", (self.target(left), self.expr(right)))
            case _:
                return self.expr(node)

    def targets(self, nodes: Iterable[Node]) -> tuple[Expr, ...]:
        """Several targets."""
        self.depth += 1
        self.too_deep |= self.depth > self.max_depth
        found = tuple(map(self.target, nodes)) if self.depth <= self.max_depth else ()
        self.depth -= 1
        return found

    def taken(self, node: Node) -> Iterable[tuple[Expr | None, Expr]]:
        """The names that are taken out of an object."""
        for inner in children(node):
            key, value = inner.child_by_field_name("key"), inner.child_by_field_name("value")
            match inner.type:
                case "shorthand_property_identifier_pattern":
                    yield Const(text_of(inner)), self.target(inner)
                case "pair_pattern" if key is not None and value is not None:
                    yield self.key(key), self.targets([value])[0] if self.depth < self.max_depth else Opaque()
                case "object_assignment_pattern":
                    left, right = inner.child_by_field_name("left"), inner.child_by_field_name("right")
                    if left is not None and right is not None:
                        yield Const(text_of(left)), Logic("??", (self.target(left), self.expr(right)))
                case "rest_pattern":
                    yield None, self.target(next(iter(children(inner))))

    def function(self, node: Node) -> Lambda:
        """A function with its parameters."""
        name = node.child_by_field_name("name")
        given = node.child_by_field_name("parameters")
        alone = node.child_by_field_name("parameter")
        self.bound.append(set())
        nodes = [alone] if alone is not None else children(given) if given is not None else []
        params = tuple(map(self.parameter, nodes))
        body = node.child_by_field_name("body")
        if body is not None and body.type != "statement_block":
            statements: tuple[Stmt, ...] = (Return(self.expr(body)),)
        else:
            statements = self.body(body)
        names = frozenset(self.bound.pop())
        is_async = any(c.type == "async" for c in node.children)
        called = text_of(name) if name is not None else ""
        generator = node.type.startswith("generator")
        accessor = any(c.type in ("get", "set") for c in node.children)
        return Lambda(
            called, params, statements, _line(node), is_async, generator, names, node.type == "arrow_function", accessor
        )

    def parameter(self, node: Node) -> Parameter:
        """A parameter, perhaps with a default, perhaps taken apart."""
        target, default = node, None
        if node.type == "assignment_pattern":
            left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
            target, default = left if left is not None else node, self.expr(right) if right is not None else None
        if target.type == "rest_pattern":
            inner = next(iter(children(target)), None)
            return Parameter(text_of(inner) if inner is not None else "", star="*")
        if target.type == "identifier":
            return Parameter(text_of(target), default)
        return Parameter("", default, pattern=self.target(target))


def _line(node: Node) -> int:
    return node.start_point[0] + 1


def _unescaped(text: str) -> str:
    """What a literal's text stands for."""
    if "\\" not in text:
        return text
    text = _HEX.sub(_character, text)
    pieces = text.split("\\")
    found = [pieces[0]]
    escaped = False
    for piece in pieces[1:]:
        if escaped:  # the backslash before was itself escaped
            found.append(piece)
            escaped = False
        elif not piece:
            found.append("\\")
            escaped = True
        else:
            found.append(_ESCAPES.get(piece[0], piece[0]) + piece[1:])
    return "".join(found)


def _character(found: re.Match[str]) -> str:
    code = int(found[1] or found[2] or found[3], 16)
    return chr(code) if code <= 0x10FFFF and code != 0x5C else found[0]


def _number(text: str) -> Expr:
    digits = text.replace("_", "").removesuffix("n")
    try:
        return Const(int(digits, 0) if len(digits) < 100 else float(digits))
    except ValueError:
        pass
    try:
        return Const(float(digits))
    except ValueError:
        return Opaque()
