"""VGL335: what nearly every event meets (`resp(a(), not b())`), or would have to (`always a() and earlier b()`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from vigil_lang.diagnostics import Diagnostic, Edit, Fix, Span
from vigil_lang.lint.obligations import obligations
from vigil_lang.lint.rules.two_actions import names_of
from vigil_lang.semantics import core
from vigil_lang.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.lint.subject import Subject
    from vigil_lang.semantics.lower import Statement

_AFTERWARDS: Final = "what must not happen from then on is `abs(…) after …`"
_BEFORE: Final = "what must not have happened before is `always … implies not earlier …`"
_NEVER: Final = "what must never happen is `abs(…)`"
_GOING_ON: Final = frozenset({"read", "list", "search", "stat", "find", "message", "ask", "print", "wait", "load"})
"""Last words of kinds that may be all an agent does for a while."""
_TEMPORAL: Final = (core.Earlier, core.Later, core.Since, core.Until, core.Repeated)


def find(subject: Subject) -> Iterator[Diagnostic]:
    """Statements that ask for anything but one thing, and bodies of `always` that ask every event to be one action."""
    for statement in subject.policy.statements:
        found = _everything(statement) or _in_between(statement) if statement.preset is None else _all_but(statement)
        if found is None:
            found = next((f for holds in _wanted(statement) if (f := _anything(holds, statement)) is not None), None)
        if found is not None:
            yield found


# --- what anything meets -----------------------------------------------------------------------------------------


def _wanted(statement: Statement) -> Iterator[core.Holds]:
    form = statement.preset
    if form is None:
        for direction in (core.Earlier, core.Later):
            yield from (each.wanted for each in obligations(statement.requirement, direction))
    elif form.looks != "nowhere":
        yield from (h for h in core.conditions(statement.requirement.theta) if h.role in (form.wanted, "counted"))


def _anything(wanted: core.Holds, statement: Statement) -> Diagnostic | None:
    """A finding where a statement asks for an event that is not of some actions, and says nothing else of it."""
    parts = wanted.condition.items if isinstance(wanted.condition, core.AndC) else (wanted.condition,)
    named = [names_of(part.body) for part in parts if isinstance(part, core.NotC)]
    if not parts or len(named) < len(parts) or None in named or wanted.span is None:
        return None
    form = statement.preset
    what, help_text = f"what `{statement.name}` asks for", _NEVER
    if form is not None and form.wanted:
        what = f"the {form.wanted} of `{statement.name}`"
        help_text = _AFTERWARDS if form.looks == "ahead" else _BEFORE
    return Diagnostic.of(
        "VGL335",
        f"nearly every event meets {what}: any that is something else",
        statement.source,
        wanted.span,
        help=help_text,
        fix=_forbidding(statement),
    )


def _forbidding(statement: Statement) -> Fix | None:
    """`abs(b()) after a()` for `resp(a(), not b())`."""
    form, preset, text = statement.syntax.form, statement.preset, statement.source.text
    if preset is None or preset.wanted != "response" or form.bound is not None:
        return None
    if statement.requirement.variables or statement.syntax.after is not None:
        return None
    trigger, response = form.args
    if not isinstance(response, tree.Not):
        return None
    first, second = (text[one.span.start : one.span.end] for one in (trigger, response.body))
    written = f"abs({second}) after {first}"
    return Fix(f"write `{written}`", (Edit(form.span, written),)) if "\n" not in written else None


# --- what everything would have to meet ----------------------------------------------------------------------------


def _everything(statement: Statement) -> Diagnostic | None:
    theta = statement.requirement.theta
    match theta:
        case core.And(items) if any(map(_is_temporal, items)):
            found = next((one for one in items if _named(one)), None)
            if found is None and (barred := next((one for one in items if _barred(one)), None)) is not None:
                return _barring(barred, statement)
            help_text, fix = "a rule for such events alone is `always … implies …`", _implying(statement)
        case core.Implies(left, core.Holds() as right) if _is_temporal(left):
            found, fix = (right if _named(right) else None), None
            help_text = "the event at hand stands before `implies`, what comes earlier or later behind it"
        case _:
            return None
    if not isinstance(found, core.Holds) or found.span is None:
        return None
    names = sorted(names_of(found.condition) or ())
    shown = " or ".join(f"`{name}`" for name in names[:3])
    which = "every event" if isinstance(theta, core.And) else "every event from then on"
    return Diagnostic.of(
        "VGL335",
        f"{which} would have to be {shown}",
        statement.source,
        found.span,
        help=help_text,
        fix=fix,
    )


def _barred(theta: core.Theta) -> bool:
    """Whether a body says of the event at hand alone that it is not some action."""
    return (
        isinstance(theta, core.Holds)
        and isinstance(theta.condition, core.NotC)
        and names_of(theta.condition.body) is not None
    )


def _barring(theta: core.Theta, statement: Statement) -> Diagnostic | None:
    """`always not deploy() and earlier test()`: both are asked of every event."""
    if not isinstance(theta, core.Holds) or not isinstance(theta.condition, core.NotC) or theta.span is None:
        return None
    (name, *_) = sorted(names_of(theta.condition.body) or ("",))
    return Diagnostic.of(
        "VGL335",
        f"this forbids every `{name}`, and asks the rest of every event",
        statement.source,
        theta.span,
        help=f"if only `{name}` events are to meet the rest, that is `always {name}() implies …`",
    )


def _all_but(statement: Statement) -> Diagnostic | None:
    """`abs(not a())` of one kind: a message of the user and a call that does something else break it as well."""
    if statement.preset is None or not statement.preset.forbids_outright:
        return None
    (holds,) = core.conditions(statement.requirement.theta)[:1] or (None,)
    if holds is None or not isinstance(holds.condition, core.NotC) or holds.span is None:
        return None
    names = names_of(holds.condition.body)
    if names is None or len(names) != 1 or not _are_kinds(names):
        return None
    (name,) = names
    afterwards = statement.syntax.after is not None
    if afterwards and name.rpartition(".")[2] in _GOING_ON:
        return None  # to look and to talk may be all that is left to do
    return Diagnostic.of(
        "VGL335",
        f"every event{' from then on' if afterwards else ''} would have to be `{name}`",
        statement.source,
        holds.span,
        help="what must follow is the response of `resp(…, …)`"
        if afterwards
        else f"what no `{name}` may be is `abs({name}(not …))`: `not` stands before its tests"
        if isinstance(holds.condition.body, core.AndC)
        else "what must happen at least once is `atleast[1](…)`, what must come first the guard of `prec(…, …)`",
    )


def _in_between(statement: Statement) -> Diagnostic | None:
    """`a() since b()`: each event after the last b would have to be an a, where one a since then was meant."""
    for body in core.bodies(statement.requirement.theta):
        if not isinstance(body, core.Since | core.Until) or not isinstance(body.left, core.Holds):
            continue
        names, span = names_of(body.left.condition), body.left.span
        if not names or span is None or not _are_kinds(names):
            continue
        shown = " or ".join(f"`{name}`" for name in sorted(names)[:3])
        word = "since" if isinstance(body, core.Since) else "until"
        meant = (
            "one `a()` after the last `b()` is `not b() since a()`" if word == "since" else "`a()` then is `later a()`"
        )
        return Diagnostic.of(
            "VGL335",
            f"every event in between would have to be {shown}",
            statement.source,
            span,
            help=f"`a() {word} b()` asks it of each of them; {meant}",
        )
    return None


def _are_kinds(names: frozenset[str]) -> bool:
    from vigil_lang.trace.vocabulary import vocabulary

    return vocabulary().kinds.keys() >= names


def _is_temporal(theta: core.Theta) -> bool:
    """Whether a body speaks of other events alone."""
    match theta:
        case core.Not(body):
            return _is_temporal(body)
        case core.And(items) | core.Or(items):
            return all(map(_is_temporal, items))
        case _:
            return isinstance(theta, _TEMPORAL)


def _named(theta: core.Theta) -> bool:
    return isinstance(theta, core.Holds) and names_of(theta.condition) is not None


def _implying(statement: Statement) -> Fix | None:
    """`always a() implies earlier b()` for `always a() and earlier b()`."""
    body, text = statement.syntax.form.args[0], statement.source.text
    if not isinstance(body, tree.And) or len(body.items) != 2 or not isinstance(body.items[0], tree.Apply):
        return None
    between = Span(body.items[0].span.end, body.items[1].span.start)
    if text[between.start : between.end].strip() != "and":
        return None
    return Fix("write `implies`", (Edit(between, " implies "),))
