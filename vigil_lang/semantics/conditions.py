"""Conditions with their names resolved: literals read, declarations looked up, patterns expanded."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Literal, NoReturn, TypeAlias

from vigil_lang.diagnostics import Diagnostic, Edit, Fix, Note, Span, nearest
from vigil_lang.semantics import core
from vigil_lang.semantics.modules import Module
from vigil_lang.semantics.text import BadEscape, Expression, Glob, Matcher, glob_text, predicate, quote, unescape
from vigil_lang.syntax import tree
from vigil_lang.trace.values import canonical

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from vigil_lang.diagnostics import Source

MAX_CONDITIONS = 20_000
MAX_NESTING = 64


class Failed(Exception):
    """A condition has no meaning; the reason is reported."""


# --- what a name can stand for -----------------------------------------------------------------------------

LiteralType: TypeAlias = Literal["text", "number", "bool"]


@dataclass(frozen=True, slots=True)
class Text:
    """One value: its canonical text, the type it was written with, and the glob it is after `~`."""

    text: str
    type: LiteralType
    glob: str


@dataclass(frozen=True, slots=True)
class TextSet:
    """A set of values."""

    texts: frozenset[str]


@dataclass(frozen=True, slots=True)
class Variable:
    """A value variable of the statement."""

    name: str


@dataclass(frozen=True, slots=True)
class Hole:
    """A pattern's parameter while the pattern is checked by itself: it may stand for any single value."""


Meaning: TypeAlias = Text | TextSet | Variable | Hole


@dataclass(frozen=True, slots=True)
class Argument:
    """What a pattern's parameter stands for in one application, and where that was written."""

    meaning: Meaning
    source: Source
    span: Span


@dataclass(frozen=True)
class Scope:
    """Where a condition stands: its module, what pattern parameters mean, and which patterns are being expanded."""

    module: Module
    arguments: dict[str, Argument] = field(default_factory=dict)
    expanding: tuple[tuple[Module, str], ...] = ()


class Values:
    """Values given from outside for `param` declarations."""

    def __init__(self, given: Mapping[str, object]) -> None:
        self.given = given

    def meaning(self, param: tree.Param) -> Meaning | str | None:
        """The outside value, None when there is none, or a sentence that says why it does not fit."""
        if param.name.text not in self.given:
            return None
        value = self.given[param.name.text]
        return _outside_value(value, param)


def _outside_value(value: object, param: tree.Param) -> Meaning | str:
    name, wanted = param.name.text, param.type
    if isinstance(value, str) and wanted != "text":
        value = _from_command_line(value, wanted)
    match wanted, value:
        case "set", list() | tuple() | set() | frozenset():
            if all(isinstance(v, (str, int, float, Decimal, bool)) for v in value):
                return TextSet(frozenset(canonical(v) for v in value))
        case "text", str():
            return Text(canonical(value), "text", value)
        case "bool", bool():
            return Text(canonical(value), "bool", canonical(value))
        case "number", int() | float() | Decimal() if not isinstance(value, bool):
            return Text(canonical(value), "number", canonical(value))
    return f"param `{name}` is a {wanted}, and `{value}` is not"


def _from_command_line(text: str, wanted: str) -> object:
    """A `--set` value is text; read it as the type the param declares."""
    if wanted == "set":
        return [part.strip() for part in text.split(",")] if text.strip() else []
    if wanted == "bool":
        return {"true": True, "false": False}.get(text, text)
    try:
        number = Decimal(text)
    except ArithmeticError:
        return text
    return number if number.is_finite() else text


# --- resolving ---------------------------------------------------------------------------------------------


