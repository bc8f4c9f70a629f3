"""Conditions with their names resolved: literals read, declarations looked up, patterns expanded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, NoReturn, TypeAlias, cast

from msgspec.structs import replace

from vigil_lang.diagnostics import Edit, Fix, Note, Span, nearest
from vigil_lang.semantics import context_fields, core, homes
from vigil_lang.semantics.context_fields import CONTEXT, VIOLATES
from vigil_lang.semantics.meanings import Argument, Hole, Pattern, Scope, Text, TextSet, Variable
from vigil_lang.semantics.terms import MAX_ELEMENTS, Failed, Terms
from vigil_lang.semantics.views import VIEWS, BadView, path_steps
from vigil_lang.syntax import tree
from vigil_lang.syntax.print import to_text
from vigil_lang.trace.vocabulary import GATHERING, vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable

    from vigil_lang.diagnostics import Diagnostic
    from vigil_lang.semantics.meanings import Meaning, Values
    from vigil_lang.semantics.modules import Module

__all__ = ["Conditions", "Failed"]

LAYERS = ("organisation.", "default.", "personal.")
"""What stands before the name of a rule or statement of another layer."""

MAX_CONDITIONS = 20_000
"""Conditions one statement may expand to."""

MAX_TOTAL = 500_000
"""Conditions all statements of a file may expand to together."""

MAX_NESTING = 120
"""How deeply conditions may be nested once patterns are expanded: every later pass is recursive."""

_ORDERS = "what must come first is the guard of `prec(…, …)`, what must follow the response of `resp(…, …)`"
_BEFORE_A_CALL = "a rule speaks of the pending call; what was before is a statement's, tested by `violates S`"
_LOOKS = "`prec` looks back for its guard and `resp` ahead for its response by themselves"
_VALUES = frozenset({"true", "false"})
"""Words for values, which stand for a condition in other notations."""
_LITERALS = (tree.String, tree.Number, tree.Boolean)

Of: TypeAlias = Literal["anything", "statement", "rule"]
"""Whose conditions are read: a statement's speak of a call that was made, a rule's of one that is pending."""

_UNKNOWN_TO = {"anything": None, "statement": "moment", "rule": "outcome"}
"""What nobody knows when these are asked."""


class Spent(NamedTuple):
    """How much of what a file may expand to something took: conditions, and elements of sets."""

    conditions: int
    elements: int


class _Expanded(NamedTuple):
    """The body of a pattern without parameters, how much of the limits it takes, and the params it rests on.

    `asks` says whether it asks for the outcome of the call, or for the moment at which the gate decides.
    """

    condition: core.Condition
    size: int
    height: int
    params: frozenset[str]
    asks: frozenset[str]


class Conditions:
    """Turns expressions into core conditions, reporting what has no meaning."""

    def __init__(self, values: Values, report: Callable[[Diagnostic], None]) -> None:
        self.terms = Terms(values, report)
        self._budget = MAX_CONDITIONS
        self._total = MAX_TOTAL
        self._short = False
        self._depth = 0
        self._deepest = 0
        self._of: Of = "anything"
        self._asks: set[str] = set()
        self._of_events = True
        """Whether the tests at hand are of events, and not of an entry's members or of variables."""
        self._plain: dict[tuple[Module, str], _Expanded] = {}
        self._sizes: dict[tuple[Module, str], int] = {}
        self._cycles: set[frozenset[tuple[Module, str]]] = set()

    def start(self, of: Of = "anything") -> None:
        """Begin a statement, rule or declaration: each may expand to its own share of conditions."""
        self._of = of
        self._budget = min(MAX_CONDITIONS, self._total)
        self.terms.params = set()

    def refill(self) -> None:
        """Declarations are checked on a budget of their own."""
        self._short = self.is_short
        self._total = MAX_TOTAL

    @property
    def left(self) -> Spent:
        """What is left of it."""
        return Spent(self._total, self.terms.room)

    @property
    def is_short(self) -> bool:
        """Whether more than half of it is gone, or was before the refill."""
        return self._short or self._total < MAX_TOTAL // 2 or self.terms.room < MAX_ELEMENTS // 2

    def spend(self, spent: Spent) -> None:
        """Take what something took that is known already."""
        self._total -= spent.conditions
        self.terms.room -= spent.elements

    def condition(self, expr: tree.Expr, scope: Scope) -> core.Condition:
        """The condition an expression denotes.

        Raises:
            Failed: it has none; at least one finding was reported. Both sides of a connective are always checked.
        """
        self.count(expr, scope)
        self._depth += 1
        self._deepest = max(self._deepest, self._depth)
        try:
            return self._condition(expr, scope)
        finally:
            self._depth -= 1

    def count(self, expr: tree.Expr, scope: Scope, size: int = 1, height: int = 1) -> None:
        """Take conditions from the budget, so many and nested so deeply.

        Raises:
            Failed: there is none left, or patterns have nested conditions too deeply.
        """
        self._budget -= size
        self._total -= size
        too_deep = self._depth + height > MAX_NESTING
        if self._budget >= 0 and not too_deep:
            return
        message = f"this expands to more than {MAX_CONDITIONS:,} conditions"
        if self._total < 0:
            message = f"the statements of the file expand to more than {MAX_TOTAL:,} conditions"
        elif too_deep:
            message = f"this expands to conditions nested more than {MAX_NESTING} deep"
        self.terms.fail("VGL213", message, scope.entry or scope.place(expr.span))

    def _condition(self, expr: tree.Expr, scope: Scope) -> core.Condition:
        if isinstance(expr, tree.Test | tree.Entry | tree.Has) and self._of_events:
            gathered = () if expr.field.kind == "output" else _gathered(expr.field.name)
            if gathered:
                self.count(expr, scope, len(gathered))
                own = self._single(expr, scope)
                return core.OrC((own, *(self._of_role(expr, role, kind, scope) for role, kind in gathered)))
        return self._single(expr, scope)

    def _of_role(self, expr: tree.Test | tree.Entry | tree.Has, role: str, kind: str, scope: Scope) -> core.Condition:
        """A condition of another role, on events of a kind if there is one."""
        found = self._single(replace(expr, field=replace(expr.field, name=role)), scope)
        return core.AndC((core.ActionIn(frozenset({kind})), found)) if kind else found

    def _single(self, expr: tree.Expr, scope: Scope) -> core.Condition:
        match expr:
            case tree.Test():
                return self._test(expr, scope)
            case tree.Entry(field, body):
                return core.Entry(self.reads(field, scope), self._of_entry(body, scope))
            case tree.Apply():
                return self._apply(expr, scope)
            case tree.And(items):
                return core.AndC(self._all(items, scope))
            case tree.Or(items):
                return core.OrC(self._all(items, scope))
            case tree.Not(body):
                return core.NotC(self.condition(body, scope))
            case tree.Implies():
                message = "`implies` stands only in the body of `always`"
                self.terms.fail("VGL107", message, scope.place(expr.span), self._instead(_ORDERS))
            case tree.Diamond(direction):
                message = f"`{direction}` stands only in the body of `always`"
                self.terms.fail("VGL107", message, scope.place(expr.span), self._instead(_LOOKS))
            case tree.Interval(direction):
                message = f"`{direction}` between two conditions stands only in the body of `always`"
                self.terms.fail("VGL107", message, scope.place(expr.span))
            case tree.Repeated():
                message = "`repeated` stands only in the body of `always`; a statement counts by `atmost` or `atleast`"
                self.terms.fail("VGL107", message, scope.place(expr.span))
            case tree.ActionIn(names):
                return core.ActionIn(self.terms.set_of(names, scope))
            case tree.ActionIs(name):
                return core.ActionIn(frozenset({self._action(expr, name, scope)}))
            case tree.ActionMatches(text):
                return core.ActionMatches(self.terms.matcher(text, scope))
            case tree.StatusIs(status):
                self._ask("outcome", "status", expr.span, scope)
                return core.StatusIs(status)
            case tree.Violates(name):
                self._ask("moment", "violates", expr.span, scope)
                self._violated(name, scope)
                return core.In(core.Reads(VIOLATES), frozenset({name.text}))
            case tree.Has(name):
                return core.Has(self.reads(name, scope))

    def _of_entry(self, body: tree.Expr, scope: Scope) -> core.Condition:
        """The condition on the members of one entry: only arguments are tested in it."""
        self._refuse_events(body, scope, "an entry has members alone")
        return self._of_members(body, scope)

    def _of_members(self, body: tree.Expr, scope: Scope) -> core.Condition:
        outer, self._of_events = self._of_events, False
        try:
            return self.condition(body, scope)
        finally:
            self._of_events = outer

    def of_variables(self, body: tree.Expr, scope: Scope) -> core.Condition:
        """A `where` condition: its arguments are the statement's variables.

        Raises:
            Failed: it has none, or tests something else.
        """
        self._refuse_events(body, scope, "`where` tests the values of variables")
        return self._of_members(body, scope)

    def _refuse_events(self, body: tree.Expr, scope: Scope, why: str) -> None:
        waiting = [body]
        while waiting:
            match waiting.pop():
                case tree.And(items) | tree.Or(items):
                    waiting += items
                case tree.Not(inner):
                    waiting.append(inner)
                case tree.Test(field) | tree.Has(field) if field.kind == "argument" and not _is_of_context(field):
                    pass
                case other:
                    self.terms.fail("VGL215", f"{why}: `{to_text(other)}` tests an event", scope.place(other.span))

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

    def reads(self, name: tree.Field, scope: Scope) -> core.Reads:
        """What a field reads.

        Raises:
            Failed: its name is a string with an unknown escape, or one of its views is none.
        """
        views = tuple([self._view(view, scope) for view in name.views])
        if name.kind == "output":
            self._ask("outcome", "output", name.span, scope)
            return core.Reads("output", True, views)
        called = self.terms.unescaped(name.name, scope, name.name_span)
        if called.startswith(CONTEXT):
            self.of_context(called, name.name_span, scope)
        return core.Reads(called, False, views)

    def counted(self, name: tree.Field, scope: Scope) -> core.Reads:
        """What a field reads whose values a form counts or adds up.

        Raises:
            Failed: as `reads`; or it stands for several roles.
        """
        if name.kind == "argument" and (gathered := _gathered(name.name)):
            roles = ", ".join(f"`{role}`" for role, _ in gathered)
            message = f"`{name.name}` stands for {roles}: name the one whose values count"
            self.terms.fail("VGL215", message, scope.place(name.span))
        return self.reads(name, scope)

    def of_context(self, field: str, span: Span, scope: Scope) -> None:
        """Check a field of the context.

        Raises:
            Failed: there is no such field, or this is no rule's condition.
        """
        self._ask("moment", field, span, scope)
        if not context_fields.is_known(field):
            help_text, meant = context_fields.suggestion(field)
            fix = Fix(f"write `{meant}`", (Edit(span, meant),)) if meant else None
            self.terms.fail("VGL343", f"the context has no `{field}`", scope.place(span), help_text, fix)

    def _ask(self, about: Literal["outcome", "moment"], what: str, span: Span, scope: Scope) -> None:
        self._asks.add(about)
        if about != _UNKNOWN_TO[self._of]:
            return
        if about == "moment":
            self.terms.fail("VGL344", f"`{what}` stands only in the rules of a gate", scope.place(span))
        message = f"a rule is asked before the call, which has no {what} yet"
        self.terms.fail("VGL341", message, scope.place(span))

    def _violated(self, name: tree.Name, scope: Scope) -> None:
        """Refuse a name that no statement of the file has; those of other layers are known to the gate alone."""
        judged = scope.module.judged
        match judged.get(name.text):
            case tree.Statement():
                return
            case None if name.text.startswith(LAYERS):
                return
            case tree.Rule():
                message = f"`{name.text}` is a rule; a call violates statements"
                self.terms.fail("VGL209", message, scope.place(name.span))
        near = nearest(name.text, [other for other, item in judged.items() if isinstance(item, tree.Statement)], 1)
        fix = Fix(f"write `{near[0]}`", (Edit(name.span, near[0]),)) if near else None
        help_text = f"did you mean `{near[0]}`?" if near else "one of another layer is written `organisation.NAME`"
        self.terms.fail(
            "VGL201", f"no statement named `{name.text}` is in this file", scope.place(name.span), help_text, fix
        )

    def _view(self, view: tree.View, scope: Scope) -> core.View:
        name, argument = view.name.text, view.argument
        takes = VIEWS.get(name)
        if takes is None:
            near = nearest(name, VIEWS, 1)
            fix = Fix(f"write `{near[0]}`", (Edit(view.name.span, near[0]),)) if near else None
            help_text = f"the views are {', '.join(f'`{known}`' for known in VIEWS)}"
            self.terms.fail("VGL214", f"there is no view `{name}`", scope.place(view.name.span), help_text, fix)
        given = "nothing" if argument is None else "expression" if isinstance(argument, tree.Regex) else "path"
        if given != takes:
            example = {"path": f'`{name}("total")`', "expression": f"`{name}(/[0-9]+/)`", "nothing": f"`{name}`"}[takes]
            self.terms.fail("VGL214", f"the view `{name}` is written {example}", scope.place(view.span))
        if isinstance(argument, tree.Regex):
            return core.View(cast("core.ViewName", name), "", self.terms.expression(argument, scope))
        if argument is None:
            return core.View(cast("core.ViewName", name))
        path = self.terms.unescaped(argument.raw, scope, argument.span)
        try:
            path_steps(path)
        except BadView as error:
            self.terms.fail("VGL214", str(error), scope.place(argument.span))
        return core.View(cast("core.ViewName", name), path)

    def _action(self, test: tree.ActionIs, name: tree.Name | tree.String, scope: Scope) -> str:
        found = scope.module.find(name.text) if isinstance(name, tree.Name) else None
        if found and isinstance(name, tree.Name) and name.text not in scope.arguments:
            declared = None if isinstance(found[1], tree.Pattern) else self.terms.value_of(found[1], found[0])
            if isinstance(declared, TextSet):
                self.terms.used.add((scope.module, name.text))
                fix = Fix(f"write `action in {name.text}`", (Edit(test.span, f"action in {name.text}"),), safe=True)
                message = f"`{name.text}` is a set; test it with `in`"
                self.terms.fail("VGL209", message, scope.place(name.span), fix=fix)
        return self.terms.word(name, scope)

    def _test(self, test: tree.Test, scope: Scope) -> core.Condition:
        found = self._tested(test, scope)
        if _is_of_context(test.field) and (why := context_fields.never(found)) is not None:
            self.terms.fail("VGL343", why, scope.place(test.span), fix=_weekday(test))
        return found

    def _tested(self, test: tree.Test, scope: Scope) -> core.Condition:
        reads = self.reads(test.field, scope)
        operand, operator = test.operand, test.operator
        match operator:
            case "in" | "not in":
                assert isinstance(operand, tree.SetUnion)
                between = Span(test.field.span.end, operand.span.start)
                self._refuse_reversed(test, operand, scope)
                return _one_of(reads, self.terms.set_of(operand, scope, between), negated=operator == "not in")
            case "~" | "!~":
                assert isinstance(operand, (tree.String, tree.Name, tree.Regex, tree.SetUnion))
                return core.Matches(reads, self.terms.matcher(operand, scope), negated=operator == "!~")
            case "<" | "<=" | ">" | ">=":
                assert isinstance(operand, (tree.Number, tree.Name))
                limit = self.terms.number(operand, scope)
                if isinstance(limit, Variable):
                    return core.ComparesWith(reads, operator, limit.name)
                return core.Compares(reads, operator, limit)
        assert isinstance(operand, (tree.Name, *_LITERALS))
        match operator, self.terms.term(operand, scope):
            case "=", Variable(name):
                return core.Equals(reads, name)
            case "contains", Variable(name):
                return core.Contains(reads, name)
            case "=", Text(text):
                return _one_of(reads, frozenset({text}))
            case "!=", Text(text):
                return _one_of(reads, frozenset({text}), negated=True)
            case "contains", Text(text):
                return core.ContainsText(reads, text)
            case _, Hole():
                return core.Has(reads)
            case _, meaning:
                assert isinstance(operand, tree.Name)
                self._misfit(test, operand, meaning, scope)

    def _instead(self, of_statements: str) -> str:
        """What to do about an order where none can stand."""
        return _BEFORE_A_CALL if self._of == "rule" else of_statements

    def _refuse_reversed(self, test: tree.Test, operand: tree.SetUnion, scope: Scope) -> None:
        """`"rm" in command` looks for the value of an argument called `rm` in a set: where there is none, say so."""
        part = operand.parts[0]
        if not isinstance(part, tree.Name) or part.text in scope.arguments or scope.module.find(part.text) is not None:
            return
        from vigil_lang.semantics import other_calls  # late: a policy that judges needs none

        if not scope.module.may_declare(part.text) and (said := other_calls.as_contained(test, scope)) is not None:
            self.terms.fail("VGL201", f"no set named `{part.text}` is declared", scope.place(part.span), *said)

    def _misfit(self, test: tree.Test, operand: tree.Name, meaning: Meaning, scope: Scope) -> NoReturn:
        """A variable after `!=`, or a set where one value stands."""
        if isinstance(meaning, Variable):
            from vigil_lang.syntax.other_shapes import NULLS  # late: a policy that judges needs none

            message = "`!=` compares with a value, and `{}` is a variable"
            if operand.text.lower() in NULLS and operand.text not in scope.arguments and not test.field.views:
                present = f"has {to_text(test.field)}"
                fix = Fix(f"write `{present}`", (Edit(test.span, present),))
                help_text = f"a value that is null is absent: `{present}`"
                self.terms.fail("VGL209", message.format(operand.text), scope.place(operand.span), help_text, fix)
            negated = f"not {to_text(test.field)} = {operand.text}"
            help_text = f"to compare with the variable, negate the whole test: `{negated}`"
            if operand.text not in scope.arguments and scope.binds_elsewhere(operand):
                fix = Fix(f"write `{negated}`", (Edit(test.span, negated),))
                self.terms.fail("VGL209", message.format(operand.text), scope.place(operand.span), help_text, fix)
            self.terms.reject("VGL209", message, operand, scope, help_text, quoting=True)
        if isinstance(meaning, Pattern):
            word = "!~" if test.operator == "!=" else "~"
            between = Span(test.field.span.end, operand.span.start)
            fix = Fix(f"write `{word}`", (Edit(between, f" {word} "),), safe=True)
            message = f"`{operand.text}` is a regular expression; test it with `{word}`"
            self.terms.fail("VGL209", message, scope.place(operand.span), fix=fix)
        if operand.text in scope.arguments or test.operator == "contains":
            self.terms.reject("VGL209", f"`{test.operator}` takes one value, and `{{}}` is a set", operand, scope)
        word = "in" if test.operator == "=" else "not in"
        between = Span(test.field.span.end, operand.span.start)
        fix = Fix(f"write `{word}`", (Edit(between, f" {word} "),), safe=True)
        self.terms.fail(
            "VGL209", f"`{operand.text}` is a set; test it with `{word}`", scope.place(operand.span), fix=fix
        )

    # --- calls and patterns ---

    def pattern_of(self, apply: tree.Apply, scope: Scope) -> tuple[Module, tree.Pattern] | None:
        """The pattern an application names, with the module that declares it; None for a call of an action."""
        found = scope.module.find(apply.name.text) if isinstance(apply.name, tree.Name) else None
        if found is None or not isinstance(found[1], tree.Pattern):
            return None
        return found[0], found[1]

    def inside(self, apply: tree.Apply, pattern: tree.Pattern, module: Module, scope: Scope) -> Scope:
        """The scope of a pattern's body in one application.

        Raises:
            Failed: an argument is a condition, or the number of them is wrong.
        """
        args = apply.args or ()
        if len(args) != len(pattern.params):
            takes = f"{len(pattern.params)} term{'s' * (len(pattern.params) != 1)}"
            message = f"pattern `{pattern.name.text}` takes {takes}, given {len(args)}"
            note = Note("declared here", module.source, pattern.name.span)
            self.terms.fail("VGL204", message, scope.place(apply.span), notes=(note,))
        arguments = {
            param.text: self._argument(arg, scope, pattern) for param, arg in zip(pattern.params, args, strict=True)
        }
        expanding = (*scope.expanding, (module, pattern.name.text))
        return Scope(module, arguments, expanding, scope.entry or scope.place(apply.span))

    def _argument(self, arg: tree.Expr | tree.Literal_, scope: Scope, pattern: tree.Pattern) -> Argument:
        place = scope.place(arg.span)
        if isinstance(arg, _LITERALS):
            written = {tree.String: "raw", tree.Number: "raw", tree.Boolean: "value"}[type(arg)]
            return Argument(self.terms.term(arg, scope), place, str(getattr(arg, written)))
        if isinstance(arg, tree.Apply) and arg.args is None and isinstance(arg.name, tree.Name):
            handed_on = scope.arguments.get(arg.name.text)
            return handed_on or Argument(self.terms.term(arg.name, scope), place, arg.name.text)
        message = f"pattern `{pattern.name.text}` takes values or variables, not conditions"
        self.terms.fail("VGL209", message, place)

    def _apply(self, apply: tree.Apply, scope: Scope) -> core.Condition:
        name = apply.name
        found = scope.module.find(name.text) if isinstance(name, tree.Name) else None
        if found is not None and isinstance(name, tree.Name):
            self.terms.used.add((scope.module, name.text))
            module, declaration = found
            if isinstance(declaration, tree.Pattern):
                return self._expand(apply, declaration, module, scope)
            kind = "let" if isinstance(declaration, tree.Let) else "param"
            self.terms.fail("VGL209", f"`{name.text}` is a {kind}, not a condition", scope.place(name.span))
        if apply.args is None:
            self._unknown(name, scope)
        for arg in apply.args:
            if isinstance(arg, _LITERALS) or self._is_bare(arg, scope):
                self._positional(apply, arg, scope)
            if (lone := self._lone(arg, scope)) is not None:
                self._unknown(lone, scope, argument=True)
        call = core.ActionIn(frozenset({self.called(apply, scope)}))
        conditions = tuple(a for a in apply.args if not isinstance(a, _LITERALS))
        return core.AndC((call, *self._all(conditions, scope))) if conditions else call

    def _expand(self, apply: tree.Apply, pattern: tree.Pattern, module: Module, scope: Scope) -> core.Condition:
        """A pattern's body with its arguments in place; without any it is the same condition every time."""
        self._refuse_cycle(apply, pattern, module, scope)
        inner, key = self.inside(apply, pattern, module, scope), (module, pattern.name.text)
        if pattern.params:
            return self._expanded(apply, pattern, key, scope, inner)
        known = self._plain.get(key)
        if known is None or _UNKNOWN_TO[self._of] in known.asks:
            known = self._plain[key] = self._measured(pattern.body, inner)
        else:
            self.count(apply, scope, known.size, known.height)
            self._deepest = max(self._deepest, self._depth + known.height)
        self.terms.params |= known.params
        self._asks |= known.asks
        return known.condition

    def _expanded(
        self, apply: tree.Apply, pattern: tree.Pattern, key: tuple[Module, str], scope: Scope, inner: Scope
    ) -> core.Condition:
        """A body with arguments in place. What is known to be too large is not tried again, for each pattern anew."""
        if (size := self._sizes.get(key, 0)) > self._budget:
            self.count(apply, scope, size)
        before = self._budget
        try:
            return self.condition(pattern.body, inner)
        finally:
            self._sizes[key] = before - self._budget  # or, where it failed, at least so much

    def _measured(self, body: tree.Expr, scope: Scope) -> _Expanded:
        left, deepest, params, asks = self._budget, self._deepest, self.terms.params, self._asks
        self._deepest, self.terms.params, self._asks = self._depth, set(), set()
        try:
            condition = self.condition(body, scope)
            size, height = left - self._budget, self._deepest - self._depth
            return _Expanded(condition, size, height, frozenset(self.terms.params), frozenset(self._asks))
        finally:
            self._deepest, self.terms.params, self._asks = max(deepest, self._deepest), params, asks

    def called(self, apply: tree.Apply, scope: Scope) -> str:
        """The action a call names.

        Raises:
            Failed: the name is a string with an unknown escape.
        """
        name = apply.name
        return self.terms.unescaped(name.raw, scope, name.span) if isinstance(name, tree.String) else name.text

    def _refuse_cycle(self, apply: tree.Apply, pattern: tree.Pattern, module: Module, scope: Scope) -> None:
        key = (module, pattern.name.text)
        if key not in scope.expanding:
            return
        cycle = scope.expanding[scope.expanding.index(key) :]
        if frozenset(cycle) in self._cycles:
            raise Failed
        self._cycles.add(frozenset(cycle))
        shown = [name for _, name in cycle]
        chain = " → ".join([*(shown if len(shown) <= 8 else [*shown[:4], "…", *shown[-3:]]), pattern.name.text])
        self.terms.fail("VGL203", f"patterns refer to each other: {chain}", scope.place(apply.name.span))

    def _is_bare(self, arg: tree.Expr, scope: Scope) -> bool:
        """Whether a call's argument is a lone name that is no pattern."""
        return isinstance(arg, tree.Apply) and arg.args is None and self.pattern_of(arg, scope) is None

    def _lone(self, arg: tree.Expr, scope: Scope) -> tree.Name | None:
        """A lone name among a call's conditions that is no pattern: `a(k = 1 and not l)`."""
        match arg:
            case tree.Not(body) if not isinstance(body, _LITERALS):
                return self._lone(body, scope)
            case tree.And(items) | tree.Or(items):
                return next((name for item in items if (name := self._lone(item, scope)) is not None), None)
            case tree.Apply(tree.Name() as name) if name.text not in scope.module.names() and self._is_bare(arg, scope):
                return name
            case _:
                return None

    def _patterns(self, scope: Scope) -> list[str]:
        found = ((name, scope.module.find(name)) for name in scope.module.names())
        return [name for name, declared in found if declared and isinstance(declared[1], tree.Pattern)]

    def _unknown(self, name: tree.Name | tree.String, scope: Scope, *, argument: bool = False) -> NoReturn:
        assert isinstance(name, tree.Name)
        if name.text in scope.arguments:
            self.terms.fail("VGL209", f"`{name.text}` is a parameter, not a condition", scope.place(name.span))
        self.terms.leave_open_if_broken(name.text, scope)
        near = nearest(name.text, self._patterns(scope), 1)
        wanted = near[0] if near else f"{name.text}()"
        help_text = f"did you mean `{wanted}`?" if near else f"a call of that action is written `{wanted}`"
        fix: Fix | None = Fix(f"write `{wanted}`", (Edit(name.span, wanted),))
        if argument and not near:
            # Whether it is there, or what it is, nobody can tell; a call of another action it is not.
            fix = None
            help_text = f"`has {name.text}` tests that the call has this argument, `{name.text} = …` its value"
        if name.text.lower() in _VALUES:
            fix, help_text = (
                None,
                f"`{name.text}` is a value, not a condition: say what was meant, or leave it and what joins it out",
            )
        message = f"no pattern named `{name.text}` is declared"
        self.terms.fail("VGL201", message, scope.place(name.span), help_text, fix)

    def _positional(self, apply: tree.Apply, arg: tree.Expr | tree.Literal_, scope: Scope) -> NoReturn:
        """A call's arguments are named; a lone value most often means a misspelt pattern."""
        shown = apply.name.text if isinstance(apply.name, tree.Name) else apply.name.raw
        self.terms.leave_open_if_broken(shown, scope)
        from vigil_lang.semantics import other_calls  # late: a policy that judges needs none

        if (said := other_calls.as_number(arg, scope) or other_calls.as_test(apply)) is not None:
            message = "a call's argument is a condition, not a value"
            self.terms.fail("VGL209", message, scope.place(arg.span), *said)
        near = nearest(shown, self._patterns(scope), 1)
        help_text = f"`{shown}` is no declared pattern, so its arguments are named: `argument = value`"
        fix = None
        if near:
            help_text = f"did you mean the pattern `{near[0]}`?"
            fix = Fix(f"write `{near[0]}`", (Edit(apply.name.span, near[0]),))
        message = "a call's argument is a condition, not a value"
        self.terms.fail("VGL209", message, scope.place(arg.span), help_text, fix)


def _weekday(test: tree.Test) -> Fix | None:
    """`mon` for `"Monday"`."""
    day = test.operand.raw.lower() if isinstance(test.operand, tree.String) else ""
    if test.field.name != f"{CONTEXT}weekday" or day not in context_fields.DAYS:
        return None
    return Fix(f'write `"{day[:3]}"`', (Edit(test.operand.span, f'"{day[:3]}"'),))


def _gathered(name: str) -> tuple[tuple[str, str], ...]:
    """The roles that a role of the vocabulary stands for, and the kinds of their events."""
    return vocabulary().roles[name].gathers if name in GATHERING else ()


def _is_of_context(field: tree.Field) -> bool:
    return field.kind == "argument" and field.name.startswith(CONTEXT)


def _one_of(reads: core.Reads, texts: frozenset[str], *, negated: bool = False) -> core.Condition:
    """The test that a field is one of some texts, however it spells a path below a home directory."""
    found = homes.values_of(texts)
    if isinstance(found, frozenset):
        return core.In(reads, found, negated)
    return core.Matches(reads, found, negated)
