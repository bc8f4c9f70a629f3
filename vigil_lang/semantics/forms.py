"""The forms of statements: one table says of each its conditions, its bound, its meaning as □Θ and its words.

A new form is a row here beside the grammar, the tree and the denotation; nothing else goes by a form's name.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Literal, TypeAlias

from msgspec.structs import replace

from vigil_lang.base.structs import Frozen
from vigil_lang.semantics import core

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vigil_lang.syntax.tree import FormName


class Parts(Frozen, frozen=True):
    """What a statement gives its form, in the core.

    `scope` is what `after` and `where` ask for besides the trigger; `triggered` is the trigger with it. `count` is the
    number of a count, `limit` that of a budget, `field` what is distinct or added up.
    """

    trigger: core.Holds
    others: Sequence[core.Holds]
    scope: tuple[core.Theta, ...] = ()
    bound: core.Bound = None
    count: int = 0
    limit: Decimal = Decimal(0)
    field: core.Reads | None = None
    window: core.Bound = None
    reset: core.Theta | None = None

    @property
    def triggered(self) -> core.Theta:
        """The trigger where its scope counts."""
        return core.And((self.trigger, *self.scope)) if self.scope else self.trigger


Lower: TypeAlias = "Callable[[Parts], core.Theta]"


class Term(Frozen, frozen=True):
    """A place between a form's brackets: the role of its condition, and what it means to whoever fills it in.

    `name` is what the editor calls it.
    """

    role: str
    meaning: str
    name: str


class Form(Frozen, frozen=True):
    """One form. In its sentences a role in braces stands for the condition, `{bound}` for the bound in words.

    `{scope}` is empty or says what has to have happened first, `{where}` which values are meant.
    """

    name: FormName
    terms: tuple[Term, ...]
    bound: Literal["none", "calls or time", "count", "limit"]
    looks: Literal["nowhere", "back", "ahead"]
    """Where it looks for what its trigger needs; `nowhere` where events are forbidden or counted."""
    lower: Lower
    formula: str
    """The same in the paper's notation (Table VI)."""
    summary: str
    """What it asks for, in a sentence."""
    short: str
    """The same in a few words."""
    sentence: str
    """A statement of the form in words."""
    offence: str
    """What is wrong at an event at fault."""
    contrast: str
    """What it does, where a sentence asks for another order."""
    wanted: str = ""
    """The role of what has to occur once the trigger has; none for a form that only forbids."""
    unmet: str = "every trigger is a violation"
    """What follows where that can never occur."""
    settles: bool = False
    """Whether what has to occur ends what the trigger began, so that the trigger itself, or a failure, may do it."""
    implied_by: tuple[FormName, ...] = ()
    """The other forms of the same order that may say more than it does."""
    mistaken_for: FormName | None = None
    """The form that a slip would make of it, with the same conditions and without a bound."""
    telling: str = ""
    """Which runs tell the two apart."""
    is_extension: bool = False
    """Whether the paper does not have it."""

    @property
    def roles(self) -> tuple[str, ...]:
        """The roles of its conditions, in order."""
        return tuple([term.role for term in self.terms])

    @property
    def only_forbids(self) -> bool:
        """Whether it only limits how often its one condition may occur."""
        return len(self.terms) == 1 and self.looks == "nowhere"

    @property
    def forbids_outright(self) -> bool:
        """Whether no event may meet its condition at all, not only those beyond a count."""
        return self.only_forbids and self.bound == "none"


_ASKS = Term("trigger", "the event that asks for something", "trigger")


def _rows(*forms: Form) -> dict[str, Form]:
    return {form.name: form for form in forms}