class Conditions:
    """Turns expressions into core conditions, reporting what has no meaning."""

    def __init__(self, values: Values, report: Callable[[Diagnostic], None]) -> None:
        self.values = values
        self.report = report
        self.used: set[tuple[Source, str]] = set()
        self.budget = MAX_CONDITIONS
        self._resolving: list[str] = []

    def start_statement(self) -> None:
        """Each statement may expand to its own share of conditions."""
        self.budget = MAX_CONDITIONS

    def condition(self, expr: tree.Expr, scope: Scope) -> core.Condition:
        """The condition an expression denotes.

        Raises:
            Failed: it has none; at least one finding was reported. Both sides of a connective are always checked.
        """
        self.budget -= 1
        if self.budget < 0:
            message = f"the statement expands to more than {MAX_CONDITIONS:,} conditions"
            self._fail("VGL213", message, scope, expr.span)
        match expr:
            case tree.And(items):
                return core.AndC(self._all(items, scope))
            case tree.Or(items):
                return core.OrC(self._all(items, scope))
            case tree.Not(body):
                return core.NotC(self.condition(body, scope))
            case tree.Implies():
                self._fail("VGL107", "`implies` stands only in the body of `always`", scope, expr.span)
            case tree.Diamond(direction):
                message = f"`{direction}` stands only in the body of `always`"
                self._fail("VGL107", message, scope, expr.span)
            case tree.ActionIn(names):
                return core.ActionIn(self.set_of(names, scope))
            case tree.ActionIs(name):
                return core.ActionIn(frozenset({self._word(name, scope)}))
            case tree.ActionMatches(text):
                return core.ActionMatches(self._matcher(text, scope))
            case tree.StatusIs(status):
                return core.StatusIs(status)
            case tree.Has(name):
                return core.Has(self._reads(name, scope))
            case tree.Test():
                return self._test(expr, scope)
            case tree.Apply():
                return self._apply(expr, scope)

    def _all(self, items: tuple[tree.Expr, ...], scope: Scope) -> tuple[core.Condition, ...]:
        found: list[core.Condition] = []
        failed = False
        for item in items:
            try:
                found.append(self.condition(item, scope))
            except Failed:
                failed = True
        if failed:
            raise Failed
        return tuple(found)

    # --- tests ---

    def _reads(self, name: tree.Field, scope: Scope) -> core.Reads:
        if name.kind == "output":
            return core.Reads("output", output=True)
        return core.Reads(self._unescaped(name.name, scope, Span(name.span.start + 1, name.span.end)))

    def _test(self, test: tree.Test, scope: Scope) -> core.Condition:
        reads = self._reads(test.field, scope)
        operand, operator = test.operand, test.operator
        match operator:
            case "in" | "not in":
                assert isinstance(operand, tree.SetUnion)
                return core.In(reads, self.set_of(operand, scope), negated=operator == "not in")
            case "~" | "!~":
                assert isinstance(operand, (tree.String, tree.Name, tree.Regex))
                return core.Matches(reads, self._matcher(operand, scope), negated=operator == "!~")
            case "<" | "<=" | ">" | ">=":
                assert isinstance(operand, (tree.Number, tree.Name))
                return core.Compares(reads, operator, self._number(operand, scope))
        assert isinstance(operand, (tree.Name, tree.String, tree.Number, tree.Boolean))
        meaning = self.term(operand, scope)
        match operator, meaning:
            case "=", Variable(name):
                return core.Equals(reads, name)
            case "contains", Variable(name):
                return core.Contains(reads, name)
            case "=", Text(text):
                return core.In(reads, frozenset({text}))
            case "!=", Text(text):
                return core.In(reads, frozenset({text}), negated=True)
            case "contains", Text(text):
                return core.ContainsText(reads, text)
            case _, Hole():
                return core.Has(reads)
            case "!=", Variable(name):
                message = f"`!=` compares with a value, and `{name}` is a variable"
                help_text = f'write `not {test.field.name} = {name}`, or quote it: `"{name}"`'
                self._fail("VGL209", message, scope, operand.span, help_text, quote_fix(operand))
            case _:
                assert isinstance(operand, tree.Name)
                self._fail("VGL209", f"`{operand.text}` is a set; test it with `in`", scope, operand.span)

    def _matcher(self, text: tree.String | tree.Name | tree.Regex, scope: Scope) -> Matcher:
        if isinstance(text, tree.Regex):
            matcher: Matcher = Expression(text.raw, text.ignore_case)
            try:
                predicate(matcher)
            except ValueError as error:
                self._fail("VGL305", f"the regular expression is not valid: {error}", scope, text.span)
            return matcher
        meaning = self.term(text, scope)
        if isinstance(meaning, Text):
            return Glob(meaning.glob)
        if isinstance(meaning, Hole):
            return Glob("*")
        what = "a set" if isinstance(meaning, TextSet) else "a variable"
        shown = text.text if isinstance(text, tree.Name) else text.raw
        help_text = f'a text pattern is a string: `"{shown}"`'
        self._fail(
            "VGL209", f"`~` takes a text pattern, and `{shown}` is {what}", scope, text.span, help_text, quote_fix(text)
        )

    def _number(self, operand: tree.Number | tree.Name, scope: Scope) -> Decimal:
        if isinstance(operand, tree.Number):
            return self._decimal(operand, scope)
        meaning = self.term(operand, scope)
        if isinstance(meaning, Hole):
            return Decimal(0)
        if isinstance(meaning, Text) and meaning.type == "number":
            return Decimal(meaning.text)
        self._fail("VGL306", f"an order test needs a number, and `{operand.text}` is none", scope, operand.span)

    def _decimal(self, number: tree.Number, scope: Scope) -> Decimal:
        try:
            value = Decimal(number.raw)
        except ArithmeticError:
            value = Decimal("Infinity")
        if not value.is_finite() or abs(value.adjusted()) > 10_000:
            self._fail("VGL306", f"`{number.raw}` is out of range", scope, number.span)
        return value

    # --- terms and sets ---

    def term(self, term: tree.Term, scope: Scope) -> Meaning:
        """What a literal or a bare name stands for; a name that is declared nowhere is a value variable.

        Raises:
            Failed: the name is a pattern, or its declaration has no value.
        """
        match term:
            case tree.String(raw):
                return Text(self._unescaped(raw, scope, term.span), "text", glob_text(raw))
            case tree.Number(raw):
                text = canonical(self._decimal(term, scope))
                return Text(text, "number", text)
            case tree.Boolean(value):
                return Text(canonical(value), "bool", canonical(value))
            case tree.Name(name):
                if name in scope.arguments:
                    return scope.arguments[name].meaning
                return self._declared(term, scope) or Variable(name)

    def _declared(self, name: tree.Name, scope: Scope) -> Text | TextSet | None:
        """The value of a `let` or `param`, None when the name is not declared."""
        found = scope.module.find(name.text)
        if found is None:
            return None
        self.used.add((scope.module.source, name.text))
        module, declaration = found
        if isinstance(declaration, tree.Pattern):
            note = Note("declared here", module.source, declaration.name.span)
            self._fail("VGL209", f"`{name.text}` is a pattern, not a value", scope, name.span, notes=(note,))
        return self.value_of(declaration, module)

    def value_of(self, declaration: tree.Let | tree.Param, module: Module) -> Text | TextSet:
        """What a `let` or `param` stands for.

        Raises:
            Failed: a cycle, a missing or misfit value, or a broken definition.
        """
        scope, name = Scope(module), declaration.name
        key = f"{module.source.path}\0{name.text}"
        if key in self._resolving:
            self._fail("VGL203", f"`{name.text}` is defined by itself", scope, name.span)
        self._resolving.append(key)
        try:
            if isinstance(declaration, tree.Let):
                return self._value(declaration.value, scope)
            outside = self.values.meaning(declaration)
            if isinstance(outside, str):
                self._fail("VGL210", outside, scope, name.span)
            if isinstance(outside, (Text, TextSet)):
                return outside
            if declaration.default is None:
                help_text = f"give it one with `--set {name.text}=…`"
                self._fail("VGL210", f"param `{name.text}` has no value", scope, name.span, help_text)
            return self._default(declaration, declaration.default, scope)
        finally:
            self._resolving.pop()

    def _default(
        self, param: tree.Param, default: tree.SetUnion | tree.Literal_, scope: Scope
    ) -> Text | TextSet:
        value = self._value(default, scope)
        found = "set" if isinstance(value, TextSet) else value.type
        if found != param.type:
            message = f"param `{param.name.text}` is a {param.type}, and its default is a {found}"
            self._fail("VGL306", message, scope, default.span)
        return value

    def _value(self, value: tree.SetUnion | tree.Literal_, scope: Scope) -> Text | TextSet:
        if not isinstance(value, tree.SetUnion):
            meaning = self.term(value, scope)
            assert isinstance(meaning, Text)
            return meaning
        if len(value.parts) == 1 and isinstance(value.parts[0], tree.Name):
            alias = self._declared(value.parts[0], scope)  # `let A = B`: whatever B is
            if alias is not None:
                return alias
        return TextSet(self.set_of(value, scope))

    def set_of(self, union: tree.SetUnion, scope: Scope) -> frozenset[str]:
        """The texts of a set.

        Raises:
            Failed: a part is not a set, or an element is one.
        """
        texts: set[str] = set()
        for part in union.parts:
            if isinstance(part, tree.SetLiteral):
                texts.update(self._element(element, scope) for element in part.elements)
                continue
            meaning = scope.arguments[part.text].meaning if part.text in scope.arguments else None
            meaning = meaning or self._declared(part, scope)
            if isinstance(meaning, TextSet):
                texts |= meaning.texts
            elif meaning is None:
                near = nearest(part.text, scope.module.names())
                help_text = f"did you mean `{near[0]}`?" if near else f"write `{{{part.text}}}` for the set of that one"
                self._fail("VGL201", f"no set named `{part.text}` is declared", scope, part.span, help_text)
            elif not isinstance(meaning, Hole):
                help_text = f"write `{{{part.text}}}` for the set of that one"
                self._fail("VGL209", f"`{part.text}` is not a set", scope, part.span, help_text)
        return frozenset(texts)

    def _element(self, element: tree.Term, scope: Scope) -> str:
        """An element is a literal, a declared value or pattern argument, or else its own text."""
        if isinstance(element, tree.Name):
            return self._word(element, scope)
        meaning = self.term(element, scope)
        assert isinstance(meaning, Text)
        return meaning.text

    def _word(self, name: tree.Name | tree.String, scope: Scope) -> str:
        """A bare name in a place of plain texts (a set, `action =`)."""
        if isinstance(name, tree.String):
            return self._unescaped(name.raw, scope, name.span)
        if name.text in scope.arguments:
            meaning: Meaning | None = scope.arguments[name.text].meaning
        else:
            found = scope.module.find(name.text)
            declared = found is not None and not isinstance(found[1], tree.Pattern)
            meaning = self._declared(name, scope) if declared else None
        match meaning:
            case None | Hole():
                return name.text
            case Text(text):
                return text
            case TextSet():
                self._fail("VGL209", f"`{name.text}` is a set; join sets with `|`", scope, name.span)
            case Variable(variable):
                self._fail("VGL209", f"`{variable}` is a variable; a set holds values", scope, name.span)

    def _unescaped(self, raw: str, scope: Scope, span: Span) -> str:
        try:
            return unescape(raw)
        except BadEscape as error:
            at = span.start + 1 + error.offset
            help_text = 'escapes are `\\"`, `\\\\`, `\\n`, `\\t`, `\\r`, `\\u{…}`, and `\\*`, `\\?` in globs'
            self._fail("VGL106", str(error), scope, Span(at, at + 2), help_text)

    # --- calls and patterns ---

    def _apply(self, apply: tree.Apply, scope: Scope) -> core.Condition:
        name = apply.name
        found = scope.module.find(name.text) if isinstance(name, tree.Name) else None
        if found is not None and isinstance(name, tree.Name):
            self.used.add((scope.module.source, name.text))
            module, declaration = found
            if isinstance(declaration, tree.Pattern):
                return self._expand(apply, declaration, module, scope)
            kind = "let" if isinstance(declaration, tree.Let) else "param"
            self._fail("VGL209", f"`{name.text}` is a {kind}, not a condition", scope, name.span)
        if apply.args is None:
            self._unknown(name, scope)
        action = frozenset({self._unescaped(name.raw, scope, name.span) if isinstance(name, tree.String) else name.text})
        parts: list[core.Condition] = [core.ActionIn(action)]
        for arg in apply.args:
            if isinstance(arg, (tree.String, tree.Number, tree.Boolean)) or _is_bare(arg, scope):
                self._positional(apply, arg, scope)
        conditions = tuple(a for a in apply.args if not isinstance(a, (tree.String, tree.Number, tree.Boolean)))
        parts += self._all(conditions, scope)
        return parts[0] if len(parts) == 1 else core.AndC(tuple(parts))

    def _unknown(self, name: tree.Name | tree.String, scope: Scope) -> NoReturn:
        assert isinstance(name, tree.Name)
        if name.text in scope.arguments:
            self._fail("VGL209", f"`{name.text}` is a parameter, not a condition", scope, name.span)
        patterns = [n for n in scope.module.names() if isinstance((scope.module.find(n) or (0, 0))[1], tree.Pattern)]
        near = nearest(name.text, patterns, 1)
        fix = Fix(f"write `{near[0]}`", (Edit(name.span, near[0]),)) if near else None
        help_text = f"did you mean `{near[0]}`?" if near else f"a call of that action is written `{name.text}()`"
        self._fail("VGL201", f"no pattern named `{name.text}` is declared", scope, name.span, help_text, fix)

    def _positional(self, apply: tree.Apply, arg: tree.Expr | tree.Literal_, scope: Scope) -> NoReturn:
        """A call's arguments are named; a lone value most often means a misspelt pattern."""
        assert isinstance(apply.name, (tree.Name, tree.String))
        shown = apply.name.text if isinstance(apply.name, tree.Name) else apply.name.raw
        near = nearest(shown, scope.module.names(), 1)
        if near:
            help_text = f"did you mean the pattern `{near[0]}`?"
            fix = Fix(f"write `{near[0]}`", (Edit(apply.name.span, near[0]),))
        else:
            help_text, fix = f"`{shown}` is no declared pattern, so its arguments are named: `argument = value`", None
        self._fail("VGL209", "a call's argument is a condition, not a value", scope, arg.span, help_text, fix)

    def _expand(
        self, apply: tree.Apply, pattern: tree.Pattern, module: Module, scope: Scope
    ) -> core.Condition:
        name, args = pattern.name.text, apply.args or ()
        note = Note("declared here", module.source, pattern.name.span)
        if len(args) != len(pattern.params):
            takes = f"{len(pattern.params)} term{'s' * (len(pattern.params) != 1)}"
            self._fail("VGL204", f"pattern `{name}` takes {takes}, given {len(args)}", scope, apply.span, notes=(note,))
        key = (module, name)
        if key in scope.expanding or len(scope.expanding) >= MAX_NESTING:
            chain = " → ".join([n for _, n in scope.expanding] + [name])
            message = f"patterns refer to each other: {chain}" if len(chain) < 200 else "patterns are nested too deeply"
            self._fail("VGL203", message, scope, apply.name.span)
        arguments = {
            param.text: Argument(self._argument(arg, scope, pattern), scope.module.source, arg.span)
            for param, arg in zip(pattern.params, args, strict=True)
        }
        return self.condition(pattern.body, Scope(module, arguments, (*scope.expanding, key)))

    def _argument(self, arg: tree.Expr | tree.Literal_, scope: Scope, pattern: tree.Pattern) -> Meaning:
        if isinstance(arg, (tree.String, tree.Number, tree.Boolean)):
            return self.term(arg, scope)
        if isinstance(arg, tree.Apply) and arg.args is None and isinstance(arg.name, tree.Name):
            return self.term(arg.name, scope)
        message = f"pattern `{pattern.name.text}` takes values or variables, not conditions"
        self._fail("VGL209", message, scope, arg.span)

    # --- whole modules ---

    def check_declarations(self, module: Module) -> None:
        """Give every declaration of the module a meaning once, whether or not a statement uses it."""
        for declaration in module.own.values():
            self.start_statement()
            try:
                if isinstance(declaration, tree.Pattern):
                    self._check_pattern(declaration, module)
                elif isinstance(declaration, tree.Let):
                    self.value_of(declaration, module)
                elif declaration.default is not None:
                    self._default(declaration, declaration.default, Scope(module))
            except Failed:
                continue

    def _check_pattern(self, pattern: tree.Pattern, module: Module) -> None:
        names = [p.text for p in pattern.params]
        for at, param in enumerate(pattern.params):
            if param.text in names[:at]:
                self._fail("VGL202", f"parameter `{param.text}` is named twice", Scope(module), param.span)
        arguments = {p.text: Argument(Hole(), module.source, p.span) for p in pattern.params}
        self.condition(pattern.body, Scope(module, arguments, ((module, pattern.name.text),)))

    def report_unused(self, module: Module) -> None:
        """VGL205, in a file with statements: a library's names are there for others to use."""
        if not any(isinstance(item, tree.Statement) for item in module.file.items) or module.file.broken:
            return
        for name, declaration in module.own.items():
            if (module.source, name) not in self.used:
                kind = type(declaration).__name__.lower()
                self._warn_unused(f"{kind} `{name}` is not used", module, declaration.name.span)
        for item in module.file.items:
            if isinstance(item, tree.Use):
                self._unused_import(item, module)

    def _unused_import(self, use: tree.Use, module: Module) -> None:
        mine = [n for n, (_, _, by) in module.imported.items() if by is use]
        unused = [n for n in mine if (module.source, n) not in self.used]
        if not use.names and mine and len(unused) == len(mine):
            self._warn_unused(f"nothing of `{use.module.text}` is used", module, use.module.span)
        for name in use.names:
            if name.text in unused:
                self._warn_unused(f"`{name.text}` is imported and not used", module, name.span)

    def _warn_unused(self, message: str, module: Module, span: Span) -> None:
        self.report(Diagnostic.of("VGL205", message, module.source, span))

    def _fail(
        self,
        code: str,
        message: str,
        scope: Scope,
        span: Span,
        help_text: str | None = None,
        fix: Fix | None = None,
        notes: tuple[Note, ...] = (),
    ) -> NoReturn:
        self.report(Diagnostic.of(code, message, scope.module.source, span, help=help_text, fix=fix, notes=notes))
        raise Failed


def _is_bare(arg: tree.Expr | tree.Literal_, scope: Scope) -> bool:
    """Whether a call's argument is a lone name that is no pattern."""
    if not isinstance(arg, tree.Apply) or arg.args is not None or not isinstance(arg.name, tree.Name):
        return False
    found = scope.module.find(arg.name.text)
    return found is None or not isinstance(found[1], tree.Pattern)


def quote_fix(term: object) -> Fix | None:
    """Make a bare name the string it may have been meant as."""
    if not isinstance(term, tree.Name):
        return None
    return Fix(f"write `{quote(term.text)}`", (Edit(term.span, quote(term.text)),))
