"""Statements that only weaken, refused whoever drafted them: what can be broken by no run, or asks for hardly anything.

A drafted statement stands for a clause. One that lets pass what the clause forbids is worse than none, since the
clause counts as enforced. Three ways lead there: the events it speaks of are made fewer (an exception, a threshold, a
status, an `after` that the clause knows nothing of), what it asks for is made easier to come by (a guard that nearly
every event meets, or nothing that the sentence speaks of), or it holds of every run (see `breakable`). What is taken
out of a clause has to be named by its own sentence; what stands elsewhere in the document takes nothing out of it. The
same holds of what makes a count smaller: a window, a new start, values that differ (see `counting`). What may be right
and may be wrong, such as a value that the sentence does not name (see `narrow`), is told to the reviewer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.draft.checks.cases import TooMany, cases, field_of, is_telling, looked_for, taken_out
from vigil_lang.draft.checks.compared_values import compared, unasked_views
from vigil_lang.draft.checks.counting import bounds, unasked_reset
from vigil_lang.draft.checks.exceptions import exceptions
from vigil_lang.draft.checks.guards import widened
from vigil_lang.draft.checks.narrower_than_sentence import actions_of, impossible, narrower, unbound, widest
from vigil_lang.draft.checks.scope import unasked_scope
from vigil_lang.draft.checks.sentence_content import Said
from vigil_lang.draft.checks.topics import speaks_of
from vigil_lang.draft.checks.weakness import Weakness, listed
from vigil_lang.english.phrases import OUTCOME, SAME_THING, forbids_outright
from vigil_lang.semantics import core
from vigil_lang.semantics.forms import FORMS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vigil_lang.draft.checks.cases import Asked
    from vigil_lang.draft.clause_result import Clause
    from vigil_lang.semantics.forms import Form
    from vigil_lang.semantics.lower import Statement
    from vigil_lang.trace import Signature


def weaknesses(statement: Statement, clause: Clause, signature: Signature | None) -> Iterator[Weakness]:
    """In what a statement says less than the clause it stands for."""
    said, form = Said.of(clause), FORMS[statement.form]
    conditions: list[tuple[str, list[list[Asked]]]] = []
    for holds in core.conditions(statement.requirement.theta):
        try:
            conditions.append((holds.role, cases(holds.condition)))
        except TooMany:
            yield Weakness(f"{holds.role}: the condition has too many cases to be understood; split or simplify it")
    triggers = [way for role, ways in conditions if role not in (form.wanted, "scope", "reset") for way in ways]
    spoken = frozenset[str]().union(*map(actions_of, triggers))
    for role, ways in conditions:
        yield from unasked_views(role, ways, said)
        if role in (form.wanted, "reset"):
            yield from widened(role, ways, form, said, spoken, signature)
        else:  # what the statement speaks of: the fewer events meet it, the less it says
            yield from _narrowed(role, ways, form, said, signature)
        if role == "scope":
            yield from unasked_scope(ways, said, spoken, signature)
        elif role == "reset":
            yield from unasked_reset(ways, said, signature)
        elif not any(_is_about(way, said, signature) for way in ways):
            named = listed(sorted({name for way in ways for name in actions_of(way)})) or "it"
            # What a sentence forbids outright is not allowed by something that it says nothing of.
            certain = role == form.wanted and forbids_outright(said.sentence)
            yield Weakness(f"{role}: nothing in the sentence speaks of {named}", certain=certain)
    yield from compared(statement.requirement.theta, form, said, signature)
    yield from bounds(statement.requirement.theta, form, said)


def _is_about(way: Sequence[Asked], said: Said, signature: Signature | None) -> bool:
    """Whether a case has to do with the sentence, or what it stands under: by its action, or by what it looks for."""
    if any(speaks_of(said.context, name, signature) for name in actions_of(way)):
        return True
    texts = (text for asked in way for text in (*looked_for(*asked), *taken_out(*asked), field_of(asked[0])))
    return any(map(said.names, texts))


# --- what is spoken of ---------------------------------------------------------------------------------------------


def _narrowed(
    role: str, ways: Sequence[Sequence[Asked]], form: Form, said: Said, signature: Signature | None
) -> Iterator[Weakness]:
    tests = list(dict.fromkeys(asked for way in ways for asked in way))
    for test, wanted in tests:
        match test:
            case core.Compares(_, operator, number) if not said.has_threshold(operator, number):
                yield Weakness(f"{role}: the clause has no number {number}")
            case core.StatusIs(status) if not _may_look_at_status(role, form, status, wanted, said):
                told = f"{role}: the clause says nothing of how a call ends; leave the status out, or say `not error`"
                yield Weakness(told)
            case core.Equals(_, name) | core.Contains(_, name) if not (wanted or SAME_THING.search(said.text)):
                yield Weakness(f"{role}: it takes out the object `{name}`, and the clause takes out none")
    if form.forbids_outright and any(not _says_anything(way, said) for way in ways):
        yield Weakness(f"{role}: nearly any event meets it; name the action that is forbidden")
    for way in ways:
        if (kinds := impossible(way, signature)) is not None:
            yield Weakness(f"{role}: no event is both `{kinds[0]}` and `{kinds[1]}`")
        for name, kind in unbound(way, signature):
            yield Weakness(f"{role}: a `{kind}` has no `{name}`, so nothing ever meets it")
    yield from exceptions(role, ways, form, said)
    if role != "scope":  # of which more is asked
        found = dict.fromkeys(
            text for way in widest(ways) for text in narrower(way, said, signature, only_forbids=form.only_forbids)
        )
        for text in found:
            yield Weakness(f"{role}: narrower than the sentence: only `{text}`", certain=False)
    for way in ways:
        yield from _twice(role, way, said)


def _says_anything(way: Sequence[Asked], said: Said) -> bool:
    """Whether a case tells what is forbidden: by what an event is or is not, or by an argument that is named."""
    return any(
        isinstance(test, core.StatusIs)
        or is_telling(test, wanted)
        or taken_out(test, wanted)
        or (isinstance(test, core.Has) and said.own.has(test.field.name))
        for test, wanted in way
    )


def _may_look_at_status(role: str, form: Form, status: str, wanted: bool, said: Said) -> bool:
    """Whether a status may limit what is spoken of. That a call did not fail may: then it did something at all.

    What follows a call may well be asked for where it is known to have succeeded.
    """
    follows = role == "scope" or (role == "trigger" and form.looks == "ahead")
    harmless = (status, wanted) == ("error", False) or (follows and (status, wanted) == ("ok", True))
    return harmless or OUTCOME["error" if (status == "error") == wanted else "ok"].search(said.text) is not None


def _twice(role: str, way: Sequence[Asked], said: Said) -> Iterator[Weakness]:
    """Two arguments of one event that must be the same object, where nothing says so."""
    found: dict[str, set[core.Reads]] = {}
    for test, wanted in way:
        if wanted and isinstance(test, core.Equals):
            found.setdefault(test.variable, set()).add(test.field)
    for variable, fields in found.items():
        if len(fields) > 1 and not SAME_THING.search(said.text):
            told = f"{role}: only events with `{variable}` in two places count, and the clause says nothing of that"
            yield Weakness(told)
