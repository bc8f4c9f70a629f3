"""Requirements for property tests, built in the core directly: no text to parse, so many more cases a second."""

from __future__ import annotations

from decimal import Decimal
from functools import cache
from typing import TypeVar

from hypothesis import strategies as st

from tests.strategies.choices import booleans, pick, up_to
from vigil_lang.semantics import core
from vigil_lang.semantics.range_restriction import unbound
from vigil_lang.semantics.text_patterns import AnyOf, Expression, Glob

T = TypeVar("T")

PLAIN_FIELDS = (core.Reads("f"), core.Reads("g"), core.Reads("p.q"), core.Reads("output", output=True))
VIEWS = (
    (core.View("lower"),),
    (core.View("length"),),
    (core.View("count"),),
    (core.View("find", expression=Expression("M")), core.View("lower")),
    (core.View("without", expression=Expression("[MN]")),),
)
OUTPUT = core.Reads("output", output=True)
MEMBERS = (core.Reads("q"), core.Reads("n"))
IN_OUTPUT = (
    core.Reads("output", True, (core.View("json", "q"),)),
    core.Reads("output", True, (core.View("json", "[*].q"),)),
    core.Reads("output", True, (core.View("json", "[*].n"),)),
)
FIELDS = (*IN_OUTPUT, *PLAIN_FIELDS, *PLAIN_FIELDS, *(core.Reads("f", views=views) for views in VIEWS))
NAMES = (frozenset({"a"}), frozenset({"b", "k"}), frozenset({"a.b", "c", "file.read"}), frozenset[str]())
TEXTS = ("M", "MN", "N", "", "7", "é*")
SETS = (frozenset({"M"}), frozenset({"7", "", "MN"}), frozenset[str]())
MATCHERS = (Glob("M*"), Glob("*"), Glob("?"), Expression("[0-9]"), Expression("^m", ignore_case=True))
ANY_OF = AnyOf((Glob("M*"), Expression("7$")))
NUMBERS = (Decimal(7), Decimal(-3))
BOUNDS = (
    *(None, None, core.Calls(1), core.Calls(2), core.Calls(50), core.Within(500_000), core.Within(30_000_000)),
    *(core.Steps(2), core.Calls(1, 1), core.Calls(core.FAR, 1), core.Steps(3, 2), core.Within(30_000_000, 600_000)),
)

_fields = st.sampled_from(FIELDS)
_bounds = st.sampled_from(BOUNDS)
_counts = st.integers(1, 3)
_ground = st.one_of(
    st.sampled_from(NAMES).map(core.ActionIn),
    st.sampled_from((Glob("a*"), Expression("k$"), AnyOf((Glob("a"), Glob("?k"))))).map(core.ActionMatches),
    st.sampled_from(("ok", "error")).map(core.StatusIs),
    _fields.map(core.Has),
    st.tuples(_fields, st.sampled_from(SETS), st.booleans()).map(lambda t: core.In(*t)),
    st.tuples(_fields, st.sampled_from((*MATCHERS, ANY_OF)), st.booleans()).map(lambda t: core.Matches(*t)),
    st.tuples(_fields, st.sampled_from(("<", "<=", ">", ">=")), st.sampled_from(NUMBERS)).map(
        lambda t: core.Compares(*t)
    ),
    st.tuples(_fields, st.sampled_from(TEXTS)).map(lambda t: core.ContainsText(*t)),
)

_one_at_most = st.lists(_ground, max_size=1)


@cache
def _up_to_three(items: st.SearchStrategy[T]) -> st.SearchStrategy[list[T]]:
    return st.lists(items, max_size=3)


@cache
@st.composite
def conditions(draw: st.DrawFn, variables: tuple[str, ...], depth: int = 2) -> core.Condition:
    """A condition; about half of its tests mention a variable if there are any."""
    kind = draw(up_to(9)) if depth else 0
    if kind <= 4:
        if not variables or draw(up_to(2)) == 0:
            return draw(_ground)
        kind = draw(up_to(6))
        if kind == 1:
            operator = draw(pick("<", "<=", ">", ">="))
            return core.ComparesWith(draw(_fields), operator, draw(pick(*variables)))
        test = core.Contains if kind == 0 else core.Equals
        return test(draw(_fields), draw(pick(*variables)))
    if kind == 5:
        return core.NotC(draw(conditions(variables, depth - 1)))
    if kind == 9 and draw(booleans):
        return core.Entry(
            core.Reads("output", True, (core.View("json", draw(pick("", "[*]"))),)),
            draw(of_entry(variables)),
        )
    items = tuple(draw(_up_to_three(conditions(variables, depth - 1))))
    return core.OrC(items) if kind == 6 else core.AndC(items)


@cache
@st.composite
def of_entry(draw: st.DrawFn, variables: tuple[str, ...]) -> core.Condition:
    """A condition on the members of an entry."""
    items: list[core.Condition] = []
    for _ in range(draw(pick(1, 2))):
        member = draw(st.sampled_from(MEMBERS))
        if variables and draw(booleans):
            items.append(core.Equals(member, draw(pick(*variables))))
        else:
            items.append(
                draw(
                    st.sampled_from(
                        (
                            core.Has(member),
                            core.In(member, frozenset({"M", "7"})),
                            core.Compares(member, ">", Decimal(1)),
                        )
                    )
                )
            )
    found = core.AndC(tuple(items)) if draw(booleans) else core.OrC(tuple(items))
    return core.NotC(found) if draw(up_to(5)) == 0 else found