FORMS = _rows(
    Form(
        name="prec",
        terms=(
            Term("trigger", "the event that needs something before it", "trigger"),
            Term("guard", "what must have happened before", "guard"),
        ),
        bound="none",
        looks="back",
        lower=lambda given: core.Implies(given.triggered, core.Earlier(given.others[0])),
        formula="prec(ψ, ψ′) = □ (ψ ⇒ ◇⁻ψ′)",
        summary="Whenever the trigger happens, the guard must have happened before.",
        short="something must have happened before",
        sentence="Whenever {trigger} happens{scope}, {guard} must have happened before.",
        offence="nothing earlier met {guard}{where}",
        contrast="asks for what comes earlier",
        wanted="guard",
        mistaken_for="resp",
        telling="has {guard} only after the trigger, or only before it",
    ),
    Form(
        name="abs",
        terms=(Term("forbidden", "the event that must not happen", "forbidden"),),
        bound="none",
        looks="nowhere",
        lower=lambda given: core.Not(given.triggered),
        formula="abs(ψ) = □ ¬ψ",
        summary="It must never happen.",
        short="must never happen",
        sentence="{forbidden} must never happen{scope}.",
        offence="{forbidden} must not happen{where}",
        contrast="forbids it altogether",
    ),
    Form(
        name="resp",
        terms=(_ASKS, Term("response", "what must happen after it", "response")),
        bound="none",
        looks="ahead",
        lower=lambda given: core.Implies(given.triggered, core.Later(given.others[0])),
        formula="resp(ψ, ψ′) = □ (ψ ⇒ ◇⁺ψ′)",
        summary="Whenever the trigger happens, the response must happen later.",
        short="something must happen later",
        sentence="Whenever {trigger} happens{scope}, {response} must happen later.",
        offence="nothing later met {response}{where}",
        contrast="asks for what comes later",
        wanted="response",
        implied_by=("bresp",),
        mistaken_for="prec",
        telling="has {response} only before the trigger, or only after it",
    ),
    Form(
        name="bresp",
        terms=(_ASKS, Term("response", "what must happen after it, in time", "response")),
        bound="calls or time",
        looks="ahead",
        lower=lambda given: core.Implies(given.triggered, core.Later(given.others[0], given.bound)),
        formula="bresp[ℓ](ψ, ψ′) = □ (ψ ⇒ ◇⁺≤ℓ ψ′)",
        summary="Whenever the trigger happens, the response must happen within so many calls, or so much time.",
        short="something must happen soon",
        sentence="Whenever {trigger} happens{scope}, {response} must happen within {bound}.",
        offence="nothing within {bound} met {response}{where}",
        contrast="asks for what comes later",
        wanted="response",
        mistaken_for="resp",
        telling="has {response} later than the bound allows",
    ),
    Form(
        name="rslv",
        terms=(
            Term("trigger", "the event that leaves something open", "trigger"),
            Term("resolution", "what settles it", "resolution"),
        ),
        bound="none",
        looks="ahead",
        # A later trigger takes the obligation over, so that only the last one is judged.
        lower=lambda given: core.Implies(
            given.triggered, core.Or((given.others[0], core.Later(core.Or((given.others[0], given.trigger)))))
        ),
        formula="rslv(ψ, ψ′) = □ (ψ ⇒ ψ′ ∨ ◇⁺(ψ′ ∨ ψ))",
        summary="After the trigger the run must not end before it is resolved.",
        short="must be resolved before the run ends",
        sentence="Whenever {trigger} happens{scope}, the run must not end before {resolution} happens.",
        offence="the run ended without {resolution}{where}",
        contrast="asks for what comes later",
        wanted="resolution",
        settles=True,
        unmet="the last trigger is always a violation",
        implied_by=("resp", "bresp"),
        mistaken_for="resp",
        telling="has the trigger resolved at once, or come again instead of a resolution",
    ),
    Form(
        name="until",
        terms=(
            Term("trigger", "the event after which something is forbidden", "trigger"),
            Term("resolver", "what ends that", "resolver"),
            Term("forbidden", "what must not happen in between", "forbidden"),
        ),
        bound="none",
        looks="nowhere",
        lower=lambda given: core.Implies(given.triggered, core.Clear(given.others[0], given.others[1])),
        formula="until(ψ, ψ′, ψb) = □ (ψ ⇒ clear(ψ′, ψb))",
        summary="After the trigger something is forbidden until the resolver has happened.",
        short="forbidden until something has happened",
        sentence="After {trigger}{scope}, {forbidden} must not happen until {resolver} has.",
        offence="{event}{forbidden} before anything met {resolver}{where}",
        contrast="forbids until something happens",
        wanted="resolver",
        settles=True,
        unmet="whatever is forbidden stays so after a trigger",
    ),
    Form(
        name="atmost",
        terms=(Term("trigger", "the event that is counted", "counted"),),
        bound="count",
        looks="nowhere",
        lower=lambda given: core.Implies(
            given.triggered,
            core.Not(core.Repeated(given.count + 1, given.triggered, given.window, given.reset, given.field)),
        ),
        formula="atmost[n](ψ) = □ (ψ ⇒ ¬repeated(n + 1, ψ))",
        summary="It may happen in so many calls, and in no more.",
        short="must not happen more often",
        sentence="{trigger} may happen in at most {bound}{scope}.",
        offence="more than {bound} met {trigger}{where}",
        contrast="counts",
        is_extension=True,
    ),
    Form(
        name="atleast",
        terms=(Term("counted", "what has to happen before the run ends", "counted"),),
        bound="count",
        looks="ahead",
        lower=lambda given: core.Implies(
            core.And((core.Last(), *map(_by_now, given.scope))) if given.scope else core.Last(),
            core.Repeated(given.count, given.triggered, None, None, given.field),
        ),
        formula="atleast[n](ψ) = □ (last ⇒ repeated(n, ψ))",
        summary="It must happen in so many calls before the run ends.",
        short="must happen in this run",
        sentence="{counted} must happen in at least {bound}{scope} before the run ends.",
        offence="the run ended with fewer than {bound} that met {counted}{where}",
        contrast="asks for something in the run",
        is_extension=True,
        wanted="counted",
        unmet="every run is a violation",
    ),
    Form(
        name="budget",
        terms=(Term("trigger", "the event whose amount is added up", "counted"),),
        bound="limit",
        looks="nowhere",
        lower=lambda given: core.Implies(
            given.triggered,
            core.Not(
                core.Exceeds(
                    given.limit, given.field or core.Reads("amount"), given.triggered, given.window, given.reset
                )
            ),
        ),
        formula="budget[n](ψ, k) = □ (ψ ⇒ ¬exceeds(n, k, ψ))",
        summary="The amounts may add up to so much, and to no more.",
        short="must not add up to more",
        sentence="The amounts of {trigger} may add up to at most {bound}{scope}.",
        offence="the amounts of {trigger} add up to more than {bound}{where}",
        contrast="adds up",
        is_extension=True,
    ),
)
"""The forms over conditions, the likeliest first. `always` has a temporal body instead, which is its own meaning."""


def _by_now(scope: core.Theta) -> core.Theta:
    """What has happened by the last event, which may be it."""
    return core.Or((scope.body, scope)) if isinstance(scope, core.Earlier) else scope


def bound_of(theta: core.Theta) -> core.Bound:
    """The bound of a form in its body; None for a form without."""
    match theta:
        case core.Implies(_, core.Later(_, bound)):
            return bound
        case _:
            return None


def counted_by(theta: core.Theta) -> core.Repeated | core.Exceeds | None:
    """What a form counts or adds up in its body, with the number it allows or asks for."""
    match theta:
        case core.Implies(_, core.Not(core.Repeated(count) as counted)):
            return replace(counted, count=count - 1)
        case core.Implies(_, core.Not(core.Exceeds() as total)):
            return total
        case core.Implies(_, core.Repeated() as counted):
            return counted
        case _:
            return None
