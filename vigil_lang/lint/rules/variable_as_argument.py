"""VGL326: tests of an argument that is called like a variable beside it: `send(url:host = x, not x in OWN)`."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from vigil_lang.diagnostics import Diagnostic, Edit, Fix, Span
from vigil_lang.lint.deletion import without
from vigil_lang.lint.policy_parts import roots
from vigil_lang.syntax import tree
from vigil_lang.syntax.print import to_text
from vigil_lang.trace.vocabulary import vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.lint.subject import Subject
    from vigil_lang.semantics.lower import Statement


class Tested(NamedTuple):
    """A test in a conjunction, with the `not` before it; `parent` is the expression it can be taken out of."""

    expr: tree.Expr
    test: tree.Test
    parent: tree.Expr | None


def find(subject: Subject) -> Iterator[Diagnostic]:
    """Tests of an argument called like a variable that another test beside them binds."""
    fields = {(id(use.item), use.field.name) for use in subject.parts.uses if use.field is not None}
    for statement in subject.policy.statements:
        yield from _of_the_form(statement, subject)
        if any((id(statement.syntax), x) in fields for x in statement.requirement.variables):
            for tested in tested_as_arguments(statement, subject):
                yield _finding(tested, statement)


def _of_the_form(statement: Statement, subject: Subject) -> Iterator[Diagnostic]:
    """`budget[500](pay(amount = a), a)`, and `atmost[2](get(host = h), distinct host)`, of which each h has one."""
    form = statement.syntax.form
    field = form.field
    if field is None or field.views or field.kind != "argument" or not statement.requirement.variables:
        return
    tests = [t.test for t in tests_with_parents(form.args[0], None) if t.test.operator == "="]
    bound = {t.operand.text: t.field for t in tests if isinstance(t.operand, tree.Name)}
    meant = bound.get(field.name)
    if meant is not None and field.name not in vocabulary().roles and not _is_argument(field.name, statement, subject):
        written = to_text(meant)
        yield Diagnostic.of(
            "VGL326",
            f"this is an argument called `{field.name}`, not the variable `{field.name}`",
            statement.source,
            field.span,
            help=f"each `{field.name}` is counted by itself: leave its test out, and name the argument, `{written}`",
        )
    joined = [x for x, reads in bound.items() if reads.name == field.name and not reads.views]
    if statement.preset is not None and statement.preset.bound == "count" and joined:
        yield Diagnostic.of(
            "VGL326",
            f"the count is kept for each `{joined[0]}`, so it sees one `{field.name}` alone",
            statement.source,
            field.span,
            help=f"to count distinct values, leave out `{field.name} = {joined[0]}`",
        )


def tested_as_arguments(statement: Statement, subject: Subject) -> Iterator[Tested]:
    """The tests whose field is most likely meant as the variable that another test of the same condition binds.

    Not where the statement tests an argument of that name for the variable (`file = file`), where the vocabulary has
    one of that name, or where an action of the signature carries one.
    """
    for root in roots(statement.syntax):
        found = list(tests_with_parents(root, None))
        bound = {t.test.operand.text for t in found if isinstance(t.test.operand, tree.Name) and t.test.operator == "="}
        bound &= set(statement.requirement.variables)
        for tested in found:
            field = tested.test.field
            if field.kind == "argument" and field.name in bound and not _is_argument(field.name, statement, subject):
                yield tested


def _is_argument(name: str, statement: Statement, subject: Subject) -> bool:
    if name in vocabulary().roles:
        return True
    if subject.signature is not None and any(name in a.args for a in subject.signature.actions.values()):
        return True
    tests = (tested.test for root in roots(statement.syntax) for tested in tests_with_parents(root, None))
    return any(t.field.name == name and isinstance(t.operand, tree.Name) and t.operand.text == name for t in tests)


def tests_with_parents(expr: tree.Expr, parent: tree.Expr | None) -> Iterator[Tested]:
    """The tests of a condition, through connectives, calls and temporal operators."""
    match expr:
        case tree.Test():
            yield Tested(expr, expr, parent)
        case tree.Not(tree.Test() as test):
            yield Tested(expr, test, parent)
        case tree.And(items):
            for item in items:
                yield from tests_with_parents(item, expr)
        case tree.Or(items):
            for item in items:
                yield from tests_with_parents(item, None)
        case tree.Apply(_, args):
            for arg in args or ():
                if not isinstance(arg, tree.String | tree.Number | tree.Boolean):
                    yield from tests_with_parents(arg, expr)
        case tree.Not(body) | tree.Diamond(_, _, body) | tree.Repeated(_, body):
            yield from tests_with_parents(body, None)
        case tree.Implies(left, right) | tree.Interval(_, _, _, left, right):
            yield from tests_with_parents(left, None)
            yield from tests_with_parents(right, None)


def _finding(tested: Tested, statement: Statement) -> Diagnostic:
    name, source = tested.test.field.name, statement.source
    written = source.text[tested.expr.span.start : tested.expr.span.end]
    shown = f"where {written}" if len(written) <= 60 and "\n" not in written else "where …"
    return Diagnostic.of(
        "VGL326",
        f"this tests an argument called `{name}`, not the variable `{name}`",
        source,
        tested.test.field.span,
        help=f"the value of a variable is tested behind the statement: `{shown}`",
        fix=_moved(tested, written, statement),
    )


def _moved(tested: Tested, written: str, statement: Statement) -> Fix | None:
    """The test behind `where`; of the first condition alone, whose events the statement is about."""
    syntax, text, first = statement.syntax, statement.source.text, statement.syntax.form.args[0].span
    if statement.preset is None or tested.expr.span.end > first.end:
        return None
    taken = None if tested.parent is None else without(statement.source, tested.parent, tested.expr)
    if taken is None:
        return None
    where = syntax.where
    if where is None:
        end = (syntax.after or syntax.form).span.end
        edits = [Edit(Span(end, end), f" where {written}")]
    elif isinstance(where, tree.Or | tree.Implies) and not text.startswith("(", where.span.start):
        start, end = where.span
        edits = [Edit(Span(start, start), "("), Edit(Span(end, end), f") and {written}")]
    else:
        edits = [Edit(Span(where.span.end, where.span.end), f" and {written}")]
    return Fix("test the variable in `where`", (*taken.edits, *edits))