@cache
@st.composite
def patterns(draw: st.DrawFn, variables: tuple[str, ...]) -> core.Condition:
    """What policies mostly say: an action whose arguments carry the variables."""
    names = draw(pick(frozenset({"a", "b"}), frozenset({"a", "b", "c", "k"}), frozenset({"a"})))
    equals = [core.Equals(draw(_fields), x) for x in variables if draw(up_to(3))]
    more = draw(_one_at_most) if draw(up_to(3)) == 0 else []
    return core.AndC((core.ActionIn(names), *equals, *more))


@cache
def held(variables: tuple[str, ...], role: str = "condition") -> st.SearchStrategy[core.Holds]:
    """A condition in its place."""
    return (patterns(variables) | conditions(variables)).map(lambda condition: core.Holds(condition, role))


@st.composite
def counted(draw: st.DrawFn, inner: st.SearchStrategy[core.Theta]) -> core.Theta:
    """A count or a sum, with any window, reset and unit."""
    body, bound = draw(inner), draw(_bounds)
    reset = draw(inner) if draw(up_to(2)) == 0 else None
    if draw(booleans):
        limit = draw(pick(Decimal(0), Decimal(7), Decimal("13.5")))
        return core.Exceeds(limit, draw(_fields), body, bound, reset)
    distinct = draw(_fields) if draw(up_to(2)) == 0 else None
    return core.Repeated(draw(_counts), body, bound, reset, distinct)


@cache
def wheres(variables: tuple[str, ...]) -> st.SearchStrategy[core.Theta]:
    """A test of the variables alone."""
    fields = st.sampled_from([core.Reads(x) for x in variables] + [core.Reads(variables[0], views=VIEWS[0])])
    tests = st.one_of(
        st.tuples(fields, st.sampled_from(SETS), st.booleans()).map(lambda t: core.In(*t)),
        st.tuples(fields, st.sampled_from(MATCHERS), st.booleans()).map(lambda t: core.Matches(*t)),
        st.tuples(fields, st.sampled_from(variables)).map(lambda t: core.Equals(*t)),
        st.tuples(fields, st.sampled_from(("<", ">=")), st.sampled_from(variables)).map(
            lambda t: core.ComparesWith(*t)
        ),
    )
    return (tests | tests.map(core.NotC)).map(core.Where)


@cache
@st.composite
def thetas(draw: st.DrawFn, variables: tuple[str, ...], depth: int = 3) -> core.Theta:
    """A temporal body; `Clear` and `Repeated` too, which the surface has only inside `until` and `atmost`."""
    kind = draw(up_to(9)) if depth else 0
    if kind <= 1:
        if draw(up_to(9)) == 0:
            return draw(wheres(variables)) if variables else core.Last()
        return draw(held(variables))
    inner = thetas(variables, depth - 1)
    if kind <= 4:
        diamond = draw(pick(core.Earlier, core.Later))
        return diamond(draw(inner), draw(_bounds))
    match kind:
        case 5 if draw(booleans):
            return core.Not(draw(inner))
        case 5:
            return draw(counted(inner))
        case 6:
            interval = draw(pick(core.Since, core.Until, None))
            if interval is None:
                return core.Clear(draw(inner), draw(inner))
            return interval(draw(inner), draw(inner), draw(_bounds), draw(booleans))
        case 7:
            return core.Implies(draw(inner), draw(inner))
        case _:
            return draw(pick(core.And, core.Or))(tuple(draw(_up_to_three(inner))))


@cache
@st.composite
def presets(draw: st.DrawFn, variables: tuple[str, ...]) -> core.Requirement:
    """The □Θ of a form, as lowering writes it, possibly with a scope."""
    first = draw(held(variables, "trigger"))
    trigger: core.Theta = first
    if draw(up_to(3)) == 0:
        trigger = core.And((first, core.Earlier(draw(held(variables, "scope")))))
    if variables and draw(up_to(3)) == 0:
        trigger = core.And((trigger, draw(wheres(variables))))
    other = held(variables, "guard")
    match draw(up_to(7)):
        case 0:
            return requirement(core.Not(trigger))
        case 1:
            body: core.Theta = core.Earlier(draw(other), draw(_bounds))
        case 2:
            body = core.Later(draw(other), draw(_bounds))
        case 3:
            resolution = draw(other)
            body = core.Or((resolution, core.Later(core.Or((resolution, first)))))
        case 4:
            body = core.Clear(draw(other), draw(held(variables, "forbidden")))
        case 5:
            body = core.Not(core.Repeated(draw(_counts), trigger))
        case 6:
            body = core.Not(draw(counted(st.just(trigger))))
        case _:
            body = draw(counted(other))
            last = core.Last() if trigger is first else core.And((core.Last(), trigger))
            return requirement(core.Implies(last, body))
    return requirement(core.Implies(trigger, body))


def requirement(theta: core.Theta) -> core.Requirement:
    """□Θ with its variables in order of appearance."""
    return core.Requirement(theta, core.variables_of(theta), theta.left if isinstance(theta, core.Implies) else None)


@st.composite
def requirements(draw: st.DrawFn) -> core.Requirement:
    """A requirement over up to three variables, half of them presets."""
    variables = ("x", "y", "z")[: draw(pick(0, 1, 1, 1, 1, 2, 2, 3))]
    return draw(_over(variables))


@cache
def _over(variables: tuple[str, ...]) -> st.SearchStrategy[core.Requirement]:
    return st.one_of(presets(variables), thetas(variables).map(requirement))


@st.composite
def restricted_requirements(draw: st.DrawFn, of: st.SearchStrategy[core.Requirement] | None = None) -> core.Requirement:
    """A range-restricted requirement: one whose variables nothing binds is bound at the event it speaks of."""
    found = draw(requirements() if of is None else of)
    loose = unbound(found)
    if not loose:
        return found
    binding = core.Holds(core.AndC(tuple(core.Equals(draw(_fields), x) for x in loose)))
    return requirement(core.Implies(binding, found.theta))
