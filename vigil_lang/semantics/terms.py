"""Literals, sets and declared values: what a term denotes where it stands."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, NoReturn

from vigil_lang.diagnostics import Diagnostic, Edit, Fix, Note, Span, nearest
from vigil_lang.diagnostics.shorten import cut
from vigil_lang.semantics import homes
from vigil_lang.semantics.meanings import (
    Declared,
    Hole,
    Meaning,
    Pattern,
    Place,
    Scope,
    Text,
    TextSet,
    Values,
    Variable,
    described,
)
from vigil_lang.semantics.text_patterns import (
    ESCAPE_HELP,
    AnyOf,
    BadEscape,
    Expression,
    Glob,
    Matcher,
    glob_text,
    predicate,
    quote,
    unescape,
)
from vigil_lang.syntax import tree
from vigil_lang.trace.values import canonical

if TYPE_CHECKING:
    from collections.abc import Callable

    from vigil_lang.semantics.modules import Module

MAX_ELEMENTS = 1_000_000
"""Elements of all sets of a file, those counted again that a set has from another."""

MAX_CHAIN = 64
"""How many declarations may refer to each other in a chain."""


_SHOWN = 40
"""Characters of a number that a message shows."""


class Failed(Exception):
    """A condition has no meaning; the reason is reported."""


class Terms:
    """Looks terms up, reporting those that have no meaning in their place.

    `used` collects the names that were looked up, by module; `params` the params that the meanings rest on.
    `redeclared` has what a `let` stands for instead of what is written, by its file and name; `room` is how many
    elements the sets of the file may still have. `left_open` says that something was left without a meaning and without
    a finding.
    """

    def __init__(self, values: Values, report: Callable[[Diagnostic], None]) -> None:
        self.values = values
        self.report = report
        self.used: set[tuple[Module, str]] = set()
        self.params: set[str] = set()
        self.redeclared: dict[tuple[str, str], tree.SetUnion] = {}
        self._known: dict[tuple[Module, str], tuple[Declared, frozenset[str]]] = {}
        self._resolving: list[tuple[Module, str]] = []
        self.room = MAX_ELEMENTS
        self.left_open = False

    def term(self, term: tree.Term, scope: Scope) -> Meaning:
        """What a literal or a bare name stands for; a name that is declared nowhere is a value variable.

        Raises:
            Failed: the name is a pattern, or its declaration has no value.
        """
        match term:
            case tree.String(raw):
                return Text(self.unescaped(raw, scope, term.span), "text", glob_text(raw))
            case tree.Number():
                text = canonical(self.decimal(term, scope))
                return Text(text, "number", text)
            case tree.Boolean(value):
                return Text(canonical(value), "bool", canonical(value))
            case tree.Name(name):
                if name in scope.arguments:
                    return scope.arguments[name].meaning
                return self._declared(term, scope) or Variable(name)

    def matcher(self, text: tree.String | tree.Name | tree.Regex | tree.SetUnion, scope: Scope) -> Matcher:
        """The text pattern that stands after `~`; a set is all of its texts as globs, and its expressions.

        Raises:
            Failed: it is not valid, or no text.
        """
        match text:
            case tree.Regex():
                return self.expression(text, scope)
            case tree.SetUnion():
                return self._any_of(self.patterns_of(text, scope), text.span, scope)
        match self.term(text, scope):
            case Text(_, _, glob):
                return self._glob(glob, text.span, scope)
            case Pattern(expression):
                return expression
            case TextSet() as found:
                return self._any_of(found, text.span, scope)
            case Hole():
                return Glob("*")
            case meaning:
                assert isinstance(text, tree.Name)
                if text.text not in scope.arguments:
                    self.leave_open_if_broken(text.text, scope)
                what = "a truth value" if text.text in ("true", "false") else described(meaning)
                message = f"`~` takes a text pattern, and `{{}}` is {what}"
                self.reject("VGL209", message, text, scope, "a text pattern is a string", quoting=True)

    def expression(self, regex: tree.Regex, scope: Scope) -> Expression:
        """A regular expression as written.

        Raises:
            Failed: it is not valid.
        """
        found = Expression(regex.raw, regex.ignore_case)
        try:
            predicate(found)
        except ValueError as error:
            from vigil_lang.semantics.other_calls import regex_meant  # late: a policy that judges needs none

            message = f"the regular expression is not valid: {error}"
            self.fail("VGL305", message, scope.place(regex.span), regex_meant(regex))
        return found

    def _glob(self, pattern: str, span: Span, scope: Scope) -> Matcher:
        matcher = homes.matcher_of(Glob(pattern))
        try:
            predicate(matcher)
        except ValueError:
            message = "the text pattern is too large: it has too many `?`"
            self.fail("VGL003", message, scope.place(span))
        return matcher

    def _any_of(self, found: TextSet, span: Span, scope: Scope) -> Matcher:
        expressions = sorted(found.expressions, key=lambda e: (e.pattern, e.ignore_case))
        globs = [self._glob(glob, span, scope) for glob in sorted(found.globs)]
        alternatives = (one for glob in globs for one in (glob.matchers if isinstance(glob, AnyOf) else (glob,)))
        matchers = (*dict.fromkeys(alternatives), *expressions)
        return matchers[0] if len(matchers) == 1 else AnyOf(matchers)

    def number(self, operand: tree.Number | tree.Name, scope: Scope) -> Decimal | Variable:
        """The limit of an order test: a number, or the variable whose value is one.

        Raises:
            Failed: the term is neither.
        """
        if isinstance(operand, tree.Number):
            return self.decimal(operand, scope)
        match self.term(operand, scope):
            case Text(text, "number"):
                return Decimal(text)
            case Variable() as variable:
                return variable
            case Hole():
                return Decimal(0)
            case meaning:
                message = f"an order test needs a number, and `{{}}` is {described(meaning)}"
                self.reject("VGL306", message, operand, scope)

    def decimal(self, number: tree.Number, scope: Scope) -> Decimal:
        """A number as written.

        Raises:
            Failed: it is too large to be written out.
        """
        try:
            value = Decimal(number.raw)
        except ArithmeticError:
            value = Decimal("Infinity")
        if not value.is_finite() or abs(value.adjusted()) > 10_000:
            self.fail("VGL306", f"`{cut(number.raw, _SHOWN)}` is out of range", scope.place(number.span))
        return value

    # --- declared values ---

    def _declared(self, name: tree.Name, scope: Scope) -> Declared | None:
        """The value of a `let` or `param`, None when the name is not declared."""
        found = scope.module.find(name.text)
        if found is None:
            return None
        self.used.add((scope.module, name.text))
        module, declaration = found
        if isinstance(declaration, tree.Pattern):
            note = Note("declared here", module.source, declaration.name.span)
            self.fail("VGL209", f"`{name.text}` is a pattern, not a value", scope.place(name.span), notes=(note,))
        return self.value_of(declaration, module)

    def value_of(self, declaration: tree.Let | tree.Param, module: Module) -> Declared:
        """What a `let` or `param` stands for.

        Raises:
            Failed: a cycle, a missing or misfit value, or a broken definition.
        """
        key = (module, declaration.name.text)
        if key not in self._known:
            outer, self.params = self.params, set()
            try:
                self._known[key] = self._defined(declaration, module, key), frozenset(self.params)
            finally:
                self.params = outer
        value, params = self._known[key]
        self.params |= params
        return value

    def _defined(self, declaration: tree.Let | tree.Param, module: Module, key: tuple[Module, str]) -> Declared:
        scope, name = Scope(module), declaration.name
        if key in self._resolving:
            self.fail("VGL203", f"`{name.text}` is defined by itself", scope.place(name.span))
        if len(self._resolving) >= MAX_CHAIN:
            message = f"more than {MAX_CHAIN} declarations refer to each other in a chain"
            self.fail("VGL203", message, scope.place(name.span))
        self._resolving.append(key)
        try:
            if isinstance(declaration, tree.Let):
                value = self.redeclared.get((module.source.path, name.text), declaration.value)
                return self._value(value, scope)
            self.params.add(name.text)
            outside = self.values.meaning(declaration)
            if isinstance(outside, str):
                self.fail("VGL210", outside, scope.place(name.span))
            if outside is not None:
                return outside
            if declaration.default is None:
                help_text = f"give it one with `--set {name.text}=…`"
                self.fail("VGL210", f"param `{name.text}` has no value", scope.place(name.span), help_text)
            return self.default(declaration, declaration.default, scope)
        finally:
            self._resolving.pop()

    def default(self, param: tree.Param, default: tree.SetUnion | tree.Literal_, scope: Scope) -> Declared:
        """The value a param has when nothing is given from outside.

        Raises:
            Failed: it is not of the param's type.
        """
        value = self._value(default, scope)
        found = "set" if isinstance(value, TextSet) else getattr(value, "type", None)
        if found != param.type:
            message = f"param `{param.name.text}` is a {param.type}, and its default is {described(value)}"
            self.fail("VGL306", message, scope.place(default.span))
        return value

    def _value(self, value: tree.SetUnion | tree.Literal_ | tree.Regex, scope: Scope) -> Declared:
        if isinstance(value, tree.Regex):
            return Pattern(self.expression(value, scope))
        if not isinstance(value, tree.SetUnion):
            meaning = self.term(value, scope)
            assert isinstance(meaning, Text)
            return meaning
        if len(value.parts) == 1 and isinstance(value.parts[0], tree.Name):
            alias = self._declared(value.parts[0], scope)  # `let A = B`: whatever B is
            if alias is not None:
                return alias
        return self.patterns_of(value, scope)

    # --- sets ---

    def set_of(self, union: tree.SetUnion, scope: Scope, operator: Span | None = None) -> frozenset[str]:
        """The texts of a set that is tested with `in`, which is written at `operator`.

        Raises:
            Failed: a part is not a set, an element is one or a regular expression, or the sets of the file are too
                large together.
        """
        found = self.patterns_of(union, scope)
        if found.expressions:
            negated = operator is not None and "not" in scope.module.source.text[operator.start : operator.end]
            word = "!~" if negated else "~"
            self.fail(
                "VGL209",
                f"`{'not ' * negated}in` looks for a text, and the set has regular expressions",
                scope.place(union.span),
                f"a set with regular expressions is tested with `{word}`",
                None if operator is None else Fix(f"write `{word}`", (Edit(operator, f" {word} "),), safe=True),
            )
        return found.texts

    def patterns_of(self, union: tree.SetUnion, scope: Scope) -> TextSet:
        """A set as `in` and `~` take it. Raises as `set_of`, but for regular expressions."""
        texts: set[str] = set()
        globs: set[str] = set()
        expressions: set[Expression] = set()
        for part in union.parts:
            if isinstance(part, tree.SetLiteral):
                self._have_room(len(part.elements), part.span, scope)
                for element in part.elements:
                    meaning = self._element(element, scope)
                    if isinstance(meaning, Pattern):
                        expressions.add(meaning.expression)
                    else:
                        texts.add(meaning.text)
                        globs.add(meaning.glob)
            else:
                named = self._named_set(part, scope)
                self._have_room(len(named.texts), part.span, scope)
                texts |= named.texts
                globs |= named.globs
                expressions |= named.expressions
        return TextSet(frozenset(texts), frozenset(globs), frozenset(expressions))

    def leave_open_if_broken(self, name: str, scope: Scope) -> None:
        """Say nothing of a name that is declared nowhere, where an item that could not be read seems to declare it.

        The finding in that item is told. It rests on text that no name leads to, so it must not be remembered.

        Raises:
            Failed: one does.
        """
        if scope.module.may_declare(name):
            self.left_open = True
            raise Failed

    def _have_room(self, elements: int, span: Span, scope: Scope) -> None:
        self.room -= elements
        if self.room < 0:
            message = f"the sets of the file have more than {MAX_ELEMENTS:,} elements together"
            self.fail("VGL213", message, scope.entry or scope.place(span))

    def _named_set(self, part: tree.Name, scope: Scope) -> TextSet:
        meaning: Meaning | None
        meaning = scope.arguments[part.text].meaning if part.text in scope.arguments else self._declared(part, scope)
        match meaning:
            case TextSet():
                return meaning
            case Hole():
                return TextSet(frozenset())
            case None:
                self.leave_open_if_broken(part.text, scope)
                near = nearest(part.text, scope.module.names(), 1)
                wanted = near[0] if near else f"{{{part.text}}}"
                fix = Fix(f"write `{wanted}`", (Edit(part.span, wanted),))
                help_text = f"did you mean `{wanted}`?" if near else f"the set of that one is written `{wanted}`"
                self.fail("VGL201", f"no set named `{part.text}` is declared", scope.place(part.span), help_text, fix)
            case _ if part.text in scope.arguments:
                self.reject("VGL209", f"`in` takes a set, and `{{}}` is {described(meaning)}", part, scope)
            case _:
                wanted = f"{{{part.text}}}"
                fix = Fix(f"write `{wanted}`", (Edit(part.span, wanted),))
                help_text = f"the set of that one is written `{wanted}`"
                self.fail("VGL209", f"`{part.text}` is not a set", scope.place(part.span), help_text, fix)

    def _element(self, element: tree.Term | tree.Regex, scope: Scope) -> Text | Pattern:
        """An element is a literal, a declared value or pattern argument, or else its own text."""
        if isinstance(element, tree.Regex):
            return Pattern(self.expression(element, scope))
        if isinstance(element, tree.Name):
            return self._word(element, scope)
        meaning = self.term(element, scope)
        assert isinstance(meaning, Text)
        return meaning

    def word(self, name: tree.Name | tree.String, scope: Scope) -> str:
        """A bare name in a place of plain texts (a set, `action =`): a declared value, or else its own text.

        Raises:
            Failed: it stands for a set, a regular expression or a variable.
        """
        if isinstance(name, tree.String):
            return self.unescaped(name.raw, scope, name.span)
        match self._word(name, scope):
            case Text(text):
                return text
            case _:
                help_text = "a regular expression is tested with `~`"
                self.reject("VGL209", "a text stands here, and `{}` is a regular expression", name, scope, help_text)

    def _word(self, name: tree.Name, scope: Scope) -> Text | Pattern:
        if name.text in scope.arguments:
            meaning: Meaning | None = scope.arguments[name.text].meaning
        else:
            found = scope.module.find(name.text)
            declared = found is not None and not isinstance(found[1], tree.Pattern)
            meaning = self._declared(name, scope) if declared else None
        match meaning:
            case None | Hole():
                return Text(name.text, "text", name.text)
            case Text() | Pattern():
                return meaning
            case TextSet():
                help_text = "sets are joined with `|`"
                self.reject("VGL209", "one value stands here, and `{}` is a set", name, scope, help_text)
            case Variable():
                self.reject("VGL209", "a value stands here, and `{}` is a variable", name, scope, quoting=True)

    def unescaped(self, raw: str, scope: Scope, span: Span) -> str:
        """The text of a string literal with this span, quotes included.

        Raises:
            Failed: an escape sequence is unknown.
        """
        try:
            return unescape(raw)
        except BadEscape as error:
            at = span.start + 1 + error.offset
            self.fail("VGL106", str(error), scope.place(Span(at, at + error.length)), ESCAPE_HELP)

    # --- findings ---

    def reject(
        self,
        code: str,
        message: str,
        name: tree.Name,
        scope: Scope,
        help_text: str | None = None,
        *,
        quoting: bool = False,
    ) -> NoReturn:
        """Report a name that stands for the wrong thing; `{}` in the message is what was written.

        A pattern's parameter is not to blame for what it is given: the finding is where the argument was written.
        """
        place, shown = scope.place(name.span), name.text
        notes: tuple[Note, ...] = ()
        argument = scope.arguments.get(name.text)
        if argument is not None:
            notes = (Note(f"the pattern uses it here, as `{name.text}`", place.source, place.span),)
            place, shown = argument.place, argument.text
        fix = Fix(f"write `{quote(shown)}`", (Edit(place.span, quote(shown)),)) if quoting else None
        self.fail(code, message.format(shown), place, help_text, fix, notes)

    def fail(
        self,
        code: str,
        message: str,
        place: Place,
        help_text: str | None = None,
        fix: Fix | None = None,
        notes: tuple[Note, ...] = (),
    ) -> NoReturn:
        """Report a finding and give the condition up."""
        self.report(Diagnostic.of(code, message, place.source, place.span, help=help_text, fix=fix, notes=notes))
        raise Failed
