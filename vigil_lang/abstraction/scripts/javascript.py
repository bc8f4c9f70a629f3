"""JavaScript into the tree: statements. TypeScript is read as far as it is JavaScript."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.abstraction.scripts.jsexpr import Expressions, children, text_of
from vigil_lang.abstraction.scripts.tree import (
    Assign,
    Call,
    ClassDef,
    Const,
    Define,
    Do,
    Expr,
    If,
    Import,
    Jump,
    Lambda,
    Loop,
    Module,
    Name,
    Opaque,
    Raise,
    Return,
    Stmt,
    Try,
    plain,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tree_sitter import Node

MAX_NODES = 60_000
"""Nodes of a script that are translated; what comes after is left out."""

MAX_DEPTH = 100
"""How deeply expressions and blocks may be nested; what is deeper is opaque."""


def read_javascript(text: str) -> Module:
    """The tree of a script. Where there is an error, what is around it is read."""
    import tree_sitter_javascript
    from tree_sitter import Language, Parser

    root = Parser(Language(tree_sitter_javascript.language())).parse(text.encode("utf-8", "replace")).root_node
    translator = _Translator(MAX_NODES, MAX_DEPTH)
    body = translator.block(children(root))
    trouble: list[str] = []
    if root.has_error:
        trouble.append(f"line {_first_error(root)}: this is no JavaScript")
    if translator.left <= 0:
        trouble.append(f"the script has more than {MAX_NODES} nodes: its end was not read")
    trouble += [f"line {line}: {what.replace('_', ' ')} is not read" for what, line in translator.not_read.items()]
    if translator.too_deep:
        trouble.append(f"the script is nested more than {MAX_DEPTH} deep")
    return Module(body, trouble=tuple(trouble))


def _first_error(root: Node) -> int:
    """The line of the first error of a tree that has one."""
    node = root
    for _ in range(10_000):
        inner = next((c for c in node.children if c.has_error or c.is_missing), None)
        if node.is_error or inner is None:
            break
        node = inner
    return node.start_point[0] + 1


class _Translator(Expressions):
    """Translates statements."""

    def block(self, nodes: Iterable[Node]) -> tuple[Stmt, ...]:
        """Statements in turn, function declarations first: they are known before anything runs."""
        self.depth += 1
        first: list[Stmt] = []
        found: list[Stmt] = []
        if self.depth > self.max_depth:
            self.too_deep = True
        else:
            for node in nodes:
                if self.left <= 0:
                    break
                for statement in self.statement(node):
                    (first if isinstance(statement, Define) else found).append(statement)
        self.depth -= 1
        return (*first, *found)

    def body(self, node: Node | None) -> tuple[Stmt, ...]:
        """A block, or the one statement that stands for it."""
        if node is None:
            return ()
        return self.block(children(node) if node.type == "statement_block" else [node])

    def statement(self, node: Node) -> Iterable[Stmt]:
        """What one statement becomes."""
        self.left -= 1
        match node.type:
            case "expression_statement":
                return self.expression(node)
            case "lexical_declaration" | "variable_declaration":
                return list(self.declarations(node))
            case "function_declaration" | "generator_function_declaration":
                function = self.function(node)
                self.bound[-1].add(function.name)
                return (Define(function),)
            case "class_declaration":
                return (self.class_of(node),)
            case "import_statement":
                return list(self.imports(node))
            case "export_statement":
                return self.exported(node)
            case "if_statement":
                return (self.branches(node),)
            case "for_in_statement" | "for_statement" | "while_statement" | "do_statement":
                return self.loop(node)
            case "try_statement":
                return (self.trial(node),)
            case "switch_statement":
                return self.switch(node)
            case "return_statement":
                return (Return(self.first(node)),)
            case "throw_statement":
                return (Raise(self.first(node)),)
            case "break_statement" | "continue_statement":
                return (Jump(node.type.partition("_")[0]),)
            case "statement_block" | "labeled_statement":
                inner = node.child_by_field_name("body")
                return self.body(inner if inner is not None else node)
            case "empty_statement" | "debugger_statement" | "hash_bang_line" | "comment":
                return ()
            case _:
                self.not_read.setdefault(node.type, node.start_point[0] + 1)
                return ()

    def first(self, node: Node) -> Expr | None:
        """The expression a statement is made of."""
        inner = next(iter(children(node)), None)
        return self.expr(inner) if inner is not None else None

    def expression(self, node: Node) -> Iterable[Stmt]:
        """An expression that stands alone; an assignment is one of its own."""
        inner = next(iter(children(node)), None)
        if inner is not None and inner.type == "assignment_expression":
            target, value = inner.child_by_field_name("left"), inner.child_by_field_name("right")
            if target is not None and value is not None:
                return (Assign((self.target(target),), self.expr(value)),)
        return (Do(self.expr(inner)),) if inner is not None else ()

    def declarations(self, node: Node) -> Iterable[Stmt]:
        """`const a = 1, b = 2`; one without a value has none yet."""
        for inner in children(node):
            name, value = inner.child_by_field_name("name"), inner.child_by_field_name("value")
            if name is not None:
                target = self.target(name)
                yield Assign((target,), self.named(value, plain(target) or "") if value is not None else Const(None))

    def class_of(self, node: Node) -> ClassDef:
        """A class with its methods and fields."""
        name = node.child_by_field_name("name")
        called = text_of(name) if name is not None else ""
        self.bound[-1].add(called)
        bases = tuple(self.expr(c) for h in node.children if h.type == "class_heritage" for c in children(h))
        members: list[Stmt] = []
        body = node.child_by_field_name("body")
        extra = [self.only(c) for c in children(node) if c.type == "decorator"]
        for member in children(body) if body is not None else ():
            key = member.child_by_field_name("name") or member.child_by_field_name("property")
            if key is not None and key.type == "computed_property_name":
                members.append(Do(self.expr(key)))
            extra += [self.only(c) for c in children(member) if c.type == "decorator"]
            if member.type == "decorator":
                extra.append(self.only(member))
            elif member.type == "class_static_block":
                members += self.body(member.child_by_field_name("body"))
            elif member.type == "method_definition":
                members.append(Define(self.function(member)))
            elif member.type == "field_definition":
                key, value = member.child_by_field_name("property"), member.child_by_field_name("value")
                if key is not None and value is not None:
                    members.append(Assign((Name(text_of(key)),), self.named(value, text_of(key))))
        return ClassDef(called, bases, tuple(members), tuple(extra))

    def class_in_place(self, node: Node) -> Expr:
        """A class that is a value: what a function returns that defines it."""
        found = self.class_of(node)
        found.name = found.name or "class"
        line = node.start_point[0] + 1
        made = Lambda("", (), (found, Return(Name(found.name))), line, arrow=True)
        return Call(made, (), (), line)

    def imports(self, node: Node) -> Iterable[Stmt]:
        """`import a, {b as c}, * as d from "m"`"""
        source = node.child_by_field_name("source")
        if source is None:
            return
        module, line = text_of(source)[1:-1], node.start_point[0] + 1
        clause = next((c for c in children(node) if c.type == "import_clause"), None)
        if clause is None:
            yield Import(module, None, "", line)
            return
        for part in children(clause):
            if part.type == "identifier":
                yield Import(module, "default", text_of(part), line)
            elif part.type == "namespace_import":
                yield Import(module, None, text_of(part.named_children[-1]), line)
            else:
                for item in children(part):
                    name, alias = item.child_by_field_name("name"), item.child_by_field_name("alias")
                    if name is not None:
                        yield Import(module, text_of(name), text_of(alias if alias is not None else name), line)

    def exported(self, node: Node) -> Iterable[Stmt]:
        """What is exported is a declaration, or a default value."""
        declared = node.child_by_field_name("declaration")
        if declared is not None:
            found = list(self.statement(declared))
            if any(c.type == "default" for c in node.children):
                inner = found[-1] if found else None
                name = inner.function.name if isinstance(inner, Define) else getattr(inner, "name", "")
                found += [Assign((Name("default"),), Name(name))] if name else []
            return found
        source = node.child_by_field_name("source")
        if source is not None:
            return (Import(text_of(source)[1:-1], None, "", node.start_point[0] + 1),)
        value = node.child_by_field_name("value")
        return (Assign((Name("default"),), self.expr(value)),) if value is not None else ()

    def branches(self, node: Node) -> If:
        """An `if` with its `else if`s, which the syntax tree nests."""
        found: list[tuple[Expr | None, tuple[Stmt, ...]]] = []
        while True:
            test = node.child_by_field_name("condition")
            body = self.body(node.child_by_field_name("consequence"))
            found.append((self.expr(test) if test is not None else Opaque(), body))
            other = node.child_by_field_name("alternative")
            inner = next(iter(children(other)), None) if other is not None else None
            if inner is None or self.left <= 0:
                return If(tuple(found))
            if inner.type != "if_statement":
                found.append((None, self.body(inner)))
                return If(tuple(found))
            node = inner

    def loop(self, node: Node) -> Iterable[Stmt]:
        """A loop, with the names it assigns; what a `for` starts with stands before it."""
        self.bound.append(set())
        before: list[Stmt] = []
        target = over = test = None
        if node.type == "for_in_statement":
            left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
            target = self.target(left) if left is not None else None
            over = self.expr(right) if right is not None else None
        else:
            start = node.child_by_field_name("initializer")
            before = list(self.statement(start)) if start is not None else []
            condition = node.child_by_field_name("condition")
            test = self.expr(condition) if condition is not None and condition.type != "empty_statement" else None
        body = self.body(node.child_by_field_name("body"))
        step = node.child_by_field_name("increment")
        if step is not None:
            body = (*body, Do(self.expr(step)))
        bound = self.bound.pop()
        self.bound[-1] |= bound
        keys = any(c.type == "in" for c in node.children)
        loop = Loop(target, over, test, body, (), frozenset(bound), once=node.type == "do_statement", keys=keys)
        return (*before, loop)

    def trial(self, node: Node) -> Try:
        """A `try`, with the names its body assigns."""
        self.bound.append(set())
        body = self.body(node.child_by_field_name("body"))
        bound = self.bound.pop()
        self.bound[-1] |= bound
        handler, final = node.child_by_field_name("handler"), node.child_by_field_name("finalizer")
        handlers: tuple[tuple[str | None, tuple[Stmt, ...]], ...] = ()
        if handler is not None:
            name = handler.child_by_field_name("parameter")
            handlers = ((text_of(name) if name is not None else None, self.body(handler.child_by_field_name("body"))),)
        last = self.body(final.child_by_field_name("body")) if final is not None else ()
        return Try(body, handlers, (), last, frozenset(bound))

    def switch(self, node: Node) -> Iterable[Stmt]:
        """A `switch`: any of its cases, or none."""
        value, body = node.child_by_field_name("value"), node.child_by_field_name("body")
        cases: list[tuple[Expr | None, tuple[Stmt, ...]]] = []
        for case in children(body) if body is not None else ():
            test = case.child_by_field_name("value")
            inner = [c for c in children(case) if test is None or c.id != test.id]
            statements = self.block(c for c in inner if c.type != "break_statement")
            cases.append((Opaque((self.expr(test),) if test is not None else ()), statements))
        before = (Do(self.expr(value)),) if value is not None else ()
        return (*before, If(tuple(cases)))
