"""tree-sitter's tree of the skeleton becomes the structure of the text."""

from __future__ import annotations

from functools import lru_cache
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from typing import TYPE_CHECKING, Any

from vigil_lang.abstraction.shell.limits import MAX_NESTING, MAX_PARSE, Exceeded
from vigil_lang.abstraction.shell.syntax import (
    AndOr,
    Background,
    Broken,
    Case,
    For,
    ForArithmetic,
    Function,
    If,
    Negated,
    Node,
    Pipeline,
    Redirected,
    Sequence,
    Simple,
    Subshell,
    While,
)
from vigil_lang.abstraction.shell.tokens import WordToken
from vigil_lang.patterns import regex

if TYPE_CHECKING:
    from tree_sitter import Node as Tree
    from tree_sitter import Parser

    from vigil_lang.abstraction.shell.limits import Budget
    from vigil_lang.abstraction.shell.tokens import Lexed

_WRITTEN = regex(r"[a-z{}]+")
"""Words and keywords of a skeleton."""

_CHUNK = 1 << 16
_SMALL = 2_000
"""Characters that are parsed without counting how long it takes."""

_COMPOUND = frozenset(
    {
        "subshell",
        "compound_statement",
        "if_statement",
        "while_statement",
        "for_statement",
        "case_statement",
        "function_definition",
    }
)
_STATEMENTS = _COMPOUND | {"command", "list", "pipeline"}


@lru_cache(maxsize=1)
def _parser() -> Parser:
    import tree_sitter

    return tree_sitter.Parser(tree_sitter.Language(_grammar().language()))


def _grammar() -> Any:
    """The compiled half of `tree_sitter_bash`: its other half finds queries, for which it imports much."""
    found = find_spec("tree_sitter_bash")
    places = None if found is None else found.submodule_search_locations
    inner = PathFinder.find_spec("tree_sitter_bash._binding", places)
    if inner is None or inner.loader is None:
        raise ImportError("tree_sitter_bash has no compiled grammar")
    module = module_from_spec(inner)
    inner.loader.exec_module(module)
    return module


def structure(lexed: Lexed, budget: Budget) -> Node:
    """The statements of a text that was cut up.

    Raises:
        Exceeded: they are nested too deeply, or the parser takes too long over them.
    """
    root = _parse(lexed.skeleton.encode("ascii"))
    builder = _Builder(lexed, budget)
    if root.type == "ERROR":
        return builder.broken(root)
    return builder.sequence(root.children, 0)


