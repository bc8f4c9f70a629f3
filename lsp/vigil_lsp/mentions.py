"""Every place in one file that names something a policy declares, with the symbol it names.

A name means here what it means to `vigil_lang.semantics`: the parameters of a pattern hide declarations, a declared
pattern hides an action of its name, a bare word in a set is text unless a value is declared under it, and a name that
is declared nowhere is a variable of the statement.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Span
from vigil_lang.syntax import tree
from vigil_lsp.cursor import walk
from vigil_lsp.default_layer import LAYERS, default_layer, of_default_layer
from vigil_lsp.symbols import Kind, Mention, Role, Symbol, kind_of, module_symbol, path_of, tested
from vigil_lsp.test_mentions import mentions_in
from vigil_lsp.unparsed_names import declared_words

if TYPE_CHECKING:
    from vigil_lang.semantics.modules import Module

__all__ = ["Kind", "Mention", "Role", "Symbol", "mentions", "path_of", "tested"]

# As in `semantics.metadata`, in the text as written: `\u{a0}` is an escape.
_PLACEHOLDER = re.compile(r"\\u\{[^}]*\}|\\.|\{([A-Za-z_][A-Za-z0-9_.-]*)\}")


def mentions(module: Module, namesake: Module | None = None) -> tuple[Mention, ...]:
    """Every mention of a file, in text order; one span may name several things in a test.

    `namesake` is the policy that a file of tests is named after.
    """
    found = _Collector(module, namesake)
    found.file()
    return tuple(sorted(found.mentions, key=lambda m: (m.span, m.role)))


@dataclass
class _Collector:
    module: Module
    namesake: Module | None
    mentions: list[Mention] = field(default_factory=list)
    paths: dict[Module, str] = field(default_factory=dict)
    path: str = ""
    owner: Symbol | None = None
    parameters: frozenset[str] = frozenset()

    def file(self) -> None:
        self.path = path_of(self.module)
        file = self.module.file
        if file.name is not None:
            self._add(module_symbol(self.module), file.name.span, "declaration")
        for item in file.items:
            self.owner, self.parameters = None, frozenset()
            match item:
                case tree.Use():
                    self._use(item)
                case tree.TestCase():
                    self.owner = Symbol("test", item.name.raw, self.path)
                    self.mentions += mentions_in(item, self.owner, self.module, self.namesake)
                case tree.Statement():
                    self._declares("statement", item.name)
                    self._messages(item)
                    self._form(item.form)
                    if item.after is not None:
                        self._expr(item.after)
                    if item.where is not None:
                        self._where(item.where)
                case tree.Rule():
                    self._declares("rule", item.name)
                    self._expr(item.when)
                    for name in item.relaxes:
                        self._judged(name, of_default_layer(name.text))
                case tree.Pattern():
                    self._declares("pattern", item.name)
                    self.parameters = frozenset(p.text for p in item.params)
                    for param in item.params:
                        self._add(self._parameter(param.text), param.span, "declaration")
                    self._expr(item.body)
                case tree.Let(name, value):
                    self._declares("let", name)
                    self._value(value)
                case tree.Param(name, _, default):
                    self._declares("param", name)
                    self._value(default)
        self.owner = None
        for span in file.broken:
            for word, place in declared_words(self.module, span):
                symbol = self._declared(word)
                if symbol is not None:
                    self._add(symbol, place)

    # --- what is found ---

    def _add(self, symbol: Symbol, span: Span, role: Role = "reference") -> None:
        self.mentions.append(Mention(symbol, span, role, self.owner))

    def _declares(self, kind: Kind, name: tree.Name) -> None:
        self.owner = Symbol(kind, name.text, self.path)
        self._add(self.owner, name.span, "declaration")

    def _declared(self, name: str) -> Symbol | None:
        found = self.module.find(name)
        return None if found is None else Symbol(kind_of(found[1]), found[1].name.text, self._path(found[0]))

    def _path(self, module: Module) -> str:
        """As `path_of`, which asks the file system."""
        if module not in self.paths:
            self.paths[module] = path_of(module)
        return self.paths[module]

    def _parameter(self, name: str) -> Symbol:
        assert self.owner is not None
        return Symbol("parameter", name, self.path, (self.owner.kind, self.owner.name))

    def _variable(self, name: str) -> Symbol:
        assert self.owner is not None
        return Symbol("variable", name, self.path, (self.owner.kind, self.owner.name))

    # --- items ---

    def _use(self, use: tree.Use) -> None:
        used = next((module for item, module in self.module.uses if item is use), None)
        if used is None:
            return
        self._add(module_symbol(used), use.module.span, "import")
        path = path_of(used)
        for name in use.names:
            if name.text in used.own:
                self._add(Symbol(kind_of(used.own[name.text]), name.text, path), name.span, "import")

    def _messages(self, item: tree.Statement) -> None:
        """Variables in the braces of what a violation says."""
        for note in item.annotations:
            match note.name.text, note.args:
                case "message", (tree.String(raw, span),):
                    for found in _PLACEHOLDER.finditer(raw):
                        if found[1] is not None:
                            start = span.start + 1 + found.start(1)
                            self._add(self._variable(found[1]), Span(start, start + len(found[1])))

    def _form(self, form: tree.Form) -> None:
        for condition in form.args:
            self._expr(condition)
        if isinstance(form.limit, tree.Name):
            self._word(form.limit)
        if form.since is not None:
            self._expr(form.since)

    def _where(self, where: tree.Expr) -> None:
        """Its fields are variables of the statement, quoted or not."""
        self._expr(where)
        for node in walk(where):
            if isinstance(node, tree.Field) and node.kind == "argument":
                start = node.span.start
                quoted = self.module.source.text[start] == '"'
                self._add(self._variable(node.name), Span(start + quoted, start + quoted + len(node.name)))

    def _value(self, value: tree.SetUnion | tree.Literal_ | tree.Regex | None) -> None:
        if isinstance(value, tree.SetUnion):
            self._set(value)

    # --- statements and rules ---

    def _judged(self, name: tree.Name, found: tuple[Module, tree.Statement | tree.Rule] | None) -> None:
        """A statement or rule by its name, its layer before it or not."""
        if found is not None:
            module, item = found
            kind: Kind = "rule" if isinstance(item, tree.Rule) else "statement"
            symbol = Symbol(kind, item.name.text, self._path(module))
            self._add(symbol, Span(name.span.end - len(symbol.name), name.span.end))

    def _violated(self, name: str) -> tuple[Module, tree.Statement] | None:
        """The statement that `violates` asks about: of this file, of one that it uses, or of the default layer."""
        layer, _, bare = name.partition(".")
        names = (name, bare) if layer in LAYERS else (name,)
        seen = [] if layer == "default" else [self.module, *(used for _, used in self.module.uses)]
        for module in (*seen, *default_layer()):
            item = next((module.judged[one] for one in names if one in module.judged), None)
            if isinstance(item, tree.Statement):
                return module, item
        return None

    # --- conditions ---

    def _expr(self, expr: tree.Expr | tree.Literal_) -> None:
        match expr:
            case tree.Test(_, _, tree.SetUnion() as operand):
                self._set(operand)
            case tree.Test(_, _, tree.Name() as operand):
                self._term(operand)
            case tree.Apply():
                self._apply(expr)
            case tree.Violates(name):
                self._judged(name, self._violated(name.text))
            case tree.And(items) | tree.Or(items):
                for item in items:
                    self._expr(item)
            case tree.Not(body) | tree.Diamond(_, _, body) | tree.Repeated(_, body) | tree.Entry(_, body):
                self._expr(body)
            case tree.Implies(left, right) | tree.Interval(left=left, right=right):
                self._expr(left)
                self._expr(right)
            case tree.ActionIn(names):
                self._set(names)
            case tree.ActionIs(tree.Name() as name):
                self._word(name)
            case tree.ActionMatches(tree.Name() as name):
                self._term(name)
            case tree.ActionMatches(tree.SetUnion() as names):
                self._set(names)

    def _apply(self, apply: tree.Apply) -> None:
        """A pattern hides an action of its name, and a parameter does not hide a pattern."""
        symbol = self._declared(apply.name.text) if isinstance(apply.name, tree.Name) else None
        if symbol is not None:
            self._add(symbol, apply.name.span)
        elif apply.args is None and isinstance(apply.name, tree.Name) and apply.name.text in self.parameters:
            self._add(self._parameter(apply.name.text), apply.name.span)
        for arg in apply.args or ():
            match arg:
                case tree.Apply(tree.Name() as name, None) if self._is_term(name, symbol):
                    self._term(name)
                case _:
                    self._expr(arg)

    def _is_term(self, name: tree.Name, applied: Symbol | None) -> bool:
        """Whether a bare name between parentheses is a value: always in a pattern's, else where it is no pattern."""
        if applied is not None and applied.kind == "pattern":
            return True
        declared = self._declared(name.text)
        return declared is None or declared.kind != "pattern"

    def _term(self, name: tree.Name) -> None:
        if name.text in self.parameters:
            self._add(self._parameter(name.text), name.span)
        else:
            self._add(self._declared(name.text) or self._variable(name.text), name.span)

    def _set(self, union: tree.SetUnion) -> None:
        for part in union.parts:
            if isinstance(part, tree.SetLiteral):
                for element in part.elements:
                    if isinstance(element, tree.Name):
                        self._word(element)
            elif part.text in self.parameters:
                self._add(self._parameter(part.text), part.span)
            elif (symbol := self._declared(part.text)) is not None:
                self._add(symbol, part.span)

    def _word(self, name: tree.Name) -> None:
        """A bare name where plain texts stand: a declared value, or else its own text."""
        if name.text in self.parameters:
            self._add(self._parameter(name.text), name.span)
        elif (symbol := self._declared(name.text)) is not None and symbol.kind != "pattern":
            self._add(symbol, name.span)