def _parse(skeleton: bytes) -> Tree:
    parser = _parser()
    if len(skeleton) <= _SMALL:
        return parser.parse(skeleton).root_node
    reports = 0
    most = MAX_PARSE * (1 + len(skeleton) // 10_000)

    def progress(*_: object) -> bool:
        nonlocal reports
        reports += 1
        return reports > most

    def read(offset: int, _: object) -> bytes:
        return skeleton[offset : offset + _CHUNK]

    try:
        tree: Any = parser.parse(read, progress_callback=progress)
    except ValueError:
        tree = None
    if tree is None or reports > most:
        parser.reset()
        raise Exceeded("its structure is too involved to be read")
    root: Tree = tree.root_node
    return root


class _Builder:
    """What is the same for all nodes of one tree."""

    def __init__(self, lexed: Lexed, budget: Budget) -> None:
        self.lexed = lexed
        self.budget = budget

    def trouble(self, node: Tree) -> None:
        if self.lexed.cut:
            return
        line = self.lexed.line_of(self.lexed.start + node.start_byte)
        self.budget.refuse(f"line {line}: not understood as Bash")

    def sequence(self, children: list[Tree], depth: int) -> Sequence:
        """Statements with what ends each."""
        if depth > MAX_NESTING:
            raise Exceeded(f"nested more than {MAX_NESTING} deep")
        items: list[Node] = []
        for child in children:
            kind = child.type
            if kind in _STATEMENTS:
                items.append(self.statement(child, depth))
            elif kind == "&" and items:
                items[-1] = Background(items[-1])
            elif kind == "ERROR":
                items.append(self.broken(child))
            elif child.is_missing:
                self.trouble(child)
        return Sequence(tuple(items))

    def broken(self, node: Tree) -> Node:
        """The commands in what is no Bash, whatever stands between them."""
        self.trouble(node)
        found: list[Node] = []
        for match in _WRITTEN.finditer(self.lexed.skeleton, node.start_byte, node.end_byte):
            if not match[0].strip("w"):
                start, end = self.lexed.start + match.start(), self.lexed.start + match.end()
                found.append(Simple(self.lexed, start, end, tuple(self.lexed.between(start, end))))
        return Broken(Sequence(tuple(found)))

    def statement(self, node: Tree, depth: int) -> Node:
        if node.type != "list":
            return self.pipeline(node, depth)
        first = node
        rest: list[tuple[str, Node]] = []
        while first.type == "list":
            inner = first.children
            self.check(first)
            rest.append((inner[1].type, self.pipeline(inner[-1], depth)))
            first = inner[0]
        return AndOr(self.pipeline(first, depth), tuple(reversed(rest)))

    def pipeline(self, node: Tree, depth: int) -> Node:
        start = self.lexed.start + node.start_byte
        if node.type == "pipeline":
            stages: list[Node] = []
            first = node
            while first.type == "pipeline":
                inner = first.children
                self.check(first)
                stages += [self.command(child, depth) for child in reversed(inner[1:]) if child.type in _STATEMENTS]
                first = inner[0]
            built: Node = Pipeline((self.command(first, depth), *reversed(stages)))
        else:
            built = self.command(node, depth)
        if start in self.lexed.negated:
            built = Negated(built)
        return Background(built) if start in self.lexed.detached else built

    def check(self, node: Tree) -> None:
        """Tell of errors right in a node."""
        if node.has_error:
            for child in node.children:
                if child.type == "ERROR" or child.is_missing:
                    self.trouble(child)

    def command(self, node: Tree, depth: int) -> Node:
        start, end = self.lexed.start + node.start_byte, self.lexed.start + node.end_byte
        if node.type not in _COMPOUND:
            if node.type in ("list", "pipeline"):
                return self.statement(node, depth + 1)
            self.check(node)
            tokens = tuple(self.lexed.between(start, end))
            if not tokens:
                self.trouble(node)  # a keyword where none can be
            return Simple(self.lexed, start, end, tokens)
        if depth > MAX_NESTING:
            raise Exceeded(f"nested more than {MAX_NESTING} deep")
        built = self.compound(node, start, depth + 1)
        redirects = self.lexed.trailing.get(end)
        if not redirects or isinstance(built, Function):
            return built
        return Redirected(self.lexed, start, redirects[-1].end, built, tuple(redirects))

    def compound(self, node: Tree, start: int, depth: int) -> Node:
        children = node.children
        self.check(node)
        match node.type:
            case "subshell":
                return Subshell(self.sequence(children, depth))
            case "if_statement":
                return self.conditional(children, depth)
            case "while_statement":
                return self.loop(children, depth)
            case "for_statement":
                return self.iteration(node, start, depth)
            case "case_statement":
                return self.cases(children, start, depth)
            case "function_definition":
                return self.function(node)
            case _:
                return self.sequence(children, depth)

    def conditional(self, children: list[Tree], depth: int) -> Node:
        branches: list[tuple[Node, Node]] = []
        otherwise: Node | None = None
        parts: list[list[Tree]] = [[], []]
        part = 0
        for child in children:
            if child.type == "then":
                part = 1
            elif child.type == "elif_clause":
                at = next((i for i, c in enumerate(child.children) if c.type == "then"), len(child.children))
                self.check(child)
                condition = self.sequence(child.children[:at], depth)
                branches.append((condition, self.sequence(child.children[at:], depth)))
            elif child.type == "else_clause":
                self.check(child)
                otherwise = self.sequence(child.children, depth)
            else:
                parts[part].append(child)
        branches.insert(0, (self.sequence(parts[0], depth), self.sequence(parts[1], depth)))
        return If(tuple(branches), otherwise)

    def loop(self, children: list[Tree], depth: int) -> Node:
        condition: Node = self.sequence([c for c in children if c.type != "do_group"], depth)
        if children[0].type == "until":
            condition = Negated(condition)
        return While(condition, self.body(children, depth))

    def body(self, children: list[Tree], depth: int) -> Node:
        for child in children:
            if child.type == "do_group":
                self.check(child)
                return self.sequence(child.children, depth)
        return Sequence(())

    def iteration(self, node: Tree, start: int, depth: int) -> Node:
        body = self.body(node.children, depth)
        limit = next((c.start_byte for c in node.children if c.type == "do_group"), node.end_byte)
        tokens = [t for t in self.lexed.between(start, self.lexed.start + limit) if isinstance(t, WordToken)]
        for position, inside in self.lexed.loops.items():
            if start < position < self.lexed.start + limit:
                return ForArithmetic(inside, body)
        words = any(c.type == "in" for c in node.children)
        name = self.lexed.text[tokens[0].start : tokens[0].end] if tokens else ""
        return For(name, tuple(tokens[1:]) if words else None, body, node.children[0].type == "select")

    def cases(self, children: list[Tree], start: int, depth: int) -> Node:
        items = [child for child in children if child.type == "case_item"]
        complete = False
        branches: list[Node] = []
        patterns: list[WordToken] = []
        for item in items:
            close = next((i for i, c in enumerate(item.children) if c.type == ")"), 0)
            self.check(item)
            pattern = self.lexed.between(
                *(self.lexed.start + b for b in (item.start_byte, item.children[close].start_byte))
            )
            texts = [self.lexed.text[token.start : token.end] for token in pattern]
            patterns += [token for token in pattern if isinstance(token, WordToken)]
            complete = complete or "*" in texts
            branches.append(self.sequence(item.children[close:], depth))
        first = self.lexed.start + (items[0].start_byte if items else children[-1].start_byte)
        words = [token for token in self.lexed.between(start, first) if isinstance(token, WordToken)]
        return Case((*words[:1], *patterns), tuple(branches), complete)

    def function(self, node: Tree) -> Node:
        text = self.lexed.text
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is None or body is None:
            return Sequence(())
        start = self.lexed.start + body.start_byte
        end = self.lexed.start + body.end_byte
        end = max([end, *(token.end for token in self.lexed.trailing.get(end, ()))])
        return Function(
            text[self.lexed.start + name.start_byte : self.lexed.start + name.end_byte],
            text[start:end],
            self.lexed.line_of(start),
        )
